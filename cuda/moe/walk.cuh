/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.cuh - how the CTAs share the stream, and how the roles of a CTA stay on the same tile.
 *
 * Tiles are claimed in the stream's order: the first by position, the others from a counter in the control block, one ahead of
 * their loads. The weight-loading thread claims and hands the number to the other roles through a ring in shared memory. What
 * a claimed tile waits for lies before it in the stream, so it was claimed earlier, and whoever claimed it works on it or on
 * something earlier still: the smallest unfinished tile never waits.
 *
 * Two CTAs that share a tile of 256 rows take 128 of them each and load half of the weights each, for both. Where a block has no
 * more than 128 rows they take two columns of it instead, and share the rows: the even column's turn does both, the odd one's
 * nothing. The first CTA of the two claims.
 */
#ifndef XST_MOE_WALK_CUH
#define XST_MOE_WALK_CUH

#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

/* One CTA's part of a tile. */
template <class C> struct Task {
    const xsti_moe_stream &stream;
    const uint32_t *table;
    xsti_moe_cursor cursor;

    uint32_t index;
    uint32_t linear;
    uint32_t block;
    uint32_t expert;
    uint32_t column;    /* this CTA's; one that does not exist has no weights, and nothing is stored */
    uint32_t first_row; /* of the block, this CTA's */
    uint32_t rows;      /* from there on, that exist, up to CTA_ROWS */
    bool same_rows;     /* of both CTAs; else they have the same column */

    /* False: no CTA has anything to do. Indices only rise. */
    __device__ __forceinline__ bool set(uint32_t at)
    {
        const xsti_moe_task task = xsti_moe_task_at(&stream, table, &cursor, at);
        index = at;
        linear = task.linear;
        block = task.block;
        column = task.column;
        expert = xsti_moe_expert_of(&stream, table, block);
        rows = block_rows();
        first_row = 0;
        same_rows = false;
        if constexpr (C::CLUSTER == 2) {
            const uint32_t rank = blockIdx.x % 2;
            same_rows = rows <= C::CTA_ROWS;
            if (same_rows && column % 2 != 0)
                return false;
            if (same_rows) {
                column += rank;
            } else {
                first_row = rank * C::CTA_ROWS;
                rows = rank == 0 ? C::CTA_ROWS : rows - C::CTA_ROWS;
            }
        }
        return true;
    }

    /* This CTA's first row in the pool. */
    __device__ __forceinline__ uint32_t pool_row() const
    {
        return xsti_moe_slot(&stream, block) * C::TILE_ROWS + first_row;
    }

    /* Warps that tell of their part of the block's Linear-1 tiles. */
    __device__ __forceinline__ uint32_t tellers() const
    {
        if (C::CLUSTER == 1)
            return stream.n1 * C::MATH_WARPS;
        return (same_rows ? (stream.n1 + 1) / 2 : stream.n1) * (2 * C::MATH_WARPS);
    }

    /* Rows of the whole block. */
    __device__ __forceinline__ uint32_t block_rows() const
    {
        return xsti_moe_rows_of(&stream, table, expert, block);
    }
};

/* A role that is told. Warp: all lanes of a warp together; else one thread. */
template <class C, bool Warp> struct Follower {
    TaskRing &tasks;
    Task<C> task;
    Ring<TASK_SLOTS> ring;

    __device__ __forceinline__ Follower(SharedStorage<C> &smem, const xsti_moe_stream &stream)
        : tasks(smem.tasks), task{stream, smem.table, {0, 0, 0}}
    {
    }

    /* Goes to the next tile; false at the end. */
    __device__ __forceinline__ bool next(Gate &gate)
    {
        gate.barrier(shared_address(&tasks.full[ring.stage]), ring.parity, XSTI_MOE_PHASE_TASK);
        const uint32_t index = *static_cast<volatile uint32_t *>(&tasks.index[ring.stage]);
        if (Warp)
            __syncwarp();
        if (!Warp || threadIdx.x % 32 == 0) {
            const uint32_t empty = shared_address(&tasks.empty[ring.stage]);
            if (C::CLUSTER == 1)
                barrier_arrive(empty);
            else
                barrier_arrive_cluster(cluster_address(empty, 0));
        }
        ring.advance();
        if (!gate.open || index >= xsti_moe_tiles(&task.stream))
            return false;
        task.set(index);
        return true;
    }
};

/* The thread that claims, and in a cluster its counterpart in the other CTA. */
template <class C> struct Claimer {
    SharedStorage<C> &smem;
    Task<C> task;
    Ring<TASK_SLOTS> ring;
    uint64_t ticket;
    uint32_t claimed;
    bool more; /* the task is one */

    __device__ __forceinline__ Claimer(SharedStorage<C> &smem_, const xsti_moe_stream &stream, uint64_t ticket_)
        : smem(smem_), task{stream, smem_.table, {0, 0, 0}}, ticket(ticket_), claimed(blockIdx.x / C::CLUSTER)
    {
    }

    __device__ __forceinline__ bool leads() const
    {
        return blockIdx.x % C::CLUSTER == 0;
    }

    /* Asks for the tile after this one; nobody waits for the answer until settle(). */
    __device__ __forceinline__ void claim()
    {
        if (leads())
            claimed = gridDim.x / C::CLUSTER + add_relaxed_gpu_u32(ticket, 1);
    }

    __device__ __forceinline__ void hand_out()
    {
        const uint32_t slot = shared_address(&smem.tasks.index[ring.stage]);
        const uint32_t full = shared_address(&smem.tasks.full[ring.stage]);
        if constexpr (C::CLUSTER == 1) {
            *static_cast<volatile uint32_t *>(&smem.tasks.index[ring.stage]) = claimed;
            barrier_arrive(full);
        } else {
            for (uint32_t cta = 0; cta < C::CLUSTER; cta++)
                shared_store_async_4(cluster_address(slot, cta), claimed, cluster_address(full, cta));
        }
    }

    /* Makes the tile that was claimed the task, and tells the other roles. */
    __device__ __forceinline__ void settle(Gate &gate)
    {
        const uint32_t full = shared_address(&smem.tasks.full[ring.stage]);
        if (leads()) {
            gate.barrier(shared_address(&smem.tasks.empty[ring.stage]), ring.parity ^ 1u, XSTI_MOE_PHASE_TASK);
            while (claimed < xsti_moe_tiles(&task.stream) && !task.set(claimed))
                claim();
            hand_out();
        }
        if constexpr (C::CLUSTER == 2) {
            barrier_arrive_expect(full, sizeof(uint32_t));
            if (!leads()) {
                gate.barrier(full, ring.parity, XSTI_MOE_PHASE_TASK);
                claimed = *static_cast<volatile uint32_t *>(&smem.tasks.index[ring.stage]);
                barrier_arrive_cluster(cluster_address(shared_address(&smem.tasks.empty[ring.stage]), 0));
                if (gate.open && claimed < xsti_moe_tiles(&task.stream))
                    task.set(claimed);
            }
        }
        ring.advance();
        more = gate.open && claimed < xsti_moe_tiles(&task.stream);
    }
};

} // namespace xst

#endif
