/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of the mixture of experts made from the walk itself keep every promise; each way of breaking one is found under its name.
 */
#include <xstage/audit_trace.h>

#include <string.h>

#include <xstage/moe_kernel.h>
#include <xstage/plan.h>

#include "audit/broken_checks.h"
#include "audit/fixture.h"

enum { HIDDEN = 640, INTER = 256, EXPERTS = 6, TOKENS = 300, CTAS = 7, REMOTE = 3, TILE_US = 50, ISSUE_US = 2 };
static const struct xst_moe_shape shape =
    {.hidden = HIDDEN, .inter = INTER, .experts = EXPERTS, .topk = 2, .tokens = TOKENS, .ranks = 2, .element_bytes = 2};

static void add_facts(struct xst_trace *trace, int64_t remote_rows)
{
    struct xst_diag diag = {0};
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {{"hidden", HIDDEN},
                 {"inter", INTER},
                 {"experts", EXPERTS},
                 {"topk", 2},
                 {"tokens", TOKENS},
                 {"ranks", 2},
                 {"routing", XST_ROUTING_ZIPF},
                 {"skew_millionths", 500000},
                 {"dtype", XST_MOE_BF16},
                 {"element_bytes", 2},
                 {"target", XST_TARGET_PEER},
                 {"tile_rows", 128},
                 {"tile_cols", 256},
                 {"producers", CTAS},
                 {"stages", 4},
                 {"lead", 6},
                 {"group", 1},
                 {"unit", 2},
                 {"wave_unit", 1},
                 {"remote_rows_0", remote_rows}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        xt_ok(xst_trace_add_fact(trace, facts[i].name, facts[i].value, &diag), &diag);
}

static void add(struct xst_trace *trace, struct xst_trace_span span, enum xst_trace_what what, double us, double bytes)
{
    struct xst_diag diag = {0};
    span.what = what;
    span.end_us = span.start_us + us;
    span.bytes = bytes;
    xt_ok(xst_trace_add_span(trace, &span, &diag), &diag);
}

/* One tile of one or two warpgroups, then what it ends with; REMOTE rows of each block leave. */
static void add_tile(struct xst_trace *trace, int64_t index, const struct xst_moe_tile *tile)
{
    const int64_t left = HIDDEN - tile->column * 256, columns = left < 256 ? left : 256;
    const int units = tile->rows > 64 ? 2 : 1;
    for (int unit = 0; unit < units; unit++) {
        struct xst_trace_span span = {.cta = (int32_t)(index % CTAS),
                                      .sm = (int32_t)(index % CTAS),
                                      .unit = unit,
                                      .role = XST_TRACE_ROLE_MATH,
                                      .tile = index,
                                      .start_us = (double)(index / CTAS) * (TILE_US + ISSUE_US + 1)};
        add(trace, span, XST_TRACE_LOAD, 1, 0);
        span.start_us += 1;
        add(trace, span, XST_TRACE_MATH, TILE_US, 0);
        span.start_us += TILE_US;
        if (tile->linear == 1)
            add(trace, span, XST_TRACE_ACT, ISSUE_US, 0);
        else
            add(trace, span, XST_TRACE_ISSUE, ISSUE_US, unit == 0 ? (double)(REMOTE * columns * 2) : 0);
    }
}

/* A call of rank 0 in one order, CTA i mod K for tile i. Returns the blocks. */
static int64_t add_call(struct xst_trace *trace, const char *variant, enum xst_schedule schedule)
{
    struct xst_diag diag = {0};
    struct xst_moe_plan plan = {.tile_rows = 128,
                                .tile_cols = 256,
                                .tile_depth = 64,
                                .producers = CTAS,
                                .stages = 4,
                                .staging_slots = 1,
                                .schedule = schedule,
                                .sm_flop_per_us = 1};
    const int interleaved = schedule == XST_SCHEDULE_INTERLEAVED;
    int64_t rows[EXPERTS], index = 0;
    struct xst_moe_walk walk;
    struct xst_moe_tile tile;
    xt_ok(xst_routing_make(XST_ROUTING_ZIPF, 0.5, &shape, rows, &diag), &diag);
    xt_ok(xst_moe_walk_begin(&shape, &plan, rows, EXPERTS / 2, interleaved ? 6 : 1, 1, &walk, &diag), &diag);
    walk.unit = interleaved ? 2 : 1;
    xt_ok(xst_trace_add_call(trace, variant, &diag), &diag);
    while (xst_moe_walk_next(&walk, &tile))
        add_tile(trace, index++, &tile);
    return walk.blocks;
}

static int64_t blocks;

static struct xst_trace good_trace(void)
{
    struct xst_trace trace = {.kernel = "moe"}, probe = {.kernel = "moe"};
    blocks = add_call(&probe, "wave_at_once", XST_SCHEDULE_WAVE);
    xst_trace_free(&probe);
    add_facts(&trace, blocks * REMOTE);
    add_call(&trace, "wave_at_once", XST_SCHEDULE_WAVE);
    add_call(&trace, "interleaved_at_once", XST_SCHEDULE_INTERLEAVED);
    xst_trace_finish(&trace);
    return trace;
}

static void promises_kept(void **state)
{
    struct xst_trace trace = good_trace();
    struct xst_profile profile = h200_profile();
    int broken[XST_TRACE_CHECK_COUNT];
    (void)state;
    broken_of(xst_audit_moe_trace, &trace, NULL, broken);
    for (int name = 0; name < XST_TRACE_CHECK_COUNT; name++)
        assert_int_equal(broken[name], 0);
    broken_of(xst_audit_moe_trace, &trace, &profile, broken);
    for (int name = 0; name < XST_TRACE_CHECK_COUNT; name++)
        assert_int_equal(broken[name], 0);
    xst_profile_free(&profile);
    xst_trace_free(&trace);
}

/* The first span of a call that is of this kind, from tile `tile` on. */
static struct xst_trace_span *span_of(struct xst_trace *trace, int call, enum xst_trace_what what, int64_t tile)
{
    struct xst_trace_span *found = NULL;
    for (size_t i = 0; i < trace->span_count; i++) {
        struct xst_trace_span *const span = &trace->spans[i];
        if (span->call == call && span->what == what && span->tile >= tile && (!found || span->tile < found->tile))
            found = span;
    }
    assert_non_null(found);
    return found;
}

static void each_break_is_found(void **state)
{
    (void)state;
    struct xst_trace trace = good_trace();
    span_of(&trace, 0, XST_TRACE_ISSUE, 0)->bytes += 512; /* a row more */
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_remote_bytes, XST_TRACE_CHECK_tiles_with_other_bytes);
    xst_trace_free(&trace);

    trace = good_trace(); /* bytes of a Linear-1 tile */
    span_of(&trace, 1, XST_TRACE_ACT, 0)->bytes = 512;
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_remote_bytes, XST_TRACE_CHECK_tiles_with_other_bytes);
    xst_trace_free(&trace);

    trace = good_trace(); /* first tiles are not claimed */
    span_of(&trace, 0, XST_TRACE_MATH, 2)->cta = 3;
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);

    trace = good_trace(); /* a tile that ended as one of the other layer */
    span_of(&trace, 1, XST_TRACE_ACT, 3)->what = XST_TRACE_ISSUE;
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);

    trace = good_trace(); /* a tile that half of its rows miss */
    span_of(&trace, 0, XST_TRACE_MATH, 4)->what = XST_TRACE_SLOT;
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);

    trace = good_trace(); /* claims of a CTA rise */
    span_of(&trace, 0, XST_TRACE_MATH, 0)->end_us = 1e6;
    ONLY(xst_audit_moe_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);
}

static void times_are_seen(void **state)
{
    static struct xst_trace_check checks[XST_TRACE_MOST_CHECKS];
    struct xst_trace trace = good_trace();
    struct xst_profile profile = h200_profile();
    struct xst_diag diag = {0};
    size_t count = 0;
    (void)state;
    xt_ok(xst_audit_moe_trace(&trace, &profile, NULL, checks, XST_TRACE_MOST_CHECKS, &count, &diag), &diag);
    for (size_t i = 0; i < count; i++) {
        const struct xst_trace_check *const check = &checks[i];
        const double seen = check->observed.value;
        if (check->name == XST_TRACE_CHECK_gap_us || check->name == XST_TRACE_CHECK_gap_l1_us)
            assert_true(seen > TILE_US - 1e-9 && seen < TILE_US + 1e-9);
        if (check->name == XST_TRACE_CHECK_issue_first_us)
            assert_true(seen > ISSUE_US - 1e-9 && seen < ISSUE_US + 1e-9);
        if (check->name == XST_TRACE_CHECK_stall_us && check->observed.known) /* every tile waited alike */
            assert_true(seen > -1e-9 && seen < 1e-9);
        if (check->name == XST_TRACE_CHECK_between_us && check->call == 0) /* no Linear-1 tile in between */
            assert_true(seen > TILE_US + 1 - 1e-9 && seen < TILE_US + 1 + 1e-9);
        if (check->name == XST_TRACE_CHECK_backlog_bytes)
            assert_true(check->observed.known && seen >= REMOTE * 256 * 2);
        if (check->name == XST_TRACE_CHECK_starved_us)
            assert_int_equal(check->promised.known, check->call == 1);
    }
    xst_profile_free(&profile);
    xst_trace_free(&trace);
}

static void faster_than_peak_is_found(void **state)
{
    struct xst_trace trace = good_trace();
    struct xst_profile profile = h200_profile();
    int broken[XST_TRACE_CHECK_COUNT];
    (void)state;
    for (size_t i = 0; i < trace.span_count; i++)
        if (trace.spans[i].tile == 0 && trace.spans[i].what == XST_TRACE_MATH)
            trace.spans[i].end_us = trace.spans[i].start_us + 0.01;
    broken_of(xst_audit_moe_trace, &trace, &profile, broken);
    assert_true(broken[XST_TRACE_CHECK_gap_l1_us] > 0 && broken[XST_TRACE_CHECK_gap_us] == 0);
    xst_profile_free(&profile);
    xst_trace_free(&trace);
}

#define REFUSED(trace, status, words)                                                                                  \
    do {                                                                                                               \
        xt_status(xst_audit_moe_trace((trace), NULL, NULL, checks, XST_TRACE_MOST_CHECKS, &count, &diag), status,      \
                  &diag);                                                                                              \
        xt_contains(diag.text, words);                                                                                 \
    } while (0)

static void refused(void **state)
{
    static struct xst_trace_check checks[XST_TRACE_MOST_CHECKS];
    struct xst_diag diag = {0};
    size_t count = 0;
    struct xst_trace trace = good_trace();
    (void)state;
    trace.calls[1].lost = 7;
    REFUSED(&trace, XST_ERR_NO_DATA, "lost 7 marks");
    trace.calls[1].lost = 0;
    span_of(&trace, 0, XST_TRACE_MATH, 0)->cta = CTAS;
    REFUSED(&trace, XST_ERR_RANGE, "tile 0 of CTA 7");
    span_of(&trace, 0, XST_TRACE_MATH, 0)->cta = 0;
    trace.facts[5].value = 0;
    REFUSED(&trace, XST_ERR_RANGE, "ranks is 0, outside 1..");
    trace.facts[5].value = 2;
    const int64_t tokens = trace.facts[4].value;
    trace.facts[4].value = 1 << 24;
    trace.facts[12].value = 8; /* columns of a tile */
    REFUSED(&trace, XST_ERR_RANGE, "tiles a call, at most 4194304");
    trace.facts[4].value = tokens;
    trace.facts[12].value = 256;
    strcpy(trace.calls[0].variant, "serial");
    REFUSED(&trace, XST_ERR_RANGE, "call serial is none of wave_at_once");
    strcpy(trace.calls[0].variant, "wave_at_once");
    trace.fact_count--;
    REFUSED(&trace, XST_ERR_NO_DATA, "remote_rows_0");
    strcpy(trace.kernel, "fa-a2a");
    REFUSED(&trace, XST_ERR_USAGE, "not of moe");
    xst_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_kept),  cmocka_unit_test(each_break_is_found),
        cmocka_unit_test(times_are_seen), cmocka_unit_test(faster_than_peak_is_found),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
