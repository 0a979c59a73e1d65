/* SPDX-License-Identifier: Apache-2.0
 *
 * variants.h - the kernels that compute, in one list: kernel_m64.cu, kernel_m128.cu, kernel_m256.cu and kernel_e4m3.cu instantiate it,
 * launch.c picks from it.
 * C and CUDA.
 *
 * X(tile_rows, mode, store, shared_bytes): kernel xst_moe_m<tile_rows>_<mode>_<store>. shared_bytes is checked against
 * sizeof(SharedStorage) where they are instantiated.
 */
#ifndef XST_MOE_VARIANTS_H
#define XST_MOE_VARIANTS_H

#define XSTI_MOE_VARIANTS_M256(X)                                                                                      \
    X(256, fused, at_once, 232448)                                                                                     \
    X(256, fused, paced, 226304)                                                                                       \
    X(256, one, at_once, 232448)
#define XSTI_MOE_VARIANTS_M128(X)                                                                                      \
    X(128, fused, at_once, 232448)                                                                                     \
    X(128, fused, paced, 226304)                                                                                       \
    X(128, one, at_once, 232448)
#define XSTI_MOE_VARIANTS_M64(X)                                                                                       \
    X(64, fused, at_once, 199680)                                                                                      \
    X(64, fused, paced, 209920)                                                                                        \
    X(64, one, at_once, 199680)

/* Of e4m3: kernel xst_moe_e4m3_m<tile_rows>_<mode>_<store>. */
#define XSTI_MOE_VARIANTS_E4M3(X)                                                                                      \
    X(64, fused, at_once, 199680)                                                                                      \
    X(64, fused, paced, 211968)                                                                                        \
    X(64, one, at_once, 199680)                                                                                        \
    X(128, fused, at_once, 232448)                                                                                     \
    X(128, fused, paced, 228352)                                                                                       \
    X(128, one, at_once, 232448)                                                                                       \
    X(256, fused, at_once, 232448)                                                                                     \
    X(256, fused, paced, 228352)                                                                                       \
    X(256, one, at_once, 232448)

/* Those that also exist with a trace (kernel_traced.cu), of either type: kernel ..._traced. */
#define XSTI_MOE_TRACED_BF16(X)                                                                                        \
    X(128, fused, at_once, 232448)                                                                                     \
    X(128, fused, paced, 226304)
#define XSTI_MOE_TRACED_E4M3(X)                                                                                        \
    X(128, fused, at_once, 232448)                                                                                     \
    X(128, fused, paced, 228352)

#endif
