/* SPDX-License-Identifier: Apache-2.0
 *
 * bystander.cu - what an accepted burst costs others: right after a burst, or some time later, thread 0 of every producer does
 * one operation on local memory and times it.
 *
 * Lines of local memory are fresh in every run (the host moves `local` on), so that `load` and the bulk loads are served by
 * device memory; `loadL2` and `loadL1` touch their line beforehand.
 */
#include <xstage/sample.h>

#include "probes/common.cuh"

namespace xst {

enum { kLoadBytes4K = 4096, kLoadBytes64K = 65536 };

struct op_state {
    uint64_t address;
    uint32_t landing; /* shared memory of bulk loads */
    uint32_t barrier;
};

/* Bulk load and bounded wait; false: the wait ran out. */
__device__ __forceinline__ bool load_bulk(const xsti_bystander_params &p, const op_state &s, uint32_t bytes)
{
    const uint64_t limit = clock_cycles() + p.start.limit_cycles;
    barrier_arrive_expect(s.barrier, bytes);
    bulk_load(s.landing, s.address, bytes, s.barrier);
    while (!barrier_test(s.barrier, 0)) {
        if (clock_cycles() > limit) {
            record_fault(reinterpret_cast<xsti_fault *>(p.start.fault), XSTI_PROBE_ROLE_LOADER, 0,
                         XSTI_PROBE_PHASE_LOAD, bytes, 0);
            return false;
        }
    }
    return true;
}

/* The operation; its value is stored to shared memory, so that the clock read behind it waits for it. */
__device__ __forceinline__ bool perform(const xsti_bystander_params &p, const op_state &s, volatile uint32_t *sink)
{
    switch (p.op) {
    case XST_BYSTANDER_OP_LOAD:
        *sink = load_4_l1(s.address);
        return true;
    case XST_BYSTANDER_OP_LOAD_L2:
        *sink = load_4_l2(s.address);
        return true;
    case XST_BYSTANDER_OP_LOAD_L1:
        *sink = load_4_l1(s.address);
        return true;
    case XST_BYSTANDER_OP_BULKLOAD4K:
        return load_bulk(p, s, kLoadBytes4K);
    case XST_BYSTANDER_OP_BULKLOAD64K:
        return load_bulk(p, s, kLoadBytes64K);
    case XST_BYSTANDER_OP_ATOMIC:
        *sink = add_relaxed_gpu_u32(s.address, 1);
        return true;
    default:
        store_4(s.address, 1);
        fence_sys();
        return true;
    }
}

__device__ __forceinline__ void touch(const xsti_bystander_params &p, const op_state &s, volatile uint32_t *sink)
{
    if (p.op == XST_BYSTANDER_OP_LOAD_L2)
        *sink = load_4_l2(s.address);
    if (p.op == XST_BYSTANDER_OP_LOAD_L1)
        *sink = load_4_l1(s.address);
}

} // namespace xst

extern "C" __global__ void __launch_bounds__(1024) xst_bystander(const __grid_constant__ xsti_bystander_params p)
{
    using namespace xst;
    /* staging of a bulk burst, or landing of a bulk load: first one, then the other */
    extern __shared__ __align__(128) unsigned char shared[];
    __shared__ uint64_t barrier_room;
    __shared__ uint32_t started;
    __shared__ volatile uint32_t sink;
    const walk w = make_walk(p.layout, threadIdx.x, blockDim.x, 16);
    const uint32_t payload = payload_base(p.layout.seed, blockIdx.x, 0);
    const uint64_t base = settle(burst_base(p.layout, blockIdx.x, 0, 0));
    const uint64_t address = settle(base + w.first);
    const uint32_t word = settle(payload + w.word);
    const op_state state = {p.local + blockIdx.x * p.local_stride, shared_address(shared + p.staging),
                            shared_address(&barrier_room)};
    if (p.bulk)
        fill_staging(shared, p.staging, payload);
    if (threadIdx.x == 0) {
        barrier_init(state.barrier, 1);
        started = common_start(p.start) != 0;
        /* After the start, whose acquiring loads empty the L1. */
        touch(p, state, &sink);
    }
    __syncthreads();
    if (!started)
        return;
    const uint64_t start = clock_cycles();
    if (p.bulk) {
        fence_proxy_async_shared();
        __syncthreads();
        if (threadIdx.x == 0 && p.layout.bytes > 0) {
            bulk_block(base, shared_address(shared), p.chunk, p.staging);
            bulk_commit();
        }
    } else {
        store_walk_16(address, word, w, blockDim.x * 4);
    }
    __syncthreads();
    const uint64_t issued = clock_cycles();
    if (threadIdx.x == 0) {
        if (p.delay_cycles > 0)
            wait_until(issued + p.delay_cycles);
        const uint64_t before = clock_cycles();
        const bool good = perform(p, state, &sink);
        const uint64_t after = clock_cycles();
        if (p.bulk)
            bulk_wait_all();
        xsti_bystander_record *const record = reinterpret_cast<xsti_bystander_record *>(p.records) + blockIdx.x;
        record->issue = static_cast<uint32_t>(issued - start);
        record->op = static_cast<uint32_t>(after - before);
        record->sm_id = sm_id();
        record->done = good ? 1 : 0;
    }
}
