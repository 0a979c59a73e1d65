/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.cuh - the table of contents: roles to warps, registers, barriers.
 *
 *   all warps            role_head.cuh    which rows go where; what this rank will compute
 *   warps 0, 1           role_pull.cuh    rows from their ranks into the pool
 *   warps 2, 3, a lane   role_load.cuh    operand tiles: rows, weights
 *   warpgroups 1, 2      role_math.cuh    64 rows (or 128 columns) each of every tile, then role_store.cuh
 *   all warps            role_tail.cuh    end of the call, sums of the slots
 */
#ifndef XST_MOE_KERNEL_CUH
#define XST_MOE_KERNEL_CUH

#include "moe/marks.cuh"
#include "moe/role_head.cuh"
#include "moe/role_load.cuh"
#include "moe/role_math.cuh"
#include "moe/role_pull.cuh"
#include "moe/role_tail.cuh"

namespace xst {

template <class C> __device__ __forceinline__ void init_barriers(SharedStorage<C> &smem)
{
    for (int s = 0; s < C::STAGES; s++) {
        barrier_init(shared_address(&smem.full[s]), 2);
        barrier_init(shared_address(&smem.empty[s]), C::MATH_WARPS * C::CLUSTER);
    }
    if constexpr (C::SPLIT_SCALE)
        for (int w = 0; w < C::MATH_WARPS / C::GROUPS; w++)
            barrier_init(shared_address(&smem.largest.said[w]), C::GROUPS * 8);
    for (int s = 0; s < TASK_SLOTS; s++) {
        /* of each CTA the row loader and the warps that compute; of the second CTA of two, its weight loader */
        barrier_init(shared_address(&smem.tasks.full[s]), 1);
        barrier_init(shared_address(&smem.tasks.empty[s]), (1 + C::MATH_WARPS) * C::CLUSTER + C::CLUSTER - 1);
    }
    for (int w = 0; w < C::PULL_WARPS; w++)
        for (int i = 0; i < 2; i++)
            barrier_init(shared_address(&smem.pull.landed[w][i]), 1);
}

/* Warpgroup 0. */
template <class C>
__device__ __forceinline__ void serve(SharedStorage<C> &smem, const xsti_moe_params &p, const xsti_moe_stream &stream,
                                      xsti_fault *fault)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp < 2) {
        if constexpr (C::MODE == MODE_FUSED)
            role_pull<C::E4M3, C::PULL_WARPS, C::PULL_BYTES>(p, stream, smem.table, smem.pull, warp, fault);
    } else if (warp == 2) {
        if (lane == 0)
            role_load_rows(smem, p, stream, fault);
    } else {
        if (lane == 0)
            role_load_weights(smem, p, stream, fault);
    }
    __syncwarp();
    MarksOf<C>::Type::mark(p.trace, warp < 2 ? XST_TRACE_PULL : XST_TRACE_IDLE);
}

template <class C> __device__ __forceinline__ void mixture(const xsti_moe_params &p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    SharedStorage<C> &smem = *reinterpret_cast<SharedStorage<C> *>(raw);
    uint32_t *const scratch = reinterpret_cast<uint32_t *>(smem.a);
    static_assert(sizeof(smem.a) >= MOST_EXPERTS * sizeof(uint32_t), "the head's scratch lies in the stages");
    xsti_fault *const fault = &reinterpret_cast<xsti_moe_control *>(p.control)->fault;
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

    using M = typename MarksOf<C>::Type;
    M::open(p.trace);
    if (threadIdx.x == 0) {
        tensor_map_prefetch(&p.x);
        tensor_map_prefetch(&p.act);
        tensor_map_prefetch(&p.w1);
        tensor_map_prefetch(&p.w2);
        init_barriers(smem);
    }
    if (C::MODE == MODE_FUSED)
        head_send(p, scratch, &smem.table[0], call_epoch(p));
    head_receive(p, scratch, smem.table, call_epoch(p), C::MODE == MODE_FUSED);

    xsti_moe_stream stream = p.stream;
    stream.blocks = xsti_moe_first_block(smem.table, p.experts_here);

    if (C::CLUSTER > 1) /* the peer's barriers are there */
        cluster_sync();
    M::mark(p.trace, XST_TRACE_HEAD);
    if (group == 0) {
        registers_lower<C::SERVE_REGISTERS>();
        serve(smem, p, stream, fault);
        if (C::MODE == MODE_FUSED)
            role_tail<M>(p, call_epoch(p), xsti_moe_first_block(smem.table, p.experts_here), true);
        if (C::CLUSTER > 1) /* nobody leaves while the peer may still write here */
            cluster_sync();
    } else {
        registers_raise<C::MATH_REGISTERS>();
        role_math(smem, p, stream, fault, group - 1);
        if (C::MODE == MODE_FUSED)
            role_tail<M>(p, call_epoch(p), xsti_moe_first_block(smem.table, p.experts_here), true);
        if (C::CLUSTER > 1)
            cluster_sync();
    }
}

} // namespace xst

#endif
