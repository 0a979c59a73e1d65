/* SPDX-License-Identifier: Apache-2.0
 *
 * The design test on machines whose numbers are known: the published one, the recorded pair, and what must hold on any.
 */
#include <math.h>

#include "audit/fixture.h"

static void published_machine(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    const struct xst_traffic traffic = plain_traffic(148, 32768, 6.01);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    xt_near(audit.numbers.burst_bytes.value, 4.625 * mib, 0);
    xt_near(audit.numbers.drain_us.value, 6.76, 0.005);
    xt_near(audit.numbers.recovery_gap_us.value, 6.00, 0.005);
    xt_near(audit.numbers.backlog_bytes.value, 4.105 * mib, 0.001 * mib);
    xt_near(audit.numbers.capacity_bytes.value, 4.25 * mib, 0);
    assert_int_equal(audit.rate.holds, XST_ANSWER_YES);
    assert_int_equal(audit.capacity.holds, XST_ANSWER_YES);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    xt_near(audit.numbers.issue_aligned_us.value, 0.76, 1e-9);
    assert_int_equal(audit.action_count, 0);
    assert_string_equal(audit.reason, "");
    const struct xst_traffic hurried = plain_traffic(148, 32768, 5.9);
    const struct xst_audit fails = audit_of(&profile, &hurried);
    assert_int_equal(fails.rate.holds, XST_ANSWER_NO);
    assert_int_equal(fails.verdict, XST_VERDICT_RESHAPE);
    xt_near(fails.drifting.issue_us.value, 6.7637 - 5.9, 0.001);
    xst_profile_free(&profile);
}

/* The published constants are for one point; elsewhere the answer is null with the reason, unless extrapolation is asked for. */
static void unknown_is_not_a_number(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    const struct xst_traffic traffic = plain_traffic(148, 16384, 20);
    struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.verdict, XST_VERDICT_UNKNOWN);
    assert_int_equal(audit.rate.holds, XST_ANSWER_UNKNOWN);
    assert_false(audit.numbers.issue_us.known);
    assert_true(audit.numbers.drain_us.known);
    assert_int_equal(audit.bystander_holds, XST_ANSWER_UNKNOWN);
    xt_contains(audit.reason, "no issue floor for 148 producers x 16 KiB");
    xt_contains(audit.sentence, "no verdict");
    assert_int_equal(audit.action_count, 0);
    const struct xst_audit_options options = {.extrapolate = 1};
    xt_ok(xst_audit_traffic(&profile, &traffic, &options, &audit, NULL), NULL);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    assert_true(audit.extrapolated && audit.numbers.issue_floor_us.extrapolated);
    xt_contains(audit.note, "extrapolated");
    xst_profile_free(&profile);
}

static void recorded_pair(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_traffic traffic = plain_traffic(132, 32768, 109);
    struct xst_audit audit = audit_of(&profile, &traffic);
    xt_within(audit.numbers.drain_us.value, 11.5, 11.75);
    xt_within(audit.numbers.recovery_gap_us.value, 10.7, 11.3);
    xt_near(audit.numbers.backlog_bytes.value, 3.95 * mib, 0.03 * mib);
    xt_within(audit.numbers.capacity_bytes.value, 2.2 * mib, 2.6 * mib);
    assert_int_equal(audit.rate.holds, XST_ANSWER_YES);
    assert_int_equal(audit.capacity.holds, XST_ANSWER_NO);
    assert_int_equal(audit.verdict, XST_VERDICT_RESHAPE);
    assert_int_equal(audit.aligned.verdict, XST_VERDICT_RESHAPE);
    assert_int_equal(audit.drifting.verdict, XST_VERDICT_PIGGYBACK);
    xt_within(audit.aligned.issue_us.value, 4.6, 5.3);
    xt_within(audit.drifting.issue_us.value, 0.49, 0.53);
    traffic.phase = XST_PHASE_SHIFTED;
    audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    assert_int_equal(audit.capacity.holds, XST_ANSWER_NO);
    xst_profile_free(&profile);
}

/* f of V counts for the rate, the largest burst for the capacity. */
static void rate_and_capacity_see_different_bytes(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_traffic traffic = plain_traffic(132, 32768, 6);
    assert_int_equal(audit_of(&profile, &traffic).rate.holds, XST_ANSWER_NO);
    traffic.remote_frac = 0.5;
    const struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.rate.holds, XST_ANSWER_YES);
    assert_int_equal(audit.capacity.holds, XST_ANSWER_NO);
    xt_near(audit.rate.margin_bytes.value, 372000 * 6.5 - 132 * 16384.0, 1e-3);
    xt_near(audit.capacity.margin_bytes.value, 2.4 * mib - (132 * 32768.0 - 372000 * 0.5), 1e-3);
    xt_contains(audit.note, "While the largest bursts follow each other");
    traffic.burst_remote_frac = 0.5;
    assert_int_equal(audit_of(&profile, &traffic).capacity.holds, XST_ANSWER_YES);
    assert_int_equal(audit_of(&profile, &traffic).verdict, XST_VERDICT_PIGGYBACK);
    xst_profile_free(&profile);
}

static void bulk_is_judged_on_its_staging(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_traffic traffic = plain_traffic(132, 32768, 109);
    traffic.path.method = XST_METHOD_BULK;
    struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    xt_within(audit.numbers.release_aligned_us.value, 7.5, 9);
    xt_within(audit.numbers.issue_aligned_us.value, 0.15, 0.4);
    xt_near(audit.numbers.release_budget_us.value, 109, 0);
    /* Remote enough at a gap just below the release: one slot is late, two are not. */
    traffic.gap_us = 8;
    traffic.remote_frac = 0.5;
    audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.rate.holds, XST_ANSWER_YES);
    assert_int_equal(audit.staging.holds, XST_ANSWER_NO);
    assert_int_equal(audit.verdict, XST_VERDICT_RESHAPE);
    assert_true(audit.staging.margin_bytes.value < 0);
    assert_true(audit.aligned.period_us.value > audit.drifting.period_us.value);
    traffic.staging_slots = 2;
    audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    xst_profile_free(&profile);
}

static void bystanders_are_a_third_bound(void **state)
{
    (void)state;
    struct xst_profile profile = host_profile();
    struct xst_traffic traffic = plain_traffic(132, 16384, 200);
    traffic.path.target = XST_TARGET_HOST;
    struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    assert_int_equal(audit.bystander_holds, XST_ANSWER_NO);
    xt_within(audit.numbers.bystander_delay_us.value, 33, 38);
    xt_contains(audit.note, "Local loads wait up to");
    traffic.prefetch_us = 40;
    assert_int_equal(audit_of(&profile, &traffic).bystander_holds, XST_ANSWER_YES);
    traffic.prefetch_us = 30;
    assert_int_equal(audit_of(&profile, &traffic).bystander_holds, XST_ANSWER_NO);
    traffic.prefetch_us = -1;
    traffic.producers = 8;
    audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.bystander_holds, XST_ANSWER_YES);
    xt_near(audit.numbers.bystander_delay_us.value, 0, 0);
    xst_profile_free(&profile);
}

/* More gap never hurts, more bytes never help, drifting is never slower than aligned. */
static void properties(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    for (int64_t producers = 4; producers <= 132; producers += 16) {
        double rate_before = -INFINITY;
        for (double gap_us = 0; gap_us <= 40; gap_us += 2.5) {
            const struct xst_traffic traffic = plain_traffic(producers, 24576, gap_us);
            const struct xst_audit audit = audit_of(&profile, &traffic);
            assert_true(audit.rate.margin_bytes.value > rate_before);
            rate_before = audit.rate.margin_bytes.value;
            assert_true(audit.drifting.issue_us.value <= audit.aligned.issue_us.value + 1e-9);
            assert_true(audit.drifting.issue_us.value >= audit.numbers.issue_floor_us.value);
            assert_true((audit.verdict == XST_VERDICT_PIGGYBACK) ==
                        (audit.rate.margin_bytes.value >= 0 && audit.capacity.margin_bytes.value >= 0));
        }
        double capacity_before = INFINITY;
        for (double bytes = 2048; bytes <= 131072; bytes += 2048) {
            const struct xst_traffic traffic = plain_traffic(producers, bytes, 10);
            const struct xst_audit audit = audit_of(&profile, &traffic);
            assert_true(audit.capacity.margin_bytes.value <= capacity_before + 1e-6);
            capacity_before = audit.capacity.margin_bytes.value;
        }
    }
    xst_profile_free(&profile);
}

static void a_path_the_profile_lacks(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    struct xst_traffic traffic = plain_traffic(148, 32768, 10);
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    traffic.path.method = XST_METHOD_BULK;
    xt_status(xst_audit_traffic(&profile, &traffic, NULL, &audit, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "has no path peer/bulk");
    xt_contains(diag.text, "it has peer/st16");
    traffic.producers = 0;
    xt_status(xst_audit_traffic(&profile, &traffic, NULL, &audit, &diag), XST_ERR_RANGE, &diag);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_machine),
        cmocka_unit_test(unknown_is_not_a_number),
        cmocka_unit_test(recorded_pair),
        cmocka_unit_test(rate_and_capacity_see_different_bytes),
        cmocka_unit_test(bulk_is_judged_on_its_staging),
        cmocka_unit_test(bystanders_are_a_third_bound),
        cmocka_unit_test(properties),
        cmocka_unit_test(a_path_the_profile_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
