/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage calibrate: samples, profile and report of a machine in one step.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/gpu.h>

#include "calibrate_ranks.h"
#include "calibration.h"
#include "data_dir.h"
#include "facts.h"
#include "job.h"
#include "options.h"

static const struct cli_option options[] = {
    {.name = "facts", .kind = CLI_FILE, .arg = "FILE", .help = "machine facts (JSON) for file: machines"},
    {.name = "name", .kind = CLI_TEXT, .arg = "NAME", .help = "name of the profile; default: that of the machine"},
    {.name = "each-rank",
     .kind = CLI_FLAG,
     .help = "every process of a job measures the machine in its turn; without --machine its GPU and the next one"},
    CLI_JOB_OPTIONS,
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage calibrate -o out",
     "This machine where it can be measured, else the recorded H200 pair; profile and page in out/."},
    {"xstage calibrate --machine file:data/h200-host-bursts.csv,data/h200-host-bystander.csv -o host",
     "The host path of one H200 from its recorded rows."},
    {"xstage calibrate --machine cuda:0,1 -o pair", "Peer path and host path of two GPUs of this machine."},
    {"mpirun -n 8 xstage calibrate --each-rank -o ring",
     "Process r measures GPU r and the next one, one after the other."},
    {NULL, NULL},
};

static const char about[] =
    "Writes DIR/profile.json, DIR/report.html, the figures under DIR/figures/ and, when it measured, the raw rows as DIR/samples*.csv. The first line says where the numbers come "
    "from: measured, recorded or synthetic. Without a machine to measure the recorded pair of H200s is used, which shows what "
    "a calibration gives and is a profile of that machine, not of this one.\n\n"
    "Started several times by mpirun, torchrun or srun, rank 0 does it and the others wait; with --each-rank all of them measure, "
    "one after the other, and rank 0 writes what rank R measured to DIR/rank-R/.";

/* The rows that stand for a machine when there is none to measure. */
static const char *const recorded_files[] = {"h200x2-bursts.csv", "h200x2-rows.csv"};
static const char recorded_name[] = "h200x2-nvlink";

static enum xst_status add_file(struct cli *cli, struct calibration *job, const char *path, size_t length)
{
    if (job->file_count == CLI_CALIBRATION_FILES)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--machine: more than %d files", CLI_CALIBRATION_FILES);
    char *const copy = strndup(path, length);
    if (!copy)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    job->files[job->file_count++] = copy;
    return XST_OK;
}

/* "a.csv,b.csv" */
static enum xst_status split_files(struct cli *cli, struct calibration *job, const char *list)
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

static enum xst_status recorded(struct cli *cli, struct calibration *job)
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

static enum xst_status choose(struct cli *cli, struct calibration *job)
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

/* Measures instead of reading. Rows that came before an interruption are not fitted: a half profile misleads. */
static enum xst_status measure(struct cli *cli, struct calibration *job)
{
    struct xst_machine *machine = NULL;
    const char *const folder = cli_text(cli, "output");
    enum xst_status status = folder ? cli_calibration_check(cli, folder) : XST_OK;
    if (status == XST_OK)
        status = cli_machine_open(cli, job->asked, &machine);
    if (status != XST_OK)
        return status;
    status = cli_measure_calibration(cli, machine, &job->samples, &job->readings);
    job->facts = job->measured = *xst_machine_facts(machine);
    if (xst_machine_devices(machine) > 2)
        cli_note(cli, "%s; `xstage measure --pairs --senders 1,2,... --all-to-all` measures the others",
                 job->facts.note);
    xst_machine_close(machine);
    return status;
}

static enum xst_status read_rows(struct cli *cli, struct calibration *job)
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

static enum xst_status fit_and_write(struct cli *cli, struct calibration *job, const char *folder)
{
    enum xst_status status = cli_calibration_fit(cli, job);
    if (status == XST_OK && folder)
        status = cli_calibration_write(cli, job, folder);
    else if (status == XST_OK)
        cli_note(cli, "nothing written; -o DIR keeps profile and page");
    return status;
}

/* What one process does alone, or rank 0 for all. */
static int run_first(struct cli *cli)
{
    struct calibration job = {0};
    const char *const folder = cli_text(cli, "output");
    enum xst_status status = cli_check_outputs(cli, 0);
    if (status == XST_OK)
        status = choose(cli, &job);
    if (status == XST_OK)
        status = read_rows(cli, &job);
    if (status == XST_OK)
        status = fit_and_write(cli, &job, folder);
    int code;
    if (status != XST_OK) {
        code = cli_fail(cli, status);
    } else {
        json_t *const document = cli_document(cli, "calibrate", 1);
        cli_calibration_put(cli, document, &job);
        json_object_set_new(document, "output", cli_string(folder));
        if (cli_wants_text(cli))
            cli_calibration_print(&job, folder);
        code = cli_emit(cli, document, NULL, CLI_GOOD);
    }
    cli_calibration_free(&job);
    return code;
}

static int run(struct cli *cli)
{
    if (cli_given(cli, "each-rank") && cli_job_ranks(cli) > 1)
        return cli_calibrate_ranks(cli);
    return cli_job_rank(cli) == 0 ? run_first(cli) : CLI_GOOD;
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
    .job = CLI_JOB_ALL,
};
