/* SPDX-License-Identifier: Apache-2.0
 *
 * T0(K, B) and Q(K) out of a path's tables: linear between recorded points, never beyond them unasked.
 */
#include <xstage/model.h>

#include <math.h>

#include "base/diag.h"

/* The points of one producer count: [first, first + count) of a floor table. */
struct curve {
    const struct xst_floor_point *points;
    size_t count;
};

static struct curve curve_at(const struct xst_floor_table *table, size_t first)
{
    size_t end = first + 1;
    while (end < table->count && table->points[end].producers == table->points[first].producers)
        end++;
    return (struct curve){table->points + first, end - first};
}

static int spans(const struct curve *curve, double bytes)
{
    return bytes >= (double)curve->points[0].bytes_per_producer &&
           bytes <= (double)curve->points[curve->count - 1].bytes_per_producer;
}

/* How far a recorded producer count is from the one asked for: |log ratio|, as a ratio >= 1 to spare the logarithm. */
static double distance(double producers, double recorded)
{
    return producers > recorded ? producers / recorded : recorded / producers;
}

/* The curve of the nearest producer count among those that span `bytes`; when none does, the one that reaches furthest. */
static struct curve choose_curve(const struct xst_floor_table *table, double producers, double bytes)
{
    struct curve best = curve_at(table, 0);
    int best_spans = spans(&best, bytes);
    for (size_t at = best.count; at < table->count;) {
        const struct curve next = curve_at(table, at);
        const int next_spans = spans(&next, bytes);
        const int nearer = distance(producers, (double)next.points[0].producers) <
                           distance(producers, (double)best.points[0].producers);
        if (next_spans > best_spans || (next_spans == best_spans && nearer)) {
            best = next;
            best_spans = next_spans;
        }
        at += next.count;
    }
    return best;
}

static double on_curve(const struct curve *curve, double bytes)
{
    const struct xst_floor_point *const points = curve->points;
    if (curve->count == 1 || bytes <= (double)points[0].bytes_per_producer)
        return points[0].us;
    size_t low = 0, high = curve->count - 1;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if ((double)points[middle].bytes_per_producer <= bytes)
            low = middle;
        else
            high = middle;
    }
    const double from = (double)points[low].bytes_per_producer, to = (double)points[high].bytes_per_producer;
    /* Past the last point this continues its last slope: the per-producer rate of a long burst. */
    return points[low].us + (points[high].us - points[low].us) * (bytes - from) / (to - from);
}

static int outside(const struct xst_valid *valid, double producers, double bytes)
{
    return producers < (double)valid->producers_low || producers > (double)valid->producers_high ||
           bytes < (double)valid->bytes_low || bytes > (double)valid->bytes_high;
}

static enum xst_status floor_us(const struct xst_path *path, const struct xst_floor_table *table, double producers,
                                double bytes, int extrapolate, double *us_out, int *extrapolated_out)
{
    if (table->count == 0)
        return XST_ERR_NO_DATA;
    const int beyond = outside(&path->valid, producers, bytes);
    if (beyond && !extrapolate)
        return XST_ERR_NO_DATA;
    const struct curve curve = choose_curve(table, producers, bytes);
    *us_out = on_curve(&curve, bytes);
    if (extrapolated_out)
        *extrapolated_out = beyond;
    return XST_OK;
}

enum xst_status xst_path_floor_us(const struct xst_path *path, double producers, double bytes_per_producer,
                                  int extrapolate, double *floor_us_out, int *extrapolated_out)
{
    return floor_us(path, &path->issue_floor, producers, bytes_per_producer, extrapolate, floor_us_out,
                    extrapolated_out);
}

enum xst_status xst_path_release_floor_us(const struct xst_path *path, double producers, double bytes_per_producer,
                                          int extrapolate, double *floor_us_out, int *extrapolated_out)
{
    return floor_us(path, &path->release_floor, producers, bytes_per_producer, extrapolate, floor_us_out,
                    extrapolated_out);
}

/* Beyond the largest recorded producer count: the last point's share of each producer, bounded by the total if one is known. */
static double beyond_table(const struct xst_path *path, const struct xst_capacity_point *last, double producers)
{
    const double scaled = last->bytes * producers / (double)last->producers;
    const struct xst_measure *const total = &path->capacity_total_bytes;
    return total->known && total->value < scaled && total->value >= last->bytes ? total->value : scaled;
}

static enum xst_status capacity_bytes(const struct xst_path *path, const struct xst_capacity_table *table,
                                      double producers, int extrapolate, double *bytes_out, int *extrapolated_out)
{
    if (table->count == 0)
        return XST_ERR_NO_DATA;
    const int beyond = producers < (double)path->valid.producers_low || producers > (double)path->valid.producers_high;
    const struct xst_capacity_point *const last = &table->points[table->count - 1];
    if ((beyond || producers > (double)last->producers) && !extrapolate)
        return XST_ERR_NO_DATA;
    if (extrapolated_out)
        *extrapolated_out = beyond || producers > (double)last->producers;
    if (producers >= (double)last->producers) {
        *bytes_out = beyond_table(path, last, producers);
        return XST_OK;
    }
    /* Capacity is mostly per producer, so below the smallest recorded count the line goes through the origin. */
    double from = 0, from_bytes = 0;
    size_t i = 0;
    while ((double)table->points[i].producers < producers) {
        from = (double)table->points[i].producers;
        from_bytes = table->points[i].bytes;
        i++;
    }
    const struct xst_capacity_point *const to = &table->points[i];
    *bytes_out = from_bytes + (to->bytes - from_bytes) * (producers - from) / ((double)to->producers - from);
    return XST_OK;
}

enum xst_status xst_path_capacity_bytes(const struct xst_path *path, double producers, int extrapolate,
                                        double *capacity_bytes_out, int *extrapolated_out)
{
    return capacity_bytes(path, &path->capacity, producers, extrapolate, capacity_bytes_out, extrapolated_out);
}

enum xst_status xst_path_release_capacity_bytes(const struct xst_path *path, double producers, int extrapolate,
                                                double *capacity_bytes_out, int *extrapolated_out)
{
    return capacity_bytes(path, &path->release_capacity, producers, extrapolate, capacity_bytes_out, extrapolated_out);
}

enum xst_status xst_path_knee_bytes_per_producer(const struct xst_path *path, double producers,
                                                 double *bytes_per_producer_out)
{
    double capacity = 0, low = (double)path->valid.bytes_low, high = (double)path->valid.bytes_high, floor = 0;
    if (!path->drain_bytes_per_us.known)
        return XST_ERR_NO_DATA;
    XSTI_TRY(xst_path_capacity_bytes(path, producers, 0, &capacity, NULL));
    const double drain = path->drain_bytes_per_us.value;
    XSTI_TRY(xst_path_floor_us(path, producers, high, 0, &floor, NULL));
    if (producers * high - drain * floor <= capacity)
        return XST_ERR_NO_DATA;
    XSTI_TRY(xst_path_floor_us(path, producers, low, 0, &floor, NULL));
    if (producers * low - drain * floor > capacity)
        return XST_ERR_NO_DATA;
    while (high - low > 0.5) {
        const double middle = 0.5 * (low + high);
        XSTI_TRY(xst_path_floor_us(path, producers, middle, 0, &floor, NULL));
        if (producers * middle - drain * floor <= capacity)
            low = middle;
        else
            high = middle;
    }
    *bytes_per_producer_out = low;
    return XST_OK;
}
