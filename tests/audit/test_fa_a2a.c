/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + all-to-all on the recorded pair: (12), the walk over the waves, presets.
 */
#include <xstage/shapes.h>

#include "audit/fixture.h"

static const struct xst_fa_a2a_plan plan_st16 = {.tile_rows = 128, .tile_cols = 128, .stages = 2, .staging_slots = 1};

static struct xst_audit audit_fa(const struct xst_profile *profile, struct xst_fa_a2a_shape shape,
                                 struct xst_fa_a2a_plan plan, double given_tflops)
{
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_audit_options options = {.given_tflops = given_tflops};
    xt_ok(xst_audit_fa_a2a(profile, &shape, &plan, &options, &audit, &diag), &diag);
    return audit;
}

static void golden_upper_bound(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_audit audit =
        audit_fa(&profile, (struct xst_fa_a2a_shape){1, 24, 128, 4608, 2, 2}, plan_st16, 645);
    xt_near(audit.fa.t_kv_min_us.value, 1.119, 0.001);
    xt_near(audit.fa.m_upper_bound.value, 1280, 0);
    xt_near(audit.fa.tiles.value, 432, 0);
    xt_near(audit.fa.waves.value, 4, 0);
    xt_near(audit.fa.last_wave_tiles.value, 36, 0);
    xt_near(audit.numbers.gap_us.value, 36 * 1.11916, 0.001);
    xt_near(audit.numbers.gap_given_us.value, 36 * 1.11916 * 989.4 / 645, 0.01);
    assert_int_equal(audit.verdict, XST_VERDICT_RESHAPE);
    assert_int_equal(audit.rate.holds, XST_ANSWER_YES);
    /* One aligned wave leaves whole, the second in part, the rest not at all: the tail is the fence. */
    const double floor_us = audit.numbers.issue_floor_us.value;
    assert_true(audit.fa.exposed_issue_us.value > 4 * floor_us);
    assert_true(audit.fa.exposed_issue_us.value < 2 * audit.aligned.issue_us.value + 2 * floor_us);
    xt_within(audit.fa.tail_us.value, 1.5, 2.5);
    xst_profile_free(&profile);
}

/* (12): at the bound and above it the rate holds, one inner step below it does not. */
static void the_upper_bound_is_tight(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_traffic traffic;
    struct xst_fa_a2a_plan plan = plan_st16;
    plan.producers = 132;
    plan.sm_flop_per_us = 989.4e6 / 132;
    for (int64_t seq = 1152; seq <= 1408; seq += 128) {
        const struct xst_fa_a2a_shape shape = {1, 64, 128, seq, 2, 2};
        xt_ok(xst_fa_a2a_traffic(&shape, &plan, &traffic, NULL), NULL);
        traffic.remote_frac = traffic.burst_remote_frac = 1;
        assert_int_equal(audit_of(&profile, &traffic).rate.holds, seq >= 1280 ? XST_ANSWER_YES : XST_ANSWER_NO);
    }
    xst_profile_free(&profile);
}

static void bulk_holds_for_every_preset(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_fa_a2a_plan plan = plan_st16;
    size_t count = 0;
    const struct xst_fa_preset *const presets = xst_fa_presets(&count);
    plan.method = XST_METHOD_BULK;
    for (size_t i = 0; i < count; i++) {
        const struct xst_fa_preset *const p = &presets[i];
        const struct xst_audit audit =
            audit_fa(&profile, (struct xst_fa_a2a_shape){p->batch, p->heads, p->head_dim, p->seq, 2, 2}, plan, 0);
        assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
        assert_int_equal(audit.action_count, 0);
        assert_true(audit.fa.exposed_us.known && audit.fa.exposed_us.value < 0.05 * audit.fa.compute_us.value);
    }
    xst_profile_free(&profile);
}

static void what_the_profile_must_know(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 4608, 2, 2};
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_audit_fa_a2a(&profile, &shape, &plan_st16, NULL, &audit, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "--peak-tflops");
    const struct xst_audit_options options = {.peak_tflops = 2000};
    xt_ok(xst_audit_fa_a2a(&profile, &shape, &plan_st16, &options, &audit, &diag), &diag);
    assert_int_equal(audit.traffic.producers, 148);
    assert_false(audit.fa.tail_us.known); /* no fence time in this profile */
    profile.machine.sm_count.known = 0;
    xt_status(xst_audit_fa_a2a(&profile, &shape, &plan_st16, &options, &audit, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "--producers");
    const struct xst_audit_options wrong = {.peak_tflops = -1};
    xt_status(xst_audit_fa_a2a(&profile, &shape, &plan_st16, &wrong, &audit, &diag), XST_ERR_NO_DATA, &diag);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_upper_bound),
        cmocka_unit_test(the_upper_bound_is_tight),
        cmocka_unit_test(bulk_holds_for_every_preset),
        cmocka_unit_test(what_the_profile_must_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
