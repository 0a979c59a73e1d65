/* SPDX-License-Identifier: Apache-2.0
 *
 * bf16: rounding to nearest with ties to even, infinity and NaN kept, widening exact.
 */
#include "support/support.h"

#include <math.h>

#include "base/bf16.h"

static void rounds_to_nearest_even(void **state)
{
    (void)state;
    assert_int_equal(xsti_float_to_bf16(1.0f), 0x3f80);
    assert_int_equal(xsti_float_to_bf16(1.00390625f), 0x3f80); /* a tie goes to even */
    assert_int_equal(xsti_float_to_bf16(1.01171875f), 0x3f82);
    assert_int_equal(xsti_float_to_bf16(-INFINITY), 0xff80);
    assert_true(isnan(xsti_bf16_to_float(xsti_float_to_bf16(NAN))));
}

static void widening_is_exact(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++)
        if (!isnan(xsti_bf16_to_float((uint16_t)bits)))
            assert_int_equal(xsti_float_to_bf16(xsti_bf16_to_float((uint16_t)bits)), bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_nearest_even),
        cmocka_unit_test(widening_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
