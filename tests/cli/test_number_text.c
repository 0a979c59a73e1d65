/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "number_text.h"

static void same_as_printf(double value)
{
    char text[CLI_NUMBER_BYTES], wanted[64];
    snprintf(wanted, sizeof wanted, "%.9g", value);
    const size_t length = cli_number_text(value, text);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
}

static void test_chosen(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    1,
                                    10,
                                    0.5,
                                    1e-4,
                                    9.99999999e-5,
                                    0.000123456789123,
                                    999999999,
                                    999999999.4,
                                    999999999.5,
                                    999999999.6,
                                    1e9,
                                    1e10,
                                    99999999.95,
                                    0.999999999499,
                                    0.9999999995,
                                    0.99999999951,
                                    1.0000000005,
                                    123456789.5,
                                    12345678.25,
                                    372787.064,
                                    1e300,
                                    DBL_MIN,
                                    4.9e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        same_as_printf(values[i]);
        same_as_printf(-values[i]);
        same_as_printf(nextafter(values[i], INFINITY));
        same_as_printf(nextafter(values[i], -INFINITY));
    }
}

/* Over all magnitudes, and on short decimals, where ties lie. */
static void test_many(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252ULL;
    for (int i = 0; i < 400000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        const double unit = (double)(seed >> 11) / 9007199254740992.0;
        same_as_printf(pow(10, 16 * unit - 6));
        same_as_printf((double)(int64_t)(seed >> 30) / 1000);
        same_as_printf((double)(seed % 20000000001ULL) / 20000000000.0);
        same_as_printf(-(double)(seed % 1000003) * 0.0005);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chosen), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
