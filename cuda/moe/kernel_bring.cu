/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_bring.cu - a rank's tokens into its symmetric buffer: rows, ids and weights in one launch. A CTA does one token at a
 * time; eight values of a row are a thread's, 16 threads share a scale.
 */
#include "device/ptx_tensor.cuh"
#include "moe/bring.h"
#include "moe/params.h"

namespace xst {

struct Eight {
    float of[8];
};

__device__ __forceinline__ Eight floats_of(uint4 value)
{
    const uint32_t pair[4] = {value.x, value.y, value.z, value.w};
    Eight eight;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        eight.of[2 * i] = __uint_as_float(pair[i] << 16);
        eight.of[2 * i + 1] = __uint_as_float(pair[i] & 0xffff0000u);
    }
    return eight;
}

/* Divisions are rounded as a host's are: xst_moe_quantise_rows gives the same bits. */
__device__ __forceinline__ void quantise_eight(const xsti_moe_bring_params &p, uint64_t token, uint32_t column,
                                               uint4 row)
{
    const Eight eight = floats_of(row);
    const uint32_t half_warp = 0xffffu << (threadIdx.x & 16);
    float most = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        most = fmaxf(most, fabsf(eight.of[i]));
#pragma unroll
    for (int step = 1; step < 16; step *= 2)
        most = fmaxf(most, __shfl_xor_sync(half_warp, most, step, 16));
    const float scale = fmaxf(__fdiv_rn(most, 448.0f), XSTI_MOE_LEAST_SCALE);
    uint32_t pair[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        pair[i] = pack_e4m3(__fdiv_rn(eight.of[2 * i], scale), __fdiv_rn(eight.of[2 * i + 1], scale));
    *reinterpret_cast<uint2 *>(p.to_x + token * p.hidden + column) = {pair[0] | pair[1] << 16, pair[2] | pair[3] << 16};
    if (column % XSTI_MOE_SCALED == 0)
        store_4(p.to_scales + (token * (p.hidden / XSTI_MOE_SCALED) + column / XSTI_MOE_SCALED) * 4,
                __float_as_uint(scale));
}

} // namespace xst

extern "C" __global__ void __launch_bounds__(XSTI_MOE_BRING_THREADS)
    xst_moe_bring(const __grid_constant__ xsti_moe_bring_params p)
{
    for (uint64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
        for (uint32_t column = threadIdx.x * 8; column < p.hidden; column += XSTI_MOE_BRING_THREADS * 8) {
            const uint4 row = xst::load_16(p.x + token * p.row_bytes + column * 2);
            if (p.quantise)
                xst::quantise_eight(p, token, column, row);
            else
                xst::store_16(p.to_x + (token * p.hidden + column) * 2, row);
        }
        if (threadIdx.x < p.topk) {
            const uint64_t at = token * p.topk + threadIdx.x;
            reinterpret_cast<int64_t *>(p.to_ids)[at] = p.wide_ids ? reinterpret_cast<const int64_t *>(p.ids)[at]
                                                                   : reinterpret_cast<const int32_t *>(p.ids)[at];
            reinterpret_cast<float *>(p.to_weights)[at] = reinterpret_cast<const float *>(p.weights)[at];
        }
    }
}
