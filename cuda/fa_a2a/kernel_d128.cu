/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_d128.cu - the kernels of head dimension 128; kernel.cuh is the kernel.
 */
#include "fa_a2a/entries.cuh"

XSTI_FA_VARIANTS_D128(XSTI_FA_ENTRIES)
