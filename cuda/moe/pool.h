/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h - the order of an expert's rows in the pool: the ranks they come from take turns as long as they have rows, so that
 * all links carry something. C and CUDA: the device and the tests share it.
 *
 * counts[s]: rows of rank s, 0 for ranks there are none of; rank `own`, whose pool it is, has its turn last.
 */
#ifndef XST_MOE_POOL_H
#define XST_MOE_POOL_H

#include "moe/params.h"

#ifdef __CUDACC__
#define XSTI_MOE_UNROLL _Pragma("unroll")
#else
#define XSTI_MOE_UNROLL
#endif

/* Row `index` of those that rank `source` brings. */
struct xsti_moe_row {
    uint32_t source, index;
};

/* Whose is row `row` of the expert, below the sum of counts. */
XSTI_MOE_FN struct xsti_moe_row xsti_moe_row_at(const uint32_t *counts, uint32_t own, uint32_t row)
{
    struct xsti_moe_row found = {0, 0};
    uint32_t rounds = 0; /* that are over */
    for (;;) {
        uint32_t before = 0, active = 0,
                 least = 0xffffffffu; /* before: active ranks whose turn is before the low ones' */
        XSTI_MOE_UNROLL
        for (uint32_t s = 0; s < XSTI_MOE_MOST_RANKS; s++) {
            const uint32_t left = counts[s] > rounds ? counts[s] - rounds : 0;
            active += left != 0;
            before += left != 0 && s > own;
            least = left != 0 && left < least ? left : least;
        }
        if (active != 0 && row >= least * active) {
            row -= least * active;
            rounds += least;
            continue;
        }
        active = active != 0 ? active : 1;
        const uint32_t turn = row % active;
        uint32_t high = 0, low = before;
        XSTI_MOE_UNROLL
        for (uint32_t s = 0; s < XSTI_MOE_MOST_RANKS; s++) {
            if (counts[s] <= rounds)
                continue;
            const uint32_t place = s > own ? high++ : low++;
            found.source = place == turn ? s : found.source;
        }
        found.index = rounds + row / active;
        return found;
    }
}

/* The other way round: which row of the expert that is. */
XSTI_MOE_FN uint32_t xsti_moe_row_of(const uint32_t *counts, uint32_t own, struct xsti_moe_row row)
{
    const uint32_t turn = row.source > own ? row.source : row.source + XSTI_MOE_MOST_RANKS;
    uint32_t before = 0;
    XSTI_MOE_UNROLL
    for (uint32_t s = 0; s < XSTI_MOE_MOST_RANKS; s++) {
        before += counts[s] < row.index ? counts[s] : row.index;
        before += counts[s] > row.index && (s > own ? s : s + XSTI_MOE_MOST_RANKS) < turn;
    }
    return before;
}

#endif
