/* SPDX-License-Identifier: Apache-2.0
 *
 * Any kernel: bytes and useful time are kept, the table's edge is an edge, every law comes through.
 */
#include <xstage/model.h>

#include "planner/fixture.h"

static struct xst_traffic traffic_of(double bytes, double gap_us)
{
    return (struct xst_traffic){.kernel = "test",
                                .producers = 132,
                                .bytes_per_producer = bytes,
                                .remote_frac = 1,
                                .burst_remote_frac = 1,
                                .gap_us = gap_us,
                                .staging_slots = 1,
                                .prefetch_us = -1,
                                .bursts_per_producer = 16};
}

static struct xst_plan plan_of(const struct xst_profile *profile, const struct xst_traffic *traffic,
                               const struct xst_plan_traffic_options *options)
{
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_traffic(profile, traffic, options, &plan, &diag), &diag);
    plan_holds(&plan);
    return plan;
}

static const struct xst_plan_candidate *find(const struct xst_plan *plan, enum xst_method method, double splits,
                                             double slots, double producers)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const c = &plan->considered[i];
        if (c->method == method && c->splits.value == splits && c->staging_slots.value == slots &&
            c->producers.value == producers)
            return c;
    }
    fail_msg("no such candidate");
    return NULL;
}

static void bytes_and_work_are_kept(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_traffic traffic = traffic_of(32768, 20);
    struct xst_plan plan = plan_of(&profile, &traffic, NULL);
    assert_int_equal(plan.count, 2 * 4 * 8 * 4);
    for (size_t i = 0; i < plan.count; i++) {
        const struct xst_plan_candidate *const c = &plan.considered[i];
        xt_near(c->splits.value * c->producers.value * c->bytes_per_producer.value, 132 * 32768.0, 1e-6);
        xt_near(c->splits.value * c->gap_us.value, 20, 1e-9);
        if (c->predicted_us.known)
            xt_near(c->compute_us.value, 16 * 20, 1e-9);
        xt_near(c->shared_bytes.value, c->staging_slots.value * c->bytes_per_producer.value, 1e-6);
    }
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* The description itself is a candidate, and costs what the laws say. */
static void the_laws_come_through(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_traffic traffic = traffic_of(32768, 20);
    const struct xst_path *const path = xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16);
    const struct xst_burst burst = {132, 32768, 20};
    struct xst_timing timing;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_timing_predict(path, &burst, 0, &timing, &diag), &diag);
    struct xst_plan plan = plan_of(&profile, &traffic, NULL);
    const struct xst_plan_candidate *c = find(&plan, XST_METHOD_ST16, 1, 1, 132);
    xt_near(c->exposed_issue_us.value, 16 * timing.issue_aligned_us, 1e-6);
    xt_near(c->tail_us.value, timing.capacity_bytes / timing.burst_bytes * timing.drain_us + path->fence_us.value,
            1e-6);
    /* an issuing role of its own: the path's period or the work, whichever is longer, and the last burst */
    xt_near(find(&plan, XST_METHOD_ST16, 1, 2, 132)->exposed_issue_us.value, timing.isolated_issue_us, 1e-9);
    /* bulk stores: on the floor while the staging is back in time */
    xt_near(find(&plan, XST_METHOD_BULK, 1, 1, 132)->exposed_issue_us.value, 16 * 0.24, 16 * 0.05);
    xst_plan_free(&plan);
    traffic.phase = XST_PHASE_SHIFTED;
    plan = plan_of(&profile, &traffic, NULL);
    c = find(&plan, XST_METHOD_ST16, 1, 1, 132);
    xt_near(c->exposed_issue_us.value, 16 * timing.issue_us, 1e-6);
    xst_plan_free(&plan);
    /* too little work: R decides whatever the cut */
    traffic = traffic_of(32768, 2);
    plan = plan_of(&profile, &traffic, NULL);
    assert_true(chosen_of(&plan)->compute_us.value + chosen_of(&plan)->exposed_issue_us.value >=
                16 * timing.drain_us * 0.995);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

static void the_edge_is_an_edge(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_traffic traffic = traffic_of(65536, 25);
    struct xst_plan plan = plan_of(&profile, &traffic, NULL);
    int edge = 0;
    for (size_t i = 0; i < plan.count; i++) {
        const struct xst_plan_candidate *const a = &plan.considered[i];
        int beaten = 0;
        for (size_t j = 0; a->predicted_us.known && j < plan.count; j++) {
            const struct xst_plan_candidate *const b = &plan.considered[j];
            beaten += b->predicted_us.known && b->predicted_us.value <= a->predicted_us.value &&
                      b->shared_bytes.value <= a->shared_bytes.value &&
                      b->working_set_bytes.value <= a->working_set_bytes.value &&
                      (b->predicted_us.value < a->predicted_us.value || b->shared_bytes.value < a->shared_bytes.value ||
                       b->working_set_bytes.value < a->working_set_bytes.value);
        }
        if (a->pareto) {
            assert_true(a->predicted_us.known);
            assert_int_equal(beaten, 0);
            edge++;
        }
    }
    assert_true(edge >= 2);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

static void limits_and_methods(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_traffic traffic = traffic_of(65536, 25);
    const struct xst_plan_traffic_options options = {.shared_bytes = 40000,
                                                     .methods = 1 << XST_METHOD_ST16,
                                                     .splits_count = 2,
                                                     .splits = {1, 4},
                                                     .slots_count = 1,
                                                     .slots = {2},
                                                     .producers_count = 1,
                                                     .producers = {132}};
    struct xst_plan plan = plan_of(&profile, &traffic, &options);
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.chosen, 1);
    assert_int_equal(plan.runner_up, -1);
    xt_contains(plan.considered[0].reason, "of shared memory, a CTA can have 39.1 KiB");
    assert_string_equal(plan.runner_up_sentence, "no other candidate can be predicted");
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* Bursts that cannot be joined, sizes off the table, and delays of loads that nobody stated. */
static void what_is_not_known(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_traffic traffic = traffic_of(1024, 25);
    traffic.bursts_per_producer = 2;
    struct xst_plan plan = plan_of(&profile, &traffic, NULL);
    xt_contains(find(&plan, XST_METHOD_ST16, 0.25, 1, 132)->reason, "fewer than are joined");
    xt_contains(find(&plan, XST_METHOD_ST16, 2, 1, 132)->reason, "the profile has no issue floor");
    xt_contains(plan.note, "not measured on this path");
    xst_plan_free(&plan);
    xst_profile_free(&profile);
    profile = stored_profile("h200-host.json");
    traffic = traffic_of(16384, 60);
    traffic.path.target = XST_TARGET_HOST;
    plan = plan_of(&profile, &traffic, NULL);
    xt_contains(plan.note, "states no prefetch_us");
    assert_false(chosen_of(&plan)->bystander_us.known);
    xst_plan_free(&plan);
    traffic.prefetch_us = 2;
    plan = plan_of(&profile, &traffic, NULL);
    const struct xst_plan_candidate *const whole = find(&plan, XST_METHOD_ST16, 1, 1, 132);
    assert_true(whole->bystander_us.value > 16 * 20);
    assert_true(chosen_of(&plan)->splits.value > 1);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

static void refused(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_traffic traffic = traffic_of(32768, 20);
    struct xst_plan_traffic_options options = {.splits_count = 1, .splits = {0}};
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_plan_traffic(&profile, &traffic, &options, &plan, &diag), XST_ERR_RANGE, &diag);
    options = (struct xst_plan_traffic_options){.producers_count = 1, .producers = {133}};
    xt_status(xst_plan_traffic(&profile, &traffic, &options, &plan, &diag), XST_ERR_RANGE, &diag);
    options = (struct xst_plan_traffic_options){.slots_count = 1, .slots = {0}};
    xt_status(xst_plan_traffic(&profile, &traffic, &options, &plan, &diag), XST_ERR_RANGE, &diag);
    options = (struct xst_plan_traffic_options){.splits_count = 99};
    xt_status(xst_plan_traffic(&profile, &traffic, &options, &plan, &diag), XST_ERR_RANGE, &diag);
    traffic.path.target = XST_TARGET_HOST;
    xt_status(xst_plan_traffic(&profile, &traffic, NULL, &plan, &diag), XST_ERR_NO_DATA, &diag);
    traffic.gap_us = -1;
    xt_status(xst_plan_traffic(&profile, &traffic, NULL, &plan, &diag), XST_ERR_RANGE, &diag);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_work_are_kept), cmocka_unit_test(the_laws_come_through),
        cmocka_unit_test(the_edge_is_an_edge),     cmocka_unit_test(limits_and_methods),
        cmocka_unit_test(what_is_not_known),       cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
