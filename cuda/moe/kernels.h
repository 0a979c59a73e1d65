/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the loaded kernels and the device they are loaded on; launch.c fills it, the benchmark allocates and times on it.
 */
#ifndef XST_MOE_KERNELS_H
#define XST_MOE_KERNELS_H

#include <xstage/moe_kernel.h>

#include "gpu/device.h"

enum { XSTI_MOE_VARIANT_COUNT = 15 };

struct xst_moe_kernels {
    struct xsti_driver driver;
    struct xsti_device device;
    CUmodule m64, m128, m256, e4m3, parts;
    struct xsti_kernel variant[XSTI_MOE_VARIANT_COUNT];
    struct xsti_kernel dispatch, activate, combine, absent;
};

#endif
