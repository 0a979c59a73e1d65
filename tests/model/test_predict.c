/* SPDX-License-Identifier: Apache-2.0
 *
 * All laws for one burst on a profile: what is known, what is not, what is marked.
 */
#include <xstage/model.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const double KIB = 1024, MIB = 1048576;

static struct xst_timing predict(const struct xst_path *path, double producers, double bytes, double gap_us,
                                 int extrapolate)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timing timing;
    const struct xst_burst burst = {producers, bytes, gap_us};
    xt_ok(xst_timing_predict(path, &burst, extrapolate, &timing, &diag), &diag);
    return timing;
}

static void golden_h200(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_timing timing = predict(profile.paths, 132, 32 * KIB, 5, 0);
    const uint32_t all =
        XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY | XST_TIMING_RELEASE | XST_TIMING_RELEASE_CAPACITY;
    assert_int_equal(timing.known, all);
    assert_int_equal(timing.extrapolated, 0);
    assert_int_equal(timing.reason, XST_REASON_NONE);
    xt_near(timing.burst_bytes, 132 * 32 * KIB, 0);
    xt_near(timing.drain_us, 11.63, 0.005);
    xt_near(timing.issue_floor_us, 0.5, 1e-12);
    xt_near(timing.issue_us, 6.63, 0.005);
    xt_near(timing.overhead_us, 6.13, 0.005);
    xt_near(timing.period_us, 11.63, 0.005);
    xt_near(timing.recovery_gap_us, 11.1, 0.05);
    xt_near(timing.isolated_issue_us, 4.86, 0.005);
    xt_near(timing.issue_aligned_us, 6.63, 0.005);
    xt_near(timing.backlog_bytes / MIB, 3.95, 0.005);
    xt_near(timing.capacity_bytes / MIB, 2.4, 1e-6);
    xt_near(timing.margin_rate_bytes, 372000 * 5.5 - 132 * 32 * KIB, 1e-6);
    assert_true(timing.margin_capacity_bytes < 0);
    xt_near(timing.completion_coupled_period_us, 16.63, 0.005);
    xt_near(timing.ideal_period_us, 11.63, 0.005);
    /* LogGP: the overhead is the smallest floor, 0.08 us; sender or network, whichever takes longer */
    xt_near(timing.loggp_period_us, 0.08 + timing.drain_us, 1e-9);
    xt_near(predict(profile.paths, 132, 32 * KIB, 20, 0).loggp_period_us, 20.08, 1e-9);
    xt_near(timing.release_us, timing.issue_us, 0);
    xt_near(predict(profile.paths, 132, 32 * KIB, 20, 0).issue_aligned_us, 4.86, 0.005);
    xt_near(predict(profile.paths, 132, 32 * KIB, 20, 0).ideal_period_us, 20, 0);
    xst_profile_free(&profile);
}

/* The paper's machine as a profile: T0 and Q at one K and one B, and nothing beside it. */
static struct xst_profile paper_profile(void)
{
    static const struct xst_floor_point floor = {148, 32768, 0.76, XST_FLOOR_SOURCE_GIVEN};
    static const struct xst_capacity_point capacity = {148, 4.25 * 1048576, 4.25 * 1048576, 4.25 * 1048576, 0};
    struct xst_profile profile = {.name = "paper", .path_count = 1};
    profile.paths = calloc(1, sizeof *profile.paths);
    struct xst_path *const path = profile.paths;
    path->threads = 256;
    path->drain_bytes_per_us = (struct xst_measure){717000, 717000, 717000, 0, 1};
    path->issue_floor = (struct xst_floor_table){malloc(sizeof floor), 1};
    path->capacity = (struct xst_capacity_table){malloc(sizeof capacity), 1};
    path->issue_floor.points[0] = floor;
    path->capacity.points[0] = capacity;
    path->valid = (struct xst_valid){148, 148, 32768, 32768};
    return profile;
}

static void check_paper(const struct xst_path *path)
{
    const struct xst_timing timing = predict(path, 148, 32 * KIB, 0, 0);
    assert_int_equal(timing.reason, XST_REASON_NONE);
    assert_int_equal(timing.extrapolated, 0);
    xt_near(timing.burst_bytes / MIB, 4.625, 1e-9);
    xt_near(timing.drain_us, 6.76, 0.005);
    xt_near(timing.recovery_gap_us, 6.00, 0.005);
    xt_near(timing.backlog_bytes / MIB, 4.105, 0.0005);
    xt_near(timing.isolated_issue_us, 0.76, 1e-9);
    assert_true(timing.margin_capacity_bytes > 0);
    /* any other K or B is not known, and says which quantity is missing first */
    static const double others[][2] = {{132, 32768}, {149, 32768}, {148, 16384}, {148, 33792}, {1, 32768}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct xst_timing unknown = predict(path, others[i][0], others[i][1], 5, 0);
        assert_int_equal(unknown.known & XST_TIMING_FLOOR, 0);
        assert_int_equal(unknown.reason, XST_REASON_NO_FLOOR);
        assert_int_equal(unknown.known & XST_TIMING_DRAIN, XST_TIMING_DRAIN);
        assert_int_equal(unknown.known & XST_TIMING_CAPACITY, others[i][0] == 148 ? XST_TIMING_CAPACITY : 0);
        const struct xst_timing marked = predict(path, others[i][0], others[i][1], 5, 1);
        assert_int_equal(marked.known & XST_TIMING_FLOOR, XST_TIMING_FLOOR);
        assert_int_equal(marked.extrapolated & XST_TIMING_FLOOR, XST_TIMING_FLOOR);
        assert_int_equal(marked.extrapolated & XST_TIMING_DRAIN, 0);
        assert_true(isfinite(marked.issue_us) && marked.issue_us > 0);
    }
}

static void golden_paper_profile(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    check_paper(profile.paths);
    xst_profile_free(&profile);
}

static void shipped_paper_profile(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile = {0};
    xt_ok(xst_profile_read(XST_SOURCE_DIR "/profiles/paper-148sm.json", &profile, NULL, &diag), &diag);
    check_paper(xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16));
    xst_profile_free(&profile);
}

static void beyond_the_range(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_timing refused = predict(profile.paths, 200, 32 * KIB, 5, 0);
    assert_int_equal(refused.known, XST_TIMING_DRAIN);
    assert_int_equal(refused.reason, XST_REASON_NO_FLOOR);
    const struct xst_timing marked = predict(profile.paths, 200, 32 * KIB, 5, 1);
    assert_int_equal(marked.extrapolated & (XST_TIMING_FLOOR | XST_TIMING_CAPACITY),
                     XST_TIMING_FLOOR | XST_TIMING_CAPACITY);
    assert_int_equal(marked.reason, XST_REASON_NONE);
    /* inside the range --extrapolate changes nothing */
    const struct xst_timing a = predict(profile.paths, 100, 20 * KIB, 5, 0),
                            b = predict(profile.paths, 100, 20 * KIB, 5, 1);
    assert_memory_equal(&a, &b, sizeof a);
    xst_profile_free(&profile);
}

static void missing_parameters(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_path *const path = profile.paths;
    path->capacity.count = 0;
    struct xst_timing timing = predict(path, 132, 32 * KIB, 5, 0);
    assert_int_equal(timing.reason, XST_REASON_NO_CAPACITY);
    assert_int_equal(timing.known & XST_TIMING_CAPACITY, 0);
    xt_near(timing.issue_us, 6.63, 0.005);
    path->capacity.count = 2;
    path->drain_bytes_per_us.known = 0;
    timing = predict(path, 132, 32 * KIB, 5, 0);
    assert_int_equal(timing.reason, XST_REASON_NO_DRAIN);
    assert_int_equal(timing.known & XST_TIMING_DRAIN, 0);
    xt_near(timing.issue_floor_us, 0.5, 1e-12);
    path->drain_bytes_per_us.known = 1;
    xst_profile_free(&profile);
}

/* On a staged path (bulk stores) issue stays on its floor and the backpressure is in the release. */
static void staged_path(void **state)
{
    (void)state;
    static const struct xst_floor_point release[] = {{132, 16384, 0.4, XST_FLOOR_SOURCE_ISOLATED},
                                                     {132, 32768, 0.8, XST_FLOOR_SOURCE_ISOLATED}};
    static const struct xst_capacity_point capacity = {132, 1.2 * 1048576, 1.2 * 1048576, 1.2 * 1048576, 1};
    struct xst_profile profile = xt_small_profile();
    struct xst_path *const path = profile.paths;
    path->release_floor = (struct xst_floor_table){malloc(sizeof release), 2};
    memcpy(path->release_floor.points, release, sizeof release);
    path->release_capacity = (struct xst_capacity_table){malloc(sizeof capacity), 1};
    path->release_capacity.points[0] = capacity;
    const struct xst_timing timing = predict(path, 132, 32 * KIB, 5, 0);
    xt_near(timing.issue_us, 0.5, 1e-12);
    xt_near(timing.release_floor_us, 0.8, 1e-12);
    xt_near(timing.release_us, 11.63 - 5, 0.005);
    xt_near(timing.period_us, 11.63, 0.005);
    xt_near(timing.recovery_gap_us, 11.63 - 0.8, 0.005);
    xt_near(timing.margin_rate_bytes, 372000 * (0.8 + 5) - 132 * 32 * KIB, 1e-6);
    xt_near(timing.margin_capacity_bytes, timing.capacity_bytes - timing.backlog_bytes, 1e-6);
    xt_near(timing.overhead_us, 11.63 - 5 - 0.8, 0.005);
    xt_near(timing.release_isolated_us, (132 * 32 * KIB - 1.2 * MIB) / 372000, 1e-9);
    path->release_capacity.count = 0;
    assert_int_equal(predict(path, 132, 32 * KIB, 5, 0).known & XST_TIMING_RELEASE_CAPACITY, 0);
    xst_profile_free(&profile);
}

static void bad_bursts(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    static const struct {
        struct xst_burst burst;
        const char *part;
    } cases[] = {
        {{0, 1024, 0}, "producers is 0"},       {{-1, 1024, 0}, "producers is -1"},
        {{NAN, 1024, 0}, "producers is"},       {{INFINITY, 1024, 0}, "producers is inf"},
        {{1, 0, 0}, "bytes_per_producer is 0"}, {{1, 0.5, 0}, "bytes_per_producer is 0.5"},
        {{1, NAN, 0}, "bytes_per_producer is"}, {{1, INFINITY, 0}, "bytes_per_producer is inf"},
        {{1, 1024, -1e-9}, "gap_us is -1e-09"}, {{1, 1024, NAN}, "gap_us is"},
        {{1, 1024, INFINITY}, "gap_us is inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {XST_OK, 0, ""};
        struct xst_timing timing, untouched;
        memset(&timing, 0x5a, sizeof timing);
        memset(&untouched, 0x5a, sizeof untouched);
        xt_status(xst_timing_predict(profile.paths, &cases[i].burst, 1, &timing, &diag), XST_ERR_RANGE, &diag);
        xt_contains(diag.text, cases[i].part);
        assert_memory_equal(&timing, &untouched, sizeof timing);
    }
    xst_profile_free(&profile);
}

static void many_are_many_ones(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_burst bursts[50];
    struct xst_timing timings[50];
    struct xst_diag diag = {XST_OK, 0, ""};
    for (int i = 0; i < 50; i++)
        bursts[i] = (struct xst_burst){1 + 2.5 * i, 1024 + 1200 * i, 0.3 * i};
    xt_ok(xst_timing_predict_many(profile.paths, bursts, 50, 0, timings, &diag), &diag);
    for (int i = 0; i < 50; i++) {
        const struct xst_timing one =
            predict(profile.paths, bursts[i].producers, bursts[i].bytes_per_producer, bursts[i].gap_us, 0);
        assert_memory_equal(&one, &timings[i], sizeof one);
    }
    bursts[20].gap_us = -1;
    xt_status(xst_timing_predict_many(profile.paths, bursts, 50, 0, timings, &diag), XST_ERR_RANGE, &diag);
    xt_ok(xst_timing_predict_many(profile.paths, bursts, 0, 0, timings, &diag), &diag);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_h200),
        cmocka_unit_test(golden_paper_profile),
        cmocka_unit_test(shipped_paper_profile),
        cmocka_unit_test(beyond_the_range),
        cmocka_unit_test(missing_parameters),
        cmocka_unit_test(staged_path),
        cmocka_unit_test(bad_bursts),
        cmocka_unit_test(many_are_many_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
