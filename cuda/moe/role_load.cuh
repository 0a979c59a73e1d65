/* SPDX-License-Identifier: Apache-2.0
 *
 * role_load.cuh - two threads that feed the warpgroups, one the rows, one the weights. Weights are loaded ahead without asking;
 * rows when they are there: of the pool when all of a block have arrived, of Linear 1 when all its tiles are stored.
 *
 * In a cluster what both CTAs need is loaded in halves, each into both; a stage is free when the warps of both have read it.
 */
#ifndef XST_MOE_ROLE_LOAD_CUH
#define XST_MOE_ROLE_LOAD_CUH

#include "moe/signal.cuh"
#include "moe/smem.cuh"
#include "moe/walk.cuh"

namespace xst {

/* Tests: an uneven pause before a task. */
__device__ __forceinline__ void test_pause(const xsti_moe_params &p, uint32_t role, uint32_t index)
{
    if (p.delay_ns != 0)
        __nanosleep(((index * 2654435761u) ^ (role * 40503u + p.seed) * 2246822519u) % p.delay_ns);
}

/* Steps of a tile of `linear`. */
template <class C> __device__ __forceinline__ uint32_t depth_steps(const xsti_moe_params &p, uint32_t linear)
{
    return static_cast<uint32_t>(linear == 1 ? p.hidden : p.inter) / C::DEPTH;
}

constexpr uint16_t BOTH_CTAS = 3;
constexpr uint32_t LATE_STEPS = 2;

/* A stage to fill: its barrier, once it is free. */
template <class C>
__device__ __forceinline__ uint32_t begin_stage(SharedStorage<C> &smem, Gate &gate, const Ring<C::STAGES> &ring,
                                                uint32_t bytes)
{
    const uint32_t full = shared_address(&smem.full[ring.stage]);
    gate.barrier(shared_address(&smem.empty[ring.stage]), ring.parity ^ 1u, XSTI_MOE_PHASE_EMPTY);
    barrier_arrive_expect(full, bytes);
    return full;
}

template <class C>
__device__ __forceinline__ void load_rows(const Task<C> &task, const void *map, uint32_t to, uint32_t full, int depth)
{
    constexpr int HALF = C::CTA_ROWS / 2, HALF_BYTES = C::A_BYTES / 2;
    const int row = task.pool_row(), rank = blockIdx.x % 2;
    if constexpr (C::CLUSTER == 1) {
        tensor_load_2d(to, map, full, depth, row, POLICY_EVICT_NORMAL);
    } else if (task.same_rows) {
        tensor_share_2d(to + rank * HALF_BYTES, map, full, depth, row + rank * HALF, BOTH_CTAS, POLICY_EVICT_NORMAL);
    } else {
        tensor_load_2d(to, map, full, depth, row, POLICY_EVICT_NORMAL);
        tensor_load_2d(to + HALF_BYTES, map, full, depth, row + HALF, POLICY_EVICT_NORMAL);
    }
}

/* Scales of the CTA's rows; in a cluster each CTA loads its own. */
template <class C>
__device__ __forceinline__ void load_scales(const Task<C> &task, const xsti_moe_params &p, float *to, uint32_t full,
                                            uint32_t step)
{
    const uint64_t place = static_cast<uint64_t>(step) * p.pool_rows + task.pool_row();
    bulk_load(shared_address(to), (task.linear == 1 ? p.x_scales : p.act_scales) + place * 4, C::SCALE_BYTES, full);
}

template <class C>
__device__ __forceinline__ void load_weights(const Task<C> &task, const void *map, uint32_t to, uint32_t full,
                                             int depth)
{
    constexpr int HALF = XSTI_MOE_TILE_COLS / 2, HALF_BYTES = C::B_BYTES / 2;
    const int row = task.column * XSTI_MOE_TILE_COLS, rank = blockIdx.x % 2, expert = task.expert;
    if constexpr (C::CLUSTER == 1) {
        tensor_load_3d(to, map, full, depth, row, expert, POLICY_EVICT_NORMAL);
    } else if (!task.same_rows) {
        tensor_share_3d(to + rank * HALF_BYTES, map, full, depth, row + rank * HALF, expert, BOTH_CTAS,
                        POLICY_EVICT_NORMAL);
    } else {
        tensor_load_3d(to, map, full, depth, row, expert, POLICY_EVICT_NORMAL);
        tensor_load_3d(to + HALF_BYTES, map, full, depth, row + HALF, expert, POLICY_EVICT_NORMAL);
    }
}

template <class C>
__device__ __forceinline__ void role_load_rows(SharedStorage<C> &smem, const xsti_moe_params &p,
                                               const xsti_moe_stream &stream, xsti_fault *fault)
{
    Gate gate = {fault, XSTI_MOE_ROLE_LOAD_A, true};
    Follower<C, false> walk(smem, stream);
    Ring<C::STAGES> ring;
    while (walk.next(gate)) {
        const Task<C> &task = walk.task;
        const uint32_t steps = depth_steps<C>(p, task.linear);
        test_pause(p, XSTI_MOE_ROLE_LOAD_A, task.index);
        if (C::MODE == MODE_FUSED && task.linear == 1)
            gate.counter(p.arrived + task.block * 4, task.block_rows(), XSTI_MOE_PHASE_ROWS, task.block);
        else if (C::MODE == MODE_FUSED)
            gate.counter(p.ready + task.block * 4, task.tellers(), XSTI_MOE_PHASE_TILES, task.block);
        for (uint32_t step = 0; step < steps && gate.open; step++) {
            const uint32_t full = begin_stage(smem, gate, ring, C::A_BYTES + C::SCALE_BYTES);
            load_rows(task, task.linear == 1 ? &p.x : &p.act, shared_address(smem.a[ring.stage]), full,
                      step * C::DEPTH);
            if constexpr (C::E4M3)
                load_scales(task, p, smem.rows[ring.stage], full, step);
            ring.advance();
        }
    }
}

template <class C>
__device__ __forceinline__ void role_load_weights(SharedStorage<C> &smem, const xsti_moe_params &p,
                                                  const xsti_moe_stream &stream, xsti_fault *fault)
{
    /* Steps before a tile's last load. The computing warps ask for the next tile when they have LATE_STEPS left. */
    constexpr uint32_t CLAIM_AHEAD = 8, SETTLE_AHEAD = 4;
    static_assert(SETTLE_AHEAD > LATE_STEPS, "the next tile is settled before anybody asks");
    Gate gate = {fault, XSTI_MOE_ROLE_LOAD_B, true};
    Claimer<C> walk(smem, stream, p.ticket);
    Ring<C::STAGES> ring;
    walk.settle(gate);
    while (gate.open && walk.more) {
        const Task<C> task = walk.task;
        const uint32_t steps = depth_steps<C>(p, task.linear);
        test_pause(p, XSTI_MOE_ROLE_LOAD_B, task.index);
        for (uint32_t step = 0; step < steps && gate.open; step++) {
            if (step == (steps > CLAIM_AHEAD ? steps - CLAIM_AHEAD : 0))
                walk.claim();
            if (step == (steps > SETTLE_AHEAD ? steps - SETTLE_AHEAD : 0))
                walk.settle(gate);
            const uint32_t full = begin_stage(smem, gate, ring, C::B_BYTES);
            load_weights(task, task.linear == 1 ? &p.w1 : &p.w2, shared_address(smem.b[ring.stage]), full,
                         step * C::DEPTH);
            ring.advance();
        }
    }
}

} // namespace xst

#endif
