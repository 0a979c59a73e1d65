/* SPDX-License-Identifier: Apache-2.0
 *
 * role_load.cuh - one thread that feeds the warpgroups: Q once a tile, K and V block by block, from the last block to the first.
 *
 * K runs one block ahead of V, because the scores of a block are computed before the previous block's output product ends.
 */
#ifndef XST_FA_A2A_ROLE_LOAD_CUH
#define XST_FA_A2A_ROLE_LOAD_CUH

#include "device/pipe.cuh"
#include "fa_a2a/smem.cuh"
#include "fa_a2a/walk.cuh"

namespace xst {

template <class C> struct Loader {
    SharedStorage<C> &smem;
    const xsti_fa_params &p;
    xsti_fault *fault;
    Ring<C::STAGES> k;
    Ring<C::STAGES> v;

    __device__ __forceinline__ void key(const Tile &tile, int block)
    {
        const uint32_t full = shared_address(&smem.k_full[k.stage]);
        barrier_wait(shared_address(&smem.k_empty[k.stage]), k.parity ^ 1u, fault, XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_K_EMPTY);
        barrier_arrive_expect(full, C::KV_BYTES);
        tensor_load_5d(shared_address(smem.k[k.stage]), &p.k, full, 0, block * C::BLOCK_N, 0, tile.head, tile.batch,
                       POLICY_EVICT_LAST);
        k.advance();
    }

    __device__ __forceinline__ void value(const Tile &tile, int block)
    {
        const uint32_t full = shared_address(&smem.v_full[v.stage]);
        barrier_wait(shared_address(&smem.v_empty[v.stage]), v.parity ^ 1u, fault, XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_V_EMPTY);
        barrier_arrive_expect(full, C::KV_BYTES);
        tensor_load_5d(shared_address(smem.v[v.stage]), &p.v, full, 0, block * C::BLOCK_N, 0, tile.head, tile.batch,
                       POLICY_EVICT_LAST);
        v.advance();
    }

    __device__ __forceinline__ void query(const Tile &tile, int group, uint32_t parity)
    {
        const uint32_t full = shared_address(&smem.q_full[group]);
        barrier_wait(shared_address(&smem.q_empty[group]), parity ^ 1u, fault, XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_Q_EMPTY);
        barrier_arrive_expect(full, C::Q_GROUP_BYTES);
        tensor_load_5d(shared_address(smem.q[group]), &p.q, full, 0, tile.row + group * C::GROUP_ROWS, 0, tile.head,
                       tile.batch, POLICY_EVICT_FIRST);
    }
};

template <class C>
__device__ __forceinline__ void role_load(SharedStorage<C> &smem, const xsti_fa_params &p, xsti_fault *fault)
{
    Loader<C> load = {smem, p, fault, {}, {}};
    uint32_t parity = 0;
    const int tiles = p.tile_first[p.ranks];
    for (int index = blockIdx.x; index < tiles; index += grid_ctas()) {
        const Tile tile = tile_at(p, index, C::BLOCK_M);
        load.key(tile, p.key_blocks - 1);
        for (int group = 0; group < C::GROUPS; group++)
            load.query(tile, group, parity);
        for (int block = p.key_blocks - 1; block > 0; block--) {
            load.key(tile, block - 1);
            load.value(tile, block);
        }
        load.value(tile, 0);
        parity ^= 1u;
    }
}

} // namespace xst

#endif
