/* SPDX-License-Identifier: Apache-2.0
 *
 * A fused mixture-of-experts layer: (13) and (14) by hand, the recommendation, the lead beside (15).
 */
#include "audit/fixture.h"

static const struct xst_moe_plan plan_wave =
    {.tile_rows = 128, .tile_cols = 256, .tile_depth = 64, .stages = 4, .staging_slots = 1, .act_frac = 0.1};

static struct xst_audit audit_moe(const struct xst_profile *profile, struct xst_moe_shape shape,
                                  struct xst_moe_plan plan, int64_t lead)
{
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_audit_options options = {.lead = lead};
    xt_ok(xst_audit_moe(profile, &shape, &plan, &options, &audit, &diag), &diag);
    return audit;
}

static void a_fine_grained_layer_wants_interleaving(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_moe_shape shape = {2048, 768, 128, 8, 4096, 2, 2};
    const struct xst_audit audit = audit_moe(&profile, shape, plan_wave, 0);
    const double drain = audit.numbers.drain_bytes_per_us.value, floor_us = audit.numbers.issue_floor_us.value;
    /* (13): K_act * V_t > R * (T0 + T_L2) */
    xt_near(audit.rate.margin_bytes.value, drain * (floor_us + audit.moe.t_l2_us.value) - 132 * 32768.0, 1);
    assert_int_equal(audit.rate.holds, XST_ANSWER_NO);
    assert_int_equal(audit.verdict, XST_VERDICT_RESHAPE);
    /* (14) */
    const struct xst_audit_schedule *const other = &audit.schedules[XST_SCHEDULE_INTERLEAVED];
    xt_near(other->gap_us.value, audit.moe.t_l2_us.value + 0.75 * audit.moe.t_l1_us.value, 1e-9);
    assert_int_equal(other->rate.holds, XST_ANSWER_YES);
    assert_int_equal(other->verdict, XST_VERDICT_PIGGYBACK);
    assert_true(audit.moe.recommended_known);
    assert_int_equal(audit.moe.recommended, XST_SCHEDULE_INTERLEAVED);
    assert_int_equal(audit.actions[0].what, XST_CHANGE_SCHEDULE);
    assert_string_equal(audit.actions[0].from_word, "wave");
    assert_string_equal(audit.actions[0].to_word, "interleaved");
    xt_near(audit.actions[0].predicted_issue_us.value, floor_us, 1e-9);
    struct xst_moe_plan plan = plan_wave;
    plan.schedule = XST_SCHEDULE_INTERLEAVED;
    const struct xst_audit judged = audit_moe(&profile, shape, plan, 0);
    assert_int_equal(judged.verdict, XST_VERDICT_PIGGYBACK);
    xst_profile_free(&profile);
}

static void leads(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_moe_shape shape = {4096, 2048, 256, 6, 8192, 8, 2};
    const struct xst_audit audit = audit_moe(&profile, shape, plan_wave, 100);
    xt_near(audit.moe.lead_first_tiles.value, 161, 0);
    xt_near(audit.moe.lead_knee_tiles.value, 127, 0);
    xt_near(audit.moe.lead_startup_tiles.value, 264, 0);
    xt_near(audit.moe.lead_working_set_bytes.value, 127.0 * 128 * 128 * 2, 0);
    xt_near(audit.moe.lead_tiles.value, 100, 0);
    assert_true(audit.moe.lead_starved_tiles.value > 0 && audit.moe.lead_stall_us.value > 0);
    const struct xst_audit enough = audit_moe(&profile, shape, plan_wave, 127);
    xt_near(enough.moe.lead_starved_tiles.value, 0, 0);
    xst_profile_free(&profile);
}

/* A call too short for a steady state has no knee, and says nothing instead of zero. */
static void few_tokens(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_audit audit =
        audit_moe(&profile, (struct xst_moe_shape){4096, 2048, 256, 1, 4, 8, 2}, plan_wave, 0);
    assert_false(audit.moe.lead_knee_tiles.known);
    assert_true(audit.moe.lead_first_tiles.known);
    xst_profile_free(&profile);
}

static void bulk_wave_of_wide_experts(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_moe_plan plan = plan_wave;
    plan.method = XST_METHOD_BULK;
    const struct xst_audit audit = audit_moe(&profile, (struct xst_moe_shape){4096, 14336, 8, 2, 4096, 2, 2}, plan, 0);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    assert_int_equal(audit.moe.recommended, XST_SCHEDULE_WAVE);
    assert_int_equal(audit.action_count, 0);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fine_grained_layer_wants_interleaving),
        cmocka_unit_test(leads),
        cmocka_unit_test(few_tokens),
        cmocka_unit_test(bulk_wave_of_wide_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
