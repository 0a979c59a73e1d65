/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.cuh - tile number to (batch, head, first row), in the order the host laid out; and the keys that go with it.
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

/* First of the two neighbouring tiles that a pair of CTAs has; without pairs the tile itself. */
template <class C> __device__ __forceinline__ int pair_begins(int index)
{
    return C::CLUSTER == 2 ? index & ~1 : index;
}

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

/* The same for a CTA whose partner may have the walk's last tile: what lies behind that is computed to keep the pair in step, for
 * rows that the sequence does not have, and stored nowhere. */
template <class C> __device__ __forceinline__ Tile tile_of(const xsti_fa_params &p, int index)
{
    if constexpr (C::CLUSTER == 1)
        return tile_at(p, index, C::BLOCK_M);
    const int last = p.tile_first[p.ranks] - 1;
    Tile tile = tile_at(p, min(index, last), C::BLOCK_M);
    if (index > last)
        tile.row = p.seq;
    return tile;
}

/* Keys that take part in a batch. */
__device__ __forceinline__ int key_count(const xsti_fa_params &p, int batch)
{
    if (p.key_lens == 0)
        return p.key_len;
    return max(0, min(p.key_len, reinterpret_cast<const int32_t *>(p.key_lens)[batch]));
}

/* Keys of a tile: blocks of C::BLOCK_N rows that end with the batch's last key, so that no row behind it is ever read. The first
 * block begins in front of the tensor, where it is ragged: those rows are zeros, and masked. Without any key there is one block,
 * which lies in front of the tensor altogether. */
struct Keys {
    int blocks;
    int row; /* of the first block: 0 or less, more than -C::BLOCK_N where there is a key */
};

template <class C> __device__ __forceinline__ Keys keys_of(const xsti_fa_params &p, int batch)
{
    const int count = key_count(p, batch);
    const int blocks = max(1, (count + C::BLOCK_N - 1) / C::BLOCK_N);
    return {blocks, count - blocks * C::BLOCK_N};
}

} // namespace xst

#endif
