/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_d64.cu - the kernels of head dimension 64; kernel.cuh is the kernel.
 */
#include "fa_a2a/kernel.cuh"
#include "fa_a2a/variants.h"

#define KERNEL(d, groups, keys, overlap, ping_pong, settle, shared, store, method)                                     \
    extern "C" __global__ void __launch_bounds__(128 + 128 * (groups), 1)                                              \
        xst_fa_d##d##_g##groups##_##store(const __grid_constant__ xsti_fa_params p)                                    \
    {                                                                                                                  \
        using C = xst::Config<d, groups, keys, overlap, ping_pong, settle, method>;                                    \
        static_assert(sizeof(xst::SharedStorage<C>) == (shared), "variants.h has another size");                       \
        xst::attention<C>(p);                                                                                          \
    }

#define KERNELS(d, groups, keys, overlap, ping_pong, settle, shared)                                                   \
    KERNEL(d, groups, keys, overlap, ping_pong, settle, shared, st16, XSTI_FA_STORE_16)                                \
    KERNEL(d, groups, keys, overlap, ping_pong, settle, shared, bulk, XSTI_FA_BULK)                                    \
    KERNEL(d, groups, keys, overlap, ping_pong, settle, shared, paced, XSTI_FA_PACED)

XSTI_FA_VARIANTS_D64(KERNELS)
