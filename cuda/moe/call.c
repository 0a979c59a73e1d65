/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls and their bounds.
 */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/whole.h"
#include "moe/layout.h"
#include "moe/params.h"

enum { MOST_LEAD = 1 << 30, MOST_GROUP = 1 << 15, MOST_UNIT = 1024, MOST_DELAY_NS = 1000000, MOST_INDEX = INT32_MAX };

static enum xst_status in_range(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe call: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

/* NULL is allowed where `needed` is 0. */
static enum xst_status aligned(const char *field, int64_t at, uint64_t address, int64_t of, int needed,
                               struct xst_diag *diag)
{
    char place[24] = "";
    if (at >= 0)
        snprintf(place, sizeof place, "[%d]", (int)at);
    if (address == 0 && needed)
        return xsti_fail(diag, XST_ERR_USAGE, "moe call: %s%s is NULL", field, place);
    if (address % (uint64_t)of != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: %s%s is 0x%llx, not a multiple of %lld bytes", field, place,
                         (unsigned long long)address, (long long)of);
    return XST_OK;
}

enum xst_status xsti_moe_check_exchange(const struct xst_moe_call *call, struct xst_diag *diag)
{
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(&call->layer, &regions, diag));
    XSTI_TRY(in_range("rank", call->rank, 0, call->layer.ranks - 1, diag));
    XSTI_TRY(in_range("tokens", call->tokens, 0, call->layer.tokens_most, diag));
    if (!(call->limit_us >= 0 && call->limit_us <= 1e12))
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: limit_us is %g, outside 0..1e12", call->limit_us);
    if (!call->buffers)
        return xsti_fail(diag, XST_ERR_USAGE, "moe call: buffers is NULL");
    for (int64_t p = 0; p < call->layer.ranks; p++)
        XSTI_TRY(aligned("buffers", p, call->buffers[p], 1024, 1, diag));
    return XST_OK;
}

const char *xst_moe_dedup_text(enum xst_moe_dedup dedup)
{
    static const char *const texts[] = {
#define X(NAME, text, meaning) text,
        XST_MOE_DEDUP_MAP(X)
#undef X
    };
    return texts[dedup];
}

/* Of a rank: below, looking up a row's places takes longer than fetching it again. H200, H 4096, I 2048, 32 experts, top 6: 64
 * tokens 407 us on, 404 off; 1,024 tokens 736 and 754. */
enum { DEDUP_CHOICES = 1024 };

enum xst_moe_dedup xst_moe_dedup_of(const struct xst_moe_layer *layer, const struct xst_moe_order *order)
{
    if (order->dedup != XST_MOE_DEDUP_AUTO)
        return order->dedup;
    return layer->ring == 0 && layer->topk > 1 && layer->tokens_most * layer->topk >= DEDUP_CHOICES ? XST_MOE_DEDUP_ON
                                                                                                    : XST_MOE_DEDUP_OFF;
}

int64_t xsti_moe_tile_ctas(int64_t tile_rows)
{
    return tile_rows == 256 ? 2 : 1;
}

int64_t xsti_moe_least_lead(int64_t l1_per_block, int64_t l2_per_block, int64_t group, int64_t unit)
{
    return unit * l1_per_block + ((group - 1) * l1_per_block + l2_per_block - 1) / l2_per_block;
}

int64_t xsti_moe_wave_most(int64_t ring, int64_t unit)
{
    return ring >= 2 * unit ? ring / 2 : ring;
}

/* Block f's first Linear-1 tile comes when the blocks before it have had theirs, n1 each; by then there have been g groups of Linear-2
 * tiles, the first for which lead + floor(g group n1 / n2) is more. In units a block's first tile comes up to unit - 1 tiles early and
 * unit - 1 blocks late, and the last unit of Linear 2 is not over before all of it is. The difference repeats when f has grown by
 * `group`. */
static int64_t interleaved_blocks(int64_t n1, int64_t n2, int64_t lead, int64_t group, int64_t unit, int64_t blocks)
{
    int64_t most = 1;
    const int64_t begin = lead / n1 > unit ? lead / n1 - unit : 0;
    for (int64_t f = begin; f < blocks && f <= lead / n1 + group + unit; f++) {
        const int64_t left = f * n1 + unit - 1 - lead + 1; /* Linear-1 tiles beyond the lead, and one */
        const int64_t groups = left > 0 ? xsti_ceil_div(left * n2, group * n1) : 0;
        const int64_t done = groups * group / n2 - (unit - 1);
        const int64_t live = f + unit - (done > 0 ? done : 0);
        most = live > most ? live : most;
    }
    return most < blocks ? most : blocks;
}

int64_t xst_moe_ring_blocks(const struct xst_moe_layer *layer, const struct xst_moe_order *order)
{
    struct xsti_moe_regions regions;
    const int64_t unit = order->unit > 1 ? order->unit : 1;
    if (order->schedule == XST_SCHEDULE_WAVE || xsti_moe_regions(layer, &regions, NULL) != XST_OK)
        return unit;
    const int64_t n1 = xsti_ceil_div(2 * layer->inter, XSTI_MOE_TILE_COLS);
    const int64_t n2 = xsti_ceil_div(layer->hidden, XSTI_MOE_TILE_COLS);
    const int64_t blocks = regions.rows_most / order->tile_rows,
                  least = xsti_moe_least_lead(n1, n2, order->group, unit);
    const int64_t lead = order->lead > least ? order->lead : least;
    return interleaved_blocks(n1, n2, lead < blocks * n1 ? lead : blocks * n1, order->group, unit, blocks);
}

static enum xst_status check_ring(const struct xst_moe_layer *layer, const struct xst_moe_order *order,
                                  struct xst_diag *diag)
{
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(layer, &regions, diag));
    if (regions.pool_rows == regions.rows_most)
        return XST_OK;
    if (order->dedup == XST_MOE_DEDUP_ON)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe call: dedup is on, but with a ring (%lld rows) a row's other places are not free yet",
                         (long long)layer->ring);
    const int64_t blocks = regions.pool_rows / order->tile_rows, needed = xst_moe_ring_blocks(layer, order);
    if (blocks >= needed)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE,
                     "moe call: the ring of %lld rows holds %lld blocks of %lld, this order needs %lld (%lld rows)",
                     (long long)layer->ring, (long long)blocks, (long long)order->tile_rows, (long long)needed,
                     (long long)(needed * order->tile_rows));
}

/* Numbers of tiles, and their products with the tiles of a block, are 32-bit on the device. */
static enum xst_status check_tiles(const struct xst_moe_layer *layer, int64_t tile_rows, struct xst_diag *diag)
{
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(layer, &regions, diag));
    const int64_t n1 = (2 * layer->inter + XSTI_MOE_TILE_COLS - 1) / XSTI_MOE_TILE_COLS;
    const int64_t n2 = (layer->hidden + XSTI_MOE_TILE_COLS - 1) / XSTI_MOE_TILE_COLS;
    const int64_t blocks = regions.rows_most / tile_rows;
    const int64_t largest = n1 > n2 ? n1 : n2;
    if (blocks > (1 << 23) || blocks * (n1 + n2) > MOST_INDEX / largest)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe call: %lld blocks of %lld rows with %lld + %lld tiles are more than a 32-bit count",
                         (long long)blocks, (long long)tile_rows, (long long)n1, (long long)n2);
    return XST_OK;
}

static enum xst_status check_order(const struct xst_moe_order *order, struct xst_diag *diag)
{
    XSTI_TRY(in_range("schedule", order->schedule, XST_SCHEDULE_WAVE, XST_SCHEDULE_INTERLEAVED, diag));
    if (order->schedule == XST_SCHEDULE_INTERLEAVED) {
        XSTI_TRY(in_range("lead", order->lead, 1, MOST_LEAD, diag));
        XSTI_TRY(in_range("group", order->group, 1, MOST_GROUP, diag));
    }
    if (order->tile_rows != 64 && order->tile_rows != 128 && order->tile_rows != 256)
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: tile_rows is %lld, not 64, 128 or 256",
                         (long long)order->tile_rows);
    XSTI_TRY(in_range("unit", order->unit, 0, MOST_UNIT, diag));
    XSTI_TRY(in_range("store", order->store, XST_MOE_STORE_AT_ONCE, XST_MOE_STORE_PACED, diag));
    if (order->store == XST_MOE_STORE_PACED && order->slices != 1 && order->slices != 2 && order->slices != 4 &&
        order->slices != 8)
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: slices is %lld, not 1, 2, 4 or 8", (long long)order->slices);
    XSTI_TRY(in_range("dedup", order->dedup, XST_MOE_DEDUP_AUTO, XST_MOE_DEDUP_OFF, diag));
    return in_range("delay_ns", order->delay_ns, 0, MOST_DELAY_NS, diag);
}

enum xst_status xst_moe_call_check(const struct xst_moe_call *call, const struct xst_moe_order *order,
                                   struct xst_diag *diag)
{
    XSTI_TRY(xsti_moe_check_exchange(call, diag));
    XSTI_TRY(check_order(order, diag));
    XSTI_TRY(check_tiles(&call->layer, order->tile_rows, diag));
    XSTI_TRY(check_ring(&call->layer, order, diag));
    if (call->layer.ctas % xsti_moe_tile_ctas(order->tile_rows) != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: ctas is %lld, odd; two compute a tile of %lld rows",
                         (long long)call->layer.ctas, (long long)order->tile_rows);
    if (!(call->clamp >= 0) || isinf(call->clamp))
        return xsti_fail(diag, XST_ERR_RANGE, "moe call: clamp is %g, a positive number or 0 is needed", call->clamp);
    XSTI_TRY(aligned("w1", -1, call->w1, 16, 1, diag));
    XSTI_TRY(aligned("w2", -1, call->w2, 16, 1, diag));
    XSTI_TRY(aligned("y", -1, call->y, 16, call->tokens > 0, diag));
    if (call->layer.dtype == XST_MOE_E4M3) {
        XSTI_TRY(aligned("w1_scales", -1, call->w1_scales, 4, 1, diag));
        XSTI_TRY(aligned("w2_scales", -1, call->w2_scales, 4, 1, diag));
    }
    for (int64_t p = 0; call->combine && p < call->layer.ranks; p++)
        XSTI_TRY(aligned("combine", p, call->combine[p], 16, 1, diag));
    return XST_OK;
}
