/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

static void quantiles(void **state)
{
    (void)state;
    double values[] = {4, 1, 3, 2};
    xt_near(xsti_median(values, 4), 2.5, 0);
    xt_near(values[0], 1, 0);
    xt_near(values[3], 4, 0);
    xt_near(xsti_quantile_sorted(values, 4, 0), 1, 0);
    xt_near(xsti_quantile_sorted(values, 4, 1), 4, 0);
    xt_near(xsti_quantile_sorted(values, 4, 0.9), 3.7, 1e-12);
    double one[] = {7};
    xt_near(xsti_median(one, 1), 7, 0);
    xt_near(xsti_quantile_sorted(one, 1, 0.9), 7, 0);
    double same[] = {2, 2, 2};
    xt_near(xsti_median(same, 3), 2, 0);
}

static void sort_any_order(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (size_t count = 0; count < 200; count++) {
        double values[200];
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1103515245u + 12345u;
            values[i] = (double)(seed >> 16) - 20000;
        }
        xsti_sort(values, count);
        for (size_t i = 1; i < count; i++)
            assert_true(values[i - 1] <= values[i]);
    }
}

/* P(X_(low) <= median <= X_(high)) for 1-based ranks and a continuous distribution, summed from Pascal's triangle. */
static double coverage(size_t count, size_t low_rank, size_t high_rank)
{
    double row[101] = {1};
    for (size_t n = 1; n <= count; n++) {
        for (size_t k = n; k > 0; k--)
            row[k] = (row[k] + row[k - 1]) / 2;
        row[0] /= 2;
    }
    double sum = 0;
    for (size_t k = low_rank; k < high_rank; k++)
        sum += row[k];
    return sum;
}

/* The narrowest symmetric pair of order statistics that covers with 95 %, found by trying them all. */
static void interval_against_brute_force(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 100; count++) {
        double values[100];
        for (size_t i = 0; i < count; i++)
            values[i] = (double)((i * 37) % count) + 1;
        if (count % 37 == 0) {
            for (size_t i = 0; i < count; i++)
                values[i] = (double)(count - i);
        }
        size_t rank = 1;
        while (rank + 1 <= count - rank && coverage(count, rank + 1, count - rank) >= 0.95)
            rank++;
        const struct xsti_median_interval interval = xsti_median_interval(values, count);
        xt_near(interval.low, (double)rank, 0);
        xt_near(interval.high, (double)(count + 1 - rank), 0);
        xt_near(interval.value, ((double)count + 1) / 2, 1e-12);
        if (count >= 6)
            assert_true(coverage(count, rank, count + 1 - rank) >= 0.95);
    }
}

static void interval_of_many(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    double *const values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (double)(COUNT - i);
    const struct xsti_median_interval interval = xsti_median_interval(values, COUNT);
    /* binomial: half width 1.96 * sqrt(n) / 2 */
    xt_near(interval.low, COUNT / 2.0 - 1.96 * sqrt(COUNT) / 2, 2);
    xt_near(interval.high, COUNT / 2.0 + 1.96 * sqrt(COUNT) / 2, 2);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(sort_any_order),
        cmocka_unit_test(interval_against_brute_force),
        cmocka_unit_test(interval_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
