/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulator is asked about the best candidates only, and contradicts in words, never in the choice.
 */
#include "planner/fixture.h"

struct asked {
    int64_t count;
    int contradict;
    int fail;
};

static enum xst_status answer(void *context, const struct xst_plan *plan, const struct xst_plan_candidate *candidate,
                              double *simulated_us_out, struct xst_diag *diag)
{
    struct asked *const asked = context;
    (void)plan;
    asked->count++;
    if (asked->fail && asked->count == 2) {
        diag->status = XST_ERR_TIMEOUT;
        return XST_ERR_TIMEOUT;
    }
    *simulated_us_out = asked->contradict ? 1000.0 - (double)asked->count : candidate->predicted_us.value * 1.01;
    return XST_OK;
}

static struct xst_plan flux1(void)
{
    struct xst_profile profile = pair_profile();
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 4608, 2, 2};
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_fa_a2a(&profile, &shape, NULL, &plan, &diag), &diag);
    xst_profile_free(&profile);
    return plan;
}

static void the_best_are_asked(void **state)
{
    (void)state;
    struct xst_plan plan = flux1();
    struct asked asked = {0, 0, 0};
    struct xst_diag diag = {XST_OK, 0, ""};
    const int64_t chosen = plan.chosen;
    xt_ok(xst_plan_simulate(&plan, answer, &asked, 5, &diag), &diag);
    assert_int_equal(asked.count, 5);
    assert_int_equal(plan.chosen, chosen);
    double worst_asked = 0, best_other = INFINITY;
    for (size_t i = 0; i < plan.count; i++) {
        const struct xst_plan_candidate *const c = &plan.considered[i];
        if (c->simulated_us.known)
            worst_asked = fmax(worst_asked, c->predicted_us.value);
        else if (c->predicted_us.known)
            best_other = fmin(best_other, c->predicted_us.value);
    }
    assert_true(worst_asked <= best_other);
    assert_null(strstr(plan.note, "simulator"));
    xt_ok(xst_plan_simulate(&plan, answer, &asked, 100000, &diag), &diag);
    plan_holds(&plan);
    xst_plan_free(&plan);
}

static void it_may_contradict_or_fail(void **state)
{
    (void)state;
    struct xst_plan plan = flux1();
    struct asked asked = {0, 1, 0};
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_simulate(&plan, answer, &asked, 3, &diag), &diag);
    xt_contains(plan.note, "The simulator prefers: ");
    plan_holds(&plan);
    xst_plan_free(&plan);
    plan = flux1();
    asked = (struct asked){0, 0, 1};
    xt_status(xst_plan_simulate(&plan, answer, &asked, 3, &diag), XST_ERR_TIMEOUT, &diag);
    xst_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_are_asked),
        cmocka_unit_test(it_may_contradict_or_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
