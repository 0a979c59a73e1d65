/* SPDX-License-Identifier: Apache-2.0
 *
 * ticks.h - where an axis is marked, and with which words.
 */
#ifndef XSTI_REPORT_TICKS_H
#define XSTI_REPORT_TICKS_H

#include <stddef.h>

enum xsti_scale { XSTI_SCALE_LINEAR, XSTI_SCALE_LOG2, XSTI_SCALE_LOG10 };

struct xsti_tick {
    double value;
    char label[24]; /* "": a mark without words */
};

enum { XSTI_MOST_TICKS = 32 };

/* An axis: scale and words are set, the rest is derived from the data. */
struct xsti_axis {
    char label[96]; /* quantity and unit */
    enum xsti_scale scale;
    int in_bytes; /* labels in KiB and MiB */
    double low;
    double high;
    struct xsti_tick ticks[XSTI_MOST_TICKS];
    size_t tick_count;
};

/* Widens [low, high] of the data to what the axis shows and marks it: linear axes start at 0 when the data do not fall
 * below it, logarithmic ones take the positive part. `most` is the largest number of labels. */
void xsti_axis_span(struct xsti_axis *axis, double low, double high, size_t most);

/* Position of `value` on the axis: 0 at low, 1 at high; beyond them outside [0, 1]. Logarithmic: value <= 0 is at 0. */
double xsti_axis_place(const struct xsti_axis *axis, double value);

#endif
