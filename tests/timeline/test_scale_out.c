/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks beyond one NVLink domain: what crosses takes its bytes over the interfaces' rate, what does not is left alone; and the
 * rate that SimGrid finds, when it is there.
 */
#include "timeline/fixture.h"

static const struct xst_moe_plan plan = {.tile_rows = 128,
                                         .tile_cols = 256,
                                         .tile_depth = 64,
                                         .producers = 132,
                                         .stages = 4,
                                         .staging_slots = 1,
                                         .method = XST_METHOD_ST16,
                                         .act_frac = 0.1};

static struct xst_timeline_result run(int64_t ranks, const struct xst_timeline_options *options)
{
    static const struct xst_moe_shape eight = {4096, 512, 16, 2, 2048, 0, 2};
    struct xst_moe_shape shape = eight;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t rows[16];
    shape.ranks = ranks;
    for (int e = 0; e < 16; e++)
        rows[e] = ranks * 2048 * 2 / 16;
    const struct xst_timeline_moe moe = {.rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fixture_ok(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, options, &result, &diag), &diag);
    return result;
}

/* Slow interfaces decide: both pulls and stores of a domain that leave it, over its rate. */
static void what_crosses_takes_bytes_over_rate(void **state)
{
    (void)state;
    for (int64_t domain = 2; domain <= 4; domain += 2)
        for (int steps = 0; steps < 2; steps++) {
            const struct xst_timeline_options options = {.extrapolate = 1,
                                                         .no_free_run = 1,
                                                         .rate_step_us = steps ? 2 : 0,
                                                         .scale_out = {domain, 20e3, 0}};
            struct xst_timeline_result result = run(8, &options);
            const double crossing =
                (double)(8 - domain) / 7 * (result.sent_bytes + result.pulled_bytes) / (8.0 / (double)domain);
            const double least_us = crossing / 20e3;
            assert_true(result.makespan_us >= least_us * (steps ? 0.97 : 1 - 1e-9));
            fixture_near(result.makespan_us, least_us, 0.12);
            fixture_near(result.received_bytes, result.sent_bytes, 1e-12);
            xst_timeline_result_free(&result);
        }
}

static void one_domain_and_fast_interfaces_change_nothing(void **state)
{
    (void)state;
    struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1};
    struct xst_timeline_result bare = run(4, &options);
    options.scale_out = (struct xst_scale_out){4, 1, 100};
    struct xst_timeline_result one = run(4, &options);
    fixture_near(one.makespan_us, bare.makespan_us, 1e-12);
    options.scale_out = (struct xst_scale_out){2, 1e9, 0};
    struct xst_timeline_result fast = run(4, &options); /* even faster: less stands on the ranks' own links */
    assert_true(fast.makespan_us <= bare.makespan_us * 1.0001);
    options.scale_out.latency_us = 7;
    struct xst_timeline_result late = run(4, &options);
    fixture_near(late.makespan_us, fast.makespan_us + 7, 1e-9);
    xst_timeline_result_free(&bare);
    xst_timeline_result_free(&one);
    xst_timeline_result_free(&fast);
    xst_timeline_result_free(&late);
}

/* More interface is never slower, and a monotone makespan ends at the links'. */
static void faster_interfaces_are_not_slower(void **state)
{
    (void)state;
    double before = INFINITY;
    for (double nic = 10e3; nic < 2e6; nic *= 2) {
        const struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1, .scale_out = {4, nic, 2}};
        struct xst_timeline_result result = run(16, &options);
        assert_true(result.makespan_us <= before * 1.005);
        before = result.makespan_us;
        xst_timeline_result_free(&result);
    }
}

static void attention_crosses_to_owners(void **state)
{
    (void)state;
    const struct xst_fa_a2a_shape shape = {1, 16, 128, 8192, 8, 2};
    const struct xst_fa_a2a_plan tiles = {.tile_rows = 128,
                                          .tile_cols = 128,
                                          .stages = 2,
                                          .staging_slots = 1,
                                          .method = XST_METHOD_ST16};
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    for (int64_t domain = 2; domain <= 4; domain += 2) {
        const struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1, .scale_out = {domain, 5e3, 0}};
        fixture_ok(xst_timeline_fa_a2a(&fixture.profile, &shape, &tiles, &options, &result, &diag), &diag);
        const double crossing = (double)(8 - domain) / 7 * result.sent_bytes / (8.0 / (double)domain);
        assert_true(result.makespan_us >= crossing / 5e3);
        xst_timeline_result_free(&result);
    }
}

static void nonsense_is_named(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag;
    const struct xst_moe_shape shape = {4096, 512, 16, 2, 2048, 8, 2};
    int64_t rows[16] = {64};
    const struct xst_timeline_moe moe = {.rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    struct xst_timeline_options options = {.extrapolate = 1, .scale_out = {3, 1e3, 0}};
    assert_int_equal(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &options, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "domain_ranks is 3"));
    options.scale_out = (struct xst_scale_out){4, 0, 0};
    assert_int_equal(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &options, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "nic_bytes_per_us"));
    struct xst_scale_out scale_out = {8, 400e3, 5};
    assert_int_equal(xst_scale_out_simgrid(NULL, 1, 1e6, &scale_out, &diag), XST_ERR_RANGE);
    assert_int_equal(xst_scale_out_simgrid("/no/such/platform.xml", 2, 1e6, &scale_out, &diag), XST_ERR_IO);
}

/* One switch: every domain gets its own rate, and a message the latency, as the network built in has it. */
static void simgrid_on_one_switch_is_the_builtin(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    for (int64_t domains = 2; domains <= 8; domains *= 2) {
        struct xst_scale_out scale_out = {8, 400e3, 5};
        const enum xst_status status = xst_scale_out_simgrid(NULL, domains, 64e6, &scale_out, &diag);
        if (status == XST_ERR_UNAVAILABLE) {
            print_message("SKIP: %s\n", diag.text);
            skip();
        }
        fixture_ok(status, &diag);
        fixture_near(scale_out.nic_bytes_per_us, 400e3, 0.02);
        fixture_near(scale_out.latency_us, 5, 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_crosses_takes_bytes_over_rate),
        cmocka_unit_test(one_domain_and_fast_interfaces_change_nothing),
        cmocka_unit_test(faster_interfaces_are_not_slower),
        cmocka_unit_test(attention_crosses_to_owners),
        cmocka_unit_test(nonsense_is_named),
        cmocka_unit_test(simgrid_on_one_switch_is_the_builtin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
