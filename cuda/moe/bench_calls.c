/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of each entry. One host thread drives all ranks; each rank has its device's stream.
 */
#include "moe/bench_state.h"

enum { CHOICES_PER_CTA = 8192, MOST_ABSENT_CTAS = 4 };

static struct xsti_moe_bench_device *device_of(struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                               int64_t rank)
{
    return &b->device[rank < group->active ? group->first_device + rank : 0];
}

int64_t xsti_moe_bench_absent_ctas(const struct xsti_moe_bench_state *b)
{
    const struct xsti_moe_bench_group *const group = &b->main;
    if (group->active == group->layer.ranks)
        return 0;
    const int64_t wanted = group->tokens[group->active] * group->layer.topk / CHOICES_PER_CTA + 1;
    return wanted < MOST_ABSENT_CTAS ? wanted : MOST_ABSENT_CTAS;
}

struct xst_moe_call xsti_moe_bench_call(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                        int64_t rank)
{
    const struct xsti_moe_bench_device *const own = &b->device[rank < group->active ? group->first_device + rank : 0];
    struct xst_moe_layer layer = group->layer;
    if (rank >= group->active)
        layer.ctas = xsti_moe_bench_absent_ctas(b);
    return (struct xst_moe_call){.layer = layer,
                                 .rank = rank,
                                 .tokens = group->tokens[rank],
                                 .clamp = b->request->clamp,
                                 .w1 = own->w1,
                                 .w2 = own->w2,
                                 .w1_scales = own->w1_scales,
                                 .w2_scales = own->w2_scales,
                                 .y = own->y,
                                 .buffers = group->buffers,
                                 .combine = group->active < group->layer.ranks ? group->combine : NULL};
}

/* rings: of a traced call, else NULL. */
static enum xst_status enqueue_group(struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                     const struct xst_moe_bench_entry *entry, const struct xsti_trace_ring *rings,
                                     struct xst_diag *diag)
{
    for (int64_t r = group->layer.ranks - 1; r >= 0; r--) { /* an absent rank first: it needs little room */
        struct xsti_moe_bench_device *const own = device_of(b, group, r);
        const struct xst_moe_call call = xsti_moe_bench_call(b, group, r);
        void *const stream = own->kernels->device.stream;
        if (r >= group->active)
            XSTI_TRY(xst_moe_absent(own->kernels, &call, own->absent_stream, diag));
        else if (rings)
            XSTI_TRY(xsti_moe_fused_traced(own->kernels, &call, &entry->order, &rings[r], stream, diag));
        else if (entry->form == XST_MOE_FORM_UNFUSED)
            XSTI_TRY(xst_moe_unfused(own->kernels, &call, &entry->order, stream, diag));
        else
            XSTI_TRY(xst_moe_fused(own->kernels, &call, &entry->order, stream, diag));
    }
    return XST_OK;
}

enum xst_status xsti_moe_bench_enqueue(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry,
                                       int64_t calls, struct xst_diag *diag)
{
    for (int64_t i = 0; i < calls; i++) {
        if (entry->form != XST_MOE_FORM_ALONE) {
            XSTI_TRY(enqueue_group(b, &b->main, entry, NULL, diag));
            continue;
        }
        for (int64_t d = 0; d < b->devices; d++)
            XSTI_TRY(enqueue_group(b, &b->alone[d], entry, NULL, diag));
    }
    return XST_OK;
}

enum xst_status xsti_moe_bench_enqueue_traced(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry,
                                              const struct xsti_trace_ring *rings, struct xst_diag *diag)
{
    return enqueue_group(b, &b->main, entry, rings, diag);
}

static enum xst_status finish_group(struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                    struct xst_diag *diag)
{
    for (int64_t r = 0; r < group->layer.ranks; r++) {
        struct xsti_moe_bench_device *const own = device_of(b, group, r);
        const struct xst_moe_call call = xsti_moe_bench_call(b, group, r);
        void *const stream = r < group->active ? own->kernels->device.stream : own->absent_stream;
        XSTI_TRY(xst_moe_status(own->kernels, &call, stream, diag));
    }
    return XST_OK;
}

enum xst_status xsti_moe_bench_finish(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    XSTI_TRY(finish_group(b, &b->main, diag));
    for (int64_t d = 0; b->has_alone && d < b->devices; d++)
        XSTI_TRY(finish_group(b, &b->alone[d], diag));
    return XST_OK;
}
