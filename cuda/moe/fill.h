/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.h - from a call to the kernels' parameters. Plain C, no device.
 */
#ifndef XST_MOE_FILL_H
#define XST_MOE_FILL_H

#include "moe/layout.h"
#include "moe/params.h"

/* Which tiles a kernel walks. */
enum xsti_moe_part { XSTI_MOE_BOTH, XSTI_MOE_LINEAR_1, XSTI_MOE_LINEAR_2 };

/* Everything but the tensor maps. Valid when the call is checked; order NULL: what the absent rank needs. */
void xsti_moe_fill(const struct xst_moe_call *call, const struct xst_moe_order *order, enum xsti_moe_part part,
                   const struct xsti_moe_regions *regions, struct xsti_moe_params *params_out);

#endif
