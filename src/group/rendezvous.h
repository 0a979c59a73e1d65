/* SPDX-License-Identifier: Apache-2.0
 *
 * rendezvous.h - the state of a meeting, shared by joining and exchanging.
 */
#ifndef XSTI_GROUP_RENDEZVOUS_H
#define XSTI_GROUP_RENDEZVOUS_H

#include "group/meet.h"
#include "group/wire.h"

struct xst_rendezvous {
    struct xst_group group;
    double join_seconds;
    double gather_seconds;
    char job[XST_GROUP_TEXT_BYTES];
    int *sockets; /* [ranks], -1 none; rank 0 has one for each other rank, the others have sockets[0] alone */
    uint64_t exchange;
    int ended; /* `end` holds; nothing is exchanged any more */
    int told;
    struct xst_diag end;
};

/* Ends the job: keeps the sentence, tells whoever is connected, and returns the status. The first end stays. */
__attribute__((format(printf, 4, 5))) enum xst_status xsti_rendezvous_end(struct xst_rendezvous *rendezvous,
                                                                          enum xst_status status, struct xst_diag *diag,
                                                                          const char *format, ...);

/* A frame came that is no part of what goes on: another rank's END or LEAVE, or a closed connection. */
enum xst_status xsti_rendezvous_lost(struct xst_rendezvous *rendezvous, int64_t rank, struct xst_diag *diag);
enum xst_status xsti_rendezvous_unexpected(struct xst_rendezvous *rendezvous, int64_t rank,
                                           const struct xsti_wire_frame *frame, struct xst_diag *diag);

/* exchange.c: the next frame's head of a rank that has something to say, and the all-gather itself. */
enum xst_status xsti_rendezvous_head(struct xst_rendezvous *rendezvous, int64_t rank, double deadline,
                                     struct xsti_wire_frame *frame_out, struct xst_diag *diag);
enum xst_status xsti_rendezvous_gather(void *context, const void *mine, size_t bytes, void *all_out,
                                       struct xst_diag *diag);

/* join.c: until every rank is connected. */
enum xst_status xsti_rendezvous_host(struct xst_rendezvous *rendezvous, const struct xsti_place *place,
                                     struct xst_diag *diag);
enum xst_status xsti_rendezvous_knock(struct xst_rendezvous *rendezvous, const struct xsti_place *place,
                                      struct xst_diag *diag);

#endif
