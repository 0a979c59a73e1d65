/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.cuh - the table of contents: roles to warps, registers, barriers, the end of a call.
 *
 *   warp 0, one lane     role_load.cuh    Q, K, V into shared memory
 *   warp 1               role_send.cuh    paced stores only: finished tiles to their owners
 *   warps 2 and 3        nothing          (a register budget is a warpgroup's)
 *   warpgroups 1 ..      role_math.cuh    64 rows each: attention, then role_store.cuh
 */
#ifndef XST_FA_A2A_KERNEL_CUH
#define XST_FA_A2A_KERNEL_CUH

#include "fa_a2a/role_load.cuh"
#include "fa_a2a/role_math.cuh"
#include "fa_a2a/role_send.cuh"
#include "fa_a2a/signal.cuh"

namespace xst {

template <class C> __device__ __forceinline__ void init_barriers(SharedStorage<C> &smem)
{
    for (int g = 0; g < C::GROUPS; g++) {
        barrier_init(shared_address(&smem.q_full[g]), 1);
        barrier_init(shared_address(&smem.q_empty[g]), 4);
    }
    for (int s = 0; s < C::STAGES; s++) {
        barrier_init(shared_address(&smem.k_full[s]), 1);
        barrier_init(shared_address(&smem.k_empty[s]), C::CLUSTER * C::WARPS);
        barrier_init(shared_address(&smem.v_full[s]), 1);
        barrier_init(shared_address(&smem.v_empty[s]), C::CLUSTER * C::WARPS);
    }
    if (C::METHOD == XSTI_FA_PACED) {
        barrier_init(shared_address(&smem.staged), C::WARPS);
        barrier_init(shared_address(&smem.sent), 1);
    }
}

/* A CTA of a pair stays until the other one loads and releases nothing here any more. It does not wait for what follows pair_leaves
 * over there. */
template <class C> __device__ __forceinline__ void pair_leaves()
{
    if constexpr (C::CLUSTER == 2) {
        __syncwarp();
        cluster_arrive();
    }
}

template <class C> __device__ __forceinline__ void pair_ends()
{
    if constexpr (C::CLUSTER == 2) {
        __syncwarp();
        cluster_wait();
    }
}

template <class C> __device__ __forceinline__ void run_math(SharedStorage<C> &smem, const xsti_fa_params &p, int group)
{
    xsti_fa_control *const control = reinterpret_cast<xsti_fa_control *>(p.control);
    const uint64_t epoch = call_epoch(p);
    Math<C> math = {p, &control->fault, shared_address(&smem)};
    math.group = group;
    math.lane = threadIdx.x % 32;
    math.warp = threadIdx.x / 32 % 4;
    math.q_descriptor = descriptor_k_major(matrix_address<C>(math.q_tile()));
    math.q_parity = 0;
    math.flip = epoch % 2 * p.out_flip_bytes;
    math.trace.open(p.trace, group * 4 + math.warp, XST_TRACE_ROLE_MATH, group);

    /* The first turn is warpgroup 0's. */
    if (C::PING_PONG && group == C::GROUPS - 1)
        named_arrive(NAMED_TURN, 256);
    const int tiles = p.tile_first[p.ranks];
    for (int index = blockIdx.x; pair_begins<C>(index) < tiles; index += gridDim.x) {
        if (p.delay_ns != 0)
            __nanosleep((index * 2654435761u + group * 40503u) % p.delay_ns);
        math.tile(tile_of<C>(p, index), index);
    }
    if (C::PING_PONG && group == 0)
        named_sync(NAMED_TURN, 256);

    if (C::METHOD == XSTI_FA_BULK)
        bulk_wait_all();
    named_sync(NAMED_END, C::END_THREADS);
    pair_leaves<C>();
    if (threadIdx.x == 128)
        publish(p, control, epoch, math.trace);
    math.trace.close(p.trace);
}

template <class C> __device__ __forceinline__ void attention(const xsti_fa_params &p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    SharedStorage<C> &smem = *reinterpret_cast<SharedStorage<C> *>(raw);
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);

    if (threadIdx.x == 0) {
        tensor_map_prefetch(&p.q);
        tensor_map_prefetch(&p.k);
        tensor_map_prefetch(&p.v);
        init_barriers(smem);
    }
    if constexpr (C::CLUSTER == 2) {
        __syncwarp();
        cluster_sync(); /* the other CTA's loads may arrive at once */
    } else {
        __syncthreads();
    }

    if (group == 0) {
        registers_lower<C::LOAD_REGISTERS>();
        if (C::METHOD == XSTI_FA_PACED && threadIdx.x / 32 == 1) {
            role_send(smem, p);
            named_arrive(NAMED_END, C::END_THREADS);
        } else if (threadIdx.x == 0) {
            role_load(smem, p);
        }
        pair_leaves<C>();
    } else {
        registers_raise<C::MATH_REGISTERS>();
        run_math(smem, p, group - 1);
    }
    pair_ends<C>();
}

} // namespace xst

#endif
