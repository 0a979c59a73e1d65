/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "report/ticks.h"
#include "support/support.h"

static struct xsti_axis spanned(enum xsti_scale scale, int in_bytes, double low, double high)
{
    struct xsti_axis axis = {.scale = scale, .in_bytes = in_bytes};
    xsti_axis_span(&axis, low, high, 9);
    return axis;
}

static size_t labels(const struct xsti_axis *axis)
{
    size_t count = 0;
    for (size_t i = 0; i < axis->tick_count; i++)
        count += axis->ticks[i].label[0] != '\0';
    return count;
}

static const char *label_at(const struct xsti_axis *axis, double value)
{
    for (size_t i = 0; i < axis->tick_count; i++)
        if (fabs(axis->ticks[i].value - value) <= 1e-9 * fabs(value))
            return axis->ticks[i].label;
    return NULL;
}

static void linear_starts_at_zero(void **state)
{
    (void)state;
    const struct xsti_axis axis = spanned(XSTI_SCALE_LINEAR, 0, 0.3, 40.7);
    assert_true(axis.low == 0);
    assert_true(axis.high > 40.7);
    assert_string_equal(label_at(&axis, 10), "10");
    assert_string_equal(axis.ticks[0].label, "0");
}

static void linear_small_steps_have_decimals(void **state)
{
    (void)state;
    const struct xsti_axis axis = spanned(XSTI_SCALE_LINEAR, 0, 0, 0.4);
    assert_string_equal(label_at(&axis, 0.1), "0.10");
    assert_in_range(labels(&axis), 4, 10);
}

static void bytes_are_powers_of_two(void **state)
{
    (void)state;
    const struct xsti_axis axis = spanned(XSTI_SCALE_LOG2, 1, 8192, 25952256);
    assert_string_equal(label_at(&axis, 1048576), "1 MiB");
    assert_string_equal(label_at(&axis, 16384), "16 KiB");
    assert_in_range(labels(&axis), 4, 9);
}

static void decades_are_labelled(void **state)
{
    (void)state;
    const struct xsti_axis axis = spanned(XSTI_SCALE_LOG10, 0, 0.083, 63);
    assert_string_equal(label_at(&axis, 0.1), "0.1");
    assert_string_equal(label_at(&axis, 0.5), "0.5");
    assert_string_equal(label_at(&axis, 20), "20");
    assert_string_equal(label_at(&axis, 30), "");
}

/* No span, however odd, gives an axis that cannot be drawn. */
static void odd_spans_are_drawn(void **state)
{
    (void)state;
    static const double spans[][2] = {{0, 0},  {5, 5},        {1, -1}, {0, 1e12}, {1e-12, 1e12}, {INFINITY, -INFINITY},
                                      {-3, 4}, {1e9, 1e9 + 1}};
    static const enum xsti_scale scales[] = {XSTI_SCALE_LINEAR, XSTI_SCALE_LOG2, XSTI_SCALE_LOG10};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            const struct xsti_axis axis = spanned(scales[s], s == 1, spans[i][0], spans[i][1]);
            assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
            assert_true(axis.tick_count <= XSTI_MOST_TICKS);
            assert_true(scales[s] == XSTI_SCALE_LINEAR || axis.low > 0);
            for (size_t t = 0; t < axis.tick_count; t++) {
                const double place = xsti_axis_place(&axis, axis.ticks[t].value);
                xt_within(place, -1e-9, 1 + 1e-9);
            }
        }
    }
}

static void places_run_from_zero_to_one(void **state)
{
    (void)state;
    const struct xsti_axis axis = spanned(XSTI_SCALE_LOG2, 1, 1024, 1048576);
    xt_near(xsti_axis_place(&axis, axis.low), 0, 1e-12);
    xt_near(xsti_axis_place(&axis, axis.high), 1, 1e-12);
    xt_near(xsti_axis_place(&axis, 32768), 0.5, 1e-9);
    assert_true(xsti_axis_place(&axis, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_starts_at_zero),   cmocka_unit_test(linear_small_steps_have_decimals),
        cmocka_unit_test(bytes_are_powers_of_two), cmocka_unit_test(decades_are_labelled),
        cmocka_unit_test(odd_spans_are_drawn),     cmocka_unit_test(places_run_from_zero_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
