/* SPDX-License-Identifier: Apache-2.0 */
#include "dispersion.h"

#include <stdlib.h>

#include <xstage/sim.h>

#include "options.h"

enum { DEFAULT_THREADS = 256 };

static enum xst_status fit_path(struct cli *cli, const struct xst_samples *samples, struct xst_path *path,
                                struct xst_fit *fit, unsigned char *held_out)
{
    const struct xst_dispersion_options options = {.seed = (uint64_t)cli_int(cli, "seed"), .held_out = held_out};
    struct xst_dispersion found;
    char name[64];
    const enum xst_status status = xst_path_fit_dispersion(path, samples, &options, &found, &cli->diag);
    if (status == XST_ERR_NO_DATA) /* too few free-running rows: the path stays without */
        return XST_OK;
    if (status != XST_OK)
        return status;
    for (size_t r = 0; r < samples->row_count; r++) {
        const struct xst_sample *const row = &samples->rows[r];
        if (!held_out[r] && xst_path_has_row(path, row) && row->mode == XST_MODE_PERIODIC && row->gap_us > 0)
            fit->used[r] |= XST_ROW_DISPERSION;
    }
    fit->parameter_count += 2; /* the two spreads; the groups follow from the device */
    cli_note(
        cli,
        "%s: shares fitted on %lld rows; on the %lld held out the fluid's period is off by %.2g %% (worst %.2g %%)",
        xst_path_text(path, name, sizeof name), (long long)found.rows_fit, (long long)found.rows_held_out,
        100 * found.held_out_period.median_abs_rel_err, 100 * found.held_out_period.max_abs_rel_err);
    return XST_OK;
}

enum xst_status cli_dispersion_fit(struct cli *cli, const struct xst_samples *samples, struct xst_profile *profile,
                                   struct xst_fit *fit)
{
    unsigned char *const held_out = malloc(samples->row_count);
    enum xst_status status = held_out ? XST_OK : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t p = 0; p < profile->path_count && status == XST_OK; p++) {
        struct xst_path *const path = &profile->paths[p];
        if (path->threads == DEFAULT_THREADS && path->piece_bytes == 0 && path->method != XST_METHOD_BULK)
            status = fit_path(cli, samples, path, fit, held_out);
    }
    free(held_out);
    return status;
}

static void predict_fluid(const void *context, const struct xst_path *path, const struct xst_sample *row,
                          struct xst_row_prediction *prediction_out)
{
    struct xst_fluid_prediction fluid;
    *prediction_out = (struct xst_row_prediction){.known = 0};
    if (!path->groups.known || xst_fluid_row_predict(path, row, *(const uint64_t *)context, &fluid, NULL) != XST_OK)
        return;
    *prediction_out = (struct xst_row_prediction){1, fluid.total_us, fluid.issue_us, fluid.issue_us};
}

enum xst_status cli_validate(struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                             const struct xst_fit *fit, struct xst_validation *validation_out)
{
    const uint64_t seed = (uint64_t)cli_int(cli, "seed");
    const struct xst_row_predictor models[] = {xst_law_predictor(XST_MODEL_LAW),
                                               xst_law_predictor(XST_MODEL_LAW_ALIGNED),
                                               xst_law_predictor(XST_MODEL_COMPLETION_COUPLED),
                                               {XST_MODEL_FLUID, predict_fluid, &seed}};
    return xst_validation_run_with(models, sizeof models / sizeof *models, profile, samples, fit, validation_out,
                                   &cli->diag);
}
