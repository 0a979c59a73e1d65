/* SPDX-License-Identifier: Apache-2.0
 *
 * role_math.cuh - one warpgroup's work: scores, softmax and output sums of its 64 rows of every tile, then the epilogue.
 *
 * Per tile, blocks from the first (the ragged one, the only one that is masked) to the last:
 *   overlap:  S = Q K_j and O += P V_(j-1) are issued together; the softmax of S runs while the second is under way.
 *   serial:   S = Q K_j; softmax; O += P V_j; each waited for (fewer live registers, so three warpgroups fit).
 */
#ifndef XST_FA_A2A_ROLE_MATH_CUH
#define XST_FA_A2A_ROLE_MATH_CUH

#include "device/mma.cuh"
#include "device/pipe.cuh"
#include "device/softmax.cuh"
#include "device/tile.cuh"
#include "device/trace.cuh"
#include "fa_a2a/role_store.cuh"

namespace xst {

/* What a matrix descriptor takes of a shared address. In a pair the bits above hold the CTA's rank, and would end up in the
 * distance of panels that a descriptor of V carries there. */
template <class C> __device__ __forceinline__ uint32_t matrix_address(uint32_t shared)
{
    return C::CLUSTER == 2 ? shared & 0x3ffff : shared;
}

template <class C> struct Math {
    const xsti_fa_params &p;
    xsti_fault *fault;
    uint32_t base; /* shared address of SharedStorage */
    int group;
    uint32_t lane;
    uint32_t warp; /* in the warpgroup */
    uint64_t q_descriptor;
    Ring<C::STAGES> k;
    Ring<C::STAGES> v;
    uint32_t q_parity;
    uint64_t flip; /* bytes to the output buffer of this call */
    uint32_t late; /* traced: cycles that operands of this tile were late */
    Trace<C::TRACE> trace;

    /* Shared addresses of what smem holds. */
    using Storage = SharedStorage<C>;
    __device__ __forceinline__ uint32_t barrier(size_t first, uint32_t index) const
    {
        return base + static_cast<uint32_t>(first) + index * 8;
    }
    __device__ __forceinline__ uint32_t k_full() const
    {
        return barrier(offsetof(Storage, k_full), k.stage);
    }
    __device__ __forceinline__ uint32_t k_empty() const
    {
        return barrier(offsetof(Storage, k_empty), k.stage);
    }
    __device__ __forceinline__ uint32_t v_full() const
    {
        return barrier(offsetof(Storage, v_full), v.stage);
    }
    __device__ __forceinline__ uint32_t v_empty() const
    {
        return barrier(offsetof(Storage, v_empty), v.stage);
    }
    __device__ __forceinline__ uint32_t q_full() const
    {
        return barrier(offsetof(Storage, q_full), group);
    }
    __device__ __forceinline__ uint32_t q_empty() const
    {
        return barrier(offsetof(Storage, q_empty), group);
    }
    __device__ __forceinline__ uint32_t staged() const
    {
        return barrier(offsetof(Storage, staged), 0);
    }
    __device__ __forceinline__ uint32_t sent() const
    {
        return barrier(offsetof(Storage, sent), 0);
    }
    __device__ __forceinline__ uint32_t q_tile() const
    {
        return base + group * C::Q_GROUP_BYTES;
    }
    __device__ __forceinline__ uint32_t k_tile() const
    {
        return base + static_cast<uint32_t>(offsetof(Storage, k)) + k.stage * C::KV_BYTES;
    }
    __device__ __forceinline__ uint32_t v_tile() const
    {
        return base + static_cast<uint32_t>(offsetof(Storage, v)) + v.stage * C::KV_BYTES;
    }
    __device__ __forceinline__ uint32_t staging() const
    {
        return base + static_cast<uint32_t>(offsetof(Storage, staging)) + group * C::STAGE_GROUP_BYTES +
               warp * (2 * C::STAGE_8_ROWS_BYTES);
    }

    /* Of the lane's row of the tile, in shared memory. */
    __device__ __forceinline__ uint32_t destination() const
    {
        return base + static_cast<uint32_t>(offsetof(Storage, destinations)) + ((group * 4 + warp) * 16 + lane) * 8;
    }

    /* A tile behind the last one is the partner's, computed to keep the pair in step: no work of the call's. */
    __device__ __forceinline__ void mark(xst_trace_what what, int index, uint32_t value = 0)
    {
        if (C::CLUSTER == 1 || index < p.tile_first[p.ranks])
            trace.mark(p.trace, what, index, value);
        else
            trace.mark(p.trace, XST_TRACE_IDLE, TRACE_NO_TILE);
    }

    /* One arrival a warp: a warp's own wait says nothing about the reads of the other three. */
    __device__ __forceinline__ void release(uint32_t barrier) const
    {
        if (lane == 0)
            barrier_arrive(barrier);
    }

    /* Of keys or values: in a pair both CTAs load for this one. */
    __device__ __forceinline__ void release_block(uint32_t barrier) const
    {
        if constexpr (C::CLUSTER == 2) {
            if (lane < 2)
                barrier_arrive_cluster(cluster_address(barrier, lane));
        } else {
            release(barrier);
        }
    }

    __device__ __forceinline__ void wait_full(uint32_t barrier, uint32_t parity, uint32_t phase)
    {
        if constexpr (C::TRACE) {
            if (barrier_test(barrier, parity)) /* try_wait would sleep before it answers no */
                return;
            const uint32_t begin = static_cast<uint32_t>(clock_cycles());
            barrier_wait(barrier, parity, fault, XSTI_FA_ROLE_MATH, phase);
            late += static_cast<uint32_t>(clock_cycles()) - begin;
        } else {
            barrier_wait(barrier, parity, fault, XSTI_FA_ROLE_MATH, phase);
        }
    }

    __device__ __forceinline__ void wait_key()
    {
        wait_full(k_full(), k.parity, XSTI_FA_PHASE_K_FULL);
    }

    __device__ __forceinline__ void wait_value()
    {
        wait_full(v_full(), v.parity, XSTI_FA_PHASE_V_FULL);
    }

    /* Issues S = Q K^T of the current K stage. */
    __device__ __forceinline__ void issue_scores(float (&s)[C::BLOCK_N / 2]) const
    {
        const uint64_t kd = descriptor_k_major(matrix_address<C>(k_tile()));
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
        const uint64_t vd = descriptor_mn_major<C::BLOCK_N>(matrix_address<C>(v_tile()));
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

    __device__ __forceinline__ void tile(const Tile &tile, int index);
    __device__ __forceinline__ void finish(const Tile &tile, int index, float (&o)[C::D / 2], RowState &row);
    __device__ __forceinline__ void take_staging(int index);
    __device__ __forceinline__ void step(int left, float (&s)[C::BLOCK_N / 2], float (&o)[C::D / 2],
                                         uint32_t (&w)[C::BLOCK_N / 4], RowState &row);
};

/* Until nothing reads staging any more. */
template <class C> __device__ __forceinline__ void Math<C>::take_staging(int index)
{
    if constexpr (C::METHOD == XSTI_FA_BULK)
        bulk_wait_read_all();
    if constexpr (C::METHOD == XSTI_FA_PACED) {
        /* the tile before, if there was one and it was handed over; numbers instead of a state that lives through the key loop */
        const int before = index - static_cast<int>(grid_ctas());
        if (before >= 0 && before < p.handed_tiles)
            barrier_wait(sent(), (before / grid_ctas()) & 1u, fault, XSTI_FA_ROLE_MATH, XSTI_FA_PHASE_SENT);
    }
    if constexpr (C::METHOD != XSTI_FA_STORE_16)
        mark(XST_TRACE_SLOT, index);
}

template <class C>
__device__ __forceinline__ void Math<C>::finish(const Tile &tile, int index, float (&o)[C::D / 2], RowState &row)
{
    float factor[2];
    const int first = tile.row + group * C::GROUP_ROWS + static_cast<int>(warp) * 16;
    const bool no_keys = key_count(p, tile.batch) == 0; /* then all that was computed is not a number */
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = row.sum[r];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        factor[r] = 1.0f / sum;
        const int of = first + static_cast<int>(lane) / 4 + 8 * r;
        if (p.lse != 0 && lane % 4 == 0 && of < p.seq)
            reinterpret_cast<float *>(p.lse)[(static_cast<int64_t>(tile.batch) * p.heads + tile.head) * p.seq + of] =
                no_keys ? -CUDART_INF_F : row.top[r] * p.scale + logf(sum);
    }
    scale_rows(o, factor);
    if (no_keys) {
#pragma unroll
        for (int i = 0; i < C::D / 2; i++)
            o[i] = 0.0f;
    }

    take_staging(index);
    __syncwarp();
    stage_tile<C>(staging(), o, lane);
    const uint64_t address = lane < 16 ? row_address<C>(p, tile, first + static_cast<int>(lane), flip) : 0;
    if (C::METHOD == XSTI_FA_PACED && index < p.handed_tiles) {
        if (lane < 16)
            shared_store_8(destination(), address);
        __syncwarp();
        mark(XST_TRACE_STAGE, index);
        release(staged());
        return;
    }
    if constexpr (C::METHOD == XSTI_FA_BULK)
        fence_proxy_async_shared();
    __syncwarp();
    mark(XST_TRACE_STAGE, index);
    if constexpr (C::METHOD == XSTI_FA_BULK) {
        store_rows_bulk<C>(staging(), address, lane);
        bulk_commit();
    } else {
        store_rows_16<C>(staging(), address, lane);
    }
    if constexpr (C::TRACE)
        mark(XST_TRACE_ISSUE, index, remote_bytes<C>(p, first + static_cast<int>(lane), lane));
}

/* A further block, `left` of them behind it: its scores and softmax, and the output product of the block before. */
template <class C>
__device__ __forceinline__ void Math<C>::step(int left, float (&s)[C::BLOCK_N / 2], float (&o)[C::D / 2],
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
        release_block(k_empty());
        if (left == 0)
            release(q_empty());
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
    release_block(v_empty());
    v.advance();
    if constexpr (!C::OVERLAP) {
        wait_key();
        take_turn();
        mma_begin();
        issue_scores(s);
        give_turn();
        mma_wait<0>();
        hold(s);
        release_block(k_empty());
        if (left == 0)
            release(q_empty());
        raise = softmax_next(s, row, p.scale_log2, factor);
    }
    k.advance();
    pack(s, w);
    if (raise)
        scale_rows(o, factor);
}

template <class C> __device__ __forceinline__ void Math<C>::tile(const Tile &tile, int index)
{
    float s[C::BLOCK_N / 2];
    float o[C::D / 2];
    uint32_t w[C::BLOCK_N / 4];
    RowState row;
    const Keys keys = keys_of<C>(p, tile.batch);

#pragma unroll
    for (int i = 0; i < C::D / 2; i++)
        o[i] = 0.0f;

    barrier_wait(q_full(), q_parity, fault, XSTI_FA_ROLE_MATH, XSTI_FA_PHASE_Q_FULL);
    q_parity ^= 1u;

    /* the first block of keys: the only one that can be ragged */
    wait_key();
    mark(XST_TRACE_LOAD, index);
    late = 0;
    mma_begin();
    issue_scores(s);
    mma_wait<0>();
    hold(s);
    release_block(k_empty());
    if (keys.blocks == 1)
        release(q_empty());
    k.advance();
    if (keys.row < 0)
        mask_columns(s, -keys.row, static_cast<int>(lane % 4) * 2);
    softmax_first(s, row, p.scale_log2);
    pack(s, w);

    for (int left = keys.blocks - 2; left >= 0; left--)
        step(left, s, o, w, row);

    wait_value();
    hold(o);
    hold(w);
    mma_begin();
    issue_output(o, w);
    mma_wait<0>();
    hold(o);
    release_block(v_empty());
    v.advance();
    mark(XST_TRACE_MATH, index, late);
    finish(tile, index, o, row);
}

} // namespace xst

#endif
