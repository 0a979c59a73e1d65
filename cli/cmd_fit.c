/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage fit: samples to a profile, and the laws judged on the samples.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/fit.h>

#include "data_dir.h"
#include "dispersion.h"
#include "facts.h"
#include "fit_rows.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {
    {.name = "facts",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help = "machine facts (JSON); default: the file beside the samples whose name is theirs, cut at a '-'"},
    {.name = "name", .kind = CLI_TEXT, .arg = "NAME", .help = "name of the profile; default: that of the output file"},
    {.name = "validate",
     .kind = CLI_FLAG,
     .help = "judge every law, and the rival, on every row; with --profile without fitting"},
    {.name = "dispersion",
     .kind = CLI_FLAG,
     .help =
         "also fit how unequal the producers' shares are, on half of the free-running rows of each default path (seconds; "
         "--seed chooses the half)"},
    {.name = "excluded", .kind = CLI_FLAG, .help = "list every row that served no parameter, with the reason"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage fit data/h200x2-bursts.csv data/h200x2-rows.csv -o my.json",
     "The NVLink path of the recorded H200 pair, with machine facts from data/h200x2.json."},
    {"xstage fit --validate data/h200-host-bursts.csv --profile h200-host",
     "How far a stored profile is from recorded rows."},
    {"xstage fit data/h200x2-bursts.csv data/h200x2-rows.csv --dispersion --validate",
     "The fluid with fitted shares beside the laws, judged on rows that served no parameter."},
    {"xstage fit data/h200-host-bursts.csv --excluded", "What became of every row; nothing is written."},
    {NULL, NULL},
};

static const char about[] =
    "Reads every parameter off the rows that identify it alone: T0 from the large-gap plateau, R from total bytes "
    "over total time of saturated zero-gap rows, Q from isolated bursts just above the knee. A row that serves "
    "none is listed with its reason; what the rows cannot identify stays null. The same rows give the same bytes.\n\n"
    "SAMPLES are CSV files of burst rows or bystander rows; '-' is standard input.";

/* Everything the command holds. */
struct job {
    struct xst_samples samples;
    struct xst_machine_facts facts;
    struct xst_profile profile;
    struct xst_fit fit;
    int fitted;
    struct xst_validation validation;
    int validated;
};

static enum xst_status read_samples(struct cli *cli, struct job *job)
{
    for (int i = 0; i < cli->arg_count; i++) {
        const enum xst_status status = xst_samples_read(cli->args[i], &job->samples, &cli->diag);
        if (status != XST_OK)
            return status;
    }
    return XST_OK;
}

static enum xst_status fit(struct cli *cli, struct job *job)
{
    char stem[XST_NAME_BYTES] = "";
    const char *const output = cli_text(cli, "output");
    const char *name = cli_text(cli, "name");
    if (!name && output && strcmp(output, "-") != 0 && cli_stem(output, stem, sizeof stem) == 0)
        name = stem;
    if (name && strlen(name) >= XST_NAME_BYTES)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--name: more than %d bytes", XST_NAME_BYTES - 1);
    enum xst_status status =
        cli_facts_read(cli, cli_text(cli, "facts"), cli->args, (size_t)cli->arg_count, &job->facts);
    const struct xst_fit_options fit_options = {&job->facts, name};
    if (status == XST_OK)
        status = xst_profile_fit(&job->samples, &fit_options, &job->profile, &job->fit, &cli->diag);
    if (status == XST_OK && cli_given(cli, "dispersion"))
        status = cli_dispersion_fit(cli, &job->samples, &job->profile, &job->fit);
    if (status == XST_OK)
        status = xst_profile_seal(&job->profile, &cli->diag);
    job->fitted = status == XST_OK;
    return status;
}

static enum xst_status judge(struct cli *cli, struct job *job)
{
    const enum xst_status status =
        cli_validate(cli, &job->profile, &job->samples, job->fitted ? &job->fit : NULL, &job->validation);
    job->validated = status == XST_OK;
    return status;
}

static enum xst_status write_profile(struct cli *cli, struct job *job)
{
    const char *const output = cli_text(cli, "output");
    if (!output) {
        cli_note(cli, "nothing written; -o FILE keeps the profile");
        return XST_OK;
    }
    const enum xst_status status = xst_profile_write(output, &job->profile, cli->force, &cli->diag);
    if (status == XST_OK && strcmp(output, "-") != 0)
        cli_note(cli, "profile %s written to %s", job->profile.id, output);
    return status;
}

static json_t *profile_json(const struct xst_profile *profile, struct xst_diag *diag)
{
    char *text = NULL;
    if (xst_profile_print(profile, &text, diag) != XST_OK)
        return json_null();
    json_t *const object = json_loads(text, 0, NULL);
    free(text);
    return object ? object : json_null();
}

static json_t *document_of(struct cli *cli, const struct job *job)
{
    json_t *const document = cli_document(cli, "fit", 1);
    json_object_set_new(document, "profile", profile_json(&job->profile, &cli->diag));
    json_object_set_new(document, "fit",
                        job->fitted ? cli_fit_json(&job->samples, &job->profile, &job->fit, cli_given(cli, "excluded"))
                                    : json_null());
    const struct cli_table rows = cli_validation_table(&job->validation);
    json_object_set_new(document, "validation", job->validated ? cli_table_json(&rows) : json_null());
    json_object_set_new(document, "unmatched_rows",
                        job->validated ? json_integer(job->validation.unmatched_rows) : json_null());
    return document;
}

static void print(const struct cli *cli, const struct job *job)
{
    if (job->fitted)
        cli_fit_print(cli, &job->profile, &job->samples, &job->fit);
    if (job->fitted && cli_given(cli, "excluded"))
        cli_fit_print_excluded(cli, &job->profile, &job->samples, &job->fit);
    if (!job->fitted)
        printf("Profile %s (id %s) on %zu burst rows\n", job->profile.name, job->profile.id, job->samples.row_count);
    if (job->validated)
        cli_validation_print(cli, &job->validation);
}

static enum xst_status check_usage(struct cli *cli)
{
    const int validate = cli_given(cli, "validate"), judge_only = cli_given(cli, "profile") != 0;
    if (judge_only && !validate)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--profile is for --validate; a fit makes its own profile (-o FILE)");
    if (judge_only && (cli_given(cli, "output") || cli_given(cli, "excluded") || cli_given(cli, "facts") ||
                       cli_given(cli, "dispersion")))
        return cli_say(
            &cli->diag, XST_ERR_USAGE,
            "--validate with --profile fits nothing, so --output, --excluded, --facts and --dispersion do not go "
            "with it");
    if (cli_given(cli, "csv") && !validate)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--csv writes validation rows: add --validate");
    return cli_check_outputs(cli, 1);
}

static int run(struct cli *cli)
{
    struct job job = {0};
    enum xst_status status = check_usage(cli);
    if (status == XST_OK)
        status = read_samples(cli, &job);
    if (status == XST_OK)
        status =
            cli_given(cli, "profile") ? cli_profile_read(cli, cli_text(cli, "profile"), &job.profile) : fit(cli, &job);
    if (status == XST_OK && cli_given(cli, "validate"))
        status = judge(cli, &job);
    if (status == XST_OK && job.fitted)
        status = write_profile(cli, &job);
    int code = CLI_GOOD;
    if (status != XST_OK) {
        code = cli_fail(cli, status);
    } else {
        const char *const output = cli_text(cli, "output");
        const struct cli_table rows = cli_validation_table(&job.validation);
        if (cli_wants_text(cli) && !(output && strcmp(output, "-") == 0))
            print(cli, &job);
        code = cli_emit(cli, document_of(cli, &job), job.validated ? &rows : NULL, CLI_GOOD);
    }
    xst_validation_free(&job.validation);
    if (job.fitted)
        xst_fit_free(&job.fit);
    xst_profile_free(&job.profile);
    xst_samples_free(&job.samples);
    return code;
}

const struct cli_command cli_command_fit = {
    .name = "fit",
    .group = CLI_GROUP_MEASURE,
    .purpose = "Samples to a machine profile with intervals and valid range; --validate judges the laws on the samples",
    .needs = "no GPU",
    .usage = "SAMPLES... [-o PROFILE] [OPTIONS]",
    .least_args = 1,
    .most_args = -1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
};
