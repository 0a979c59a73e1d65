/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h - the ring a traced kernel leaves its marks in, as host and device see it. C and CUDA; knows no kernel.
 *
 * A track belongs to one warp (its lane 0 writes): "since my last mark I did `what`". Every track has room for
 * `marks_per_track` marks, the latest of which are kept. Clocks are the SM's cycles; a track also holds two readings of the
 * nanosecond clock that all SMs share, at its begin and its end, which place its cycles in time.
 *
 * cuda/device/trace.cuh writes, src/gpu/trace_ring.c reads.
 */
#ifndef XST_DEVICE_TRACE_H
#define XST_DEVICE_TRACE_H

#include <stdint.h>

struct xsti_trace_mark {
    uint64_t clock_what; /* cycles << 8 | enum xst_trace_what: what has ended here */
    uint32_t tile;       /* 0xffffffff: none */
    uint32_t value;      /* issue: bytes that left the device; math: cycles its operands were late after the first */
};

struct xsti_trace_track {
    uint64_t clock[2]; /* at begin and end; 0, 0: the track was not used */
    uint64_t ns[2];
    uint32_t written; /* marks in all */
    uint32_t sm;
    uint16_t role; /* enum xst_trace_role */
    uint16_t unit; /* tracks of the same unit are put together: the earliest begin, the latest end, the sum of bytes */
    uint32_t pad;
};

struct xsti_trace_ring {
    uint64_t tracks; /* [ctas * tracks_per_cta] struct xsti_trace_track, zero before the launch */
    uint64_t marks;  /* [ctas * tracks_per_cta][marks_per_track] struct xsti_trace_mark */
    uint32_t tracks_per_cta;
    uint32_t marks_per_track; /* a power of two */
};

#endif
