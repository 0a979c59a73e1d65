/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/status.h>

#include <string.h>

#include "support/support.h"

static const enum xst_status all[] = {
#define X(name, code, sentence) XST_##name,
    XST_STATUS_MAP(X)
#undef X
};
enum { COUNT = sizeof all / sizeof *all };

static void codes_names_sentences(void **state)
{
    (void)state;
    assert_int_equal(XST_OK, 0);
    for (int i = 0; i < COUNT; i++) {
        assert_true(all[i] == XST_OK || all[i] < 0);
        assert_string_not_equal(xst_status_name(all[i]), "?");
        assert_true(strlen(xst_status_sentence(all[i])) > 5);
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(all[i], all[j]);
            assert_string_not_equal(xst_status_name(all[i]), xst_status_name(all[j]));
            assert_string_not_equal(xst_status_sentence(all[i]), xst_status_sentence(all[j]));
        }
    }
    assert_string_equal(xst_status_name(XST_ERR_RANGE), "ERR_RANGE");
    assert_string_equal(xst_status_name((enum xst_status) - 99), "?");
    assert_string_equal(xst_status_sentence((enum xst_status)5), "?");
}

static void version_has_three_parts(void **state)
{
    (void)state;
    const char *const version = xst_version();
    int dots = 0;
    for (const char *at = version; *at; at++) {
        assert_true((*at >= '0' && *at <= '9') || *at == '.');
        dots += *at == '.';
    }
    assert_int_equal(dots, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_names_sentences),
        cmocka_unit_test(version_has_three_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
