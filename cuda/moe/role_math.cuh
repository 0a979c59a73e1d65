/* SPDX-License-Identifier: Apache-2.0
 *
 * role_math.cuh - one warpgroup's part of every tile: the products, then the epilogue.
 *
 * A warp that has stored its part of a Linear-1 tile tells so (counter `ready` of the block) a little later: in the next tile's
 * inner loop, when the stores have long ended, or before the first wait of that loop that would take time. It must not wait
 * with the news untold: the tile it waits for may be waiting for them.
 */
#ifndef XST_MOE_ROLE_MATH_CUH
#define XST_MOE_ROLE_MATH_CUH

#include "device/tile.cuh"
#include "moe/role_load.cuh"
#include "moe/role_store.cuh"

namespace xst {

template <class C> struct Math {
    static constexpr int N = C::GROUP_COLS;
    static constexpr int STEPS_UNTOLD = 2; /* inner steps between a tile's stores and the news of them */

    SharedStorage<C> &smem;
    const xsti_moe_params &p;
    const xsti_moe_stream &stream;
    Gate gate;
    uint32_t group;
    uint32_t warp; /* in the warpgroup */
    uint32_t lane;
    Ring<C::STAGES> ring;
    xsti_moe_cursor cursor;

    /* the tile */
    xsti_moe_task task;
    uint32_t rows;     /* of the block, that exist */
    uint32_t fetched0; /* Linear 1: weights of the thread's two rows; Linear 2: origin of row `lane` */
    uint32_t fetched1;

    uint32_t untold; /* 1 + block whose part was stored and not told; 0: none */

    /* paced store of the previous Linear-2 tile: where the lane's row goes, the next row to leave, bytes of a row */
    uint64_t paced_address;
    uint32_t paced_row;
    uint32_t paced_bytes;

    __device__ __forceinline__ uint32_t staging() const
    {
        return shared_address(smem.staging[group * 4 + warp]);
    }

    /* Of the tile, the warp's first. */
    __device__ __forceinline__ uint32_t first_row() const
    {
        return (C::SPLIT_ROWS ? group * 64 : 0) + warp * 16;
    }

    __device__ __forceinline__ void locate(uint32_t index)
    {
        if (index >= xsti_moe_tiles(&stream))
            return;
        task = xsti_moe_task_at(&stream, smem.table, &cursor, index);
        rows = xsti_moe_rows_of(&stream, smem.table, xsti_moe_expert_of(&stream, smem.table, task.block), task.block);
    }

    /* One arrival a warp: a warp's own wait says nothing about the reads of the others. */
    __device__ __forceinline__ void release(uint32_t stage) const
    {
        if (lane == 0)
            barrier_arrive(shared_address(&smem.empty[stage]));
    }

    __device__ __forceinline__ void tell()
    {
        if (untold == 0)
            return;
        fence_proxy_async(); /* the bulk engine of another SM will read what this thread stored */
        __syncwarp();
        if (lane == 0 && gate.open)
            add_release_gpu_u32(p.ready + (untold - 1) * 4, 1);
        untold = 0;
    }

    __device__ __forceinline__ void wait_full()
    {
        gate.barrier(shared_address(&smem.full[ring.stage]), ring.parity, XSTI_MOE_PHASE_FULL);
    }

    /* The products of the current stage, as one group. */
    template <bool First> __device__ __forceinline__ void issue(float (&sum)[N / 2]) const
    {
        const uint64_t a = descriptor_k_major(shared_address(smem.a[ring.stage]) +
                                              (C::SPLIT_ROWS ? group * (64 * PANEL_ROW_BYTES) : 0));
        const uint64_t b = descriptor_k_major(shared_address(smem.b[ring.stage]) +
                                              (C::SPLIT_ROWS ? 0 : group * (N * PANEL_ROW_BYTES)));
        mma_begin();
        Mma<N>::template ss<!First>(sum, a, b);
#pragma unroll
        for (int k = 1; k < XSTI_MOE_TILE_DEPTH / 16; k++)
            Mma<N>::template ss<true>(sum, a + step_k_major<64>(k), b + step_k_major<64>(k));
        mma_commit();
    }

    /* Further steps: each is issued before the one before it is waited for. */
    __device__ __forceinline__ void run(float (&sum)[N / 2], uint32_t steps)
    {
        for (; steps > 0; steps--) {
            const uint32_t held = ring.stage;
            ring.advance();
            wait_full();
            issue<false>(sum);
            mma_wait<1>();
            release(held);
        }
    }

    __device__ __forceinline__ void fetch();
    __device__ __forceinline__ void tile(uint32_t next);
    __device__ __forceinline__ void idle(uint32_t next);
    __device__ __forceinline__ void finish(const xsti_moe_task &at, uint32_t rows_there, const float (&sum)[N / 2]);
    __device__ __forceinline__ void slice();
    __device__ __forceinline__ void flush();
};

/* What the epilogue needs of the rows, asked for early. */
template <class C> __device__ __forceinline__ void Math<C>::fetch()
{
    const uint64_t first =
        p.meta + (static_cast<uint64_t>(task.block) * C::TILE_ROWS + first_row()) * sizeof(xsti_moe_meta);
    if (C::MODE != MODE_FUSED)
        return;
    if (task.linear == 1) {
        const uint64_t at = first + lane / 4 * sizeof(xsti_moe_meta) + offsetof(xsti_moe_meta, weight);
        fetched0 = load_4_l2(at);
        fetched1 = load_4_l2(at + 8 * sizeof(xsti_moe_meta));
    } else {
        fetched0 = load_4_l2(first + lane % 16 * sizeof(xsti_moe_meta) + offsetof(xsti_moe_meta, origin));
    }
}

/* Paced: the next piece of the previous tile's rows. The tile's one commit is in flush. */
template <class C> __device__ __forceinline__ void Math<C>::slice()
{
    const uint32_t end = paced_row + 16 / p.slices;
    if (lane >= paced_row && lane < end && paced_address != 0)
        bulk_store(paced_address, staging() + lane * C::PACED_ROW_BYTES, paced_bytes);
    paced_row = end;
}

/* Paced: whatever has not left yet. */
template <class C> __device__ __forceinline__ void Math<C>::flush()
{
    if constexpr (C::METHOD == XSTI_MOE_PACED) {
        if (lane >= paced_row && lane < 16 && paced_address != 0)
            bulk_store(paced_address, staging() + lane * C::PACED_ROW_BYTES, paced_bytes);
        paced_row = 16;
        bulk_commit();
    }
}

template <class C>
__device__ __forceinline__ void Math<C>::finish(const xsti_moe_task &at, uint32_t rows_there, const float (&sum)[N / 2])
{
    const uint32_t row = first_row() + lane;
    const uint64_t pool_row = static_cast<uint64_t>(at.block) * C::TILE_ROWS + row;
    const bool exists = lane < 16 && row < rows_there && gate.open;
    const uint32_t column = at.column * XSTI_MOE_TILE_COLS + (C::SPLIT_ROWS ? 0 : group * N);
    const uint32_t width = at.linear == 1 ? 2 * p.inter : p.hidden;
    const uint32_t valid = column < width ? min(width - column, static_cast<uint32_t>(N)) : 0;
    if constexpr (C::METHOD == XSTI_MOE_PACED) {
        flush();
        bulk_wait_read_all();
        __syncwarp();
    }
    if constexpr (C::MODE == MODE_ONE) {
        const uint64_t to = (at.linear == 1 ? p.mid : p.pool_x) + (pool_row * width + column) * 2;
        send_plain(staging(), sum, exists ? to : 0, valid, lane);
    } else if (at.linear == 1) {
        const uint64_t to = p.pool_act + (pool_row * p.inter + column / 2) * 2;
        const float weight[2] = {__uint_as_float(fetched0), __uint_as_float(fetched1)};
        send_gated(staging(), sum, weight, p.clamp, exists ? to : 0, valid / 2, lane);
        untold = at.block + 1;
    } else {
        const uint32_t rank = fetched0 >> XSTI_MOE_ORIGIN_BITS, flat = fetched0 & ((1u << XSTI_MOE_ORIGIN_BITS) - 1);
        const uint64_t to = exists ? p.combine[rank] + (static_cast<uint64_t>(flat) * p.hidden + column) * 2 : 0;
        if constexpr (C::METHOD == XSTI_MOE_AT_ONCE) {
            send_plain(staging(), sum, to, valid, lane);
        } else {
            stage_paced<C>(staging(), sum, lane);
            fence_proxy_async_shared();
            __syncwarp();
            paced_address = valid != 0 ? to : 0;
            paced_bytes = valid * 2;
            paced_row = 0;
        }
    }
}

/* A tile of which this warpgroup has no rows: its stages are handed on. */
template <class C> __device__ __forceinline__ void Math<C>::idle(uint32_t next)
{
    tell();
    flush();
    for (uint32_t steps = depth_steps(p, task.linear); steps > 0; steps--) {
        wait_full();
        release(ring.stage);
        ring.advance();
    }
    if (C::MODE == MODE_FUSED && task.linear == 1)
        untold = task.block + 1;
    locate(next);
}

template <class C> __device__ __forceinline__ void Math<C>::tile(uint32_t next)
{
    float sum[N / 2];
    const xsti_moe_task at = task;
    const uint32_t rows_there = rows;
    uint32_t steps = depth_steps(p, at.linear) - 1;

    if (!barrier_try_wait(shared_address(&smem.full[ring.stage]), ring.parity)) {
        tell();
        wait_full();
    }
    issue<true>(sum);
    fetch();
    locate(next); /* beside the running products */
    const uint32_t before = min(steps, static_cast<uint32_t>(STEPS_UNTOLD));
    run(sum, before);
    steps -= before;
    tell();
    if constexpr (C::METHOD == XSTI_MOE_PACED) {
        const uint32_t between = max(steps / p.slices, 1u);
        while (paced_row < 16 && steps > 0) {
            slice();
            const uint32_t some = min(steps, between);
            run(sum, some);
            steps -= some;
        }
    }
    run(sum, steps);
    mma_wait<0>();
    hold(sum);
    release(ring.stage);
    ring.advance();
    finish(at, rows_there, sum);
}

template <class C>
__device__ __forceinline__ void role_math(SharedStorage<C> &smem, const xsti_moe_params &p,
                                          const xsti_moe_stream &stream, xsti_fault *fault, uint32_t group)
{
    Math<C> math = {smem, p, stream, {fault, XSTI_MOE_ROLE_MATH, true}};
    math.group = group;
    math.warp = threadIdx.x / 32 % 4;
    math.lane = threadIdx.x % 32;
    math.untold = 0;
    math.paced_row = 16;
    math.paced_address = 0;
    const uint32_t tiles = xsti_moe_tiles(&stream);
    math.locate(blockIdx.x);
    for (uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
        test_pause(p, XSTI_MOE_ROLE_MATH + group, index);
        if (C::SPLIT_ROWS && math.rows <= group * 64)
            math.idle(index + gridDim.x);
        else
            math.tile(index + gridDim.x);
    }
    math.tell();
    math.flush();
    if constexpr (C::METHOD == XSTI_MOE_PACED)
        bulk_wait_all();
}

} // namespace xst

#endif
