/* SPDX-License-Identifier: Apache-2.0
 *
 * One exchange: rank 0 collects what every rank gives and sends all of it back.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "group/rendezvous.h"

enum xst_status xsti_rendezvous_head(struct xst_rendezvous *rendezvous, int64_t rank, double deadline,
                                     struct xsti_wire_frame *frame_out, struct xst_diag *diag)
{
    switch (xsti_wire_receive(rendezvous->sockets[rank], frame_out, sizeof *frame_out, deadline)) {
    case XSTI_WIRE_DONE:
        break;
    case XSTI_WIRE_CLOSED:
        return xsti_rendezvous_lost(rendezvous, rank, diag);
    case XSTI_WIRE_LATE:
        return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag,
                                   "rank %lld did not answer within %g s (exchange %llu)", (long long)rank,
                                   rendezvous->gather_seconds, (unsigned long long)rendezvous->exchange);
    }
    return XST_OK;
}

static enum xst_status receive_body(struct xst_rendezvous *rendezvous, int64_t rank, void *body, size_t bytes,
                                    double deadline, struct xst_diag *diag)
{
    switch (xsti_wire_receive(rendezvous->sockets[rank], body, bytes, deadline)) {
    case XSTI_WIRE_DONE:
        break;
    case XSTI_WIRE_CLOSED:
        return xsti_rendezvous_lost(rendezvous, rank, diag);
    case XSTI_WIRE_LATE:
        return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag,
                                   "rank %lld stopped in the middle of exchange %llu for %g s", (long long)rank,
                                   (unsigned long long)rendezvous->exchange, rendezvous->gather_seconds);
    }
    return XST_OK;
}

/* One rank's part of an exchange. */
static enum xst_status take(struct xst_rendezvous *rendezvous, int64_t rank, size_t bytes, unsigned char *all,
                            double deadline, struct xst_diag *diag)
{
    struct xsti_wire_frame frame;
    XSTI_TRY(xsti_rendezvous_head(rendezvous, rank, deadline, &frame, diag));
    if (!xsti_wire_is_ours(&frame) || frame.kind != XSTI_WIRE_GIVE)
        return xsti_rendezvous_unexpected(rendezvous, rank, &frame, diag);
    if (frame.bytes != bytes || frame.exchange != rendezvous->exchange)
        return xsti_rendezvous_end(rendezvous, XST_ERR_USAGE, diag,
                                   "exchange %llu: rank 0 gives %zu bytes, rank %lld %llu (its exchange %llu)",
                                   (unsigned long long)rendezvous->exchange, bytes, (long long)rank,
                                   (unsigned long long)frame.bytes, (unsigned long long)frame.exchange);
    return receive_body(rendezvous, rank, all + (size_t)rank * bytes, bytes, deadline, diag);
}

/* The ranks that have not come, "1, 3 and 2 more". */
static const char *missing(const struct pollfd *waits, int64_t ranks, char *text, size_t bytes)
{
    size_t at = 0;
    int64_t more = 0;
    text[0] = '\0';
    for (int64_t r = 1; r < ranks; r++) {
        if (!(waits[r].events & POLLIN))
            continue;
        if (at + 16 < bytes)
            at += (size_t)snprintf(text + at, bytes - at, "%s%lld", at ? ", " : "", (long long)r);
        else
            more++;
    }
    if (more)
        snprintf(text + at, bytes - at, " + %lld", (long long)more);
    return text;
}

/* Rank 0: what everyone gives, in whatever order they come. Who has given is watched too: the dead are noticed at once. */
static enum xst_status collect(struct xst_rendezvous *rendezvous, size_t bytes, unsigned char *all,
                               struct pollfd *waits, struct xst_diag *diag)
{
    const int64_t ranks = rendezvous->group.ranks;
    const double deadline = xsti_wire_now() + rendezvous->gather_seconds;
    int64_t open = ranks - 1;
    char text[128];
    for (int64_t r = 0; r < ranks; r++)
        waits[r] = (struct pollfd){.fd = rendezvous->sockets[r], .events = POLLIN | POLLRDHUP};
    while (open > 0) {
        const int left_ms = xsti_wire_left(deadline);
        const int ready = poll(waits, (nfds_t)ranks, left_ms);
        if (ready == 0 && left_ms == 0)
            return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag,
                                       "exchange %llu: no word from rank %s within %g s",
                                       (unsigned long long)rendezvous->exchange,
                                       missing(waits, ranks, text, sizeof text), rendezvous->gather_seconds);
        for (int64_t r = 1; r < ranks && ready > 0; r++) {
            if (!waits[r].revents)
                continue;
            if (!(waits[r].events & POLLIN))
                return xsti_rendezvous_lost(rendezvous, r, diag);
            XSTI_TRY(take(rendezvous, r, bytes, all, deadline, diag));
            waits[r].events = POLLRDHUP;
            open--;
        }
    }
    return XST_OK;
}

static enum xst_status serve(struct xst_rendezvous *rendezvous, size_t bytes, unsigned char *all, struct xst_diag *diag)
{
    const int64_t ranks = rendezvous->group.ranks;
    struct pollfd *const waits = calloc((size_t)ranks, sizeof *waits);
    if (!waits)
        return xsti_rendezvous_end(rendezvous, XST_ERR_MEMORY, diag, "rank 0: out of memory");
    const enum xst_status status = collect(rendezvous, bytes, all, waits, diag);
    free(waits);
    if (status != XST_OK)
        return status;
    const double deadline = xsti_wire_now() + rendezvous->gather_seconds;
    for (int64_t r = 1; r < ranks; r++) {
        switch (xsti_wire_send_frame(rendezvous->sockets[r], XSTI_WIRE_ALL, rendezvous->exchange, all,
                                     (size_t)ranks * bytes, deadline)) {
        case XSTI_WIRE_DONE:
            break;
        case XSTI_WIRE_CLOSED:
            return xsti_rendezvous_lost(rendezvous, r, diag);
        case XSTI_WIRE_LATE:
            return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag,
                                       "rank %lld did not take the answer to exchange %llu within %g s", (long long)r,
                                       (unsigned long long)rendezvous->exchange, rendezvous->gather_seconds);
        }
    }
    return XST_OK;
}

static enum xst_status ask(struct xst_rendezvous *rendezvous, const void *mine, size_t bytes, unsigned char *all,
                           struct xst_diag *diag)
{
    /* Rank 0 waits as long for the slowest rank, and then says which one that was. */
    const double deadline = xsti_wire_now() + rendezvous->gather_seconds + 2;
    struct xsti_wire_frame frame;
    const enum xsti_wire_result sent =
        xsti_wire_send_frame(rendezvous->sockets[0], XSTI_WIRE_GIVE, rendezvous->exchange, mine, bytes, deadline);
    if (sent == XSTI_WIRE_LATE)
        return xsti_rendezvous_end(rendezvous, XST_ERR_TIMEOUT, diag, "rank 0 did not take exchange %llu within %g s",
                                   (unsigned long long)rendezvous->exchange, rendezvous->gather_seconds);
    /* Also when the connection is closed: what rank 0 said before it closed can still be read. */
    XSTI_TRY(xsti_rendezvous_head(rendezvous, 0, deadline, &frame, diag));
    if (!xsti_wire_is_ours(&frame) || frame.kind != XSTI_WIRE_ALL || frame.exchange != rendezvous->exchange ||
        frame.bytes != bytes * (size_t)rendezvous->group.ranks)
        return xsti_rendezvous_unexpected(rendezvous, 0, &frame, diag);
    return receive_body(rendezvous, 0, all, (size_t)frame.bytes, deadline, diag);
}

enum xst_status xsti_rendezvous_gather(void *context, const void *mine, size_t bytes, void *all_out,
                                       struct xst_diag *diag)
{
    struct xst_rendezvous *const rendezvous = context;
    unsigned char *const all = all_out;
    if (rendezvous->ended)
        return xsti_fail(diag, rendezvous->end.status, "%s", rendezvous->end.text);
    rendezvous->exchange++;
    if (rendezvous->group.rank > 0)
        return ask(rendezvous, mine, bytes, all, diag);
    memcpy(all, mine, bytes);
    return serve(rendezvous, bytes, all, diag);
}
