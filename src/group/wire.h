/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.h - what the ranks of a rendezvous say to each other: frames over a stream socket, every wait bounded.
 *
 * Rank 0 holds a connection to each other rank. An exchange is one GIVE from every rank and one ALL back. Whoever ends the job
 * early says why in an END; who closes without a word has died.
 */
#ifndef XSTI_GROUP_WIRE_H
#define XSTI_GROUP_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/group.h>

/* Goes up when frames, hello or end change. */
enum { XSTI_WIRE_VERSION = 1 };

enum xsti_wire_kind {
    XSTI_WIRE_HELLO = 1, /* struct xsti_wire_hello, first frame of a rank */
    XSTI_WIRE_WELCOME,   /* all are there */
    XSTI_WIRE_GIVE,      /* one rank's bytes */
    XSTI_WIRE_ALL,       /* everybody's */
    XSTI_WIRE_END,       /* struct xsti_wire_end */
    XSTI_WIRE_LEAVE      /* closed in good order */
};

struct xsti_wire_frame {
    char magic[4]; /* "XSTG" */
    uint16_t version;
    uint16_t kind;
    uint64_t exchange; /* number of the exchange, from 1 */
    uint64_t bytes;    /* that follow */
};

struct xsti_wire_hello {
    int64_t rank;
    int64_t ranks;
    char job[XST_GROUP_TEXT_BYTES];
};

struct xsti_wire_end {
    int32_t status;
    char text[XST_DIAG_TEXT_BYTES - sizeof(int32_t)];
};

enum xsti_wire_result { XSTI_WIRE_DONE, XSTI_WIRE_CLOSED, XSTI_WIRE_LATE };

/* Monotonic clock, seconds. Deadlines are given on it. */
double xsti_wire_now(void);

/* Milliseconds for poll() until the deadline, rounded up. */
int xsti_wire_left(double deadline);

/* All of it, or why not. CLOSED stands for every way a connection can end. */
enum xsti_wire_result xsti_wire_send(int socket, const void *data, size_t bytes, double deadline);
enum xsti_wire_result xsti_wire_receive(int socket, void *data, size_t bytes, double deadline);

enum xsti_wire_result xsti_wire_send_frame(int socket, enum xsti_wire_kind kind, uint64_t exchange, const void *body,
                                           size_t bytes, double deadline);

/* 1 when the frame is of this protocol and version. */
int xsti_wire_is_ours(const struct xsti_wire_frame *frame);

/* Tells the other side why; waits for it a second at most. DONE when it was handed over. */
enum xsti_wire_result xsti_wire_send_end(int socket, enum xst_status status, const char *text);

/* Reads the body of an END: one line, terminated. */
enum xsti_wire_result xsti_wire_receive_end(int socket, const struct xsti_wire_frame *frame,
                                            struct xsti_wire_end *end_out, double deadline);

#endif
