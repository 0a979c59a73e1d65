/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

/* Reads every record of `text` into "line:field|field;" form. */
static void walk(const char *text, size_t bytes, char *seen, size_t room, enum xst_status *status,
                 struct xst_diag *diag)
{
    struct xsti_csv csv;
    size_t at = 0;
    int more = 0;
    xsti_csv_open(&csv, "t.csv", text, bytes);
    seen[0] = '\0';
    while ((*status = xsti_csv_next(&csv, &more, diag)) == XST_OK && more) {
        at += (size_t)snprintf(seen + at, room - at, "%lld:", (long long)csv.line);
        for (size_t i = 0; i < csv.field_count; i++)
            at += (size_t)snprintf(seen + at, room - at, "%.*s%s", (int)csv.fields[i].bytes, csv.fields[i].text,
                                   i + 1 < csv.field_count ? "|" : ";");
    }
}

static void records_and_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *seen;
    } cases[] = {
        {"", ""},
        {"\n", ""},
        {"\r\n\r\n", ""},
        {"a", "1:a;"},
        {"a,b\nc,d", "1:a|b;2:c|d;"},
        {"a,b\r\nc,d\r\n", "1:a|b;2:c|d;"},
        {"\xEF\xBB\xBF"
         "a,b\n",
         "1:a|b;"},
        {"\xEF\xBB\xBF", ""},
        {"\n\n a , b\t\n", "3:a|b;"},
        {"# note\na\n  # more, of it\nb\n", "2:a;4:b;"},
        {",\n", "1:|;"},
        {"a,,b,\n", "1:a||b|;"},
        {" \t \na\n", "2:a;"},
        {"a\rb\n", "1:a\rb;"},
        {"a\n\xEF\xBB\xBF"
         "b\n",
         "1:a;2:\xEF\xBB\xBF"
         "b;"},
        {"\"a,b\"\n", "1:\"a|b\";"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[256];
        enum xst_status status;
        struct xst_diag diag = {XST_OK, 0, ""};
        walk(cases[i].text, strlen(cases[i].text), seen, sizeof seen, &status, &diag);
        xt_ok(status, &diag);
        assert_string_equal(seen, cases[i].seen);
    }
}

static void nul_is_not_text(void **state)
{
    (void)state;
    char seen[256];
    enum xst_status status;
    struct xst_diag diag = {XST_OK, 0, ""};
    walk("a\nb\0c\n", 6, seen, sizeof seen, &status, &diag);
    xt_status(status, XST_ERR_PARSE, &diag);
    assert_string_equal(seen, "1:a;");
    assert_int_equal(diag.line, 2);
    xt_contains(diag.text, "t.csv:2: a NUL byte");
    /* UTF-16 starts with a NUL soon enough */
    walk("\xFF\xFE"
         "a\0,\0b\0\n\0",
         10, seen, sizeof seen, &status, &diag);
    xt_status(status, XST_ERR_PARSE, &diag);
    assert_int_equal(diag.line, 1);
}

static void field_limit(void **state)
{
    (void)state;
    char text[400], seen[1000];
    enum xst_status status;
    struct xst_diag diag = {XST_OK, 0, ""};
    memset(text, ',', sizeof text);
    walk(text, XSTI_CSV_MOST_FIELDS - 1, seen, sizeof seen, &status, &diag);
    xt_ok(status, &diag);
    walk(text, XSTI_CSV_MOST_FIELDS, seen, sizeof seen, &status, &diag);
    xt_status(status, XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "t.csv:1: more than 64 fields");
    walk(text, sizeof text, seen, sizeof seen, &status, NULL);
    xt_status(status, XST_ERR_PARSE, NULL);
}

static void field_is_exact(void **state)
{
    (void)state;
    const struct xsti_field field = {"mode", 3};
    assert_true(xsti_field_is(&field, "mod"));
    assert_false(xsti_field_is(&field, "mode"));
    assert_false(xsti_field_is(&field, "mo"));
    assert_false(xsti_field_is(&field, "moD"));
    const struct xsti_field empty = {"", 0};
    assert_true(xsti_field_is(&empty, ""));
    assert_false(xsti_field_is(&empty, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_lines),
        cmocka_unit_test(nul_is_not_text),
        cmocka_unit_test(field_limit),
        cmocka_unit_test(field_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
