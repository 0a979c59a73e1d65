/* SPDX-License-Identifier: Apache-2.0
 *
 * scales.cuh - e4m3: the scales of a tile's sums, step by step.
 *
 * The products of step j are to be multiplied by s_j = scale of the row, times scale of the weights' block. A second set of sums
 * for that would not fit into the registers; so the one set is kept in units of s_j: before step j it is multiplied by
 * s_(j-1) / s_j, after the last step by that step's s. Of 256 columns, the weights' scales are two: in Linear 1 the gate's and the
 * up's, which take turns every 8 columns; in Linear 2 one for each half.
 */
#ifndef XST_MOE_SCALES_CUH
#define XST_MOE_SCALES_CUH

#include "moe/walk.cuh"

namespace xst {

/* Factors of a thread's sums: value 4 j + 2 h + i, i < 2, belongs to row h, and to columns 8 j + .. of the tile. */
struct Factors {
    float of[2][2][2]; /* [h][j mod 2][j / 16] */

    template <int N> __device__ __forceinline__ void apply(float (&sum)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] *= of[i / 2 % 2][i / 4 % 2][i / 64];
    }
};

struct Scales {
    float row[2];      /* of the step that the sums are in units of */
    float weights[2];  /* the same step's */
    float next[2];     /* the next step's */
    uint32_t at;       /* number of the first of the two of the step behind that */
    uint32_t to_other; /* from there to the second */
    uint32_t left;     /* steps that are not asked for yet */
    bool alternate;    /* the columns take turns */

    __device__ __forceinline__ void ask(const xsti_moe_params &p, float (&two)[2])
    {
        if (left == 0)
            return;
        const uint64_t address = (alternate ? p.w1_scales : p.w2_scales) + static_cast<uint64_t>(at) * 4;
        two[0] = load_constant_float(address);
        two[1] = load_constant_float(address + static_cast<uint64_t>(to_other) * 4);
        at++;
        left--;
    }

    /* A new tile of `steps` steps, of which warpgroup `group` has its columns. A column that does not exist has some scale: its sums are zeros, and go nowhere. */
    template <class C>
    __device__ __forceinline__ void begin(const xsti_moe_params &p, const Task<C> &task, uint32_t steps, uint32_t group)
    {
        const uint32_t hidden = p.hidden / XSTI_MOE_SCALED, inter = p.inter / XSTI_MOE_SCALED;
        alternate = task.linear == 1;
        if (alternate) {
            at = (task.expert * 2 * inter + min(task.column, inter - 1)) * hidden;
            to_other = inter * hidden;
        } else {
            uint32_t first = min(2 * task.column, hidden - 1), second = min(2 * task.column + 1, hidden - 1);
            if constexpr (!C::SPLIT_ROWS) /* a half is all the warpgroup has */
                first = second = group == 0 ? first : second;
            at = (task.expert * hidden + first) * inter;
            to_other = (second - first) * inter;
        }
        left = steps;
        ask(p, weights);
        ask(p, next);
    }

    __device__ __forceinline__ Factors spread(const float (&of)[2][2]) const
    {
        Factors factors;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            factors.of[h][0][0] = of[h][0];
            factors.of[h][1][0] = alternate ? of[h][1] : of[h][0];
            factors.of[h][0][1] = alternate ? of[h][0] : of[h][1];
            factors.of[h][1][1] = of[h][1];
        }
        return factors;
    }

    /* From the units of one step to those of the next, in which the thread's rows have these scales. */
    __device__ __forceinline__ Factors advance(const xsti_moe_params &p, float row0, float row1)
    {
        const float to[2] = {row0, row1};
        float of[2][2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int c = 0; c < 2; c++)
                of[h][c] = row[h] * weights[c] * reciprocal_approx(to[h] * next[c]);
            row[h] = to[h];
        }
        weights[0] = next[0];
        weights[1] = next[1];
        ask(p, next);
        return spread(of);
    }

    /* From the units of the last step to none. */
    __device__ __forceinline__ Factors end() const
    {
        const float of[2][2] = {{row[0] * weights[0], row[0] * weights[1]}, {row[1] * weights[0], row[1] * weights[1]}};
        return spread(of);
    }
};

} // namespace xst

#endif
