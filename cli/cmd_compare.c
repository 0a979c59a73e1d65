/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage compare: what moved between two profiles or two benchmark records, and whether it got worse.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/compare.h>

#include "compare_bench.h"
#include "compare_rates.h"
#include "data_dir.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {
    {.name = "with",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help = "hold R against another tool's rates instead: the JSON of nvbandwidth (-j) or nccl-tests (-J)"},
    {.name = "noise",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .help = "noise of everything, as a fraction; the four below say it per kind"},
    {.name = "noise-drain-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .fallback = "0.015",
     .help = "noise of R"},
    {.name = "noise-floor-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .fallback = "0.05",
     .help = "noise of T0, of the fence and of the loop time"},
    {.name = "noise-capacity-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .fallback = "0.05",
     .help = "noise of Q and Q_free"},
    {.name = "noise-time-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .fallback = "0.03",
     .help = "benchmark records: noise of a time"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage compare h200x2-nvlink new.json", "Did the link get slower? Exit code 1 when it did, beyond the noise."},
    {"xstage compare before.json after.json --noise 0.1 -v", "Every parameter, with a tenth of noise allowed."},
    {"xstage compare bench/results/old.json new.json", "Two benchmark records, cell by cell: did a kernel get slower?"},
    {"xstage compare h200x2-nvlink --with nvbandwidth.json", "How far the drain rate is from the copy engine's rate."},
    {NULL, NULL},
};

static const char about[] =
    "Compares every parameter of every path: R, T0 and Q with their release forms, fence, loop time and Q_free. "
    "The noise is a fraction per kind of parameter plus what both intervals cover. A lower R or Q, or a longer T0, "
    "fence or loop, beyond the noise is a regression: exit code 1. The table shows what moved; -v shows "
    "everything.\n\n"
    "Two records of xstage bench are compared by median_us of the cells they share (same variant, same shape); a time that "
    "grew by more than the noise and than the spread of both records' rounds is a regression.";

struct row {
    struct xst_comparison_row comparison;
    char path[96];
};

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct xst_comparison_row *const r = &((const struct row *)row)->comparison;                             \
        return expression;                                                                                             \
    }
GETTER(target, cli_text_cell(xst_target_text(r->path.target)))
GETTER(direction, cli_text_cell(xst_direction_text(r->path.direction)))
GETTER(method, cli_text_cell(xst_method_text(r->path.method)))
GETTER(threads, cli_int_cell(r->path.threads))
GETTER(piece_bytes, cli_int_cell(r->path.piece_bytes))
GETTER(pitch_bytes, cli_int_cell(r->path.pitch_bytes))
GETTER(parameter, cli_text_cell(r->parameter))
GETTER(producers, r->producers ? cli_int_cell(r->producers) : cli_null())
GETTER(bytes, r->bytes_per_producer ? cli_int_cell(r->bytes_per_producer) : cli_null())
GETTER(before, r->before_known ? cli_real_cell(r->before) : cli_null())
GETTER(after, r->after_known ? cli_real_cell(r->after) : cli_null())
GETTER(change, r->before_known && r->after_known ? cli_real_cell(r->change_frac) : cli_null())
GETTER(noise, r->before_known && r->after_known ? cli_real_cell(r->noise_frac) : cli_null())
GETTER(verdict, cli_text_cell(xst_moved_text(r->moved)))
#undef GETTER

static struct cli_cell get_path(const void *row)
{
    return cli_text_cell(((const struct row *)row)->path);
}

static const struct cli_column columns[] = {
    {"path", NULL, CLI_SHOW_PLAIN, 0, get_path},
    {"target", NULL, CLI_SHOW_PLAIN, 1, get_target},
    {"direction", NULL, CLI_SHOW_PLAIN, 1, get_direction},
    {"method", NULL, CLI_SHOW_PLAIN, 1, get_method},
    {"threads", NULL, CLI_SHOW_PLAIN, 1, get_threads},
    {"piece_bytes", NULL, CLI_SHOW_PLAIN, 1, get_piece_bytes},
    {"pitch_bytes", NULL, CLI_SHOW_PLAIN, 1, get_pitch_bytes},
    {"parameter", NULL, CLI_SHOW_PLAIN, 0, get_parameter},
    {"producers", NULL, CLI_SHOW_PLAIN, 0, get_producers},
    {"bytes_per_producer", "bytes", CLI_SHOW_BYTES, 0, get_bytes},
    {"before", NULL, CLI_SHOW_PLAIN, 0, get_before},
    {"after", NULL, CLI_SHOW_PLAIN, 0, get_after},
    {"change_frac", "change", CLI_SHOW_PERCENT, 0, get_change},
    {"noise_frac", "noise", CLI_SHOW_PERCENT, 0, get_noise},
    {"verdict", NULL, CLI_SHOW_PLAIN, 0, get_verdict},
};

static struct cli_table table_of(const struct row *rows, size_t count)
{
    return (struct cli_table){columns, sizeof columns / sizeof *columns, rows, count, sizeof *rows};
}

/* Everything the command holds. */
struct job {
    struct xst_profile before;
    struct xst_profile after;
    struct xst_comparison comparison;
    struct row *rows;
};

static struct xst_compare_options noise_options(const struct cli *cli)
{
    struct xst_compare_options noise = {cli_real(cli, "noise-drain-frac"), cli_real(cli, "noise-floor-frac"),
                                        cli_real(cli, "noise-capacity-frac")};
    if (cli_has(cli, "noise")) {
        const double all = cli_real(cli, "noise");
        noise.noise_drain_frac = cli_given(cli, "noise-drain-frac") ? noise.noise_drain_frac : all;
        noise.noise_floor_frac = cli_given(cli, "noise-floor-frac") ? noise.noise_floor_frac : all;
        noise.noise_capacity_frac = cli_given(cli, "noise-capacity-frac") ? noise.noise_capacity_frac : all;
    }
    return noise;
}

static enum xst_status fill_rows(struct cli *cli, struct job *job)
{
    job->rows = calloc(job->comparison.row_count + 1, sizeof *job->rows);
    if (!job->rows)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < job->comparison.row_count; i++) {
        struct row *const row = &job->rows[i];
        row->comparison = job->comparison.rows[i];
        const struct xst_path_key *const key = &row->comparison.path;
        const struct xst_path path = {.target = key->target,
                                      .direction = key->direction,
                                      .method = key->method,
                                      .threads = key->threads,
                                      .piece_bytes = key->piece_bytes,
                                      .pitch_bytes = key->pitch_bytes};
        xst_path_text(&path, row->path, sizeof row->path);
    }
    return XST_OK;
}

/* Parameters known on both sides. Without any there is no verdict. */
static int64_t in_common(const struct xst_comparison *comparison)
{
    return comparison->worse + comparison->better + comparison->same;
}

static void print_profile(const char *label, const struct xst_profile *profile)
{
    const struct xst_machine_facts *const machine = &profile->machine;
    printf("%-7s %s (id %s): %s%s%s\n", label, profile->name[0] ? profile->name : "-", profile->id,
           machine->machine[0] ? machine->machine : "no machine facts", machine->date[0] ? ", " : "", machine->date);
}

static enum xst_status print(struct cli *cli, const struct job *job)
{
    const struct xst_comparison *const comparison = &job->comparison;
    struct row *const shown = calloc(comparison->row_count + 1, sizeof *shown);
    size_t count = 0;
    if (!shown)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct xst_comparison_row *const row = &comparison->rows[i];
        const int moved = row->moved == XST_MOVED_WORSE || row->moved == XST_MOVED_BETTER;
        if (cli->verbose || moved || strcmp(row->parameter, "drain_bytes_per_us") == 0)
            shown[count++] = job->rows[i];
    }
    print_profile("before", &job->before);
    print_profile("after", &job->after);
    if (!comparison->same_machine)
        printf("These are different machines: a change says nothing of either one's health.\n");
    printf("\n");
    const struct cli_table table = table_of(shown, count);
    if (count)
        cli_table_print(cli, stdout, &table);
    free(shown);
    printf("\n%lld worse, %lld better, %lld within the noise", (long long)comparison->worse,
           (long long)comparison->better, (long long)comparison->same);
    if (comparison->removed || comparison->added)
        printf("; %lld known before only, %lld known after only", (long long)comparison->removed,
               (long long)comparison->added);
    printf("%s\n", cli->verbose ? "" : " (-v shows every parameter)");
    if (!in_common(comparison))
        return XST_OK;
    printf("%s%s%s\n", comparison->worse ? cli_bad(stdout) : cli_good(stdout),
           comparison->worse ? "regression" : "no regression", cli_plain(stdout));
    return XST_OK;
}

static json_t *profile_json(const struct xst_profile *profile)
{
    json_t *const object = json_object();
    json_object_set_new(object, "name", cli_string(profile->name));
    json_object_set_new(object, "id", json_string(profile->id));
    json_object_set_new(object, "machine", cli_string(profile->machine.machine));
    json_object_set_new(object, "device", cli_string(profile->machine.device));
    json_object_set_new(object, "date", cli_string(profile->machine.date));
    return object;
}

static json_t *document_of(const struct cli *cli, const struct job *job)
{
    const struct xst_comparison *const comparison = &job->comparison;
    const struct xst_compare_options noise = noise_options(cli);
    const struct cli_table table = table_of(job->rows, comparison->row_count);
    json_t *const document = cli_document(cli, "compare", 1);
    json_object_set_new(document, "kind", json_string("profile"));
    json_object_set_new(document, "before", profile_json(&job->before));
    json_object_set_new(document, "after", profile_json(&job->after));
    json_object_set_new(document, "same_machine", json_boolean(comparison->same_machine));
    json_object_set_new(document, "noise",
                        json_pack("{s:f, s:f, s:f}", "drain_frac", noise.noise_drain_frac, "floor_frac",
                                  noise.noise_floor_frac, "capacity_frac", noise.noise_capacity_frac));
    json_object_set_new(document, "regression",
                        in_common(comparison) ? json_boolean(comparison->worse > 0) : json_null());
    json_object_set_new(document, "counts",
                        json_pack("{s:I, s:I, s:I, s:I, s:I}", "worse", (json_int_t)comparison->worse, "better",
                                  (json_int_t)comparison->better, "same", (json_int_t)comparison->same, "removed",
                                  (json_int_t)comparison->removed, "added", (json_int_t)comparison->added));
    json_object_set_new(document, "rows", cli_table_json(&table));
    return document;
}

static int run(struct cli *cli)
{
    struct job job = {0};
    const char *const with = cli_text(cli, "with");
    if ((with != NULL) != (cli->arg_count == 1))
        return cli_complain(cli, XST_ERR_USAGE,
                            with ? "--with takes one profile, not two"
                                 : "two profiles are needed, or one and --with FILE");
    const struct xst_compare_options noise = noise_options(cli);
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK && with)
        return cli_compare_rates(cli, cli->args[0], with);
    if (status == XST_OK && (xst_bench_is_record(cli->args[0]) || xst_bench_is_record(cli->args[1])))
        return cli_compare_bench(cli, cli->args[0], cli->args[1]);
    if (status == XST_OK && cli_given(cli, "profile"))
        status = cli_say(&cli->diag, XST_ERR_USAGE, "--profile: the two profiles are arguments of compare");
    if (status == XST_OK)
        status = cli_profile_read(cli, cli->args[0], &job.before);
    if (status == XST_OK)
        status = cli_profile_read(cli, cli->args[1], &job.after);
    if (status == XST_OK)
        status = xst_profile_compare(&job.before, &job.after, &noise, &job.comparison, &cli->diag);
    if (status == XST_OK)
        status = fill_rows(cli, &job);
    if (status == XST_OK && cli_wants_text(cli))
        status = print(cli, &job);
    const struct cli_table table = table_of(job.rows, job.comparison.row_count);
    int code;
    if (status != XST_OK)
        code = cli_fail(cli, status);
    else
        code = cli_emit(cli, document_of(cli, &job), &table, job.comparison.worse ? CLI_NO : CLI_GOOD);
    if (status == XST_OK && code == CLI_GOOD && !in_common(&job.comparison))
        code = cli_complain(cli, XST_ERR_NO_DATA, "%s and %s have no parameter in common", cli->args[0], cli->args[1]);
    free(job.rows);
    xst_comparison_free(&job.comparison);
    xst_profile_free(&job.after);
    xst_profile_free(&job.before);
    return code;
}

const struct cli_command cli_command_compare = {
    .name = "compare",
    .group = CLI_GROUP_SHOW,
    .purpose =
        "What moved between two profiles or benchmark records, beyond the noise or not; exit code 1 on a regression",
    .needs = "no GPU",
    .usage = "BEFORE AFTER [OPTIONS] | PROFILE --with FILE",
    .least_args = 1,
    .most_args = 2,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .output_is_text = 1,
};
