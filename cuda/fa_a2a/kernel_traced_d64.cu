/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_traced_d64.cu - the kernels of head dimension 64 that leave a trace.
 */
#include "fa_a2a/entries.cuh"

XSTI_FA_VARIANTS_D64(XSTI_FA_TRACED_ENTRIES)
