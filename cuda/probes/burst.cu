/* SPDX-License-Identifier: Apache-2.0
 *
 * burst.cu - the burst probe: K producers (CTAs) write bursts of B bytes, with a gap between them.
 *
 * One kernel per store method. A producer's thread 0 keeps the time: start, [barrier], all threads store, [barrier], issue
 * end. Free-running producers start a burst when their own gap is over, aligned ones at n * period after the common start
 * (or, when late, at once), on the global clock, so that no barrier between producers is needed.
 */
#include "probes/common.cuh"

namespace xst {

struct timeline {
    uint64_t common_ns; /* the common start, on the global clock */
    uint64_t start_ns;  /* this producer's own start, as it saw it */
    uint64_t origin;    /* its SM's clock at that moment */
    xsti_burst_times *times;
};

/* Common start, then the time origin. All threads; false: give up. */
__device__ __forceinline__ bool begin(const xsti_burst_params &p, timeline &line)
{
    __shared__ uint64_t common_ns;
    if (threadIdx.x == 0)
        common_ns = common_start(p.start);
    __syncthreads();
    line.start_ns = global_ns();
    line.origin = clock_cycles();
    line.common_ns = common_ns;
    return line.common_ns != 0;
}

/* Thread 0 waits for the start of burst b; everybody leaves together. */
__device__ __forceinline__ void await_burst(const xsti_burst_params &p, const timeline &line, uint32_t burst,
                                            uint64_t free_from)
{
    if (threadIdx.x == 0) {
        if (burst > 0 && p.gap_cycles > 0)
            wait_until(free_from + p.gap_cycles);
        if (p.period_ns > 0)
            while (global_ns() < line.common_ns + static_cast<uint64_t>(burst) * p.period_ns) {
            }
    }
    __syncthreads();
}

/* Thread 0, after the fence of the last burst. */
__device__ __forceinline__ void finish(const xsti_burst_params &p, const timeline &line)
{
    if (threadIdx.x == 0) {
        const uint64_t end = clock_cycles();
        const uint64_t end_ns = global_ns();
        xsti_burst_record *const record =
            reinterpret_cast<xsti_burst_record *>(p.records + blockIdx.x * p.record_stride);
        record->start_ns = line.start_ns;
        record->end_ns = end_ns;
        record->cycles = end - line.origin;
        record->fenced = static_cast<uint32_t>(end - line.origin);
        record->sm_id = sm_id();
        record->done = 1;
    }
    __syncthreads();
    uint32_t *const out =
        reinterpret_cast<uint32_t *>(p.records + blockIdx.x * p.record_stride + sizeof(xsti_burst_record));
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
        const uint64_t address = settle(burst_base(p.layout, blockIdx.x, b, last) + w.first);
        const uint32_t word = settle(payload_base(p.layout.seed, blockIdx.x, b) + w.word);
        await_burst(p, line, b, free_from);
        const uint64_t start = clock_cycles();
        if (kWidth == 16)
            store_walk_16(address, word, w, words_per_sweep);
        else
            store_walk_4(address, word, w, words_per_sweep);
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

namespace xst {

/* The copies of a burst: pieces, cut at `chunk` bytes and at the end of staging. Thread 0 writes the list. */
__device__ __forceinline__ void list_copies(const xsti_burst_params &p, xsti_copy *copies)
{
    const xsti_layout &l = p.layout;
    uint64_t row = 0, at = 0;
    uint32_t from = 0;
    for (uint32_t i = 0; i < p.copies; i++) {
        uint32_t now = static_cast<uint32_t>(l.piece - at < p.chunk ? l.piece - at : p.chunk);
        now = now < p.staging - from ? now : p.staging - from;
        copies[i].offset = row + at;
        copies[i].from = from;
        copies[i].bytes = now;
        from = from + now == p.staging ? 0 : from + now;
        at += now;
        if (at == l.piece) {
            at = 0;
            row += l.pitch;
        }
    }
}

/* Warp 0 issues a burst, lane by lane; every lane commits its own copies. */
__device__ __forceinline__ void issue_copies(const xsti_burst_params &p, const xsti_copy *copies, uint64_t base,
                                             uint32_t staging)
{
    for (uint32_t i = threadIdx.x; i < p.copies; i += 32)
        bulk_store(base + copies[i].offset, staging + copies[i].from, copies[i].bytes);
    bulk_commit();
    __syncwarp();
}

} // namespace xst

/* Staging is filled once with the payload of the last burst: what is sent does not change the path, and the last burst lands
 * in a region of its own, where every byte is checked. Shared memory: staging, list of copies, times. */
extern "C" __global__ void __launch_bounds__(1024) xst_burst_bulk(const __grid_constant__ xsti_burst_params p)
{
    using namespace xst;
    extern __shared__ __align__(128) unsigned char shared[];
    xsti_copy *const copies = reinterpret_cast<xsti_copy *>(shared + p.staging);
    timeline line;
    line.times = reinterpret_cast<xsti_burst_times *>(copies + p.copies);
    const uint32_t last = p.bursts - 1;
    const uint32_t staging = shared_address(shared);
    uint64_t free_from = 0;
    fill_staging(shared, p.staging, payload_base(p.layout.seed, blockIdx.x, last));
    if (threadIdx.x == 0)
        list_copies(p, copies);
    __syncthreads();
    if (!begin(p, line))
        return;
    for (uint32_t b = 0; b < p.bursts; b++) {
        const uint64_t base = settle(burst_base(p.layout, blockIdx.x, b, last));
        await_burst(p, line, b, free_from);
        const uint64_t start = clock_cycles();
        /* What a kernel does when its tile is in staging: publish it to the bulk engine, meet, let one warp issue. */
        fence_proxy_async_shared();
        __syncthreads();
        if (threadIdx.x < 32) {
            issue_copies(p, copies, base, staging);
            const uint64_t issued = clock_cycles();
            bulk_wait_read_all();
            __syncwarp();
            free_from = clock_cycles();
            if (threadIdx.x == 0) {
                line.times[b].start = static_cast<uint32_t>(start - line.origin);
                line.times[b].issue_end = static_cast<uint32_t>(issued - line.origin);
                line.times[b].release = static_cast<uint32_t>(free_from - line.origin);
            }
        }
    }
    if (threadIdx.x < 32) {
        bulk_wait_all();
        fence_sys();
        __syncwarp();
    }
    finish(p, line);
}
