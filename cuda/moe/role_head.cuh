/* SPDX-License-Identifier: Apache-2.0
 *
 * role_head.cuh - the start of a call: every rank tells every other which rows it will want computed.
 *
 * Each CTA counts a share of its rank's ids, reserves that many slots of each expert's list with one addition, and stores its
 * choices into the lists of the experts' owners. The CTA that ends last stores the counts and raises the flags. Nothing here is
 * read by a peer later than its own end of the call, so one copy of lists and counts is enough: a rank that comes with the next
 * call has seen the end of this one from everybody.
 */
#ifndef XST_MOE_ROLE_HEAD_CUH
#define XST_MOE_ROLE_HEAD_CUH

#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

/* Expert of a choice, or -1 where there is none. */
__device__ __forceinline__ int64_t choice_at(const xsti_moe_params &p, uint32_t flat)
{
    const int64_t id = reinterpret_cast<const int64_t *>(p.ids)[flat];
    return id < p.experts ? id : -1;
}

/* An id the model does not have is void, and remembered. */
__device__ __forceinline__ void check_choice(const xsti_moe_params &p, uint32_t flat)
{
    const int64_t id = reinterpret_cast<const int64_t *>(p.ids)[flat];
    if (id >= p.experts)
        record_fault(&reinterpret_cast<xsti_moe_control *>(p.control)->bad_id, XSTI_MOE_ROLE_HEAD, 0, flat, p.experts,
                     id);
}

/* One choice a lane, the choices of a token in neighbouring lanes. Who comes first on a rank is told how many choices of the
 * token there are, of the others where they lie: in the pool's order, which is that of experts and slots. slot: of this choice;
 * id below 0: no choice. */
__device__ __forceinline__ void list_choice(const xsti_moe_params &p, uint32_t flat, uint32_t choice, int64_t id,
                                            uint32_t slot)
{
    constexpr uint32_t NOWHERE = 0xffffffffu;
    const Home home = id >= 0 ? home_of(p, static_cast<uint32_t>(id)) : Home{0, 0};
    const uint32_t where = id >= 0 ? home.rank << 16 | home.local : NOWHERE;
    const uint32_t first = thread_index() % 32 - choice;
    uint32_t together = 0, before = 0;
    for (int other = 0; other < p.topk; other++) {
        const uint32_t there = __shfl_sync(0xffffffffu, where, first + other);
        const uint32_t its_slot = __shfl_sync(0xffffffffu, slot, first + other);
        if (there >> 16 == where >> 16) {
            together++;
            before += there < where || (there == where && its_slot < slot);
        }
    }
    if (id < 0)
        return;
    const uint64_t line = static_cast<uint64_t>(home.local * p.ranks + p.rank) * p.list_most + slot;
    store_4(p.buffers[home.rank] + p.list_at + line * 4, flat | (before == 0 ? together << XSTI_MOE_FLAT_BITS : 0));
    if (before != 0) {
        const uint64_t place = static_cast<uint64_t>(p.rank) * p.list_most + flat - choice + before;
        store_8(p.buffers[home.rank] + p.copies_at + place * sizeof(xsti_moe_copy), {slot, home.local << 8 | choice});
    }
}

/* All threads of the CTA. scratch: a word for each expert of the model, in shared memory. */
__device__ __forceinline__ void list_choices(const xsti_moe_params &p, uint32_t *scratch)
{
    const uint32_t thread = thread_index(), threads = blockDim.x, topk = p.topk;
    const uint32_t tokens = p.tokens, share = (tokens + grid_ctas() - 1) / grid_ctas();
    const uint32_t begin = min(tokens, cta_index() * share), end = min(tokens, begin + share);
    for (uint32_t e = thread; e < static_cast<uint32_t>(p.experts); e += threads)
        scratch[e] = 0;
    __syncthreads();
    for (uint32_t flat = begin * topk + thread; flat < end * topk; flat += threads) {
        const int64_t id = choice_at(p, flat);
        check_choice(p, flat);
        if (id >= 0)
            atomicAdd(&scratch[id], 1u);
    }
    __syncthreads();
    for (uint32_t e = thread; e < static_cast<uint32_t>(p.experts); e += threads)
        if (scratch[e] != 0)
            scratch[e] = add_relaxed_gpu_u32(p.send + e * 4, scratch[e]);
    __syncthreads();
    const uint32_t lane = thread % 32, tokens_a_warp = 32 / topk, in_warp = lane / topk, choice = lane % topk;
    for (uint32_t first = begin + thread / 32 * tokens_a_warp; first < end; first += threads / 32 * tokens_a_warp) {
        const uint32_t flat = (first + in_warp) * topk + choice;
        const int64_t id = in_warp < tokens_a_warp && first + in_warp < end ? choice_at(p, flat) : -1;
        list_choice(p, flat, choice, id, id >= 0 ? atomicAdd(&scratch[id], 1u) : 0);
    }
}

/* All threads of the CTA that came last. */
__device__ __forceinline__ void publish_counts(const xsti_moe_params &p, uint64_t epoch)
{
    for (uint32_t e = threadIdx.x; e < static_cast<uint32_t>(p.experts); e += blockDim.x) {
        const Home home = home_of(p, e);
        const uint32_t count = load_4_l2(p.send + e * 4);
        store_4(p.send + e * 4, 0); /* for the next call */
        store_4(p.buffers[home.rank] + p.counts_at + (home.local * XSTI_MOE_MOST_RANKS + p.rank) * 4, count);
    }
    __syncthreads();
    if (threadIdx.x < static_cast<uint32_t>(p.ranks)) {
        const uint64_t at = p.buffers[threadIdx.x] + offsetof(xsti_moe_control, counted) + p.rank * 8;
        fence_sys();
        store_release_sys_u64(at, flag_value(p, epoch));
    }
}

/* All threads. last: a word of shared memory. */
__device__ __forceinline__ void head_send(const xsti_moe_params &p, uint32_t *scratch, uint32_t *last, uint64_t epoch)
{
    xsti_moe_control *const control = reinterpret_cast<xsti_moe_control *>(p.control);
    list_choices(p, scratch);
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_sys();
        *last = wrap_acq_rel_gpu_u32(&control->headed, gridDim.x - 1) == gridDim.x - 1;
        fence_sys();
    }
    __syncthreads();
    if (*last)
        publish_counts(p, epoch);
}

/* Warp 0: the table of stream.h from the rows of each expert in `scratch`. */
__device__ __forceinline__ void make_table(const xsti_moe_params &p, const uint32_t *scratch, uint32_t *table,
                                           uint32_t lane)
{
    uint32_t blocks = 0;
    for (uint32_t first = 0; first < static_cast<uint32_t>(p.experts_here); first += 32) {
        const uint32_t e = first + lane;
        const uint32_t rows = e < static_cast<uint32_t>(p.experts_here) ? scratch[e] : 0;
        const uint32_t here = (rows + p.stream.tile_rows - 1) / p.stream.tile_rows;
        uint32_t sum = here;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const uint32_t below = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= static_cast<uint32_t>(step))
                sum += below;
        }
        if (e < static_cast<uint32_t>(p.experts_here))
            table[e] =
                xsti_moe_table_entry(blocks + sum - here, here == 0 ? 0 : rows - (here - 1) * p.stream.tile_rows);
        blocks += __shfl_sync(0xffffffffu, sum, 31);
    }
    if (lane == 0)
        table[p.experts_here] = xsti_moe_table_entry(blocks, 0);
}

/* All threads: what this rank will compute. `wait`: for the flags of all ranks; a kernel behind the one that has waited does
 * not. Ends with a barrier; afterwards the bulk engine may write what was scratch. */
__device__ __forceinline__ void head_receive(const xsti_moe_params &p, uint32_t *scratch, uint32_t *table,
                                             uint64_t epoch, bool wait)
{
    const xsti_moe_control *const control = reinterpret_cast<xsti_moe_control *>(p.control);
    Gate gate = {const_cast<xsti_fault *>(&control->fault), XSTI_MOE_ROLE_HEAD, true};
    __syncthreads();
    if (wait && threadIdx.x < 32)
        wait_flags(p, gate, control->counted, epoch, XSTI_MOE_PHASE_COUNTS, threadIdx.x);
    __syncthreads();
    /* After a fault nobody knows what the counts are. */
    const bool good = !gate.faulted();
    for (uint32_t e = threadIdx.x; e < static_cast<uint32_t>(p.experts_here); e += blockDim.x) {
        uint32_t rows = 0;
        for (int source = 0; good && source < p.ranks; source++)
            rows += load_4_l2(p.counts + (e * XSTI_MOE_MOST_RANKS + source) * 4);
        scratch[e] = rows;
    }
    __syncthreads();
    if (threadIdx.x < 32)
        make_table(p, scratch, table, threadIdx.x);
    fence_proxy_async_shared();
    __syncthreads();
}

} // namespace xst

#endif
