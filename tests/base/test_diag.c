/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <string.h>

#include "support/support.h"

static void fills_the_diag(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 77, "old"};
    assert_int_equal(xsti_fail(&diag, XST_ERR_IO, "%s: %d", "a", 5), XST_ERR_IO);
    assert_int_equal(diag.status, XST_ERR_IO);
    assert_int_equal(diag.line, 0);
    assert_string_equal(diag.text, "a: 5");
    assert_int_equal(xsti_fail_at(&diag, XST_ERR_PARSE, 12, "x"), XST_ERR_PARSE);
    assert_int_equal(diag.line, 12);
    assert_int_equal(xsti_fail_memory(&diag), XST_ERR_MEMORY);
    assert_string_equal(diag.text, "out of memory");
    assert_int_equal(diag.line, 0);
}

static void no_diag_is_fine(void **state)
{
    (void)state;
    assert_int_equal(xsti_fail(NULL, XST_ERR_IO, "%s", "a"), XST_ERR_IO);
    assert_int_equal(xsti_fail_at(NULL, XST_ERR_IO, 1, "%s", "a"), XST_ERR_IO);
    assert_int_equal(xsti_fail_memory(NULL), XST_ERR_MEMORY);
}

static void long_sentences_are_cut_with_a_nul(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct xst_diag diag = {XST_OK, 0, ""};
    xsti_fail(&diag, XST_ERR_IO, "%s", text);
    assert_int_equal(strlen(diag.text), XST_DIAG_TEXT_BYTES - 1);
}

static enum xst_status steps(enum xst_status first, int *ran)
{
    XSTI_TRY(first);
    *ran = 1;
    return XST_OK;
}

static void try_passes_on(void **state)
{
    (void)state;
    int ran = 0;
    assert_int_equal(steps(XST_ERR_RANGE, &ran), XST_ERR_RANGE);
    assert_int_equal(ran, 0);
    assert_int_equal(steps(XST_OK, &ran), XST_OK);
    assert_int_equal(ran, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_diag),
        cmocka_unit_test(no_diag_is_fine),
        cmocka_unit_test(long_sentences_are_cut_with_a_nul),
        cmocka_unit_test(try_passes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
