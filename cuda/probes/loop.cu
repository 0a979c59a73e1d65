/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.cu - a load loop beside senders: on every SM one warp loads from local memory over and over for a span and times each
 * load, while on the first `senders` SMs the other warps send, in one burst or in slices on a clock.
 *
 * The span begins with the first slice, so loads of SMs that send nothing are seen through the whole drain.
 */
#include "probes/common.cuh"

namespace xst {

enum { kWarp = 32 };

/* One slice is `bytes / slices` bytes from `offset` on; contiguous blocks only. */
__device__ __forceinline__ void send_slice(const xsti_loop_params &p, uint64_t base, uint32_t slice, uint32_t thread,
                                           uint32_t threads, uint32_t staging, uint32_t payload)
{
    const uint64_t bytes = p.layout.bytes / p.slices;
    const uint64_t from = base + slice * bytes;
    if (p.bulk) {
        if (thread == 0) {
            bulk_store(from, staging, static_cast<uint32_t>(bytes));
            bulk_commit();
        }
        return;
    }
    uint32_t word = payload + thread * 4;
    for (uint64_t at = static_cast<uint64_t>(thread) * 16; at < bytes; at += static_cast<uint64_t>(threads) * 16) {
        store_16(from + at, make_uint4(word, word + 1, word + 2, word + 3));
        word += threads * 4;
    }
}

/* Sender threads: each waits for the slice's time on its own, no barrier. */
__device__ __forceinline__ void send(const xsti_loop_params &p, uint64_t origin, uint32_t staging)
{
    const uint64_t base = burst_base(p.layout, blockIdx.x, 0, 0);
    const uint32_t payload = payload_base(p.layout.seed, blockIdx.x, 0);
    for (uint32_t slice = 0; slice < p.slices; slice++) {
        wait_until(origin + static_cast<uint64_t>(slice) * p.slice_cycles);
        send_slice(p, base, slice, threadIdx.x - kWarp, blockDim.x - kWarp, staging, payload);
    }
    if (p.bulk && threadIdx.x == kWarp)
        bulk_wait_all();
}

/* The loading thread. */
__device__ __forceinline__ void load(const xsti_loop_params &p, uint64_t origin, uint32_t landing, uint32_t barrier)
{
    const uint64_t from = p.local + blockIdx.x * p.local_stride;
    xsti_loop_record *const record = reinterpret_cast<xsti_loop_record *>(p.records) + blockIdx.x;
    uint64_t sum = 0, at = 0;
    uint32_t most = 0, loads = 0, parity = 0;
    uint64_t now = clock_cycles();
    while (now - origin < p.span_cycles) {
        const uint64_t before = now;
        barrier_arrive_expect(barrier, p.load_bytes);
        bulk_load(landing, from + at, p.load_bytes, barrier);
        while (!barrier_test(barrier, parity)) {
            if (clock_cycles() - before > p.start.limit_cycles) {
                record_fault(reinterpret_cast<xsti_fault *>(p.start.fault), XSTI_PROBE_ROLE_LOADER, 0,
                             XSTI_PROBE_PHASE_LOAD, p.load_bytes, loads);
                return;
            }
        }
        now = clock_cycles();
        const uint32_t took = static_cast<uint32_t>(now - before);
        parity ^= 1;
        sum += took;
        most = took > most ? took : most;
        loads++;
        at += p.load_bytes;
        if (at + p.load_bytes > p.local_stride)
            at = 0;
    }
    record->sum_cycles = sum;
    record->max_cycles = most;
    record->loads = loads;
    record->sm_id = sm_id();
    record->done = 1;
}

} // namespace xst

extern "C" __global__ void __launch_bounds__(1024) xst_loop(const __grid_constant__ xsti_loop_params p)
{
    using namespace xst;
    /* landing of the loads, then staging of a bulk slice */
    extern __shared__ __align__(128) unsigned char shared[];
    __shared__ uint64_t barrier_room;
    __shared__ uint32_t started;
    if (p.bulk && p.layout.bytes > 0)
        fill_staging(shared + p.load_bytes, static_cast<uint32_t>(p.layout.bytes / p.slices),
                     payload_base(p.layout.seed, blockIdx.x, 0));
    if (threadIdx.x == 0) {
        barrier_init(shared_address(&barrier_room), 1);
        started = common_start(p.start) != 0;
    }
    __syncthreads();
    if (!started)
        return;
    const uint64_t origin = clock_cycles();
    if (threadIdx.x == 0)
        load(p, origin, shared_address(shared), shared_address(&barrier_room));
    else if (threadIdx.x >= kWarp && blockIdx.x < p.senders && p.layout.bytes > 0)
        send(p, origin, shared_address(shared + p.load_bytes));
}
