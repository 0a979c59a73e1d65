/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces made from the walk itself keep every promise; each way of breaking one is found under its name.
 */
#include <xstage/audit_trace.h>

#include <string.h>

#include "audit/broken_checks.h"
#include "audit/fixture.h"

static const struct xst_fa_a2a_shape shape =
    {.batch = 1, .heads = 8, .head_dim = 128, .seq = 1000, .ranks = 2, .element_bytes = 2};
static const struct xst_fa_a2a_plan plan =
    {.tile_rows = 128, .tile_cols = 128, .producers = 12, .stages = 2, .staging_slots = 1, .sm_flop_per_us = 1};
enum { TILES = 32, TILE_US = 50, ISSUE_US = 2, CHECKS = XST_TRACE_CHECK_late_us + 1 };

static void add_facts(struct xst_trace *trace)
{
    struct xst_diag diag = {0};
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {{"batch", shape.batch},        {"heads", shape.heads},
                 {"head_dim", shape.head_dim},  {"seq", shape.seq},
                 {"ranks", shape.ranks},        {"element_bytes", shape.element_bytes},
                 {"tile_rows", plan.tile_rows}, {"tile_cols", plan.tile_cols},
                 {"producers", plan.producers}, {"stages", plan.stages},
                 {"target", XST_TARGET_PEER}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        xt_ok(xst_trace_add_fact(trace, facts[i].name, facts[i].value, &diag), &diag);
}

static double remote_bytes(int64_t rank, int64_t tile)
{
    return (double)xst_fa_a2a_tile_at(&shape, &plan, rank, tile).remote_rows * 256;
}

/* One tile of two warpgroups: computed, then issued. */
static void add_tile(struct xst_trace *trace, int32_t rank, int64_t tile)
{
    struct xst_diag diag = {0};
    const double start = (double)(tile / plan.producers) * (TILE_US + ISSUE_US);
    for (int32_t unit = 0; unit < 2; unit++) {
        struct xst_trace_span span = {.rank = rank,
                                      .cta = (int32_t)(tile % plan.producers),
                                      .unit = unit,
                                      .role = XST_TRACE_ROLE_MATH,
                                      .what = XST_TRACE_MATH,
                                      .tile = tile,
                                      .start_us = start,
                                      .end_us = start + TILE_US};
        span.sm = span.cta;
        xt_ok(xst_trace_add_span(trace, &span, &diag), &diag);
        span.what = XST_TRACE_ISSUE;
        span.start_us = span.end_us;
        span.end_us += ISSUE_US;
        span.bytes = remote_bytes(rank, tile) / 2;
        xt_ok(xst_trace_add_span(trace, &span, &diag), &diag);
    }
}

static struct xst_trace good_trace(void)
{
    struct xst_diag diag = {0};
    struct xst_trace trace = {.kernel = "fa-a2a"};
    add_facts(&trace);
    xt_ok(xst_trace_add_call(&trace, "fused_st16", &diag), &diag);
    for (int32_t rank = 0; rank < 2; rank++)
        for (int64_t tile = 0; tile < TILES; tile++)
            add_tile(&trace, rank, tile);
    xst_trace_finish(&trace);
    return trace;
}

static void promises_kept(void **state)
{
    (void)state;
    struct xst_trace trace = good_trace();
    struct xst_profile profile = h200_profile();
    int broken[XST_TRACE_CHECK_COUNT];
    assert_int_equal(broken_of(xst_audit_fa_a2a_trace, &trace, NULL, broken), 2 * CHECKS);
    for (int name = 0; name < XST_TRACE_CHECK_COUNT; name++)
        assert_int_equal(broken[name], 0);
    broken_of(xst_audit_fa_a2a_trace, &trace, &profile, broken);
    for (int name = 0; name < XST_TRACE_CHECK_COUNT; name++)
        assert_int_equal(broken[name], 0);
    xst_profile_free(&profile);
    xst_trace_free(&trace);
}

static struct xst_trace_span *span_of(struct xst_trace *trace, int64_t tile, enum xst_trace_what what)
{
    for (size_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].tile == tile && trace->spans[i].what == what)
            return &trace->spans[i];
    fail_msg("tile %d has no such span", (int)tile);
    return NULL;
}

static void each_break_is_found(void **state)
{
    (void)state;
    struct xst_trace trace = good_trace();
    span_of(&trace, 20, XST_TRACE_ISSUE)->bytes += remote_bytes(0, 20) > 0 ? -256 : 256;
    ONLY(xst_audit_fa_a2a_trace, &trace, XST_TRACE_CHECK_remote_bytes, XST_TRACE_CHECK_tiles_with_other_bytes);
    xst_trace_free(&trace);

    trace = good_trace();
    span_of(&trace, 20, XST_TRACE_MATH)->cta = 3;
    ONLY(xst_audit_fa_a2a_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);

    /* a tile that is only computed by one of its two warpgroups */
    trace = good_trace();
    span_of(&trace, 25, XST_TRACE_MATH)->what = XST_TRACE_LOAD;
    ONLY(xst_audit_fa_a2a_trace, &trace, XST_TRACE_CHECK_tiles_out_of_walk);
    xst_trace_free(&trace);

    /* bytes swapped between a tile of the first burst and a later one */
    trace = good_trace();
    const double first = span_of(&trace, 0, XST_TRACE_ISSUE)->bytes;
    span_of(&trace, 0, XST_TRACE_ISSUE)->bytes = 0;
    span_of(&trace, 31, XST_TRACE_ISSUE)->bytes += first;
    ONLY(xst_audit_fa_a2a_trace, &trace, XST_TRACE_CHECK_tiles_with_other_bytes, XST_TRACE_CHECK_first_burst_bytes,
         XST_TRACE_CHECK_bytes_before_last_tile);
    xst_trace_free(&trace);
}

/* Everything kept back until the end: the exchange behind the computation that fusing was to avoid. */
static void late_stores_are_found(void **state)
{
    (void)state;
    struct xst_trace trace = good_trace();
    for (size_t i = 0; i < trace.span_count; i++)
        if (trace.spans[i].what == XST_TRACE_ISSUE)
            trace.spans[i].start_us = trace.spans[i].end_us = 1000;
    ONLY(xst_audit_fa_a2a_trace, &trace, XST_TRACE_CHECK_bytes_before_last_tile);
    xst_trace_free(&trace);
}

static void faster_than_peak_is_found(void **state)
{
    (void)state;
    struct xst_trace trace = good_trace();
    struct xst_profile profile = h200_profile();
    int broken[XST_TRACE_CHECK_COUNT];
    for (size_t i = 0; i < trace.span_count; i++)
        if (trace.spans[i].tile == 5 && trace.spans[i].what == XST_TRACE_MATH)
            trace.spans[i].end_us = trace.spans[i].start_us + 1;
    broken_of(xst_audit_fa_a2a_trace, &trace, &profile, broken);
    assert_true(broken[XST_TRACE_CHECK_gap_us] > 0);
    xst_profile_free(&profile);
    xst_trace_free(&trace);
}

static void the_exchange_alone(void **state)
{
    (void)state;
    struct xst_trace trace = {.kernel = "fa-a2a"};
    struct xst_trace_check checks[4];
    struct xst_diag diag = {0};
    size_t count = 0;
    add_facts(&trace);
    xt_ok(xst_trace_add_call(&trace, "a2a_only", &diag), &diag);
    const struct xst_trace_span push = {.role = XST_TRACE_ROLE_STORE,
                                        .what = XST_TRACE_ISSUE,
                                        .tile = XST_TRACE_NO_TILE,
                                        .end_us = 9,
                                        .bytes = 4 * 500 * 256};
    xt_ok(xst_trace_add_span(&trace, &push, &diag), &diag);
    xst_trace_finish(&trace);
    xt_ok(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 4, &count, &diag), &diag);
    assert_int_equal(count, 1);
    assert_int_equal(checks[0].name, XST_TRACE_CHECK_remote_bytes);
    assert_int_equal(checks[0].holds, XST_ANSWER_YES);
    xst_trace_free(&trace);
}

static void refused(void **state)
{
    (void)state;
    struct xst_trace_check checks[1];
    struct xst_diag diag = {0};
    size_t count = 0;
    struct xst_trace trace = good_trace();
    trace.calls[0].lost = 7;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "lost 7 marks");
    trace.calls[0].lost = 0;
    span_of(&trace, 20, XST_TRACE_MATH)->tile = TILES;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "tile 32 of a walk of 32");
    span_of(&trace, TILES, XST_TRACE_MATH)->tile = 20;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "more than the 1 checks");
    trace.fact_count--;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "target");
    strcpy(trace.kernel, "moe");
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_USAGE, &diag);
    xst_trace_free(&trace);
}

/* A file may say that its call had any number of tiles. */
static void too_many_tiles(void **state)
{
    (void)state;
    struct xst_trace_check checks[1];
    struct xst_diag diag = {0};
    size_t count = 0;
    struct xst_trace trace = good_trace();
    assert_string_equal(trace.facts[3].name, "seq");
    trace.facts[3].value = 1 << 28;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "promise 8388608 tiles a call, at most 4194304");
    xst_trace_free(&trace);
}

/* What nobody looks at would keep every promise. */
static void nothing_to_look_at(void **state)
{
    (void)state;
    struct xst_trace_check checks[1];
    struct xst_diag diag = {0};
    size_t count = 0;
    struct xst_trace trace = good_trace();
    trace.spans[trace.span_count - 1].rank = 5;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "call fused_st16: a span of rank 5, outside 0..1");
    trace.span_count = 0;
    xst_trace_finish(&trace);
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "call fused_st16 has no spans");
    trace.call_count = 0;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "no calls");
    trace.facts[trace.fact_count - 1].value = 77;
    xt_status(xst_audit_fa_a2a_trace(&trace, NULL, NULL, checks, 1, &count, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "target is 77, outside 0..2");
    xst_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_kept),         cmocka_unit_test(each_break_is_found),
        cmocka_unit_test(late_stores_are_found), cmocka_unit_test(faster_than_peak_is_found),
        cmocka_unit_test(the_exchange_alone),    cmocka_unit_test(refused),
        cmocka_unit_test(too_many_tiles),        cmocka_unit_test(nothing_to_look_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
