/* SPDX-License-Identifier: Apache-2.0
 *
 * Until every rank of a job is connected to rank 0.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "group/rendezvous.h"

/* Who knocked and did not yet say who he is. More than these, and the one that waits longest goes. */
enum { MOST_STRANGERS = 64 };

struct hall {
    struct xst_rendezvous *rendezvous;
    struct xsti_door door;
    double deadline;
    int strangers[MOST_STRANGERS];
    int stranger_count;
    int64_t missing;
    struct pollfd waits[1 + MOST_STRANGERS + XST_GROUP_MOST_RANKS];
};

static void drop_stranger(struct hall *hall, int index)
{
    memmove(&hall->strangers[index], &hall->strangers[index + 1],
            (size_t)(hall->stranger_count - index - 1) * sizeof hall->strangers[0]);
    hall->stranger_count--;
}

static void refuse(int socket, enum xst_status status, const char *text)
{
    (void)xsti_wire_send_end(socket, status, text);
    close(socket);
}

/* Checks who came. Somebody of another job is sent away and we go on; somebody who contradicts this job ends it. */
static enum xst_status seat(struct hall *hall, int socket, struct xsti_wire_hello *hello, struct xst_diag *diag)
{
    struct xst_rendezvous *const rendezvous = hall->rendezvous;
    char text[XST_DIAG_TEXT_BYTES];
    hello->job[sizeof hello->job - 1] = '\0';
    if (strcmp(hello->job, rendezvous->job) != 0) {
        snprintf(text, sizeof text, "rank %lld of job \"%s\" came to the rendezvous of job \"%s\"",
                 (long long)hello->rank, hello->job, rendezvous->job);
        refuse(socket, XST_ERR_USAGE, text);
        return XST_OK;
    }
    if (hello->ranks != rendezvous->group.ranks)
        snprintf(text, sizeof text, "rank %lld counts %lld processes, rank 0 %lld", (long long)hello->rank,
                 (long long)hello->ranks, (long long)rendezvous->group.ranks);
    else if (hello->rank < 1 || hello->rank >= hello->ranks || rendezvous->sockets[hello->rank] >= 0)
        snprintf(text, sizeof text, "two processes say that they are rank %lld of %lld", (long long)hello->rank,
                 (long long)hello->ranks);
    else {
        rendezvous->sockets[hello->rank] = socket;
        hall->missing--;
        return XST_OK;
    }
    refuse(socket, XST_ERR_USAGE, text);
    return xsti_rendezvous_end(rendezvous, XST_ERR_USAGE, diag, "%s", text);
}

/* A stranger speaks. What is no hello of this protocol is dropped without a word. */
static enum xst_status listen_to(struct hall *hall, int index, struct xst_diag *diag)
{
    const double limit_s = 1;
    const double deadline = xsti_wire_now() + limit_s;
    const int socket = hall->strangers[index];
    struct xsti_wire_frame frame;
    struct xsti_wire_hello hello;
    drop_stranger(hall, index);
    if (xsti_wire_receive(socket, &frame, sizeof frame, deadline) == XSTI_WIRE_DONE &&
        memcmp(frame.magic, "XSTG", sizeof frame.magic) == 0) {
        if (!xsti_wire_is_ours(&frame)) {
            char text[128];
            snprintf(text, sizeof text, "a rank speaks version %u of the rendezvous, rank 0 version %d", frame.version,
                     XSTI_WIRE_VERSION);
            refuse(socket, XST_ERR_SCHEMA, text);
            return xsti_rendezvous_end(hall->rendezvous, XST_ERR_SCHEMA, diag, "%s", text);
        }
        if (frame.kind == XSTI_WIRE_HELLO && frame.bytes == sizeof hello &&
            xsti_wire_receive(socket, &hello, sizeof hello, deadline) == XSTI_WIRE_DONE)
            return seat(hall, socket, &hello, diag);
    }
    close(socket);
    return XST_OK;
}

static void let_in(struct hall *hall)
{
    const int came = xsti_door_accept(&hall->door);
    if (came < 0)
        return;
    if (hall->stranger_count == MOST_STRANGERS) {
        close(hall->strangers[0]);
        drop_stranger(hall, 0);
    }
    hall->strangers[hall->stranger_count++] = came;
}

static enum xst_status nobody_more(struct hall *hall, struct xst_diag *diag)
{
    const struct xst_rendezvous *const rendezvous = hall->rendezvous;
    char text[128] = "";
    size_t at = 0;
    for (int64_t r = 1; r < rendezvous->group.ranks; r++) {
        if (rendezvous->sockets[r] < 0 && at + 16 < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", at ? ", " : "", (long long)r);
    }
    return xsti_rendezvous_end(hall->rendezvous, XST_ERR_TIMEOUT, diag,
                               "rendezvous %s: %lld of %lld processes did not come within %g s: rank %s",
                               hall->door.place->where, (long long)hall->missing, (long long)rendezvous->group.ranks,
                               rendezvous->join_seconds, text);
}

/* A seated rank has nothing to say before it is welcomed: what can be read from it is its end. */
static enum xst_status hear_seated(struct hall *hall, int64_t rank, struct xst_diag *diag)
{
    struct xsti_wire_frame frame;
    const int socket = hall->rendezvous->sockets[rank];
    if (xsti_wire_receive(socket, &frame, sizeof frame, xsti_wire_now() + 1) != XSTI_WIRE_DONE)
        return xsti_rendezvous_lost(hall->rendezvous, rank, diag);
    return xsti_rendezvous_unexpected(hall->rendezvous, rank, &frame, diag);
}

/* One round: whoever knocks, speaks, or goes. */
static enum xst_status round_of(struct hall *hall, struct xst_diag *diag)
{
    const struct xst_rendezvous *const rendezvous = hall->rendezvous;
    const int strangers = hall->stranger_count;
    const int64_t ranks = rendezvous->group.ranks;
    struct pollfd *const seated = hall->waits + 1 + strangers;
    hall->waits[0] = (struct pollfd){.fd = hall->door.socket, .events = POLLIN};
    for (int i = 0; i < strangers; i++)
        hall->waits[1 + i] = (struct pollfd){.fd = hall->strangers[i], .events = POLLIN};
    for (int64_t r = 0; r < ranks; r++)
        seated[r] = (struct pollfd){.fd = rendezvous->sockets[r], .events = POLLIN | POLLRDHUP};
    const int left_ms = xsti_wire_left(hall->deadline);
    const int ready = poll(hall->waits, (nfds_t)(1 + strangers + ranks), left_ms);
    if (ready <= 0)
        return left_ms == 0 ? nobody_more(hall, diag) : XST_OK;
    for (int64_t r = 1; r < ranks; r++) {
        if (seated[r].revents)
            return hear_seated(hall, r, diag);
    }
    for (int i = strangers - 1; i >= 0; i--) {
        if (hall->waits[1 + i].revents)
            XSTI_TRY(listen_to(hall, i, diag));
    }
    if (hall->waits[0].revents)
        let_in(hall);
    return XST_OK;
}

/* Who came too late to be seated learns why nobody will be. */
static void send_home(struct hall *hall)
{
    const struct xst_rendezvous *const rendezvous = hall->rendezvous;
    for (int came = xsti_door_accept(&hall->door); came >= 0; came = xsti_door_accept(&hall->door))
        refuse(came, rendezvous->end.status, rendezvous->end.text);
    for (int i = 0; i < hall->stranger_count; i++)
        refuse(hall->strangers[i], rendezvous->end.status, rendezvous->end.text);
    hall->stranger_count = 0;
}

static enum xst_status welcome(struct xst_rendezvous *rendezvous, struct xst_diag *diag)
{
    const double deadline = xsti_wire_now() + 1;
    for (int64_t r = 1; r < rendezvous->group.ranks; r++) {
        if (xsti_wire_send_frame(rendezvous->sockets[r], XSTI_WIRE_WELCOME, 0, NULL, 0, deadline) != XSTI_WIRE_DONE)
            return xsti_rendezvous_lost(rendezvous, r, diag);
    }
    return XST_OK;
}

enum xst_status xsti_rendezvous_host(struct xst_rendezvous *rendezvous, const struct xsti_place *place,
                                     struct xst_diag *diag)
{
    struct hall *const hall = calloc(1, sizeof *hall);
    if (!hall)
        return xsti_fail_memory(diag);
    hall->rendezvous = rendezvous;
    hall->deadline = xsti_wire_now() + rendezvous->join_seconds;
    hall->missing = rendezvous->group.ranks - 1;
    enum xst_status status = xsti_door_open(place, &hall->door, diag);
    if (status == XST_OK) {
        while (status == XST_OK && hall->missing > 0)
            status = round_of(hall, diag);
        if (status != XST_OK)
            send_home(hall);
        xsti_door_close(&hall->door);
    }
    for (int i = 0; i < hall->stranger_count; i++)
        close(hall->strangers[i]);
    free(hall);
    return status == XST_OK ? welcome(rendezvous, diag) : status;
}

enum xst_status xsti_rendezvous_knock(struct xst_rendezvous *rendezvous, const struct xsti_place *place,
                                      struct xst_diag *diag)
{
    const double deadline = xsti_wire_now() + rendezvous->join_seconds;
    struct xsti_wire_hello hello;
    struct xsti_wire_frame frame;
    memset(&hello, 0, sizeof hello);
    hello.rank = rendezvous->group.rank;
    hello.ranks = rendezvous->group.ranks;
    memcpy(hello.job, rendezvous->job, sizeof hello.job);
    XSTI_TRY(xsti_place_connect(place, deadline, &rendezvous->sockets[0], diag));
    (void)xsti_wire_send_frame(rendezvous->sockets[0], XSTI_WIRE_HELLO, 0, &hello, sizeof hello, deadline + 2);
    /* Rank 0 has the same limit and says who is missing: leave it the time to. */
    switch (xsti_wire_receive(rendezvous->sockets[0], &frame, sizeof frame, deadline + 2)) {
    case XSTI_WIRE_DONE:
        break;
    case XSTI_WIRE_CLOSED:
        return xsti_rendezvous_lost(rendezvous, 0, diag);
    case XSTI_WIRE_LATE:
        return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag, "rendezvous %s: rank 0 let nobody in within %g s",
                                   place->where, rendezvous->join_seconds);
    }
    return xsti_wire_is_ours(&frame) && frame.kind == XSTI_WIRE_WELCOME
               ? XST_OK
               : xsti_rendezvous_unexpected(rendezvous, 0, &frame, diag);
}
