/* SPDX-License-Identifier: Apache-2.0
 *
 * variants.h - the attention kernels that exist, in one list: kernel_*.cu instantiate it, launch.c picks from it. C and CUDA.
 *
 * X(head_dim, groups, block_keys, overlap, ping_pong, settle, cluster, shared_bytes): three kernels each, one a store method, by
 * the name xst_fa_d<head_dim>_g<groups>_c<cluster>_<store>. cluster 2: pairs of CTAs. shared_bytes is checked against
 * sizeof(SharedStorage) where they are instantiated. Which schedule is best for which shape was measured: README.md.
 */
#ifndef XST_FA_A2A_VARIANTS_H
#define XST_FA_A2A_VARIANTS_H

#define XSTI_FA_VARIANTS_D128(X)                                                                                       \
    X(128, 2, 128, true, false, false, 1, 199680)                                                                      \
    X(128, 3, 80, true, false, true, 1, 185344)
#define XSTI_FA_VARIANTS_D128_PAIRS(X)                                                                                 \
    X(128, 2, 128, true, false, false, 2, 199680)                                                                      \
    X(128, 3, 80, true, false, true, 2, 185344)
#define XSTI_FA_VARIANTS_D64(X)                                                                                        \
    X(64, 2, 192, true, false, false, 1, 134144)                                                                       \
    X(64, 3, 128, true, true, false, 1, 119808)

#endif
