/* SPDX-License-Identifier: Apache-2.0
 *
 * common.cuh - what all probes share: the common start, the address walk, the payload.
 */
#ifndef XST_PROBES_COMMON_CUH
#define XST_PROBES_COMMON_CUH

#include "device/fault.cuh"
#include "device/ptx.cuh"
#include "probes/params.h"

namespace xst {

/* ---- common start: all CTAs arrive, the last one names a time a little ahead, everybody waits for it. ---- */

/* Waits for the host's gate, so that several devices begin together. */
__device__ __forceinline__ bool wait_gate(const xsti_start_params &p)
{
    if (!p.gate)
        return true;
    store_release_sys_u32(reinterpret_cast<uint32_t *>(p.ready), 1);
    const uint64_t limit = clock_cycles() + p.limit_cycles;
    while (load_acquire_sys_u32(reinterpret_cast<const uint32_t *>(p.gate)) == 0) {
        if (clock_cycles() > limit) {
            record_fault(reinterpret_cast<xsti_fault *>(p.fault), XSTI_PROBE_ROLE_PRODUCER, 0, XSTI_PROBE_PHASE_GATE, 1,
                         0);
            return false;
        }
    }
    return true;
}

/* One thread of each CTA calls it. Returns the common start on the global clock, 0 when the wait ran out (the fault is
 * recorded). */
__device__ __forceinline__ uint64_t common_start(const xsti_start_params &p)
{
    xsti_start *const start = reinterpret_cast<xsti_start *>(p.start);
    const uint64_t limit = clock_cycles() + p.limit_cycles;
    uint64_t start_ns = 0;
    if (add_acq_rel_gpu_u32(&start->arrived, 1) == gridDim.x - 1) {
        if (!wait_gate(p))
            return 0;
        store_release_gpu_u64(&start->start_ns, global_ns() + p.delay_ns);
    }
    while ((start_ns = load_acquire_gpu_u64(&start->start_ns)) == 0) {
        if (clock_cycles() > limit) {
            record_fault(reinterpret_cast<xsti_fault *>(p.fault), XSTI_PROBE_ROLE_PRODUCER, 0, XSTI_PROBE_PHASE_START,
                         gridDim.x, start->arrived);
            return 0;
        }
    }
    while (global_ns() < start_ns) {
    }
    return start_ns;
}

__device__ __forceinline__ void wait_until(uint64_t cycles)
{
    while (static_cast<int64_t>(clock_cycles() - cycles) < 0) {
    }
}

/* ---- payload: every 4-byte word says which run, producer, burst and place it belongs to ---- */

__host__ __device__ __forceinline__ uint32_t payload_base(uint32_t seed, uint32_t producer, uint32_t burst)
{
    uint32_t x = seed * 0x9e3779b1u + producer * 0x85ebca77u + burst * 0xc2b2ae3du;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 13;
    return x;
}

/* ---- addresses: everything that needs a division happens here, outside the store loops ---- */

/* Which target a producer's burst goes to. */
__host__ __device__ __forceinline__ uint32_t burst_target(const xsti_layout &l, uint32_t producer, uint32_t burst)
{
    return l.target_count == 1 ? 0 : (burst + (l.together ? 0 : producer)) % l.target_count;
}

/* Base address of a producer's burst. Burst `last` goes to the region behind the rotating ones. */
__device__ __forceinline__ uint64_t burst_base(const xsti_layout &l, uint32_t producer, uint32_t burst, uint32_t last)
{
    const uint32_t region = burst == last ? l.regions : burst % l.regions;
    return l.targets[burst_target(l, producer, burst)] + region * l.region_stride +
           producer / l.per_row * l.block_stride + producer % l.per_row * l.piece;
}

/* How one thread walks a burst with stores of `width` bytes: `outer` times `inner` stores, each `step` after the one before,
 * and `jump` from the end of one inner walk to the next. The host only asks for pieces that divide the width of one sweep of
 * all threads, or are a multiple of it. */
struct walk {
    uint64_t first; /* offset of the thread's first store */
    uint64_t step;
    uint64_t jump;
    uint32_t word; /* index of the first word */
    uint32_t inner;
    uint32_t outer;
};

__device__ __forceinline__ walk make_walk(const xsti_layout &l, uint32_t thread, uint32_t threads, uint32_t width)
{
    walk w;
    const uint64_t sweep = static_cast<uint64_t>(threads) * width;
    const uint64_t at = static_cast<uint64_t>(thread) * width;
    w.word = static_cast<uint32_t>(at / 4);
    if (l.piece >= sweep && l.piece < l.bytes) { /* several sweeps fill one piece */
        w.first = at;
        w.step = sweep;
        w.inner = static_cast<uint32_t>(l.piece / sweep);
        w.outer = static_cast<uint32_t>(l.bytes / l.piece);
        w.jump = l.pitch - l.piece;
    } else { /* one sweep covers several pieces, or everything is one piece */
        const bool rows = l.piece < l.bytes;
        w.first = rows ? at / l.piece * l.pitch + at % l.piece : at;
        w.step = rows ? sweep / l.piece * l.pitch : sweep;
        w.inner = at < l.bytes ? static_cast<uint32_t>((l.bytes - at + sweep - 1) / sweep) : 0;
        w.outer = 1;
        w.jump = 0;
    }
    return w;
}

/* The stores of one thread, from its first address and word on. */
__device__ __forceinline__ void store_walk_16(uint64_t address, uint32_t word, const walk &w, uint32_t words_per_sweep)
{
    for (uint32_t o = 0; o < w.outer; o++) {
#pragma unroll 4
        for (uint32_t i = 0; i < w.inner; i++) {
            store_16(address, make_uint4(word, word + 1, word + 2, word + 3));
            address += w.step;
            word += words_per_sweep;
        }
        address += w.jump;
    }
}

__device__ __forceinline__ void store_walk_4(uint64_t address, uint32_t word, const walk &w, uint32_t words_per_sweep)
{
    for (uint32_t o = 0; o < w.outer; o++) {
#pragma unroll 4
        for (uint32_t i = 0; i < w.inner; i++) {
            store_4(address, word);
            address += w.step;
            word += words_per_sweep;
        }
        address += w.jump;
    }
}

/* A contiguous block by one thread in copies of at most `chunk` bytes; the block fits into staging. */
__device__ __forceinline__ void bulk_block(uint64_t base, uint32_t staging, uint32_t chunk, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += chunk)
        bulk_store(base + at, staging + at, bytes - at < chunk ? bytes - at : chunk);
}

/* Keeps a value computed here from being computed later: a shuffle stays where it is written, before the clock is read. */
__device__ __forceinline__ uint32_t settle(uint32_t value)
{
    return __shfl_sync(0xffffffffu, value, threadIdx.x % 32);
}

__device__ __forceinline__ uint64_t settle(uint64_t value)
{
    return static_cast<uint64_t>(settle(static_cast<uint32_t>(value >> 32))) << 32 |
           settle(static_cast<uint32_t>(value));
}

/* Fills staging with the payload of (seed, producer, burst); word i of the burst is staging word i % (staging / 4). */
__device__ __forceinline__ void fill_staging(unsigned char *staging, uint32_t staging_bytes, uint32_t payload)
{
    for (uint32_t i = threadIdx.x; i < staging_bytes / 4; i += blockDim.x)
        reinterpret_cast<uint32_t *>(staging)[i] = payload + i;
    fence_proxy_async_shared();
}

} // namespace xst

#endif
