/* SPDX-License-Identifier: Apache-2.0
 *
 * F, R and d: fence time, drain rate, loop time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/stats.h"
#include "fit/context.h"

enum { SMALL_BURST_BYTES = 4096 };

/* Rows within this share of the best zero-gap rate count as saturated. */
static const double saturated_frac = 0.93;
/* R is read at producer counts of at least this share of the largest one: a finite run of few producers with unequal shares
 * ends in a tail that looks like a lower rate. */
static const double large_producers_frac = 0.7;
/* A row this far from the fitted rate breaks the law. */
static const double outlier_frac = 0.03;

struct xst_measure xsti_measure_of(double *values, size_t count)
{
    if (count == 0)
        return (struct xst_measure){0, 0, 0, 0, 0};
    const struct xsti_median_interval interval = xsti_median_interval(values, count);
    return (struct xst_measure){interval.value, interval.low, interval.high, (int64_t)count, 1};
}

/* F: issue end to fence end of a small isolated burst of the smallest producer count. */
enum xst_status xsti_fit_fence(struct xsti_fit_context *context)
{
    int64_t producers = INT64_MAX;
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->mode == XST_MODE_ISOLATED && row->bytes_per_producer <= SMALL_BURST_BYTES &&
            row->producers < producers)
            producers = row->producers;
    }
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->mode != XST_MODE_ISOLATED || row->bytes_per_producer > SMALL_BURST_BYTES ||
            row->producers != producers || row->fenced_max_us < row->issue_mean_us)
            continue;
        context->room[count++] = row->fenced_max_us - row->issue_mean_us;
        xsti_use(context, i, XST_ROW_FENCE);
    }
    context->path->fence_us = xsti_measure_of(context->room, count);
    return XST_OK;
}

static int zero_gap(const struct xst_sample *row)
{
    return row->mode == XST_MODE_PERIODIC && row->gap_us == 0;
}

/* Total bytes over total time, the fence at the end not counted. 0 when the run is shorter than its fence. */
static double rate_of(const struct xsti_fit_context *context, const struct xst_sample *row)
{
    const double fence_us = context->path->fence_us.known ? context->path->fence_us.value : 0;
    const double span_us = row->total_us - fence_us;
    return span_us > 0 ? (double)row->bursts * xsti_volume(row) / span_us : 0;
}

static double best_rate(const struct xsti_fit_context *context)
{
    double best = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (zero_gap(row))
            best = fmax(best, rate_of(context, row));
    }
    return best;
}

static int is_saturated(const struct xsti_fit_context *context, const struct xst_sample *row, double best)
{
    return zero_gap(row) && rate_of(context, row) >= saturated_frac * best;
}

/* Busy time of the same burst when nothing holds it back, as far as any row shows it: that of a larger burst is no shorter. */
static double least_busy_us(const struct xsti_fit_context *context, const struct xst_sample *like)
{
    double least = INFINITY;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->producers == like->producers && row->bytes_per_producer >= like->bytes_per_producer)
            least = fmin(least, xsti_busy_us(context, row));
    }
    return least;
}

/* The best rate is a drain rate and not the issue rate of the producers when more producers do not raise it, or when the same
 * burst is seen to be busy for a shorter time elsewhere. */
static int is_drain(const struct xsti_fit_context *context, double best)
{
    int64_t fewest = INT64_MAX, most = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (!is_saturated(context, row, best))
            continue;
        fewest = row->producers < fewest ? row->producers : fewest;
        most = row->producers > most ? row->producers : most;
        if (xsti_busy_us(context, row) >= 1.5 * least_busy_us(context, row))
            return 1;
    }
    return most > 0 && (double)most >= 1.3 * (double)fewest;
}

static size_t rates_at(struct xsti_fit_context *context, double best, int64_t producers)
{
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->producers == producers && is_saturated(context, row, best))
            context->room[count++] = rate_of(context, row);
    }
    return count;
}

/* The informative table: saturated rate by producer count. */
static enum xst_status fill_table(struct xsti_fit_context *context, double best)
{
    struct xst_drain_table *const table = &context->path->drain_by_producers;
    table->points = calloc(context->row_count, sizeof *table->points);
    if (!table->points)
        return xsti_fail_memory(context->diag);
    for (int64_t after = 0;;) {
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < context->row_count; i++) {
            const struct xst_sample *const row = xsti_row(context, i);
            if (row->producers > after && row->producers < next && is_saturated(context, row, best))
                next = row->producers;
        }
        if (next == INT64_MAX)
            return XST_OK;
        const size_t count = rates_at(context, best, next);
        table->points[table->count++] =
            (struct xst_drain_point){next, xsti_median(context->room, count), (int64_t)count};
        after = next;
    }
}

static enum xst_status note_outliers(struct xsti_fit_context *context, double best, double producers_low)
{
    const double drain = context->path->drain_bytes_per_us.value;
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (!is_saturated(context, row, best) || (double)row->producers < producers_low)
            continue;
        const double rate = rate_of(context, row), error = fabs(rate / drain - 1);
        context->room[count++] = error;
        if (error > outlier_frac)
            XSTI_TRY(xsti_outlier(context, i, "drain", rate, drain));
    }
    struct xst_measure *const residual = &context->path->residual_drain;
    *residual = xsti_measure_of(context->room, count);
    if (count)
        residual->high = context->room[count - 1];
    return XST_OK;
}

enum xst_status xsti_fit_drain(struct xsti_fit_context *context)
{
    const double best = best_rate(context);
    if (best <= 0 || !is_drain(context, best))
        return XST_OK;
    int64_t most = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (is_saturated(context, row, best) && row->producers > most)
            most = row->producers;
    }
    const double producers_low = large_producers_frac * (double)most;
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (!is_saturated(context, row, best) || (double)row->producers < producers_low)
            continue;
        context->room[count++] = rate_of(context, row);
        xsti_use(context, i, XST_ROW_DRAIN);
    }
    context->path->drain_bytes_per_us = xsti_measure_of(context->room, count);
    XSTI_TRY(fill_table(context, best));
    return note_outliers(context, best, producers_low);
}

/* Rows whose own time shows d: recovered ones, and on a path without a drain rate every row with a gap. */
static int shows_loop(const struct xsti_fit_context *context, const struct xst_sample *row)
{
    if (!context->path->drain_bytes_per_us.known)
        return row->mode == XST_MODE_PERIODIC && row->gap_us > 0;
    return xsti_is_recovered(context, row);
}

/* d: period - busy - gap where nothing stalls; without such rows, on zero-gap rows far below the drain rate. */
enum xst_status xsti_fit_loop(struct xsti_fit_context *context)
{
    const struct xst_measure *const drain = &context->path->drain_bytes_per_us;
    for (int zero = 0; zero < 2; zero++) {
        size_t count = 0;
        for (size_t i = 0; i < context->row_count; i++) {
            const struct xst_sample *const row = xsti_row(context, i);
            const int fits = zero ? zero_gap(row) && drain->known && rate_of(context, row) < 0.5 * drain->value
                                  : shows_loop(context, row);
            const double loop_us = row->period_mean_us - xsti_busy_us(context, row) - row->gap_us;
            if (!fits || loop_us < 0)
                continue;
            context->room[count++] = loop_us;
            xsti_use(context, i, XST_ROW_LOOP);
        }
        if (count) {
            context->path->loop_us = xsti_measure_of(context->room, count);
            return XST_OK;
        }
    }
    return XST_OK;
}
