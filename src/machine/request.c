/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a request one that any machine could answer.
 */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "machine/machine.h"

enum { MOST_PRODUCERS = 65536, MOST_THREADS = 1024, WARP = 32, MOST_BURSTS = 4096, MOST_REPS = 100000 };
#define MOST_BYTES ((int64_t)1 << 30)
#define MOST_US    1e7

const char *xsti_request_text(const struct xst_measure_request *request, char text_out[XSTI_REQUEST_TEXT_BYTES])
{
    static const char *const probes[] = {"", "bystander ", "loop "};
    int at = snprintf(text_out, XSTI_REQUEST_TEXT_BYTES, "%s%s %s%s/%s, %lld x %lld B", probes[request->probe],
                      request->probe == XST_PROBE_BURST ? xst_mode_text(request->mode) : "",
                      xst_target_text(request->target), request->direction == XST_DIRECTION_BOTH ? "-bidir" : "",
                      xst_method_text(request->method), (long long)request->producers,
                      (long long)request->bytes_per_producer);
    if (request->flow != XST_FLOW_PAIR && at < XSTI_REQUEST_TEXT_BYTES)
        at += snprintf(text_out + at, (size_t)(XSTI_REQUEST_TEXT_BYTES - at), " %s", xst_flow_text(request->flow));
    if (request->piece_bytes && at < XSTI_REQUEST_TEXT_BYTES)
        at += snprintf(text_out + at, (size_t)(XSTI_REQUEST_TEXT_BYTES - at), " in pieces of %lld at %lld",
                       (long long)request->piece_bytes, (long long)request->pitch_bytes);
    if (request->mode != XST_MODE_ISOLATED && at < XSTI_REQUEST_TEXT_BYTES)
        snprintf(text_out + at, (size_t)(XSTI_REQUEST_TEXT_BYTES - at), ", gap %g us", request->gap_us);
    return text_out;
}

int64_t xsti_request_senders(const struct xst_measure_request *request, int64_t devices)
{
    switch (request->flow) {
    case XST_FLOW_INCAST:
        return request->senders > 1 ? request->senders : 1;
    case XST_FLOW_ROTATION:
        return devices;
    case XST_FLOW_PAIR:
    case XST_FLOW_SPREAD:
        break;
    }
    return 1;
}

int64_t xsti_request_sender(const struct xst_measure_request *request, int64_t i)
{
    if (request->flow == XST_FLOW_INCAST)
        return i == 0 ? 0 : i + 1; /* device 1 receives */
    return request->flow == XST_FLOW_ROTATION ? i : request->sender;
}

int64_t xsti_request_receiver(const struct xst_measure_request *request, int64_t sender, int64_t devices)
{
    if (request->direction == XST_DIRECTION_BOTH)
        return 1 - sender;
    if (request->flow == XST_FLOW_INCAST)
        return 1;
    if (request->flow != XST_FLOW_PAIR && devices > 2)
        return -1;
    return request->sender == request->receiver || request->flow != XST_FLOW_PAIR ? (sender + 1) % devices
                                                                                  : request->receiver;
}

static enum xst_status check_int(const char *name, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s is %lld, outside %lld..%lld", name, (long long)value, (long long)low,
                     (long long)high);
}

static enum xst_status check_us(const char *name, double value, struct xst_diag *diag)
{
    if (isfinite(value) && value >= 0 && value <= MOST_US)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s is %g, outside 0..%g", name, value, MOST_US);
}

/* Bytes of one store; a bulk store moves multiples of 16. */
static int64_t width_of(enum xst_method method)
{
    return method == XST_METHOD_ST4 ? 4 : 16;
}

static enum xst_status check_multiple(const char *name, int64_t value, int64_t unit, enum xst_method method,
                                      struct xst_diag *diag)
{
    if (value % unit == 0)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s is %lld, not a multiple of %lld, the unit of method %s", name,
                     (long long)value, (long long)unit, xst_method_text(method));
}

/* Pieces: whole, not overlapping, and in a whole ratio to one sweep of all
 * threads, so that addresses need no division inside the store loop. */
static enum xst_status check_pattern(const struct xst_measure_request *request, struct xst_diag *diag)
{
    const int64_t width = width_of(request->method), piece = request->piece_bytes;
    const int64_t sweep = request->threads * width;
    if (piece == 0 && request->pitch_bytes == 0)
        return XST_OK;
    if (piece < width || request->pitch_bytes < piece)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "piece_bytes is %lld and pitch_bytes %lld: a piece holds "
                         "at least one store (%lld bytes) and the "
                         "pitch at least one piece, or both are 0",
                         (long long)piece, (long long)request->pitch_bytes, (long long)width);
    XSTI_TRY(check_int("pitch_bytes", request->pitch_bytes, 1, MOST_BYTES, diag));
    XSTI_TRY(check_multiple("piece_bytes", piece, width, request->method, diag));
    XSTI_TRY(check_multiple("pitch_bytes", request->pitch_bytes, width, request->method, diag));
    if (request->bytes_per_producer % piece != 0)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "bytes_per_producer is %lld, not a whole number of pieces "
                         "of %lld bytes",
                         (long long)request->bytes_per_producer, (long long)piece);
    if (request->method != XST_METHOD_BULK && sweep % piece != 0 && piece % sweep != 0)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "piece_bytes is %lld, neither a divisor nor a multiple of "
                         "the %lld bytes that %lld threads store at "
                         "once",
                         (long long)piece, (long long)sweep, (long long)request->threads);
    return XST_OK;
}

static enum xst_status check_burst(const struct xst_measure_request *request, struct xst_diag *diag)
{
    XSTI_TRY(check_int("bytes_per_producer", request->bytes_per_producer, 1, MOST_BYTES, diag));
    XSTI_TRY(check_int("bursts", request->bursts, 1, MOST_BURSTS, diag));
    XSTI_TRY(check_us("period_us", request->period_us, diag));
    if (request->mode == XST_MODE_ISOLATED && (request->bursts != 1 || request->gap_us != 0))
        return xsti_fail(diag, XST_ERR_USAGE, "an isolated burst has one burst and no gap, not %lld bursts and %g us",
                         (long long)request->bursts, request->gap_us);
    if (request->mode != XST_MODE_ISOLATED && request->bursts < 4)
        return xsti_fail(diag, XST_ERR_RANGE, "bursts is %lld: at least 4 are needed, the first half is the run-up",
                         (long long)request->bursts);
    return check_pattern(request, diag);
}

static enum xst_status check_loop(const struct xst_measure_request *request, struct xst_diag *diag)
{
    XSTI_TRY(check_int("slices", request->slices, 1, 65536, diag));
    XSTI_TRY(check_int("load_bytes", request->load_bytes, 16, 131072, diag));
    XSTI_TRY(check_int("load_span_bytes", request->load_span_bytes, request->load_bytes, MOST_BYTES, diag));
    XSTI_TRY(check_us("slice_every_us", request->slice_every_us, diag));
    XSTI_TRY(check_us("span_us", request->span_us, diag));
    XSTI_TRY(check_multiple("load_bytes", request->load_bytes, 16, XST_METHOD_BULK, diag));
    if (request->bytes_per_producer % (16 * request->slices) != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "bytes is %lld, not %lld slices of a multiple of 16 bytes",
                         (long long)request->bytes_per_producer, (long long)request->slices);
    return XST_OK;
}

static enum xst_status check_flow(const struct xst_measure_request *request, struct xst_diag *diag)
{
    if (request->flow == XST_FLOW_PAIR && request->sender == 0 && request->receiver == 0)
        return XST_OK;
    if (request->target != XST_TARGET_PEER || request->direction != XST_DIRECTION_ONE)
        return xsti_fail(diag, XST_ERR_USAGE,
                         "flow %s is between devices: it goes with target peer, one direction, not with %s%s",
                         xst_flow_text(request->flow), xst_target_text(request->target),
                         request->direction == XST_DIRECTION_BOTH ? "-bidir" : "");
    if (request->probe != XST_PROBE_BURST)
        return xsti_fail(diag, XST_ERR_USAGE, "flow %s goes with the burst probe", xst_flow_text(request->flow));
    if (request->flow == XST_FLOW_PAIR && request->sender == request->receiver)
        return xsti_fail(diag, XST_ERR_USAGE, "device %lld does not send to itself over a link",
                         (long long)request->sender);
    return XST_OK;
}

enum xst_status xsti_request_check(const struct xst_measure_request *request, struct xst_diag *diag)
{
    XSTI_TRY(
        check_int("producers", request->producers, request->probe == XST_PROBE_LOOP ? 0 : 1, MOST_PRODUCERS, diag));
    XSTI_TRY(check_int("threads", request->threads, WARP, MOST_THREADS, diag));
    XSTI_TRY(check_int("reps", request->reps, 1, MOST_REPS, diag));
    XSTI_TRY(check_int("bytes_per_producer", request->bytes_per_producer, 0, MOST_BYTES, diag));
    XSTI_TRY(check_us("gap_us", request->gap_us, diag));
    XSTI_TRY(check_us("delay_us", request->delay_us, diag));
    XSTI_TRY(check_multiple("bytes_per_producer", request->bytes_per_producer, width_of(request->method),
                            request->method, diag));
    if (request->threads % WARP != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "threads is %lld, not a multiple of %d", (long long)request->threads,
                         WARP);
    if (request->direction == XST_DIRECTION_BOTH && request->target != XST_TARGET_PEER)
        return xsti_fail(diag, XST_ERR_USAGE, "both directions exist between two devices only, not for target %s",
                         xst_target_text(request->target));
    XSTI_TRY(check_flow(request, diag));
    switch (request->probe) {
    case XST_PROBE_BURST:
        return check_burst(request, diag);
    case XST_PROBE_LOOP:
        return check_loop(request, diag);
    case XST_PROBE_BYSTANDER:
        break;
    }
    return XST_OK;
}
