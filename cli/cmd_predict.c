/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage predict: every law and the rivals, for one burst shape or a sweep of them.
 *
 * Points are predicted in pieces, so that a sweep of millions goes to CSV or JSON in constant memory.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>

#include "data_dir.h"
#include "options.h"
#include "output.h"
#include "predict_rows.h"

enum { PIECE = 4096, MOST_TABLE_ROWS = 10000 };

static const struct cli_option options[] = {
    {.name = "producers",
     .letter = 'K',
     .kind = CLI_SWEEP_INT,
     .arg = "K",
     .low = 1,
     .high = 1e9,
     .help = "concurrent issuers (CTAs)"},
    {.name = "bytes",
     .letter = 'B',
     .kind = CLI_SWEEP_INT,
     .arg = "BYTES",
     .low = 1,
     .high = 1e12,
     .help = "bytes one producer writes in one burst; K, M, G are binary"},
    {.name = "gap-us",
     .letter = 'G',
     .kind = CLI_SWEEP,
     .arg = "US",
     .low = 0,
     .high = 1e9,
     .fallback = "0",
     .help = "useful time between the end of one issue and the start of the next"},
    CLI_PATH_OPTIONS,
    {.name = "loop-us",
     .kind = CLI_REAL,
     .arg = "US",
     .low = 0,
     .high = 1e9,
     .fallback = "0",
     .help = "fixed time per period that is neither issue nor gap, added to every gap before the laws are applied"},
    {.name = "extrapolate",
     .letter = 'x',
     .kind = CLI_FLAG,
     .help = "answer outside the profile's range too, and mark what was read there"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage predict -K 132 -B 32K -G 0..12:1",
     "Issue and period of 132 producers that each write 32 KiB, over the gap: where does the stall end?"},
    {"xstage predict -K 132 -B 1K..64K:x2 -G 5 --method bulk -v", "Bulk stores, all columns with the rivals."},
    {"xstage predict -K 1..132 -B 16K -G 0..50:0.5 --profile h200-host --csv", "A sweep as CSV on the host path."},
    {NULL, NULL},
};

static const char about[] =
    "Applies the laws of docs/model.md to the chosen path of a profile. A value the profile cannot give is '-' "
    "(null in JSON, empty in CSV) and the reason is printed; --extrapolate answers outside the range in which the "
    "profile was fitted.\n\n"
    "Sweeps are written 1,2,4 or 0..10:0.5 or 1K..64K:x2 and lists of those. -o FILE writes the rows as CSV (as "
    "JSON with --json) to FILE instead.";

/* The sweep, and where it is. */
struct job {
    struct cli *cli;
    const struct xst_profile *profile;
    const struct xst_path *path;
    const struct cli_sweep *producers;
    const struct cli_sweep *bytes;
    const struct cli_sweep *gaps;
    size_t points;
    double loop_us;
    int extrapolate;
    struct cli_column columns[CLI_PREDICT_COLUMNS];
    struct xst_timing *rows; /* one piece */
};

/* Predicts points [from, from + count) into job->rows, gap fastest. */
static enum xst_status predict_piece(struct job *job, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t point = from + i, g = point % job->gaps->count, rest = point / job->gaps->count;
        const struct xst_burst burst = {job->producers->values[rest / job->bytes->count],
                                        job->bytes->values[rest % job->bytes->count],
                                        job->gaps->values[g] + job->loop_us};
        struct xst_timing *const timing = &job->rows[i];
        const enum xst_status status = xst_timing_predict(job->path, &burst, job->extrapolate, timing, &job->cli->diag);
        if (status != XST_OK)
            return status;
        timing->gap_us = job->gaps->values[g];
    }
    return XST_OK;
}

static struct cli_table table_of(const struct job *job, size_t count)
{
    return (struct cli_table){job->columns, CLI_PREDICT_COLUMNS, job->rows, count, sizeof *job->rows};
}

static json_t *head(const struct job *job)
{
    char text[96];
    json_t *const document = cli_document(job->cli, "predict", 1);
    json_object_set_new(document, "profile",
                        json_pack("{s:s, s:s}", "name", job->profile->name, "id", job->profile->id));
    json_object_set_new(document, "path", json_string(xst_path_text(job->path, text, sizeof text)));
    json_object_set_new(document, "drain_bytes_per_us",
                        job->path->drain_bytes_per_us.known ? json_real(job->path->drain_bytes_per_us.value)
                                                            : json_null());
    json_object_set_new(document, "loop_us", json_real(job->loop_us));
    json_object_set_new(document, "extrapolate", json_boolean(job->extrapolate));
    return document;
}

/* The whole sweep as CSV or JSON, piece by piece. */
static enum xst_status stream(struct job *job, FILE *out, int json)
{
    if (json) {
        json_t *const document = head(job);
        char *const text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        json_decref(document);
        if (!text)
            return cli_say(&job->cli->diag, XST_ERR_MEMORY, "out of memory");
        fprintf(out, "%.*s,\n \"rows\": [", (int)(strlen(text) - 2), text); /* without its "\n}" */
        free(text);
    }
    for (size_t at = 0; at < job->points && !ferror(out); at += PIECE) {
        const size_t count = job->points - at < PIECE ? job->points - at : PIECE;
        const enum xst_status status = predict_piece(job, at, count);
        if (status != XST_OK)
            return status;
        const struct cli_table table = table_of(job, count);
        if (!json && at == 0)
            cli_csv_header(out, &table);
        if (json)
            cli_json_rows(out, &table, at == 0);
        else
            cli_csv_rows(out, &table);
    }
    if (json)
        fputs("\n ]\n}\n", out);
    return XST_OK;
}

/* To a file whole or not at all; standard output, NULL, directly. */
static enum xst_status stream_to(struct job *job, const char *path, int json)
{
    if (!path || strcmp(path, "-") == 0)
        return stream(job, stdout, json);
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    if (!out)
        return cli_say(&job->cli->diag, XST_ERR_MEMORY, "out of memory");
    enum xst_status status = stream(job, out, json);
    const int bad = ferror(out);
    if ((fclose(out) != 0 || bad) && status == XST_OK)
        status = cli_say(&job->cli->diag, XST_ERR_MEMORY, "out of memory for %zu rows; write them to standard output",
                         job->points);
    if (status == XST_OK)
        status = cli_write(job->cli, path, text, bytes);
    free(text);
    return status;
}

/* Which path, with what parameters: the line above the table. */
static void print_path(const struct job *job)
{
    const struct xst_path *const path = job->path;
    char text[96], rate[32], low[32], high[32];
    printf("%s on %s: ", xst_path_text(path, text, sizeof text), job->profile->name);
    if (path->drain_bytes_per_us.known)
        printf("R = %s, ", cli_show_number(path->drain_bytes_per_us.value, CLI_SHOW_RATE, rate, sizeof rate));
    cli_show_number((double)path->valid.bytes_low, CLI_SHOW_BYTES, low, sizeof low);
    cli_show_number((double)path->valid.bytes_high, CLI_SHOW_BYTES, high, sizeof high);
    printf("valid for %lld..%lld producers, %s..%s each\n\n", (long long)path->valid.producers_low,
           (long long)path->valid.producers_high, low, high);
}

/* Why cells are empty, each reason once with the number of rows. */
static void print_reasons(const struct job *job, size_t count)
{
    size_t seen[8] = {0};
    for (size_t i = 0; i < count; i++) {
        if (job->rows[i].reason != XST_REASON_NONE && job->rows[i].reason < 8)
            seen[job->rows[i].reason]++;
    }
    for (int reason = 0; reason < 8; reason++) {
        if (seen[reason])
            printf("-: %s (%zu of %zu rows)%s\n", xst_reason_sentence((enum xst_reason)reason), seen[reason], count,
                   job->extrapolate ? "" : "; --extrapolate may answer");
    }
}

static enum xst_status print_table(struct job *job)
{
    if (job->points > MOST_TABLE_ROWS)
        return cli_say(&job->cli->diag, XST_ERR_USAGE,
                       "%zu rows are too many for a table (at most %d); use --csv or --json", job->points,
                       MOST_TABLE_ROWS);
    const enum xst_status status = predict_piece(job, 0, job->points);
    if (status != XST_OK)
        return status;
    const struct cli_table table = table_of(job, job->points);
    print_path(job);
    cli_table_print(job->cli, stdout, &table);
    print_reasons(job, job->points);
    return XST_OK;
}

/* What the flags ask for: rows to standard output or -o, beside a table or instead of it. */
static enum xst_status produce(struct job *job)
{
    struct cli *const cli = job->cli;
    const char *const output = cli_text(cli, "output");
    const int bare_json = cli_given(cli, "json") && !cli_text(cli, "json");
    const int bare_csv = cli_given(cli, "csv") && !cli_text(cli, "csv");
    enum xst_status status = XST_OK;
    if (output || bare_json || bare_csv)
        status = stream_to(job, output, bare_json);
    else
        status = print_table(job);
    if (status == XST_OK && cli_text(cli, "json"))
        status = stream_to(job, cli_text(cli, "json"), 1);
    if (status == XST_OK && cli_text(cli, "csv"))
        status = stream_to(job, cli_text(cli, "csv"), 0);
    if (status == XST_OK && output)
        cli_note(cli, "%zu rows written to %s", job->points, output);
    return status;
}

static enum xst_status prepare(struct job *job)
{
    struct cli *const cli = job->cli;
    job->producers = cli_sweep_of(cli, "producers");
    job->bytes = cli_sweep_of(cli, "bytes");
    job->gaps = cli_sweep_of(cli, "gap-us");
    job->loop_us = cli_real(cli, "loop-us");
    job->extrapolate = cli_given(cli, "extrapolate");
    if (!job->producers->count || !job->bytes->count) {
        cli_hint(cli, "for example: xstage predict --producers 132 --bytes 32K --gap-us 0..12:1");
        return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", job->producers->count ? "bytes" : "producers");
    }
    const double points = (double)job->producers->count * (double)job->bytes->count * (double)job->gaps->count;
    if (points > CLI_SWEEP_MOST)
        return cli_say(&cli->diag, XST_ERR_USAGE, "the sweeps make %.0f points, more than %d", points, CLI_SWEEP_MOST);
    job->points = (size_t)points;
    const size_t room = job->points < MOST_TABLE_ROWS ? job->points : MOST_TABLE_ROWS;
    job->rows = calloc(room < PIECE ? PIECE : room, sizeof *job->rows);
    return job->rows ? XST_OK : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
}

static int run(struct cli *cli)
{
    struct xst_profile profile = {0};
    struct job job = {.cli = cli, .profile = &profile};
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK)
        status = prepare(&job);
    if (status == XST_OK)
        status = cli_profile_load(cli, &profile);
    if (status == XST_OK)
        status = cli_profile_pick(cli, &profile, &job.path);
    if (status == XST_OK)
        cli_predict_columns(job.columns, job.path->release_floor.count > 0, job.extrapolate);
    if (status == XST_OK)
        status = produce(&job);
    free(job.rows);
    xst_profile_free(&profile);
    return status == XST_OK ? CLI_GOOD : cli_fail(cli, status);
}

const struct cli_command cli_command_predict = {
    .name = "predict",
    .group = CLI_GROUP_PREDICT,
    .purpose = "Issue, period, recovery gap and margins of a burst shape, with the rival models beside them",
    .needs = "no GPU",
    .usage = "--producers K --bytes BYTES [--gap-us US] [OPTIONS]",
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
};
