/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.cuh - entry points of the attention kernels, from a list of variants.h: with marks and without.
 */
#ifndef XST_FA_A2A_ENTRIES_CUH
#define XST_FA_A2A_ENTRIES_CUH

#include "fa_a2a/kernel.cuh"
#include "fa_a2a/variants.h"

#define XSTI_FA_CLUSTER_1
#define XSTI_FA_CLUSTER_2 __cluster_dims__(2, 1, 1)
#define XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, name, method, trace)               \
    extern "C" __global__ void XSTI_FA_CLUSTER_##cluster __launch_bounds__(128 + 128 * (groups), 1)                    \
        xst_fa_d##d##_g##groups##_c##cluster##_##name(const __grid_constant__ xsti_fa_params p)                        \
    {                                                                                                                  \
        using C = xst::Config<d, groups, keys, overlap, ping_pong, settle, cluster, method, trace>;                    \
        static_assert(sizeof(xst::SharedStorage<C>) == (shared), "variants.h has another size");                       \
        xst::attention<C>(p);                                                                                          \
    }

/* To be given to a list of variants.h. */
#define XSTI_FA_ENTRIES(d, groups, keys, overlap, ping_pong, settle, cluster, shared)                                  \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, st16, XSTI_FA_STORE_16, false)         \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, bulk, XSTI_FA_BULK, false)             \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, paced, XSTI_FA_PACED, false)

#define XSTI_FA_TRACED_ENTRIES(d, groups, keys, overlap, ping_pong, settle, cluster, shared)                           \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, st16_traced, XSTI_FA_STORE_16, true)   \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, bulk_traced, XSTI_FA_BULK, true)       \
    XSTI_FA_ENTRY(d, groups, keys, overlap, ping_pong, settle, cluster, shared, paced_traced, XSTI_FA_PACED, true)

#endif
