/* SPDX-License-Identifier: Apache-2.0
 *
 * meet.h - the place of a rendezvous: rank 0 listens there, the others knock until it does.
 */
#ifndef XSTI_GROUP_MEET_H
#define XSTI_GROUP_MEET_H

#include <sys/socket.h>
#include <sys/un.h>

#include <xstage/group.h>

/* LOCAL is a socket that has a name and no file, so that nothing is left of it whatever happens. */
enum xsti_place_kind { XSTI_PLACE_LOCAL, XSTI_PLACE_FILE, XSTI_PLACE_TCP };

/* A place, parsed. */
struct xsti_place {
    const char *where; /* as written, for messages */
    enum xsti_place_kind kind;
    char host[XST_GROUP_TEXT_BYTES]; /* tcp; "" is 127.0.0.1 */
    char port[8];
    char folder[XST_GROUP_TEXT_BYTES]; /* file */
    char name[64];                     /* local, file: of the socket, made from user and job */
};

/* "local:", "file:DIR" or "tcp://HOST:PORT"; an IPv6 address stands in brackets. */
enum xst_status xsti_place_parse(const char *where, const char *job, struct xsti_place *place_out,
                                 struct xst_diag *diag);

/* What rank 0 holds while the others come. */
struct xsti_door {
    int socket; /* -1: closed */
    int folder; /* file: the folder, so that a long name fits into a socket address; else -1 */
    int lock;   /* file: held while rank 0 listens, so that what a crash left is told from what is in use */
    const struct xsti_place *place;
};

enum xst_status xsti_door_open(const struct xsti_place *place, struct xsti_door *door_out, struct xst_diag *diag);

/* Somebody who knocked; -1 when it was nobody or a stranger (another user). */
int xsti_door_accept(const struct xsti_door *door);

/* Stops listening and removes the files. */
void xsti_door_close(struct xsti_door *door);

/* Connects to rank 0, trying again until the deadline. */
enum xst_status xsti_place_connect(const struct xsti_place *place, double deadline, int *socket_out,
                                   struct xst_diag *diag);

#endif
