/* SPDX-License-Identifier: Apache-2.0
 *
 * Mixture of experts: conservation, the lead's knee as the audit finds it, pools that are too small, and shapes nobody thought of.
 */
#include "timeline/fixture.h"

#include <xstage/audit.h>

/* H 4096, I 2048, 8 experts of 8 blocks on each of 2 ranks: the golden case of the lead. */
static const struct xst_moe_shape golden = {4096, 2048, 16, 2, 4096, 2, 2};
static const struct xst_moe_plan golden_plan = {.tile_rows = 128,
                                                .tile_cols = 256,
                                                .tile_depth = 64,
                                                .producers = 132,
                                                .stages = 4,
                                                .staging_slots = 1,
                                                .method = XST_METHOD_ST16,
                                                .schedule = XST_SCHEDULE_INTERLEAVED,
                                                .act_frac = 0.1};

static void fill_even(const struct xst_moe_shape *shape, int64_t *rows)
{
    for (int64_t e = 0; e < shape->experts; e++)
        rows[e] = shape->tokens * shape->topk * shape->ranks / shape->experts;
}

static struct xst_timeline_result run(const struct fixture *fixture, const struct xst_moe_shape *shape,
                                      const struct xst_moe_plan *plan, const struct xst_timeline_moe *moe)
{
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_timeline_options options = {.extrapolate = 1};
    fixture_ok(xst_timeline_moe(&fixture->profile, shape, plan, moe, &options, &result, &diag), &diag);
    return result;
}

/* Stores that take no time, rows that are there: only the list's own waits are left. */
static void the_knee_is_that_of_the_audit(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    struct xst_lead_knees knees;
    struct xst_lead_waits waits;
    const struct xst_lead_problem problem = {64, 16, 16, 132, 1, 0.5, 0.1};
    fixture_make(&fixture, 1e15, 0, 1e12);
    fill_even(&golden, rows);
    assert_int_equal(xst_lead_find(&problem, &knees, NULL), XST_OK);
    assert_int_equal(knees.steady, 127);
    for (int64_t lead = 30; lead <= 300; lead += lead == 120 ? 6 : lead < 120 ? 30 : lead < 130 ? 1 : 67) {
        const struct xst_timeline_moe moe = {.lead = lead, .group = 1, .no_pull = 1, .rows = rows};
        struct xst_timeline_result result = run(&fixture, &golden, &golden_plan, &moe);
        assert_int_equal(xst_lead_run(&problem, lead, &waits, NULL), XST_OK);
        assert_int_equal(result.waited[XST_MOE_STEADY], 2 * waits.steady_starved);
        assert_int_equal(result.waited[XST_MOE_STARTUP], 2 * waits.startup_starved);
        assert_int_equal(result.waited[XST_MOE_STEADY] > 0, lead < knees.steady);
        /* 1 us of the problem is one Linear-1 tile */
        const double l1_us = 2.0 * 128 * 256 * 4096 / (989.4e6 / 132);
        fixture_near(result.sender_us, waits.makespan_us * l1_us, 1e-9);
        xst_timeline_result_free(&result);
    }
}

static void bytes_and_tiles_are_conserved(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    const struct xst_timeline_moe moe = {.lead = 127, .group = 4, .rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fill_even(&golden, rows);
    rows[3] = 0; /* an expert without rows, and a ragged one */
    rows[4] = 1057;
    for (int schedule = 0; schedule < 2; schedule++) {
        struct xst_moe_plan plan = golden_plan;
        plan.schedule = (enum xst_schedule)schedule;
        struct xst_timeline_result result = run(&fixture, &golden, &plan, &moe);
        const double all_rows = 14 * 1024 + 1057;
        fixture_near(result.sent_bytes, all_rows * 4096 * 2 / 2, 1e-12);
        fixture_near(result.received_bytes, result.sent_bytes, 1e-12);
        fixture_near(result.pulled_bytes, result.sent_bytes, 1e-12);
        assert_int_equal(result.tiles, (14 * 8 + 9) * 32);
        assert_int_equal(result.bursts, (14 * 8 + 9) * 16);
        assert_true(result.exposed_us > 0);
        xst_timeline_result_free(&result);
    }
}

/* A token's row once: what all ranks pull is what they are expected to, and Linear 2 sends what it sent. */
static void rows_that_come_once(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    struct xst_moe_plan counted = golden_plan;
    struct xst_moe_counts counts;
    struct xst_timeline_moe moe = {.lead = 127, .group = 4, .rows = rows, .once = 1};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fill_even(&golden, rows);
    counted.sm_flop_per_us = 1;
    assert_int_equal(xst_moe_count(&golden, &counted, &counts, NULL), XST_OK);
    struct xst_timeline_result once = run(&fixture, &golden, &golden_plan, &moe);
    moe.once = 0;
    struct xst_timeline_result each = run(&fixture, &golden, &golden_plan, &moe);
    fixture_near(once.sent_bytes, each.sent_bytes, 1e-12);
    fixture_near(once.pulled_bytes / each.pulled_bytes, counts.fetched_rows / (double)counts.rows, 1e-9);
    assert_true(once.makespan_us <= each.makespan_us);
    moe.operand_bytes = 1; /* e4m3 comes as bytes and scales, and goes back as it did */
    struct xst_timeline_result bytes = run(&fixture, &golden, &golden_plan, &moe);
    fixture_near(bytes.sent_bytes, each.sent_bytes, 1e-12);
    fixture_near(bytes.pulled_bytes / each.pulled_bytes, (1 + 4.0 / 128) / 2, 1e-9);
    xst_timeline_result_free(&bytes);
    xst_timeline_result_free(&once);
    xst_timeline_result_free(&each);
}

/* Blocks of a unit are finished together: the same tiles and bytes, and a lead that is longer by a unit starves nobody. */
static void units_need_a_longer_lead(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    fixture_make(&fixture, 1e15, 0, 1e12);
    fill_even(&golden, rows);
    for (int64_t unit = 1; unit <= 8; unit *= 2) {
        struct xst_timeline_moe moe = {.lead = 127 + (unit > 1 ? unit : 0) * 16,
                                       .group = 1,
                                       .no_pull = 1,
                                       .rows = rows,
                                       .unit = unit};
        struct xst_timeline_result result = run(&fixture, &golden, &golden_plan, &moe);
        assert_int_equal(result.tiles, 2 * 64 * 32);
        assert_int_equal(result.waited[XST_MOE_STEADY], 0);
        xst_timeline_result_free(&result);
        if (unit < 8)
            continue;
        moe.lead = 128; /* the least that cannot hang */
        struct xst_timeline_result least = run(&fixture, &golden, &golden_plan, &moe);
        assert_true(least.waited[XST_MOE_STEADY] > 100);
        xst_timeline_result_free(&least);
    }
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_timeline_options options = {.extrapolate = 1};
    struct xst_moe_plan few = golden_plan;
    few.producers = 4;
    struct xst_timeline_moe short_lead = {.lead = 20, .group = 1, .no_pull = 1, .rows = rows, .unit = 8};
    assert_int_equal(xst_timeline_moe(&fixture.profile, &golden, &few, &short_lead, &options, &result, &diag),
                     XST_ERR_TIMEOUT);
    short_lead.unit = -1;
    assert_int_equal(xst_timeline_moe(&fixture.profile, &golden, &few, &short_lead, &options, &result, &diag),
                     XST_ERR_RANGE);
}

/* What cannot go on is named. */
static void too_small_a_lead_or_ring_is_named(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t rows[16];
    const struct xst_timeline_options options = {.extrapolate = 1};
    struct xst_moe_plan plan = golden_plan;
    struct xst_timeline_moe moe = {.lead = 300, .group = 1, .ring_blocks = 3, .rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fill_even(&golden, rows);
    assert_int_equal(xst_timeline_moe(&fixture.profile, &golden, &plan, &moe, &options, &result, &diag),
                     XST_ERR_TIMEOUT);
    assert_non_null(
        strstr(diag.text, "Linear-1 tile 0 of block 3 waits for Linear-2 tiles to leave pool slot 0: 0 of 16"));
    plan.producers = 4;
    moe = (struct xst_timeline_moe){.lead = 8, .group = 1, .rows = rows};
    assert_int_equal(xst_timeline_moe(&fixture.profile, &golden, &plan, &moe, &options, &result, &diag),
                     XST_ERR_TIMEOUT);
    assert_non_null(strstr(diag.text, "Linear-2 tile 0 of block 0 waits for Linear-1 tiles of pool slot 0:"));
    moe.lead = 16; /* n1: the least that cannot hang */
    struct xst_timeline_result least = run(&fixture, &golden, &plan, &moe);
    xst_timeline_result_free(&least);
    moe.lead = 0;
    assert_int_equal(xst_timeline_moe(&fixture.profile, &golden, &plan, &moe, &options, &result, &diag), XST_ERR_RANGE);
}

/* A ring that holds the lead and what is in flight changes nothing but the pull. */
static void a_ring_large_enough_runs(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    struct xst_timeline_moe moe = {.lead = 127, .group = 1, .rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fill_even(&golden, rows);
    struct xst_timeline_result whole = run(&fixture, &golden, &golden_plan, &moe);
    moe.ring_blocks = 40;
    struct xst_timeline_result ring = run(&fixture, &golden, &golden_plan, &moe);
    assert_true(ring.makespan_us < 1.2 * whole.makespan_us);
    fixture_near(ring.sent_bytes, whole.sent_bytes, 1e-12);
    xst_timeline_result_free(&whole);
    xst_timeline_result_free(&ring);
}

/* More ranks than experts: groups that do not see each other, so every group is like one alone. */
static void replicas_are_groups(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[4] = {300, 200, 250, 274};
    struct xst_moe_shape shape = {512, 256, 4, 2, 128, 4, 2};
    struct xst_moe_plan plan = golden_plan;
    const struct xst_timeline_moe moe = {.lead = 20, .group = 1, .rows = rows};
    plan.producers = 8;
    fixture_make(&fixture, 50e3, 1.5e-5, 18 * 1024);
    struct xst_timeline_result one = run(&fixture, &shape, &plan, &moe);
    shape.ranks = 8;
    struct xst_timeline_result two = run(&fixture, &shape, &plan, &moe);
    fixture_near(two.makespan_us, one.makespan_us, 1e-9);
    fixture_near(two.sent_bytes, 2 * one.sent_bytes, 1e-12);
    fixture_near(two.ranks[5].received_bytes, one.ranks[1].received_bytes, 1e-12);
    xst_timeline_result_free(&one);
    xst_timeline_result_free(&two);
}

static void steps_are_close_to_exact(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[16];
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_moe_plan plan = golden_plan;
    const struct xst_timeline_moe moe = {.lead = 127, .group = 1, .rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fill_even(&golden, rows);
    for (int schedule = 0; schedule < 2; schedule++) {
        struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1, .work_spread = 0.02};
        struct xst_timeline_result exact, steps;
        plan.schedule = (enum xst_schedule)schedule;
        fixture_ok(xst_timeline_moe(&fixture.profile, &golden, &plan, &moe, &options, &exact, &diag), &diag);
        options.rate_step_us = 2;
        fixture_ok(xst_timeline_moe(&fixture.profile, &golden, &plan, &moe, &options, &steps, &diag), &diag);
        fixture_near(steps.makespan_us, exact.makespan_us, 0.03);
        xst_timeline_result_free(&exact);
        xst_timeline_result_free(&steps);
    }
}

/* Little compute, much to send: the links decide, and none carries more than it can; in steps that holds on average. */
static void full_links_carry_what_they_can(void **state)
{
    (void)state;
    struct fixture fixture;
    int64_t rows[48];
    fixture_make(&fixture, 30e3, 1.5e-5, 18 * 1024);
    for (int64_t ranks = 2; ranks <= 48; ranks = ranks == 2 ? 8 : ranks == 8 ? 24 : ranks + 24) {
        const struct xst_moe_shape shape = {2048, 64, ranks, 1, 4096, ranks, 2};
        const struct xst_timeline_moe moe = {.lead = 200, .group = 1, .rows = rows};
        fill_even(&shape, rows);
        struct xst_timeline_result result = run(&fixture, &shape, &golden_plan, &moe);
        const double rate = (result.sent_bytes + result.pulled_bytes) / (double)ranks / result.makespan_us;
        if (!(rate <= 30e3 * (ranks > 8 ? 1.03 : 1 + 1e-9) && rate >= 30e3 * 0.9))
            fail_msg("%lld ranks: %g of 30e3 bytes/us", (long long)ranks, rate);
        xst_timeline_result_free(&result);
    }
}

static void nothing_hangs(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t draws = 2463534242u;
    int64_t rows[32], finished = 0;
    fixture_make(&fixture, 100e3, 1.5e-5, 4096);
    for (int i = 0; i < 200; i++) {
        struct xst_moe_shape shape = {fixture_draw(&draws, 1, 700),
                                      fixture_draw(&draws, 1, 600),
                                      0,
                                      1,
                                      0,
                                      fixture_draw(&draws, 2, i % 20 ? 5 : 11),
                                      2};
        shape.experts = shape.ranks * fixture_draw(&draws, 1, 2);
        shape.topk = fixture_draw(&draws, 1, 2);
        shape.tokens = fixture_draw(&draws, 1, 300);
        struct xst_moe_plan plan = golden_plan;
        plan.tile_rows = fixture_draw(&draws, 16, 128);
        plan.tile_cols = fixture_draw(&draws, 16, 256);
        plan.producers = fixture_draw(&draws, 1, 20);
        plan.staging_slots = fixture_draw(&draws, 1, 3);
        plan.method = i & 1 ? XST_METHOD_BULK : XST_METHOD_ST16;
        plan.schedule = (enum xst_schedule)fixture_draw(&draws, 0, 1);
        plan.act_frac = (double)fixture_draw(&draws, 0, 30) / 10;
        for (int64_t e = 0; e < shape.experts; e++)
            rows[e] = fixture_draw(&draws, 0, 400);
        const struct xst_timeline_moe moe = {fixture_draw(&draws, 1, 60),
                                             fixture_draw(&draws, 1, 9),
                                             fixture_draw(&draws, 0, 1) * fixture_draw(&draws, 1, 12),
                                             (int)fixture_draw(&draws, 0, 1),
                                             rows,
                                             i & 1,
                                             0,
                                             i % 3,
                                             0,
                                             0};
        const struct xst_timeline_options options = {.extrapolate = 1,
                                                     .issuer = (enum xst_issuer)(i / 2 & 1),
                                                     .coupling = (enum xst_coupling)(i % 7 == 0),
                                                     .work_spread = 0.1 * (i & 1),
                                                     .event_limit = 3000000,
                                                     .seed = (uint64_t)i};
        struct xst_timeline_result result;
        struct xst_diag diag = {XST_OK, 0, ""};
        const enum xst_status status =
            xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &options, &result, &diag);
        if (status == XST_OK) {
            finished++;
            fixture_near(result.received_bytes, result.sent_bytes, 1e-9);
            xst_timeline_result_free(&result);
        } else if (status != XST_ERR_TIMEOUT || strncmp(diag.text, "no progress", 11) != 0) {
            fail_msg("case %d: %s", i, diag.text);
        }
    }
    assert_true(finished > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_knee_is_that_of_the_audit),
        cmocka_unit_test(bytes_and_tiles_are_conserved),
        cmocka_unit_test(rows_that_come_once),
        cmocka_unit_test(units_need_a_longer_lead),
        cmocka_unit_test(too_small_a_lead_or_ring_is_named),
        cmocka_unit_test(a_ring_large_enough_runs),
        cmocka_unit_test(replicas_are_groups),
        cmocka_unit_test(steps_are_close_to_exact),
        cmocka_unit_test(full_links_carry_what_they_can),
        cmocka_unit_test(nothing_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
