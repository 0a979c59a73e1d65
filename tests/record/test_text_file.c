/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/text_file.h>

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* The check before long work gives the verdict that writing would give. */
static void check_and_write_agree(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "page.html");
    for (int force = 0; force < 2; force++) {
        xt_ok(xst_text_check(path, force, &diag), &diag);
        xt_status(xst_text_check(folder, force, &diag), XST_ERR_IO, &diag);
        xt_contains(diag.text, "is a directory");
        xt_status(xst_text_write(folder, "x", 1, force, &diag), XST_ERR_IO, &diag);
    }
    char *const nowhere = xt_join(folder, "missing/page.html");
    xt_status(xst_text_check(nowhere, 0, &diag), XST_ERR_IO, &diag);
    xt_contains(diag.text, "missing/page.html: cannot create a file beside it: No such file or directory");
    xt_status(xst_text_write(nowhere, "x", 1, 0, &diag), XST_ERR_IO, &diag);
    free(nowhere);
    assert_int_equal(xt_folder_count(folder), 0); /* a check leaves nothing behind */
    xt_ok(xst_text_check("-", 0, &diag), &diag);
    xt_ok(xst_text_check("/dev/null", 0, &diag), &diag);
    xt_ok(xst_text_write(path, "old", 3, 0, &diag), &diag);
    xt_status(xst_text_check(path, 0, &diag), XST_ERR_EXISTS, &diag);
    xt_contains(diag.text, path);
    xt_status(xst_text_write(path, "new", 3, 0, &diag), XST_ERR_EXISTS, &diag);
    xt_ok(xst_text_check(path, 1, &diag), &diag);
    xt_ok(xst_text_write(path, "new", 3, 1, &diag), &diag);
    char *const text = xt_file_text(path, NULL);
    assert_string_equal(text, "new");
    assert_int_equal(xt_folder_count(folder), 1);
    free(text);
    free(path);
    xt_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_and_write_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
