/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.h - from a call to the kernel's parameters: the walk over the tiles, the owners, the addresses. Plain C, no device.
 */
#ifndef XST_FA_A2A_FILL_H
#define XST_FA_A2A_FILL_H

#include <xstage/fa_a2a_kernel.h>

#include "fa_a2a/params.h"

/* Everything but the tensor maps. Valid when the call is checked; block_rows = 64 * groups. */
void xsti_fa_fill(const struct xst_fa_a2a_call *call, int block_rows, const struct xst_fa_a2a_choice *choice,
                  struct xsti_fa_params *params_out);

/* CTAs of a launch: choice->ctas, but no more than tiles, and whole pairs. */
int64_t xsti_fa_grid(const struct xst_fa_a2a_choice *choice, int64_t tiles);

/* Whether some pair of neighbouring tiles has two batches. */
int xsti_fa_pairs_split_batches(const struct xst_fa_a2a_call *call, int block_rows);

/* What launch, wait and push share: shape and owners (call.c). */
enum xst_status xsti_fa_check_exchange(const struct xst_fa_a2a_call *call, struct xst_diag *diag);

#endif
