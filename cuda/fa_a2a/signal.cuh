/* SPDX-License-Identifier: Apache-2.0
 *
 * signal.cuh - the end of a call: the last CTA tells every peer that this rank has delivered.
 *
 * Each CTA's stores are ordered before its count on `finished` (barrier, system fence, acquire-release add); the CTA that
 * counts last therefore stands behind all of them, and its release stores hand that on to the peers. Epochs only grow.
 */
#ifndef XST_FA_A2A_SIGNAL_CUH
#define XST_FA_A2A_SIGNAL_CUH

#include "device/fault.cuh"
#include "device/ptx_tensor.cuh"
#include "device/trace.cuh"
#include "fa_a2a/params.h"

namespace xst {

/* The call's number, from 1. No CTA can read it late: the control block's epoch moves when the last CTA has finished. */
__device__ __forceinline__ uint64_t call_epoch(const xsti_fa_params &p)
{
    if (p.fixed_epoch != 0)
        return p.fixed_epoch;
    return *reinterpret_cast<const volatile uint64_t *>(&reinterpret_cast<const xsti_fa_control *>(p.control)->epoch) +
           1;
}

/* Until `peer` has delivered call `epoch` here. One that has not in time is recorded; the call's data are then incomplete. */
__device__ __forceinline__ void wait_peer(xsti_fa_control *control, int peer, uint64_t epoch, uint64_t limit_ns)
{
    const uint64_t begin = global_ns();
    uint64_t seen;
    while ((seen = load_acquire_sys_u64(reinterpret_cast<uint64_t>(&control->arrived[peer]))) < epoch) {
        if (global_ns() - begin > limit_ns) {
            record_fault(&control->fault, XSTI_FA_ROLE_WAIT, peer, XSTI_FA_PHASE_PEER, epoch, seen);
            return;
        }
    }
}

/* One thread of the CTA, behind a barrier of all that stored. The last CTA's thread also waits for the peers when the call
 * wants that; the others are gone by then, so that whoever shares the device finds it free. */
template <bool Traced>
__device__ __forceinline__ void publish(const xsti_fa_params &p, xsti_fa_control *control, uint64_t epoch,
                                        Trace<Traced> &trace)
{
    fence_sys();
    trace.mark(p.trace, XST_TRACE_FENCE, TRACE_NO_TILE);
    if (wrap_acq_rel_gpu_u32(&control->finished, gridDim.x - 1) != gridDim.x - 1)
        return;
    fence_sys();
    for (int peer = 0; peer < p.ranks; peer++)
        if (p.arrived[peer] != 0)
            store_relaxed_sys_u64(p.arrived[peer], epoch);
    store_release_gpu_u64(&control->epoch, epoch);
    if (p.wait_ns == 0)
        return;
    for (int peer = 0; peer < p.ranks; peer++)
        if (p.arrived[peer] != 0)
            wait_peer(control, peer, epoch, p.wait_ns);
    trace.mark(p.trace, XST_TRACE_PEER, TRACE_NO_TILE);
}

} // namespace xst

#endif
