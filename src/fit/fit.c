/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples to profile: group rows by path, read each path's parameters off its rows, account for every row.
 */
#include <xstage/fit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "fit/context.h"

enum xst_status xsti_outlier(struct xsti_fit_context *context, size_t i, const char *quantity, double value,
                             double expected)
{
    struct xst_fit *const fit = context->fit;
    struct xst_outlier *const larger = realloc(fit->outliers, (fit->outlier_count + 1) * sizeof *larger);
    if (!larger)
        return xsti_fail_memory(context->diag);
    fit->outliers = larger;
    fit->outliers[fit->outlier_count++] = (struct xst_outlier){context->rows[i], quantity, value, expected};
    return XST_OK;
}

static int row_on_path(const struct xst_path *path, const struct xst_sample *row)
{
    return row->flow == XST_FLOW_PAIR && path->target == row->target && path->direction == row->direction &&
           path->method == row->method && path->threads == row->threads && path->piece_bytes == row->piece_bytes &&
           path->pitch_bytes == row->pitch_bytes;
}

static int compare_paths(const void *a, const void *b)
{
    const struct xst_path *const x = a, *const y = b;
    const int64_t keys[][2] = {{x->target, y->target},
                               {x->direction, y->direction},
                               {x->piece_bytes, y->piece_bytes},
                               {x->pitch_bytes, y->pitch_bytes},
                               {x->threads != 256, y->threads != 256},
                               {x->method, y->method},
                               {x->threads, y->threads}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

/* One path per distinct key, in a fixed order whatever the order of the rows. */
static enum xst_status find_paths(const struct xst_samples *samples, struct xst_profile *profile, struct xst_diag *diag)
{
    profile->paths = calloc(samples->row_count, sizeof *profile->paths);
    if (!profile->paths)
        return xsti_fail_memory(diag);
    for (size_t r = 0; r < samples->row_count; r++) {
        const struct xst_sample *const row = &samples->rows[r];
        size_t p = 0;
        if (row->flow != XST_FLOW_PAIR)
            continue; /* a path is one device to one other */
        while (p < profile->path_count && !row_on_path(&profile->paths[p], row))
            p++;
        if (p == profile->path_count)
            profile->paths[profile->path_count++] = (struct xst_path){.target = row->target,
                                                                      .direction = row->direction,
                                                                      .method = row->method,
                                                                      .threads = row->threads,
                                                                      .piece_bytes = row->piece_bytes,
                                                                      .pitch_bytes = row->pitch_bytes};
    }
    if (profile->path_count == 0)
        return xsti_fail(
            diag, XST_ERR_NO_DATA,
            "none of the %zu rows is of one device to one other: several senders or receivers make no path",
            samples->row_count);
    qsort(profile->paths, profile->path_count, sizeof *profile->paths, compare_paths);
    return XST_OK;
}

/* Where the tables were read: every row of the path counts, since its burst was tried. */
static void set_valid(struct xsti_fit_context *context)
{
    struct xst_valid valid = {INT64_MAX, 0, INT64_MAX, 0};
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        valid.producers_low = row->producers < valid.producers_low ? row->producers : valid.producers_low;
        valid.producers_high = row->producers > valid.producers_high ? row->producers : valid.producers_high;
        valid.bytes_low = row->bytes_per_producer < valid.bytes_low ? row->bytes_per_producer : valid.bytes_low;
        valid.bytes_high = row->bytes_per_producer > valid.bytes_high ? row->bytes_per_producer : valid.bytes_high;
    }
    /* The floor is known up to its last point only. */
    const struct xst_floor_table *const table = &context->path->issue_floor;
    int64_t floor_high = 0;
    for (size_t i = 0; i < table->count; i++)
        floor_high =
            table->points[i].bytes_per_producer > floor_high ? table->points[i].bytes_per_producer : floor_high;
    if (floor_high && floor_high < valid.bytes_high)
        valid.bytes_high = floor_high;
    context->path->valid = valid;
}

/* A row that served nothing says why. */
static void account(struct xsti_fit_context *context)
{
    struct xst_fit *const fit = context->fit;
    for (size_t i = 0; i < context->row_count; i++) {
        const struct xst_sample *const row = xsti_row(context, i);
        enum xst_exclude *const exclude = &fit->exclude[context->rows[i]];
        if (fit->used[context->rows[i]]) {
            *exclude = XST_EXCLUDE_NONE;
            context->path->rows_used++;
            continue;
        }
        context->path->rows_excluded++;
        if (row->mode == XST_MODE_ALIGNED)
            *exclude = XST_EXCLUDE_ALIGNED;
        else if (row->mode == XST_MODE_PERIODIC)
            *exclude = row->gap_us > 0 ? XST_EXCLUDE_HELD_OUT : XST_EXCLUDE_NOT_SATURATED;
        else if (*exclude == XST_EXCLUDE_NONE)
            *exclude = XST_EXCLUDE_NO_DRAIN;
    }
}

static int has_release(const struct xsti_fit_context *context)
{
    for (size_t i = 0; i < context->row_count; i++) {
        if (xsti_row(context, i)->release_mean_us > 1.02 * xsti_row(context, i)->issue_mean_us + 0.002)
            return 1;
    }
    return 0;
}

static enum xst_status fit_path(struct xsti_fit_context *context)
{
    context->staged = has_release(context);
    const int times = context->staged ? 2 : 1;
    XSTI_TRY(xsti_fit_fence(context));
    XSTI_TRY(xsti_fit_drain(context));
    for (int time = 0; time < times; time++) {
        XSTI_TRY(xsti_fit_floor_base(context, (enum xsti_time)time));
        XSTI_TRY(xsti_fit_floor_plateaus(context, (enum xsti_time)time));
        XSTI_TRY(xsti_fit_capacity(context, (enum xsti_time)time));
    }
    XSTI_TRY(xsti_fit_loop(context));
    xsti_fit_capacity_form(context->path);
    XSTI_TRY(xsti_fit_free_capacity(context->samples, context->path, context->diag));
    set_valid(context);
    account(context);
    return XST_OK;
}

static int64_t count_parameters(const struct xst_path *path)
{
    return (int64_t)(path->issue_floor.count + path->capacity.count + path->release_floor.count +
                     path->release_capacity.count) +
           path->drain_bytes_per_us.known + path->loop_us.known + path->fence_us.known +
           path->free_capacity_bytes.known + path->capacity_per_producer_bytes.known + path->capacity_total_bytes.known;
}

static enum xst_status fit_all(const struct xst_samples *samples, struct xst_profile *profile, struct xst_fit *fit,
                               struct xst_diag *diag)
{
    size_t *const rows = malloc(samples->row_count * sizeof *rows);
    double *const room = malloc(samples->row_count * sizeof *room);
    enum xst_status status = rows && room ? XST_OK : xsti_fail_memory(diag);
    for (size_t p = 0; status == XST_OK && p < profile->path_count; p++) {
        struct xsti_fit_context context = {samples, rows, 0, &profile->paths[p], 0, room, fit, diag};
        for (size_t r = 0; r < samples->row_count; r++) {
            if (!row_on_path(&profile->paths[p], &samples->rows[r]))
                continue;
            rows[context.row_count++] = r;
            fit->path[r] = (int)p;
        }
        status = fit_path(&context);
        fit->parameter_count += count_parameters(&profile->paths[p]);
    }
    free(rows);
    free(room);
    return status;
}

static enum xst_status fit_profile(const struct xst_samples *samples, const struct xst_fit_options *options,
                                   struct xst_profile *profile, struct xst_fit *fit, struct xst_diag *diag)
{
    fit->row_count = samples->row_count;
    fit->used = calloc(samples->row_count, sizeof *fit->used);
    fit->exclude = calloc(samples->row_count, sizeof *fit->exclude);
    fit->path = calloc(samples->row_count, sizeof *fit->path);
    if (!fit->used || !fit->exclude || !fit->path)
        return xsti_fail_memory(diag);
    if (options && options->facts)
        profile->machine = *options->facts;
    if (options && options->name)
        snprintf(profile->name, sizeof profile->name, "%s", options->name);
    for (size_t r = 0; r < samples->row_count; r++) {
        const int pair = samples->rows[r].flow == XST_FLOW_PAIR;
        fit->exclude[r] = pair ? XST_EXCLUDE_NONE : XST_EXCLUDE_FLOW;
        fit->path[r] = pair ? 0 : -1;
    }
    XSTI_TRY(find_paths(samples, profile, diag));
    XSTI_TRY(fit_all(samples, profile, fit, diag));
    return xst_profile_seal(profile, diag);
}

enum xst_status xst_profile_fit(const struct xst_samples *samples, const struct xst_fit_options *options,
                                struct xst_profile *profile_out, struct xst_fit *fit_out, struct xst_diag *diag)
{
    struct xst_profile profile = {0};
    struct xst_fit fit = {0};
    if (samples->row_count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "no burst rows: a profile needs at least one periodic or isolated row");
    const enum xst_status status = fit_profile(samples, options, &profile, &fit, diag);
    if (status != XST_OK || !fit_out)
        xst_fit_free(&fit);
    if (status != XST_OK) {
        xst_profile_free(&profile);
        return status;
    }
    *profile_out = profile;
    if (fit_out)
        *fit_out = fit;
    return XST_OK;
}

void xst_fit_free(struct xst_fit *fit)
{
    if (!fit)
        return;
    free(fit->used);
    free(fit->exclude);
    free(fit->path);
    free(fit->outliers);
    memset(fit, 0, sizeof *fit);
}
