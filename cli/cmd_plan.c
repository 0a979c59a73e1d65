/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage plan: what to launch, what each rejected choice would cost, and why.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data_dir.h"
#include "options.h"
#include "output.h"
#include "plan_args.h"
#include "plan_view.h"
#include "shape_options.h"

static const struct cli_option options[] = {
    {.name = "preset",
     .kind = CLI_TEXT,
     .arg = "NAME",
     .help = "shape of a real model, by name of `xstage list shapes`; single dimensions given beside it win"},
    COUNT_DEFAULT("ranks", "P", 65536, "2", "devices that exchange"),
    FA_HEAD_OPTIONS,
    COUNT_OPTION("seq", "M", 268435456, "fa-a2a: tokens of the whole sequence"),
    FA_BATCH_OPTION,
    RATE_OPTION("attention-tflops", "fa-a2a: measured rate of one device, taken instead of the peak"),
    {.name = "math-rate",
     .kind = CLI_SWEEP,
     .arg = "RATE,...",
     .low = 0.01,
     .high = 10,
     .help =
         "fa-a2a: relative rate of each tile size; default 0.53,1,0.93 for head dimensions above 64, else 0.5,0.8,1"},
    {.name = "phase",
     .kind = CLI_WORD,
     .arg = "PHASE",
     .words = "unknown|aligned|shifted",
     .fallback = "unknown",
     .help = "fa-a2a: whether bursts start together (unknown is taken as that) or are spread by design"},
    MOE_LAYER_OPTIONS,
    COUNT_OPTION("tokens", "T", 16777216, "moe: tokens of one rank"),
    {.name = "counts",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help = "moe: rows that every expert of the model received, as numbers in a text or JSON array; - reads standard "
             "input"},
    {.name = "routing",
     .kind = CLI_WORD,
     .arg = "KIND",
     .words = "uniform|zipf|hot-expert|hot-rank",
     .fallback = "uniform",
     .help = "moe: made-up counts instead of a file"},
    {.name = "skew",
     .kind = CLI_REAL,
     .arg = "S",
     .low = 0,
     .high = 1e6,
     .fallback = "2",
     .help = "moe: exponent of zipf, or how many times the mean the hot one takes"},
    {.name = "rank",
     .kind = CLI_INT,
     .arg = "R",
     .low = 0,
     .high = 65535,
     .help = "moe: rank to plan for; default: the one with most rows"},
    {.name = "act-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 100,
     .fallback = "0.1",
     .help = "moe: activation and publish of a Linear-1 tile, as a share of its matrix time"},
    RATE_OPTION("gemm-tflops", "moe: measured rate of one device, taken instead of the peak"),
    COUNT_OPTION("l2-bytes", "BYTES", 1099511627776.0, "moe: L2 size; default: the profile's"),
    {.name = "reread-gb-per-s",
     .kind = CLI_REAL,
     .arg = "GB/S",
     .low = 1,
     .high = 1e6,
     .fallback = "4800",
     .help = "moe: rate at which bytes that left the L2 come back; the default is an H200's data sheet"},
    {.name = "order-cost-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .help =
         "moe: what the interleaved order costs with all rows at home, as a share of the compute time; default 0.03 in units, "
         "0.06 block by block, measured"},
    {.name = "staged-cost-frac",
     .kind = CLI_REAL,
     .arg = "FRAC",
     .low = 0,
     .high = 10,
     .help = "moe: the same of bulk stores; default 0.06, measured"},
    {.name = "aligned",
     .kind = CLI_FLAG,
     .help = "moe: Linear-2 tiles that begin together store together; else they are claimed and drift apart"},
    MOE_DTYPE_OPTION,
    {.name = "dedup",
     .kind = CLI_FLAG,
     .help = "moe: a token's row is fetched once for all experts of a rank; else for each"},
    {.name = "sweep",
     .kind = CLI_FLAG,
     .help = "traffic: show time against shared memory and L2, without the beaten ones"},
    {.name = "splits",
     .kind = CLI_SWEEP,
     .arg = "N,...",
     .low = 0.001,
     .high = 1000,
     .help = "traffic: bursts to make of one; below 1 joins bursts; default 1,2,4,8,16,32,0.5,0.25"},
    {.name = "issuers",
     .kind = CLI_SWEEP_INT,
     .arg = "K,...",
     .low = 1,
     .high = 65536,
     .help = "traffic: CTAs that issue for all; default: all, a half, a quarter, an eighth"},
    {.name = "staging-slots",
     .kind = CLI_SWEEP_INT,
     .arg = "N,...",
     .low = 1,
     .high = 1024,
     .help = "traffic: bursts a producer can hold back; default 1,2,3,4"},
    {.name = "method",
     .kind = CLI_WORD,
     .arg = "METHOD",
     .words = "st16|st4|bulk",
     .help = "only this store method; default: 16-byte and bulk stores"},
    {.name = "tile-rows",
     .kind = CLI_SWEEP_INT,
     .arg = "ROWS,...",
     .low = 1,
     .high = 65536,
     .help = "rows of an output tile: fa-a2a, those to choose from (default 64,128,192); moe, one value (default 128)"},
    COUNT_OPTION("tile-cols", "COLS", 65536,
                 "columns of an inner step (fa-a2a, default 128) or of a tile (moe, default 256)"),
    COUNT_OPTION("producers", "K", 65536, "CTAs of the grid; default: the profile's SM count"),
    COUNT_OPTION("stages", "N", 64, "operand tiles loaded ahead; default 2 (fa-a2a), 4 (moe)"),
    COUNT_OPTION("shared-bytes", "BYTES", 16777216, "shared memory a CTA can have; default 232448 (Hopper)"),
    COUNT_DEFAULT("element-bytes", "BYTES", 16, "2", "bytes of one stored value"),
    COUNT_OPTION("simulate", "N", 1000,
                 "step the N best candidates through time as well, all ranks, and show that beside the prediction; the "
                 "choice stays"),
    RATE_OPTION("peak-tflops", "dense peak of one device; default: the profile's"),
    {.name = "extrapolate",
     .letter = 'x',
     .kind = CLI_FLAG,
     .help = "read the profile outside its range too, and mark what was read there"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage plan fa-a2a --preset flux1 --ranks 2", "FLUX.1's attention with its all-to-all: tiles, stores, order."},
    {"xstage plan moe --preset qwen3-30b --ranks 8 --routing zipf --skew 1",
     "A fine-grained layer under skewed routing: schedule, lead, group."},
    {"xstage plan moe --preset deepseek-v3 --ranks 8 --counts counts.txt -o plan.json",
     "The same from measured counts, kept as a file."},
    {"xstage plan examples/traffic/gemm-reduce-scatter.json --sweep",
     "Burst size, staging depth and issuers of any kernel, time against memory."},
    {"xstage plan moe --preset qwen3-30b --simulate 4 --csv", "The four best also stepped through time, as CSV."},
    {"xstage plan plan.json", "A saved plan, shown again."},
    {NULL, NULL},
};

static const char about[] =
    "Predicts every combination of the settings a kernel takes and picks the fastest. Every other candidate says by "
    "how much it is slower and which part of its time is to blame; -v prints them all, --csv and --json too.\n\n"
    "fa-a2a: tile rows (wave quantisation times the relative rate of the tile size), store method, slices and their "
    "span, tile order, staging depth. moe: wave or interleaved schedule, lead and group, from routing counts. A "
    "traffic file: burst size, staging depth and issuers, with bytes and useful time kept.\n\n"
    "Exit code 0: something was chosen; 2: the profile cannot tell. -o FILE keeps the plan; a saved plan given as the "
    "argument is checked and shown again.";

static int finish(struct cli *cli, const struct xst_plan *plan)
{
    const struct cli_table rows = cli_plan_table(plan);
    const char *const output = cli_text(cli, "output");
    json_t *const document = cli_document(cli, "plan", 1);
    enum xst_status status = cli_plan_put(cli, document, plan);
    if (status == XST_OK && cli_wants_text(cli) && !(output && strcmp(output, "-") == 0))
        cli_plan_print(cli, stdout, plan, cli_given(cli, "sweep"));
    if (status == XST_OK && output)
        status = cli_write_json(cli, output, document);
    if (status != XST_OK) {
        json_decref(document);
        return cli_fail(cli, status);
    }
    if (plan->chosen < 0)
        cli_note(cli, "%s; --extrapolate reads the profile outside its range", plan->sentence);
    return cli_emit(cli, document, &rows, plan->chosen >= 0 ? CLI_GOOD : CLI_USAGE);
}

/* A word that is neither a kernel nor a file was probably meant as a kernel. */
static enum xst_status check_word(struct cli *cli)
{
    static const char *const words[] = {"fa-a2a", "moe"};
    const char *const word = cli->args[0];
    if (strcmp(word, "-") == 0 || access(word, F_OK) == 0 || strchr(word, '.') || strchr(word, '/'))
        return XST_OK;
    const char *const nearest = cli_nearest(word, words, 2);
    return cli_say(&cli->diag, XST_ERR_USAGE, "'%.60s' is neither a kernel (fa-a2a, moe) nor a file%s%s%s", word,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A file may be a saved plan. What is not one is left to the reader of traffic. */
static int is_saved_plan(struct cli *cli, struct xst_plan *plan, enum xst_status *status)
{
    json_error_t error;
    json_t *const root = json_load_file(cli->args[0], 0, &error);
    const char *const schema = root ? json_string_value(json_object_get(root, "schema")) : NULL;
    const int saved = schema && strncmp(schema, "xstage.plan/", 12) == 0;
    json_decref(root);
    if (saved)
        *status = xst_plan_read(cli->args[0], plan, &cli->diag);
    return saved;
}

static enum xst_status make_plan(struct cli *cli, struct xst_plan *plan)
{
    struct xst_profile profile = {0};
    const int fa = strcmp(cli->args[0], "fa-a2a") == 0, moe = strcmp(cli->args[0], "moe") == 0;
    enum xst_status status = XST_OK;
    if (!fa && !moe)
        status = check_word(cli);
    if (status == XST_OK)
        status = cli_plan_check(cli, fa ? "fa-a2a" : moe ? "moe" : "traffic");
    if (status != XST_OK)
        return status;
    if (!fa && !moe && strcmp(cli->args[0], "-") != 0 && is_saved_plan(cli, plan, &status))
        return status;
    status = cli_profile_load(cli, &profile);
    if (status == XST_OK)
        status = fa    ? cli_plan_fa_a2a(cli, &profile, plan)
                 : moe ? cli_plan_moe(cli, &profile, plan)
                       : cli_plan_traffic(cli, &profile, plan);
    if (status == XST_ERR_NO_DATA)
        cli_hint(cli, "other profiles: `xstage list profiles`");
    xst_profile_free(&profile);
    return status;
}

static int run(struct cli *cli)
{
    struct xst_plan plan = {.chosen = -1, .runner_up = -1};
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK)
        status = make_plan(cli, &plan);
    const int code = status == XST_OK ? finish(cli, &plan) : cli_fail(cli, status);
    xst_plan_free(&plan);
    return code;
}

const struct cli_command cli_command_plan = {
    .name = "plan",
    .group = CLI_GROUP_PREDICT,
    .purpose = "What to launch: tiles, stores, schedule, lead, with what each rejected choice would cost",
    .needs = "no GPU",
    .usage = "fa-a2a|moe|TRAFFIC.json|PLAN.json [OPTIONS]",
    .least_args = 1,
    .most_args = 1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .arg_words = "fa-a2a|moe",
};
