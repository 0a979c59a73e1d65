/* SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark's devices and buffers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/diag.h"
#include "base/e4m3.h"
#include "moe/bench_state.h"
#include "moe/layout.h"
#include "moe/params.h"

/* SPREAD: of e4m3 values, in units of their scale. */
enum { POOL = XSTI_MOE_POOL_VALUES, BUFFER_ALIGN = 1024, SPREAD = 64 };

size_t xsti_moe_bench_value_bytes(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool)
{
    return pool >= XSTI_MOE_POOL_X_SCALES ? sizeof(float) : (size_t)xsti_moe_element_bytes(b->request->dtype);
}

static void put_value(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool, float value, unsigned char *to)
{
    const uint16_t wide = xsti_float_to_bf16(value);
    if (pool >= XSTI_MOE_POOL_X_SCALES)
        memcpy(to, &value, sizeof value);
    else if (b->request->dtype == XST_MOE_BF16)
        memcpy(to, &wide, sizeof wide);
    else
        *to = xsti_float_to_e4m3(value);
}

/* Values: four uniform bytes, about normal. Scales: between half and one and a half times `deviation`. */
static unsigned char *random_values(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool, double deviation,
                                    uint64_t seed)
{
    const size_t each = xsti_moe_bench_value_bytes(b, pool);
    unsigned char *const values = malloc((size_t)POOL * each);
    for (int i = 0; values && i < POOL; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t bits = seed >> 32;
        const double sum =
            (double)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255)) / 256 - 2;
        const double value = pool < XSTI_MOE_POOL_X_SCALES ? sum * 1.732 : 0.5 + (double)(bits & 0xffff) / 0x10000;
        put_value(b, pool, (float)(value * deviation), values + (size_t)i * each);
    }
    return values;
}

void xsti_moe_bench_values(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool, uint64_t first, size_t count,
                           void *values_out)
{
    const size_t each = xsti_moe_bench_value_bytes(b, pool);
    unsigned char *to = values_out;
    for (uint64_t from = first % POOL; count > 0; from = 0) {
        const size_t chunk = count < POOL - from ? count : (size_t)(POOL - from);
        memcpy(to, b->pools[pool] + from * each, chunk * each);
        to += chunk * each;
        count -= chunk;
    }
}

/* The same on a device that has a copy of the pool. */
static enum xst_status repeat(const struct xsti_device *device, CUdeviceptr pool, size_t each, uint64_t first,
                              size_t count, CUdeviceptr to, struct xst_diag *diag)
{
    for (uint64_t from = first % POOL; count > 0; from = 0) {
        const size_t chunk = count < POOL - from ? count : (size_t)(POOL - from);
        XSTI_CU(device->driver, cuMemcpyAsync(to, pool + from * each, chunk * each, device->stream), device->ordinal,
                diag, "filling a tensor");
        to += chunk * each;
        count -= chunk;
    }
    return XST_OK;
}

static enum xst_status fill_tensor(const struct xsti_moe_bench_state *b, const struct xsti_device *device,
                                   enum xsti_moe_pool which, uint64_t first, size_t count, CUdeviceptr to,
                                   struct xst_diag *diag)
{
    const size_t each = xsti_moe_bench_value_bytes(b, which);
    CUdeviceptr pool;
    XSTI_TRY(xsti_device_alloc(device, (size_t)POOL * each, &pool, diag));
    enum xst_status status = xsti_device_write(device, pool, b->pools[which], (size_t)POOL * each, diag);
    if (status == XST_OK)
        status = repeat(device, pool, each, first, count, to, diag);
    if (status == XST_OK)
        status = xsti_device_wait(device, 60e6, "filling a tensor", diag);
    xsti_device_free(device, pool);
    return status;
}

/* `count` values for a device that begins with value number `first`. */
static enum xst_status make_tensor(const struct xsti_moe_bench_state *b, const struct xsti_device *device,
                                   enum xsti_moe_pool which, uint64_t first, size_t count, CUdeviceptr *tensor_out,
                                   struct xst_diag *diag)
{
    XSTI_TRY(xsti_device_alloc(device, count * xsti_moe_bench_value_bytes(b, which), tensor_out, diag));
    return fill_tensor(b, device, which, first, count, *tensor_out, diag);
}

/* Of the experts of a device; `first`: number of the first one. */
static enum xst_status make_weights(const struct xsti_moe_bench_state *b, uint64_t first, size_t experts,
                                    struct xsti_moe_bench_device *own, struct xst_diag *diag)
{
    const struct xst_moe_bench *const request = b->request;
    const struct xsti_device *const device = &own->kernels->device;
    const size_t matrix = (size_t)(request->inter * request->hidden);
    const size_t scales = (size_t)(request->inter / XSTI_MOE_SCALED * (request->hidden / XSTI_MOE_SCALED));
    XSTI_TRY(make_tensor(b, device, XSTI_MOE_POOL_W1, first * 2 * matrix, experts * 2 * matrix, &own->w1, diag));
    XSTI_TRY(make_tensor(b, device, XSTI_MOE_POOL_W2, first * matrix, experts * matrix, &own->w2, diag));
    if (request->dtype != XST_MOE_E4M3)
        return XST_OK;
    XSTI_TRY(make_tensor(b, device, XSTI_MOE_POOL_W1_SCALES, first * 2 * scales, experts * 2 * scales, &own->w1_scales,
                         diag));
    return make_tensor(b, device, XSTI_MOE_POOL_W2_SCALES, first * scales, experts * scales, &own->w2_scales, diag);
}

static enum xst_status open_device(struct xsti_moe_bench_state *b, int64_t d, struct xst_diag *diag)
{
    struct xsti_moe_bench_device *const own = &b->device[d];
    const struct xst_moe_bench *const request = b->request;
    const struct xsti_moe_bench_group *const group = &b->main;
    const struct xst_moe_shape shape = {.experts = group->layer.experts, .ranks = group->layer.ranks};
    int64_t first, end;
    XSTI_TRY(xst_moe_open(d, &own->kernels, diag));
    const struct xsti_device *const device = &own->kernels->device;
    xst_moe_experts_of(&shape, d, &first, &end);
    const int64_t alone = b->has_alone ? b->alone[d].tokens[0] : 0;
    const int64_t tokens = group->tokens[d] > alone ? group->tokens[d] : alone;
    XSTI_TRY(xsti_device_alloc(device, (size_t)(tokens * request->hidden) * 2 + 16, &own->y, diag));
    XSTI_TRY(make_weights(b, (uint64_t)group->first_expert[d], (size_t)(end - first), own, diag));
    XSTI_CU(device->driver, cuEventCreate(&own->begin, CU_EVENT_DEFAULT), device->ordinal, diag, "creating an event");
    XSTI_CU(device->driver, cuEventCreate(&own->end, CU_EVENT_DEFAULT), device->ordinal, diag, "creating an event");
    XSTI_CU(device->driver, cuStreamCreate(&own->absent_stream, CU_STREAM_NON_BLOCKING), device->ordinal, diag,
            "creating a stream");
    return XST_OK;
}

static const struct xsti_device *home(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                      int64_t rank)
{
    return &b->device[rank < group->active ? group->first_device + rank : 0].kernels->device;
}

/* Buffer and inputs of one rank of a group. */
static enum xst_status open_rank(struct xsti_moe_bench_state *b, struct xsti_moe_bench_group *group, int64_t r,
                                 struct xst_diag *diag)
{
    const struct xsti_device *const device = home(b, group, r);
    const struct xst_moe_layer *const layer = &group->layer;
    const size_t choices = (size_t)(group->tokens[r] * layer->topk), hidden = (size_t)layer->hidden;
    XSTI_TRY(xsti_device_alloc(device, group->at.bytes + BUFFER_ALIGN, &group->memory[r], diag));
    const uint64_t buffer = (group->memory[r] + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    group->buffers[r] = buffer;
    group->combine[r] = buffer + group->at.combine;
    XSTI_TRY(xsti_device_fill(device, buffer, 0, group->at.bytes, diag));
    if (choices > 0) {
        XSTI_TRY(fill_tensor(b, device, XSTI_MOE_POOL_X, (uint64_t)group->first_token[r] * hidden,
                             (size_t)group->tokens[r] * hidden, buffer + group->at.x, diag));
        const size_t scales = hidden / XSTI_MOE_SCALED;
        if (layer->dtype == XST_MOE_E4M3)
            XSTI_TRY(fill_tensor(b, device, XSTI_MOE_POOL_X_SCALES, (uint64_t)group->first_token[r] * scales,
                                 (size_t)group->tokens[r] * scales, buffer + group->at.x_scales, diag));
        XSTI_TRY(xsti_device_write(device, buffer + group->at.ids, group->ids[r], choices * 8, diag));
        XSTI_TRY(xsti_device_write(device, buffer + group->at.weights, group->weights[r], choices * 4, diag));
    }
    if (r >= group->active) {
        XSTI_TRY(xsti_pinned_alloc(device, choices * hidden * 2 + 16, &group->pinned, diag));
        group->combine[r] = group->pinned.device;
    }
    return xsti_device_wait(device, 60e6, "filling inputs", diag);
}

/* One CTA an SM, in pairs; an absent rank has its own SMs, and the group it is compared with leaves as many. Each of those may cost
 * a pair that shares tiles its second SM. */
static int64_t ctas_of(const struct xsti_moe_bench_state *b)
{
    int64_t away = xsti_moe_bench_absent_ctas(b);
    for (size_t i = 0; i < b->entry_count; i++)
        if (b->entries[i].order.tile_rows > 128) {
            away *= 2;
            break;
        }
    return (xst_moe_sm_count(b->device[0].kernels) - away) / 2 * 2;
}

static enum xst_status open_group(struct xsti_moe_bench_state *b, struct xsti_moe_bench_group *group,
                                  struct xst_diag *diag)
{
    if (b->request->ctas == 0)
        group->layer.ctas = ctas_of(b);
    for (int64_t r = 0; r < group->layer.ranks; r++)
        XSTI_TRY(open_rank(b, group, r, diag));
    return XST_OK;
}

enum xst_status xsti_moe_bench_open(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    const int e4m3 = b->request->dtype == XST_MOE_E4M3, count = e4m3 ? XSTI_MOE_POOL_COUNT : XSTI_MOE_POOL_X_SCALES;
    const double sizes[3] = {1, 2 / sqrt((double)b->request->hidden), 1 / sqrt((double)b->request->inter)};
    for (int i = 0; i < count; i++) {
        const double deviation = i >= XSTI_MOE_POOL_X_SCALES ? sizes[i - XSTI_MOE_POOL_X_SCALES] / SPREAD
                                 : e4m3                      ? SPREAD
                                                             : sizes[i];
        b->pools[i] = random_values(b, (enum xsti_moe_pool)i, deviation, b->request->seed * 10 + (uint64_t)i);
        if (!b->pools[i])
            return xsti_fail_memory(diag);
    }
    for (int64_t d = 0; d < b->devices; d++)
        XSTI_TRY(open_device(b, d, diag));
    for (int64_t r = 0; r < b->devices; r++)
        for (int64_t p = 0; p < b->devices; p++)
            if (p != r)
                XSTI_TRY(xsti_device_enable_peer(&b->device[r].kernels->device, &b->device[p].kernels->device, diag));
    XSTI_TRY(open_group(b, &b->main, diag));
    for (int64_t d = 0; b->has_alone && d < b->devices; d++)
        XSTI_TRY(open_group(b, &b->alone[d], diag));
    return XST_OK;
}

static void close_group(struct xsti_moe_bench_state *b, struct xsti_moe_bench_group *group)
{
    for (int64_t r = 0; r < group->layer.ranks; r++)
        if (group->memory[r])
            xsti_device_free(home(b, group, r), group->memory[r]);
    if (group->pinned.host)
        xsti_pinned_free(home(b, group, 0), &group->pinned);
    free(group->ids[0]);
    free(group->weights[0]);
}

void xsti_moe_bench_close(struct xsti_moe_bench_state *b)
{
    close_group(b, &b->main);
    for (int64_t d = 0; d < b->devices; d++)
        close_group(b, &b->alone[d]);
    for (int64_t d = 0; d < b->devices; d++) {
        struct xsti_moe_bench_device *const own = &b->device[d];
        if (!own->kernels)
            continue;
        const struct xsti_device *const device = &own->kernels->device;
        xsti_device_free(device, own->w1);
        xsti_device_free(device, own->w2);
        xsti_device_free(device, own->w1_scales);
        xsti_device_free(device, own->w2_scales);
        xsti_device_free(device, own->y);
        if (own->begin)
            device->driver->cuEventDestroy(own->begin);
        if (own->end)
            device->driver->cuEventDestroy(own->end);
        if (own->absent_stream)
            device->driver->cuStreamDestroy(own->absent_stream);
    }
    for (int64_t d = 0; d < b->devices; d++)
        xst_moe_close(b->device[d].kernels);
    for (int i = 0; i < XSTI_MOE_POOL_COUNT; i++)
        free(b->pools[i]);
    free(b->counts);
}
