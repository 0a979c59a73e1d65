/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_exchange.cu - the exchange alone (the unfused baseline), and the wait for the peers' deliveries.
 */
#include "fa_a2a/signal.cuh"

namespace xst {

/* Rows in the order of their owners rank + 1, ..., rank: the sequence from the neighbour's first row on, round to this rank's
 * last. All h heads of a row are contiguous at both ends. Answers the bytes that left the device. */
__device__ __forceinline__ uint32_t push_row(const xsti_fa_params &p, uint64_t flip, int index, uint32_t lane)
{
    const int batch = index / p.seq;
    const int start = p.rank + 1 < p.ranks ? p.row_first[p.rank + 1] : 0;
    const int turned = index % p.seq + start;
    const int row = turned < p.seq ? turned : turned - p.seq;
    int owner = 0;
    while (row >= p.row_first[owner + 1])
        owner++;
    const int first = p.row_first[owner];
    const int64_t line = static_cast<int64_t>(batch) * (p.row_first[owner + 1] - first) + (row - first);
    const uint64_t to = p.out[owner] + flip + (line * p.heads_total + p.head_first) * p.head_bytes;
    const uint64_t from = p.source + (static_cast<int64_t>(batch) * p.seq + row) * p.heads * p.head_bytes;
    const uint32_t chunks = p.heads * p.head_bytes / 16;
    constexpr int AHEAD = 4;
    for (uint32_t chunk = lane; chunk < chunks; chunk += 32 * AHEAD) {
        uint4 value[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (chunk + 32 * i < chunks)
                value[i] = load_16(from + (chunk + 32 * i) * 16);
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (chunk + 32 * i < chunks)
                store_16(to + (chunk + 32 * i) * 16, value[i]);
    }
    return owner == p.rank ? 0 : chunks * 16;
}

template <bool Traced> __device__ __forceinline__ void push(const xsti_fa_params &p)
{
    const uint64_t epoch = call_epoch(p);
    const uint64_t flip = epoch % 2 * p.out_flip_bytes;
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    Trace<Traced> trace;
    trace.open(p.trace, warp, XST_TRACE_ROLE_STORE, 0);
    uint32_t bytes = 0;
    for (int index = blockIdx.x * warps + warp; index < p.batch * p.seq; index += warps * gridDim.x)
        bytes += push_row(p, flip, index, threadIdx.x % 32);
    trace.mark(p.trace, XST_TRACE_ISSUE, TRACE_NO_TILE, bytes);
    __syncthreads();
    if (threadIdx.x == 0)
        publish(p, reinterpret_cast<xsti_fa_control *>(p.control), epoch, trace);
    trace.close(p.trace);
}

} // namespace xst

extern "C" __global__ void __launch_bounds__(512) xst_fa_push(const __grid_constant__ xsti_fa_params p)
{
    xst::push<false>(p);
}

extern "C" __global__ void __launch_bounds__(512) xst_fa_push_traced(const __grid_constant__ xsti_fa_params p)
{
    xst::push<true>(p);
}

/* One thread a peer. */
extern "C" __global__ void __launch_bounds__(128) xst_fa_wait(const __grid_constant__ xsti_fa_wait_params p)
{
    xsti_fa_control *const control = reinterpret_cast<xsti_fa_control *>(p.control);
    const int peer = threadIdx.x;
    if (peer >= p.ranks || peer == p.rank)
        return;
    const uint64_t epoch = p.fixed_epoch != 0 ? p.fixed_epoch : *static_cast<volatile uint64_t *>(&control->epoch);
    xst::wait_peer(control, peer, epoch, p.limit_ns);
}
