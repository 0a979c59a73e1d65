/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: wave quantisation by hand, the stores' cost against the audit's walk, pacing, bystanders, what is not
 * known.
 */
#include <xstage/audit.h>

#include "planner/fixture.h"

static struct xst_plan plan_of(const struct xst_profile *profile, int64_t heads, int64_t seq, int64_t ranks,
                               const struct xst_plan_fa_options *options)
{
    const struct xst_fa_a2a_shape shape = {1, heads, 128, seq, ranks, 2};
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_fa_a2a(profile, &shape, options, &plan, &diag), &diag);
    plan_holds(&plan);
    return plan;
}

/* The first candidate with these settings. */
static const struct xst_plan_candidate *find(const struct xst_plan *plan, int64_t rows, enum xst_method method,
                                             int64_t slices, int64_t slots, enum xst_tile_order order)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const c = &plan->considered[i];
        if ((int64_t)c->tile_rows.value == rows && c->method == method && (int64_t)c->slices.value == slices &&
            (int64_t)c->staging_slots.value == slots && c->order == order)
            return c;
    }
    fail_msg("no such candidate");
    return NULL;
}

/* Plain stores at once stall every aligned burst of 132 x 32 KiB; bulk or paced ones do not. */
static void flux1_on_the_pair(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, 24, 4608, 2, NULL);
    const struct xst_plan_candidate *const chosen = chosen_of(&plan);
    assert_true(chosen->method == XST_METHOD_BULK || chosen->slices.value > 1);
    assert_int_equal(chosen->order, XST_TILE_ORDER_PEERS_FIRST);
    xt_near(chosen->tile_rows.value, 128, 0);
    xt_near(chosen->waves.value, 4, 0);
    xt_near(chosen->efficiency.value, 12.0 * 4608 / 128 / 132 / 4, 1e-9);
    xt_near(chosen->compute_us.value, 4 * 36 * plan.answers.kv_us.value, 1e-6);
    const struct xst_plan_candidate *const plain = find(&plan, 128, XST_METHOD_ST16, 1, 1, XST_TILE_ORDER_PEERS_FIRST);
    assert_true(plain->exposed_issue_us.value > 5 * chosen->exposed_issue_us.value);
    xt_contains(plain->reason, "producers issue or wait for room");
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* h = 3, M = 8192: 192 tiles of 128 rows need two waves (.73), 129 of 192 rows one (.97), 384 of 64 rows three
 * (.97). */
static void wave_quantisation(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, 24, 8192, 8, NULL);
    assert_true(chosen_of(&plan)->tile_rows.value != 128);
    xt_near(find(&plan, 64, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST)->efficiency.value, 0.97, 0.005);
    xt_near(find(&plan, 128, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST)->efficiency.value, 0.727, 0.001);
    xt_near(find(&plan, 192, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST)->efficiency.value, 0.97, 0.005);
    xt_contains(find(&plan, 128, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST)->reason,
                "2 waves of 128 rows at rate 1.00 use 73 % of the grid");
    xst_plan_free(&plan);
    /* Equal rates: 64 and 192 rows fill the grid alike and beat 128. */
    struct xst_plan_fa_options even = {.tile_rows_count = 3, .tile_rows = {64, 128, 192}, .math_rate = {1, 1, 1}};
    plan = plan_of(&profile, 24, 8192, 8, &even);
    assert_true(chosen_of(&plan)->tile_rows.value != 128);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* One slice, one slot, peers first, rate 1: the audit walks the same waves. (12) is the audit's too. */
static void the_audit_agrees(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{24, 4608, 2}, {24, 4481, 4}, {40, 32760, 8}, {12, 1000, 3}};
    struct xst_profile profile = pair_profile();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct xst_fa_a2a_shape shape = {1, shapes[i][0], 128, shapes[i][1], shapes[i][2], 2};
        const struct xst_fa_a2a_plan fa = {128, 128, 0, 2, 1, XST_METHOD_ST16, XST_PHASE_UNKNOWN, 0, XST_TARGET_PEER};
        const struct xst_plan_fa_options options = {.methods = 1 << XST_METHOD_ST16};
        struct xst_diag diag = {XST_OK, 0, ""};
        struct xst_audit audit;
        xt_ok(xst_audit_fa_a2a(&profile, &shape, &fa, NULL, &audit, &diag), &diag);
        struct xst_plan plan = plan_of(&profile, shape.heads, shape.seq, shape.ranks, &options);
        const struct xst_plan_candidate *const c = find(&plan, 128, XST_METHOD_ST16, 1, 1, XST_TILE_ORDER_PEERS_FIRST);
        xt_near(c->compute_us.value, audit.fa.compute_us.value, 1e-6);
        xt_near(c->tail_us.value, audit.fa.tail_us.value, 0.02); /* T0 and Q of a last wave that is not full differ */
        xt_near(c->exposed_issue_us.value, audit.fa.exposed_issue_us.value, 3);
        if ((int64_t)chosen_of(&plan)->tile_rows.value == 128)
            xt_near(plan.answers.m_upper_bound.value, audit.fa.m_upper_bound.value, 0);
        xst_plan_free(&plan);
    }
    xst_profile_free(&profile);
}

/* Slices make bursts smaller and cost floors; what does not drain within one tile is not paced. */
static void slices(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, 24, 4608, 2, NULL);
    const struct xst_plan_candidate *const whole = find(&plan, 128, XST_METHOD_ST16, 1, 1, XST_TILE_ORDER_PEERS_FIRST),
                                           *const two =
                                               find(&plan, 128, XST_METHOD_ST16, 2, 1, XST_TILE_ORDER_PEERS_FIRST),
                                           *const many =
                                               find(&plan, 128, XST_METHOD_ST16, 16, 1, XST_TILE_ORDER_PEERS_FIRST);
    assert_true(two->exposed_issue_us.value < whole->exposed_issue_us.value);
    assert_true(many->exposed_issue_us.value > two->exposed_issue_us.value);
    assert_true(many->backlog_bytes.value < whole->backlog_bytes.value);
    xt_near(two->chunk_bytes.value, 16384, 0);
    xt_near(two->span_us.value, 36 * plan.answers.kv_us.value, 1e-6);
    xt_near(whole->span_us.value, 0, 0);
    xst_plan_free(&plan);
    plan = plan_of(&profile, 24, 1024, 2, NULL);
    const struct xst_plan_candidate *const tight = find(&plan, 128, XST_METHOD_ST16, 2, 1, XST_TILE_ORDER_PEERS_FIRST);
    assert_false(tight->predicted_us.known);
    xt_contains(tight->reason, "(17) fails");
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* Where the backlog that delays loads is known, the delay counts, and slices win. */
static void bystanders(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan before = plan_of(&profile, 24, 4608, 2, NULL);
    assert_false(chosen_of(&before)->bystander_us.known);
    xt_contains(before.note, "not measured on this path");
    xt_near(chosen_of(&before)->slices.value, 1, 0);
    for (size_t i = 0; i < profile.path_count; i++)
        profile.paths[i].free_capacity_bytes = (struct xst_measure){262144, 262144, 262144, 1, 1};
    struct xst_plan after = plan_of(&profile, 24, 4608, 2, NULL);
    const struct xst_plan_candidate *const whole = find(&after, 128, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST);
    assert_true(whole->bystander_us.known && whole->bystander_us.value > 5);
    xt_contains(whole->reason, "local loads wait behind the backlog");
    assert_true(chosen_of(&after)->slices.value > 1);
    assert_string_equal(after.note, "");
    xst_plan_free(&before);
    xst_plan_free(&after);
    xst_profile_free(&profile);
}

/* Rows in order: the last wave leaves the device whole, and with more ranks than two everybody stores to one
 * receiver. */
static void tile_order(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, 24, 32760, 8, NULL);
    const struct xst_plan_candidate *const peers = find(&plan, 128, XST_METHOD_ST16, 1, 1, XST_TILE_ORDER_PEERS_FIRST),
                                           *const rows = find(&plan, 128, XST_METHOD_ST16, 1, 1, XST_TILE_ORDER_ROWS);
    assert_true(peers->predicted_us.value < rows->predicted_us.value);
    assert_true(peers->tail_us.value < rows->tail_us.value);
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

static void shared_memory(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    struct xst_plan plan = plan_of(&profile, 24, 4608, 2, NULL);
    const struct xst_plan_candidate *const fits = find(&plan, 192, XST_METHOD_BULK, 1, 1, XST_TILE_ORDER_PEERS_FIRST),
                                           *const large =
                                               find(&plan, 192, XST_METHOD_BULK, 1, 2, XST_TILE_ORDER_PEERS_FIRST);
    xt_near(fits->shared_bytes.value, 49152 + 131072 + 49152 + 1024, 0);
    assert_true(fits->predicted_us.known);
    assert_false(large->predicted_us.known);
    assert_string_equal(large->reason, "needs 273 KiB of shared memory, a CTA can have 227 KiB");
    xst_plan_free(&plan);
    xst_profile_free(&profile);
}

/* A profile that knows one point of T0 predicts what falls on it, names what it lacks, and extrapolates only when
 * told. */
static void unknown_is_said(void **state)
{
    (void)state;
    struct xst_profile profile = stored_profile("paper-148sm.json");
    struct xst_plan_fa_options options = {.peak_tflops = 2000};
    const struct xst_fa_a2a_shape shape = {1, 24, 64, 4608, 2, 2};
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_fa_a2a(&profile, &shape, &options, &plan, &diag), &diag);
    plan_holds(&plan);
    assert_int_equal(plan.chosen, -1);
    assert_int_equal(plan.runner_up, -1);
    xt_contains(plan.sentence, "no candidate can be predicted: the profile has no ");
    xst_plan_free(&plan);
    options.extrapolate = 1;
    xt_ok(xst_plan_fa_a2a(&profile, &shape, &options, &plan, &diag), &diag);
    plan_holds(&plan);
    if (plan.chosen >= 0)
        assert_true(chosen_of(&plan)->extrapolated);
    xst_plan_free(&plan);
    xt_status(xst_plan_fa_a2a(&profile, &shape, NULL, &plan, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "--peak-tflops");
    xst_profile_free(&profile);
    profile = stored_profile("h200-host.json");
    xt_status(xst_plan_fa_a2a(&profile, &shape, NULL, &plan, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "no path to a peer");
    xst_profile_free(&profile);
}

static void bad_questions(void **state)
{
    (void)state;
    struct xst_profile profile = pair_profile();
    const struct xst_fa_a2a_shape good = {1, 24, 128, 4608, 2, 2}, alone = {1, 24, 128, 4608, 1, 2},
                                  endless = {1, 65536, 128, 1 << 28, 2, 2};
    struct xst_plan plan;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_plan_fa_options slots = {.most_slots = 99}, rate = {.math_rate = {-1}};
    xt_status(xst_plan_fa_a2a(&profile, &alone, NULL, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_plan_fa_a2a(&profile, &endless, NULL, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "more than a plan walks");
    xt_status(xst_plan_fa_a2a(&profile, &good, &slots, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_plan_fa_a2a(&profile, &good, &rate, &plan, &diag), XST_ERR_RANGE, &diag);
    xst_profile_free(&profile);
}

/* Every length of the small ladder, twice: the plan holds and is the same. */
static void many_shapes(void **state)
{
    (void)state;
    static const int64_t lengths[] = {8, 63, 64, 65, 127, 129, 191, 193, 1000, 1025, 2047, 4481, 8191};
    struct xst_profile profile = pair_profile();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int64_t ranks = 2; ranks <= 8; ranks += 3) {
            struct xst_plan first = plan_of(&profile, 40, lengths[i], ranks, NULL),
                            second = plan_of(&profile, 40, lengths[i], ranks, NULL);
            plans_equal(&first, &second);
            xst_plan_free(&first);
            xst_plan_free(&second);
        }
    }
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flux1_on_the_pair), cmocka_unit_test(wave_quantisation),
        cmocka_unit_test(the_audit_agrees),  cmocka_unit_test(slices),
        cmocka_unit_test(bystanders),        cmocka_unit_test(tile_order),
        cmocka_unit_test(shared_memory),     cmocka_unit_test(unknown_is_said),
        cmocka_unit_test(bad_questions),     cmocka_unit_test(many_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
