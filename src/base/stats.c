/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void xsti_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

double xsti_quantile_sorted(const double *sorted, size_t count, double frac)
{
    const double at = frac * (double)(count - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double xsti_median(double *values, size_t count)
{
    xsti_sort(values, count);
    return xsti_quantile_sorted(values, count, 0.5);
}

struct xsti_median_interval xsti_median_interval(double *values, size_t count)
{
    const double value = xsti_median(values, count);
    /* Largest rank r with P(Binomial(count, 1/2) < r) <= 2.5 %: the interval is [x_(r), x_(count+1-r)]. */
    size_t rank = 0;
    double cumulated = 0, log_choose = 0;
    for (size_t k = 0; k < count; k++) {
        if (k > 0)
            log_choose += log((double)(count - k + 1)) - log((double)k);
        cumulated += exp(log_choose - (double)count * log(2.0));
        if (cumulated > 0.025)
            break;
        rank = k + 1;
    }
    const size_t low = rank > 0 ? rank - 1 : 0;
    return (struct xsti_median_interval){value, values[low], values[count - 1 - low]};
}
