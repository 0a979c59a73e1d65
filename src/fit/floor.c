/* SPDX-License-Identifier: Apache-2.0
 *
 * T0: the base curve of the smallest recorded producer count, and for every other count that has large-gap plateaus a copy of
 * it in which the plateaus stand at their bytes. The release floor of bulk stores is found the same way.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/stats.h"
#include "fit/context.h"

static const double outlier_frac = 0.10;
/* A plateau this far above the base curve is a stall. */
static const double stalled_factor = 1.03;

static unsigned bit_of(enum xsti_time time)
{
    return time == XSTI_TIME_ISSUE ? XST_ROW_FLOOR : XST_ROW_RELEASE_FLOOR;
}

static struct xst_floor_table *table_of(struct xst_path *path, enum xsti_time time)
{
    return time == XSTI_TIME_ISSUE ? &path->issue_floor : &path->release_floor;
}

/* Rows that can carry the base curve: isolated ones, or zero-gap periodic ones where there is no isolated row at all. */
static int is_base_row(const struct xst_sample *row, enum xst_floor_source source)
{
    return source == XST_FLOOR_SOURCE_ISOLATED ? row->mode == XST_MODE_ISOLATED
                                               : row->mode == XST_MODE_PERIODIC && row->gap_us == 0;
}

static int64_t fewest_producers(const struct xsti_fit_context *context, enum xst_floor_source source)
{
    int64_t fewest = INT64_MAX;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (is_base_row(row, source) && row->producers < fewest)
            fewest = row->producers;
    }
    return fewest;
}

/* Smallest bytes above `after` among the base rows of one producer count. */
static int64_t next_bytes(const struct xsti_fit_context *context, enum xst_floor_source source, int64_t producers,
                          int64_t after)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (is_base_row(row, source) && row->producers == producers && row->bytes_per_producer > after &&
            row->bytes_per_producer < next)
            next = row->bytes_per_producer;
    }
    return next;
}

/* Slope of the floor between two points, us per byte. */
static double slope_of(const struct xst_floor_point *from, int64_t bytes, double us)
{
    return (us - from->us) / (double)(bytes - from->bytes_per_producer);
}

static double steepest(const struct xst_floor_table *table)
{
    double most = 0;
    for (size_t i = 1; i < table->count; i++)
        most = fmax(most, slope_of(&table->points[i - 1], table->points[i].bytes_per_producer, table->points[i].us));
    return most;
}

/* 1 when the next point no longer shows the producers' own rate: the burst has begun to stall. It can only do so where the
 * producers offer well above the drain. A full stall has the drain's slope K/R; with unequal shares some producers stall before
 * the others, so a slope well on its way there that doubles whatever came before counts too. */
static int begins_to_stall(const struct xsti_fit_context *context, const struct xst_floor_table *table, int64_t bytes,
                           double us)
{
    const struct xst_measure *const drain = &context->path->drain_bytes_per_us;
    const struct xst_floor_point *const last = &table->points[table->count - 1];
    if (!drain->known || last->us <= 0)
        return 0;
    const double producers = (double)last->producers;
    const double offered = producers * (double)last->bytes_per_producer / last->us;
    const double slope = slope_of(last, bytes, us), stalled_slope = producers / drain->value;
    return offered > 2 * drain->value &&
           (slope > 0.85 * stalled_slope || (slope > 0.4 * stalled_slope && slope > 1.9 * steepest(table)));
}

/* A lone producer that takes as long as each of several with the same bytes shows its own rate and not the shared drain. (On
 * the host path one SM sends at about R, so its own slope looks like a stall.) */
static int is_own_rate(const struct xsti_fit_context *context, int64_t producers, int64_t bytes, double us,
                       enum xsti_time time)
{
    for (size_t i = 0; i < context->row_count && producers == 1; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->mode == XST_MODE_ISOLATED && row->producers > 1 && row->bytes_per_producer == bytes &&
            xsti_time_us(row, time) <= 1.1 * us)
            return 1;
    }
    return 0;
}

/* The point before a stall may show its beginning already: it goes when its own step is half again as steep as all before. */
static void drop_onset(struct xst_floor_table *table)
{
    if (table->count < 3)
        return;
    const struct xst_floor_point *const last = &table->points[table->count - 1];
    const double slope = slope_of(last - 1, last->bytes_per_producer, last->us);
    const struct xst_floor_table before = {table->points, table->count - 1};
    if (slope > 1.5 * steepest(&before))
        table->count--;
}

enum xst_status xsti_fit_floor_base(struct xsti_fit_context *context, enum xsti_time time)
{
    enum xst_floor_source source = XST_FLOOR_SOURCE_ISOLATED;
    int64_t producers = fewest_producers(context, source);
    if (producers == INT64_MAX) {
        source = XST_FLOOR_SOURCE_ZERO_GAP;
        producers = fewest_producers(context, source);
    }
    struct xst_floor_table *const table = table_of(context->path, time);
    if (producers == INT64_MAX)
        return XST_OK;
    table->points = calloc(context->row_count, sizeof *table->points);
    if (!table->points)
        return xsti_fail_memory(context->diag);
    for (int64_t bytes = 0; (bytes = next_bytes(context, source, producers, bytes)) != INT64_MAX;) {
        size_t count = 0;
        for (size_t i = 0; i < context->row_count; i++) {
            const struct xst_sample *const row = xsti_row(context, i);
            if (is_base_row(row, source) && row->producers == producers && row->bytes_per_producer == bytes)
                context->room[count++] = xsti_time_us(row, time);
        }
        double us = xsti_median(context->room, count);
        if (table->count > 0 && begins_to_stall(context, table, bytes, us) &&
            !is_own_rate(context, producers, bytes, us, time)) {
            drop_onset(table);
            break;
        }
        us = table->count > 0 ? fmax(us, table->points[table->count - 1].us) : us;
        table->points[table->count++] = (struct xst_floor_point){producers, bytes, us, source};
    }
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (is_base_row(row, source) && row->producers == producers &&
            row->bytes_per_producer <= table->points[table->count - 1].bytes_per_producer)
            xsti_use(context, i, bit_of(time));
    }
    return XST_OK;
}

static int is_plateau(const struct xsti_fit_context *context, const struct xst_sample *row, int64_t producers,
                      int64_t bytes)
{
    return row->producers == producers && (bytes == 0 || row->bytes_per_producer == bytes) &&
           xsti_is_recovered(context, row);
}

static int has_plateau(const struct xsti_fit_context *context, int64_t producers)
{
    for (size_t i = 0; i < context->row_count; i++) {
        if (is_plateau(context, xsti_row(context, i), producers, 0))
            return 1;
    }
    return 0;
}

/* The base curve at B: linear between its points, its last slope beyond them. */
static double base_us(const struct xst_floor_table *table, size_t base_count, int64_t bytes)
{
    const struct xst_floor_point *const points = table->points;
    if (base_count == 1 || bytes <= points[0].bytes_per_producer)
        return points[0].us;
    size_t i = 1;
    while (i + 1 < base_count && points[i].bytes_per_producer < bytes)
        i++;
    const double from = (double)points[i - 1].bytes_per_producer, to = (double)points[i].bytes_per_producer;
    return points[i - 1].us + (points[i].us - points[i - 1].us) * ((double)bytes - from) / (to - from);
}

/* Median of the plateau rows at (producers, bytes); negative where there is no plateau. Producers that stay together meet the
 * capacity bound however long the gap (11): what looks like a plateau is then a stall, above the floor of the base curve. */
static double plateau_us(struct xsti_fit_context *context, enum xsti_time time, size_t base_count, int64_t producers,
                         int64_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (is_plateau(context, row, producers, bytes))
            context->room[count++] = xsti_time_us(row, time);
    }
    const double us = count ? xsti_median(context->room, count) : -1;
    if (us < 0 || us > stalled_factor * base_us(table_of(context->path, time), base_count, bytes))
        return -1;
    for (size_t i = 0; i < context->row_count; i++) {
        if (is_plateau(context, xsti_row(context, i), producers, bytes))
            xsti_use(context, i, bit_of(time));
    }
    return us;
}

/* Smallest bytes above `after` that either the base curve or a plateau of `producers` has. */
static int64_t next_merged_bytes(const struct xsti_fit_context *context, const struct xst_floor_table *table,
                                 size_t base_count, int64_t producers, int64_t after)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < base_count; i++) {
        if (table->points[i].bytes_per_producer > after && table->points[i].bytes_per_producer < next)
            next = table->points[i].bytes_per_producer;
    }
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        if (row->bytes_per_producer > after && row->bytes_per_producer < next && is_plateau(context, row, producers, 0))
            next = row->bytes_per_producer;
    }
    return next;
}

static enum xst_status merge_curve(struct xsti_fit_context *context, enum xsti_time time, size_t base_count,
                                   int64_t producers)
{
    struct xst_floor_table *const table = table_of(context->path, time);
    struct xst_floor_point *const larger =
        realloc(table->points, (table->count + base_count + context->row_count) * sizeof *larger);
    if (!larger)
        return xsti_fail_memory(context->diag);
    table->points = larger;
    const size_t first = table->count;
    for (int64_t bytes = 0; (bytes = next_merged_bytes(context, table, base_count, producers, bytes)) != INT64_MAX;) {
        struct xst_floor_point point = {producers, bytes, plateau_us(context, time, base_count, producers, bytes),
                                        XST_FLOOR_SOURCE_PLATEAU};
        for (size_t i = 0; point.us < 0 && i < base_count; i++) {
            if (table->points[i].bytes_per_producer == bytes) {
                point.us = table->points[i].us;
                point.source = table->points[i].source;
            }
        }
        if (point.us < 0)
            continue;
        /* A floor does not fall with bytes: where two sources meet, the earlier point's time is kept. */
        if (table->count > first)
            point.us = fmax(point.us, table->points[table->count - 1].us);
        table->points[table->count++] = point;
    }
    return XST_OK;
}

/* How far plateau rows are from their point, and which of them stand apart. */
static enum xst_status judge(struct xsti_fit_context *context, enum xsti_time time)
{
    const struct xst_floor_table *const table = table_of(context->path, time);
    size_t count = 0;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        for (size_t p = 0; p < table->count; p++) {
            const struct xst_floor_point *const point = &table->points[p];
            if (point->source != XST_FLOOR_SOURCE_PLATEAU || point->us <= 0 ||
                !is_plateau(context, row, point->producers, point->bytes_per_producer))
                continue;
            const double error = fabs(xsti_time_us(row, time) / point->us - 1);
            context->room[count++] = error;
            if (error > outlier_frac)
                XSTI_TRY(xsti_outlier(context, i, time == XSTI_TIME_ISSUE ? "floor" : "release_floor",
                                      xsti_time_us(row, time), point->us));
        }
    }
    if (time == XSTI_TIME_ISSUE && count) {
        context->path->residual_floor = xsti_measure_of(context->room, count);
        context->path->residual_floor.high = context->room[count - 1];
    }
    return XST_OK;
}

enum xst_status xsti_fit_floor_plateaus(struct xsti_fit_context *context, enum xsti_time time)
{
    struct xst_floor_table *const table = table_of(context->path, time);
    if (table->count == 0)
        return XST_OK;
    const size_t base_count = table->count;
    const int64_t base_producers = table->points[0].producers;
    for (int64_t after = base_producers;;) {
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < context->row_count; i++) {
            const int64_t producers = xsti_row(context, i)->producers;
            if (producers > after && producers < next && has_plateau(context, producers))
                next = producers;
        }
        if (next == INT64_MAX)
            break;
        XSTI_TRY(merge_curve(context, time, base_count, next));
        after = next;
    }
    return judge(context, time);
}
