/* SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark's devices and buffers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/diag.h"
#include "moe/bench_state.h"

enum { POOL = XSTI_MOE_POOL_VALUES, BUFFER_ALIGN = 1024 };

/* Four uniform bytes: about normal. */
static uint16_t *random_values(double deviation, uint64_t seed)
{
    uint16_t *const values = malloc((size_t)POOL * sizeof *values);
    for (int i = 0; values && i < POOL; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t bits = seed >> 32;
        const double sum =
            (double)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255)) / 256 - 2;
        values[i] = xsti_float_to_bf16((float)(sum * 1.732 * deviation));
    }
    return values;
}

void xsti_moe_bench_values(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool, uint64_t first, size_t count,
                           uint16_t *values_out)
{
    for (uint64_t from = first % POOL; count > 0; from = 0) {
        const size_t chunk = count < POOL - from ? count : (size_t)(POOL - from);
        memcpy(values_out, b->pools[pool] + from, chunk * sizeof *values_out);
        values_out += chunk;
        count -= chunk;
    }
}

/* The same on a device that has a copy of the pool. */
static enum xst_status repeat(const struct xsti_device *device, CUdeviceptr pool, uint64_t first, size_t count,
                              CUdeviceptr to, struct xst_diag *diag)
{
    for (uint64_t from = first % POOL; count > 0; from = 0) {
        const size_t chunk = count < POOL - from ? count : (size_t)(POOL - from);
        XSTI_CU(device->driver, cuMemcpyAsync(to, pool + from * 2, chunk * 2, device->stream), device->ordinal, diag,
                "filling a tensor");
        to += chunk * 2;
        count -= chunk;
    }
    return XST_OK;
}

static enum xst_status fill_tensor(const struct xsti_moe_bench_state *b, const struct xsti_device *device,
                                   enum xsti_moe_pool which, uint64_t first, size_t count, CUdeviceptr to,
                                   struct xst_diag *diag)
{
    CUdeviceptr pool;
    XSTI_TRY(xsti_device_alloc(device, (size_t)POOL * 2, &pool, diag));
    enum xst_status status = xsti_device_write(device, pool, b->pools[which], (size_t)POOL * 2, diag);
    if (status == XST_OK)
        status = repeat(device, pool, first, count, to, diag);
    if (status == XST_OK)
        status = xsti_device_wait(device, 60e6, "filling a tensor", diag);
    xsti_device_free(device, pool);
    return status;
}

static enum xst_status open_device(struct xsti_moe_bench_state *b, int64_t d, struct xst_diag *diag)
{
    struct xsti_moe_bench_device *const own = &b->device[d];
    const struct xst_moe_bench *const request = b->request;
    const struct xsti_moe_bench_group *const group = &b->main;
    const size_t matrix = (size_t)(request->inter * request->hidden);
    const struct xst_moe_shape shape = {.experts = group->layer.experts, .ranks = group->layer.ranks};
    int64_t first, end;
    XSTI_TRY(xst_moe_open(d, &own->kernels, diag));
    const struct xsti_device *const device = &own->kernels->device;
    xst_moe_experts_of(&shape, d, &first, &end);
    const size_t experts = (size_t)(end - first);
    const int64_t alone = b->has_alone ? b->alone[d].tokens[0] : 0;
    const int64_t tokens = group->tokens[d] > alone ? group->tokens[d] : alone;
    XSTI_TRY(xsti_device_alloc(device, experts * 2 * matrix * 2, &own->w1, diag));
    XSTI_TRY(xsti_device_alloc(device, experts * matrix * 2, &own->w2, diag));
    XSTI_TRY(xsti_device_alloc(device, (size_t)(tokens * request->hidden) * 2 + 16, &own->y, diag));
    const uint64_t number = (uint64_t)group->first_expert[d];
    XSTI_TRY(fill_tensor(b, device, XSTI_MOE_POOL_W1, number * 2 * matrix, experts * 2 * matrix, own->w1, diag));
    XSTI_TRY(fill_tensor(b, device, XSTI_MOE_POOL_W2, number * matrix, experts * matrix, own->w2, diag));
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
    const double deviations[XSTI_MOE_POOL_COUNT] = {1, 2 / sqrt((double)b->request->hidden),
                                                    1 / sqrt((double)b->request->inter)};
    for (int i = 0; i < XSTI_MOE_POOL_COUNT; i++)
        if (!(b->pools[i] = random_values(deviations[i], b->request->seed * 10 + (uint64_t)i)))
            return xsti_fail_memory(diag);
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
