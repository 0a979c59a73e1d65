/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks to spans: cycles placed in time by each track's two readings of the common clock, tracks of a unit put together.
 */
#include "gpu/trace_ring.h"

#include <math.h>
#include <stdlib.h>

#include "base/diag.h"

enum { MOST_MARKS = 1 << 20 };

static const uint32_t no_tile = 0xffffffffu;

enum xst_status xsti_trace_ring_open(const struct xsti_device *device, int64_t ctas, int64_t tracks_per_cta,
                                     int64_t marks, struct xsti_trace_ring *ring_out, struct xst_diag *diag)
{
    struct xsti_trace_ring ring = {.tracks_per_cta = (uint32_t)tracks_per_cta, .marks_per_track = 16};
    while (ring.marks_per_track < marks && ring.marks_per_track < MOST_MARKS)
        ring.marks_per_track *= 2;
    const size_t tracks = (size_t)(ctas * tracks_per_cta);
    CUdeviceptr pointer = 0;
    XSTI_TRY(xsti_device_alloc(device, tracks * sizeof(struct xsti_trace_track), &pointer, diag));
    ring.tracks = pointer;
    *ring_out = ring;
    XSTI_TRY(xsti_device_fill(device, ring.tracks, 0, tracks * sizeof(struct xsti_trace_track), diag));
    XSTI_TRY(xsti_device_alloc(device, tracks * ring.marks_per_track * sizeof(struct xsti_trace_mark), &pointer, diag));
    ring_out->marks = pointer;
    return xsti_device_wait(device, 10e6, "clearing a trace ring", diag);
}

void xsti_trace_ring_close(const struct xsti_device *device, struct xsti_trace_ring *ring)
{
    xsti_device_free(device, ring->tracks);
    xsti_device_free(device, ring->marks);
    *ring = (struct xsti_trace_ring){0};
}

static int by_unit(const void *left, const void *right)
{
    const struct xst_trace_span *const a = left, *const b = right;
    if (a->cta != b->cta)
        return a->cta < b->cta ? -1 : 1;
    if (a->role != b->role)
        return a->role < b->role ? -1 : 1;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return 0;
}

/* The warps of a unit did the same together: one span. */
static size_t put_together(struct xst_trace_span *spans, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(spans, count, sizeof *spans, by_unit);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_unit(&spans[kept - 1], &spans[i]) != 0) {
            spans[kept++] = spans[i];
            continue;
        }
        struct xst_trace_span *const whole = &spans[kept - 1];
        whole->start_us = fmin(whole->start_us, spans[i].start_us);
        whole->end_us = fmax(whole->end_us, spans[i].end_us);
        whole->bytes += spans[i].bytes;
        whole->stall_us = fmax(whole->stall_us, spans[i].stall_us);
    }
    return kept;
}

struct placing {
    double origin_us; /* of the track's first reading */
    double us_per_cycle;
    uint64_t clock;
};

/* A mark holds the low 56 bits of a clock that counts for as long as the device is up; their difference to the track's reading
 * is taken before anything is rounded. */
static double place(const struct placing *placing, const struct xsti_trace_mark *mark)
{
    const int64_t passed = (int64_t)((mark->clock_what & ~UINT64_C(0xff)) - (placing->clock << 8)) / 256;
    return placing->origin_us + (double)passed * placing->us_per_cycle;
}

/* Spans of one track; returns how many. */
static size_t read_track(const struct xsti_trace_track *track, const struct xsti_trace_mark *marks, uint32_t room,
                         uint64_t first_ns, const struct xst_trace_span *like, struct xst_trace_span *spans)
{
    const double cycles = (double)(track->clock[1] - track->clock[0]);
    const struct placing placing = {(double)(int64_t)(track->ns[0] - first_ns) / 1000,
                                    cycles > 0 ? (double)(track->ns[1] - track->ns[0]) / 1000 / cycles : 0,
                                    track->clock[0]};
    const uint32_t kept = track->written < room ? track->written : room;
    size_t count = 0;
    for (uint32_t i = 1; i < kept; i++) {
        const struct xsti_trace_mark *const before = &marks[(track->written - kept + i - 1) % room];
        const struct xsti_trace_mark *const mark = &marks[(track->written - kept + i) % room];
        const enum xst_trace_what what = (enum xst_trace_what)(mark->clock_what & 0xff);
        if (what == XST_TRACE_IDLE)
            continue;
        struct xst_trace_span *const span = &spans[count++];
        *span = *like;
        span->what = what;
        span->tile = mark->tile == no_tile ? XST_TRACE_NO_TILE : (int64_t)mark->tile;
        span->start_us = place(&placing, before);
        span->end_us = place(&placing, mark);
        if (what == XST_TRACE_ISSUE)
            span->bytes = mark->value;
        if (what == XST_TRACE_MATH)
            span->stall_us = mark->value * placing.us_per_cycle;
    }
    return count;
}

enum xst_status xsti_trace_spans(const struct xsti_trace_track *tracks, const struct xsti_trace_mark *marks,
                                 const struct xsti_trace_ring *ring, int64_t ctas, int32_t rank,
                                 struct xst_trace *trace, struct xst_diag *diag)
{
    const size_t track_count = (size_t)ctas * ring->tracks_per_cta;
    size_t most = 1;
    uint64_t first_ns = UINT64_MAX;
    struct xst_trace_call *const call = &trace->calls[trace->call_count - 1];
    for (size_t t = 0; t < track_count; t++) {
        const struct xsti_trace_track *const track = &tracks[t];
        if (track->written == 0)
            continue;
        first_ns = track->ns[0] < first_ns ? track->ns[0] : first_ns;
        most += track->written < ring->marks_per_track ? track->written : ring->marks_per_track;
        call->lost += track->written > ring->marks_per_track ? track->written - ring->marks_per_track : 0;
    }
    struct xst_trace_span *const spans = malloc(most * sizeof *spans);
    if (!spans)
        return xsti_fail_memory(diag);
    size_t count = 0;
    for (size_t t = 0; t < track_count; t++) {
        const struct xsti_trace_track *const track = &tracks[t];
        const struct xst_trace_span like = {.rank = rank,
                                            .sm = (int32_t)track->sm,
                                            .cta = (int32_t)(t / ring->tracks_per_cta),
                                            .role = (enum xst_trace_role)track->role,
                                            .unit = track->unit};
        count +=
            read_track(track, marks + t * ring->marks_per_track, ring->marks_per_track, first_ns, &like, spans + count);
    }
    count = put_together(spans, count);
    enum xst_status status = XST_OK;
    for (size_t i = 0; i < count && status == XST_OK; i++)
        status = xst_trace_add_span(trace, &spans[i], diag);
    free(spans);
    return status;
}

enum xst_status xsti_trace_ring_read(const struct xsti_device *device, const struct xsti_trace_ring *ring, int64_t ctas,
                                     int32_t rank, struct xst_trace *trace, struct xst_diag *diag)
{
    const size_t track_count = (size_t)ctas * ring->tracks_per_cta;
    struct xsti_trace_track *const tracks = malloc(track_count * sizeof *tracks);
    struct xsti_trace_mark *const marks = malloc(track_count * ring->marks_per_track * sizeof *marks);
    enum xst_status status = tracks && marks ? XST_OK : xsti_fail_memory(diag);
    if (status == XST_OK)
        status = xsti_device_read(device, tracks, ring->tracks, track_count * sizeof *tracks, diag);
    if (status == XST_OK)
        status =
            xsti_device_read(device, marks, ring->marks, track_count * ring->marks_per_track * sizeof *marks, diag);
    if (status == XST_OK)
        status = xsti_trace_spans(tracks, marks, ring, ctas, rank, trace, diag);
    free(tracks);
    free(marks);
    return status;
}
