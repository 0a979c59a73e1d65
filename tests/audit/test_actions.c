/* SPDX-License-Identifier: Apache-2.0
 *
 * Proposed changes: the numbers a person would compute, and that the changed design passes when it is audited itself.
 */
#include "audit/fixture.h"

static void capacity_fails_on_the_recorded_pair(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_traffic traffic = plain_traffic(132, 32768, 109);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    const struct xst_action *const cut = action_of(&audit, XST_CHANGE_BYTES);
    assert_non_null(cut);
    xt_near(cut->from, 32768, 0);
    xt_near(cut->to, 18 * 1024, 0);
    xt_within(cut->predicted_issue_us.value, 0.2, 0.3);
    xt_contains(cut->text, "cut the burst from 32 KiB to 18 KiB per producer: predicted issue 0.2");
    const struct xst_action *const bulk = action_of(&audit, XST_CHANGE_METHOD);
    assert_non_null(bulk);
    assert_string_equal(bulk->from_word, "st16");
    assert_string_equal(bulk->to_word, "bulk");
    xt_within(bulk->predicted_issue_us.value, 0.15, 0.4);
    xt_within(bulk->predicted_release_us.value, 7.5, 9);
    xt_contains(bulk->text, "of a 109 us gap");
    const struct xst_action *const shift = action_of(&audit, XST_CHANGE_PHASE);
    assert_non_null(shift);
    assert_string_equal(shift->to_word, "shifted");
    xt_within(shift->predicted_issue_us.value, 0.49, 0.53);
    assert_non_null(action_of(&audit, XST_CHANGE_PRODUCERS));
    for (size_t i = 1; i < audit.action_count; i++)
        assert_true(audit.actions[i - 1].issue_per_tile_us.value <= audit.actions[i].issue_per_tile_us.value);
    xst_profile_free(&profile);
}

/* One KiB more than proposed would sit above the capacity's low end. */
static void the_cut_is_the_largest(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_traffic traffic = plain_traffic(132, 32768, 100);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    const struct xst_action *const cut = action_of(&audit, XST_CHANGE_BYTES);
    assert_non_null(cut);
    struct xst_traffic next = plain_traffic(132, cut->to, 100);
    assert_true(audit_of(&profile, &next).numbers.backlog_bytes.value <= 2.3 * mib);
    next.bytes_per_producer += 1024;
    assert_true(audit_of(&profile, &next).numbers.backlog_bytes.value > 2.3 * mib);
    xst_profile_free(&profile);
}

/* Whatever is proposed, the changed design holds. */
static void check_changed(const struct xst_profile *profile, const struct xst_traffic *traffic,
                          const struct xst_action *action)
{
    struct xst_traffic changed = *traffic;
    switch (action->what) {
    case XST_CHANGE_BYTES:
        changed.gap_us *= action->to / changed.bytes_per_producer;
        changed.bytes_per_producer = action->to;
        break;
    case XST_CHANGE_PHASE:
        changed.phase = XST_PHASE_SHIFTED;
        break;
    case XST_CHANGE_METHOD:
        changed.path.method = XST_METHOD_BULK;
        break;
    case XST_CHANGE_GAP:
        changed.gap_us = action->to;
        break;
    case XST_CHANGE_PRODUCERS:
    case XST_CHANGE_SCHEDULE:
    case XST_CHANGE_SLICES:
        return;
    }
    const struct xst_audit audit = audit_of(profile, &changed);
    /* Changes that come with a wider gap say so in their text only. */
    if (!strstr(action->text, "widen the gap"))
        assert_int_equal(audit.verdict, XST_VERDICT_PIGGYBACK);
    assert_true(action->predicted_issue_us.known);
    assert_true(strlen(action->text) > 0 && strlen(action->text) < sizeof action->text - 1);
}

static void every_action_passes_its_own_audit(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    static const double sizes[] = {8192, 16384, 20480, 32768, 65536, 131072};
    static const double gaps[] = {0, 1, 5, 11, 12, 30, 100, 1000};
    for (int method = 0; method < 2; method++) {
        for (int64_t producers = 16; producers <= 132; producers += 29) {
            for (size_t s = 0; s < 6; s++) {
                for (size_t g = 0; g < 8; g++) {
                    struct xst_traffic traffic = plain_traffic(producers, sizes[s], gaps[g]);
                    traffic.path.method = method ? XST_METHOD_BULK : XST_METHOD_ST16;
                    traffic.remote_frac = 0.5;
                    const struct xst_audit audit = audit_of(&profile, &traffic);
                    if (audit.verdict == XST_VERDICT_PIGGYBACK)
                        assert_int_equal(audit.action_count, 0);
                    for (size_t i = 0; i < audit.action_count; i++)
                        check_changed(&profile, &traffic, &audit.actions[i]);
                }
            }
        }
    }
    xst_profile_free(&profile);
}

static void a_wider_gap_when_the_rate_fails(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_traffic traffic = plain_traffic(132, 16384, 3);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.rate.holds, XST_ANSWER_NO);
    const struct xst_action *const gap = action_of(&audit, XST_CHANGE_GAP);
    assert_non_null(gap);
    xt_near(gap->to, audit.numbers.recovery_gap_us.value, 0.0101);
    xt_near(gap->predicted_issue_us.value, audit.numbers.issue_floor_us.value, 1e-9);
    xst_profile_free(&profile);
}

static void pacing_when_bystanders_wait(void **state)
{
    (void)state;
    struct xst_profile profile = host_profile();
    struct xst_traffic traffic = plain_traffic(132, 16384, 200);
    traffic.path.target = XST_TARGET_HOST;
    const struct xst_audit audit = audit_of(&profile, &traffic);
    assert_int_equal(audit.action_count, 1);
    const struct xst_action *const pacing = &audit.actions[0];
    assert_int_equal(pacing->what, XST_CHANGE_SLICES);
    const double slice = 16384 / pacing->to;
    assert_true(132 * slice <= audit.numbers.free_capacity_bytes.value);
    /* Too little time to pace in: nothing is proposed. */
    traffic.gap_us = 42;
    assert_int_equal(audit_of(&profile, &traffic).action_count, 0);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_fails_on_the_recorded_pair), cmocka_unit_test(the_cut_is_the_largest),
        cmocka_unit_test(every_action_passes_its_own_audit),   cmocka_unit_test(a_wider_gap_when_the_rate_fails),
        cmocka_unit_test(pacing_when_bystanders_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
