/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage audit: does a kernel design hold on a machine, by how much, and what to change.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_args.h"
#include "audit_trace.h"
#include "audit_view.h"
#include "data_dir.h"
#include "options.h"
#include "output.h"
#include "shape_options.h"

#define SWEEP_OPTION(option, value, most, otherwise, text)                                                             \
    {                                                                                                                  \
        .name = option, .kind = CLI_SWEEP_INT, .arg = value, .low = 1, .high = most, .fallback = otherwise,            \
        .help = text                                                                                                   \
    }

static const struct cli_option options[] = {
    {.name = "preset",
     .kind = CLI_TEXT,
     .arg = "NAME,...",
     .help = "shapes of real models, by name of `xstage list shapes`; single dimensions given beside it win"},
    SWEEP_OPTION("ranks", "P", 65536, "2", "devices that exchange; a sweep audits each"),
    FA_HEAD_OPTIONS,
    SWEEP_OPTION("seq", "M", 268435456, NULL, "fa-a2a: tokens of the whole sequence; a sweep audits each"),
    FA_BATCH_OPTION,
    RATE_OPTION("attention-tflops", "fa-a2a: measured rate of one device, shown beside the peak"),
    {.name = "phase",
     .kind = CLI_WORD,
     .arg = "PHASE",
     .words = "unknown|aligned|shifted",
     .fallback = "unknown",
     .help =
         "fa-a2a: what the design states about its bursts: nothing, that they start together, or that it spreads them"},
    MOE_LAYER_OPTIONS,
    SWEEP_OPTION("tokens", "T", 16777216, NULL, "moe: tokens of one rank; a sweep audits each"),
    {.name = "schedule",
     .kind = CLI_WORD,
     .arg = "SCHEDULE",
     .words = "wave|interleaved",
     .fallback = "wave",
     .help = "moe: the schedule to judge; the other one is shown beside it"},
    COUNT_OPTION("lead", "TILES", 1000000, "moe: show who waits at this lead, in Linear-1 tiles"),
    {.name = "act-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 100,
     .fallback = "0.1",
     .help = "moe: activation and publish of a Linear-1 tile, as a share of its matrix time"},
    RATE_OPTION("gemm-tflops", "moe: measured rate of one device, shown beside the peak"),
    {.name = "target",
     .kind = CLI_WORD,
     .arg = "WHERE",
     .words = "peer|host",
     .fallback = "peer",
     .help = "fa-a2a: where the other ranks' outputs are: another GPU's memory, or mapped host memory"},
    {.name = "method",
     .kind = CLI_WORD,
     .arg = "METHOD",
     .words = "st16|st4|bulk",
     .fallback = "st16",
     .help = "16-byte stores, 4-byte stores, or bulk (TMA) stores"},
    COUNT_DEFAULT("tile-rows", "ROWS", 65536, "128", "rows of an output tile"),
    COUNT_OPTION("tile-cols", "COLS", 65536,
                 "columns of an inner step (fa-a2a, default 128) or of a tile (moe, default 256)"),
    COUNT_OPTION("producers", "K", 65536, "CTAs of the grid; default: the profile's SM count"),
    COUNT_OPTION("stages", "N", 64, "operand tiles loaded ahead; default 2 (fa-a2a), 4 (moe)"),
    COUNT_DEFAULT("staging-slots", "N", 1024, "1", "output tiles a CTA can hold back"),
    COUNT_DEFAULT("element-bytes", "BYTES", 16, "2", "bytes of one stored value"),
    RATE_OPTION("peak-tflops", "dense peak of one device; default: the profile's"),
    {.name = "trace",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help =
         "compare a trace of `xstage bench --trace` of this kernel with what the kernel's traffic description promises"},
    {.name = "extrapolate",
     .letter = 'x',
     .kind = CLI_FLAG,
     .help = "read the profile outside its range too, and mark what was read there"},
    {.name = "brief", .kind = CLI_FLAG, .help = "only the verdict's sentence and the first change, per design"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage audit fa-a2a --heads 24 --head-dim 128 --seq 4608 --ranks 2",
     "FLUX.1's attention with its all-to-all, 16-byte stores, on the recorded H200 pair."},
    {"xstage audit fa-a2a --preset flux1,wan2.1-14b --method bulk --attention-tflops 645",
     "Two models with bulk stores; the gap at a measured rate beside the one at peak."},
    {"xstage audit moe --preset qwen3-30b --tokens 1K..16K:x2 --csv", "A fine-grained layer over the tokens, as CSV."},
    {"xstage audit fa-a2a --trace data/h200x2-fa-a2a-trace.json",
     "A recorded run: tiles, bytes and order as promised, times beside the model's."},
    {"xstage audit moe --trace data/h200-moe-trace.json --profile h200-host",
     "The same of a mixture of experts, whose results went to host memory."},
    {"xstage audit examples/traffic/gemm-reduce-scatter.json --json", "Any kernel, described in ten lines of JSON."},
    {NULL, NULL},
};

static const char about[] =
    "Applies the design test (10) to a kernel's traffic: what leaves the device per period "
    "must drain meanwhile (rate), and "
    "the largest burst must fit in the stage (capacity). Bulk stores are judged by when their "
    "staging is free again. The "
    "verdict is 'piggyback' or 'reshape'; a design that fails gets a list of changes after "
    "which the model says it holds. "
    "Compute is taken at the device's peak, so a measured rate only makes gaps longer.\n\n"
    "Exit code 0: every design holds; 1: one fails; 2: the profile cannot tell. Several shapes "
    "in one call give a table, one row "
    "each, and an array `audits` in JSON. -o FILE writes the JSON document to FILE.\n\n"
    "With --trace nothing is judged but a run: exit code 1 when it did not do what the kernel's "
    "traffic description promises (tiles, who computes them, bytes that leave, bytes of the "
    "first burst); times stand beside the model's.";

/* The worst of the verdicts decides. */
static int exit_of(const struct audit_list *list)
{
    int code = CLI_GOOD;
    for (size_t i = 0; i < list->count; i++) {
        if (list->audits[i].verdict == XST_VERDICT_RESHAPE)
            return CLI_NO;
        if (list->audits[i].verdict == XST_VERDICT_UNKNOWN)
            code = CLI_USAGE;
    }
    return code;
}

/* One audit: its keys at the top. Several: an array of such objects. */
static enum xst_status fill_document(struct cli *cli, const struct audit_list *list, json_t *document)
{
    if (list->count == 1)
        return cli_audit_put(cli, document, &list->audits[0]);
    json_t *const array = json_array();
    json_object_set_new(document, "audits", array);
    for (size_t i = 0; i < list->count; i++) {
        json_t *const object = json_object();
        json_array_append_new(array, object);
        const enum xst_status status = cli_audit_put(cli, object, &list->audits[i]);
        if (status != XST_OK)
            return status;
    }
    return XST_OK;
}

static void say_unknown(const struct cli *cli, const struct audit_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->audits[i].verdict == XST_VERDICT_UNKNOWN) {
            cli_note(cli, "%s%s%s", list->audits[i].name, list->audits[i].name[0] ? ": " : "",
                     list->audits[i].sentence);
            cli_note(cli, "--extrapolate reads the profile outside its range");
            return;
        }
    }
}

static int finish(struct cli *cli, const struct xst_profile *profile, const struct audit_list *list)
{
    const struct cli_table rows = cli_audit_table(list->audits, list->count);
    const char *const output = cli_text(cli, "output");
    json_t *const document = cli_document(cli, "audit", 1);
    enum xst_status status = fill_document(cli, list, document);
    if (status == XST_OK && cli_wants_text(cli) && !(output && strcmp(output, "-") == 0)) {
        if (cli_given(cli, "brief"))
            cli_audits_brief(stdout, list->audits, list->count);
        else if (list->count == 1)
            cli_audit_print(cli, stdout, profile, &list->audits[0]);
        else
            cli_audits_print(cli, stdout, list->audits, list->count);
    }
    if (status == XST_OK && output)
        status = cli_write_json(cli, output, document);
    if (status != XST_OK) {
        json_decref(document);
        return cli_fail(cli, status);
    }
    say_unknown(cli, list);
    return cli_emit(cli, document, &rows, exit_of(list));
}

/* A word that is neither a kernel nor a file was probably meant as a kernel. */
static enum xst_status check_word(struct cli *cli)
{
    static const char *const words[] = {"fa-a2a", "moe"};
    const char *const word = cli->args[0];
    if (strcmp(word, "-") == 0 || access(word, F_OK) == 0 || strchr(word, '.') || strchr(word, '/'))
        return XST_OK;
    const char *const nearest = cli_nearest(word, words, 2);
    return cli_say(&cli->diag, XST_ERR_USAGE, "'%.60s' is neither a kernel (fa-a2a, moe) nor a traffic file%s%s%s",
                   word, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static int run(struct cli *cli)
{
    struct xst_profile profile = {0};
    struct audit_list list = {NULL, 0, 0};
    const int fa = strcmp(cli->args[0], "fa-a2a") == 0, moe = strcmp(cli->args[0], "moe") == 0;
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK && !fa && !moe)
        status = check_word(cli);
    if (status == XST_OK && (fa || moe) && cli->arg_count > 1)
        status =
            cli_say(&cli->diag, XST_ERR_USAGE, "'%.60s' is one argument too many after %s", cli->args[1], cli->args[0]);
    if (status == XST_OK)
        status = cli_audit_check(cli, fa ? "fa-a2a" : moe ? "moe" : "traffic");
    if (status == XST_OK)
        status = cli_profile_load(cli, &profile);
    if (status == XST_OK && !cli_has(cli, "trace"))
        status = fa    ? cli_audit_fa_a2a(cli, &profile, &list)
                 : moe ? cli_audit_moe(cli, &profile, &list)
                       : cli_audit_files(cli, &profile, &list);
    if (status == XST_OK && cli_has(cli, "trace")) {
        const int code = cli_audit_trace(cli, &profile);
        xst_profile_free(&profile);
        return code;
    }
    if (status == XST_ERR_NO_DATA)
        cli_hint(cli, "other profiles: `xstage list profiles`");
    const int code = status == XST_OK ? finish(cli, &profile, &list) : cli_fail(cli, status);
    free(list.audits);
    xst_profile_free(&profile);
    return code;
}

const struct cli_command cli_command_audit = {
    .name = "audit",
    .group = CLI_GROUP_PREDICT,
    .purpose = "Does a kernel design hold on a machine: both bounds with margins, the verdict, and what to change",
    .needs = "no GPU",
    .usage = "fa-a2a|moe|TRAFFIC.json... [OPTIONS]",
    .least_args = 1,
    .most_args = -1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .arg_words = "fa-a2a|moe",
};
