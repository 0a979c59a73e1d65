/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences: one per verdict, whole, with the numbers a reader needs.
 */
#include "audit/fixture.h"
#include "audit/judge.h"

static void amounts(void **state)
{
    (void)state;
    char text[XSTI_AMOUNT_BYTES];
    assert_string_equal(xsti_bytes_text(640, text), "640 B");
    assert_string_equal(xsti_bytes_text(18432, text), "18 KiB");
    assert_string_equal(xsti_bytes_text(-2.5 * mib, text), "-2.50 MiB");
    assert_string_equal(xsti_us_text(0.2375, text), "0.24 us");
    assert_string_equal(xsti_us_text(40.29, text), "40.3 us");
    assert_string_equal(xsti_us_text(109.4, text), "109 us");
}

static void verdicts_begin_the_sentence(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_traffic traffic = plain_traffic(132, 16384, 109);
    xt_contains(audit_of(&profile, &traffic).sentence,
                "piggyback: 132 producers x 16 KiB (st16) every 109 us issue in 0.2");
    traffic.bytes_per_producer = 32768;
    struct xst_audit audit = audit_of(&profile, &traffic);
    xt_contains(audit.sentence, "reshape: 132 producers x 32 KiB (st16)");
    xt_contains(audit.sentence, "exceed the capacity bound when they start together");
    traffic.phase = XST_PHASE_SHIFTED;
    xt_contains(audit_of(&profile, &traffic).sentence, "only because the design spreads its bursts");
    traffic.gap_us = 2;
    xt_contains(audit_of(&profile, &traffic).sentence, "exceed the rate bound");
    traffic.path.method = XST_METHOD_BULK;
    traffic.gap_us = 109;
    xt_contains(audit_of(&profile, &traffic).sentence, "needed again after 109 us");
    assert_true(strlen(audit.sentence) < XST_AUDIT_TEXT_BYTES - 1);
    xst_profile_free(&profile);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(xst_verdict_text(XST_VERDICT_PIGGYBACK), "piggyback");
    assert_string_equal(xst_verdict_text((enum xst_verdict)77), "?");
    assert_string_equal(xst_change_text(XST_CHANGE_BYTES), "bytes_per_producer");
    assert_string_equal(xst_change_text((enum xst_change)77), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts),
        cmocka_unit_test(verdicts_begin_the_sentence),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
