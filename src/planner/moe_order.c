/* SPDX-License-Identifier: Apache-2.0
 *
 * From a choice to what the fused kernel is told. Both count the lead and the group in tiles, and the kernel takes its tiles in
 * the order of moe.h's walk, which is the planner's list.
 */
#include <xstage/moe_kernel.h>
#include <xstage/plan.h>

#include "base/diag.h"

enum { KERNEL_COLS = 256, PAIR_ROWS = 256, BF16_BYTES = 2, UNIT_BLOCKS = 8, STAYING_BYTES = 16000000 };

static enum xst_status same(const char *what, int64_t planned, int64_t given, struct xst_diag *diag)
{
    if (planned == given)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe order: %s is %lld in the layer, but was planned as %lld", what,
                     (long long)given, (long long)planned);
}

static enum xst_status check(const struct xst_moe_setup *setup, const struct xst_moe_layer *layer,
                             struct xst_diag *diag)
{
    const int64_t tile_rows = setup->plan.tile_rows;
    XSTI_TRY(same("hidden", setup->shape.hidden, layer->hidden, diag));
    XSTI_TRY(same("inter", setup->shape.inter, layer->inter, diag));
    XSTI_TRY(same("experts", setup->shape.experts, layer->experts, diag));
    XSTI_TRY(same("topk", setup->shape.topk, layer->topk, diag));
    XSTI_TRY(same("ranks", setup->shape.ranks, layer->ranks, diag));
    XSTI_TRY(same("ctas", setup->plan.producers * (tile_rows == PAIR_ROWS ? 2 : 1), layer->ctas, diag));
    if (tile_rows != 64 && tile_rows != 128 && tile_rows != PAIR_ROWS)
        return xsti_fail(diag, XST_ERR_RANGE, "moe order: planned for tile_rows %lld, the kernel has 64, 128 and 256",
                         (long long)tile_rows);
    if ((layer->dtype == XST_MOE_E4M3) != (setup->operand_bytes == 1))
        return xsti_fail(diag, XST_ERR_RANGE, "moe order: planned for operands of %lld bytes, the layer's dtype is %s",
                         (long long)setup->operand_bytes, layer->dtype == XST_MOE_E4M3 ? "e4m3" : "bf16");
    if (setup->plan.tile_cols != KERNEL_COLS || setup->shape.element_bytes != BF16_BYTES)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe order: planned for tile_cols %lld and %lld bytes an element, the kernel has %d and %d",
                         (long long)setup->plan.tile_cols, (long long)setup->shape.element_bytes, KERNEL_COLS,
                         BF16_BYTES);
    return XST_OK;
}

/* H200, 8,192 tokens: 33 MB of Linear-1 weights an expert, 5,150 us block by block and 4,274 in units of 8; 6 MB, 3 % more in
 * units (cuda/moe/README.md). */
int64_t xst_moe_unit_of(const struct xst_moe_shape *shape)
{
    const double weight_bytes = 2.0 * (double)shape->inter * (double)shape->hidden * (double)shape->element_bytes;
    return weight_bytes > STAYING_BYTES ? UNIT_BLOCKS : 1;
}

enum xst_status xst_moe_order_of(const struct xst_moe_setup *setup, const struct xst_moe_choice *choice,
                                 const struct xst_moe_layer *layer, struct xst_moe_order *order_out,
                                 struct xst_diag *diag)
{
    const struct xst_moe_candidate *best = NULL;
    XSTI_TRY(check(setup, layer, diag));
    for (int64_t i = 0; i < choice->count; i++) {
        const struct xst_moe_candidate *const candidate = &choice->candidates[i];
        const int runs =
            candidate->gap == XST_MOE_GAP_NONE && candidate->wave_blocks == 0 && candidate->method != XST_METHOD_ST4;
        if (runs && (!best || candidate->predicted_us < best->predicted_us))
            best = candidate;
    }
    if (!best)
        return xsti_fail(diag, XST_ERR_NO_DATA, "moe order: none of %lld candidates was predicted and can be run",
                         (long long)choice->count);
    const int interleaved = best->schedule == XST_SCHEDULE_INTERLEAVED;
    const int64_t unit = interleaved ? xst_moe_unit_of(&setup->shape) : 1; /* its blocks are finished together */
    *order_out =
        (struct xst_moe_order){.schedule = best->schedule,
                               .lead = interleaved ? best->lead_tiles + (unit > 1 ? unit : 0) * setup->l1_per_block : 1,
                               .group = interleaved ? best->group_tiles : 1,
                               .tile_rows = setup->plan.tile_rows,
                               .store = best->method == XST_METHOD_BULK ? XST_MOE_STORE_PACED : XST_MOE_STORE_AT_ONCE,
                               .slices = best->slices,
                               .unit = unit};
    return XST_OK;
}
