/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric buffer: what lies where, for the largest call.
 */
#include "moe/layout.h"

#include "base/diag.h"
#include "base/whole.h"
#include "moe/params.h"

_Static_assert((int)XST_MOE_MOST_RANKS == (int)XSTI_MOE_MOST_RANKS, "two bounds of the ranks");
_Static_assert((int)XST_MOE_MOST_TOPK == (int)XSTI_MOE_MOST_TOPK, "two bounds of topk");
_Static_assert((int)XST_MOE_MOST_LOCAL_EXPERTS == (int)XSTI_MOE_MOST_LOCAL_EXPERTS, "two bounds of local experts");
_Static_assert((int)XST_MOE_STORE_AT_ONCE == (int)XSTI_MOE_AT_ONCE && (int)XST_MOE_STORE_PACED == (int)XSTI_MOE_PACED,
               "two lists of stores");
_Static_assert((int)XST_MOE_BF16 == (int)XSTI_MOE_BF16 && (int)XST_MOE_E4M3 == (int)XSTI_MOE_E4M3,
               "two lists of types");

enum {
    REGION_ALIGN = 1024,
    MOST_WIDTH = 65536,
    MOST_TOKENS = 1 << XSTI_MOE_TOKEN_BITS,
    MOST_CTAS = 65535,
    LARGEST_BLOCK = 256
};

_Static_assert(MOST_TOKENS *XST_MOE_MOST_TOPK <= 1 << XSTI_MOE_FLAT_BITS, "a choice's number does not fit its entry");

const char *xst_moe_dtype_text(enum xst_moe_dtype dtype)
{
    static const char *const texts[] = {
#define X(NAME, text, bytes) text,
        XST_MOE_DTYPE_MAP(X)
#undef X
    };
    return texts[dtype];
}

int64_t xsti_moe_element_bytes(enum xst_moe_dtype dtype)
{
    static const int64_t bytes_of[] = {
#define X(NAME, text, bytes) bytes,
        XST_MOE_DTYPE_MAP(X)
#undef X
    };
    return bytes_of[dtype];
}

static enum xst_status in_range(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe layer: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

static enum xst_status multiple(const char *field, int64_t value, int64_t of, struct xst_diag *diag)
{
    if (value % of == 0)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe layer: %s is %lld, not a multiple of %lld", field, (long long)value,
                     (long long)of);
}

static enum xst_status check(const struct xst_moe_layer *layer, struct xst_diag *diag)
{
    XSTI_TRY(in_range("hidden", layer->hidden, 128, MOST_WIDTH, diag));
    XSTI_TRY(multiple("hidden", layer->hidden, 128, diag));
    XSTI_TRY(in_range("dtype", layer->dtype, XST_MOE_BF16, XST_MOE_E4M3, diag));
    const int64_t depth = layer->dtype == XST_MOE_E4M3 ? XSTI_MOE_DEPTH_E4M3 : XSTI_MOE_DEPTH_BF16;
    XSTI_TRY(in_range("inter", layer->inter, depth, MOST_WIDTH, diag));
    XSTI_TRY(multiple("inter", layer->inter, depth, diag));
    XSTI_TRY(in_range("topk", layer->topk, 1, XST_MOE_MOST_TOPK, diag));
    XSTI_TRY(in_range("tokens_most", layer->tokens_most, 1, MOST_TOKENS, diag));
    XSTI_TRY(in_range("ranks", layer->ranks, 1, XST_MOE_MOST_RANKS, diag));
    XSTI_TRY(in_range("experts", layer->experts, layer->ranks, layer->ranks * XST_MOE_MOST_LOCAL_EXPERTS, diag));
    XSTI_TRY(in_range("ring", layer->ring, 0, INT32_MAX / 64 * 64, diag));
    XSTI_TRY(multiple("ring", layer->ring, 64, diag));
    return in_range("ctas", layer->ctas, 1, MOST_CTAS, diag);
}

/* The next region begins behind `bytes` more. */
static uint64_t take(uint64_t *end, int64_t bytes)
{
    const uint64_t at = *end;
    *end += (uint64_t)xsti_ceil_div(bytes, REGION_ALIGN) * REGION_ALIGN;
    return at;
}

enum xst_status xsti_moe_regions(const struct xst_moe_layer *layer, struct xsti_moe_regions *regions_out,
                                 struct xst_diag *diag)
{
    XSTI_TRY(check(layer, diag));
    struct xsti_moe_regions regions = {.list_most = layer->tokens_most * layer->topk};
    const int64_t rows = layer->ranks * regions.list_most;
    regions.local_most = xsti_ceil_div(layer->experts, layer->ranks);
    /* An expert may fill all but one row of its last block in vain. */
    regions.rows_most =
        xsti_ceil_div(rows + regions.local_most * (LARGEST_BLOCK - 1), LARGEST_BLOCK) * (int64_t)LARGEST_BLOCK;
    regions.pool_rows = layer->ring > 0 && layer->ring < regions.rows_most ? layer->ring : regions.rows_most;
    regions.blocks_most = regions.rows_most / 64;
    const int64_t mid_rows = regions.pool_rows == regions.rows_most ? regions.rows_most : 0; /* unfused only */
    const int64_t element = xsti_moe_element_bytes(layer->dtype);
    const int64_t scales = layer->dtype == XST_MOE_E4M3 ? 4 : 0; /* bytes for each 128 values */
    uint64_t end = 0;
    regions.open.control = take(&end, sizeof(struct xsti_moe_control));
    regions.send = take(&end, layer->experts * 4);
    regions.counts = take(&end, regions.local_most * XSTI_MOE_MOST_RANKS * 4);
    regions.arrived = take(&end, regions.blocks_most * 4);
    regions.ready = take(&end, regions.blocks_most * 4);
    regions.spent = take(&end, regions.blocks_most * 4);
    regions.list = take(&end, regions.local_most * layer->ranks * regions.list_most * 4);
    regions.copies = take(&end, layer->ranks * regions.list_most * (int64_t)sizeof(struct xsti_moe_copy));
    regions.meta = take(&end, regions.rows_most * (int64_t)sizeof(struct xsti_moe_meta));
    regions.open.x = take(&end, layer->tokens_most * layer->hidden * element);
    regions.open.ids = take(&end, regions.list_most * 8);
    regions.open.weights = take(&end, regions.list_most * 4);
    regions.open.combine = take(&end, regions.list_most * layer->hidden * 2);
    regions.pool_x = take(&end, regions.pool_rows * layer->hidden * 2); /* bf16 results of the unfused Linear 2 too */
    regions.pool_act = take(&end, regions.pool_rows * layer->inter * element);
    regions.mid = take(&end, mid_rows * layer->inter * 4);
    regions.open.x_scales = take(&end, layer->tokens_most * (layer->hidden / XSTI_MOE_SCALED) * scales);
    regions.pool_x_scales = take(&end, regions.pool_rows * (layer->hidden / XSTI_MOE_SCALED) * scales);
    regions.act_scales = take(&end, regions.pool_rows * (layer->inter / XSTI_MOE_SCALED) * scales);
    regions.open.bytes = end;
    *regions_out = regions;
    return XST_OK;
}

enum xst_status xst_moe_layout(const struct xst_moe_layer *layer, struct xst_moe_layout *layout_out,
                               struct xst_diag *diag)
{
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(layer, &regions, diag));
    *layout_out = regions.open;
    return XST_OK;
}
