/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_d64.cu - the kernels of head dimension 64; kernel.cuh is the kernel.
 */
#include "fa_a2a/entries.cuh"

XSTI_FA_VARIANTS_D64(XSTI_FA_ENTRIES)
