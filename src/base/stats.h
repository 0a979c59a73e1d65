/* SPDX-License-Identifier: Apache-2.0
 *
 * stats.h - order statistics of small samples. All functions sort `values` in place.
 */
#ifndef XSTI_BASE_STATS_H
#define XSTI_BASE_STATS_H

#include <stddef.h>

/* Ascending. */
void xsti_sort(double *values, size_t count);

/* Quantile of sorted values, linear between neighbours; frac in [0, 1]; count >= 1. */
double xsti_quantile_sorted(const double *sorted, size_t count, double frac);

/* Median; count >= 1. */
double xsti_median(double *values, size_t count);

/* Median with a distribution-free interval: the order statistics that cover the median with probability >= 95 %
 * (binomial(count, 1/2)); the full range where count is too small for that (count < 6). */
struct xsti_median_interval {
    double value;
    double low;
    double high;
};
struct xsti_median_interval xsti_median_interval(double *values, size_t count);

#endif
