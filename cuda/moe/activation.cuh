/* SPDX-License-Identifier: Apache-2.0
 *
 * activation.cuh - silu(gate) * up * weight, with gate and up rounded to bf16 first, as they are between two separate kernels.
 */
#ifndef XST_MOE_ACTIVATION_CUH
#define XST_MOE_ACTIVATION_CUH

#include <math_constants.h>

#include "device/ptx_tensor.cuh"
#include "moe/params.h"

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

/* Two columns: pairs of bf16 in, floats out. */
template <bool Clamped>
__device__ __forceinline__ float2 gated_floats(uint32_t gate, uint32_t up, float weight, float clamp)
{
    return {gated<Clamped>(__uint_as_float(gate << 16), __uint_as_float(up << 16), weight, clamp),
            gated<Clamped>(__uint_as_float(gate & 0xffff0000u), __uint_as_float(up & 0xffff0000u), weight, clamp)};
}

/* A pair of bf16 out. */
template <bool Clamped>
__device__ __forceinline__ uint32_t gated_pair(uint32_t gate, uint32_t up, float weight, float clamp)
{
    const float2 two = gated_floats<Clamped>(gate, up, weight, clamp);
    return pack_bf16(two.x, two.y);
}

/* Scale of values of which none is larger than `most`, and 1 over it: the largest becomes 448, what e4m3 ends with. The least
 * scale keeps both, and their products with another pair, far from what a float cannot hold. */
struct Scale {
    float value;
    float inverse;
};
__device__ __forceinline__ Scale scale_for(float most)
{
    const float value = fmaxf(most * (1.0f / 448.0f), XSTI_MOE_LEAST_SCALE);
    return {value, reciprocal_approx(value)};
}

} // namespace xst

#endif
