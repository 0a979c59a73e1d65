/* SPDX-License-Identifier: Apache-2.0
 *
 * A group made of sockets: rank 0 collects what every rank gives and sends all of it back.
 */
#include "group/rendezvous.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

enum xst_status xsti_rendezvous_end(struct xst_rendezvous *rendezvous, enum xst_status status, struct xst_diag *diag,
                                    const char *format, ...)
{
    if (!rendezvous->ended) {
        va_list list;
        va_start(list, format);
        vsnprintf(rendezvous->end.text, sizeof rendezvous->end.text, format, list);
        va_end(list);
        rendezvous->end.status = status;
        rendezvous->ended = 1;
        for (int64_t r = 0; r < rendezvous->group.ranks; r++) {
            if (rendezvous->sockets[r] < 0)
                continue;
            const int sent = xsti_wire_send_end(rendezvous->sockets[r], status, rendezvous->end.text) == XSTI_WIRE_DONE;
            /* A rank 0 that did not answer in time may never read it. */
            rendezvous->told |= sent && rendezvous->group.rank > 0 && status != XST_ERR_TIMEOUT;
        }
    }
    return xsti_fail(diag, rendezvous->end.status, "%s", rendezvous->end.text);
}

enum xst_status xsti_rendezvous_lost(struct xst_rendezvous *rendezvous, int64_t rank, struct xst_diag *diag)
{
    close(rendezvous->sockets[rank]);
    rendezvous->sockets[rank] = -1;
    if (rendezvous->exchange == 0)
        return xsti_rendezvous_end(rendezvous, XST_ERR_DEVICE, diag,
                                   "rank %lld died: its connection closed without a word before all had come",
                                   (long long)rank);
    return xsti_rendezvous_end(rendezvous, XST_ERR_DEVICE, diag,
                               "rank %lld died: its connection closed without a word (exchange %llu)", (long long)rank,
                               (unsigned long long)rendezvous->exchange);
}

enum xst_status xsti_rendezvous_unexpected(struct xst_rendezvous *rendezvous, int64_t rank,
                                           const struct xsti_wire_frame *frame, struct xst_diag *diag)
{
    const double limit_s = 1;
    struct xsti_wire_end end;
    const int host = rendezvous->group.rank == 0;
    if (!xsti_wire_is_ours(frame))
        return xsti_rendezvous_end(rendezvous, XST_ERR_SCHEMA, diag,
                                   "rank %lld speaks version %u of the rendezvous, not %d", (long long)rank,
                                   frame->version, XSTI_WIRE_VERSION);
    if (frame->kind == XSTI_WIRE_LEAVE)
        return xsti_rendezvous_end(rendezvous, XST_ERR_USAGE, diag, "rank %lld left the job before exchange %llu",
                                   (long long)rank, (unsigned long long)rendezvous->exchange);
    if (frame->kind != XSTI_WIRE_END ||
        xsti_wire_receive_end(rendezvous->sockets[rank], frame, &end, xsti_wire_now() + limit_s) != XSTI_WIRE_DONE)
        return xsti_rendezvous_lost(rendezvous, rank, diag);
    /* Whoever sent it needs no answer. */
    close(rendezvous->sockets[rank]);
    rendezvous->sockets[rank] = -1;
    rendezvous->told |= !host && !rendezvous->ended;
    return host ? xsti_rendezvous_end(rendezvous, (enum xst_status)end.status, diag, "rank %lld: %s", (long long)rank,
                                      end.text)
                : xsti_rendezvous_end(rendezvous, (enum xst_status)end.status, diag, "%s", end.text);
}

/* The next frame's head of a rank that has something to say. */
static enum xst_status receive_head(struct xst_rendezvous *rendezvous, int64_t rank, double deadline,
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
    XSTI_TRY(receive_head(rendezvous, rank, deadline, &frame, diag));
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
    XSTI_TRY(receive_head(rendezvous, 0, deadline, &frame, diag));
    if (!xsti_wire_is_ours(&frame) || frame.kind != XSTI_WIRE_ALL || frame.exchange != rendezvous->exchange ||
        frame.bytes != bytes * (size_t)rendezvous->group.ranks)
        return xsti_rendezvous_unexpected(rendezvous, 0, &frame, diag);
    return receive_body(rendezvous, 0, all, (size_t)frame.bytes, deadline, diag);
}

static enum xst_status gather(void *context, const void *mine, size_t bytes, void *all_out, struct xst_diag *diag)
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

/* Something to read from this rank, or its end, without waiting. */
static enum xst_status look(struct xst_rendezvous *rendezvous, int64_t rank, struct xst_diag *diag)
{
    struct pollfd one = {.fd = rendezvous->sockets[rank], .events = POLLIN | POLLRDHUP};
    struct xsti_wire_frame frame;
    if (one.fd < 0 || poll(&one, 1, 0) <= 0)
        return XST_OK;
    const ssize_t got = recv(one.fd, &frame, sizeof frame, MSG_PEEK | MSG_DONTWAIT);
    if (got == (ssize_t)sizeof frame && frame.kind != XSTI_WIRE_GIVE && frame.kind != XSTI_WIRE_ALL) {
        XSTI_TRY(receive_head(rendezvous, rank, xsti_wire_now(), &frame, diag));
        return xsti_rendezvous_unexpected(rendezvous, rank, &frame, diag);
    }
    return got == 0 || (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) ? xsti_rendezvous_lost(rendezvous, rank, diag)
                                                                       : XST_OK;
}

enum xst_status xst_rendezvous_check(struct xst_rendezvous *rendezvous, struct xst_diag *diag)
{
    if (rendezvous->ended)
        return xsti_fail(diag, rendezvous->end.status, "%s", rendezvous->end.text);
    for (int64_t r = 0; r < rendezvous->group.ranks; r++)
        XSTI_TRY(look(rendezvous, r, diag));
    return XST_OK;
}

static enum xst_status check_options(const struct xst_rendezvous_options *options, struct xst_diag *diag)
{
    if (options->ranks < 1 || options->ranks > XST_GROUP_MOST_RANKS || options->rank < 0 ||
        options->rank >= options->ranks)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "rendezvous: rank %lld of %lld; there are 1..%d ranks and a rank is below their number",
                         (long long)options->rank, (long long)options->ranks, XST_GROUP_MOST_RANKS);
    if (!(options->join_seconds >= 0) || !(options->gather_seconds >= 0))
        return xsti_fail(diag, XST_ERR_RANGE, "rendezvous: times of %g and %g s; they are at least 0",
                         options->join_seconds, options->gather_seconds);
    if (options->job && strlen(options->job) >= XST_GROUP_TEXT_BYTES)
        return xsti_fail(diag, XST_ERR_RANGE, "rendezvous: the job's name has %zu bytes, more than %d",
                         strlen(options->job), XST_GROUP_TEXT_BYTES - 1);
    return XST_OK;
}

static enum xst_status meet(struct xst_rendezvous *rendezvous, const char *where, struct xst_diag *diag)
{
    struct xsti_place place;
    if (rendezvous->group.ranks == 1)
        return XST_OK;
    if (!where)
        return xsti_fail(diag, XST_ERR_USAGE, "rendezvous: %lld ranks and no place to meet",
                         (long long)rendezvous->group.ranks);
    XSTI_TRY(xsti_place_parse(where, rendezvous->job, &place, diag));
    return rendezvous->group.rank == 0 ? xsti_rendezvous_host(rendezvous, &place, diag)
                                       : xsti_rendezvous_knock(rendezvous, &place, diag);
}

enum xst_status xst_rendezvous_open(const struct xst_rendezvous_options *options,
                                    struct xst_rendezvous **rendezvous_out, struct xst_diag *diag)
{
    XSTI_TRY(check_options(options, diag));
    struct xst_rendezvous *const rendezvous = calloc(1, sizeof *rendezvous);
    if (!rendezvous)
        return xsti_fail_memory(diag);
    *rendezvous = (struct xst_rendezvous){
        .group = {.rank = options->rank, .ranks = options->ranks, .gather = gather, .context = rendezvous},
        .join_seconds = options->join_seconds > 0 ? options->join_seconds : 60,
        .gather_seconds = options->gather_seconds > 0 ? options->gather_seconds : 600,
        .sockets = malloc((size_t)options->ranks * sizeof(int)),
    };
    if (!rendezvous->sockets) {
        free(rendezvous);
        return xsti_fail_memory(diag);
    }
    for (int64_t r = 0; r < options->ranks; r++)
        rendezvous->sockets[r] = -1;
    snprintf(rendezvous->job, sizeof rendezvous->job, "%s", options->job ? options->job : "");
    const enum xst_status status = meet(rendezvous, options->where, diag);
    if (options->told_out)
        *options->told_out = status != XST_OK && rendezvous->told;
    if (status != XST_OK) {
        xst_rendezvous_close(rendezvous);
        return status;
    }
    *rendezvous_out = rendezvous;
    return XST_OK;
}

const struct xst_group *xst_rendezvous_group(const struct xst_rendezvous *rendezvous)
{
    return &rendezvous->group;
}

int xst_rendezvous_told(const struct xst_rendezvous *rendezvous)
{
    return rendezvous->told;
}

int xst_rendezvous_ended(const struct xst_rendezvous *rendezvous)
{
    return rendezvous->ended;
}

void xst_rendezvous_abort(struct xst_rendezvous *rendezvous, enum xst_status status, const char *reason)
{
    /* Another rank's reason that has arrived already came first. */
    if (!rendezvous || xst_rendezvous_check(rendezvous, NULL) != XST_OK)
        return;
    if (rendezvous->group.rank == 0)
        (void)xsti_rendezvous_end(rendezvous, status, NULL, "rank 0: %s", reason);
    else
        (void)xsti_rendezvous_end(rendezvous, status, NULL, "%s", reason);
}

void xst_rendezvous_close(struct xst_rendezvous *rendezvous)
{
    if (!rendezvous)
        return;
    for (int64_t r = 0; r < rendezvous->group.ranks; r++) {
        if (rendezvous->sockets[r] < 0)
            continue;
        if (!rendezvous->ended)
            (void)xsti_wire_send_frame(rendezvous->sockets[r], XSTI_WIRE_LEAVE, rendezvous->exchange, NULL, 0,
                                       xsti_wire_now());
        close(rendezvous->sockets[r]);
    }
    free(rendezvous->sockets);
    free(rendezvous);
}
