/* SPDX-License-Identifier: Apache-2.0
 *
 * role_load.cuh - one thread that feeds the warpgroups: Q once a tile, K and V block by block, from the first block (the ragged
 * one) to the last.
 *
 * K runs one block ahead of V, because the scores of a block are computed before the previous block's output product ends. It is
 * one thread although three would be simpler: a second warp that waits beside it makes the whole kernel 2 to 3 % slower.
 *
 * Pairs. Both CTAs of a pair go through the same number of blocks, and a stage is free when the warps of both have let go of it,
 * so that a stage of one is the same stage of the other. Where their tiles have the same head, which is nearly always, each loads
 * one 64-column panel of a block into both; where a head ends between them each loads what it needs. Every CTA's own barrier
 * expects the whole block either way. The other one's half may arrive before that is said: the barrier's phase cannot end before.
 */
#ifndef XST_FA_A2A_ROLE_LOAD_CUH
#define XST_FA_A2A_ROLE_LOAD_CUH

#include "device/pipe.cuh"
#include "device/tile.cuh"
#include "fa_a2a/smem.cuh"
#include "fa_a2a/walk.cuh"

namespace xst {

__device__ __forceinline__ xsti_fault *fault_of(const xsti_fa_params &p)
{
    return &reinterpret_cast<xsti_fa_control *>(p.control)->fault;
}

template <class C> struct BlockLoader {
    SharedStorage<C> &smem;
    const xsti_fa_params &p;
    uint32_t uses; /* of the rings so far: use n of S stages is stage n % S in round n / S */

    /* Rows from `row` on; those in front of the tensor are zeros. */
    __device__ __forceinline__ void issue(const void *map, uint32_t to, uint32_t full, int row) const
    {
        if constexpr (C::CLUSTER == 1) {
            tensor_load_5d(to, map, full, 0, row, 0, smem.loading.head, smem.loading.batch, POLICY_EVICT_LAST);
        } else {
            constexpr uint32_t PANEL = C::BLOCK_N * PANEL_ROW_BYTES;
            const uint32_t mine = cta_index() % 2;
            if (smem.loading.shared) {
                tensor_share_5d(to + mine * PANEL, map, full, 0, row, mine, smem.loading.head, smem.loading.batch, 3,
                                POLICY_EVICT_LAST);
                return;
            }
#pragma unroll
            for (uint32_t panel = 0; panel < C::D / PANEL_COLS; panel++)
                tensor_load_5d(to + panel * PANEL, map, full, 0, row, panel, smem.loading.head, smem.loading.batch,
                               POLICY_EVICT_LAST);
        }
    }

    __device__ __forceinline__ void key(uint32_t use, int row) const
    {
        const uint32_t stage = use % C::STAGES, full = shared_address(&smem.k_full[stage]);
        barrier_wait(shared_address(&smem.k_empty[stage]), use / C::STAGES % 2 ^ 1u, fault_of(p), XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_K_EMPTY);
        barrier_arrive_expect(full, C::KV_BYTES);
        issue(&p.k, shared_address(smem.k[stage]), full, row);
    }

    __device__ __forceinline__ void value(uint32_t use, int row) const
    {
        const uint32_t stage = use % C::STAGES, full = shared_address(&smem.v_full[stage]);
        barrier_wait(shared_address(&smem.v_empty[stage]), use / C::STAGES % 2 ^ 1u, fault_of(p), XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_V_EMPTY);
        barrier_arrive_expect(full, C::KV_BYTES);
        issue(&p.v, shared_address(smem.v[stage]), full, row);
    }

    __device__ __forceinline__ void query(int group, uint32_t phase, int row) const
    {
        const uint32_t full = shared_address(&smem.q_full[group]);
        barrier_wait(shared_address(&smem.q_empty[group]), phase ^ 1u, fault_of(p), XSTI_FA_ROLE_LOAD,
                     XSTI_FA_PHASE_Q_EMPTY);
        barrier_arrive_expect(full, C::Q_GROUP_BYTES);
        tensor_load_5d(shared_address(smem.q[group]), &p.q, full, 0, row + group * C::GROUP_ROWS, 0, smem.loading.head,
                       smem.loading.batch, POLICY_EVICT_FIRST);
    }

    /* `phase`: of the Q slots. */
    __device__ __forceinline__ void tile(int index, uint32_t phase)
    {
        const Tile at = tile_of<C>(p, index);
        smem.loading.head = at.head;
        smem.loading.batch = at.batch;
        if constexpr (C::CLUSTER == 2) {
            const Tile other = tile_of<C>(p, index ^ 1);
            smem.loading.shared = other.head == smem.loading.head && other.batch == smem.loading.batch;
        }
        const Keys keys = keys_of<C>(p, smem.loading.batch);
        int row = keys.row;
        key(uses, row);
        for (int group = 0; group < C::GROUPS; group++)
            query(group, phase, at.row);
        for (int left = keys.blocks - 1; left >= 0; left--) {
            if (left > 0)
                key(uses + 1, row + C::BLOCK_N);
            value(uses, row);
            uses++;
            row += C::BLOCK_N;
        }
    }
};

template <class C> __device__ __forceinline__ void role_load(SharedStorage<C> &smem, const xsti_fa_params &p)
{
    BlockLoader<C> load = {smem, p, 0};
    uint32_t phase = 0;
    for (int index = cta_index(); pair_begins<C>(index) < p.tile_first[p.ranks]; index += grid_ctas()) {
        load.tile(index, phase);
        phase ^= 1u;
    }
}

} // namespace xst

#endif
