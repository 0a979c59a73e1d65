/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ticks.h"

#include <math.h>
#include <stdio.h>

#include "report/out.h"

static const double room_frac = 0.04; /* free space beyond the outermost point */

static void add_tick(struct xsti_axis *axis, double value, const char *label)
{
    if (axis->tick_count >= XSTI_MOST_TICKS)
        return;
    struct xsti_tick *const tick = &axis->ticks[axis->tick_count++];
    tick->value = value;
    snprintf(tick->label, sizeof tick->label, "%.23s", label);
}

/* Smallest of 1, 2, 5 times a power of ten that needs at most `most` marks for the span. */
static double nice_step(double span, size_t most)
{
    const double rough = span / (double)(most > 1 ? most - 1 : 1);
    const double power = pow(10, floor(log10(rough)));
    static const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (factors[i] * power >= rough * (1 - 1e-9))
            return factors[i] * power;
    return 10 * power;
}

static void span_linear(struct xsti_axis *axis, double low, double high, size_t most)
{
    char label[XSTI_NUMBER_BYTES];
    if (low > 0)
        low = 0;
    if (high <= low)
        high = low + 1;
    const double step = nice_step(high - low, most);
    const int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    axis->low = floor(low / step + 1e-9) * step;
    axis->high = high + room_frac * (high - low);
    for (double at = 0; axis->low + at * step <= axis->high * (1 + 1e-12); at++) {
        const double value = axis->low + at * step;
        if (axis->in_bytes)
            xsti_bytes_words(value, label);
        else
            snprintf(label, sizeof label, "%.*f", decimals, value);
        add_tick(axis, value, label);
    }
}

static void span_log2(struct xsti_axis *axis, double low, double high, size_t most)
{
    char label[XSTI_NUMBER_BYTES];
    const double margin = fmax(room_frac * log2(high / low), 0.1);
    const double from = log2(low) - margin, to = log2(high) + margin;
    axis->low = exp2(from);
    axis->high = exp2(to);
    int stride = 1;
    while ((floor(to) - ceil(from)) / stride + 1 > (double)most)
        stride++;
    /* Multiples of the stride, so that 1 KiB and 1 MiB stay labelled on wide axes. */
    for (int power = (int)ceil(from); power <= (int)floor(to); power++) {
        const double value = exp2(power);
        if (power % stride != 0)
            label[0] = '\0';
        else if (axis->in_bytes)
            xsti_bytes_words(value, label);
        else
            xsti_number_words(value, label);
        add_tick(axis, value, label);
    }
}

static void span_log10(struct xsti_axis *axis, double low, double high, size_t most)
{
    char label[XSTI_NUMBER_BYTES];
    const double margin = fmax(room_frac * log10(high / low), 0.03);
    const double from = log10(low) - margin, to = log10(high) + margin;
    axis->low = pow(10, from);
    axis->high = pow(10, to);
    const double decades = to - from;
    const int stride = decades > (double)most ? (int)ceil(decades / (double)most) : 1;
    for (int power = (int)floor(from); power <= (int)floor(to); power++) {
        for (int digit = 1; digit <= 9; digit++) {
            const double value = digit * pow(10, power);
            if (value < axis->low || value > axis->high)
                continue;
            /* One decade: all but the crowded upper digits; up to three: 1, 2, 5; beyond: powers alone. */
            const int labelled = decades <= 1.1   ? digit <= 6 || digit == 8
                                 : decades <= 3.2 ? digit == 1 || digit == 2 || digit == 5
                                                  : digit == 1 && power % stride == 0;
            if (!labelled && decades > 4)
                continue;
            snprintf(label, sizeof label, "%.*f", power < 0 ? -power : 0, value);
            add_tick(axis, value, labelled ? label : "");
        }
    }
}

void xsti_axis_span(struct xsti_axis *axis, double low, double high, size_t most)
{
    axis->tick_count = 0;
    if (!(isfinite(low) && isfinite(high) && low <= high)) {
        low = axis->scale == XSTI_SCALE_LINEAR ? 0 : 1;
        high = 10;
    }
    if (axis->scale == XSTI_SCALE_LINEAR) {
        span_linear(axis, low, high, most);
        return;
    }
    low = fmax(low, 1e-9);
    high = fmax(high, low * 1.5);
    if (axis->scale == XSTI_SCALE_LOG2)
        span_log2(axis, low, high, most);
    else
        span_log10(axis, low, high, most);
}

double xsti_axis_place(const struct xsti_axis *axis, double value)
{
    if (axis->scale == XSTI_SCALE_LINEAR)
        return (value - axis->low) / (axis->high - axis->low);
    if (!(value > 0))
        return 0;
    return log(value / axis->low) / log(axis->high / axis->low);
}
