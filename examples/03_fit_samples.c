/* SPDX-License-Identifier: Apache-2.0
 *
 * Fits a profile from recorded rows and says how far the closed form is from each of them.
 *   03_fit_samples [data/h200-host-bursts.csv]
 */
#include <stdio.h>

#include <xstage/fit.h>

int main(int argc, char **argv)
{
    const char *const file = argc > 1 ? argv[1] : "data/h200-host-bursts.csv";
    struct xst_samples samples = {0};
    struct xst_profile profile = {0};
    struct xst_fit fit = {0};
    struct xst_validation validation = {0};
    struct xst_diag diag;
    int status = 2;
    if (xst_samples_read(file, &samples, &diag) != XST_OK ||
        xst_profile_fit(&samples, NULL, &profile, &fit, &diag) != XST_OK ||
        xst_validation_run(&profile, &samples, &fit, &validation, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        goto out;
    }
    printf("%zu rows, %zu paths, %lld fitted numbers, profile %s\n", samples.row_count, profile.path_count,
           (long long)fit.parameter_count, profile.id);
    for (size_t i = 0; i < validation.row_count; i++) {
        const struct xst_validation_row *const row = &validation.rows[i];
        if (row->held_out || row->quantity != XST_QUANTITY_PERIOD)
            continue;
        printf("%s/%s period, %-18s on %-8s rows: n %3lld  median %5.1f %%  p90 %5.1f %%\n",
               xst_target_text(row->path.target), xst_method_text(row->path.method), xst_model_text(row->model),
               xst_rows_text(row->rows), (long long)row->n, 100 * row->median_abs_rel_err, 100 * row->p90_abs_rel_err);
    }
    status = 0;
out:
    xst_validation_free(&validation);
    xst_fit_free(&fit);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
    return status;
}
