/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage calibrate: samples, profile and report of a machine in one step.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xstage/fit.h>
#include <xstage/gpu.h>
#include <xstage/model.h>
#include <xstage/report.h>

#include "data_dir.h"
#include "facts.h"
#include "measure_run.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {
    {.name = "facts", .kind = CLI_FILE, .arg = "FILE", .help = "machine facts (JSON) for file: machines"},
    {.name = "name", .kind = CLI_TEXT, .arg = "NAME", .help = "name of the profile; default: that of the machine"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage calibrate -o out",
     "This machine where it can be measured, else the recorded H200 pair; profile and page in out/."},
    {"xstage calibrate --machine file:data/h200-host-bursts.csv,data/h200-host-bystander.csv -o host",
     "The host path of one H200 from its recorded rows."},
    {"xstage calibrate --machine cuda:0,1 -o pair", "Peer path and host path of two GPUs of this machine."},
    {NULL, NULL},
};

static const char about[] =
    "Writes DIR/profile.json, DIR/report.html, the figures under DIR/figures/ and, when it measured, the raw rows as DIR/samples*.csv. The first line says where the numbers come "
    "from: measured, recorded or synthetic. Without a machine to measure the recorded pair of H200s is used, which shows what "
    "a calibration gives and is a profile of that machine, not of this one.";

/* The rows that stand for a machine when there is none to measure. */
static const char *const recorded_files[] = {"h200x2-bursts.csv", "h200x2-rows.csv"};
static const char recorded_name[] = "h200x2-nvlink";

enum { MOST_FILES = 64 };

/* Everything the command holds. */
struct job {
    char *files[MOST_FILES];
    size_t file_count;
    char spec[64];                     /* machine to measure; "": rows come from files */
    const char *asked;                 /* the same when named by --machine, of any length */
    struct xst_machine_facts measured; /* of that machine */
    struct cli_readings readings;
    char name[XST_NAME_BYTES];
    struct xst_samples samples;
    struct xst_machine_facts facts;
    struct xst_profile profile;
    struct xst_fit fit;
    struct xst_validation validation;
};

static enum xst_status add_file(struct cli *cli, struct job *job, const char *path, size_t length)
{
    if (job->file_count == MOST_FILES)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--machine: more than %d files", MOST_FILES);
    char *const copy = strndup(path, length);
    if (!copy)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    job->files[job->file_count++] = copy;
    return XST_OK;
}

/* "a.csv,b.csv" */
static enum xst_status split_files(struct cli *cli, struct job *job, const char *list)
{
    enum xst_status status = XST_OK;
    while (status == XST_OK) {
        const size_t length = strcspn(list, ",");
        if (length == 0)
            return cli_say(&cli->diag, XST_ERR_USAGE,
                           "--machine: an empty file name in \"%s\"; file:A.csv,B.csv is needed",
                           cli_text(cli, "machine"));
        status = add_file(cli, job, list, length);
        if (list[length] == '\0')
            break;
        list += length + 1;
    }
    return status;
}

static enum xst_status recorded(struct cli *cli, struct job *job)
{
    enum xst_status status = XST_OK;
    snprintf(job->name, sizeof job->name, "%s", recorded_name);
    for (size_t i = 0; i < sizeof recorded_files / sizeof *recorded_files && status == XST_OK; i++) {
        char path[PATH_MAX];
        if (cli_data_find("data", recorded_files[i], path) != 0) {
            cli_hint(cli, "set XSTAGE_DATA_DIR to the folder that holds data/ and profiles/");
            return cli_say(&cli->diag, XST_ERR_IO, "data/%s: the recorded rows are in none of the data folders",
                           recorded_files[i]);
        }
        status = add_file(cli, job, path, strlen(path));
    }
    return status;
}

/* Two GPUs with a store path between them, else one; "" when there is none that this build can measure. */
static void find_machine(struct cli *cli, char *spec, size_t bytes)
{
    struct xst_gpu_info info = {0};
    struct xst_diag why = {0};
    spec[0] = '\0';
    if (xst_gpu_nvcc_version()[0] == '\0') {
        cli_note(cli, "this build has no device code (nvcc was not found), so the recorded H200 pair stands in");
        return;
    }
    if (xst_gpu_info_read(&info, &why) != XST_OK) {
        cli_note(cli, "%s, so the recorded H200 pair stands in", why.text);
        return;
    }
    snprintf(spec, bytes, "cuda:%lld", (long long)info.devices[0].ordinal);
    for (size_t i = 0; i < info.pair_count; i++) {
        if (info.pairs[i].store_path) {
            snprintf(spec, bytes, "cuda:%lld,%lld", (long long)info.pairs[i].from, (long long)info.pairs[i].to);
            break;
        }
    }
    xst_gpu_info_free(&info);
}

static enum xst_status choose(struct cli *cli, struct job *job)
{
    const char *const machine = cli_text(cli, "machine");
    if (!machine)
        find_machine(cli, job->spec, sizeof job->spec);
    if (machine && (strncmp(machine, "cuda", 4) == 0 || strncmp(machine, "sim:", 4) == 0))
        job->asked = machine;
    else if (job->spec[0])
        job->asked = job->spec;
    if (job->asked) {
        snprintf(job->name, sizeof job->name, "measured");
        return XST_OK;
    }
    if (!machine || strcmp(machine, "recorded") == 0)
        return recorded(cli, job);
    if (strncmp(machine, "file:", 5) == 0) {
        const enum xst_status status = split_files(cli, job, machine + 5);
        if (status == XST_OK)
            (void)cli_stem(job->files[0], job->name, sizeof job->name);
        return status;
    }
    return cli_say(&cli->diag, XST_ERR_USAGE,
                   "--machine is \"%s\"; valid here are cuda, cuda:0,1, sim:NAME, sim:KEY=VALUE,..., recorded and "
                   "file:A.csv,B.csv",
                   machine);
}

/* Names that are taken are found before the measurement, not after it. */
static enum xst_status check_folder(struct cli *cli)
{
    const char *const folder = cli_text(cli, "output");
    char path[PATH_MAX];
    if (!folder)
        return XST_OK;
    if (strlen(folder) + 32 > sizeof path)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the folder name is too long");
    snprintf(path, sizeof path, "%s/samples", folder);
    return access(folder, F_OK) == 0 ? cli_measure_check(cli, path) : XST_OK;
}

/* Measures instead of reading. Rows that came before an interruption are not fitted: a half profile misleads. */
static enum xst_status measure(struct cli *cli, struct job *job)
{
    struct xst_machine *machine = NULL;
    enum xst_status status = check_folder(cli);
    if (status == XST_OK)
        status = cli_machine_open(cli, job->asked, &machine);
    if (status != XST_OK)
        return status;
    status = cli_measure_calibration(cli, machine, &job->samples, &job->readings);
    job->facts = job->measured = *xst_machine_facts(machine);
    xst_machine_close(machine);
    return status;
}

static enum xst_status read_rows(struct cli *cli, struct job *job)
{
    if (job->asked)
        return measure(cli, job);
    for (size_t i = 0; i < job->file_count; i++) {
        const enum xst_status status = xst_samples_read(job->files[i], &job->samples, &cli->diag);
        if (status != XST_OK)
            return status;
    }
    const enum xst_status status =
        cli_facts_read(cli, cli_text(cli, "facts"), (const char *const *)job->files, job->file_count, &job->facts);
    if (job->facts.origin[0] == '\0')
        snprintf(job->facts.origin, sizeof job->facts.origin, "recorded");
    return status;
}

static enum xst_status fit_and_judge(struct cli *cli, struct job *job)
{
    if (cli_text(cli, "name")) {
        if (strlen(cli_text(cli, "name")) >= sizeof job->name)
            return cli_say(&cli->diag, XST_ERR_RANGE, "--name: more than %d bytes", XST_NAME_BYTES - 1);
        snprintf(job->name, sizeof job->name, "%s", cli_text(cli, "name"));
    }
    const struct xst_fit_options fit_options = {&job->facts, job->name};
    enum xst_status status = xst_profile_fit(&job->samples, &fit_options, &job->profile, &job->fit, &cli->diag);
    if (status == XST_OK)
        status = xst_validation_run(&job->profile, &job->samples, &job->fit, &job->validation, &cli->diag);
    return status;
}

static enum xst_status make_folder(struct cli *cli, const char *folder)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return XST_OK;
    return cli_say(&cli->diag, XST_ERR_IO, "%s: cannot create the folder: %s", folder, strerror(errno));
}

static enum xst_status write_all(struct cli *cli, struct job *job, const char *folder)
{
    char path[PATH_MAX];
    if (strlen(folder) + 32 > sizeof path)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the folder name is too long");
    const struct xst_report_section section = {&job->profile, &job->samples, &job->fit, &job->validation};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    enum xst_status status = make_folder(cli, folder);
    snprintf(path, sizeof path, "%s/samples", folder);
    if (status == XST_OK && job->asked)
        status = cli_measure_write(cli, path, &job->samples, &job->measured, &job->readings);
    snprintf(path, sizeof path, "%s/profile.json", folder);
    if (status == XST_OK)
        status = xst_profile_write(path, &job->profile, cli->force, &cli->diag);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (status == XST_OK)
        status = xst_report_write(path, &input, cli->force, &cli->diag);
    snprintf(path, sizeof path, "%s/figures", folder);
    if (status == XST_OK)
        status = xst_report_write_svgs(path, &input, cli->force, NULL, &cli->diag);
    return status;
}

/* The median period error of the closed form on free-running rows; negative when there is none. */
static double period_error(const struct job *job, const struct xst_path *path)
{
    for (size_t i = 0; i < job->validation.row_count; i++) {
        const struct xst_validation_row *const row = &job->validation.rows[i];
        if (!row->held_out && row->quantity == XST_QUANTITY_PERIOD && row->model == XST_MODEL_LAW &&
            row->rows == XST_ROWS_FREE && row->path.target == path->target && row->path.direction == path->direction &&
            row->path.method == path->method && row->path.threads == path->threads &&
            row->path.piece_bytes == path->piece_bytes)
            return row->median_abs_rel_err;
    }
    return -1;
}

/* One line per default path that drains: what a person asks first. */
static void print_path(const struct job *job, const struct xst_path *path)
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
    if (period_error(job, path) >= 0)
        cli_show_number(period_error(job, path), CLI_SHOW_PERCENT, error, sizeof error);
    cli_show_number(path->drain_bytes_per_us.value, CLI_SHOW_RATE, drain, sizeof drain);
    printf("%-16s %11s  Q(%.0f) %-9s G* at 32 KiB each %6s us   period error %s\n",
           xst_path_text(path, name, sizeof name), drain, burst.producers, capacity, recovery, error);
}

static void print(const struct job *job, const char *folder)
{
    printf("Machine: %s (%s%s%s), profile %s, %zu rows\n",
           job->profile.machine.machine[0] ? job->profile.machine.machine : "not described",
           job->profile.machine.origin, job->profile.machine.date[0] ? " " : "", job->profile.machine.date,
           job->profile.id, job->samples.row_count);
    for (size_t i = 0; i < job->profile.path_count; i++)
        print_path(job, &job->profile.paths[i]);
    if (folder)
        printf("Profile: %s/profile.json   Page: %s/report.html\n", folder, folder);
}

static json_t *document_of(struct cli *cli, const struct job *job, const char *folder)
{
    json_t *const document = cli_document(cli, "calibrate", 1);
    char *text = NULL;
    json_object_set_new(document, "origin", cli_string(job->profile.machine.origin));
    json_object_set_new(document, "rows", json_integer((json_int_t)job->samples.row_count));
    json_object_set_new(document, "output", cli_string(folder));
    if (xst_profile_print(&job->profile, &text, &cli->diag) == XST_OK)
        json_object_set_new(document, "profile", json_loads(text, 0, NULL));
    free(text);
    return document;
}

static void job_free(struct job *job)
{
    for (size_t i = 0; i < job->file_count; i++)
        free(job->files[i]);
    xst_validation_free(&job->validation);
    xst_fit_free(&job->fit);
    xst_profile_free(&job->profile);
    xst_samples_free(&job->samples);
}

static int run(struct cli *cli)
{
    struct job job = {0};
    const char *const folder = cli_text(cli, "output");
    enum xst_status status = cli_check_outputs(cli, 0);
    if (status == XST_OK)
        status = choose(cli, &job);
    if (status == XST_OK)
        status = read_rows(cli, &job);
    if (status == XST_OK)
        status = fit_and_judge(cli, &job);
    if (status == XST_OK && folder)
        status = write_all(cli, &job, folder);
    else if (status == XST_OK)
        cli_note(cli, "nothing written; -o DIR keeps profile and page");
    int code;
    if (status != XST_OK) {
        code = cli_fail(cli, status);
    } else {
        if (cli_wants_text(cli))
            print(&job, folder);
        code = cli_emit(cli, document_of(cli, &job, folder), NULL, CLI_GOOD);
    }
    job_free(&job);
    return code;
}

const struct cli_command cli_command_calibrate = {
    .name = "calibrate",
    .group = CLI_GROUP_MEASURE,
    .purpose = "Samples, profile and report of a machine in one step",
    .needs = "a GPU; without one it works on recorded rows",
    .usage = "[-o DIR] [OPTIONS]",
    .least_args = 0,
    .most_args = 0,
    .output_is_folder = 1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
};
