/* SPDX-License-Identifier: Apache-2.0
 *
 * role_tail.cuh - the end of a call: all ranks have stored their rows, then each sums its own.
 *
 * The counters of the blocks are cleared here, behind the flag of this rank itself: then no CTA looks at them any more.
 */
#ifndef XST_MOE_ROLE_TAIL_CUH
#define XST_MOE_ROLE_TAIL_CUH

#include "moe/marks.cuh"
#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

/* One thread of the CTA, behind a barrier of all that loaded and stored. A rank with a fault keeps its flags down: its peers
 * shall not take what it did not finish for an answer. */
__device__ __forceinline__ void tell_finished(const xsti_moe_params &p, uint64_t epoch)
{
    xsti_moe_control *const control = reinterpret_cast<xsti_moe_control *>(p.control);
    fence_sys();
    if (wrap_acq_rel_gpu_u32(&control->finished, gridDim.x - 1) != gridDim.x - 1)
        return;
    fence_sys();
    if (*static_cast<const volatile uint32_t *>(&control->fault.set) != 0)
        return;
    for (int peer = 0; peer < p.ranks; peer++)
        store_release_sys_u64(reinterpret_cast<uint64_t>(
                                  &reinterpret_cast<xsti_moe_control *>(p.buffers[peer])->done[p.rank]),
                              flag_value(p, epoch));
}

__device__ __forceinline__ void tell_left(const xsti_moe_params &p, uint64_t epoch)
{
    xsti_moe_control *const control = reinterpret_cast<xsti_moe_control *>(p.control);
    if (wrap_acq_rel_gpu_u32(&control->left, gridDim.x - 1) == gridDim.x - 1)
        store_release_gpu_u64(&control->epoch, epoch);
}

__device__ __forceinline__ void add_pair(float (&sum)[8], int at, uint32_t pair)
{
    sum[at] += __uint_as_float(pair << 16);
    sum[at + 1] += __uint_as_float(pair & 0xffff0000u);
}

/* Eight columns of one token: slots summed in ascending order. valid: bit s when slot s holds a row. */
__device__ __forceinline__ void combine_columns(const xsti_moe_params &p, uint32_t token, uint32_t column,
                                                uint32_t valid)
{
    constexpr int AHEAD = 8; /* loads under way: the sum of a large call is as fast as memory */
    const uint64_t row_bytes = static_cast<uint64_t>(p.hidden) * 2;
    const uint64_t from = p.combine[p.rank] + static_cast<uint64_t>(token) * p.topk * row_bytes + column * 2;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int first = 0; first < p.topk; first += AHEAD) {
        uint4 part[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (valid >> (first + i) & 1u)
                part[i] = load_16(from + (first + i) * row_bytes);
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (valid >> (first + i) & 1u) {
                add_pair(sum, 0, part[i].x);
                add_pair(sum, 2, part[i].y);
                add_pair(sum, 4, part[i].z);
                add_pair(sum, 6, part[i].w);
            }
    }
    store_16(p.y + token * row_bytes + column * 2, {pack_bf16(sum[0], sum[1]), pack_bf16(sum[2], sum[3]),
                                                    pack_bf16(sum[4], sum[5]), pack_bf16(sum[6], sum[7])});
}

/* The id of slot `lane` of a token; negative where there is none. */
__device__ __forceinline__ int64_t slot_id(const xsti_moe_params &p, uint32_t token, uint32_t lane)
{
    if (token >= static_cast<uint32_t>(p.tokens) || lane >= static_cast<uint32_t>(p.topk))
        return -1;
    return reinterpret_cast<const int64_t *>(p.ids)[static_cast<uint64_t>(token) * p.topk + lane];
}

/* All warps of the grid: one takes 256 columns of a token at a time, and asks for the next token's ids beforehand. */
__device__ __forceinline__ void combine_tokens(const xsti_moe_params &p)
{
    const uint32_t lane = thread_index() % 32, warps = gridDim.x * (ALL_THREADS / 32);
    const uint32_t parts = (p.hidden + 255) / 256, items = p.tokens * parts;
    uint32_t item = blockIdx.x * (ALL_THREADS / 32) + thread_index() / 32;
    int64_t id = slot_id(p, item / parts, lane);
    for (; item < items; item += warps) {
        const uint32_t valid = __ballot_sync(0xffffffffu, id >= 0 && id < p.experts);
        const uint32_t token = item / parts, column = (item - token * parts) * 256 + lane * 8;
        id = slot_id(p, (item + warps) / parts, lane);
        if (column < static_cast<uint32_t>(p.hidden))
            combine_columns(p, token, column, valid);
    }
}

/* All threads of the CTA, each from its own branch of the kernel. Counters: blocks of this call. */
template <class M>
__device__ __forceinline__ void role_tail(const xsti_moe_params &p, uint64_t epoch, uint32_t blocks, bool combine)
{
    xsti_moe_control *const control = reinterpret_cast<xsti_moe_control *>(p.control);
    Gate gate = {&control->fault, XSTI_MOE_ROLE_TAIL, true};
    constexpr int threads = ALL_THREADS;
    const uint32_t own = thread_index(); /* read anew: the roles before need their registers */
    named_sync(NAMED_TAIL, threads);
    if (own == 0)
        tell_finished(p, epoch);
    if (own < 32) {
        __syncwarp();
        wait_flags(p, gate, control->done, epoch, XSTI_MOE_PHASE_FINISHED, own);
        __syncwarp();
    }
    named_sync(NAMED_TAIL, threads);
    M::mark(p.trace, XST_TRACE_PEER);
    const uint32_t all = gridDim.x * threads, thread = blockIdx.x * threads + own;
    for (uint32_t block = thread; block < blocks; block += all) {
        store_4(p.arrived + block * 4, 0);
        store_4(p.ready + block * 4, 0);
        if (p.stream.ring != 0)
            store_4(p.spent + block * 4, 0);
    }
    if (thread < 3)
        store_4(reinterpret_cast<uint64_t>(&control->ticket[thread]), 0);
    if (combine && !gate.faulted())
        combine_tokens(p);
    M::mark(p.trace, XST_TRACE_COMBINE);
    M::close(p.trace);
    named_sync(NAMED_TAIL, threads);
    if (thread_index() == 0)
        tell_left(p, epoch);
}

} // namespace xst

#endif
