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
#include "moe/marks.cuh"
#include "moe/role_load.cuh"
#include "moe/role_store.cuh"
#include "moe/scales.cuh"

namespace xst {

/* A warp's part of a tile. */
struct Place {
    uint32_t linear;
    uint32_t block;
    uint32_t column;   /* first of the warpgroup's columns */
    uint32_t pool_row; /* of lane 0 */
    uint32_t rows;     /* from there on, that exist */
};

template <class C> struct Math {
    static constexpr int N = C::GROUP_COLS;
    static constexpr uint32_t SPENT = 1u << 31;
    static constexpr int STEPS_UNTOLD = 2; /* inner steps between a tile's stores and the news of them */

    using M = typename MarksOf<C>::Type;

    SharedStorage<C> &smem;
    const xsti_moe_params &p;
    Follower<C, true> walk; /* one tile ahead while one is computed */
    Gate gate;
    uint32_t group;
    uint32_t warp; /* in the warpgroup */
    uint32_t lane;
    uint32_t empty; /* address of the stages' barriers; in a cluster, of CTA `lane` */
    Ring<C::STAGES> ring;
    bool more;     /* tiles */
    Scales scales; /* e4m3 */
    uint32_t said; /* e4m3, split scale: Linear-1 tiles so far */

    /* the tile */
    uint32_t fetched0; /* Linear 1: weights of the thread's two rows; Linear 2: origin of row `lane` */
    uint32_t fetched1;

    uint32_t untold; /* 1 + block whose part was stored and not told; SPENT: which a Linear-2 tile has read; 0: none */

    /* paced store of the previous Linear-2 tile: where the lane's row goes, the next row to leave, bytes of a row */
    uint64_t paced_address;
    uint32_t paced_row;
    uint32_t paced_bytes;

    __device__ __forceinline__ uint32_t staging() const
    {
        return shared_address(smem.staging[group * 4 + warp]);
    }

    /* Of the CTA's rows, the warp's first. */
    __device__ __forceinline__ uint32_t warp_row() const
    {
        return (C::SPLIT_ROWS ? group * 64 : 0) + warp * 16;
    }

    /* One arrival a warp: a warp's own wait says nothing about the reads of the others. */
    __device__ __forceinline__ void release(uint32_t stage) const
    {
        if constexpr (C::E4M3) /* all lanes have read the rows' scales */
            __syncwarp();
        if constexpr (C::CLUSTER == 1) {
            if (lane == 0)
                barrier_arrive(empty + stage * 8);
        } else {
            if (lane < C::CLUSTER)
                barrier_arrive_cluster(empty + stage * 8);
        }
    }

    __device__ __forceinline__ Place place() const
    {
        const uint32_t row = warp_row();
        const Task<C> &t = walk.task;
        return {t.linear, t.block, t.column * XSTI_MOE_TILE_COLS + (C::SPLIT_ROWS ? 0 : group * N), t.pool_row() + row,
                t.rows > row ? t.rows - row : 0};
    }

    __device__ __forceinline__ void tell()
    {
        if (untold == 0)
            return;
        fence_proxy_async_global(); /* the bulk engine of another SM will read what this thread stored */
        __syncwarp();
        if (lane == 0 && gate.open)
            add_release_gpu_u32((untold & SPENT ? p.spent : p.ready) + ((untold & ~SPENT) - 1) * 4, 1);
        untold = 0;
    }

    __device__ __forceinline__ void wait_full()
    {
        const uint32_t full = shared_address(&smem.full[ring.stage]);
        if constexpr (C::TRACE) {
            if (barrier_test(full, ring.parity)) /* try_wait would sleep before it answers no */
                return;
            const uint32_t begin = static_cast<uint32_t>(clock_cycles());
            gate.barrier(full, ring.parity, XSTI_MOE_PHASE_FULL);
            M::waited(begin);
        } else {
            gate.barrier(full, ring.parity, XSTI_MOE_PHASE_FULL);
        }
    }

    /* Of this warp's rows, bytes that leave the device, when the lanes' rows go to `rank`. */
    __device__ __forceinline__ uint32_t remote_bytes(bool exists, uint32_t rank, uint32_t row_bytes) const
    {
        return __popc(__ballot_sync(0xffffffffu, exists && rank != static_cast<uint32_t>(p.rank))) * row_bytes;
    }

    template <bool Add> static __device__ __forceinline__ void multiply(float (&sum)[N / 2], uint64_t a, uint64_t b)
    {
        if constexpr (C::E4M3)
            mma_e4m3_ss<Add>(sum, a, b);
        else
            Mma<N>::template ss<Add>(sum, a, b);
    }

    /* The products of the current stage, as one group. */
    template <bool First> __device__ __forceinline__ void issue(float (&sum)[N / 2]) const
    {
        const uint64_t a = descriptor_k_major(shared_address(smem.a[ring.stage]) +
                                              (C::SPLIT_ROWS ? group * (64 * PANEL_ROW_BYTES) : 0));
        const uint64_t b = descriptor_k_major(shared_address(smem.b[ring.stage]) +
                                              (C::SPLIT_ROWS ? 0 : group * (N * PANEL_ROW_BYTES)));
        mma_begin();
        multiply<!First>(sum, a, b);
#pragma unroll
        for (int k = 1; k < XSTI_MOE_STEP_BYTES / 32; k++)
            multiply<true>(sum, a + step_k_major<64>(k), b + step_k_major<64>(k));
        mma_commit();
    }

    /* Scale of the thread's row `half` in the current stage. */
    __device__ __forceinline__ float row_scale(uint32_t half) const
    {
        return shared_load_float(shared_address(&smem.rows[ring.stage][warp_row() + lane / 4 + 8 * half]));
    }

    /* Further steps. bf16: each is issued before the one before it is waited for. e4m3: between the two the sums change their
     * units; meanwhile the other warpgroup's products run. */
    __device__ __forceinline__ void run(float (&sum)[N / 2], uint32_t steps)
    {
        for (; steps > 0; steps--) {
            const uint32_t held = ring.stage;
            ring.advance();
            wait_full();
            if constexpr (C::E4M3) {
                const Factors factors = scales.advance(p, row_scale(0), row_scale(1));
                mma_wait<0>();
                hold(sum);
                release(held);
                factors.apply(sum);
                hold(sum);
                issue<false>(sum);
            } else {
                issue<false>(sum);
                mma_wait<1>();
                release(held);
            }
        }
    }

    __device__ __forceinline__ void fetch();
    __device__ __forceinline__ void tile();
    __device__ __forceinline__ void agree(float (&most)[2]);
    __device__ __forceinline__ void idle();
    __device__ __forceinline__ void finish(const Place &at, float (&sum)[N / 2]);
    __device__ __forceinline__ void activate(const Place &at, float (&sum)[N / 2], bool exists, uint32_t valid);
    __device__ __forceinline__ void slice();
    __device__ __forceinline__ void flush();
};

/* What the epilogue needs of the rows, asked for early. */
template <class C> __device__ __forceinline__ void Math<C>::fetch()
{
    if (C::MODE != MODE_FUSED)
        return;
    const uint32_t row =
        walk.task.block * C::TILE_ROWS + walk.task.first_row + warp_row(); /* all blocks have their own */
    const uint64_t first = p.meta + static_cast<uint64_t>(row) * sizeof(xsti_moe_meta);
    if (walk.task.linear == 1) {
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
    if constexpr (C::TRACE)
        if (paced_row == 0)
            M::sends(p.trace, XST_TRACE_IDLE);
    if (lane >= paced_row && lane < end && paced_address != 0)
        bulk_store(paced_address, staging() + lane * C::PACED_ROW_BYTES, paced_bytes);
    paced_row = end;
}

/* Paced: whatever has not left yet. */
template <class C> __device__ __forceinline__ void Math<C>::flush()
{
    if constexpr (C::METHOD == XSTI_MOE_PACED) {
        if constexpr (C::TRACE)
            if (paced_row == 0)
                M::sends(p.trace, XST_TRACE_IDLE);
        if (lane >= paced_row && lane < 16 && paced_address != 0)
            bulk_store(paced_address, staging() + lane * C::PACED_ROW_BYTES, paced_bytes);
        paced_row = 16;
        bulk_commit();
        if constexpr (C::TRACE)
            M::sends(p.trace, XST_TRACE_ISSUE);
    }
}

/* Largest activations of the thread's two rows: from this warpgroup's to both's. The other one says its own when it has come to the end
 * of this tile, and needs nothing for that which this one could hold back. */
template <class C> __device__ __forceinline__ void Math<C>::agree(float (&most)[2])
{
    if constexpr (C::SPLIT_SCALE) {
        const uint32_t barrier = shared_address(&smem.largest.said[warp]), row = warp * 16 + lane / 4;
        if (lane % 4 == 0) {
            smem.largest.most[said & 1u][group][row] = most[0];
            smem.largest.most[said & 1u][group][row + 8] = most[1];
            barrier_arrive(barrier);
        }
        gate.barrier(barrier, said & 1u, XSTI_MOE_PHASE_LARGEST);
        const volatile float *const other = smem.largest.most[said & 1u][group ^ 1u];
        most[0] = fmaxf(most[0], other[row]);
        most[1] = fmaxf(most[1], other[row + 8]);
        said++;
    }
}

/* A finished Linear-1 tile to the pool of activated rows. */
template <class C>
__device__ __forceinline__ void Math<C>::activate(const Place &at, float (&sum)[N / 2], bool exists, uint32_t valid)
{
    const uint64_t row = at.pool_row + lane;
    const float weight[2] = {__uint_as_float(fetched0), __uint_as_float(fetched1)};
    if constexpr (C::E4M3) {
        const uint64_t to = exists && valid != 0 ? p.pool_act + row * p.inter + at.column / 2 : 0;
        const uint32_t first = lane / 4, rows = gate.open && valid != 0 && at.rows > first ? at.rows - first : 0;
        const uint64_t scale =
            static_cast<uint64_t>(at.column / XSTI_MOE_TILE_COLS) * p.pool_rows + at.pool_row + first;
        const uint64_t scales_to = p.act_scales + scale * 4;
        float most[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            most[half] = gate_half<true>(sum, weight[half], p.clamp, half);
            if constexpr (!C::SPLIT_SCALE)
                send_half(staging(), sum, scale_for(most[half]), half, to, scales_to, rows, lane);
        }
        if constexpr (C::SPLIT_SCALE) {
            agree(most);
#pragma unroll
            for (int half = 0; half < 2; half++)
                send_half(staging(), sum, scale_for(most[half]), half, to, scales_to, group == 0 ? rows : 0, lane);
        }
    } else {
        const uint64_t to = exists ? p.pool_act + (row * p.inter + at.column / 2) * 2 : 0;
        if (p.clamp == CUDART_INF_F)
            send_gated<false>(staging(), sum, weight, p.clamp, to, valid / 2, lane);
        else
            send_gated<true>(staging(), sum, weight, p.clamp, to, valid / 2, lane);
    }
    untold = at.block + 1;
}

template <class C> __device__ __forceinline__ void Math<C>::finish(const Place &at, float (&sum)[N / 2])
{
    const uint64_t row = at.pool_row + lane;
    const bool exists = lane < 16 && lane < at.rows && gate.open;
    const uint32_t width = at.linear == 1 ? 2 * p.inter : p.hidden;
    const uint32_t valid = at.column < width ? min(width - at.column, static_cast<uint32_t>(N)) : 0;
    if constexpr (C::METHOD == XSTI_MOE_PACED) {
        flush();
        bulk_wait_read_all();
        __syncwarp();
        if constexpr (C::TRACE) {
            M::sends(p.trace, XST_TRACE_RELEASE);
            M::in_tile(p.trace, XST_TRACE_SLOT);
        }
    }
    if constexpr (C::MODE == MODE_ONE) {
        const uint64_t to = (at.linear == 1 ? p.mid : p.pool_x) + (row * width + at.column) * 2;
        send_plain(staging(), sum, exists ? to : 0, valid, lane);
    } else if (at.linear == 1) {
        activate(at, sum, exists, valid);
        if constexpr (C::TRACE)
            M::in_tile(p.trace, XST_TRACE_ACT);
    } else {
        if (p.stream.ring != 0)
            untold = at.block + 1 | SPENT;
        const uint32_t rank = fetched0 >> XSTI_MOE_ORIGIN_BITS, flat = fetched0 & ((1u << XSTI_MOE_ORIGIN_BITS) - 1);
        const uint64_t to = exists ? p.combine[rank] + (static_cast<uint64_t>(flat) * p.hidden + at.column) * 2 : 0;
        if constexpr (C::METHOD == XSTI_MOE_AT_ONCE) {
            send_plain(staging(), sum, to, valid, lane);
            if constexpr (C::TRACE)
                M::in_tile(p.trace, XST_TRACE_ISSUE, remote_bytes(exists, rank, valid * 2));
        } else {
            stage_paced<C>(staging(), sum, lane);
            fence_proxy_async_shared();
            __syncwarp();
            paced_address = valid != 0 ? to : 0;
            paced_bytes = valid * 2;
            paced_row = 0;
            if constexpr (C::TRACE)
                M::staged(p.trace, remote_bytes(exists, rank, valid * 2));
        }
    }
}

/* A tile of which this warpgroup has no rows: its stages are handed on. */
template <class C> __device__ __forceinline__ void Math<C>::idle()
{
    tell();
    flush();
    for (uint32_t steps = depth_steps<C>(p, walk.task.linear); steps > 0; steps--) {
        wait_full();
        release(ring.stage);
        ring.advance();
    }
    if (C::MODE == MODE_FUSED && walk.task.linear == 1)
        untold = walk.task.block + 1;
    else if (C::MODE == MODE_FUSED && p.stream.ring != 0)
        untold = walk.task.block + 1 | SPENT;
    more = walk.next(gate);
}

template <class C> __device__ __forceinline__ void Math<C>::tile()
{
    float sum[N / 2];
    const Place at = place();
    uint32_t steps = depth_steps<C>(p, at.linear) - 1;
    if constexpr (C::E4M3)
        scales.begin(p, walk.task, steps + 1, group);

    if (!barrier_try_wait(shared_address(&smem.full[ring.stage]), ring.parity)) {
        tell();
        wait_full();
    }
    if constexpr (C::TRACE)
        M::begin_tile(p.trace, walk.task.index);
    if constexpr (C::E4M3) {
        scales.row[0] = row_scale(0);
        scales.row[1] = row_scale(1);
    }
    issue<true>(sum);
    fetch();
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
    const uint32_t late = min(steps, LATE_STEPS);
    run(sum, steps - late);
    more = walk.next(gate); /* beside the running products; whoever tells has no stage to wait for any more */
    run(sum, late);
    mma_wait<0>();
    hold(sum);
    release(ring.stage);
    ring.advance();
    if constexpr (C::E4M3)
        scales.end().apply(sum);
    if constexpr (C::TRACE)
        M::products(p.trace);
    finish(at, sum);
}

template <class C>
__device__ __forceinline__ void role_math(SharedStorage<C> &smem, const xsti_moe_params &p,
                                          const xsti_moe_stream &stream, xsti_fault *fault, uint32_t group)
{
    Math<C> math = {smem, p, Follower<C, true>(smem, stream), {fault, XSTI_MOE_ROLE_MATH, true}};
    math.group = group;
    math.warp = threadIdx.x / 32 % 4;
    math.lane = threadIdx.x % 32;
    math.empty = shared_address(smem.empty);
    if (C::CLUSTER > 1)
        math.empty = cluster_address(math.empty, math.lane % C::CLUSTER);
    math.untold = 0;
    math.said = 0;
    math.paced_row = 16;
    math.paced_address = 0;
    math.more = math.walk.next(math.gate);
    /* A warpgroup ends together: its products need all four warps. */
    while (named_all(NAMED_TILE + group, 128, math.more)) {
        test_pause(p, XSTI_MOE_ROLE_MATH + group, math.walk.task.index);
        if (C::SPLIT_ROWS && math.walk.task.rows <= group * 64)
            math.idle();
        else
            math.tile();
    }
    math.tell();
    math.flush();
    if constexpr (C::METHOD == XSTI_MOE_PACED)
        bulk_wait_all();
    if constexpr (C::TRACE && C::METHOD == XSTI_MOE_PACED)
        Math<C>::M::sends(p.trace, XST_TRACE_RELEASE);
    Math<C>::M::mark(p.trace, XST_TRACE_IDLE);
}

} // namespace xst

#endif
