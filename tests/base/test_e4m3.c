/* SPDX-License-Identifier: Apache-2.0
 *
 * 8-bit floats: every code, every value between two codes, and what is too large.
 */
#include "support/support.h"

#include <math.h>

#include "base/e4m3.h"

static void values_of_codes(void **state)
{
    (void)state;
    assert_true(xsti_e4m3_to_float(0x00) == 0 && xsti_e4m3_to_float(0x7e) == 448);
    assert_true(xsti_e4m3_to_float(0x38) == 1 && xsti_e4m3_to_float(0xb8) == -1);
    assert_true(xsti_e4m3_to_float(0x01) == 0.001953125f && xsti_e4m3_to_float(0x08) == 0.015625f);
    assert_true(isnan(xsti_e4m3_to_float(0x7f)) && isnan(xsti_e4m3_to_float(0xff)));
    for (int code = 0; code < 0x7e; code++)
        assert_true(xsti_e4m3_to_float((uint8_t)code) < xsti_e4m3_to_float((uint8_t)(code + 1)));
}

/* Below the middle down, above it up, on it to the even code. */
static void rounding(void **state)
{
    (void)state;
    for (int code = 0; code < 0x7e; code++) {
        const float low = xsti_e4m3_to_float((uint8_t)code), high = xsti_e4m3_to_float((uint8_t)(code + 1));
        const float middle = (low + high) / 2;
        for (int sign = 0; sign < 2; sign++) {
            const float by = sign ? -1.0f : 1.0f;
            const int bit = sign ? 0x80 : 0;
            assert_int_equal(xsti_float_to_e4m3(by * low), bit | code);
            assert_int_equal(xsti_float_to_e4m3(by * nextafterf(middle, 0)), bit | code);
            assert_int_equal(xsti_float_to_e4m3(by * middle), bit | (code + code % 2));
            assert_int_equal(xsti_float_to_e4m3(by * nextafterf(middle, 1000)), bit | (code + 1));
        }
    }
}

static void too_large_and_no_number(void **state)
{
    (void)state;
    assert_int_equal(xsti_float_to_e4m3(449), 0x7e);
    assert_int_equal(xsti_float_to_e4m3(-1e30f), 0xfe);
    assert_int_equal(xsti_float_to_e4m3(INFINITY), 0x7e);
    assert_int_equal(xsti_float_to_e4m3(NAN) & 0x7f, 0x7f);
    assert_int_equal(xsti_float_to_e4m3(1e-30f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_codes),
        cmocka_unit_test(rounding),
        cmocka_unit_test(too_large_and_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
