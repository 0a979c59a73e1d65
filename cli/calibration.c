/* SPDX-License-Identifier: Apache-2.0 */
#include "calibration.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xstage/model.h>
#include <xstage/report.h>

#include "options.h"

enum xst_status cli_calibration_fit(struct cli *cli, struct calibration *calibration)
{
    if (cli_text(cli, "name")) {
        if (strlen(cli_text(cli, "name")) >= sizeof calibration->name)
            return cli_say(&cli->diag, XST_ERR_RANGE, "--name: more than %d bytes", XST_NAME_BYTES - 1);
        snprintf(calibration->name, sizeof calibration->name, "%s", cli_text(cli, "name"));
    }
    const struct xst_fit_options fit_options = {&calibration->facts, calibration->name};
    enum xst_status status =
        xst_profile_fit(&calibration->samples, &fit_options, &calibration->profile, &calibration->fit, &cli->diag);
    if (status == XST_OK)
        status = xst_validation_run(&calibration->profile, &calibration->samples, &calibration->fit,
                                    &calibration->validation, &cli->diag);
    return status;
}

static enum xst_status make_folder(struct cli *cli, const char *folder)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return XST_OK;
    return cli_say(&cli->diag, XST_ERR_IO, "%s: cannot create the folder: %s", folder, strerror(errno));
}

enum xst_status cli_calibration_check(struct cli *cli, const char *folder)
{
    char path[PATH_MAX];
    if (strlen(folder) + 32 > sizeof path)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the folder name is too long");
    snprintf(path, sizeof path, "%s/samples", folder);
    return access(folder, F_OK) == 0 ? cli_measure_check(cli, path) : XST_OK;
}

enum xst_status cli_calibration_write(struct cli *cli, const struct calibration *calibration, const char *folder)
{
    char path[PATH_MAX];
    if (strlen(folder) + 32 > sizeof path)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the folder name is too long");
    const struct xst_report_section section = {&calibration->profile, &calibration->samples, &calibration->fit,
                                               &calibration->validation};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    enum xst_status status = make_folder(cli, folder);
    snprintf(path, sizeof path, "%s/samples", folder);
    if (status == XST_OK && calibration->asked)
        status = cli_measure_write(cli, path, &calibration->samples, &calibration->measured, &calibration->readings);
    snprintf(path, sizeof path, "%s/profile.json", folder);
    if (status == XST_OK)
        status = xst_profile_write(path, &calibration->profile, cli->force, &cli->diag);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (status == XST_OK)
        status = xst_report_write(path, &input, cli->force, &cli->diag);
    snprintf(path, sizeof path, "%s/figures", folder);
    if (status == XST_OK)
        status = xst_report_write_svgs(path, &input, cli->force, NULL, &cli->diag);
    return status;
}

/* The median period error of the closed form on free-running rows; negative when there is none. */
static double period_error(const struct calibration *calibration, const struct xst_path *path)
{
    for (size_t i = 0; i < calibration->validation.row_count; i++) {
        const struct xst_validation_row *const row = &calibration->validation.rows[i];
        if (!row->held_out && row->quantity == XST_QUANTITY_PERIOD && row->model == XST_MODEL_LAW &&
            row->rows == XST_ROWS_FREE && row->path.target == path->target && row->path.direction == path->direction &&
            row->path.method == path->method && row->path.threads == path->threads &&
            row->path.piece_bytes == path->piece_bytes)
            return row->median_abs_rel_err;
    }
    return -1;
}

/* One line per default path that drains: what a person asks first. */
static void print_path(const struct calibration *calibration, const struct xst_path *path)
{
    const struct xst_burst burst = {(double)path->valid.producers_high, 32768, 0};
    struct xst_timing timing;
    char name[64], capacity[32] = "-", recovery[32] = "-", error[32] = "-", drain[32];
    if (path->threads != 256 || path->piece_bytes || !path->drain_bytes_per_us.known)
        return;
    if (xst_timing_predict(path, &burst, 0, &timing, NULL) != XST_OK)
        return;
    if (timing.known & XST_TIMING_CAPACITY)
        cli_show_number(timing.capacity_bytes, CLI_SHOW_BYTES, capacity, sizeof capacity);
    if ((timing.known & XST_TIMING_FLOOR) && (timing.known & XST_TIMING_RELEASE))
        cli_show_number(timing.recovery_gap_us, CLI_SHOW_US, recovery, sizeof recovery);
    if (period_error(calibration, path) >= 0)
        cli_show_number(period_error(calibration, path), CLI_SHOW_PERCENT, error, sizeof error);
    cli_show_number(path->drain_bytes_per_us.value, CLI_SHOW_RATE, drain, sizeof drain);
    printf("%-16s %11s  Q(%.0f) %-9s G* at 32 KiB each %6s us   period error %s\n",
           xst_path_text(path, name, sizeof name), drain, burst.producers, capacity, recovery, error);
}

void cli_calibration_print(const struct calibration *calibration, const char *folder)
{
    printf("Machine: %s (%s%s%s), profile %s, %zu rows\n",
           calibration->profile.machine.machine[0] ? calibration->profile.machine.machine : "not described",
           calibration->profile.machine.origin, calibration->profile.machine.date[0] ? " " : "",
           calibration->profile.machine.date, calibration->profile.id, calibration->samples.row_count);
    for (size_t i = 0; i < calibration->profile.path_count; i++)
        print_path(calibration, &calibration->profile.paths[i]);
    if (folder)
        printf("Profile: %s/profile.json   Page: %s/report.html\n", folder, folder);
}

void cli_calibration_put(struct cli *cli, json_t *document, const struct calibration *calibration)
{
    char *text = NULL;
    json_object_set_new(document, "origin", cli_string(calibration->profile.machine.origin));
    json_object_set_new(document, "rows", json_integer((json_int_t)calibration->samples.row_count));
    if (xst_profile_print(&calibration->profile, &text, &cli->diag) == XST_OK)
        json_object_set_new(document, "profile", json_loads(text, 0, NULL));
    free(text);
}

void cli_calibration_free(struct calibration *calibration)
{
    for (size_t i = 0; i < calibration->file_count; i++)
        free(calibration->files[i]);
    xst_validation_free(&calibration->validation);
    xst_fit_free(&calibration->fit);
    xst_profile_free(&calibration->profile);
    xst_samples_free(&calibration->samples);
}
