/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.cuh - marks of what a warp has done since its last mark; nothing at all when it is compiled off.
 *
 * A role holds a Trace<On>; On is a compile-time constant of the kernel, so that a traced kernel is a kernel of its own and the
 * other one has the machine code it would have without this file. A mark is one clock read and one 16-byte store by lane 0. In
 * a warp whose stores are held back the mark is held back too, after its clock was read.
 */
#ifndef XST_DEVICE_TRACE_CUH
#define XST_DEVICE_TRACE_CUH

#include <xstage/trace.h>

#include "device/ptx.cuh"
#include "device/trace.h"

namespace xst {

constexpr uint32_t TRACE_NO_TILE = 0xffffffffu;

template <bool On> struct Trace {
    __device__ __forceinline__ void open(const xsti_trace_ring &, uint32_t, xst_trace_role, uint32_t)
    {
    }
    __device__ __forceinline__ void mark(const xsti_trace_ring &, xst_trace_what, uint32_t, uint32_t = 0)
    {
    }
    __device__ __forceinline__ void close(const xsti_trace_ring &)
    {
    }
};

template <> struct Trace<true> {
    uint32_t index;   /* of the track */
    uint32_t written; /* marks so far */

    __device__ __forceinline__ static bool writes()
    {
        return threadIdx.x % 32 == 0;
    }

    __device__ __forceinline__ xsti_trace_track *track(const xsti_trace_ring &ring) const
    {
        return reinterpret_cast<xsti_trace_track *>(ring.tracks) + index;
    }

    /* `track_of_cta`: 0 .. ring.tracks_per_cta - 1. Begins an idle span. */
    __device__ __forceinline__ void open(const xsti_trace_ring &ring, uint32_t track_of_cta, xst_trace_role role,
                                         uint32_t unit)
    {
        index = blockIdx.x * ring.tracks_per_cta + track_of_cta;
        written = 0;
        if (writes()) {
            xsti_trace_track *const at = track(ring);
            at->sm = sm_id();
            at->role = static_cast<uint16_t>(role);
            at->unit = static_cast<uint16_t>(unit);
            at->ns[0] = global_ns();
            at->clock[0] = clock_cycles();
        }
        mark(ring, XST_TRACE_IDLE, TRACE_NO_TILE);
    }

    __device__ __forceinline__ void mark(const xsti_trace_ring &ring, xst_trace_what what, uint32_t tile,
                                         uint32_t value = 0)
    {
        if (writes()) {
            const uint64_t clock = clock_cycles() << 8 | static_cast<uint32_t>(what);
            const uint64_t slot = static_cast<uint64_t>(index) * ring.marks_per_track + written % ring.marks_per_track;
            store_16(ring.marks + slot * sizeof(xsti_trace_mark),
                     make_uint4(static_cast<uint32_t>(clock), static_cast<uint32_t>(clock >> 32), tile, value));
        }
        written++;
    }

    __device__ __forceinline__ void close(const xsti_trace_ring &ring)
    {
        if (writes()) {
            xsti_trace_track *const at = track(ring);
            at->ns[1] = global_ns();
            at->clock[1] = clock_cycles();
            at->written = written;
        }
    }
};

} // namespace xst

#endif
