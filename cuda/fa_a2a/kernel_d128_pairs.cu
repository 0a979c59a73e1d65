/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_d128_pairs.cu - the kernels of head dimension 128 whose CTAs share keys and values in pairs.
 */
#include "fa_a2a/entries.cuh"

XSTI_FA_VARIANTS_D128_PAIRS(XSTI_FA_ENTRIES)
