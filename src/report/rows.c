/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows.h"

#include <stdlib.h>

#include <xstage/model.h>

enum { MOST_VALUES = 64, MOST_GAPS = 64 };

const struct xst_path *xsti_main_path(const struct xst_profile *profile, enum xst_target target)
{
    const struct xst_path_key key = {target, XST_DIRECTION_ONE, XST_METHOD_ST16, 0, 0, 0};
    const struct xst_path *const path = xst_profile_path(profile, &key);
    if (path)
        return path;
    for (size_t i = 0; i < profile->path_count; i++)
        if (profile->paths[i].target == target)
            return &profile->paths[i];
    return NULL;
}

int xsti_row_on_path(const struct xst_sample *row, const struct xst_path *path)
{
    return row->flow == XST_FLOW_PAIR && row->target == path->target && row->direction == path->direction &&
           row->method == path->method && row->threads == path->threads && row->piece_bytes == path->piece_bytes &&
           row->pitch_bytes == path->pitch_bytes;
}

const struct xst_sample *xsti_next_row(const struct xst_samples *samples, const struct xst_path *path,
                                       enum xst_mode mode, size_t *at)
{
    if (!samples || !path)
        return NULL;
    while (*at < samples->row_count) {
        const struct xst_sample *const row = &samples->rows[(*at)++];
        if (row->mode == mode && xsti_row_on_path(row, path))
            return row;
    }
    return NULL;
}

int64_t xsti_typical_bytes(const struct xst_path *path, int64_t producers)
{
    static const int64_t wanted[] = {32768, 16384};
    double floor = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (xst_path_floor_us(path, (double)producers, (double)wanted[i], 0, &floor, NULL) == XST_OK)
            return wanted[i];
    return path->issue_floor.count ? path->issue_floor.points[path->issue_floor.count - 1].bytes_per_producer : 0;
}

/* Largest producer count of the path's periodic rows, else of any of its rows, else what the profile holds for. */
static int64_t largest_producers(const struct xst_samples *samples, const struct xst_path *path)
{
    static const enum xst_mode modes[] = {XST_MODE_PERIODIC, XST_MODE_ISOLATED, XST_MODE_ALIGNED};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int64_t most = 0;
        size_t at = 0;
        for (const struct xst_sample *row; (row = xsti_next_row(samples, path, modes[i], &at));)
            most = row->producers > most ? row->producers : most;
        if (most > 0)
            return most;
    }
    return path->valid.producers_high;
}

int xsti_subject_of(const struct xst_report_section *section, enum xst_target target, struct xsti_subject *subject_out)
{
    const struct xst_path_key staged = {target, XST_DIRECTION_ONE, XST_METHOD_BULK, 0, 0, 0};
    const struct xst_path *const path = xsti_main_path(section->profile, target);
    if (!path)
        return 0;
    subject_out->profile = section->profile;
    subject_out->samples = section->samples;
    subject_out->path = path;
    subject_out->staged = xst_profile_path(section->profile, &staged);
    subject_out->producers = largest_producers(section->samples, path);
    subject_out->typical_bytes = xsti_typical_bytes(path, subject_out->producers);
    return 1;
}

/* Inserts `value` into the ascending list unless it is there; returns its place, -1 when the list is full. */
static int insert(int64_t *values, size_t *count, int64_t value)
{
    size_t at = 0;
    while (at < *count && values[at] < value)
        at++;
    if (at < *count && values[at] == value)
        return (int)at;
    if (*count == MOST_VALUES)
        return -1;
    for (size_t i = *count; i > at; i--)
        values[i] = values[i - 1];
    values[at] = value;
    (*count)++;
    return (int)at;
}

static size_t distinct_gaps(const struct xst_samples *samples, const struct xst_path *path, enum xst_mode mode,
                            int64_t producers, int64_t bytes)
{
    double gaps[MOST_GAPS];
    size_t count = 0, at = 0;
    for (const struct xst_sample *row; count < MOST_GAPS && (row = xsti_next_row(samples, path, mode, &at));) {
        size_t i = 0;
        if (row->producers != producers || row->bytes_per_producer != bytes)
            continue;
        while (i < count && gaps[i] != row->gap_us)
            i++;
        if (i == count)
            gaps[count++] = row->gap_us;
    }
    return count;
}

struct xsti_choice xsti_choose_bytes(const struct xst_samples *samples, const struct xst_path *path, enum xst_mode mode,
                                     int64_t producers, size_t gaps)
{
    struct xsti_choice choice = {{0}, 0};
    int64_t values[MOST_VALUES];
    size_t count = 0, at = 0, kept = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(samples, path, mode, &at));)
        if (row->producers == producers)
            insert(values, &count, row->bytes_per_producer);
    for (size_t i = 0; i < count; i++)
        if (distinct_gaps(samples, path, mode, producers, values[i]) >= gaps)
            values[kept++] = values[i];
    const size_t skip = kept > XSTI_MOST_CHOSEN ? kept - XSTI_MOST_CHOSEN : 0;
    for (size_t i = skip; i < kept; i++)
        choice.values[choice.count++] = values[i];
    return choice;
}

struct xsti_choice xsti_choose_producers(const struct xst_samples *samples, const struct xst_path *path,
                                         enum xst_mode mode, size_t sizes)
{
    struct xsti_choice choice = {{0}, 0};
    int64_t values[MOST_VALUES];
    size_t rows[MOST_VALUES] = {0}, count = 0, at = 0, kept = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(samples, path, mode, &at));)
        insert(values, &count, row->producers);
    at = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(samples, path, mode, &at));) {
        const int place = insert(values, &count, row->producers);
        if (place >= 0)
            rows[place] += mode != XST_MODE_PERIODIC || row->gap_us == 0;
    }
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= sizes)
            values[kept++] = values[i];
    /* Upwards from the largest, each at most two thirds of the one before: neighbours would cover each other. */
    for (size_t i = kept; i-- > 0 && choice.count < XSTI_MOST_CHOSEN;)
        if (choice.count == 0 || 3 * values[i] <= 2 * choice.values[choice.count - 1])
            choice.values[choice.count++] = values[i];
    for (size_t i = 0; i < choice.count / 2; i++) {
        const int64_t value = choice.values[i];
        choice.values[i] = choice.values[choice.count - 1 - i];
        choice.values[choice.count - 1 - i] = value;
    }
    return choice;
}

int xsti_law_at(const struct xst_path *path, double producers, double bytes_per_producer, double gap_us, uint32_t needs,
                struct xst_timing *timing_out)
{
    const struct xst_burst burst = {producers, bytes_per_producer, gap_us};
    return xst_timing_predict(path, &burst, 0, timing_out, NULL) == XST_OK && (timing_out->known & needs) == needs;
}

double xsti_known_or(const struct xst_measure *measure, double otherwise)
{
    return measure->known ? measure->value : otherwise;
}

double xsti_row_period_us(const struct xst_sample *row, const struct xst_path *path)
{
    return (row->total_us - xsti_known_or(&path->fence_us, 0)) / (double)row->bursts;
}
