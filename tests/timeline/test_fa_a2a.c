/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + all-to-all: every row reaches its owner, time is bounded by compute and by the link, and limits are met.
 */
#include "timeline/fixture.h"

static const struct xst_fa_a2a_plan plain_plan = {.tile_rows = 128,
                                                  .tile_cols = 128,
                                                  .stages = 2,
                                                  .staging_slots = 1,
                                                  .method = XST_METHOD_ST16};

static int64_t rows_of(const struct xst_fa_a2a_shape *shape, int64_t rank)
{
    return shape->seq / shape->ranks + (rank < shape->seq % shape->ranks);
}

static void every_row_reaches_its_owner(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t draws = 88172645463325252u;
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    for (int i = 0; i < 24; i++) {
        struct xst_fa_a2a_shape shape =
            {fixture_draw(&draws, 1, 2), 0, 64, 0, fixture_draw(&draws, 2, i < 20 ? 8 : 14), 2};
        struct xst_timeline_result result;
        struct xst_diag diag = {XST_OK, 0, ""};
        shape.heads = shape.ranks * fixture_draw(&draws, 1, 3);
        shape.seq = fixture_draw(&draws, shape.ranks, 1500);
        const struct xst_timeline_options options = {.extrapolate = 1, .work_spread = 0.1, .seed = (uint64_t)i};
        fixture_ok(xst_timeline_fa_a2a(&fixture.profile, &shape, &plain_plan, &options, &result, &diag), &diag);
        const double row_bytes = 64 * 2, heads = (double)(shape.batch * shape.heads / shape.ranks);
        double all = 0;
        for (int64_t r = 0; r < shape.ranks; r++) {
            const double sent = heads * (double)(shape.seq - rows_of(&shape, r)) * row_bytes;
            const double received = heads * (double)(shape.ranks - 1) * (double)rows_of(&shape, r) * row_bytes;
            fixture_near(result.ranks[r].sent_bytes, sent, 1e-9);
            fixture_near(result.ranks[r].received_bytes, received, 1e-9);
            all += sent;
        }
        fixture_near(result.sent_bytes, all, 1e-9);
        assert_true(result.makespan_us >= all / (double)shape.ranks / 372e3 * (1 - 1e-9));
        assert_int_equal(result.tiles % shape.ranks, 0);
        xst_timeline_result_free(&result);
    }
}

static void without_its_exchange_it_is_waves_of_compute(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 4608, 4, 2};
    const struct xst_timeline_options options = {.extrapolate = 1};
    struct xst_fa_a2a_plan plan = plain_plan;
    struct xst_fa_a2a_counts counts;
    plan.producers = 132;
    plan.sm_flop_per_us = 989.4e6 / 132;
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fixture_ok(xst_fa_a2a_count(&shape, &plan, &counts, &diag), &diag);
    fixture_ok(xst_timeline_fa_a2a(&fixture.profile, &shape, &plan, &options, &result, &diag), &diag);
    fixture_near(result.free_us, (double)counts.waves * counts.tile_us, 1e-9);
    assert_true(result.exposed_us > 0 && result.sender_us <= result.makespan_us);
    assert_int_equal(result.tiles, 4 * counts.tiles);
    /* busy, stalled and waiting are never more than there is time */
    for (int64_t r = 0; r < 4; r++) {
        const struct xst_role_time *const math = &result.ranks[r].math;
        assert_true(math->busy_us + math->stall_us + math->wait_us <= result.ranks[r].end_us * (1 + 1e-9));
    }
    xst_timeline_result_free(&result);
}

static double exposed(struct fixture *fixture, enum xst_method method, enum xst_coupling coupling, double spread)
{
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 8192, 2, 2};
    const struct xst_timeline_options options = {.extrapolate = 1,
                                                 .coupling = coupling,
                                                 .work_spread = spread,
                                                 .seed = 3};
    struct xst_fa_a2a_plan plan = plain_plan;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    plan.method = method;
    fixture_ok(xst_timeline_fa_a2a(&fixture->profile, &shape, &plan, &options, &result, &diag), &diag);
    const double exposed_us = result.exposed_us;
    xst_timeline_result_free(&result);
    return exposed_us;
}

/* Bursts that drift or are bulk meet less backpressure; the completion-coupled view sees more than there is. */
static void views_are_in_order(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    const double aligned = exposed(&fixture, XST_METHOD_ST16, XST_COUPLING_ISSUE, 0);
    assert_true(exposed(&fixture, XST_METHOD_BULK, XST_COUPLING_ISSUE, 0) < aligned);
    assert_true(exposed(&fixture, XST_METHOD_ST16, XST_COUPLING_ISSUE, 0.05) < aligned);
    assert_true(exposed(&fixture, XST_METHOD_ST16, XST_COUPLING_COMPLETION, 0) > 1.5 * aligned);
}

static void the_profile_must_know(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 4608, 4, 2};
    const struct xst_timeline_options options = {0};
    struct xst_fa_a2a_plan plan = plain_plan;
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    plan.producers = 140;
    assert_int_equal(xst_timeline_fa_a2a(&fixture.profile, &shape, &plan, &options, &result, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "no capacity for 140"));
    fixture.profile.path_count = 1;
    plan.method = XST_METHOD_BULK;
    assert_int_equal(xst_timeline_fa_a2a(&fixture.profile, &shape, &plan, &options, &result, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "peer/bulk"));
}

/* As traced, kernels whose warpgroups take turns (d = 64) meet a stage of 0.66 of Q, and nothing else changes. */
static void as_traced_the_stage_is_smaller(void **state)
{
    (void)state;
    static const double kept[] = {1, 0.66, 1};
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_fa_a2a_shape shape = {1, 24, 64, 4608, 2, 2};
    double ends_us[3];
    for (int i = 0; i < 3; i++) {
        struct fixture fixture;
        struct xst_timeline_result result;
        const struct xst_timeline_options options = {.extrapolate = 1, .as_traced = i == 2};
        fixture_make(&fixture, 372e3, 1.5e-5, kept[i] * 10 * 1024);
        fixture_ok(xst_timeline_fa_a2a(&fixture.profile, &shape, &plain_plan, &options, &result, &diag), &diag);
        ends_us[i] = result.sender_us;
        xst_timeline_result_free(&result);
    }
    fixture_near(ends_us[2], ends_us[1], 1e-6);
    assert_true(ends_us[1] > ends_us[0] * (1 + 1e-3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_reaches_its_owner),
        cmocka_unit_test(without_its_exchange_it_is_waves_of_compute),
        cmocka_unit_test(views_are_in_order),
        cmocka_unit_test(the_profile_must_know),
        cmocka_unit_test(as_traced_the_stage_is_smaller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
