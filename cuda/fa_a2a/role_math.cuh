/* SPDX-License-Identifier: Apache-2.0
 *
 * role_math.cuh - one warpgroup's work: scores, softmax and output sums of its 64 rows of every tile, then the epilogue.
 *
 * Per tile, blocks from the last (the ragged one, the only one that is masked) to the first:
 *   overlap:  S = Q K_j and O += P V_(j+1) are issued together; the softmax of S runs while the second is under way.
 *   serial:   S = Q K_j; softmax; O += P V_j; each waited for (fewer live registers, so three warpgroups fit).
 */
#ifndef XST_FA_A2A_ROLE_MATH_CUH
#define XST_FA_A2A_ROLE_MATH_CUH

#include "device/mma.cuh"
#include "device/pipe.cuh"
#include "device/softmax.cuh"
#include "device/tile.cuh"
#include "fa_a2a/role_store.cuh"

namespace xst {

template <class C> struct Math {
    SharedStorage<C> &smem;
    const xsti_fa_params &p;
    xsti_fault *fault;
    int group;
    uint32_t lane;
    uint32_t warp; /* in the warpgroup */
    uint64_t q_descriptor;
    Ring<C::STAGES> k;
    Ring<C::STAGES> v;
    uint32_t q_parity;
    uint64_t flip; /* bytes to the output buffer of this call */

    /* paced store of the previous tile: where the lane's row goes, the next row to leave, and key blocks until it does */
    uint64_t paced_address;
    uint32_t paced_row;
    int paced_blocks;

    __device__ __forceinline__ uint32_t staging() const
    {
        return shared_address(smem.staging[group]) + warp * (2 * C::STAGE_8_ROWS_BYTES);
    }

    /* One arrival a warp: a warp's own wait says nothing about the reads of the other three. */
    __device__ __forceinline__ void release(uint64_t *barrier) const
    {
        if (lane == 0)
            barrier_arrive(shared_address(barrier));
    }

    __device__ __forceinline__ void wait_key() const
    {
        barrier_wait(shared_address(&smem.k_full[k.stage]), k.parity, fault, XSTI_FA_ROLE_MATH, XSTI_FA_PHASE_K_FULL);
    }

    __device__ __forceinline__ void wait_value() const
    {
        barrier_wait(shared_address(&smem.v_full[v.stage]), v.parity, fault, XSTI_FA_ROLE_MATH, XSTI_FA_PHASE_V_FULL);
    }

    /* Issues S = Q K^T of the current K stage. */
    __device__ __forceinline__ void issue_scores(float (&s)[C::BLOCK_N / 2]) const
    {
        const uint64_t kd = descriptor_k_major(shared_address(smem.k[k.stage]));
        Mma<C::BLOCK_N>::template ss<false>(s, q_descriptor, kd);
#pragma unroll
        for (int i = 1; i < C::D / 16; i++)
            Mma<C::BLOCK_N>::template ss<true>(s, q_descriptor + step_k_major<C::GROUP_ROWS>(i),
                                               kd + step_k_major<C::BLOCK_N>(i));
        mma_commit();
    }

    /* Issues O += P V of the current V stage. */
    __device__ __forceinline__ void issue_output(float (&o)[C::D / 2], const uint32_t (&w)[C::BLOCK_N / 4]) const
    {
        const uint64_t vd = descriptor_mn_major<C::BLOCK_N>(shared_address(smem.v[v.stage]));
#pragma unroll
        for (int i = 0; i < C::BLOCK_N / 16; i++)
            Mma<C::D>::rs(o, &w[4 * i], vd + step_mn_major(i));
        mma_commit();
    }

    __device__ __forceinline__ void take_turn() const
    {
        if constexpr (C::PING_PONG)
            named_sync(NAMED_TURN + group, 256);
    }

    __device__ __forceinline__ void give_turn() const
    {
        if constexpr (C::PING_PONG)
            named_arrive(NAMED_TURN + (group + 1) % C::GROUPS, 256);
    }

    /* A branch that is never taken, on a value all exponentials are part of: ptxas would sink most of them below the wait. */
    __device__ __forceinline__ static void settle(const RowState &row)
    {
        if (row.sum[0] + row.sum[1] < 0.0f)
            __nanosleep(1);
    }

    __device__ __forceinline__ static void pack(const float (&s)[C::BLOCK_N / 2], uint32_t (&w)[C::BLOCK_N / 4])
    {
#pragma unroll
        for (int i = 0; i < C::BLOCK_N / 4; i++)
            w[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
    }

    __device__ __forceinline__ void tile(const Tile &tile);
    __device__ __forceinline__ void finish(const Tile &tile, float (&o)[C::D / 2], RowState &row);
    __device__ __forceinline__ void step(int block, float (&s)[C::BLOCK_N / 2], float (&o)[C::D / 2],
                                         uint32_t (&w)[C::BLOCK_N / 4], RowState &row);
    __device__ __forceinline__ int last_block_before_slice(int block) const;
    __device__ __forceinline__ void pace();
    __device__ __forceinline__ void flush();
};

/* Blocks count down: the last one to run before the next slice leaves. */
template <class C> __device__ __forceinline__ int Math<C>::last_block_before_slice(int block) const
{
    return paced_row < 16 ? max(block - paced_blocks + 1, 0) : 0;
}

/* Paced: one slice of the previous tile's rows. After the tile's last block it waits for the flush, which has one commit. */
template <class C> __device__ __forceinline__ void Math<C>::pace()
{
    if (paced_row < 16) {
        store_rows_bulk<C>(staging(), paced_address, lane, paced_row, paced_row + p.slice_rows);
        paced_row += p.slice_rows;
        paced_blocks = p.slice_blocks;
    }
}

/* Paced: whatever has not left yet, and the tile's one commit. */
template <class C> __device__ __forceinline__ void Math<C>::flush()
{
    if constexpr (C::METHOD == XSTI_FA_PACED) {
        if (paced_row < 16)
            store_rows_bulk<C>(staging(), paced_address, lane, paced_row, 16);
        paced_row = 16;
        bulk_commit();
    }
}

template <class C>
__device__ __forceinline__ void Math<C>::finish(const Tile &tile, float (&o)[C::D / 2], RowState &row)
{
    float factor[2];
    const int first = tile.row + group * C::GROUP_ROWS + static_cast<int>(warp) * 16;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = row.sum[r];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        factor[r] = 1.0f / sum;
        const int at = first + static_cast<int>(lane) / 4 + 8 * r;
        if (p.lse != 0 && lane % 4 == 0 && at < p.seq)
            reinterpret_cast<float *>(p.lse)[(static_cast<int64_t>(tile.batch) * p.heads + tile.head) * p.seq + at] =
                row.top[r] * p.scale + logf(sum);
    }
    scale_rows(o, factor);

    if constexpr (C::METHOD != XSTI_FA_STORE_16) {
        flush();
        bulk_wait_read_all();
    }
    __syncwarp();
    stage_tile<C>(staging(), o, lane);
    const uint64_t address = lane < 16 ? row_address<C>(p, tile, first + static_cast<int>(lane), flip) : 0;
    if constexpr (C::METHOD != XSTI_FA_STORE_16)
        fence_proxy_async_shared();
    __syncwarp();
    if constexpr (C::METHOD == XSTI_FA_STORE_16) {
        store_rows_16<C>(staging(), address, lane);
    } else if constexpr (C::METHOD == XSTI_FA_BULK) {
        store_rows_bulk<C>(staging(), address, lane, 0, 16);
        bulk_commit();
    } else {
        paced_address = address;
        paced_row = 0;
        /* Warpgroups begin at different points of the first interval, or the whole device would send in step; the four warps
         * of one send together, since each keeps the other three from the next product while it issues. */
        const uint32_t unit = blockIdx.x * C::GROUPS + group;
        paced_blocks = 1 + static_cast<int>((unit * 2654435769u >> 16) * static_cast<uint32_t>(p.slice_blocks) >> 16);
    }
}

/* A further block: its scores and softmax, and the output product of the block before. */
template <class C>
__device__ __forceinline__ void Math<C>::step(int block, float (&s)[C::BLOCK_N / 2], float (&o)[C::D / 2],
                                              uint32_t (&w)[C::BLOCK_N / 4], RowState &row)
{
    float factor[2];
    bool raise;
    if constexpr (C::OVERLAP) {
        wait_key();
        take_turn();
        hold(o);
        hold(w);
        mma_begin();
        issue_scores(s);
        wait_value();
        mma_begin();
        issue_output(o, w);
        give_turn();
        mma_wait<1>();
        hold(s);
        release(&smem.k_empty[k.stage]);
        if (block == 0)
            release(&smem.q_empty[group]);
        raise = softmax_next(s, row, p.scale_log2, factor);
        hold(s); /* the exponentials belong before the wait, beside the running product */
        if constexpr (C::SETTLE)
            settle(row);
        mma_wait<0>();
    } else {
        wait_value();
        hold(o);
        hold(w);
        mma_begin();
        issue_output(o, w);
        mma_wait<0>();
    }
    hold(o);
    hold(w);
    release(&smem.v_empty[v.stage]);
    v.advance();
    if constexpr (!C::OVERLAP) {
        wait_key();
        take_turn();
        mma_begin();
        issue_scores(s);
        give_turn();
        mma_wait<0>();
        hold(s);
        release(&smem.k_empty[k.stage]);
        if (block == 0)
            release(&smem.q_empty[group]);
        raise = softmax_next(s, row, p.scale_log2, factor);
    }
    k.advance();
    pack(s, w);
    if (raise)
        scale_rows(o, factor);
}

template <class C> __device__ __forceinline__ void Math<C>::tile(const Tile &tile)
{
    float s[C::BLOCK_N / 2];
    float o[C::D / 2];
    uint32_t w[C::BLOCK_N / 4];
    RowState row;

#pragma unroll
    for (int i = 0; i < C::D / 2; i++)
        o[i] = 0.0f;

    barrier_wait(shared_address(&smem.q_full[group]), q_parity, fault, XSTI_FA_ROLE_MATH, XSTI_FA_PHASE_Q_FULL);
    q_parity ^= 1u;

    /* the last block of keys: the only one that can be ragged */
    wait_key();
    mma_begin();
    issue_scores(s);
    mma_wait<0>();
    hold(s);
    release(&smem.k_empty[k.stage]);
    k.advance();
    if (p.key_tail < C::BLOCK_N)
        mask_columns(s, p.key_tail, static_cast<int>(lane % 4) * 2);
    softmax_first(s, row, p.scale_log2);
    pack(s, w);

    int block = p.key_blocks - 2;
    if constexpr (C::METHOD == XSTI_FA_PACED) {
        /* slices leave between two runs of blocks, so that the loop itself knows nothing of them */
        while (block >= 0) {
            const int stop = last_block_before_slice(block);
            for (; block >= stop; block--)
                step(block, s, o, w, row);
            pace();
        }
    } else {
        for (; block >= 0; block--)
            step(block, s, o, w, row);
    }
    if (p.key_blocks == 1)
        release(&smem.q_empty[group]);

    wait_value();
    hold(o);
    hold(w);
    mma_begin();
    issue_output(o, w);
    mma_wait<0>();
    hold(o);
    release(&smem.v_empty[v.stage]);
    v.advance();
    finish(tile, o, row);
}

} // namespace xst

#endif
