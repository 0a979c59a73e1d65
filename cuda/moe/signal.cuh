/* SPDX-License-Identifier: Apache-2.0
 *
 * signal.cuh - waits that end, and the flags that ranks raise for each other.
 *
 * A flag is a 64-bit word in the reader's buffer, one for each writer: number of the call, then bits of a hash of the layer.
 * Numbers only grow, so no flag is ever reset.
 */
#ifndef XST_MOE_SIGNAL_CUH
#define XST_MOE_SIGNAL_CUH

#include "device/pipe.cuh"
#include "moe/params.h"

namespace xst {

/* A role's way to wait. Once a wait of the launch has run out, or was seen to have run out elsewhere, the gate is shut and no
 * further wait takes time: the role either ends or runs through its work without effect. */
struct Gate {
    xsti_fault *fault;
    uint32_t role;
    bool open;

    __device__ __forceinline__ bool faulted() const
    {
        return *static_cast<const volatile uint32_t *>(&fault->set) != 0;
    }

    /* Every `tries`-th look of a wait that began at `begin` cycles. */
    __device__ __forceinline__ bool give_up(uint64_t begin, uint32_t peer, uint32_t phase, uint64_t expected,
                                            uint64_t seen)
    {
        if (!faulted()) {
            if (clock_cycles() - begin <= WAIT_LIMIT_CYCLES)
                return false;
            record_fault(fault, role, peer, phase, expected, seen);
        }
        open = false;
        return true;
    }

    __device__ __forceinline__ void barrier(uint32_t at, uint32_t parity, uint32_t phase)
    {
        if (!open || barrier_try_wait(at, parity))
            return;
        const uint64_t begin = clock_cycles();
        for (uint32_t tries = 1; !barrier_try_wait(at, parity); tries++)
            if (tries % 32 == 0 && give_up(begin, 0, phase, parity, parity ^ 1u))
                return;
    }

    /* Until a counter of this device has reached `target`. What was written before it was raised may then be read, also by
     * the bulk engine. */
    __device__ __forceinline__ void counter(uint64_t at, uint32_t target, uint32_t phase, uint32_t block)
    {
        if (!open)
            return;
        uint32_t seen = load_acquire_gpu_u32(at);
        if (seen < target) {
            const uint64_t begin = clock_cycles();
            for (uint32_t tries = 1; (seen = load_acquire_gpu_u32(at)) < target; tries++)
                if (tries % 32 == 0 && give_up(begin, block, phase, target, seen))
                    return;
        }
        fence_proxy_async_global();
    }

    /* Until rank `peer` has raised its flag at `at` to call `epoch`; the flag. */
    __device__ __forceinline__ uint64_t flag(uint64_t at, uint64_t epoch, uint64_t limit_ns, uint32_t phase,
                                             uint32_t peer)
    {
        const uint64_t begin = global_ns();
        uint64_t seen = 0;
        for (uint32_t tries = 1; open && (seen = load_acquire_sys_u64(at)) >> XSTI_MOE_HASH_BITS < epoch; tries++) {
            if (tries % 32 != 0)
                continue;
            if (faulted()) {
                open = false;
            } else if (global_ns() - begin > limit_ns) {
                record_fault(fault, role, peer, phase, epoch, seen >> XSTI_MOE_HASH_BITS);
                open = false;
            }
        }
        return seen;
    }
};

/* The call's number, from 1. No CTA can read it late: it moves when the last CTA has ended. */
__device__ __forceinline__ uint64_t call_epoch(const xsti_moe_params &p)
{
    return *reinterpret_cast<const volatile uint64_t *>(&reinterpret_cast<const xsti_moe_control *>(p.control)->epoch) +
           1;
}

__device__ __forceinline__ uint64_t flag_value(const xsti_moe_params &p, uint64_t epoch)
{
    return epoch << XSTI_MOE_HASH_BITS | p.hash;
}

/* One lane a rank: until all have raised their flags at `words`, an array in this rank's control. */
__device__ __forceinline__ void wait_flags(const xsti_moe_params &p, Gate &gate, const uint64_t *words, uint64_t epoch,
                                           uint32_t phase, uint32_t lane)
{
    if (lane >= static_cast<uint32_t>(p.ranks))
        return;
    const uint64_t seen = gate.flag(reinterpret_cast<uint64_t>(words + lane), epoch, p.limit_ns, phase, lane);
    const uint64_t hash = seen & ((1ull << XSTI_MOE_HASH_BITS) - 1);
    if (gate.open && hash != p.hash)
        record_fault(gate.fault, gate.role, lane, XSTI_MOE_PHASE_LAYER, p.hash, hash);
}

/* Which rank holds an expert, and the expert's number there. */
struct Home {
    uint32_t rank, local;
};
__device__ __forceinline__ Home home_of(const xsti_moe_params &p, uint32_t expert)
{
    const uint32_t each = p.experts_each, more = p.experts_more, split = more * (each + 1);
    if (expert < split)
        return {expert / (each + 1), expert % (each + 1)};
    return {more + (expert - split) / each, (expert - split) % each};
}

} // namespace xst

#endif
