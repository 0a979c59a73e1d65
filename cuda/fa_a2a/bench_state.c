/* SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark's devices and buffers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "fa_a2a/bench_state.h"
#include "fa_a2a/ref.h"

static uint16_t *random_tensor(size_t count, uint64_t seed)
{
    uint16_t *const values = malloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        /* four uniform bytes: about normal, standard deviation 1 */
        const uint64_t bits = seed >> 32;
        const double sum =
            (double)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255)) / 256 - 2;
        values[i] = xsti_float_to_bf16((float)(sum * 1.732));
    }
    return values;
}

static enum xst_status fill_inputs(struct xsti_fa_bench *b, int64_t r, struct xst_diag *diag)
{
    struct xsti_fa_bench_rank *const rank = &b->ranks[r];
    const struct xsti_device *const device = &rank->kernels->device;
    for (int t = 0; t < 3; t++) {
        uint16_t *const values = random_tensor(b->in_bytes / 2, b->request->seed * 1000 + (uint64_t)(r * 3 + t));
        if (!values)
            return xsti_fail_memory(diag);
        enum xst_status status = xsti_device_alloc(device, b->in_bytes, &rank->qkv[t], diag);
        if (status == XST_OK)
            status = xsti_device_write(device, rank->qkv[t], values, b->in_bytes, diag);
        if (r == 0)
            b->host[t] = values;
        else
            free(values);
        XSTI_TRY(status);
    }
    return XST_OK;
}

static enum xst_status open_rank(struct xsti_fa_bench *b, int64_t r, struct xst_diag *diag)
{
    struct xsti_fa_bench_rank *const rank = &b->ranks[r];
    const size_t control_bytes = xst_fa_a2a_control_bytes();
    XSTI_TRY(xst_fa_a2a_open(r, &rank->kernels, diag));
    const struct xsti_device *const device = &rank->kernels->device;
    const struct xsti_driver *const driver = &rank->kernels->driver;
    XSTI_TRY(fill_inputs(b, r, diag));
    XSTI_TRY(xsti_device_alloc(device, b->in_bytes, &rank->local, diag));
    XSTI_TRY(xsti_device_alloc(device, control_bytes, &rank->local_control, diag));
    XSTI_TRY(xsti_device_fill(device, rank->local_control, 0, control_bytes, diag));
    rank->local_out[0] = rank->local;
    rank->local_controls[0] = rank->local_control;
    CUevent *const events[3] = {&rank->begin, &rank->middle, &rank->end};
    for (int i = 0; i < 3; i++)
        XSTI_CU(driver, cuEventCreate(events[i], CU_EVENT_DEFAULT), device->ordinal, diag, "creating an event");
    return XST_OK;
}

/* Output and control block of rank p: on its device, or where the target says. */
static enum xst_status open_output(struct xsti_fa_bench *b, int64_t p, struct xst_diag *diag)
{
    const struct xsti_device *const device = &b->ranks[p < b->active ? p : 0].kernels->device;
    const size_t bytes = 2 * b->flip, control_bytes = xst_fa_a2a_control_bytes();
    if (p > 0 && b->request->target == XST_TARGET_HOST) {
        XSTI_TRY(xsti_pinned_alloc(device, bytes, &b->pinned[p], diag));
        b->out[p] = b->pinned[p].device;
    } else {
        CUdeviceptr at;
        XSTI_TRY(xsti_device_alloc(device, bytes, &at, diag));
        b->out[p] = at;
    }
    CUdeviceptr control;
    XSTI_TRY(xsti_device_alloc(device, control_bytes, &control, diag));
    b->control[p] = control;
    return xsti_device_fill(device, control, 0, control_bytes, diag);
}

/* Attention alone is asked for as if no other rank were there. */
static void choose(struct xsti_fa_bench *b, const struct xst_fa_a2a_call *shape)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const int64_t sms = xst_fa_a2a_sm_count(b->ranks[0].kernels);
    struct xst_fa_a2a_call alone = *shape;
    alone.ranks = 1;
    alone.row_first = b->one_rank;
    b->choice = xst_fa_a2a_choose(shape, sms);
    b->alone = xst_fa_a2a_choose(&alone, sms);
    struct xst_fa_a2a_choice *const both[2] = {&b->choice, &b->alone};
    for (int i = 0; i < 2; i++) {
        if (request->groups != 0)
            both[i]->groups = request->groups;
        if (request->pairs != 0)
            both[i]->pairs = request->pairs - 1;
        if (both[i]->pairs)
            both[i]->ctas -= both[i]->ctas % 2;
        both[i]->slices = request->slices;
        both[i]->drain_bytes_per_us = request->drain_bytes_per_us;
    }
}

enum xst_status xsti_fa_bench_open(struct xsti_fa_bench *b, struct xst_diag *diag)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    struct xst_fa_a2a_call shape = {.batch = request->batch,
                                    .seq = request->seq,
                                    .key_len = request->seq,
                                    .head_dim = request->head_dim};
    b->active = request->target == XST_TARGET_PEER ? request->ranks : 1;
    XSTI_TRY(xst_fa_a2a_call_split(&shape, request->heads_total, 0, request->ranks, b->row_first, diag));
    b->heads = shape.heads;
    b->one_rank[1] = request->seq;
    b->in_bytes = (size_t)(request->batch * request->seq * b->heads * request->head_dim) * 2;
    for (int64_t p = 0; p < request->ranks; p++)
        b->out_bytes[p] = (size_t)(request->batch * (b->row_first[p + 1] - b->row_first[p]) * request->heads_total *
                                   request->head_dim) *
                          2;
    b->flip = b->out_bytes[0]; /* the first rank owns the most rows */
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(open_rank(b, r, diag));
    for (int64_t r = 0; r < b->active; r++)
        for (int64_t p = 0; p < b->active; p++)
            if (p != r)
                XSTI_TRY(xsti_device_enable_peer(&b->ranks[r].kernels->device, &b->ranks[p].kernels->device, diag));
    for (int64_t p = 0; p < request->ranks; p++)
        XSTI_TRY(open_output(b, p, diag));
    choose(b, &shape);
    return XST_OK;
}

void xsti_fa_bench_close(struct xsti_fa_bench *b)
{
    for (int64_t p = 0; p < b->request->ranks; p++) {
        struct xsti_fa_bench_rank *const home = &b->ranks[p < b->active ? p : 0];
        if (!home->kernels)
            continue;
        const struct xsti_device *const device = &home->kernels->device;
        if (b->pinned[p].host)
            xsti_pinned_free(device, &b->pinned[p]);
        else
            xsti_device_free(device, b->out[p]);
        xsti_device_free(device, b->control[p]);
    }
    for (int64_t r = 0; r < b->active; r++) {
        struct xsti_fa_bench_rank *const rank = &b->ranks[r];
        if (!rank->kernels)
            continue;
        const struct xsti_device *const device = &rank->kernels->device;
        const CUevent events[3] = {rank->begin, rank->middle, rank->end};
        for (int i = 0; i < 3; i++) {
            xsti_device_free(device, rank->qkv[i]);
            if (events[i])
                device->driver->cuEventDestroy(events[i]);
        }
        xsti_device_free(device, rank->local);
        xsti_device_free(device, rank->local_control);
    }
    for (int64_t r = 0; r < b->active; r++)
        xst_fa_a2a_close(b->ranks[r].kernels);
    for (int t = 0; t < 3; t++)
        free(b->host[t]);
}
