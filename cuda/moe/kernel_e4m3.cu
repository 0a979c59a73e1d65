/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_e4m3.cu - the kernels of e4m3 operands, with tiles of 64 or 128 rows, or of 256 by two CTAs each; kernel.cuh is the kernel.
 */
#include "moe/kernel.cuh"
#include "moe/variants.h"

namespace {

enum { STORE_at_once = XSTI_MOE_AT_ONCE, STORE_paced = XSTI_MOE_PACED };
enum { MODE_fused = xst::MODE_FUSED, MODE_one = xst::MODE_ONE };

} // namespace

#define KERNEL(rows, mode, store, shared)                                                                              \
    extern "C" __global__ void __cluster_dims__(rows > 128 ? 2 : 1, 1, 1) __launch_bounds__(384, 1)                    \
        xst_moe_e4m3_m##rows##_##mode##_##store(const __grid_constant__ xsti_moe_params p)                             \
    {                                                                                                                  \
        using C = xst::Config<rows, STORE_##store, MODE_##mode, XSTI_MOE_E4M3>;                                        \
        static_assert(sizeof(xst::SharedStorage<C>) == (shared), "variants.h has another size");                       \
        xst::mixture<C>(p);                                                                                            \
    }

XSTI_MOE_VARIANTS_E4M3(KERNEL)
