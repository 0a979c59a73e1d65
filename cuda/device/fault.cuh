/* SPDX-License-Identifier: Apache-2.0
 *
 * fault.cuh - records the first expired wait of a launch.
 */
#ifndef XST_DEVICE_FAULT_CUH
#define XST_DEVICE_FAULT_CUH

#include "device/fault.h"
#include "device/ptx.cuh"

namespace xst {

__device__ __forceinline__ void record_fault(xsti_fault *fault, uint32_t role, uint32_t peer, uint32_t phase,
                                             uint64_t expected, uint64_t seen)
{
    if (atomicCAS(&fault->set, 0u, 1u) != 0u)
        return;
    fault->role = role;
    fault->cta = cta_index();
    fault->peer = peer;
    fault->phase = phase;
    fault->expected = expected;
    fault->seen = seen;
}

} // namespace xst

#endif
