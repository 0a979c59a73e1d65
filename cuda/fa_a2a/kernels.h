/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the loaded kernels and the device they are loaded on; launch.c fills it, bench.c allocates and times on it; and the
 * launches with everything that can be asked of them.
 */
#ifndef XST_FA_A2A_KERNELS_H
#define XST_FA_A2A_KERNELS_H

#include <xstage/fa_a2a_kernel.h>

#include "device/trace.h"
#include "gpu/device.h"

enum { XSTI_FA_VARIANT_COUNT = 6 };

enum { XSTI_FA_D64, XSTI_FA_D128, XSTI_FA_D128_PAIRS, XSTI_FA_MODULE_COUNT };

struct xst_fa_a2a_kernels {
    struct xsti_driver driver;
    struct xsti_device device;
    CUmodule modules[XSTI_FA_MODULE_COUNT];
    CUmodule traced_modules[XSTI_FA_MODULE_COUNT]; /* loaded when first asked for */
    CUmodule exchange;
    struct xsti_kernel attention[XSTI_FA_VARIANT_COUNT][3]; /* by store method */
    struct xsti_kernel attention_traced[XSTI_FA_VARIANT_COUNT][3];
    struct xsti_kernel push, push_traced, wait;
};

/* Keys of one inner step. */
int64_t xsti_fa_block_keys(int64_t head_dim, const struct xst_fa_a2a_choice *choice);

/* Once, before a launch with a ring. */
enum xst_status xsti_fa_find_traced(struct xst_fa_a2a_kernels *kernels, struct xst_diag *diag);

/* xst_fa_a2a_launch and push; with limit_us > 0 the kernel itself waits for the peers' deliveries, with a ring it leaves marks
 * there. Tracks of a CTA: attention its computing warps and the sending one, push its warps. */
enum xst_status xsti_fa_launch(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                               const struct xst_fa_a2a_choice *choice, double limit_us,
                               const struct xsti_trace_ring *ring, void *stream, struct xst_diag *diag);
enum xst_status xsti_fa_push(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, uint64_t source,
                             int64_t ctas, double limit_us, const struct xsti_trace_ring *ring, void *stream,
                             struct xst_diag *diag);

#endif
