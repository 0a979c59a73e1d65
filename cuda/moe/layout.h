/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - the regions of a symmetric buffer, the public ones and those between the kernels.
 */
#ifndef XST_MOE_LAYOUT_H
#define XST_MOE_LAYOUT_H

#include <xstage/moe_kernel.h>

/* Offsets from the buffer's start; what each holds stands in params.h. */
struct xsti_moe_regions {
    struct xst_moe_layout open;
    uint64_t send, counts, list, copies, arrived, ready, spent, meta, pool_x, pool_act, mid, pool_x_scales, act_scales;
    int64_t local_most; /* experts of the rank that holds most */
    int64_t list_most;  /* choices of one rank, all of which may name one expert */
    int64_t rows_most;  /* of all blocks: blocks of 64, 128 or 256 rows hold rows of one expert each */
    int64_t pool_rows;  /* the same, or the layer's ring, which is less */
    int64_t blocks_most;
};

/* Checks the layer; XST_ERR_RANGE with the field, its value and its bound. */
enum xst_status xsti_moe_regions(const struct xst_moe_layer *layer, struct xsti_moe_regions *regions_out,
                                 struct xst_diag *diag);

/* What a wait of the absent rank needs: layer, rank, tokens, buffers. */
enum xst_status xsti_moe_check_exchange(const struct xst_moe_call *call, struct xst_diag *diag);

/* Of an element of x, weights and activations. */
int64_t xsti_moe_element_bytes(enum xst_moe_dtype dtype);

/* CTAs that compute a tile together. */
int64_t xsti_moe_tile_ctas(int64_t tile_rows);

/* Blocks of a wave at most where a ring holds `ring`: half of them, so that the next wave's rows may come meanwhile, but a unit. 0: no
 * ring, no bound. */
int64_t xsti_moe_wave_most(int64_t ring, int64_t unit);

/* Least lead with which no Linear-2 tile comes before a Linear-1 tile of its block. */
int64_t xsti_moe_least_lead(int64_t l1_per_block, int64_t l2_per_block, int64_t group, int64_t unit);

#endif
