/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax.cuh - running softmax over blocks of scores, on the register tiles of mma.cuh.
 *
 * A thread sees two rows (0: lane / 4, 1: + 8). Per row it keeps a reference `top` (raw score) and its own part of the sum of
 * exp2((s - top) * c), c = scale * log2(e). The reference is raised only when a new maximum exceeds it by more than 8 in the
 * exponent: what is summed then stays below 2^8 times a row's length, far inside fp32 and bf16, and most blocks need no
 * correction of the output sums. Each row decides for itself, so the result does not depend on its neighbours.
 */
#ifndef XST_DEVICE_SOFTMAX_CUH
#define XST_DEVICE_SOFTMAX_CUH

#include <math_constants.h>
#include <stdint.h>

#include "device/ptx_tensor.cuh"

namespace xst {

constexpr float RAISE_ABOVE = 8.0f;

struct RowState {
    float top[2];
    float sum[2];
};

/* Largest score of each row in the block, over the quad that shares the row. */
template <int N> __device__ __forceinline__ void row_max(const float (&s)[N], float (&most)[2])
{
    most[0] = fmaxf(s[0], s[1]);
    most[1] = fmaxf(s[2], s[3]);
#pragma unroll
    for (int i = 4; i < N; i += 4) {
        most[0] = fmaxf(most[0], fmaxf(s[i], s[i + 1]));
        most[1] = fmaxf(most[1], fmaxf(s[i + 2], s[i + 3]));
    }
#pragma unroll
    for (int row = 0; row < 2; row++) {
        most[row] = fmaxf(most[row], __shfl_xor_sync(0xffffffffu, most[row], 1));
        most[row] = fmaxf(most[row], __shfl_xor_sync(0xffffffffu, most[row], 2));
    }
}

/* s becomes exp2((s - top) c); `sum` grows by the row's part. */
template <int N> __device__ __forceinline__ void exponentials(float (&s)[N], RowState &row, float c)
{
    const float shift0 = row.top[0] * c;
    const float shift1 = row.top[1] * c;
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        s[i] = exp2_approx(fmaf(s[i], c, -shift0));
        s[i + 1] = exp2_approx(fmaf(s[i + 1], c, -shift0));
        s[i + 2] = exp2_approx(fmaf(s[i + 2], c, -shift1));
        s[i + 3] = exp2_approx(fmaf(s[i + 3], c, -shift1));
    }
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        row.sum[0] += s[i] + s[i + 1];
        row.sum[1] += s[i + 2] + s[i + 3];
    }
}

/* First block of a tile. */
template <int N> __device__ __forceinline__ void softmax_first(float (&s)[N], RowState &row, float c)
{
    row_max(s, row.top);
    row.sum[0] = row.sum[1] = 0.0f;
    exponentials(s, row, c);
}

/* A further block. Answers whether any row of the warp raised its reference; factor[] is then what each row's output sums have to
 * be multiplied by (1 for a row that did not). */
template <int N> __device__ __forceinline__ bool softmax_next(float (&s)[N], RowState &row, float c, float (&factor)[2])
{
    float most[2];
    row_max(s, most);
    bool raise = false;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const bool up = (most[r] - row.top[r]) * c > RAISE_ABOVE;
        const float top = up ? most[r] : row.top[r];
        factor[r] = exp2_approx((row.top[r] - top) * c);
        row.sum[r] *= factor[r];
        row.top[r] = top;
        raise |= up;
    }
    exponentials(s, row, c);
    return __any_sync(0xffffffffu, raise);
}

/* Columns before `first` do not exist. `column`: of the thread's value 0. */
template <int N> __device__ __forceinline__ void mask_columns(float (&s)[N], int first, int column)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        if (8 * (i / 4) + (i & 1) + column < first)
            s[i] = -CUDART_INF_F;
}

template <int N> __device__ __forceinline__ void scale_rows(float (&o)[N], const float (&factor)[2])
{
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        o[i] *= factor[0];
        o[i + 1] *= factor[0];
        o[i + 2] *= factor[1];
        o[i + 3] *= factor[1];
    }
}

} // namespace xst

#endif
