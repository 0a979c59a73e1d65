/* SPDX-License-Identifier: Apache-2.0 */
#include "group/wire.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static const char magic[4] = {'X', 'S', 'T', 'G'};

double xsti_wire_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int xsti_wire_left(double deadline)
{
    const double left_ms = ceil((deadline - xsti_wire_now()) * 1e3);
    return left_ms <= 0 ? 0 : left_ms > 1e9 ? 1000000000 : (int)left_ms;
}

/* Waits until the socket can be read or written. */
static enum xsti_wire_result wait_for(int socket, short events, double deadline)
{
    for (;;) {
        struct pollfd one = {.fd = socket, .events = events};
        const int left_ms = xsti_wire_left(deadline);
        const int ready = poll(&one, 1, left_ms);
        if (ready > 0)
            return XSTI_WIRE_DONE;
        if (ready < 0 && errno != EINTR)
            return XSTI_WIRE_CLOSED;
        if (left_ms == 0)
            return XSTI_WIRE_LATE;
    }
}

enum xsti_wire_result xsti_wire_send(int socket, const void *data, size_t bytes, double deadline)
{
    const unsigned char *at = data;
    while (bytes > 0) {
        const ssize_t put = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            const enum xsti_wire_result result = wait_for(socket, POLLOUT, deadline);
            if (result != XSTI_WIRE_DONE)
                return result;
            continue;
        }
        if (put < 0)
            return XSTI_WIRE_CLOSED;
        at += put;
        bytes -= (size_t)put;
    }
    return XSTI_WIRE_DONE;
}

enum xsti_wire_result xsti_wire_receive(int socket, void *data, size_t bytes, double deadline)
{
    unsigned char *at = data;
    while (bytes > 0) {
        const ssize_t got = recv(socket, at, bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            const enum xsti_wire_result result = wait_for(socket, POLLIN, deadline);
            if (result != XSTI_WIRE_DONE)
                return result;
            continue;
        }
        if (got <= 0)
            return XSTI_WIRE_CLOSED;
        at += got;
        bytes -= (size_t)got;
    }
    return XSTI_WIRE_DONE;
}

enum xsti_wire_result xsti_wire_send_frame(int socket, enum xsti_wire_kind kind, uint64_t exchange, const void *body,
                                           size_t bytes, double deadline)
{
    struct xsti_wire_frame frame = {.version = XSTI_WIRE_VERSION,
                                    .kind = (uint16_t)kind,
                                    .exchange = exchange,
                                    .bytes = bytes};
    memcpy(frame.magic, magic, sizeof magic);
    const enum xsti_wire_result result = xsti_wire_send(socket, &frame, sizeof frame, deadline);
    return result == XSTI_WIRE_DONE ? xsti_wire_send(socket, body, bytes, deadline) : result;
}

int xsti_wire_is_ours(const struct xsti_wire_frame *frame)
{
    return memcmp(frame->magic, magic, sizeof magic) == 0 && frame->version == XSTI_WIRE_VERSION;
}

enum xsti_wire_result xsti_wire_send_end(int socket, enum xst_status status, const char *text)
{
    const double limit_s = 1;
    struct xsti_wire_end end;
    memset(&end, 0, sizeof end);
    end.status = (int32_t)status;
    memcpy(end.text, text, strnlen(text, sizeof end.text - 1));
    return xsti_wire_send_frame(socket, XSTI_WIRE_END, 0, &end, sizeof end, xsti_wire_now() + limit_s);
}

enum xsti_wire_result xsti_wire_receive_end(int socket, const struct xsti_wire_frame *frame,
                                            struct xsti_wire_end *end_out, double deadline)
{
    if (frame->bytes != sizeof *end_out)
        return XSTI_WIRE_CLOSED;
    const enum xsti_wire_result result = xsti_wire_receive(socket, end_out, sizeof *end_out, deadline);
    if (result != XSTI_WIRE_DONE)
        return result;
    end_out->text[sizeof end_out->text - 1] = '\0';
    /* It will be shown on somebody's terminal. */
    for (char *at = end_out->text; *at; at++)
        *at = *at > 0 && *at < ' ' ? '?' : *at;
    return result;
}
