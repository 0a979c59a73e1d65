/* SPDX-License-Identifier: Apache-2.0
 *
 * activation.cuh - silu(gate) * up * weight, with gate and up rounded to bf16 first, as they are between two separate kernels.
 */
#ifndef XST_MOE_ACTIVATION_CUH
#define XST_MOE_ACTIVATION_CUH

#include <math_constants.h>

#include "device/ptx_tensor.cuh"

namespace xst {

template <bool Clamped> __device__ __forceinline__ float gated(float gate, float up, float weight, float clamp)
{
    if constexpr (Clamped) { /* comparisons, not minima: a NaN stays one */
        gate = gate > clamp ? clamp : gate;
        up = up > clamp ? clamp : up;
        up = up < -clamp ? -clamp : up;
    }
    const float silu = gate * reciprocal_approx(1.0f + exp2_approx(gate * -1.4426950408889634f));
    return silu * up * weight;
}

/* Two columns: pairs of bf16 in, a pair out. */
template <bool Clamped>
__device__ __forceinline__ uint32_t gated_pair(uint32_t gate, uint32_t up, float weight, float clamp)
{
    const float low = gated<Clamped>(__uint_as_float(gate << 16), __uint_as_float(up << 16), weight, clamp);
    const float high =
        gated<Clamped>(__uint_as_float(gate & 0xffff0000u), __uint_as_float(up & 0xffff0000u), weight, clamp);
    return pack_bf16(low, high);
}

} // namespace xst

#endif
