/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_tensor.cuh - the instructions of the tensor-core kernels, one wrapper each: tensor TMA, barrier waits, named barriers,
 * register budgets, matrix stores. sm_90a. wgmma has a file of its own, mma.cuh.
 */
#ifndef XST_DEVICE_PTX_TENSOR_CUH
#define XST_DEVICE_PTX_TENSOR_CUH

#include <stdint.h>

#include "device/ptx.cuh"

namespace xst {

/* ---- tensor (TMA) loads ---- */

/* L2 eviction priorities, the constants createpolicy.fractional gives for 100 %. */
constexpr uint64_t POLICY_EVICT_NORMAL = 0x1000000000000000ull;
constexpr uint64_t POLICY_EVICT_FIRST = 0x12F0000000000000ull;
constexpr uint64_t POLICY_EVICT_LAST = 0x14F0000000000000ull;

__device__ __forceinline__ void tensor_map_prefetch(const void *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void tensor_load_5d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                               int c2, int c3, int c4, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(policy)
                 : "memory");
}

__device__ __forceinline__ void tensor_load_2d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                               uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "l"(policy)
                 : "memory");
}

__device__ __forceinline__ void tensor_load_3d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                               int c2, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "l"(policy)
                 : "memory");
}

/* The same into the same place of every CTA of the cluster whose bit is set; each CTA's own barrier counts the bytes. */
__device__ __forceinline__ void tensor_share_2d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                                uint16_t ctas, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "h"(ctas), "l"(policy)
                 : "memory");
}

__device__ __forceinline__ void tensor_share_3d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                                int c2, uint16_t ctas, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "h"(ctas), "l"(policy)
                 : "memory");
}

__device__ __forceinline__ void tensor_share_5d(uint32_t to_shared, const void *map, uint32_t barrier, int c0, int c1,
                                                int c2, int c3, int c4, uint16_t ctas, uint64_t policy)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8, %9;" ::"r"(to_shared),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "h"(ctas), "l"(policy)
                 : "memory");
}

/* ---- clusters ---- */

/* A shared-memory address of this CTA as CTA `rank` of the cluster has it. */
__device__ __forceinline__ uint32_t cluster_address(uint32_t shared, uint32_t rank)
{
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(rank));
    return address;
}

/* All threads of all CTAs of the cluster. */
__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/* The same in two steps: what the others do in between is not waited for. */
__device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

/* Into shared memory of any CTA of the cluster, counted by that CTA's barrier. */
__device__ __forceinline__ void shared_store_async_4(uint32_t address, uint32_t value, uint32_t barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address), "r"(value),
                 "r"(barrier)
                 : "memory");
}

/* On a barrier of any CTA of the cluster. For stages whose readers are tensor cores: nothing written is handed on. (A release at
 * the cluster's scope would be a fence of the whole device, each time.) */
__device__ __forceinline__ void barrier_arrive_cluster(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* ---- transaction barriers ---- */

__device__ __forceinline__ void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Sleeps in hardware for a while before it answers no. */
__device__ __forceinline__ bool barrier_try_wait(uint32_t barrier, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done != 0;
}

/* ---- named barriers (0 is __syncthreads) ---- */

__device__ __forceinline__ void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Whether `yes` holds for all of them. */
__device__ __forceinline__ bool named_all(int id, int threads, bool yes)
{
    uint32_t all;
    asm volatile("{\n .reg .pred p, q;\n setp.ne.u32 q, %1, 0;\n barrier.cta.red.and.pred p, %2, %3, q;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(all)
                 : "r"(static_cast<uint32_t>(yes)), "r"(id), "r"(threads)
                 : "memory");
    return all != 0;
}

/* ---- register budget of a warpgroup: all four warps call it ---- */

template <int Registers> __device__ __forceinline__ void registers_lower()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

template <int Registers> __device__ __forceinline__ void registers_raise()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/* ---- arithmetic ---- */

__device__ __forceinline__ float exp2_approx(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float reciprocal_approx(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Two floats to bf16, round to nearest even; `low` goes to the lower half. */
__device__ __forceinline__ uint32_t pack_bf16(float low, float high)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/* Two floats to e4m3, round to nearest even, beyond 448 to 448; `low` goes to the lower byte. */
__device__ __forceinline__ uint16_t pack_e4m3(float low, float high)
{
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
}

/* ---- plain loads ---- */

__device__ __forceinline__ uint4 load_16(uint64_t address)
{
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address)
                 : "memory");
    return v;
}

/* Of data that nobody writes during the launch. */
__device__ __forceinline__ float load_constant_float(uint64_t address)
{
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(address));
    return v;
}

/* Of data that other SMs wrote in this launch: never from L1. */
__device__ __forceinline__ uint4 load_16_l2(uint64_t address)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address)
                 : "memory");
    return v;
}

/* ---- flags ---- */

__device__ __forceinline__ uint32_t load_acquire_gpu_u32(uint64_t address)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void add_release_gpu_u32(uint64_t address, uint32_t value)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void store_release_sys_u64(uint64_t address, uint64_t value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/* Behind a fence_sys this is a release too, and several of them need only the one fence. */
__device__ __forceinline__ void store_relaxed_sys_u64(uint64_t address, uint64_t value)
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ uint64_t load_acquire_sys_u64(uint64_t address)
{
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

/* Counts up to `last`, then starts again at 0; answers the count before. */
__device__ __forceinline__ uint32_t wrap_acq_rel_gpu_u32(uint32_t *address, uint32_t last)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(last) : "memory");
    return before;
}

/* ---- fences between ordinary accesses and those of the bulk engine ---- */

/* Of global memory. (Without the state space it is a fence of the whole device as well.) */
__device__ __forceinline__ void fence_proxy_async_global()
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* ---- bulk copies: all but the newest `Pending` groups of this thread ---- */

/* have written their destination */
template <int Pending> __device__ __forceinline__ void bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

/* ---- shared memory ---- */

/* Four 8x8 matrices of 16-bit values; lane i gives the address of row i % 8 of matrix i / 8. */
__device__ __forceinline__ void matrix_store_4(uint32_t address, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0), "r"(r1),
                 "r"(r2), "r"(r3)
                 : "memory");
}

__device__ __forceinline__ float shared_load_float(uint32_t address)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
    return v;
}

__device__ __forceinline__ void shared_store_2(uint32_t address, uint16_t value)
{
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
}

__device__ __forceinline__ uint64_t shared_load_8(uint32_t address)
{
    uint64_t v;
    asm volatile("ld.shared.b64 %0, [%1];" : "=l"(v) : "r"(address) : "memory");
    return v;
}

__device__ __forceinline__ void shared_store_8(uint32_t address, uint64_t value)
{
    asm volatile("st.shared.b64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

__device__ __forceinline__ uint4 shared_load_16(uint32_t address)
{
    uint4 v;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

} // namespace xst

#endif
