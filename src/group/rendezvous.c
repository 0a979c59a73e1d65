/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a rendezvous: opened, looked at, ended with a reason, closed.
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
    if (frame->kind != XSTI_WIRE_END)
        return xsti_rendezvous_end(
            rendezvous, XST_ERR_SCHEMA, diag,
            "rank %lld says something (kind %u, %llu bytes) that does not belong here (exchange %llu)", (long long)rank,
            frame->kind, (unsigned long long)frame->bytes, (unsigned long long)rendezvous->exchange);
    if (xsti_wire_receive_end(rendezvous->sockets[rank], frame, &end, xsti_wire_now() + limit_s) != XSTI_WIRE_DONE)
        return xsti_rendezvous_lost(rendezvous, rank, diag);
    /* An end is never a success. */
    const enum xst_status status = end.status < 0 ? (enum xst_status)end.status : XST_ERR_DEVICE;
    const char *const text = end.text[0] ? end.text : xst_status_sentence(status);
    /* Whoever sent it needs no answer. */
    close(rendezvous->sockets[rank]);
    rendezvous->sockets[rank] = -1;
    rendezvous->told |= !host && !rendezvous->ended;
    return host ? xsti_rendezvous_end(rendezvous, status, diag, "rank %lld: %s", (long long)rank, text)
                : xsti_rendezvous_end(rendezvous, status, diag, "%s", text);
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
        XSTI_TRY(xsti_rendezvous_head(rendezvous, rank, xsti_wire_now(), &frame, diag));
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
        .group = {.rank = options->rank,
                  .ranks = options->ranks,
                  .gather = xsti_rendezvous_gather,
                  .context = rendezvous},
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
