/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the loaded kernels and the device they are loaded on; launch.c fills it, bench.c allocates and times on it.
 */
#ifndef XST_FA_A2A_KERNELS_H
#define XST_FA_A2A_KERNELS_H

#include <xstage/fa_a2a_kernel.h>

#include "gpu/device.h"

enum { XSTI_FA_VARIANT_COUNT = 4 };

struct xst_fa_a2a_kernels {
    struct xsti_driver driver;
    struct xsti_device device;
    CUmodule d64, d128, exchange;
    struct xsti_kernel attention[XSTI_FA_VARIANT_COUNT][3]; /* by store method */
    struct xsti_kernel push, wait;
    int device_open;
};

#endif
