/* SPDX-License-Identifier: Apache-2.0
 *
 * One traced call of each variant asked for, behind a few that warm up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "fa_a2a/bench_state.h"
#include "gpu/trace_ring.h"

enum { TRACKS = 16, MARKS_OF_TILE = 5, WARM_CALLS = 3 };

static enum xst_status add_facts(const struct xsti_fa_bench *b, struct xst_trace *trace, struct xst_diag *diag)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {
        {"batch", request->batch},
        {"heads", request->heads_total},
        {"head_dim", request->head_dim},
        {"seq", request->seq},
        {"ranks", request->ranks},
        {"element_bytes", 2},
        {"target", request->target},
        {"tile_rows", 64 * b->choice.groups},
        {"tile_cols", xsti_fa_block_keys(request->head_dim, &b->choice)},
        {"producers", b->choice.ctas},
        {"stages", 2},
        {"slices", b->choice.slices},
        {"pairs", b->choice.pairs},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        XSTI_TRY(xst_trace_add_fact(trace, facts[i].name, facts[i].value, diag));
    return XST_OK;
}

/* Tiles are an upper bound for any groups; a CTA has the share of one, and two marks stand outside of tiles. */
static int64_t marks_of(const struct xsti_fa_bench *b)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const int64_t tiles = request->batch * b->heads * (request->seq / 64 + 2);
    return (tiles / b->choice.ctas + 1) * MARKS_OF_TILE + 4;
}

static enum xst_status trace_variant(struct xsti_fa_bench *b, enum xst_fa_a2a_variant variant,
                                     struct xsti_trace_ring rings[XSTI_FA_BENCH_RANKS], struct xst_trace *trace,
                                     struct xst_diag *diag)
{
    const int64_t ctas = xsti_fa_bench_is_fused(variant) ? b->choice.ctas : 2 * b->choice.ctas;
    const int64_t marks = xsti_fa_bench_is_fused(variant) ? marks_of(b) : 4;
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_trace_ring_open(&b->ranks[r].kernels->device, ctas, TRACKS, marks, &rings[r], diag));
    XSTI_TRY(xsti_fa_bench_enqueue(b, variant, WARM_CALLS, diag));
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_fa_bench_call(b, r, variant, &rings[r], diag));
    XSTI_TRY(xsti_fa_bench_finish(b, diag));
    XSTI_TRY(xst_trace_add_call(trace, xst_fa_a2a_variant_text(variant), diag));
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_trace_ring_read(&b->ranks[r].kernels->device, &rings[r], ctas, (int32_t)r, trace, diag));
    return XST_OK;
}

static enum xst_status trace_all(struct xsti_fa_bench *b, unsigned variants, struct xst_trace *trace,
                                 struct xst_diag *diag)
{
    XSTI_TRY(xsti_fa_bench_open(b, diag));
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_fa_find_traced(b->ranks[r].kernels, diag));
    strcpy(trace->kernel, "fa-a2a");
    XSTI_TRY(add_facts(b, trace, diag));
    enum xst_status status = XST_OK;
    for (int v = 0; v < XST_FA_A2A_VARIANT_COUNT && status == XST_OK; v++) {
        if (!(variants >> v & 1))
            continue;
        struct xsti_trace_ring rings[XSTI_FA_BENCH_RANKS] = {{0}};
        status = trace_variant(b, (enum xst_fa_a2a_variant)v, rings, trace, diag);
        for (int64_t r = 0; r < b->active; r++)
            xsti_trace_ring_close(&b->ranks[r].kernels->device, &rings[r]);
    }
    return status;
}

enum xst_status xst_fa_a2a_bench_trace(const struct xst_fa_a2a_bench *bench, unsigned variants,
                                       struct xst_trace *trace_out, struct xst_diag *diag)
{
    const unsigned possible = 1u << XST_FA_A2A_VARIANT_A2A_ONLY | 1u << XST_FA_A2A_VARIANT_ST16 |
                              1u << XST_FA_A2A_VARIANT_BULK | 1u << XST_FA_A2A_VARIANT_PACED;
    XSTI_TRY(xst_fa_a2a_bench_check(bench, diag));
    if (variants == 0 || (variants & ~possible))
        return xsti_fail(diag, XST_ERR_USAGE,
                         "fa-a2a trace: variants is 0x%x; the exchange alone and the fused ones can be traced",
                         variants);
    struct xst_trace trace = {0};
    struct xsti_fa_bench *const b = calloc(1, sizeof *b);
    if (!b)
        return xsti_fail_memory(diag);
    b->request = bench;
    const enum xst_status status = trace_all(b, variants, &trace, diag);
    xsti_fa_bench_close(b);
    free(b);
    if (status != XST_OK) {
        xst_trace_free(&trace);
        return status;
    }
    xst_trace_finish(&trace);
    *trace_out = trace;
    return XST_OK;
}
