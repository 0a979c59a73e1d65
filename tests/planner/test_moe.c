/* SPDX-License-Identifier: Apache-2.0
 *
 * Schedules of real layers: who interleaves, who keeps the wave, what the lead costs, what is not known.
 */
#include <xstage/audit.h>

#include "planner/fixture.h"

static struct xst_plan plan_of(const struct xst_profile *profile, struct xst_moe_shape shape, enum xst_routing routing,
                               double skew, const struct xst_plan_moe_options *options)
{
    static int64_t counts[1024];
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t first = 0, end = 0;
    xt_ok(xst_routing_make(routing, skew, &shape, counts, &diag), &diag);
    xst_moe_experts_of(&shape, 0, &first, &end);
    xt_ok(xst_plan_moe(profile, &shape, &moe_tiles, options, 0, counts + first, end - first, &plan, &diag), &diag);
    plan_holds(&plan);
    return plan;
}

/* Wide experts: both bounds hold with bulk stores even when tiles stay aligned, so there is nothing to gain. */
static void mixtral_keeps_the_wave(void **state)
{
    (void)state;
    static const struct xst_plan_moe_options options = {.aligned = 1, .order_cost_frac = -1, .staged_cost_frac = -1};
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, moe_shape_of("mixtral-8x7b", 2), XST_ROUTING_UNIFORM, 0, &options);
    assert_int_equal(chosen_of(&plan)->schedule, XST_SCHEDULE_WAVE);
    assert_true(plan.answers.stall_saved_us.value <= plan.answers.locality_cost_us.value);
    assert_true(chosen_of(&plan)->exposed_issue_us.value < 0.002 * chosen_of(&plan)->compute_us.value);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* What the order and the stores cost by themselves is weighed against the waits they save. */
static void own_costs_decide(void **state)
{
    (void)state;
    static const struct xst_plan_moe_options measured = {.given_tflops = 593};
    struct xst_profile profile = pair_profile();
    struct xst_moe_shape shape = moe_shape_of("deepseek-v4-flash", 2);
    shape.experts /= 4;
    struct xst_plan plan = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, &measured);
    assert_int_equal(chosen_of(&plan)->schedule, XST_SCHEDULE_WAVE);
    assert_int_equal(chosen_of(&plan)->method, XST_METHOD_ST16);
    assert_true(plan.answers.locality_cost_us.value > plan.answers.stall_saved_us.value);
    for (size_t i = 0; i < plan.count; i++) {
        const struct xst_plan_candidate *const c = &plan.considered[i];
        const double frac = (c->schedule == XST_SCHEDULE_INTERLEAVED ? XST_MOE_ORDER_COST_FRAC : 0) +
                            (c->method == XST_METHOD_BULK ? XST_MOE_STAGED_COST_FRAC : 0);
        xt_near(c->order_us.value, frac * c->compute_us.value, 1e-6);
    }
    xst_plan_free(&plan);
    plan = plan_of(&profile, moe_shape_of("qwen3-30b", 8), XST_ROUTING_UNIFORM, 0, &measured);
    assert_int_equal(chosen_of(&plan)->schedule, XST_SCHEDULE_INTERLEAVED);
    xst_plan_free(&plan);

    static const struct xst_plan_moe_options none = {.order_cost_frac = -1, .staged_cost_frac = -1};
    plan = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, &none);
    xt_near(plan.considered[plan.count - 1].order_us.value, 0, 0);
    xst_plan_free(&plan);
    static const struct xst_plan_moe_options bad = {.order_cost_frac = 11};
    struct xst_moe_setup setup;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_moe_setup_make(&profile, &shape, &moe_tiles, &bad, &setup, &diag), XST_ERR_RANGE, &diag);
    xst_profile_free(&profile);
}

/* Tiles that drift apart meet the path later than tiles that stay aligned. */
static void aligned_waits_longer(void **state)
{
    (void)state;
    static const struct xst_plan_moe_options options[2] = {{.methods = 1 << XST_METHOD_ST16},
                                                           {.methods = 1 << XST_METHOD_ST16, .aligned = 1}};
    struct xst_profile profile = pair_profile();
    struct xst_plan plans[2];
    for (int i = 0; i < 2; i++)
        plans[i] = plan_of(&profile, moe_shape_of("qwen3-30b", 2), XST_ROUTING_UNIFORM, 0, &options[i]);
    assert_int_equal(plans[0].count, plans[1].count);
    for (size_t i = 0; i < plans[0].count; i++)
        assert_true(plans[0].considered[i].predicted_us.value <= plans[1].considered[i].predicted_us.value + 1e-3);
    assert_true(chosen_of(&plans[0])->predicted_us.value < chosen_of(&plans[1])->predicted_us.value);
    for (int i = 0; i < 2; i++)
        xst_plan_free(&plans[i]);
    xst_profile_free(&profile);
}

/* Fine-grained experts violate the wave's rate bound (13); the audit says so too. */
static void fine_grained_experts_interleave(void **state)
{
    (void)state;
    static const int64_t ranks[] = {2, 4, 8};
    struct xst_profile profile = pair_profile();
    for (size_t i = 0; i < 3; i++) {
        const struct xst_moe_shape shape = moe_shape_of("qwen3-30b", ranks[i]);
        struct xst_diag diag = {XST_OK, 0, ""};
        struct xst_audit audit;
        xt_ok(xst_audit_moe(&profile, &shape, &moe_tiles, NULL, &audit, &diag), &diag);
        assert_int_equal(audit.schedules[XST_SCHEDULE_WAVE].rate.holds, XST_ANSWER_NO);
        struct xst_plan plan = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, NULL);
        assert_int_equal(chosen_of(&plan)->schedule, XST_SCHEDULE_INTERLEAVED);
        assert_true(plan.answers.stall_saved_us.value > plan.answers.locality_cost_us.value);
        xt_near(plan.answers.lead_knee_tiles.value, audit.moe.lead_knee_tiles.value, 0);
        xt_near(plan.answers.lead_startup_tiles.value, audit.moe.lead_startup_tiles.value, 0);
        xt_near(plan.answers.lead_first_tiles.value, audit.moe.lead_first_tiles.value, 0);
        xt_near(plan.answers.blocks.value, audit.moe.blocks.value, 0);
        assert_true(chosen_of(&plan)->lead_tiles.value >= plan.answers.lead_knee_tiles.value);
        xst_plan_free(&plan);
    }
    xst_profile_free(&profile);
}

/* A lead that does not fit the L2 is paid for: with little L2 a smaller working set wins, and the cost is by the
 * byte. */
static void locality(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_moe_shape shape = moe_shape_of("deepseek-v3", 8);
    struct xst_plan_moe_options tight = {.l2_bytes = 2097152}, slow = {.l2_bytes = 2097152, .reread_bytes_per_us = 1e5};
    struct xst_plan roomy = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, NULL),
                    small = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, &tight),
                    dear = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, &slow);
    for (size_t i = 0; i < small.count; i++) {
        const struct xst_plan_candidate *const c = &small.considered[i];
        const double set = c->working_set_bytes.value, all = 256.0 * 16 * 128 * 128 * 2;
        const double want = set > 2097152 ? (set - 2097152) / set * all / 4.8e6 : 0;
        xt_near(c->locality_us.value, want, 1e-6);
        assert_true(c->locality_us.value >= 0);
    }
    xt_near(chosen_of(&roomy)->locality_us.value, 0, 0);
    assert_true(chosen_of(&dear)->working_set_bytes.value <= chosen_of(&small)->working_set_bytes.value);
    xst_plan_free(&roomy);
    xst_plan_free(&small);
    xst_plan_free(&dear);
    xst_profile_free(&profile);
}

/* More rows on a hot rank: later, never sooner; the choice stays a choice. */
static void skewed_routing(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_moe_shape shape = moe_shape_of("qwen3-235b", 8);
    struct xst_plan even = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, NULL),
                    hot_rank = plan_of(&profile, shape, XST_ROUTING_HOT_RANK, 3, NULL),
                    hot_expert = plan_of(&profile, shape, XST_ROUTING_HOT_EXPERT, 8, NULL),
                    zipf = plan_of(&profile, shape, XST_ROUTING_ZIPF, 1, NULL);
    xt_near(hot_rank.answers.rows.value, 3 * even.answers.rows.value, 16 * 2);
    assert_true(chosen_of(&hot_rank)->predicted_us.value > 2 * chosen_of(&even)->predicted_us.value);
    assert_true(chosen_of(&hot_expert)->predicted_us.value > chosen_of(&even)->predicted_us.value);
    assert_true(chosen_of(&zipf)->predicted_us.value > chosen_of(&even)->predicted_us.value);
    xst_plan_free(&even);
    xst_plan_free(&hot_rank);
    xst_plan_free(&hot_expert);
    xst_plan_free(&zipf);
    xst_profile_free(&profile);
}

/* Longer calls, slower drain, smaller peak: each only lengthens what it can. */
static void monotone(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_moe_shape shape = moe_shape_of("qwen3-30b", 4);
    double last_us = 0;
    for (shape.tokens = 512; shape.tokens <= 8192; shape.tokens *= 2) {
        struct xst_plan plan = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, NULL);
        assert_true(chosen_of(&plan)->predicted_us.value > last_us);
        last_us = chosen_of(&plan)->predicted_us.value;
        xst_plan_free(&plan);
    }
    for (size_t i = 0; i < profile.path_count; i++)
        profile.paths[i].drain_bytes_per_us.value *= 0.5;
    shape.tokens = 8192;
    struct xst_plan slow = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, NULL);
    assert_true(chosen_of(&slow)->predicted_us.value > last_us);
    xst_plan_free(&slow);
    xst_profile_free(&profile);
}

static void unknown_is_said(void **state)
{
    (void)state;
    struct xst_profile profile = stored_profile("paper-148sm.json");
    struct xst_moe_shape shape = moe_shape_of("qwen3-30b", 8);
    struct xst_plan_moe_options options = {.peak_tflops = 2000};
    struct xst_moe_setup setup;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (!profile.machine.l2_bytes.known) {
        xt_status(xst_moe_setup_make(&profile, &shape, &moe_tiles, &options, &setup, &diag), XST_ERR_NO_DATA, &diag);
        xt_contains(diag.text, "--l2-bytes");
    }
    options.l2_bytes = 1e8;
    struct xst_plan plan = plan_of(&profile, shape, XST_ROUTING_UNIFORM, 0, &options);
    assert_int_equal(plan.chosen, -1);
    xt_contains(plan.sentence, "no candidate can be predicted: the profile has no ");
    assert_false(plan.considered[0].predicted_us.known);
    assert_false(plan.considered[0].exposed_issue_us.known);
    assert_true(plan.considered[0].compute_us.known);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtral_keeps_the_wave),
        cmocka_unit_test(own_costs_decide),
        cmocka_unit_test(aligned_waits_longer),
        cmocka_unit_test(fine_grained_experts_interleave),
        cmocka_unit_test(locality),
        cmocka_unit_test(skewed_routing),
        cmocka_unit_test(monotone),
        cmocka_unit_test(unknown_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
