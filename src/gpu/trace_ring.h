/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_ring.h - the host's side of a trace ring: memory for it, and its marks as spans.
 */
#ifndef XSTI_GPU_TRACE_RING_H
#define XSTI_GPU_TRACE_RING_H

#include <xstage/trace.h>

#include "device/trace.h"
#include "gpu/device.h"

/* A ring for a launch of `ctas` CTAs, room for at least `marks` marks on each track. Close it whatever comes back. */
enum xst_status xsti_trace_ring_open(const struct xsti_device *device, int64_t ctas, int64_t tracks_per_cta,
                                     int64_t marks, struct xsti_trace_ring *ring_out, struct xst_diag *diag);
void xsti_trace_ring_close(const struct xsti_device *device, struct xsti_trace_ring *ring);

/* The marks of a finished launch, added to the last call of `trace` as spans of `rank`. */
enum xst_status xsti_trace_ring_read(const struct xsti_device *device, const struct xsti_trace_ring *ring, int64_t ctas,
                                     int32_t rank, struct xst_trace *trace, struct xst_diag *diag);

/* The same from the ring's memory. `tracks` and `marks` are as trace.h lays them out. */
enum xst_status xsti_trace_spans(const struct xsti_trace_track *tracks, const struct xsti_trace_mark *marks,
                                 const struct xsti_trace_ring *ring, int64_t ctas, int32_t rank,
                                 struct xst_trace *trace, struct xst_diag *diag);

#endif
