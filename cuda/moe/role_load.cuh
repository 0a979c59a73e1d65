/* SPDX-License-Identifier: Apache-2.0
 *
 * role_load.cuh - two threads that feed the warpgroups, one the rows, one the weights. Weights are loaded ahead without asking;
 * rows when they are there: of the pool when all of a block have arrived, of Linear 1 when all its tiles are stored.
 */
#ifndef XST_MOE_ROLE_LOAD_CUH
#define XST_MOE_ROLE_LOAD_CUH

#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

/* Tests: an uneven pause before a task. */
__device__ __forceinline__ void test_pause(const xsti_moe_params &p, uint32_t role, uint32_t index)
{
    if (p.delay_ns != 0)
        __nanosleep(((index * 2654435761u) ^ (role * 40503u + p.seed) * 2246822519u) % p.delay_ns);
}

/* Steps of a tile of `linear`. */
__device__ __forceinline__ uint32_t depth_steps(const xsti_moe_params &p, uint32_t linear)
{
    return static_cast<uint32_t>(linear == 1 ? p.hidden : p.inter) / XSTI_MOE_TILE_DEPTH;
}

template <class C>
__device__ __forceinline__ void role_load_rows(SharedStorage<C> &smem, const xsti_moe_params &p,
                                               const xsti_moe_stream &stream, xsti_fault *fault)
{
    Gate gate = {fault, XSTI_MOE_ROLE_LOAD_A, true};
    Ring<C::STAGES> ring;
    xsti_moe_cursor cursor = {0, 0, 0};
    const uint32_t tiles = xsti_moe_tiles(&stream);
    for (uint32_t index = blockIdx.x; index < tiles && gate.open; index += gridDim.x) {
        const xsti_moe_task task = xsti_moe_task_at(&stream, smem.table, &cursor, index);
        test_pause(p, XSTI_MOE_ROLE_LOAD_A, index);
        if (C::MODE == MODE_FUSED && task.linear == 1) {
            const uint32_t expert = xsti_moe_expert_of(&stream, smem.table, task.block);
            gate.counter(p.arrived + task.block * 4, xsti_moe_rows_of(&stream, smem.table, expert, task.block),
                         XSTI_MOE_PHASE_ROWS, task.block);
        } else if (C::MODE == MODE_FUSED) {
            gate.counter(p.ready + task.block * 4, stream.n1 * C::MATH_WARPS, XSTI_MOE_PHASE_TILES, task.block);
        }
        const void *const map = task.linear == 1 ? &p.x : &p.act;
        const uint32_t steps = depth_steps(p, task.linear);
        for (uint32_t step = 0; step < steps && gate.open; step++) {
            const uint32_t full = shared_address(&smem.full[ring.stage]);
            gate.barrier(shared_address(&smem.empty[ring.stage]), ring.parity ^ 1u, XSTI_MOE_PHASE_EMPTY);
            barrier_arrive_expect(full, C::A_BYTES);
            tensor_load_2d(shared_address(smem.a[ring.stage]), map, full, step * XSTI_MOE_TILE_DEPTH,
                           task.block * C::TILE_ROWS, POLICY_EVICT_NORMAL);
            ring.advance();
        }
    }
}

template <class C>
__device__ __forceinline__ void role_load_weights(SharedStorage<C> &smem, const xsti_moe_params &p,
                                                  const xsti_moe_stream &stream, xsti_fault *fault)
{
    Gate gate = {fault, XSTI_MOE_ROLE_LOAD_B, true};
    Ring<C::STAGES> ring;
    xsti_moe_cursor cursor = {0, 0, 0};
    const uint32_t tiles = xsti_moe_tiles(&stream);
    for (uint32_t index = blockIdx.x; index < tiles && gate.open; index += gridDim.x) {
        const xsti_moe_task task = xsti_moe_task_at(&stream, smem.table, &cursor, index);
        const uint32_t expert = xsti_moe_expert_of(&stream, smem.table, task.block);
        test_pause(p, XSTI_MOE_ROLE_LOAD_B, index);
        const void *const map = task.linear == 1 ? &p.w1 : &p.w2;
        const uint32_t steps = depth_steps(p, task.linear);
        for (uint32_t step = 0; step < steps && gate.open; step++) {
            const uint32_t full = shared_address(&smem.full[ring.stage]);
            gate.barrier(shared_address(&smem.empty[ring.stage]), ring.parity ^ 1u, XSTI_MOE_PHASE_EMPTY);
            barrier_arrive_expect(full, C::B_BYTES);
            tensor_load_3d(shared_address(smem.b[ring.stage]), map, full, step * XSTI_MOE_TILE_DEPTH,
                           task.column * XSTI_MOE_TILE_COLS, expert, POLICY_EVICT_NORMAL);
            ring.advance();
        }
    }
}

} // namespace xst

#endif
