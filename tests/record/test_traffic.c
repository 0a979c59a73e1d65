/* SPDX-License-Identifier: Apache-2.0
 *
 * Traffic descriptions: defaults, words, ranges, and every mistake in one sentence that names file, key and value.
 */
#include <xstage/traffic.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define HEAD "{\"schema\":\"xstage.traffic/1\",\"kernel\":\"k\","
#define BODY "\"target\":\"peer\",\"method\":\"st16\",\"producers\":132,\"bytes_per_producer\":32768,\"gap_us\":10"

static enum xst_status parse(const char *text, struct xst_traffic *traffic, struct xst_diag *diag)
{
    memset(diag, 0, sizeof *diag);
    return xst_traffic_parse("t.json", text, strlen(text), traffic, diag);
}

static void reads_defaults(void **state)
{
    (void)state;
    struct xst_traffic traffic;
    struct xst_diag diag;
    xt_ok(parse(HEAD BODY "}", &traffic, &diag), &diag);
    assert_string_equal(traffic.kernel, "k");
    assert_int_equal(traffic.path.target, XST_TARGET_PEER);
    assert_int_equal(traffic.path.direction, XST_DIRECTION_ONE);
    assert_int_equal(traffic.path.threads, 0);
    assert_int_equal(traffic.producers, 132);
    xt_near(traffic.bytes_per_producer, 32768, 0);
    xt_near(traffic.remote_frac, 1, 0);
    xt_near(traffic.burst_remote_frac, 1, 0);
    assert_int_equal(traffic.phase, XST_PHASE_UNKNOWN);
    assert_int_equal(traffic.staging_slots, 0);
    assert_true(traffic.prefetch_us < 0);
    xt_near(traffic.bursts_per_producer, 0, 0);
}

static void reads_every_key(void **state)
{
    (void)state;
    struct xst_traffic traffic;
    struct xst_diag diag;
    xt_ok(parse("\xEF\xBB\xBF" HEAD BODY
                ",\r\n\"direction\":\"both\",\"threads\":128,\"piece_bytes\":256,\"pitch_bytes\":6144,"
                "\"remote_frac\":0.5,\"burst_remote_frac\":0.75,\"phase\":\"shifted\",\"staging_slots\":2,\"prefetch_"
                "us\":0,"
                "\"bursts_per_producer\":6,\"note\":\"for people\"}\r\n",
                &traffic, &diag),
          &diag);
    assert_int_equal(traffic.path.direction, XST_DIRECTION_BOTH);
    assert_int_equal(traffic.path.threads, 128);
    assert_int_equal(traffic.path.piece_bytes, 256);
    assert_int_equal(traffic.path.pitch_bytes, 6144);
    xt_near(traffic.remote_frac, 0.5, 0);
    xt_near(traffic.burst_remote_frac, 0.75, 0);
    assert_int_equal(traffic.phase, XST_PHASE_SHIFTED);
    assert_int_equal(traffic.staging_slots, 2);
    xt_near(traffic.prefetch_us, 0, 0);
    xt_near(traffic.bursts_per_producer, 6, 0);
}

/* What is wrong, and what the sentence must hold. */
struct mistake {
    const char *text;
    enum xst_status status;
    const char *says[3];
};

static const struct mistake mistakes[] = {
    {"", XST_ERR_PARSE, {"t.json", "empty"}},
    {"\xEF\xBB\xBF", XST_ERR_PARSE, {"empty"}},
    {"[]", XST_ERR_PARSE, {"object"}},
    {"{\"schema\":\"xstage.traffic/1\"", XST_ERR_PARSE, {"t.json:1", "not valid JSON"}},
    {"nonsense", XST_ERR_PARSE, {"not valid JSON"}},
    {"{" BODY "}", XST_ERR_SCHEMA, {"schema", "missing", "xstage.traffic/1"}},
    {"{\"schema\":1," BODY "}", XST_ERR_SCHEMA, {"schema"}},
    {"{\"schema\":\"xstage.traffic/2\",\"kernel\":\"k\"," BODY "}", XST_ERR_SCHEMA, {"xstage.traffic/2"}},
    {"{\"schema\":\"xstage.profile/1\",\"kernel\":\"k\"," BODY "}", XST_ERR_SCHEMA, {"xstage.profile/1"}},
    {"{\"schema\":\"xstage.traffic/1\"," BODY "}", XST_ERR_PARSE, {"kernel", "missing"}},
    {HEAD BODY ",\"gap\":1}", XST_ERR_PARSE, {"\"gap\"", "did you mean \"gap_us\"?"}},
    {HEAD BODY ",\"remote_fraction\":1}", XST_ERR_PARSE, {"did you mean \"remote_frac\"?"}},
    {HEAD BODY ",\"colour\":1}", XST_ERR_PARSE, {"\"colour\"", "not a key of a traffic description"}},
    {HEAD BODY ",\"\\u001b[31m\":1}", XST_ERR_PARSE, {"\"?[31m\""}},
    {HEAD BODY ",\"gap_us\":1}", XST_ERR_PARSE, {"t.json:1", "duplicate"}},
    {HEAD BODY ",\"phase\":\"later\"}", XST_ERR_PARSE, {"phase", "\"later\"", "unknown, aligned, shifted"}},
    {HEAD BODY ",\"direction\":\"back\"}", XST_ERR_PARSE, {"direction", "\"back\"", "one, both"}},
    {HEAD BODY ",\"threads\":1025}", XST_ERR_RANGE, {"threads", "1025", "0..1024"}},
    {HEAD BODY ",\"threads\":1.5}", XST_ERR_PARSE, {"threads", "an integer"}},
    {HEAD BODY ",\"threads\":99999999999999999999}", XST_ERR_PARSE, {"too big"}},
    {HEAD BODY ",\"remote_frac\":0}", XST_ERR_RANGE, {"remote_frac", "is 0"}},
    {HEAD BODY ",\"remote_frac\":1.01}", XST_ERR_RANGE, {"remote_frac", "1.01"}},
    {HEAD BODY ",\"remote_frac\":0.5,\"burst_remote_frac\":0.4}",
     XST_ERR_RANGE,
     {"burst_remote_frac", "0.4", "0.5..1"}},
    {HEAD BODY ",\"piece_bytes\":256}", XST_ERR_RANGE, {"pitch_bytes", "256"}},
    {HEAD BODY ",\"piece_bytes\":256,\"pitch_bytes\":128}", XST_ERR_RANGE, {"pitch_bytes is 128"}},
    {HEAD BODY ",\"staging_slots\":-1}", XST_ERR_RANGE, {"staging_slots", "-1"}},
    {HEAD BODY ",\"prefetch_us\":-1}", XST_ERR_RANGE, {"prefetch_us", "-1"}},
    {HEAD BODY ",\"prefetch_us\":true}", XST_ERR_PARSE, {"prefetch_us", "a boolean", "a number"}},
    {HEAD BODY ",\"bursts_per_producer\":1e13}", XST_ERR_RANGE, {"bursts_per_producer", "1e+13"}},
    {HEAD BODY ",\"bursts_per_producer\":1e999}", XST_ERR_PARSE, {"real number overflow"}},
    {HEAD BODY ",\"prefetch_us\":NaN}", XST_ERR_PARSE, {"not valid JSON"}},
    {HEAD BODY ",\"prefetch_us\":Infinity}", XST_ERR_PARSE, {"not valid JSON"}},
    {HEAD BODY ",\"note\":7}", XST_ERR_PARSE, {"note", "a text"}},
    {HEAD "\"target\":\"moon\",\"method\":\"st16\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":0}",
     XST_ERR_PARSE,
     {"target", "\"moon\"", "peer, host, local"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st8\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":0}",
     XST_ERR_PARSE,
     {"method", "\"st8\"", "st16, st4, bulk"}},
    {HEAD "\"target\":\"peer\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":0}",
     XST_ERR_PARSE,
     {"method", "missing"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st16\",\"producers\":0,\"bytes_per_producer\":1,\"gap_us\":0}",
     XST_ERR_RANGE,
     {"producers", "is 0", "1..65536"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st16\",\"producers\":1,\"bytes_per_producer\":0,\"gap_us\":0}",
     XST_ERR_RANGE,
     {"bytes_per_producer", "is 0"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st16\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":-0.5}",
     XST_ERR_RANGE,
     {"gap_us", "-0.5"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st16\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":\"1\"}",
     XST_ERR_PARSE,
     {"gap_us", "a text", "a number"}},
    {HEAD "\"target\":\"peer\",\"method\":\"st16\",\"producers\":1,\"bytes_per_producer\":1,\"gap_us\":null}",
     XST_ERR_PARSE,
     {"gap_us", "null"}},
};

static void refuses_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct xst_traffic traffic, untouched;
        struct xst_diag diag;
        memset(&traffic, 0x5a, sizeof traffic);
        memset(&untouched, 0x5a, sizeof untouched);
        const enum xst_status status = parse(mistakes[i].text, &traffic, &diag);
        if (status != mistakes[i].status)
            print_error("%s: %s\n", mistakes[i].text, diag.text);
        assert_int_equal(status, mistakes[i].status);
        assert_memory_equal(&traffic, &untouched, sizeof traffic);
        xt_contains(diag.text, "t.json");
        assert_null(strchr(diag.text, '\n'));
        for (size_t j = 0; j < 3 && mistakes[i].says[j]; j++)
            xt_contains(diag.text, mistakes[i].says[j]);
    }
}

/* Every prefix of a good description is refused in one sentence, none is read past its end. */
static void refuses_truncated_text(void **state)
{
    (void)state;
    const char *const whole = HEAD BODY ",\"phase\":\"aligned\"}";
    for (size_t bytes = 0; bytes < strlen(whole); bytes++) {
        struct xst_traffic traffic;
        struct xst_diag diag = {XST_OK, 0, ""};
        char *const part = malloc(bytes + 1);
        assert_non_null(part);
        memcpy(part, whole, bytes);
        const enum xst_status status = xst_traffic_parse("t.json", part, bytes, &traffic, &diag);
        free(part);
        assert_int_equal(status, XST_ERR_PARSE);
        xt_contains(diag.text, "t.json");
    }
}

static void checks_values_set_in_memory(void **state)
{
    (void)state;
    const struct xst_traffic good = {.producers = 1,
                                     .bytes_per_producer = 1,
                                     .remote_frac = 1,
                                     .burst_remote_frac = 1,
                                     .prefetch_us = -1};
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_traffic_check(&good, &diag), &diag);
    struct xst_traffic bad = good;
    bad.gap_us = NAN;
    xt_status(xst_traffic_check(&bad, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "gap_us is nan");
    bad = good;
    bad.prefetch_us = INFINITY;
    xt_status(xst_traffic_check(&bad, NULL), XST_ERR_RANGE, NULL);
    bad = good;
    bad.phase = (enum xst_phase)9;
    xt_status(xst_traffic_check(&bad, NULL), XST_ERR_RANGE, NULL);
    bad = good;
    bad.burst_remote_frac = NAN;
    xt_status(xst_traffic_check(&bad, NULL), XST_ERR_RANGE, NULL);
}

static void reads_the_examples(void **state)
{
    (void)state;
    static const char *const names[] = {"gemm-reduce-scatter.json", "kv-offload.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *const path = xt_join(XST_SOURCE_DIR "/examples/traffic", names[i]);
        struct xst_traffic traffic;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_traffic_read(path, &traffic, &diag), &diag);
        free(path);
    }
    struct xst_traffic traffic;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_traffic_read(XST_SOURCE_DIR "/examples", &traffic, &diag), XST_ERR_IO, &diag);
    xt_contains(diag.text, "directory");
    xt_status(xst_traffic_read(XST_SOURCE_DIR "/examples/traffic/none.json", &traffic, &diag), XST_ERR_IO, &diag);
    xt_contains(diag.text, "none.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_defaults),
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(refuses_mistakes),
        cmocka_unit_test(refuses_truncated_text),
        cmocka_unit_test(checks_values_set_in_memory),
        cmocka_unit_test(reads_the_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
