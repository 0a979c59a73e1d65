/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_traced_d128_pairs.cu - the kernels of head dimension 128 that work in pairs and leave a trace.
 */
#include "fa_a2a/entries.cuh"

XSTI_FA_VARIANTS_D128_PAIRS(XSTI_FA_TRACED_ENTRIES)
