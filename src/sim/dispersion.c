/* SPDX-License-Identifier: Apache-2.0
 *
 * The dispersion of a path: how many ports its producers share, how much their shares vary, and how much of a burst the probe's
 * own record waits for. Part of the free-running rows is run again with candidate values, one parameter at a time; the rest judges
 * the outcome.
 */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "sim/engine.h"
#include "sim/row.h"

/* Values tried. Groups: none, or three ports for each of a Hopper device's eight clusters. */
static const double GROUPS_TRIED[] = {1, 24};
static const double BURST_TRIED[] = {0, 0.1, 0.2, 0.3, 0.4, 0.6};
static const double FIXED_TRIED[] = {0, 0.02, 0.05};
static const double RECORD_TRIED[] = {0, 350, 700, 1050};
/* A row that does not stall: issue at most this much above its floor, and at most this share of R in use. */
static const double UNSTALLED = 1.2, LIGHT = 0.7;
enum { MIN_ROWS = 8, MAX_FIT_ROWS = 32 };

struct job {
    struct xsti_row row;
    double total_us, issue_us, period_us; /* measured */
    uint64_t seed;
    size_t sample;                /* index of the row */
    double period_err, issue_err; /* of the last run */
};

struct judgement {
    struct job *jobs;
    size_t count;
    int64_t simulations;
};

/* Runs every row; the mean of both errors. */
static enum xst_status judge(struct judgement *judgement, const struct xsti_spread *spread, double *misfit_out,
                             struct xst_diag *diag)
{
    enum xst_status status = XST_OK;
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (size_t i = 0; i < judgement->count; i++) {
        struct job *const job = &judgement->jobs[i];
        struct xst_fluid_prediction prediction = {0};
        const enum xst_status one = xsti_row_run(&job->row, spread, job->seed, &prediction, NULL);
        if (one != XST_OK) {
#pragma omp critical
            status = one;
            continue;
        }
        job->period_err = fabs(prediction.total_us - job->total_us) / job->total_us;
        job->issue_err = fabs(prediction.issue_us - job->issue_us) / job->period_us;
        sum += job->period_err + job->issue_err;
    }
    judgement->simulations += (int64_t)judgement->count;
    *misfit_out = judgement->count ? sum / (double)judgement->count : 0;
    return status == XST_OK ? XST_OK : xsti_fail(diag, status, "a row of the path could not be simulated");
}

static enum xst_status summary(const struct judgement *judgement, int issue, struct xst_dispersion_errors *errors_out,
                               struct xst_diag *diag)
{
    struct xst_dispersion_errors errors = {.n = (int64_t)judgement->count};
    *errors_out = errors;
    if (judgement->count == 0)
        return XST_OK;
    double *const values = malloc(judgement->count * sizeof *values);
    if (!values)
        return xsti_fail_memory(diag);
    for (size_t i = 0; i < judgement->count; i++)
        values[i] = issue ? judgement->jobs[i].issue_err : judgement->jobs[i].period_err;
    xsti_sort(values, judgement->count);
    errors.median_abs_rel_err = xsti_quantile_sorted(values, judgement->count, 0.5);
    errors.p90_abs_rel_err = xsti_quantile_sorted(values, judgement->count, 0.9);
    errors.max_abs_rel_err = values[judgement->count - 1];
    free(values);
    *errors_out = errors;
    return XST_OK;
}

/* The parameters, as the fit sees them. */
enum { GROUPS, BURST, FIXED, RECORD, PARAMETERS };

static struct xsti_spread spread_of(const double *values)
{
    return (struct xsti_spread){.groups = (int64_t)values[GROUPS],
                                .burst = values[BURST],
                                .fixed = values[FIXED],
                                .record_bytes = values[RECORD]};
}

/* Sets one parameter to the best of the values tried; the span of those almost as good is its interval. */
static enum xst_status scan(struct judgement *judgement, double *values, int parameter, const double *tried,
                            size_t count, struct xst_measure *measure_out, struct xst_diag *diag)
{
    double misfits[16], best = INFINITY;
    struct xst_measure measure = {.n = (int64_t)judgement->count, .known = 1};
    for (size_t i = 0; i < count; i++) {
        values[parameter] = tried[i];
        const struct xsti_spread spread = spread_of(values);
        XSTI_TRY(judge(judgement, &spread, &misfits[i], diag));
        if (misfits[i] < best) {
            best = misfits[i];
            measure.value = measure.low = measure.high = tried[i];
        }
    }
    for (size_t i = 0; i < count; i++)
        if (misfits[i] <= 1.1 * best) {
            measure.low = fmin(measure.low, tried[i]);
            measure.high = fmax(measure.high, tried[i]);
        }
    values[parameter] = measure.value;
    *measure_out = measure;
    return XST_OK;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static enum xst_status fit(struct judgement *judgement, double *values, struct xst_measure *measures,
                           struct xst_diag *diag)
{
    values[BURST] = 0.3;
    values[FIXED] = 0;
    values[RECORD] = 0;
    XSTI_TRY(scan(judgement, values, GROUPS, GROUPS_TRIED, COUNT(GROUPS_TRIED), &measures[GROUPS], diag));
    XSTI_TRY(scan(judgement, values, BURST, BURST_TRIED, COUNT(BURST_TRIED), &measures[BURST], diag));
    XSTI_TRY(scan(judgement, values, RECORD, RECORD_TRIED, COUNT(RECORD_TRIED), &measures[RECORD], diag));
    return scan(judgement, values, FIXED, FIXED_TRIED, COUNT(FIXED_TRIED), &measures[FIXED], diag);
}

/* A seeded order of the jobs. */
static void shuffle(struct job *jobs, size_t count, uint64_t seed)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = xsti_draw(seed, 0, i) % i;
        const struct job moved = jobs[i - 1];
        jobs[i - 1] = jobs[j];
        jobs[j] = moved;
    }
}

/* Whether dispersion can show: the producers together ask for nearly all of the drain, or more. */
static int loaded(const struct job *job)
{
    const struct xsti_row *const row = &job->row;
    return (double)row->producers * row->bytes > 0.9 * row->drain * (row->floor_us + row->gap_us);
}

/* The rows to fit come first: loaded ones among the share that is not held out, at most MAX_FIT_ROWS. */
static size_t choose_fit_rows(struct job *jobs, size_t count, double holdout_frac)
{
    const size_t open = count - (size_t)ceil(holdout_frac * (double)count);
    size_t chosen = 0;
    for (size_t i = 0; i < open && chosen < MAX_FIT_ROWS; i++)
        if (loaded(&jobs[i])) {
            const struct job moved = jobs[chosen];
            jobs[chosen++] = jobs[i];
            jobs[i] = moved;
        }
    return chosen;
}

/* What lies between two bursts when no gap is asked for: the median of the rows that do not stall. */
static enum xst_status fit_turn(struct xst_path *path, const struct xst_samples *samples, struct xst_diag *diag)
{
    struct xst_measure turn = {0};
    double *const values = malloc((samples->row_count + 1) * sizeof *values);
    size_t count = 0;
    if (!values)
        return xsti_fail_memory(diag);
    for (size_t i = 0; i < samples->row_count; i++) {
        const struct xst_sample *const row = &samples->rows[i];
        struct xsti_row setup;
        if (row->mode == XST_MODE_PERIODIC && row->gap_us == 0 && xst_path_has_row(path, row) &&
            row->period_mean_us > row->issue_mean_us && xsti_row_setup(path, row, &setup, NULL) == XST_OK &&
            row->issue_mean_us <= UNSTALLED * setup.floor_us &&
            (double)row->producers * setup.bytes < LIGHT * setup.drain * row->period_mean_us)
            values[count++] = row->period_mean_us - row->issue_mean_us;
    }
    if (count > 0) {
        xsti_sort(values, count);
        turn = (struct xst_measure){.value = xsti_quantile_sorted(values, count, 0.5),
                                    .low = values[0],
                                    .high = values[count - 1],
                                    .n = (int64_t)count,
                                    .known = 1};
    }
    free(values);
    path->turn_us = turn;
    return XST_OK;
}

static void collect(const struct xst_path *path, const struct xst_samples *samples, uint64_t seed, struct job *jobs,
                    size_t *count_out, int64_t *unused_out)
{
    for (size_t i = 0; i < samples->row_count; i++) {
        const struct xst_sample *const row = &samples->rows[i];
        if (row->mode != XST_MODE_PERIODIC || !(row->gap_us > 0) || !xst_path_has_row(path, row))
            continue;
        struct job job = {.total_us = row->total_us,
                          .issue_us = row->issue_mean_us,
                          .period_us = row->period_mean_us,
                          .seed = seed + i,
                          .sample = i};
        if (!(row->total_us > 0) || !(row->period_mean_us > 0) || xsti_row_setup(path, row, &job.row, NULL) != XST_OK)
            ++*unused_out;
        else
            jobs[(*count_out)++] = job;
    }
}

static enum xst_status fit_jobs(struct xst_path *path, struct job *jobs, size_t count, double holdout_frac,
                                struct xst_dispersion *dispersion, struct xst_diag *diag)
{
    const size_t held_out = (size_t)ceil(holdout_frac * (double)count);
    struct judgement seen = {jobs, choose_fit_rows(jobs, count, holdout_frac), 0};
    struct judgement kept = {jobs + count - held_out, held_out, 0};
    if (seen.count < MIN_ROWS)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the fit of the dispersion has %zu loaded rows with a gap; it needs %d",
                         seen.count, MIN_ROWS);
    double values[PARAMETERS], misfit;
    struct xst_measure measures[PARAMETERS];
    XSTI_TRY(fit(&seen, values, measures, diag));
    const struct xsti_spread spread = spread_of(values);
    XSTI_TRY(judge(&seen, &spread, &misfit, diag));
    XSTI_TRY(judge(&kept, &spread, &misfit, diag));
    dispersion->rows_fit = (int64_t)seen.count;
    dispersion->rows_held_out = (int64_t)kept.count;
    dispersion->simulations = seen.simulations + kept.simulations;
    XSTI_TRY(summary(&seen, 0, &dispersion->fit_period, diag));
    XSTI_TRY(summary(&seen, 1, &dispersion->fit_issue, diag));
    XSTI_TRY(summary(&kept, 0, &dispersion->held_out_period, diag));
    XSTI_TRY(summary(&kept, 1, &dispersion->held_out_issue, diag));
    path->groups = measures[GROUPS];
    path->share_spread_burst = measures[BURST];
    path->share_spread = measures[FIXED];
    path->record_bytes = measures[RECORD];
    return XST_OK;
}

enum xst_status xst_path_fit_dispersion(struct xst_path *path, const struct xst_samples *samples,
                                        const struct xst_dispersion_options *options,
                                        struct xst_dispersion *dispersion_out, struct xst_diag *diag)
{
    const double holdout_frac = options && options->holdout_frac > 0 ? options->holdout_frac : 0.5;
    const uint64_t seed = options ? options->seed : 0;
    if (!(holdout_frac < 1))
        return xsti_fail(diag, XST_ERR_RANGE, "holdout_frac is %g; it must be below 1", holdout_frac);
    XSTI_TRY(fit_turn(path, samples, diag));
    struct job *const jobs = calloc(samples->row_count + 1, sizeof *jobs);
    if (!jobs)
        return xsti_fail_memory(diag);
    struct xst_dispersion dispersion = {0};
    size_t count = 0;
    collect(path, samples, seed, jobs, &count, &dispersion.rows_unused);
    shuffle(jobs, count, seed);
    const enum xst_status status = fit_jobs(path, jobs, count, holdout_frac, &dispersion, diag);
    if (status == XST_OK && options && options->held_out)
        for (size_t i = 0; i < samples->row_count; i++)
            options->held_out[i] = 0;
    if (status == XST_OK && options && options->held_out)
        for (size_t i = count - (size_t)dispersion.rows_held_out; i < count; i++)
            options->held_out[jobs[i].sample] = 1;
    free(jobs);
    if (status == XST_OK && dispersion_out)
        *dispersion_out = dispersion;
    return status;
}
