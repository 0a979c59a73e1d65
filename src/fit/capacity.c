/* SPDX-License-Identifier: Apache-2.0
 *
 * Q(K) from (7): on isolated bursts that stall, Q = V - R*T_iss. Rows between the knee and three times the knee count; beyond
 * them Q drifts up, below them nothing stalls. And the form min(K*c, Q_total) for extrapolation.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/stats.h"
#include "fit/context.h"

static const double stalled_factor = 1.5; /* issue above this many floors is a stall */
static const double knee_span = 3;        /* rows up to this many knees count */
static const double outlier_frac = 0.15;
/* Q = V - R*T_iss is at least this share of R*T_iss, or the noise of both is all one sees. */
static const double least_share = 0.4;
enum { MOST_ROUNDS = 16 };

struct capacity_fit {
    struct xsti_fit_context *context;
    enum xsti_time time;
    double drain;
    const struct xst_floor_table *floors; /* base curve */
};

/* Base curve at B, linear; 0 when it has no point at or above B (then nothing can be said). */
static double floor_at(const struct xst_floor_table *table, double bytes)
{
    const struct xst_floor_point *const points = table->points;
    const int64_t producers = points[0].producers;
    if (bytes <= (double)points[0].bytes_per_producer)
        return points[0].us;
    for (size_t i = 1; i < table->count && points[i].producers == producers; i++) {
        const double from = (double)points[i - 1].bytes_per_producer, to = (double)points[i].bytes_per_producer;
        if (bytes <= to)
            return points[i - 1].us + (points[i].us - points[i - 1].us) * (bytes - from) / (to - from);
    }
    return 0;
}

/* The floor for a row: the base curve, or beyond its end its last point scaled by bytes. */
static double row_floor(const struct capacity_fit *fit, const struct xst_sample *row)
{
    const double floor = floor_at(fit->floors, (double)row->bytes_per_producer);
    if (floor > 0)
        return floor;
    size_t last = 0;
    while (last + 1 < fit->floors->count && fit->floors->points[last + 1].producers == fit->floors->points[0].producers)
        last++;
    const struct xst_floor_point *const point = &fit->floors->points[last];
    return point->us * (double)row->bytes_per_producer / (double)point->bytes_per_producer;
}

/* Producers that together offer little more than the drain never fill the stage: their slow issue is their own. */
static int can_stall(const struct capacity_fit *fit, const struct xst_sample *row)
{
    return xsti_volume(row) > 1.5 * fit->drain * row_floor(fit, row);
}

static int is_stalled(const struct capacity_fit *fit, const struct xst_sample *row)
{
    const double us = xsti_time_us(row, fit->time);
    return row->mode == XST_MODE_ISOLATED && can_stall(fit, row) && us > stalled_factor * row_floor(fit, row) &&
           xsti_volume(row) > (1 + least_share) * fit->drain * us;
}

static double row_capacity(const struct capacity_fit *fit, const struct xst_sample *row)
{
    return xsti_volume(row) - fit->drain * xsti_time_us(row, fit->time);
}

/* V at the knee for capacity Q: smallest V with V - R*T0 = Q, by fixed-point iteration on the base curve. */
static double knee_volume(const struct capacity_fit *fit, int64_t producers, double capacity)
{
    double volume = capacity;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double floor = floor_at(fit->floors, volume / (double)producers);
        if (floor <= 0)
            break;
        volume = capacity + fit->drain * floor;
    }
    return volume;
}

/* Capacities of the stalled rows of one producer count with V <= volume_most. */
static size_t collect(const struct capacity_fit *fit, int64_t producers, double volume_most)
{
    struct xsti_fit_context *const context = fit->context;
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->producers == producers && is_stalled(fit, row) && xsti_volume(row) <= volume_most)
            context->room[count++] = row_capacity(fit, row);
    }
    return count;
}

/* Volume of the smallest stalled row; INFINITY when none stalls. */
static double first_stall(const struct capacity_fit *fit, int64_t producers)
{
    double least = INFINITY;
    for (size_t i = 0; i < fit->context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(fit->context, i);
        if (row->producers == producers && is_stalled(fit, row))
            least = fmin(least, xsti_volume(row));
    }
    return least;
}

static unsigned bit_of(enum xsti_time time)
{
    return time == XSTI_TIME_ISSUE ? XST_ROW_CAPACITY : XST_ROW_RELEASE_CAPACITY;
}

static void mark(const struct capacity_fit *fit, int64_t producers, double volume_most)
{
    struct xsti_fit_context *const context = fit->context;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->producers != producers || row->mode != XST_MODE_ISOLATED)
            continue;
        if (is_stalled(fit, row) && xsti_volume(row) <= volume_most)
            xsti_use(context, i, bit_of(fit->time));
        else if (is_stalled(fit, row))
            xsti_exclude(context, i, XST_EXCLUDE_BEYOND_KNEE);
        else
            xsti_exclude(context, i,
                         can_stall(fit, row) && xsti_time_us(row, fit->time) > 1.1 * row_floor(fit, row)
                             ? XST_EXCLUDE_PARTIAL_STALL
                             : XST_EXCLUDE_NO_STALL);
    }
}

/* One point of the table, or nothing when no burst of this producer count stalls. */
static void fit_point(const struct capacity_fit *fit, int64_t producers, struct xst_capacity_table *table)
{
    double volume_most = 2 * first_stall(fit, producers);
    if (!isfinite(volume_most)) {
        mark(fit, producers, 0);
        return;
    }
    struct xst_capacity_point point = {producers, 0, 0, 0, 0};
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const size_t count = collect(fit, producers, volume_most);
        xsti_sort(fit->context->room, count);
        point.bytes = xsti_quantile_sorted(fit->context->room, count, 0.5);
        point.low = fit->context->room[0];
        point.high = fit->context->room[count - 1];
        point.n = (int64_t)count;
        const double next = fmax(knee_span * knee_volume(fit, producers, point.bytes), first_stall(fit, producers));
        if (next == volume_most)
            break;
        volume_most = next;
    }
    mark(fit, producers, volume_most);
    table->points[table->count++] = point;
}

/* Relative error of (7) on the rows the points came from. */
static enum xst_status judge(const struct capacity_fit *fit, const struct xst_capacity_table *table)
{
    struct xsti_fit_context *const context = fit->context;
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (!(context->fit->used[context->rows[i]] & bit_of(fit->time)))
            continue;
        for (size_t p = 0; p < table->count; p++) {
            if (table->points[p].producers != row->producers)
                continue;
            const double us = xsti_time_us(row, fit->time);
            const double predicted =
                fmax(row_floor(fit, row), (xsti_volume(row) - table->points[p].bytes) / fit->drain);
            const double error = fabs(predicted / us - 1);
            context->room[count++] = error;
            if (fabs(row_capacity(fit, row) / table->points[p].bytes - 1) > outlier_frac)
                XSTI_TRY(xsti_outlier(context, i, fit->time == XSTI_TIME_ISSUE ? "capacity" : "release_capacity",
                                      row_capacity(fit, row), table->points[p].bytes));
        }
    }
    if (fit->time == XSTI_TIME_ISSUE && count) {
        context->path->residual_capacity = xsti_measure_of(context->room, count);
        context->path->residual_capacity.high = context->room[count - 1];
    }
    return XST_OK;
}

enum xst_status xsti_fit_capacity(struct xsti_fit_context *context, enum xsti_time time)
{
    struct xst_path *const path = context->path;
    struct xst_capacity_table *const table = time == XSTI_TIME_ISSUE ? &path->capacity : &path->release_capacity;
    const struct capacity_fit fit = {context, time, path->drain_bytes_per_us.value,
                                     time == XSTI_TIME_ISSUE ? &path->issue_floor : &path->release_floor};
    if (!path->drain_bytes_per_us.known || fit.floors->count == 0)
        return XST_OK;
    table->points = calloc(context->row_count, sizeof *table->points);
    if (!table->points)
        return xsti_fail_memory(context->diag);
    for (int64_t after = 0;;) {
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < context->row_count; i++) {
            const struct xst_sample *const row = xsti_row(context, i);
            if (row->mode == XST_MODE_ISOLATED && row->producers > after && row->producers < next)
                next = row->producers;
        }
        if (next == INT64_MAX)
            return judge(&fit, table);
        fit_point(&fit, next, table);
        after = next;
    }
}

static double form_error(const struct xst_capacity_table *table, double per_producer, double total)
{
    double worst = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        const double value = fmin((double)point->producers * per_producer, total);
        worst = fmax(worst, fabs(value / point->bytes - 1));
    }
    return worst;
}

/* min(K*c, Q_total): c and Q_total that make the worst relative error least; Q_total only where the table bends for it. */
void xsti_fit_capacity_form(struct xst_path *path)
{
    const struct xst_capacity_table *const table = &path->capacity;
    if (table->count == 0)
        return;
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < table->count; i++) {
        const double share = table->points[i].bytes / (double)table->points[i].producers;
        low = fmin(low, share);
        high = fmax(high, share);
    }
    /* Without a bound the middle of the shares is best; with one, try every share up to the largest. */
    const double alone = 2 * low * high / (low + high);
    double best = alone, best_total = INFINITY, best_error = form_error(table, alone, INFINITY);
    const double total = table->points[table->count - 1].bytes;
    for (int step = 0; table->count >= 3 && step <= 200; step++) {
        const double share = low + (high - low) * step / 200;
        const double error = form_error(table, share, total);
        if (error < 0.8 * best_error || (isfinite(best_total) && error < best_error)) {
            best = share;
            best_total = total;
            best_error = error;
        }
    }
    path->capacity_per_producer_bytes = (struct xst_measure){best, low, high, (int64_t)table->count, 1};
    path->capacity_form_max_rel_err =
        (struct xst_measure){best_error, best_error, best_error, (int64_t)table->count, 1};
    if (isfinite(best_total)) {
        const struct xst_capacity_point *const last = &table->points[table->count - 1];
        path->capacity_total_bytes = (struct xst_measure){best_total, last->low, last->high, last->n, 1};
    }
}
