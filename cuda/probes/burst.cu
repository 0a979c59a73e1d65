/* SPDX-License-Identifier: Apache-2.0
 *
 * burst.cu - the burst probe: K producers (CTAs) write bursts of B bytes, with a gap between them.
 *
 * One kernel per store method. A producer's thread 0 keeps the time: start, [barrier], all threads store, [barrier], issue
 * end. Free-running producers start a burst when their own gap is over; aligned ones not before n * period after the common
 * start either, on their own SM's clock, so no barrier between producers is needed.
 */
#include "probes/common.cuh"

namespace xst {

struct timeline {
    uint64_t origin;   /* clock at the common start */
    uint64_t start_ns;
    xsti_burst_times *times;
};

/* Common start, then the time origin. All threads; false: give up. */
__device__ __forceinline__ bool begin(const xsti_burst_params &p, timeline &line)
{
    __shared__ uint32_t started;
    if (threadIdx.x == 0)
        started = common_start(p.start) ? 1 : 0;
    __syncthreads();
    line.start_ns = global_ns();
    line.origin = clock_cycles();
    return started != 0;
}

/* Thread 0 waits for the start of burst b; everybody leaves together. */
__device__ __forceinline__ void await_burst(const xsti_burst_params &p, const timeline &line, uint32_t burst,
                                            uint64_t free_from)
{
    if (threadIdx.x == 0) {
        if (burst > 0 && p.gap_cycles > 0)
            wait_until(free_from + p.gap_cycles);
        if (p.period_cycles > 0)
            wait_until(line.origin + static_cast<uint64_t>(burst) * p.period_cycles);
    }
    __syncthreads();
}

/* Thread 0, after the fence of the last burst. */
__device__ __forceinline__ void finish(const xsti_burst_params &p, const timeline &line)
{
    if (threadIdx.x == 0) {
        const uint64_t end = clock_cycles();
        const uint64_t end_ns = global_ns();
        xsti_burst_record *const record = reinterpret_cast<xsti_burst_record *>(p.records + blockIdx.x * p.record_stride);
        record->start_ns = line.start_ns;
        record->end_ns = end_ns;
        record->cycles = end - line.origin;
        record->fenced = static_cast<uint32_t>(end - line.origin);
        record->sm_id = sm_id();
        record->done = 1;
    }
    __syncthreads();
    uint32_t *const out = reinterpret_cast<uint32_t *>(p.records + blockIdx.x * p.record_stride + sizeof(xsti_burst_record));
    const uint32_t *const in = reinterpret_cast<const uint32_t *>(line.times);
    for (uint32_t i = threadIdx.x; i < p.bursts * (sizeof(xsti_burst_times) / 4); i += blockDim.x)
        out[i] = in[i];
}

template <int kWidth> __device__ __forceinline__ void burst_plain(const xsti_burst_params &p)
{
    extern __shared__ __align__(128) unsigned char shared[];
    timeline line;
    line.times = reinterpret_cast<xsti_burst_times *>(shared);
    const walk w = make_walk(p.layout, threadIdx.x, blockDim.x, kWidth);
    const uint32_t words_per_sweep = blockDim.x * (kWidth / 4);
    const uint32_t last = p.bursts - 1;
    uint64_t free_from = 0;
    if (!begin(p, line))
        return;
    for (uint32_t b = 0; b < p.bursts; b++) {
        const uint64_t base = burst_base(p.layout, blockIdx.x, b, last);
        const uint32_t payload = payload_base(p.layout.seed, blockIdx.x, b);
        await_burst(p, line, b, free_from);
        const uint64_t start = clock_cycles();
        if (kWidth == 16)
            store_walk_16(base, w, payload, words_per_sweep);
        else
            store_walk_4(base, w, payload, words_per_sweep);
        __syncthreads();
        free_from = clock_cycles();
        if (threadIdx.x == 0) {
            line.times[b].start = static_cast<uint32_t>(start - line.origin);
            line.times[b].issue_end = line.times[b].release = static_cast<uint32_t>(free_from - line.origin);
        }
    }
    fence_sys();
    __syncthreads();
    finish(p, line);
}

} // namespace xst

extern "C" __global__ void __launch_bounds__(1024) xst_burst_st16(const __grid_constant__ xsti_burst_params p)
{
    xst::burst_plain<16>(p);
}

extern "C" __global__ void __launch_bounds__(1024) xst_burst_st4(const __grid_constant__ xsti_burst_params p)
{
    xst::burst_plain<4>(p);
}

/* Staging is filled once with the payload of the last burst: what is sent does not change the path, and the last burst lands
 * in a region of its own, where every byte is checked. */
extern "C" __global__ void __launch_bounds__(1024) xst_burst_bulk(const __grid_constant__ xsti_burst_params p)
{
    using namespace xst;
    extern __shared__ __align__(128) unsigned char shared[];
    timeline line;
    line.times = reinterpret_cast<xsti_burst_times *>(shared + p.staging);
    const uint32_t last = p.bursts - 1;
    const uint32_t staging = shared_address(shared);
    uint64_t free_from = 0;
    fill_staging(shared, p.staging, payload_base(p.layout.seed, blockIdx.x, last));
    __syncthreads();
    if (!begin(p, line))
        return;
    for (uint32_t b = 0; b < p.bursts; b++) {
        const uint64_t base = burst_base(p.layout, blockIdx.x, b, last);
        await_burst(p, line, b, free_from);
        const uint64_t start = clock_cycles();
        /* What a kernel does when its tile is in staging: publish it to the bulk engine, meet, let one thread issue. */
        fence_proxy_async_shared();
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_walk(base, p.layout, staging, p.staging, p.chunk, p.layout.bytes);
            bulk_commit();
            const uint64_t issued = clock_cycles();
            bulk_wait_read_all();
            free_from = clock_cycles();
            line.times[b].start = static_cast<uint32_t>(start - line.origin);
            line.times[b].issue_end = static_cast<uint32_t>(issued - line.origin);
            line.times[b].release = static_cast<uint32_t>(free_from - line.origin);
        }
    }
    if (threadIdx.x == 0) {
        bulk_wait_all();
        fence_sys();
    }
    finish(p, line);
}
