/* SPDX-License-Identifier: Apache-2.0
 *
 * From a call to the kernels' parameters.
 */
#include "moe/fill.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include <xstage/plan.h>

#include "base/whole.h"

enum { DEFAULT_LIMIT_US = 2000000 };

/* Bits of FNV-1a over what all ranks must agree on. */
static uint32_t layer_hash(const struct xst_moe_layer *layer)
{
    const int64_t fields[] = {layer->hidden,      layer->inter, layer->experts, layer->topk,
                              layer->tokens_most, layer->ranks, layer->dtype,   layer->ring};
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ ((uint64_t)fields[i] >> 8 * byte & 255)) * UINT64_C(1099511628211);
    return (uint32_t)(hash >> (64 - XSTI_MOE_HASH_BITS));
}

static void fill_buffers(const struct xst_moe_call *call, const struct xsti_moe_regions *regions,
                         struct xsti_moe_params *params)
{
    const uint64_t own = call->buffers[call->rank];
    for (int64_t p = 0; p < call->layer.ranks; p++) {
        params->buffers[p] = call->buffers[p];
        params->combine[p] = call->combine ? call->combine[p] : call->buffers[p] + regions->open.combine;
    }
    params->control = own + regions->open.control;
    params->ids = own + regions->open.ids;
    params->send = own + regions->send;
    params->counts = own + regions->counts;
    params->list = own + regions->list;
    params->copies = own + regions->copies;
    params->arrived = own + regions->arrived;
    params->ready = own + regions->ready;
    params->spent = own + regions->spent;
    params->meta = own + regions->meta;
    params->pool_x = own + regions->pool_x;
    params->pool_act = own + regions->pool_act;
    params->mid = own + regions->mid;
    params->y = call->y;
    params->x_scales = own + regions->pool_x_scales;
    params->act_scales = own + regions->act_scales;
    params->w1_scales = call->w1_scales;
    params->w2_scales = call->w2_scales;
    params->x_at = regions->open.x;
    params->x_scales_at = regions->open.x_scales;
    params->weights_at = regions->open.weights;
    params->counts_at = regions->counts;
    params->list_at = regions->list;
    params->copies_at = regions->copies;
}

static void fill_layer(const struct xst_moe_call *call, const struct xsti_moe_regions *regions,
                       struct xsti_moe_params *params)
{
    const struct xst_moe_layer *const layer = &call->layer;
    const struct xst_moe_shape shape = {.experts = layer->experts, .ranks = layer->ranks};
    int64_t first, end;
    xst_moe_experts_of(&shape, call->rank, &first, &end);
    params->rank = (int32_t)call->rank;
    params->ranks = (int32_t)layer->ranks;
    params->dtype = (int32_t)layer->dtype;
    params->row_bytes = (int32_t)(layer->hidden * xsti_moe_element_bytes(layer->dtype));
    params->hidden = (int32_t)layer->hidden;
    params->inter = (int32_t)layer->inter;
    params->pool_rows = (int32_t)regions->pool_rows;
    params->topk = (int32_t)layer->topk;
    params->tokens = (int32_t)call->tokens;
    params->experts = (int32_t)layer->experts;
    params->experts_each = (int32_t)(layer->experts / layer->ranks);
    params->experts_more = (int32_t)(layer->experts % layer->ranks);
    params->experts_here = (int32_t)(end - first);
    params->list_most = (int32_t)regions->list_most;
    params->hash = layer_hash(layer);
    params->limit_ns = (uint64_t)((call->limit_us > 0 ? call->limit_us : DEFAULT_LIMIT_US) * 1000);
    params->clamp = call->clamp > 0 ? (float)call->clamp : INFINITY;
}

static void fill_stream(const struct xst_moe_call *call, const struct xst_moe_order *order, enum xsti_moe_part part,
                        const struct xsti_moe_regions *regions, struct xsti_moe_stream *stream)
{
    const int64_t n1 = xsti_ceil_div(2 * call->layer.inter, XSTI_MOE_TILE_COLS);
    const int64_t n2 = xsti_ceil_div(call->layer.hidden, XSTI_MOE_TILE_COLS);
    const int64_t tiles = regions->rows_most / order->tile_rows * n1; /* of Linear 1, at most */
    const int alone = part != XSTI_MOE_BOTH;
    const int64_t group = !alone && order->schedule == XST_SCHEDULE_INTERLEAVED ? order->group : 1;
    const int64_t unit = order->unit > 1 ? order->unit : 1;
    int64_t lead = xsti_moe_least_lead(n1, n2, group, unit);
    if (!alone && order->schedule == XST_SCHEDULE_INTERLEAVED && order->lead > lead)
        lead = order->lead;
    stream->n1 = part == XSTI_MOE_LINEAR_2 ? 0 : (uint32_t)n1;
    stream->n2 = part == XSTI_MOE_LINEAR_1 ? 0 : (uint32_t)n2;
    stream->lead = (uint32_t)(alone || lead > tiles ? tiles : lead);
    stream->group = (uint32_t)group;
    stream->unit = (uint32_t)unit;
    stream->wave_blocks =
        (uint32_t)xsti_ceil_div(XSTI_MOE_WAVE_ROUNDS * call->layer.ctas / xsti_moe_tile_ctas(order->tile_rows), n1);
    stream->ring = regions->pool_rows < regions->rows_most ? (uint32_t)(regions->pool_rows / order->tile_rows) : 0;
    stream->wave_most = (uint32_t)xsti_moe_wave_most(stream->ring, unit);
    stream->interleaved = alone || order->schedule == XST_SCHEDULE_INTERLEAVED;
    stream->tile_rows = (uint32_t)order->tile_rows;
}

void xsti_moe_fill(const struct xst_moe_call *call, const struct xst_moe_order *order, enum xsti_moe_part part,
                   const struct xsti_moe_regions *regions, struct xsti_moe_params *params_out)
{
    struct xsti_moe_params params;
    memset(&params, 0, sizeof params);
    fill_buffers(call, regions, &params);
    fill_layer(call, regions, &params);
    params.stream.experts = (uint32_t)params.experts_here;
    params.ticket = params.control + offsetof(struct xsti_moe_control, ticket) + (uint64_t)part * 4;
    params.slices = 1;
    if (order) {
        fill_stream(call, order, part, regions, &params.stream);
        if (order->store == XST_MOE_STORE_PACED)
            params.slices = (int32_t)order->slices;
        params.dedup = xst_moe_dedup_of(&call->layer, order) == XST_MOE_DEDUP_ON;
        params.delay_ns = (uint32_t)order->delay_ns;
        params.seed = (uint32_t)order->seed;
    }
    *params_out = params;
}
