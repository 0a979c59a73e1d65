/* SPDX-License-Identifier: Apache-2.0
 *
 * One traced call of each order asked for, behind a few that warm up.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/whole.h"
#include "gpu/trace_ring.h"
#include "moe/bench_state.h"
#include "moe/layout.h"
#include "moe/params.h"

enum { TILE_ROWS = 128, MARKS_OF_TILE = 4, WARM_CALLS = 3, STAGES_AT_ONCE = 4 };

const char *xst_moe_trace_variant(const struct xst_moe_order *order)
{
    const int paced = order->store == XST_MOE_STORE_PACED;
    if (order->schedule == XST_SCHEDULE_INTERLEAVED)
        return paced ? "interleaved_paced" : "interleaved_at_once";
    return paced ? "wave_paced" : "wave_at_once";
}

/* The lead the kernel works with. */
static int64_t lead_of(const struct xst_moe_bench *request, const struct xst_moe_order *order)
{
    const int64_t least = xsti_moe_least_lead(xsti_ceil_div(2 * request->inter, XSTI_MOE_TILE_COLS),
                                              xsti_ceil_div(request->hidden, XSTI_MOE_TILE_COLS), order->group,
                                              order->unit > 1 ? order->unit : 1);
    return order->lead > least ? order->lead : least;
}

/* What interleaved orders of one trace have in common, and what waves have. */
static enum xst_status add_orders(const struct xst_moe_bench *request, const struct xst_moe_bench_entry *entries,
                                  size_t count, struct xst_trace *trace, struct xst_diag *diag)
{
    int64_t lead = 0, group = 0, unit = 0, wave_unit = 1;
    for (size_t i = 0; i < count; i++) {
        const struct xst_moe_order *const order = &entries[i].order;
        const int64_t order_unit = order->unit > 1 ? order->unit : 1;
        if (order->schedule == XST_SCHEDULE_INTERLEAVED) {
            lead = lead_of(request, order);
            group = order->group;
            unit = order_unit;
        } else {
            wave_unit = order_unit;
        }
    }
    XSTI_TRY(xst_trace_add_fact(trace, "lead", lead, diag));
    XSTI_TRY(xst_trace_add_fact(trace, "group", group, diag));
    XSTI_TRY(xst_trace_add_fact(trace, "unit", unit, diag));
    return xst_trace_add_fact(trace, "wave_unit", wave_unit, diag);
}

static enum xst_status add_facts(const struct xsti_moe_bench_state *b, struct xst_trace *trace, struct xst_diag *diag)
{
    const struct xst_moe_bench *const request = b->request;
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {
        {"hidden", request->hidden},       {"inter", request->inter},
        {"experts", request->experts},     {"topk", request->topk},
        {"tokens", request->tokens},       {"ranks", request->ranks},
        {"routing", request->routing},     {"skew_millionths", llround(request->skew * 1e6)},
        {"dtype", request->dtype},         {"element_bytes", 2},
        {"target", request->target},       {"tile_rows", TILE_ROWS},
        {"tile_cols", XSTI_MOE_TILE_COLS}, {"producers", b->main.layer.ctas},
        {"stages", STAGES_AT_ONCE},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        XSTI_TRY(xst_trace_add_fact(trace, facts[i].name, facts[i].value, diag));
    XSTI_TRY(add_orders(request, b->entries, b->entry_count, trace, diag));
    for (int64_t r = 0; r < b->main.active; r++) {
        char name[sizeof trace->facts[0].name];
        snprintf(name, sizeof name, "remote_rows_%d", (int)r);
        XSTI_TRY(xst_trace_add_fact(trace, name, xsti_moe_bench_sent_rows(b, r), diag));
    }
    return XST_OK;
}

/* Tiles are claimed: twice a CTA's share is room enough; a few marks stand outside of tiles. */
static int64_t marks_of(const struct xsti_moe_bench_state *b)
{
    const struct xst_moe_bench *const request = b->request;
    int64_t rows = 0;
    for (int64_t e = 0; e < request->experts; e++)
        rows += b->counts[e];
    const int64_t blocks = rows / TILE_ROWS + request->experts;
    const int64_t tiles = blocks * (xsti_ceil_div(2 * request->inter, XSTI_MOE_TILE_COLS) +
                                    xsti_ceil_div(request->hidden, XSTI_MOE_TILE_COLS));
    return 2 * (tiles / b->main.layer.ctas + 1) * MARKS_OF_TILE + 8;
}

static enum xst_status trace_entry(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry,
                                   struct xsti_trace_ring *rings, struct xst_trace *trace, struct xst_diag *diag)
{
    const int64_t ctas = b->main.layer.ctas;
    for (int64_t r = 0; r < b->main.active; r++)
        XSTI_TRY(
            xsti_trace_ring_open(&b->device[r].kernels->device, ctas, XSTI_MOE_TRACKS, marks_of(b), &rings[r], diag));
    XSTI_TRY(xsti_moe_bench_enqueue(b, entry, WARM_CALLS, diag));
    XSTI_TRY(xsti_moe_bench_enqueue_traced(b, entry, rings, diag));
    XSTI_TRY(xsti_moe_bench_finish(b, diag));
    XSTI_TRY(xst_trace_add_call(trace, xst_moe_trace_variant(&entry->order), diag));
    for (int64_t r = 0; r < b->main.active; r++)
        XSTI_TRY(xsti_trace_ring_read(&b->device[r].kernels->device, &rings[r], ctas, (int32_t)r, trace, diag));
    return XST_OK;
}

static enum xst_status trace_all(struct xsti_moe_bench_state *b, struct xst_trace *trace, struct xst_diag *diag)
{
    XSTI_TRY(xsti_moe_bench_plan(b, diag));
    XSTI_TRY(xsti_moe_bench_open(b, diag));
    for (int64_t d = 0; d < b->devices; d++)
        XSTI_TRY(xsti_moe_find_traced(b->device[d].kernels, diag));
    strcpy(trace->kernel, "moe");
    XSTI_TRY(add_facts(b, trace, diag));
    enum xst_status status = XST_OK;
    for (size_t i = 0; i < b->entry_count && status == XST_OK; i++) {
        struct xsti_trace_ring rings[XST_MOE_MOST_RANKS] = {{0}};
        status = trace_entry(b, &b->entries[i], rings, trace, diag);
        for (int64_t r = 0; r < b->main.active; r++)
            xsti_trace_ring_close(&b->device[r].kernels->device, &rings[r]);
    }
    return status;
}

static enum xst_status check(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries, size_t count,
                             struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_bench_check(bench, entries, count, diag));
    for (size_t i = 0; i < count; i++) {
        const struct xst_moe_order *const order = &entries[i].order;
        if (entries[i].form != XST_MOE_FORM_FUSED || !xsti_moe_has_traced(order))
            return xsti_fail(diag, XST_ERR_USAGE,
                             "moe trace: entry %zu is %s with tiles of %lld rows; fused ones of %d rows can be traced",
                             i, xst_moe_form_text(entries[i].form), (long long)order->tile_rows, TILE_ROWS);
        for (size_t j = 0; j < i; j++) {
            const struct xst_moe_order *const other = &entries[j].order;
            if (strcmp(xst_moe_trace_variant(order), xst_moe_trace_variant(other)) == 0 ||
                (order->schedule == other->schedule &&
                 (order->lead != other->lead || order->group != other->group || order->unit != other->unit)))
                return xsti_fail(diag, XST_ERR_USAGE,
                                 "moe trace: entries %zu and %zu differ in more than schedule and store, or in neither",
                                 j, i);
        }
    }
    return XST_OK;
}

enum xst_status xst_moe_bench_trace(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                    size_t count, struct xst_trace *trace_out, struct xst_diag *diag)
{
    struct xst_trace trace = {0};
    XSTI_TRY(check(bench, entries, count, diag));
    struct xsti_moe_bench_state *const b = calloc(1, sizeof *b);
    if (!b)
        return xsti_fail_memory(diag);
    b->request = bench;
    b->entries = entries;
    b->entry_count = count;
    const enum xst_status status = trace_all(b, &trace, diag);
    xsti_moe_bench_close(b);
    free(b);
    if (status != XST_OK) {
        xst_trace_free(&trace);
        return status;
    }
    xst_trace_finish(&trace);
    *trace_out = trace;
    return XST_OK;
}
