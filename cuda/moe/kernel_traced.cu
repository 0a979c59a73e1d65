/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_traced.cu - kernels that leave a trace: tiles of 128 rows, either type, either store; kernel.cuh is the kernel.
 */
#include "moe/kernel.cuh"
#include "moe/variants.h"

namespace {

enum { STORE_at_once = XSTI_MOE_AT_ONCE, STORE_paced = XSTI_MOE_PACED };
enum { MODE_fused = xst::MODE_FUSED };

} // namespace

#define KERNEL(prefix, type, rows, mode, store, shared)                                                                \
    extern "C" __global__ void __launch_bounds__(384, 1)                                                               \
        prefix##_m##rows##_##mode##_##store##_traced(const __grid_constant__ xsti_moe_params p)                        \
    {                                                                                                                  \
        using C = xst::Config<rows, STORE_##store, MODE_##mode, type, true>;                                           \
        static_assert(sizeof(xst::SharedStorage<C>) == (shared), "variants.h has another size");                       \
        xst::mixture<C>(p);                                                                                            \
    }
#define BF16(rows, mode, store, shared) KERNEL(xst_moe, XSTI_MOE_BF16, rows, mode, store, shared)
#define E4M3(rows, mode, store, shared) KERNEL(xst_moe_e4m3, XSTI_MOE_E4M3, rows, mode, store, shared)

XSTI_MOE_TRACED_BF16(BF16)
XSTI_MOE_TRACED_E4M3(E4M3)
