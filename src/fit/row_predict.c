/* SPDX-License-Identifier: Apache-2.0
 *
 * What a law says of one recorded row: the run's total, the mean issue and the mean staging release.
 */
#include <math.h>

#include <xstage/fit.h>
#include <xstage/model.h>

/* Runs longer than this are closed by the fixed point instead of step by step. */
enum { MOST_STEPS = 4096 };

/* One row as the laws see it. */
struct question {
    struct xst_stage issue;
    struct xst_stage busy; /* the release on a staged path, else the issue */
    int staged;
    double bursts;
    double gap_us; /* gap and loop time, or what the row itself shows between issue end and next start */
    double fence_us;
};

static int read_tables(const struct xst_path *path, const struct xst_sample *row, struct question *question)
{
    const double producers = (double)row->producers, bytes = (double)row->bytes_per_producer;
    struct xst_stage *const issue = &question->issue;
    *issue = (struct xst_stage){0, path->drain_bytes_per_us.value, INFINITY, producers * bytes};
    if (!path->drain_bytes_per_us.known ||
        xst_path_floor_us(path, producers, bytes, 1, &issue->floor_us, NULL) != XST_OK)
        return 0;
    (void)xst_path_capacity_bytes(path, producers, 1, &issue->capacity_bytes, NULL);
    question->busy = *issue;
    question->staged = path->release_floor.count > 0;
    if (!question->staged)
        return 1;
    question->busy.capacity_bytes = INFINITY;
    (void)xst_path_release_capacity_bytes(path, producers, 1, &question->busy.capacity_bytes, NULL);
    return xst_path_release_floor_us(path, producers, bytes, 1, &question->busy.floor_us, NULL) == XST_OK;
}

static double gap_of(const struct xst_path *path, const struct xst_sample *row, int staged)
{
    const double busy_us = staged ? row->release_mean_us : row->issue_mean_us;
    /* A grid barrier is part of an aligned row's gap, so the row's own period says what the gap was. */
    if (row->mode == XST_MODE_ALIGNED && row->period_mean_us > busy_us)
        return row->period_mean_us - busy_us;
    return row->gap_us + (path->loop_us.known ? path->loop_us.value : 0);
}

static void free_running(const struct question *question, struct xst_row_prediction *prediction)
{
    const double n = question->bursts, gap_us = question->gap_us;
    const double drain_us = question->busy.burst_bytes / question->busy.drain_bytes_per_us;
    prediction->total_us = fmax(n * drain_us, n * question->busy.floor_us + (n - 1) * gap_us) + question->fence_us;
    prediction->issue_us = question->staged ? question->issue.floor_us : xst_law_issue_us(&question->issue, gap_us);
    prediction->release_us = xst_law_issue_us(&question->busy, gap_us);
}

/* The recursion, burst by burst, from an empty stage. */
static void aligned(const struct question *question, struct xst_row_prediction *prediction)
{
    struct xst_step step = {0, 0, 0};
    double total_us = 0;
    int steps = 0;
    for (; steps < MOST_STEPS && (double)steps < question->bursts; steps++) {
        step = xst_law_step(&question->busy, step.backlog_after_gap_bytes, question->gap_us);
        total_us += step.issue_us + question->gap_us;
    }
    total_us += (question->bursts - steps) * (step.issue_us + question->gap_us) - question->gap_us;
    prediction->total_us =
        total_us + step.backlog_after_issue_bytes / question->busy.drain_bytes_per_us + question->fence_us;
    prediction->issue_us = question->staged ? xst_law_isolated_issue_us(&question->issue)
                                            : xst_law_aligned_issue_us(&question->issue, question->gap_us);
    prediction->release_us = xst_law_aligned_issue_us(&question->busy, question->gap_us);
}

static void completion_coupled(const struct question *question, struct xst_row_prediction *prediction)
{
    const double n = question->bursts;
    const double drain_us = question->busy.burst_bytes / question->busy.drain_bytes_per_us;
    prediction->total_us = n * drain_us + (n - 1) * question->gap_us + question->fence_us;
    prediction->issue_us = fmax(question->issue.floor_us, drain_us);
    prediction->release_us = fmax(question->busy.floor_us, drain_us);
}

static void isolated(const struct question *question, enum xst_model model, struct xst_row_prediction *prediction)
{
    prediction->total_us = 0;
    if (model == XST_MODEL_COMPLETION_COUPLED) {
        completion_coupled(question, prediction);
        prediction->total_us = 0;
        return;
    }
    prediction->issue_us = xst_law_isolated_issue_us(&question->issue);
    prediction->release_us = xst_law_isolated_issue_us(&question->busy);
}

void xst_row_predict(const struct xst_path *path, const struct xst_sample *row, enum xst_model model,
                     struct xst_row_prediction *prediction_out)
{
    struct question question = {0};
    *prediction_out = (struct xst_row_prediction){0, 0, 0, 0};
    if (!read_tables(path, row, &question))
        return;
    question.bursts = (double)row->bursts;
    question.gap_us = gap_of(path, row, question.staged);
    question.fence_us = path->fence_us.known ? path->fence_us.value : 0;
    prediction_out->known = 1;
    if (row->mode == XST_MODE_ISOLATED)
        isolated(&question, model, prediction_out);
    else if (model == XST_MODEL_LAW_ALIGNED)
        aligned(&question, prediction_out);
    else if (model == XST_MODEL_COMPLETION_COUPLED)
        completion_coupled(&question, prediction_out);
    else
        free_running(&question, prediction_out);
}
