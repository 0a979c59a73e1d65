/* SPDX-License-Identifier: Apache-2.0
 *
 * Described kernels, and the trace and picture of one.
 */
#include "timeline/fixture.h"

#include <jansson.h>

static struct xst_traffic described(void)
{
    struct xst_traffic traffic = {.path = {.target = XST_TARGET_PEER, .method = XST_METHOD_ST16}};
    strcpy(traffic.kernel, "k");
    traffic.producers = 132;
    traffic.bytes_per_producer = 32768;
    traffic.remote_frac = 0.5;
    traffic.burst_remote_frac = 1;
    traffic.gap_us = 8;
    traffic.bursts_per_producer = 10;
    return traffic;
}

static void its_share_leaves_the_device(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_timeline_options options = {0};
    struct xst_traffic traffic = described();
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fixture_ok(xst_timeline_traffic(&fixture.profile, &traffic, 3, &options, &result, &diag), &diag);
    fixture_near(result.sent_bytes, 3 * 132 * 32768.0 * 5, 1e-12);
    fixture_near(result.received_bytes, result.sent_bytes, 1e-12);
    fixture_near(result.free_us, 80, 1e-9);
    xst_timeline_result_free(&result);
    traffic.path.target = XST_TARGET_HOST;
    assert_int_equal(xst_timeline_traffic(&fixture.profile, &traffic, 1, &options, &result, &diag), XST_ERR_NO_DATA);
    traffic.path.target = XST_TARGET_PEER;
    assert_int_equal(xst_timeline_traffic(&fixture.profile, &traffic, 1, &options, &result, &diag), XST_ERR_RANGE);
}

static void described_kernels_never_hang(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t draws = 362436069u;
    fixture_make(&fixture, 50e3, 1.5e-5, 9000);
    for (int i = 0; i < 150; i++) {
        struct xst_traffic traffic = described();
        struct xst_timeline_result result;
        struct xst_diag diag = {XST_OK, 0, ""};
        traffic.producers = fixture_draw(&draws, 1, 132);
        traffic.bytes_per_producer = (double)fixture_draw(&draws, 1, 200000);
        traffic.remote_frac = (double)fixture_draw(&draws, 1, 100) / 100;
        traffic.burst_remote_frac = fmax(traffic.remote_frac, (double)fixture_draw(&draws, 0, 100) / 100);
        traffic.gap_us = (double)fixture_draw(&draws, 0, 1000) / 10;
        traffic.bursts_per_producer = (double)fixture_draw(&draws, 1, 9);
        traffic.staging_slots = fixture_draw(&draws, 0, 4);
        traffic.phase = (enum xst_phase)fixture_draw(&draws, 0, 2);
        traffic.path.method = i & 1 ? XST_METHOD_BULK : XST_METHOD_ST16;
        const struct xst_timeline_options options = {.extrapolate = 1,
                                                     .issuer = (enum xst_issuer)(i / 2 & 1),
                                                     .coupling = (enum xst_coupling)(i % 5 == 0),
                                                     .start_skew_us = i % 3,
                                                     .event_limit = 2000000};
        fixture_ok(xst_timeline_traffic(&fixture.profile, &traffic, fixture_draw(&draws, 2, 10), &options, &result,
                                        &diag),
                   &diag);
        fixture_near(result.received_bytes, result.sent_bytes, 1e-9);
        xst_timeline_result_free(&result);
    }
}

static void trace_and_picture_hold_every_span(void **state)
{
    (void)state;
    static const char *const names[XST_TIMELINE_KINDS] = {"work", NULL, NULL, NULL};
    struct fixture fixture;
    struct xst_spans spans = {0};
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_timeline_options options = {.span = xst_spans_add,
                                                 .span_context = &spans,
                                                 .series_step_us = 1,
                                                 .series_count = 50};
    struct xst_traffic traffic = described();
    char *text = NULL;
    traffic.producers = 12;
    fixture_make(&fixture, 372e2, 1.5e-5, 18 * 1024);
    fixture_ok(xst_timeline_traffic(&fixture.profile, &traffic, 2, &options, &result, &diag), &diag);
    fixture_ok(xst_timeline_trace(&spans, &result, names, &text, &diag), &diag);
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    json_t *event;
    size_t at, complete = 0, counters = 0;
    double busy_us = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), at, event) {
        const char *const phase = json_string_value(json_object_get(event, "ph"));
        complete += strcmp(phase, "X") == 0;
        counters += strcmp(phase, "C") == 0;
        if (strcmp(phase, "X") == 0 && strcmp(json_string_value(json_object_get(event, "name")), "work") == 0)
            busy_us += json_number_value(json_object_get(event, "dur"));
    }
    assert_int_equal(complete, spans.count);
    assert_int_equal(counters, 3 * result.series_count);
    fixture_near(busy_us, 2 * 12 * 10 * 8, 1e-4);
    json_decref(root);
    free(text);
    fixture_ok(xst_timeline_svg(&spans, &result, names, "a < b & \"c\"", 8, &text, &diag), &diag);
    assert_non_null(strstr(text, "a &#60; b &#38; &#34;c&#34;"));
    assert_non_null(strstr(text, "</svg>\n"));
    assert_null(strstr(text, "nan"));
    free(text);
    /* a limit drops the rest and counts it */
    const size_t all = spans.count;
    xst_spans_free(&spans);
    xst_timeline_result_free(&result);
    spans.most = 100;
    fixture_ok(xst_timeline_traffic(&fixture.profile, &traffic, 2, &options, &result, &diag), &diag);
    assert_int_equal(spans.count, 100);
    assert_int_equal(spans.dropped, all - 100);
    xst_spans_free(&spans);
    xst_timeline_result_free(&result);
}

static void words_are_read_back(void **state)
{
    (void)state;
    enum xst_coupling coupling;
    enum xst_issuer issuer;
    assert_int_equal(xst_coupling_parse("completion", &coupling), 0);
    assert_string_equal(xst_coupling_text(coupling), "completion");
    assert_int_equal(xst_issuer_parse("role", &issuer), 0);
    assert_string_equal(xst_issuer_text(issuer), "role");
    assert_int_equal(xst_issuer_parse("nobody", &issuer), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_share_leaves_the_device),
        cmocka_unit_test(described_kernels_never_hang),
        cmocka_unit_test(trace_and_picture_hold_every_span),
        cmocka_unit_test(words_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
