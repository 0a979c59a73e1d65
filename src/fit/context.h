/* SPDX-License-Identifier: Apache-2.0
 *
 * context.h - the rows of one path while its parameters are read off them, in the order of (9): F and a first floor, R, d,
 * the plateaus, Q. Each step may use what the steps before it found and nothing else.
 */
#ifndef XSTI_FIT_CONTEXT_H
#define XSTI_FIT_CONTEXT_H

#include <stddef.h>

#include <xstage/fit.h>

/* Which of the two times of a row a table is about. */
enum xsti_time { XSTI_TIME_ISSUE, XSTI_TIME_RELEASE };

struct xsti_fit_context {
    const struct xst_samples *samples;
    const size_t *rows; /* indices of this path's rows */
    size_t row_count;
    struct xst_path *path; /* being filled */
    int staged;            /* the release is not the issue: bulk stores */
    double *room;          /* row_count numbers of scratch */
    struct xst_fit *fit;   /* bits per row, outliers */
    struct xst_diag *diag;
};

static inline const struct xst_sample *xsti_row(const struct xsti_fit_context *context, size_t i)
{
    return &context->samples->rows[context->rows[i]];
}

static inline double xsti_volume(const struct xst_sample *row)
{
    return (double)row->producers * (double)row->bytes_per_producer;
}

/* What keeps the producer busy: release on a staged path, issue otherwise. */
static inline double xsti_busy_us(const struct xsti_fit_context *context, const struct xst_sample *row)
{
    return context->staged ? row->release_mean_us : row->issue_mean_us;
}

static inline double xsti_time_us(const struct xst_sample *row, enum xsti_time time)
{
    return time == XSTI_TIME_ISSUE ? row->issue_mean_us : row->release_mean_us;
}

/* 1 when the gap of a periodic row exceeds V/R enough for no backlog to survive it. Without a drain rate nothing says so. */
static inline int xsti_is_recovered(const struct xsti_fit_context *context, const struct xst_sample *row)
{
    const struct xst_measure *const drain = &context->path->drain_bytes_per_us;
    const double recovered_factor = 1.02;
    return row->mode == XST_MODE_PERIODIC && row->gap_us > 0 && drain->known &&
           row->gap_us >= recovered_factor * xsti_volume(row) / drain->value;
}

static inline void xsti_use(struct xsti_fit_context *context, size_t i, unsigned bit)
{
    context->fit->used[context->rows[i]] |= bit;
}

static inline void xsti_exclude(struct xsti_fit_context *context, size_t i, enum xst_exclude reason)
{
    context->fit->exclude[context->rows[i]] = reason;
}

/* Notes a row that breaks the law it should follow. */
enum xst_status xsti_outlier(struct xsti_fit_context *context, size_t i, const char *quantity, double value,
                             double expected);

/* The steps. Missing data leaves a parameter unknown and is not an error; memory is. */
enum xst_status xsti_fit_fence(struct xsti_fit_context *context);
enum xst_status xsti_fit_floor_base(struct xsti_fit_context *context, enum xsti_time time);
enum xst_status xsti_fit_drain(struct xsti_fit_context *context);
enum xst_status xsti_fit_loop(struct xsti_fit_context *context);
enum xst_status xsti_fit_floor_plateaus(struct xsti_fit_context *context, enum xsti_time time);
enum xst_status xsti_fit_capacity(struct xsti_fit_context *context, enum xsti_time time);
void xsti_fit_capacity_form(struct xst_path *path);
enum xst_status xsti_fit_free_capacity(const struct xst_samples *samples, struct xst_path *path, struct xst_diag *diag);

/* value with the interval of its rows */
struct xst_measure xsti_measure_of(double *values, size_t count);

#endif
