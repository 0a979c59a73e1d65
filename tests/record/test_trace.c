/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/trace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static struct xst_trace_span span(int rank, int sm, enum xst_trace_role role, enum xst_trace_what what, int64_t tile,
                                  double start_us, double end_us)
{
    return (struct xst_trace_span){.rank = rank,
                                   .sm = sm,
                                   .cta = sm,
                                   .role = role,
                                   .what = what,
                                   .tile = tile,
                                   .start_us = start_us,
                                   .end_us = end_us};
}

static void fill(struct xst_trace *trace)
{
    struct xst_diag diag = {0};
    *trace = (struct xst_trace){.kernel = "fa-a2a"};
    xt_ok(xst_trace_add_fact(trace, "heads", 24, &diag), &diag);
    xt_ok(xst_trace_add_fact(trace, "seq", 4096, &diag), &diag);
    xt_ok(xst_trace_add_call(trace, "a2a_only", &diag), &diag);
    struct xst_trace_span push = span(0, 5, XST_TRACE_ROLE_STORE, XST_TRACE_ISSUE, XST_TRACE_NO_TILE, 100, 103.5);
    push.bytes = 4096;
    xt_ok(xst_trace_add_span(trace, &push, &diag), &diag);
    xt_ok(xst_trace_add_call(trace, "fused_st16", &diag), &diag);
    struct xst_trace_span later = span(1, 131, XST_TRACE_ROLE_MATH, XST_TRACE_ISSUE, 7, 1060, 1062.25);
    later.unit = 1;
    later.bytes = 32768;
    struct xst_trace_span first = span(1, 131, XST_TRACE_ROLE_MATH, XST_TRACE_MATH, 7, 1010, 1060);
    first.unit = 1;
    first.stall_us = 2.5;
    xt_ok(xst_trace_add_span(trace, &later, &diag), &diag);
    xt_ok(xst_trace_add_span(trace, &first, &diag), &diag);
    const struct xst_trace_span other = span(0, 0, XST_TRACE_ROLE_LOAD, XST_TRACE_LOAD, 0, 500, 510);
    xt_ok(xst_trace_add_span(trace, &other, &diag), &diag);
    trace->calls[1].lost = 3;
    xst_trace_finish(trace);
}

static void finish_orders_and_shifts(void **state)
{
    (void)state;
    struct xst_trace trace;
    fill(&trace);
    assert_int_equal(trace.span_count, 4);
    assert_int_equal(trace.spans[0].call, 0);
    assert_true(trace.spans[0].start_us == 0 && trace.spans[0].end_us == 3.5);
    assert_int_equal(trace.spans[1].rank, 0);
    assert_int_equal(trace.spans[2].what, XST_TRACE_MATH);
    assert_true(trace.spans[2].start_us == 0);
    assert_true(trace.spans[3].start_us == 50);
    assert_int_equal(trace.calls[0].ranks, 1);
    assert_int_equal(trace.calls[1].ranks, 2);
    assert_true(trace.calls[1].duration_us == 52.25);
    xst_trace_free(&trace);
}

static void written_and_read_is_the_same(void **state)
{
    (void)state;
    struct xst_diag diag = {0};
    struct xst_trace trace, back;
    char *text = NULL, *again = NULL;
    fill(&trace);
    xt_ok(xst_trace_write(&trace, &text, &diag), &diag);
    xt_ok(xst_trace_parse("t.json", text, strlen(text), &back, &diag), &diag);
    xt_ok(xst_trace_write(&back, &again, &diag), &diag);
    assert_string_equal(text, again);
    assert_int_equal(back.span_count, 4);
    assert_int_equal(back.calls[1].lost, 3);
    assert_int_equal(back.spans[3].unit, 1);
    assert_int_equal(back.spans[3].sm, 131);
    assert_int_equal(back.spans[3].tile, 7);
    assert_true(back.spans[3].bytes == 32768);
    assert_true(back.spans[2].stall_us == 2.5);
    assert_int_equal(back.spans[0].tile, XST_TRACE_NO_TILE);
    int64_t value = 0;
    xt_ok(xst_trace_fact(&back, "seq", &value, &diag), &diag);
    assert_int_equal(value, 4096);
    assert_int_equal(xst_trace_fact(&back, "ranks", &value, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "ranks"));
    free(text);
    free(again);
    xst_trace_free(&trace);
    xst_trace_free(&back);
}

/* Each mistake names its place. */
static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
        enum xst_status status;
    } cases[] = {
        {"xstage.trace/1", "xstage.trace/2", "xstage.trace", XST_ERR_SCHEMA},
        {"\"name\":\"math\"", "\"name\":\"maths\"", "maths", XST_ERR_PARSE},
        {"\"dur\":50.000", "\"dur\":-1", "traceEvents[", XST_ERR_RANGE},
        {"\"pid\":1025,\"tid\":8401,\"name\":\"math\"", "\"pid\":99999,\"tid\":8401,\"name\":\"math\"", "pid",
         XST_ERR_RANGE},
        {"\"seq\":4096", "\"seq\":\"long\"", "seq", XST_ERR_PARSE},
        {"\"lost\":3", "\"lost\":-3", "lost", XST_ERR_RANGE},
        {"\"cta\":131", "\"cat\":131", "cta", XST_ERR_PARSE},
    };
    struct xst_trace trace;
    fill(&trace);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {0};
        struct xst_trace back;
        char *text = NULL, changed[8192];
        xt_ok(xst_trace_write(&trace, &text, &diag), &diag);
        const char *const at = strstr(text, cases[i].from);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[i].to, at + strlen(cases[i].from));
        const enum xst_status status = xst_trace_parse("t.json", changed, strlen(changed), &back, &diag);
        if (status != cases[i].status || !strstr(diag.text, cases[i].says))
            fail_msg("case %zu: %s: %s", i, xst_status_name(status), diag.text);
        free(text);
    }
    xst_trace_free(&trace);
}

static void full(void **state)
{
    (void)state;
    struct xst_trace trace = {0};
    struct xst_diag diag = {0};
    const struct xst_trace_span any = span(0, 0, XST_TRACE_ROLE_MATH, XST_TRACE_MATH, 0, 0, 1);
    assert_int_equal(xst_trace_add_span(&trace, &any, &diag), XST_ERR_USAGE);
    for (int i = 0; i < XST_TRACE_MOST_FACTS; i++)
        xt_ok(xst_trace_add_fact(&trace, "f", i, &diag), &diag);
    assert_int_equal(xst_trace_add_fact(&trace, "f", 0, &diag), XST_ERR_RANGE);
    for (int i = 0; i < XST_TRACE_MOST_CALLS; i++)
        xt_ok(xst_trace_add_call(&trace, "c", &diag), &diag);
    assert_int_equal(xst_trace_add_call(&trace, "c", &diag), XST_ERR_RANGE);
    xst_trace_free(&trace);
}

/* A name that was cut could end within a character: what is written then is no text that can be read. */
static void long_names(void **state)
{
    (void)state;
    struct xst_trace trace = {0};
    struct xst_diag diag = {0};
    xt_ok(xst_trace_add_fact(&trace, "twenty-three_bytes_long", 1, &diag), &diag);
    xt_status(xst_trace_add_fact(&trace, "twenty-four_bytes_long_a", 1, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "fact twenty-four_... has a name of 24 bytes, outside 1..23");
    xt_status(xst_trace_add_call(&trace, "twenty-four_bytes_long_a", &diag), XST_ERR_RANGE, &diag);
    static const char text[] =
        "{\"schema\":\"xstage.trace/1\",\"kernel\":\"moe\",\"facts\":{\"remote_rowfuzz.jsons_\xEF\xBB\xBF\":0},"
        "\"calls\":[],\"traceEvents\":[]}";
    xt_status(xst_trace_parse("long.json", text, strlen(text), &trace, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "long.json: trace: fact remote_rowfu... has a name of 24 bytes");
    xst_trace_free(&trace);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    struct xst_trace trace;
    struct xst_diag diag = {0};
    char *text = NULL;
    fill(&trace);
    trace.calls[1].variant[3] = '"';
    xt_status(xst_trace_write(&trace, &text, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "has character 0x22 at place 3");
    trace.calls[1].variant[3] = 'e';
    trace.facts[0].name[0] = '\n';
    xt_status(xst_trace_write(&trace, &text, &diag), XST_ERR_RANGE, &diag);
    trace.facts[0].name[0] = 'h';
    trace.spans[0].rank = 1024;
    xt_status(xst_trace_write(&trace, &text, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "span 0 is of rank 1024");
    assert_null(text);
    xst_trace_free(&trace);
}

static void sums(void **state)
{
    struct xst_trace trace;
    struct xst_trace_times times;
    (void)state;
    fill(&trace);
    xst_trace_sum(&trace, 1, &times);
    assert_int_equal(times.parts, 1);
    assert_int_equal(times.issues, 1);
    assert_true(times.math_us == 50 && times.issue_us == 2.25 && times.bytes == 32768);
    assert_true(times.stall_us == 2.5); /* what a loading role waits is its own affair */
    xst_trace_sum(&trace, 0, &times);   /* nothing of a tile */
    assert_true(times.parts == 0 && isnan(times.stall_us) && isnan(times.issue_us));
    xst_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finish_orders_and_shifts),
        cmocka_unit_test(written_and_read_is_the_same),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(full),
        cmocka_unit_test(long_names),
        cmocka_unit_test(what_cannot_be_written),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
