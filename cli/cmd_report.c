/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage report: samples, profiles, audits and benchmark results as one page, and the figures as files.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/fit.h>
#include <xstage/report.h>

#include "data_dir.h"
#include "facts.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {
    {.name = "profile",
     .letter = 'p',
     .kind = CLI_PROFILE,
     .arg = "PROFILE",
     .help = "machine profile, a name or a file; may be repeated; default: fitted from the samples"},
    {.name = "audit", .kind = CLI_FILE, .arg = "FILE", .help = "document of `xstage audit --json`; may be repeated"},
    {.name = "bench", .kind = CLI_FILE, .arg = "FILE", .help = "document of `xstage bench --json`; may be repeated"},
    {.name = "facts",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help =
         "machine facts (JSON) for the fit; default: the file beside the samples whose name is theirs, cut at a '-'"},
    {.name = "svg", .kind = CLI_FILE, .arg = "DIR", .help = "write every figure into this folder as an SVG file"},
    {.name = "title", .kind = CLI_TEXT, .arg = "TEXT", .help = "title of the page; default: the names of the profiles"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage report data/h200x2-bursts.csv data/h200x2-rows.csv -o page.html",
     "The recorded H200 pair: fitted, drawn and validated on one page."},
    {"xstage report data/h200x2-bursts.csv data/h200-host-bursts.csv -p h200x2-nvlink -p h200-host --audit flux.json "
     "-o page.html",
     "Two stored profiles with their rows, and an audit."},
    {"xstage report data/h200x2-bursts.csv -p h200x2-nvlink --svg figures", "The figures alone."},
    {NULL, NULL},
};

static const char about[] =
    "Makes one HTML page that needs nothing else: it opens offline, follows the system's light or dark colours, and "
    "prints "
    "with static figures. Points are measured rows, lines are the model. The same input gives the same page.\n\n"
    "Without --profile the samples are fitted first. Without samples the page shows the profile and the model's lines.";

/* Everything the command holds. */
struct job {
    struct xst_samples samples;
    struct xst_machine_facts facts;
    struct xst_profile profiles[CLI_MOST_REPEATS];
    struct xst_validation validations[CLI_MOST_REPEATS];
    struct xst_report_section sections[CLI_MOST_REPEATS];
    size_t section_count;
    struct xst_fit fit; /* of the first profile, when it was fitted here */
    struct xst_report_document documents[2 * CLI_MOST_REPEATS];
    size_t document_count;
};

/* The report reads them itself. */
static void add_documents(const struct cli *cli, struct job *job, const char *option)
{
    const char *name;
    for (int i = 0; (name = cli_text_at(cli, option, i)); i++)
        job->documents[job->document_count++] = (struct xst_report_document){name, NULL, 0};
}

static enum xst_status fit(struct cli *cli, struct job *job)
{
    char stem[XST_NAME_BYTES] = "";
    enum xst_status status =
        cli_facts_read(cli, cli_text(cli, "facts"), cli->args, (size_t)cli->arg_count, &job->facts);
    (void)cli_stem(cli->args[0], stem, sizeof stem);
    const struct xst_fit_options fit_options = {&job->facts, stem};
    if (status == XST_OK)
        status = xst_profile_fit(&job->samples, &fit_options, &job->profiles[0], &job->fit, &cli->diag);
    if (status == XST_ERR_NO_DATA)
        cli_hint(cli, "--profile names a fitted machine to show the rows against");
    if (status == XST_OK)
        job->section_count = 1;
    return status;
}

static enum xst_status read_profiles(struct cli *cli, struct job *job)
{
    const char *name;
    for (int i = 0; (name = cli_text_at(cli, "profile", i)); i++) {
        const enum xst_status status = cli_profile_read(cli, name, &job->profiles[i]);
        if (status != XST_OK)
            return status;
        job->section_count++;
    }
    return job->section_count == 0 && cli->arg_count > 0 ? fit(cli, job) : XST_OK;
}

static enum xst_status make_sections(struct cli *cli, struct job *job)
{
    const int has_rows = job->samples.row_count > 0;
    for (size_t i = 0; i < job->section_count; i++) {
        const struct xst_fit *const fitted = i == 0 && job->fit.used ? &job->fit : NULL;
        if (has_rows) {
            const enum xst_status status =
                xst_validation_run(&job->profiles[i], &job->samples, fitted, &job->validations[i], &cli->diag);
            if (status != XST_OK)
                return status;
        }
        job->sections[i] = (struct xst_report_section){&job->profiles[i], has_rows ? &job->samples : NULL, fitted,
                                                       has_rows ? &job->validations[i] : NULL};
    }
    return XST_OK;
}

static enum xst_status check_usage(struct cli *cli)
{
    static const char *const repeated[] = {"profile", "audit", "bench"};
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++)
        if (cli_given(cli, repeated[i]) > CLI_MOST_REPEATS)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is given %d times, at most %d are possible", repeated[i],
                           cli_given(cli, repeated[i]), CLI_MOST_REPEATS);
    if (cli->arg_count == 0 && !cli_given(cli, "profile") && !cli_given(cli, "audit") && !cli_given(cli, "bench")) {
        cli_hint(cli, "for example: xstage report --profile h200x2-nvlink -o page.html");
        return cli_say(&cli->diag, XST_ERR_USAGE,
                       "nothing to report: samples, --profile, --audit or --bench is needed");
    }
    if (!cli_given(cli, "output") && !cli_given(cli, "svg"))
        return cli_say(&cli->diag, XST_ERR_USAGE, "-o PAGE or --svg DIR is needed");
    if (cli_given(cli, "facts") && cli_given(cli, "profile"))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--facts is for the fit, and --profile leaves nothing to fit");
    return cli_check_outputs(cli, 0);
}

static enum xst_status write_all(struct cli *cli, const struct job *job, size_t audits, size_t *figures_out)
{
    const struct xst_report_input input = {cli_text(cli, "title"),
                                           job->sections,
                                           job->section_count,
                                           job->documents,
                                           audits,
                                           job->documents + audits,
                                           job->document_count - audits};
    const char *const page = cli_text(cli, "output"), *const folder = cli_text(cli, "svg");
    enum xst_status status = XST_OK;
    if (page)
        status = xst_report_write(page, &input, cli->force, &cli->diag);
    if (status == XST_OK && page && strcmp(page, "-") != 0)
        cli_note(cli, "page written to %s", page);
    if (status == XST_OK && folder)
        status = xst_report_write_svgs(folder, &input, cli->force, figures_out, &cli->diag);
    if (status == XST_OK && folder)
        cli_note(cli, "%zu figures written to %s", *figures_out, folder);
    return status;
}

static json_t *document_of(const struct cli *cli, const struct job *job, size_t figures)
{
    json_t *const document = cli_document(cli, "report", 1), *const profiles = json_array();
    for (size_t i = 0; i < job->section_count; i++)
        json_array_append_new(profiles, json_string(job->profiles[i].id));
    json_object_set_new(document, "profiles", profiles);
    json_object_set_new(document, "rows", json_integer((json_int_t)job->samples.row_count));
    json_object_set_new(document, "page", cli_string(cli_text(cli, "output")));
    json_object_set_new(document, "svg", cli_string(cli_text(cli, "svg")));
    json_object_set_new(document, "figures", cli_given(cli, "svg") ? json_integer((json_int_t)figures) : json_null());
    return document;
}

static void job_free(struct job *job)
{
    for (size_t i = 0; i < CLI_MOST_REPEATS; i++) {
        xst_validation_free(&job->validations[i]);
        xst_profile_free(&job->profiles[i]);
    }
    if (job->fit.used)
        xst_fit_free(&job->fit);
    xst_samples_free(&job->samples);
    free(job);
}

static int run(struct cli *cli)
{
    struct job *const job = calloc(1, sizeof *job);
    if (!job)
        return cli_complain(cli, XST_ERR_MEMORY, "out of memory");
    size_t figures = 0;
    enum xst_status status = check_usage(cli);
    for (int i = 0; i < cli->arg_count && status == XST_OK; i++)
        status = xst_samples_read(cli->args[i], &job->samples, &cli->diag);
    if (status == XST_OK)
        status = read_profiles(cli, job);
    if (status == XST_OK)
        status = make_sections(cli, job);
    add_documents(cli, job, "audit");
    const size_t audits = job->document_count;
    add_documents(cli, job, "bench");
    if (status == XST_OK)
        status = write_all(cli, job, audits, &figures);
    const int code =
        status == XST_OK ? cli_emit(cli, document_of(cli, job, figures), NULL, CLI_GOOD) : cli_fail(cli, status);
    job_free(job);
    return code;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .group = CLI_GROUP_SHOW,
    .purpose = "One self-contained HTML page, and SVG figures, from samples, profiles, audits and benchmark results",
    .needs = "no GPU",
    .usage = "[SAMPLES...] [--profile PROFILE] [--audit FILE] [--bench FILE] -o PAGE [--svg DIR]",
    .least_args = 0,
    .most_args = -1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
};
