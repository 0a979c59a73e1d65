/* SPDX-License-Identifier: Apache-2.0
 *
 * marks.cuh - what a traced kernel's warps leave in the ring; nothing at all when it is compiled off.
 *
 * device/trace.h is the ring. Registers are what these kernels have least of, so what a warp has to remember between two marks
 * lies in shared memory, and lane 0 alone reads and writes it.
 */
#ifndef XST_MOE_MARKS_CUH
#define XST_MOE_MARKS_CUH

#include "device/trace.cuh"
#include "moe/smem.cuh"

namespace xst {

/* Tracks of a CTA: its computing warps', its serving warps', and of computing warps that send beside the next tile what they send. */
enum { TRACK_LOAD = 8, TRACK_SENDS = 12 };
static_assert(TRACK_SENDS + 8 == XSTI_MOE_TRACKS, "the host makes room for them");

struct NoMarks {
    __device__ __forceinline__ static void open(const xsti_trace_ring &)
    {
    }
    __device__ __forceinline__ static void mark(const xsti_trace_ring &, xst_trace_what)
    {
    }
    __device__ __forceinline__ static void close(const xsti_trace_ring &)
    {
    }
};

/* No member is a variable: a pointer to the words would cost a computing warp two registers, their symbol costs none. */
template <class C> struct Marks {
    __device__ __forceinline__ static MarkWords<true> &words()
    {
        extern __shared__ __align__(1024) unsigned char raw[];
        return reinterpret_cast<SharedStorage<C> *>(raw)->marks;
    }

    /* Read anew each time: a common value would live through the inner loop. */
    __device__ __forceinline__ static uint32_t thread()
    {
        uint32_t x;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
        return x;
    }

    __device__ __forceinline__ static bool writes()
    {
        return thread() % 32 == 0;
    }

    __device__ __forceinline__ static uint32_t warp()
    {
        return thread() / 32;
    }

    /* Of the computing warps. */
    __device__ __forceinline__ static uint32_t math_warp()
    {
        return warp() - 4;
    }

    __device__ __forceinline__ static uint32_t own_track()
    {
        return warp() < 4 ? TRACK_LOAD + warp() : math_warp();
    }

    __device__ __forceinline__ static xsti_trace_track *track(const xsti_trace_ring &ring, uint32_t number)
    {
        return reinterpret_cast<xsti_trace_track *>(ring.tracks) + blockIdx.x * ring.tracks_per_cta + number;
    }

    __device__ __forceinline__ static void put(const xsti_trace_ring &ring, uint32_t number, xst_trace_what what,
                                               uint32_t tile, uint32_t value)
    {
        const uint64_t clock = clock_cycles() << 8 | static_cast<uint32_t>(what);
        const uint32_t written = words().written[number];
        const uint64_t slot = static_cast<uint64_t>(blockIdx.x * ring.tracks_per_cta + number) * ring.marks_per_track +
                              written % ring.marks_per_track;
        store_16(ring.marks + slot * sizeof(xsti_trace_mark),
                 make_uint4(static_cast<uint32_t>(clock), static_cast<uint32_t>(clock >> 32), tile, value));
        words().written[number] = written + 1;
    }

    __device__ __forceinline__ static void open_track(const xsti_trace_ring &ring, uint32_t number, xst_trace_role role,
                                                      uint32_t unit)
    {
        xsti_trace_track *const at = track(ring, number);
        at->sm = sm_id();
        at->role = static_cast<uint16_t>(role);
        at->unit = static_cast<uint16_t>(unit);
        at->ns[0] = global_ns();
        at->clock[0] = clock_cycles();
        words().written[number] = 0;
        put(ring, number, XST_TRACE_IDLE, TRACE_NO_TILE, 0);
    }

    __device__ __forceinline__ static void close_track(const xsti_trace_ring &ring, uint32_t number)
    {
        xsti_trace_track *const at = track(ring, number);
        at->ns[1] = global_ns();
        at->clock[1] = clock_cycles();
        at->written = words().written[number];
    }

    /* Every warp's, at its begin and end. */
    __device__ __forceinline__ static void open(const xsti_trace_ring &ring)
    {
        if (!writes())
            return;
        if (warp() < 4) {
            open_track(ring, own_track(), XST_TRACE_ROLE_LOAD, warp());
        } else {
            open_track(ring, own_track(), XST_TRACE_ROLE_MATH, math_warp() / 4);
            open_track(ring, TRACK_SENDS + math_warp(), XST_TRACE_ROLE_STORE, math_warp() / 4);
            words().sent_tile[math_warp()] = TRACE_NO_TILE;
        }
    }

    __device__ __forceinline__ static void close(const xsti_trace_ring &ring)
    {
        if (!writes())
            return;
        close_track(ring, own_track());
        if (warp() >= 4)
            close_track(ring, TRACK_SENDS + math_warp());
    }

    /* Outside of tiles. */
    __device__ __forceinline__ static void mark(const xsti_trace_ring &ring, xst_trace_what what)
    {
        if (writes())
            put(ring, own_track(), what, TRACE_NO_TILE, 0);
    }

    /* A computing warp's tile: its first operands are there. */
    __device__ __forceinline__ static void begin_tile(const xsti_trace_ring &ring, uint32_t index)
    {
        if (!writes())
            return;
        words().tile[math_warp()] = index;
        words().late[math_warp()] = 0;
        put(ring, own_track(), XST_TRACE_LOAD, index, 0);
    }

    /* Its further operands were waited for since `begin`. */
    __device__ __forceinline__ static void waited(uint32_t begin)
    {
        if (writes())
            words().late[math_warp()] += static_cast<uint32_t>(clock_cycles()) - begin;
    }

    __device__ __forceinline__ static void in_tile(const xsti_trace_ring &ring, xst_trace_what what, uint32_t value = 0)
    {
        if (writes())
            put(ring, own_track(), what, words().tile[math_warp()], value);
    }

    __device__ __forceinline__ static void products(const xsti_trace_ring &ring)
    {
        if (writes())
            put(ring, own_track(), XST_TRACE_MATH, words().tile[math_warp()], words().late[math_warp()]);
    }

    /* Paced: the tile is staged and will be sent beside the next one. */
    __device__ __forceinline__ static void staged(const xsti_trace_ring &ring, uint32_t bytes)
    {
        in_tile(ring, XST_TRACE_STAGE);
        if (writes()) {
            words().sent_tile[math_warp()] = words().tile[math_warp()];
            words().sent_bytes[math_warp()] = bytes;
        }
    }

    /* IDLE: sending begins; ISSUE: all of it is issued; RELEASE: its staging is free. */
    __device__ __forceinline__ static void sends(const xsti_trace_ring &ring, xst_trace_what what)
    {
        if (!writes() || words().sent_tile[math_warp()] == TRACE_NO_TILE)
            return;
        put(ring, TRACK_SENDS + math_warp(), what, words().sent_tile[math_warp()],
            what == XST_TRACE_ISSUE ? words().sent_bytes[math_warp()] : 0);
        if (what == XST_TRACE_RELEASE)
            words().sent_tile[math_warp()] = TRACE_NO_TILE;
    }
};

/* Of a kernel with configuration C. */
template <class C, bool On = C::TRACE> struct MarksOf {
    using Type = NoMarks;
};
template <class C> struct MarksOf<C, true> {
    using Type = Marks<C>;
};

} // namespace xst

#endif
