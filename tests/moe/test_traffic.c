/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernel's counts and gaps, by hand for two layers.
 */
#include <xstage/moe.h>

#include <string.h>

#include "support/support.h"

static const struct xst_moe_plan plan128 = {.tile_rows = 128,
                                            .tile_cols = 256,
                                            .tile_depth = 64,
                                            .producers = 132,
                                            .stages = 4,
                                            .staging_slots = 1,
                                            .act_frac = 0.1,
                                            .sm_flop_per_us = 989.4e6 / 132};

static void describes_a_fine_grained_layer(void **state)
{
    (void)state;
    const struct xst_moe_shape shape = {2048, 768, 128, 8, 4096, 2, 2};
    struct xst_moe_counts counts;
    struct xst_traffic traffic;
    struct xst_moe_plan plan = plan128;
    xt_ok(xst_moe_count(&shape, &plan, &counts, NULL), NULL);
    assert_int_equal(counts.rows, 32768);
    assert_int_equal(counts.local_experts, 64);
    assert_int_equal(counts.blocks_per_expert, 4);
    assert_int_equal(counts.blocks, 256);
    assert_int_equal(counts.l1_per_block, 6);
    assert_int_equal(counts.l2_per_block, 8);
    assert_int_equal(counts.wave_experts, 11); /* 11 * 24 >= 264 */
    xt_near(counts.rho, 0.75, 1e-12);
    xt_near(counts.rho, 2.0 * 768 / 2048, 1e-12);
    xt_near(counts.l2_us, 2.0 * 128 * 256 * 768 / plan.sm_flop_per_us, 1e-9);
    xt_near(counts.l1_us, counts.l2_us * 2048 / 768, 1e-9);
    xt_near(counts.act_us, 0.1 * counts.l1_us, 1e-12);
    xt_ok(xst_moe_traffic(&shape, &plan, &traffic, NULL), NULL);
    assert_int_equal(traffic.producers, 132);
    xt_near(traffic.bytes_per_producer, 65536, 0);
    xt_near(traffic.remote_frac, 0.5, 0);
    xt_near(traffic.gap_us, counts.l2_us, 0);
    assert_int_equal(traffic.phase, XST_PHASE_UNKNOWN);
    plan.schedule = XST_SCHEDULE_INTERLEAVED;
    xt_ok(xst_moe_traffic(&shape, &plan, &traffic, NULL), NULL);
    xt_near(traffic.gap_us, counts.l2_us + 0.75 * counts.l1_us, 1e-9);
    assert_int_equal(traffic.phase, XST_PHASE_SHIFTED);
}

/* Fewer rows than a tile: bursts are as long as the rows there are. */
static void few_tokens(void **state)
{
    (void)state;
    const struct xst_moe_shape shape = {4096, 2048, 256, 6, 8, 8, 2};
    struct xst_moe_counts counts;
    xt_ok(xst_moe_count(&shape, &plan128, &counts, NULL), NULL);
    assert_int_equal(counts.rows, 48);
    assert_int_equal(counts.local_experts, 32);
    assert_int_equal(counts.rows_per_expert, 2);
    xt_near(counts.tile_bytes, 2.0 * 256 * 2, 0);
    assert_int_equal(counts.blocks, 32);
}

static void words_of_schedules(void **state)
{
    (void)state;
    enum xst_schedule schedule = XST_SCHEDULE_WAVE;
    assert_int_equal(xst_schedule_parse("interleaved", &schedule), 0);
    assert_int_equal(schedule, XST_SCHEDULE_INTERLEAVED);
    assert_int_equal(xst_schedule_parse("waves", &schedule), -1);
    assert_string_equal(xst_schedule_text(XST_SCHEDULE_WAVE), "wave");
}

static void refuses_what_is_no_layer(void **state)
{
    (void)state;
    const struct xst_moe_shape good = {2048, 768, 128, 8, 4096, 2, 2};
    struct xst_moe_shape shape = good;
    struct xst_diag diag = {XST_OK, 0, ""};
    shape.topk = 129;
    xt_status(xst_moe_check(&shape, &plan128, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "topk is 129");
    shape = good;
    shape.ranks = 256;
    xt_status(xst_moe_check(&shape, &plan128, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "experts is 128");
    shape.ranks = 1;
    xt_status(xst_moe_check(&shape, &plan128, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "nothing leaves the device");
    shape = good;
    shape.hidden = -5;
    xt_status(xst_moe_check(&shape, &plan128, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "hidden is -5");
}

/* A token's row once: expert by expert and in one sum, which for two layers is written out. */
static void rows_that_come_once(void **state)
{
    static const struct xst_moe_shape shapes[] = {
        {4096, 2048, 64, 6, 8192, 2, 2}, {2048, 768, 128, 8, 4096, 8, 2}, {1024, 512, 8, 8, 100, 4, 2},
        {1024, 512, 16, 1, 100, 4, 2},   {1024, 512, 6, 2, 10, 3, 2},
    };
    const struct xst_moe_plan plan = {.tile_rows = 128,
                                      .tile_cols = 256,
                                      .tile_depth = 64,
                                      .producers = 132,
                                      .stages = 4,
                                      .staging_slots = 1,
                                      .sm_flop_per_us = 1e6};
    struct xst_moe_counts counts;
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct xst_moe_shape *const shape = &shapes[i];
        const double each = (double)(shape->ranks * shape->tokens * shape->topk) / (double)shape->experts;
        double rows = 0;
        for (int64_t e = 0; e < shape->experts / shape->ranks; e++)
            rows += each * xst_moe_first_frac(shape, e);
        assert_int_equal(xst_moe_count(shape, &plan, &counts, NULL), XST_OK);
        xt_near(counts.fetched_rows, rows, 1e-9 * rows);
    }
    /* 6 experts, 2 of them here, 2 a token: 15 pairs, 6 of which miss both; 30 tokens */
    xt_near(counts.fetched_rows, 30 * (1 - 6.0 / 15), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_come_once),
        cmocka_unit_test(describes_a_fine_grained_layer),
        cmocka_unit_test(few_tokens),
        cmocka_unit_test(words_of_schedules),
        cmocka_unit_test(refuses_what_is_no_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
