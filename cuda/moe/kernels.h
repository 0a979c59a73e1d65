/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the loaded kernels and the device they are loaded on; launch.c fills it, the benchmark allocates and times on it.
 */
#ifndef XST_MOE_KERNELS_H
#define XST_MOE_KERNELS_H

#include <xstage/moe_kernel.h>

#include "device/trace.h"
#include "gpu/device.h"

enum { XSTI_MOE_VARIANT_COUNT = 18, XSTI_MOE_TRACED_COUNT = 4 };

struct xst_moe_kernels {
    struct xsti_driver driver;
    struct xsti_device device;
    CUmodule m64, m128, m256, e4m3, parts, brings;
    CUmodule traced_module; /* loaded when first asked for */
    struct xsti_kernel variant[XSTI_MOE_VARIANT_COUNT];
    struct xsti_kernel traced[XSTI_MOE_TRACED_COUNT];
    struct xsti_kernel dispatch, activate, combine, absent, bring;
};

/* Whether an order's kernel exists with a trace: tiles of 128 rows. */
int xsti_moe_has_traced(const struct xst_moe_order *order);

/* Loads the kernels that leave a trace. */
enum xst_status xsti_moe_find_traced(struct xst_moe_kernels *kernels, struct xst_diag *diag);

/* xst_moe_fused by a kernel that leaves a trace in `ring`, which has XSTI_MOE_TRACKS tracks a CTA; find_traced was called. */
enum xst_status xsti_moe_fused_traced(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                      const struct xst_moe_order *order, const struct xsti_trace_ring *ring,
                                      void *stream, struct xst_diag *diag);

#endif
