/* SPDX-License-Identifier: Apache-2.0
 *
 * The laws one by one, and the golden numbers of docs/model.md.
 */
#include <xstage/model.h>

#include <math.h>

#include "support/support.h"

static const double KIB = 1024, MIB = 1048576;

/* 148 SMs, 32 KiB each: the machine of the paper. */
static struct xst_stage paper_stage(void)
{
    return (struct xst_stage){0.76, 717000, 4.25 * MIB, 148 * 32 * KIB};
}

/* 132 SMs, 32 KiB each: the recorded H200 pair. */
static struct xst_stage h200_stage(void)
{
    return (struct xst_stage){0.50, 372000, 2.4 * MIB, 132 * 32 * KIB};
}

static void golden_paper(void **state)
{
    (void)state;
    const struct xst_stage stage = paper_stage();
    xt_near(stage.burst_bytes / MIB, 4.625, 1e-12);
    xt_near(stage.burst_bytes / stage.drain_bytes_per_us, 6.76, 0.005);
    xt_near(xst_law_recovery_gap_us(&stage), 6.00, 0.005);
    xt_near(xst_law_backlog_bytes(&stage) / MIB, 4.105, 0.0005);
    assert_true(xst_law_margin_capacity_bytes(&stage) > 0);
    xt_near(xst_law_margin_capacity_bytes(&stage) / MIB, 0.145, 0.0006);
    xt_near(xst_law_isolated_issue_us(&stage), 0.76, 0);
    xt_near(xst_law_issue_us(&stage, 0), 6.76, 0.005);
    xt_near(xst_law_issue_us(&stage, 6.01), 0.76, 0);
    /* the knee: V - R*T0 = Q at 33 KB per producer = 4.77 MiB */
    const double knee_bytes = stage.capacity_bytes + stage.drain_bytes_per_us * stage.floor_us;
    xt_near(knee_bytes / MIB, 4.77, 0.005);
    xt_near(knee_bytes / 148 / 1000, 33.8, 0.05);
    xt_near(knee_bytes / 148 / KIB, 33, 0.05);
}

static void golden_h200(void **state)
{
    (void)state;
    const struct xst_stage stage = h200_stage();
    xt_near(stage.burst_bytes / stage.drain_bytes_per_us, 11.63, 0.005);
    xt_near(xst_law_recovery_gap_us(&stage), 11.1, 0.05);
    xt_near(xst_law_backlog_bytes(&stage) / MIB, 3.95, 0.005);
    assert_true(xst_law_margin_capacity_bytes(&stage) < 0);
    assert_true(xst_law_margin_rate_bytes(&stage, 11.2) > 0);
    assert_true(xst_law_margin_rate_bytes(&stage, 11.0) < 0);
    /* "cut the burst to <= 18 KiB" holds with room at 18 KiB (T0 0.26 us) and fails at 24 KiB (0.36 us) */
    struct xst_stage cut = stage;
    cut.burst_bytes = 132 * 18 * KIB;
    cut.floor_us = 0.26;
    assert_true(xst_law_margin_capacity_bytes(&cut) >= 0);
    cut.burst_bytes = 132 * 24 * KIB;
    cut.floor_us = 0.36;
    assert_true(xst_law_margin_capacity_bytes(&cut) < 0);
    /* aligned: measured 5.28 at 32 KiB, 2.12 at 24, 0.25 at 16; the law says 4.9, 1.9, 0.25 */
    xt_near(xst_law_aligned_issue_us(&stage, 20), 4.9, 0.05);
    xt_near(xst_law_aligned_issue_us(&cut, 20), 1.9, 0.2);
    cut.burst_bytes = 132 * 16 * KIB;
    cut.floor_us = 0.25;
    xt_near(xst_law_aligned_issue_us(&cut, 20), 0.25, 0);
}

/* (12) with the tile of docs/model.md */
static void golden_m_upper_bound(void **state)
{
    (void)state;
    const struct xst_stage stage = h200_stage();
    const double sm_flop_per_us = 989.4e12 / 132 / 1e6;
    const double t_kv_us = 4.0 * 128 * 128 * 128 / sm_flop_per_us;
    xt_near(t_kv_us, 1.119, 0.0005);
    xt_near(128 * ceil(xst_law_recovery_gap_us(&stage) / t_kv_us), 1280, 0);
}

/* Different splits of one V give the same drain-dominated period; the period follows (4) and not (5). */
static void the_papers_method(void **state)
{
    (void)state;
    const struct xst_stage stage = h200_stage();
    struct xst_stage split = stage;
    split.floor_us = 0.25; /* the same bytes from twice the producers: less time each */
    for (double gap_us = 0; gap_us < 11; gap_us += 0.5)
        xt_near(xst_law_period_us(&stage, gap_us), xst_law_period_us(&split, gap_us), 0);
    xt_near(xst_law_period_us(&stage, 5), 11.63, 0.005);
    xt_near(xst_law_completion_coupled_us(&stage, 5), 16.63, 0.005);
    xt_near(xst_law_period_us(&stage, 20), 20.5, 1e-12);
    xt_near(xst_law_completion_coupled_us(&stage, 20), 31.63, 0.005);
}

static void each_law_by_hand(void **state)
{
    (void)state;
    /* R 10, V 100: drain 10 us; T0 2; Q 50 */
    const struct xst_stage stage = {2, 10, 50, 100};
    xt_near(xst_law_issue_us(&stage, 0), 10, 0);
    xt_near(xst_law_issue_us(&stage, 3), 7, 0);
    xt_near(xst_law_issue_us(&stage, 8), 2, 0);
    xt_near(xst_law_issue_us(&stage, 100), 2, 0);
    xt_near(xst_law_overhead_us(&stage, 3), 5, 0);
    xt_near(xst_law_overhead_us(&stage, 9), 0, 0);
    xt_near(xst_law_recovery_gap_us(&stage), 8, 0);
    xt_near(xst_law_period_us(&stage, 3), 10, 0);
    xt_near(xst_law_period_us(&stage, 9), 11, 0);
    xt_near(xst_law_completion_coupled_us(&stage, 9), 19, 0);
    xt_near(xst_law_backlog_bytes(&stage), 80, 0);
    xt_near(xst_law_isolated_issue_us(&stage), 5, 0);
    xt_near(xst_law_margin_rate_bytes(&stage, 3), -50, 0);
    xt_near(xst_law_margin_rate_bytes(&stage, 9), 10, 0);
    xt_near(xst_law_margin_capacity_bytes(&stage), -30, 0);
    xt_near(xst_law_aligned_issue_us(&stage, 3), 7, 0);
    xt_near(xst_law_aligned_issue_us(&stage, 5), 5, 0);
    xt_near(xst_law_aligned_issue_us(&stage, 50), 5, 0);
    xt_near(xst_law_aligned_period_us(&stage, 50), 55, 0);
    const struct xst_stage fast = {20, 10, 50, 100}; /* producers slower than the drain */
    xt_near(xst_law_issue_us(&fast, 0), 20, 0);
    xt_near(xst_law_recovery_gap_us(&fast), 0, 0);
    xt_near(xst_law_backlog_bytes(&fast), 0, 0);
    xt_near(xst_law_isolated_issue_us(&fast), 20, 0);
    xt_near(xst_law_margin_capacity_bytes(&fast), 50, 0);
}

static void no_bound_on_the_capacity(void **state)
{
    (void)state;
    const struct xst_stage stage = {2, 10, INFINITY, 100};
    xt_near(xst_law_isolated_issue_us(&stage), 2, 0);
    xt_near(xst_law_aligned_issue_us(&stage, 3), xst_law_issue_us(&stage, 3), 0);
    xt_near(xst_law_aligned_issue_us(&stage, 300), 2, 0);
    const struct xst_step step = xst_law_step(&stage, 1000, 4);
    xt_near(step.issue_us, 2, 0);
    xt_near(step.backlog_after_issue_bytes, 1080, 0);
    xt_near(step.backlog_after_gap_bytes, 1040, 0);
}

static void one_step_by_hand(void **state)
{
    (void)state;
    const struct xst_stage stage = {2, 10, 50, 100};
    struct xst_step step = xst_law_step(&stage, 0, 3); /* an isolated burst */
    xt_near(step.issue_us, 5, 0);
    xt_near(step.backlog_after_issue_bytes, 50, 0);
    xt_near(step.backlog_after_gap_bytes, 20, 0);
    step = xst_law_step(&stage, step.backlog_after_gap_bytes, 3); /* the next meets what is left */
    xt_near(step.issue_us, 7, 0);
    xt_near(step.backlog_after_gap_bytes, 20, 0);
    const struct xst_stage light = {20, 10, 50, 100};
    step = xst_law_step(&light, 30, 0);
    xt_near(step.issue_us, 20, 0);
    xt_near(step.backlog_after_issue_bytes, 0, 0);
}

static void bystanders(void **state)
{
    (void)state;
    xt_near(xst_law_bystander_delay_us(100, 250, 50), 0, 0);
    xt_near(xst_law_bystander_delay_us(250, 250, 50), 0, 0);
    xt_near(xst_law_bystander_delay_us(300, 250, 50), 1, 0);
    /* host path, 132 x 16 KiB: measured 35 us at most, Q_free 0.25 MB */
    xt_near(xst_law_bystander_delay_us(132 * 16 * KIB, 250000, 52700), 36.3, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_paper),         cmocka_unit_test(golden_h200),
        cmocka_unit_test(golden_m_upper_bound), cmocka_unit_test(the_papers_method),
        cmocka_unit_test(each_law_by_hand),     cmocka_unit_test(no_bound_on_the_capacity),
        cmocka_unit_test(one_step_by_hand),     cmocka_unit_test(bystanders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
