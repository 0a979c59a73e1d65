/* SPDX-License-Identifier: Apache-2.0
 *
 * The lead: golden numbers, and the list schedule against a plain one without a heap.
 */
#include <math.h>

#include "audit/fixture.h"

/* H 4096, I 2048, 132 SMs, tiles of 256 columns, t_act a tenth of a Linear-1 tile. */
static const struct xst_lead_problem golden = {64, 16, 16, 132, 1.0, 0.5, 0.1};

static void golden_numbers(void **state)
{
    (void)state;
    struct xst_lead_knees knees;
    struct xst_diag diag = {XST_OK, 0, ""};
    assert_int_equal(xst_lead_first_tiles(&golden), 161);
    xt_ok(xst_lead_find(&golden, &knees, &diag), &diag);
    assert_int_equal(knees.steady, 127);
    assert_int_equal(knees.startup, 264);
    xt_within((double)knees.tail, 280, 320);
    struct xst_lead_problem longer = golden;
    longer.blocks = 400;
    xt_ok(xst_lead_find(&longer, &knees, &diag), &diag);
    assert_int_equal(knees.steady, 127);
}

static void the_knee_is_where_starvation_ends(void **state)
{
    (void)state;
    struct xst_lead_waits waits;
    xt_ok(xst_lead_run(&golden, 126, &waits, NULL), NULL);
    assert_true(waits.steady_starved > 0);
    xt_ok(xst_lead_run(&golden, 127, &waits, NULL), NULL);
    assert_int_equal(waits.steady_starved, 0);
    assert_true(waits.startup_starved > 0);
    xt_ok(xst_lead_run(&golden, 264, &waits, NULL), NULL);
    assert_int_equal(waits.startup_starved, 0);
    /* A lead below one block's tiles cannot be run; it is raised. */
    struct xst_lead_waits least, raised;
    xt_ok(xst_lead_run(&golden, 16, &least, NULL), NULL);
    xt_ok(xst_lead_run(&golden, 1, &raised, NULL), NULL);
    xt_near(least.makespan_us, raised.makespan_us, 0);
    assert_true(least.makespan_us > waits.makespan_us);
}

/* The same list, the earliest CTA found by looking at all of them. */
static double makespan_plain(const struct xst_lead_problem *problem, int64_t lead, double *wait_us)
{
    double *const at = calloc((size_t)problem->producers, sizeof *at);
    double *const ready = calloc((size_t)problem->blocks, sizeof *ready);
    double makespan = 0;
    int64_t issued = 0;
    *wait_us = 0;
    for (int64_t tile = 0; tile < problem->blocks * problem->l2_per_block; tile++) {
        const int64_t wanted = lead + tile * problem->l1_per_block / problem->l2_per_block;
        for (int pass = 0; pass < 2; pass++) {
            while (pass || (issued < wanted && issued < problem->blocks * problem->l1_per_block)) {
                int64_t first = 0;
                for (int64_t i = 1; i < problem->producers; i++)
                    first = at[i] < at[first] ? i : first;
                if (!pass) {
                    at[first] += problem->l1_us;
                    double *const block = &ready[issued++ / problem->l1_per_block];
                    *block = fmax(*block, at[first] + problem->act_us);
                    makespan = fmax(makespan, at[first]);
                    continue;
                }
                const double start = fmax(at[first], ready[tile / problem->l2_per_block]);
                *wait_us += start - at[first];
                at[first] = start + problem->l2_us;
                makespan = fmax(makespan, at[first]);
                break;
            }
        }
    }
    free(at);
    free(ready);
    return makespan;
}

static void agrees_with_a_plain_schedule(void **state)
{
    (void)state;
    static const struct xst_lead_problem problems[] = {
        {12, 6, 8, 17, 17.9, 6.7, 1.8},
        {9, 16, 16, 33, 1.0, 0.5, 0.1},
        {20, 7, 2, 5, 3.0, 10.0, 0.0},
        {3, 1, 1, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        for (int64_t lead = problems[i].l1_per_block; lead < problems[i].l1_per_block + 60; lead += 7) {
            struct xst_lead_waits waits;
            double wait_us = 0;
            xt_ok(xst_lead_run(&problems[i], lead, &waits, NULL), NULL);
            xt_near(waits.makespan_us, makespan_plain(&problems[i], lead, &wait_us), 1e-6);
            xt_near(waits.wait_us, wait_us, 1e-6);
        }
    }
}

static void short_calls_have_no_knee(void **state)
{
    (void)state;
    struct xst_lead_problem problem = golden;
    struct xst_lead_knees knees;
    struct xst_diag diag = {XST_OK, 0, ""};
    problem.blocks = 4;
    xt_ok(xst_lead_find(&problem, &knees, NULL), NULL);
    assert_int_equal(knees.steady, -1);
    problem.l1_us = 0;
    xt_status(xst_lead_find(&problem, &knees, &diag), XST_ERR_RANGE, &diag);
    problem = golden;
    problem.blocks = 1 << 22;
    struct xst_lead_waits waits;
    xt_status(xst_lead_run(&problem, 200, &waits, &diag), XST_ERR_RANGE, &diag);
    xt_ok(xst_lead_find(&problem, &knees, NULL), NULL); /* searched on a shorter call */
    assert_int_equal(knees.steady, 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_numbers),
        cmocka_unit_test(the_knee_is_where_starvation_ends),
        cmocka_unit_test(agrees_with_a_plain_schedule),
        cmocka_unit_test(short_calls_have_no_knee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
