/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static enum xsti_number parse_int(const char *text, int64_t *value)
{
    return xsti_parse_int(text, strlen(text), value);
}

static enum xsti_number parse_real(const char *text, double *value)
{
    return xsti_parse_real(text, strlen(text), value);
}

static void integers_are_whole_fields(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {"007", 7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t value = 99;
        assert_int_equal(parse_int(good[i].text, &value), XSTI_NUMBER_OK);
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {"",  " ", " 1",    "1 ",  "1.0", "1e3",      "0x10", "1,2", "--1", "+-1",
                                      "+", "-", "1_000", "1\t", "one", "\xC2\xB2", "1K",   "0b1", "nan", "inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 99;
        if (parse_int(bad[i], &value) != XSTI_NUMBER_NONE)
            fail_msg("\"%s\" was taken for an integer", bad[i]);
        assert_true(value == 99);
    }
    int64_t value = 99;
    assert_int_equal(parse_int("9223372036854775808", &value), XSTI_NUMBER_OVERFLOW);
    assert_int_equal(parse_int("-9223372036854775809", &value), XSTI_NUMBER_OVERFLOW);
    assert_true(value == 99);
}

static void reals_are_whole_fields(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"-1.5", -1.5},
                {"+.5", 0.5},
                {"5.", 5},
                {"1e3", 1e3},
                {"1E-3", 1e-3},
                {"1e308", 1e308},
                {"0.1", 0.1},
                {"1e-400", 0},
                {"0000.2500", 0.25},
                {"123456789.123456789", 123456789.123456789}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 99;
        if (parse_real(good[i].text, &value) != XSTI_NUMBER_OK)
            fail_msg("\"%s\" was refused", good[i].text);
        xt_near(value, good[i].value, 0);
    }
    static const char *const bad[] = {"",      " ",     " 1",   "1 ",    "1,5",          "1e",  "e1",  ".",
                                      "-",     "0x1p3", "0X10", "1.2.3", "1d3",          "1f",  "1..", "--1",
                                      "1e+-3", "nano",  "info", "nan(",  "\xEF\xBC\x91", "1 2", "$1",  "1%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 99;
        if (parse_real(bad[i], &value) != XSTI_NUMBER_NONE)
            fail_msg("\"%s\" was taken for a number", bad[i]);
        xt_near(value, 99, 0);
    }
    static const char *const not_finite[] = {"nan", "NaN", "-nan", "inf", "-inf", "+INF", "Infinity", "nan(0)"};
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++) {
        double value = 99;
        if (parse_real(not_finite[i], &value) != XSTI_NUMBER_NOT_FINITE)
            fail_msg("\"%s\" was not told apart", not_finite[i]);
        xt_near(value, 99, 0);
    }
    double value = 99;
    assert_int_equal(parse_real("1e309", &value), XSTI_NUMBER_OVERFLOW);
    assert_int_equal(parse_real("-1e999", &value), XSTI_NUMBER_OVERFLOW);
    xt_near(value, 99, 0);
}

/* The field ends where `bytes` says, whatever stands behind it, and a NUL inside is not an end. */
static void fields_end_at_their_length(void **state)
{
    (void)state;
    int64_t number = 0;
    double real = 0;
    assert_int_equal(xsti_parse_int("12345", 3, &number), XSTI_NUMBER_OK);
    assert_int_equal(number, 123);
    assert_int_equal(xsti_parse_real("1.5e9", 3, &real), XSTI_NUMBER_OK);
    xt_near(real, 1.5, 0);
    assert_int_equal(xsti_parse_int("12\0junk", 7, &number), XSTI_NUMBER_NONE);
    assert_int_equal(xsti_parse_real("12\0", 3, &real), XSTI_NUMBER_NONE);
    assert_int_equal(xsti_parse_real("\0", 1, &real), XSTI_NUMBER_NONE);
}

static void huge_fields_are_refused_not_cut(void **state)
{
    (void)state;
    char digits[5001];
    memset(digits, '1', sizeof digits);
    int64_t number = 99;
    double real = 99;
    for (size_t bytes = 60; bytes <= sizeof digits; bytes += 1 + bytes / 7) {
        assert_int_not_equal(xsti_parse_int(digits, bytes, &number), XSTI_NUMBER_OK);
        if (bytes >= 64)
            assert_int_not_equal(xsti_parse_real(digits, bytes, &real), XSTI_NUMBER_OK);
    }
    assert_int_equal(number, 99);
    xt_near(real, 99, 0);
}

/* A decimal comma: made with localedef where the machine has the locale sources, else skipped. */
static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    char *const folder = xt_folder_make();
    char command[512];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    const int made = system(command) >= 0;
    setenv("LOCPATH", folder, 1);
    const char *const set = made ? setlocale(LC_ALL, "de_DE.UTF-8") : NULL;
    double value = 0;
    enum xsti_number number = XSTI_NUMBER_NONE;
    char comma = '.';
    double rounded = 0;
    if (set) {
        char text[16];
        snprintf(text, sizeof text, "%.1f", 1.5);
        comma = text[1];
        number = xsti_parse_real("1.25", 4, &value);
        rounded = xsti_round9(0.1234567894);
        double with_comma = 0;
        assert_int_equal(xsti_parse_real("1,25", 4, &with_comma), XSTI_NUMBER_NONE);
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", folder);
    assert_int_equal(system(command), 0);
    xt_folder_remove(folder);
    if (!set)
        skip();
    assert_int_equal(comma, ',');
    assert_int_equal(number, XSTI_NUMBER_OK);
    xt_near(value, 1.25, 0);
    xt_near(rounded, 0.123456789, 0);
}

static void complaints_differ(void **state)
{
    (void)state;
    const char *seen[4];
    for (int i = 0; i < 4; i++) {
        seen[i] = xsti_number_complaint((enum xsti_number)i);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(seen[i], seen[j]);
    }
}

static void quotes_are_safe_to_print(void **state)
{
    (void)state;
    char quoted[XSTI_QUOTE_BYTES];
    assert_string_equal(xsti_quote("abc", 3, quoted), "\"abc\"");
    assert_string_equal(xsti_quote("", 0, quoted), "\"\"");
    assert_string_equal(xsti_quote("a\x1b[31m\n\0\xff", 8, quoted), "\"a?[31m??\"");
    char text[300];
    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        memset(text, 'x', sizeof text);
        xsti_quote(text, bytes, quoted);
        assert_true(strlen(quoted) < XSTI_QUOTE_BYTES);
        assert_int_equal(strlen(quoted), bytes <= 40 ? bytes + 2 : 40 + 3 + 2);
    }
}

static void nearest_word(void **state)
{
    (void)state;
    static const char *const words[] = {"producers", "bytes_per_producer", "gap_us", "bursts"};
    assert_string_equal(xsti_nearest("producer", words, 4), "producers");
    assert_string_equal(xsti_nearest("gap_ms", words, 4), "gap_us");
    assert_string_equal(xsti_nearest("bytes", words, 4), "bytes_per_producer");
    assert_null(xsti_nearest("zzzzzz", words, 4));
    assert_null(xsti_nearest("gap", words, 0));
    char word[400];
    memset(word, 'q', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(xsti_nearest(word, words, 4));
}

static void nine_digits(void **state)
{
    (void)state;
    xt_near(xsti_round9(0), 0, 0);
    xt_near(xsti_round9(1.0 / 3), 0.333333333, 0);
    xt_near(xsti_round9(-12345678949.0), -12345678900.0, 0);
    for (double value = 1e-12; value < 1e15; value *= 3.7) {
        const double once = xsti_round9(value);
        xt_near(xsti_round9(once), once, 0);
        xt_near(once, value, 5e-9 * value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_whole_fields),
        cmocka_unit_test(reals_are_whole_fields),
        cmocka_unit_test(fields_end_at_their_length),
        cmocka_unit_test(huge_fields_are_refused_not_cut),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(complaints_differ),
        cmocka_unit_test(quotes_are_safe_to_print),
        cmocka_unit_test(nearest_word),
        cmocka_unit_test(nine_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
