/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.h - the tensor maps through which the kernels load rows and weights.
 */
#ifndef XST_MOE_MAPS_H
#define XST_MOE_MAPS_H

#include "gpu/device.h"
#include "moe/layout.h"
#include "moe/params.h"

/* Fills the four maps of `params`, whose other fields are filled. */
enum xst_status xsti_moe_maps(const struct xsti_device *device, const struct xst_moe_call *call,
                              const struct xsti_moe_regions *regions, struct xsti_moe_params *params,
                              struct xst_diag *diag);

#endif
