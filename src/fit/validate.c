/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the laws are from every recorded row, by path, quantity, model and kind of row. The errors are defined in
 * docs/model.md, "How errors are measured", so that everybody reports the same thing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/fit.h>
#include <xstage/model.h>

#include "base/diag.h"
#include "base/stats.h"

enum { QUANTITIES = XST_QUANTITY_RELEASE + 1, ROWS = XST_ROWS_ISOLATED + 1 };

static const double stalled_factor = 2; /* isolated rows above this many floors are judged relatively */

struct error {
    double relative; /* signed */
    double us;       /* signed */
};

struct judgement {
    const struct xst_profile *profile;
    const struct xst_samples *samples;
    const struct xst_fit *fit;
    struct xst_row_prediction *predictions; /* of one model, per row */
    const struct xst_path **paths;          /* per row, NULL when the profile has none */
    double *relative;                       /* scratch, per row */
    double *absolute_us;
};

static enum xst_rows rows_of(const struct xst_sample *row)
{
    if (row->mode == XST_MODE_ISOLATED)
        return XST_ROWS_ISOLATED;
    if (row->mode == XST_MODE_ALIGNED)
        return XST_ROWS_ALIGNED;
    return row->gap_us > 0 ? XST_ROWS_FREE : XST_ROWS_ZERO_GAP;
}

static struct error against(double predicted, double measured, double scale)
{
    return (struct error){(predicted - measured) / scale, predicted - measured};
}

static int is_stalled(const struct xst_path *path, const struct xst_sample *row, int release)
{
    const double producers = (double)row->producers, bytes = (double)row->bytes_per_producer;
    double floor_us = 0;
    const enum xst_status status = release ? xst_path_release_floor_us(path, producers, bytes, 1, &floor_us, NULL)
                                           : xst_path_floor_us(path, producers, bytes, 1, &floor_us, NULL);
    return status == XST_OK && (release ? row->release_mean_us : row->issue_mean_us) > stalled_factor * floor_us;
}

static int judge_isolated(const struct xst_path *path, const struct xst_sample *row,
                          const struct xst_row_prediction *prediction, enum xst_quantity quantity, struct error *error)
{
    const double issue_us = row->issue_mean_us, release_us = row->release_mean_us;
    if (quantity == XST_QUANTITY_RELEASE) {
        if (path->release_floor.count == 0 || !is_stalled(path, row, 1))
            return 0;
        *error = against(prediction->release_us, release_us, release_us);
        return 1;
    }
    if (quantity != XST_QUANTITY_ISOLATED_ISSUE && quantity != XST_QUANTITY_ISOLATED_FLOOR)
        return 0;
    if (issue_us <= 0 || is_stalled(path, row, 0) != (quantity == XST_QUANTITY_ISOLATED_ISSUE))
        return 0;
    *error = against(prediction->issue_us, issue_us, issue_us);
    return 1;
}

static int judge_periodic(const struct xst_path *path, const struct xst_sample *row,
                          const struct xst_row_prediction *prediction, enum xst_quantity quantity, struct error *error)
{
    switch (quantity) {
    case XST_QUANTITY_PERIOD:
        if (row->total_us <= 0)
            return 0;
        *error = against(prediction->total_us, row->total_us, row->total_us);
        return 1;
    case XST_QUANTITY_ISSUE:
        if (row->period_mean_us <= 0)
            return 0;
        *error = against(prediction->issue_us, row->issue_mean_us, row->period_mean_us);
        return 1;
    case XST_QUANTITY_RELEASE:
        if (row->period_mean_us <= 0 || path->release_floor.count == 0)
            return 0;
        *error = against(prediction->release_us, row->release_mean_us, row->period_mean_us);
        return 1;
    case XST_QUANTITY_ISOLATED_ISSUE:
    case XST_QUANTITY_ISOLATED_FLOOR:
        return 0;
    }
    return 0;
}

static int judge_row(const struct judgement *judgement, size_t r, enum xst_quantity quantity, struct error *error)
{
    const struct xst_path *const path = judgement->paths[r];
    const struct xst_sample *const row = &judgement->samples->rows[r];
    const struct xst_row_prediction *const prediction = &judgement->predictions[r];
    return row->mode == XST_MODE_ISOLATED ? judge_isolated(path, row, prediction, quantity, error)
                                          : judge_periodic(path, row, prediction, quantity, error);
}

static void summarise(const struct judgement *judgement, size_t count, struct xst_validation_row *out)
{
    out->n = (int64_t)count;
    xsti_sort(judgement->relative, count);
    out->bias = xsti_quantile_sorted(judgement->relative, count, 0.5);
    for (size_t i = 0; i < count; i++)
        judgement->relative[i] = fabs(judgement->relative[i]);
    xsti_sort(judgement->relative, count);
    out->median_abs_rel_err = xsti_quantile_sorted(judgement->relative, count, 0.5);
    out->p90_abs_rel_err = xsti_quantile_sorted(judgement->relative, count, 0.9);
    out->max_abs_rel_err = judgement->relative[count - 1];
    out->median_abs_err_us = xsti_median(judgement->absolute_us, count);
}

/* One line: all rows of (path, quantity, kind), or those that served no parameter. 0 when there is none. */
static int judge_group(const struct judgement *judgement, const struct xst_path *path, struct xst_validation_row *out)
{
    size_t count = 0;
    for (size_t r = 0; r < judgement->samples->row_count; r++) {
        struct error error;
        if (judgement->paths[r] != path || !judgement->predictions[r].known ||
            rows_of(&judgement->samples->rows[r]) != out->rows || (out->held_out && judgement->fit->used[r]) ||
            !judge_row(judgement, r, out->quantity, &error))
            continue;
        judgement->relative[count] = error.relative;
        judgement->absolute_us[count++] = fabs(error.us);
    }
    if (count)
        summarise(judgement, count, out);
    return count > 0;
}

static enum xst_status append(struct xst_validation *validation, const struct xst_validation_row *row,
                              struct xst_diag *diag)
{
    struct xst_validation_row *const larger = realloc(validation->rows, (validation->row_count + 1) * sizeof *larger);
    if (!larger)
        return xsti_fail_memory(diag);
    validation->rows = larger;
    validation->rows[validation->row_count++] = *row;
    return XST_OK;
}

static enum xst_status judge_path(const struct judgement *judgement, const struct xst_path *path, enum xst_model model,
                                  struct xst_validation *validation, struct xst_diag *diag)
{
    struct xst_validation_row row = {.path = {path->target, path->direction, path->method, path->threads,
                                              path->piece_bytes, path->pitch_bytes},
                                     .model = model};
    for (int quantity = 0; quantity < QUANTITIES; quantity++) {
        for (int rows = 0; rows < ROWS; rows++) {
            for (int held_out = 0; held_out <= (judgement->fit != NULL); held_out++) {
                row.quantity = (enum xst_quantity)quantity;
                row.rows = (enum xst_rows)rows;
                row.held_out = held_out;
                if (judge_group(judgement, path, &row))
                    XSTI_TRY(append(validation, &row, diag));
            }
        }
    }
    return XST_OK;
}

static void find_paths(const struct judgement *judgement, struct xst_validation *validation)
{
    for (size_t r = 0; r < judgement->samples->row_count; r++) {
        const struct xst_sample *const row = &judgement->samples->rows[r];
        const struct xst_path_key key = {row->target,  row->direction,   row->method,
                                         row->threads, row->piece_bytes, row->pitch_bytes};
        judgement->paths[r] = row->flow == XST_FLOW_PAIR ? xst_profile_path(judgement->profile, &key) : NULL;
        validation->unmatched_rows += judgement->paths[r] == NULL || !judgement->paths[r]->drain_bytes_per_us.known;
    }
}

static enum xst_status run(struct judgement *judgement, const struct xst_row_predictor *predictors,
                           size_t predictor_count, struct xst_validation *validation, struct xst_diag *diag)
{
    find_paths(judgement, validation);
    for (size_t m = 0; m < predictor_count; m++) {
        const struct xst_row_predictor *const predictor = &predictors[m];
        for (size_t r = 0; r < judgement->samples->row_count; r++) {
            memset(&judgement->predictions[r], 0, sizeof judgement->predictions[r]);
            if (judgement->paths[r])
                predictor->predict(predictor->context, judgement->paths[r], &judgement->samples->rows[r],
                                   &judgement->predictions[r]);
        }
        for (size_t p = 0; p < judgement->profile->path_count; p++)
            XSTI_TRY(judge_path(judgement, &judgement->profile->paths[p], predictor->model, validation, diag));
    }
    return XST_OK;
}

enum xst_status xst_validation_run_with(const struct xst_row_predictor *predictors, size_t predictor_count,
                                        const struct xst_profile *profile, const struct xst_samples *samples,
                                        const struct xst_fit *fit, struct xst_validation *validation_out,
                                        struct xst_diag *diag)
{
    const size_t count = samples->row_count ? samples->row_count : 1;
    struct xst_validation validation = {0};
    struct judgement judgement = {profile,
                                  samples,
                                  fit,
                                  calloc(count, sizeof *judgement.predictions),
                                  calloc(count, sizeof *judgement.paths),
                                  calloc(count, sizeof *judgement.relative),
                                  calloc(count, sizeof *judgement.absolute_us)};
    enum xst_status status = XST_OK;
    if (fit && fit->row_count != samples->row_count)
        status = xsti_fail(diag, XST_ERR_USAGE, "the fit has %zu rows, the samples have %zu", fit->row_count,
                           samples->row_count);
    else if (!judgement.predictions || !judgement.paths || !judgement.relative || !judgement.absolute_us)
        status = xsti_fail_memory(diag);
    else
        status = run(&judgement, predictors, predictor_count, &validation, diag);
    free(judgement.predictions);
    free(judgement.paths);
    free(judgement.relative);
    free(judgement.absolute_us);
    if (status != XST_OK) {
        xst_validation_free(&validation);
        return status;
    }
    *validation_out = validation;
    return XST_OK;
}

static void predict_law(const void *context, const struct xst_path *path, const struct xst_sample *row,
                        struct xst_row_prediction *prediction_out)
{
    xst_row_predict(path, row, *(const enum xst_model *)context, prediction_out);
}

struct xst_row_predictor xst_law_predictor(enum xst_model model)
{
    /* A context must outlive the predictor, so each law's own number stands here for it. */
    static const enum xst_model laws[] = {XST_MODEL_LAW, XST_MODEL_LAW_ALIGNED, XST_MODEL_COMPLETION_COUPLED};
    size_t i = 0;
    while (i + 1 < sizeof laws / sizeof *laws && laws[i] != model)
        i++;
    return (struct xst_row_predictor){laws[i], predict_law, &laws[i]};
}

enum xst_status xst_validation_run(const struct xst_profile *profile, const struct xst_samples *samples,
                                   const struct xst_fit *fit, struct xst_validation *validation_out,
                                   struct xst_diag *diag)
{
    const struct xst_row_predictor laws[] = {xst_law_predictor(XST_MODEL_LAW), xst_law_predictor(XST_MODEL_LAW_ALIGNED),
                                             xst_law_predictor(XST_MODEL_COMPLETION_COUPLED)};
    return xst_validation_run_with(laws, sizeof laws / sizeof *laws, profile, samples, fit, validation_out, diag);
}

void xst_validation_free(struct xst_validation *validation)
{
    if (!validation)
        return;
    free(validation->rows);
    memset(validation, 0, sizeof *validation);
}
