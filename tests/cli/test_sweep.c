/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sweep.h"

static void check(const char *text, int integer, const double *wanted, size_t count)
{
    struct cli_sweep sweep = {NULL, 0};
    struct xst_diag diag = {0};
    assert_int_equal(cli_sweep_parse("bytes", text, integer, -1e15, 1e15, &sweep, &diag), XST_OK);
    assert_int_equal(sweep.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(sweep.values[i] == wanted[i]);
    cli_sweep_free(&sweep);
    assert_null(sweep.values);
}

#define CHECK(text, integer, ...)                                                                                      \
    do {                                                                                                               \
        const double wanted_[] = {__VA_ARGS__};                                                                        \
        check(text, integer, wanted_, sizeof wanted_ / sizeof *wanted_);                                               \
    } while (0)

static void test_single_numbers(void **state)
{
    (void)state;
    CHECK("7", 1, 7);
    CHECK("32K", 1, 32768);
    CHECK("32k", 1, 32768);
    CHECK("32KiB", 1, 32768);
    CHECK("0.5M", 1, 524288);
    CHECK("2G", 1, 2147483648.0);
    CHECK("0.25", 0, 0.25);
    CHECK("1e3", 0, 1000);
    CHECK("1e3", 1, 1000);
    CHECK("-2.5", 0, -2.5);
    CHECK(".5", 0, 0.5);
}

static void test_lists_and_ranges(void **state)
{
    (void)state;
    CHECK("0,1,2,4", 0, 0, 1, 2, 4);
    CHECK("1..4", 1, 1, 2, 3, 4);
    CHECK("5..5", 1, 5);
    CHECK("0..1:0.25", 0, 0, 0.25, 0.5, 0.75, 1);
    CHECK("0..10:4", 0, 0, 4, 8);
    CHECK("1K..8K:x2", 1, 1024, 2048, 4096, 8192);
    CHECK("1..10:x3", 1, 1, 3, 9);
    CHECK("1K..3K:1K,16K", 1, 1024, 2048, 3072, 16384);
    CHECK("0.1..0.8:x2", 0, 0.1, 0.2, 0.4, 0.8);
}

/* A step that is not a binary fraction still reaches the end, and the last value is the end itself. */
static void test_ends_are_reached(void **state)
{
    (void)state;
    struct cli_sweep sweep;
    assert_int_equal(cli_sweep_parse("gap-us", "0..10:0.1", 0, 0, 1e9, &sweep, NULL), XST_OK);
    assert_int_equal(sweep.count, 101);
    assert_true(sweep.values[100] <= 10 && sweep.values[100] > 9.999999);
    cli_sweep_free(&sweep);
    assert_int_equal(cli_sweep_parse("bytes", "1..1G:x2", 1, 1, 1e12, &sweep, NULL), XST_OK);
    assert_int_equal(sweep.count, 31);
    assert_true(sweep.values[30] == 1073741824.0);
    cli_sweep_free(&sweep);
}

static void test_mistakes_name_the_token(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int integer;
        const char *part; /* of the sentence */
    } cases[] = {
        {"", 1, "''"},
        {"1,,2", 1, "''"},
        {"x", 1, "'x' is not an integer"},
        {"1Q", 1, "'1Q'"},
        {"1K", 0, "'1K' is not a number"},
        {"1.5", 1, "'1.5' is not an integer"},
        {"nan", 0, "'nan'"},
        {"inf", 0, "'inf'"},
        {"0x10", 1, "'0x10'"},
        {" 1", 1, "' 1'"},
        {"1 ", 1, "'1 '"},
        {"1e999", 0, "'1e999'"},
        {"1..", 1, "'1..'"},
        {"..3", 1, "'..3'"},
        {"3..1", 1, "runs downwards"},
        {"1..3:", 1, "step that is not a number"},
        {"1..3:0", 1, "step that is not above 0"},
        {"1..3:-1", 1, "step that is not above 0"},
        {"1..3:x1", 1, "factor that is not above 1"},
        {"0..3:x2", 1, "starts at 0"},
        {"2,1001", 1, "'1001' is outside 0..1000"},
        {"0..900000", 1, "outside 0..1000"},
        {"0..1:1e-9", 0, "more than 50000000 values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli_sweep sweep = {NULL, 0};
        struct xst_diag diag = {0};
        assert_int_equal(cli_sweep_parse("bytes", cases[i].text, cases[i].integer, 0, 1000, &sweep, &diag),
                         XST_ERR_USAGE);
        assert_null(sweep.values);
        assert_non_null(strstr(diag.text, "--bytes: "));
        if (!strstr(diag.text, cases[i].part))
            fail_msg("'%s': \"%s\" lacks \"%s\"", cases[i].text, diag.text, cases[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_numbers),
        cmocka_unit_test(test_lists_and_ranges),
        cmocka_unit_test(test_ends_are_reached),
        cmocka_unit_test(test_mistakes_name_the_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
