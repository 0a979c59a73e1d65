/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.h - the tensor maps through which the kernel loads Q, K and V.
 */
#ifndef XST_FA_A2A_MAPS_H
#define XST_FA_A2A_MAPS_H

#include <xstage/fa_a2a_kernel.h>

#include "fa_a2a/params.h"
#include "gpu/device.h"

/* Fills the three maps of `params`. Rows from key_len on (keys) and from seq on (queries) are read as zeros. */
enum xst_status xsti_fa_maps(const struct xsti_device *device, const struct xst_fa_a2a_call *call, int block_keys,
                             int pairs, struct xsti_fa_params *params, struct xst_diag *diag);

#endif
