/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.cuh - tile number to (batch, head, first row), in the order the host laid out.
 */
#ifndef XST_FA_A2A_WALK_CUH
#define XST_FA_A2A_WALK_CUH

#include "fa_a2a/params.h"

namespace xst {

struct Tile {
    int batch;
    int head; /* of this rank */
    int row;  /* first */
};

/* A walk step is one destination: its row blocks fastest, then heads, then batch. */
__device__ __forceinline__ Tile tile_at(const xsti_fa_params &p, int index, int block_rows)
{
    int step = 0;
    while (index >= p.tile_first[step + 1])
        step++;
    const int in_step = index - p.tile_first[step];
    const int blocks = (p.tile_first[step + 1] - p.tile_first[step]) / (p.batch * p.heads);
    const int column = in_step / blocks;
    return {column / p.heads, column % p.heads, (p.block_first[step] + in_step % blocks) * block_rows};
}

} // namespace xst

#endif
