/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/out.h"
#include "support/support.h"

static void escapes_for_html(void **state)
{
    (void)state;
    struct xsti_out out = {0};
    xsti_put_escaped(&out, "<script>alert(\"1\" & '2')</script>");
    assert_string_equal(out.text, "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
    xsti_out_free(&out);
}

static void escapes_for_scripts(void **state)
{
    (void)state;
    struct xsti_out out = {0};
    xsti_put_json(&out, "</script>\\\"&'");
    assert_string_equal(out.text, "\"\\u003c/script\\u003e\\u005c\\u0022\\u0026\\u0027\"");
    xsti_out_free(&out);
}

/* Whatever the bytes, the result is text that XML allows. */
static void replaces_what_is_no_text(void **state)
{
    (void)state;
    static const char *const bad[] =
        {"\x01", "\x7F", "\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xEF\xBF\xBF", "\xF5\x80\x80\x80", "\xC2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct xsti_out out = {0};
        xsti_put_escaped(&out, bad[i]);
        assert_non_null(strstr(out.text, "\xEF\xBF\xBD"));
        assert_null(strpbrk(out.text, "\x01\x7F\xFF\xC0\xED\xF5"));
        xsti_out_free(&out);
    }
    struct xsti_out out = {0};
    xsti_put_escaped(&out, "\xC2\xB5s \xE2\x88\x92 \xF0\x9F\x98\x80");
    assert_string_equal(out.text, "\xC2\xB5s \xE2\x88\x92 \xF0\x9F\x98\x80");
    xsti_out_free(&out);
}

static void grows(void **state)
{
    (void)state;
    struct xsti_out out = {0};
    for (int i = 0; i < 20000; i++)
        xsti_putf(&out, "%05d", i);
    assert_int_equal(out.bytes, 100000);
    assert_int_equal(strlen(out.text), 100000);
    assert_memory_equal(out.text + 99995, "19999", 5);
    assert_false(out.failed);
    xsti_out_free(&out);
}

static void numbers_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *words;
    } cases[] = {{0, "0"},       {0.0004, "0.0004"}, {0.083, "0.083"}, {0.197, "0.20"},
                 {1, "1.00"},    {9.994, "9.99"},    {9.996, "10.0"},  {11.1, "11.1"},
                 {99.96, "100"}, {372.4, "372"},     {-4.97, "-4.97"}};
    char text[XSTI_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(xsti_number_words(cases[i].value, text), cases[i].words);
    assert_string_equal(xsti_bytes_words(32768, text), "32 KiB");
    assert_string_equal(xsti_bytes_words(512, text), "512 B");
    assert_string_equal(xsti_bytes_words(2.37 * 1048576, text), "2.37 MiB");
    assert_string_equal(xsti_percent_words(0.0123, text), "1.2 %");
    assert_string_equal(xsti_percent_words(0.58, text), "58 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_for_html),          cmocka_unit_test(escapes_for_scripts),
        cmocka_unit_test(replaces_what_is_no_text),  cmocka_unit_test(grows),
        cmocka_unit_test(numbers_have_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
