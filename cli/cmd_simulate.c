/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage simulate: a kernel tile by tile on a machine's profile, any number of ranks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xstage/text_file.h>

#include "data_dir.h"
#include "job.h"
#include "options.h"
#include "shape_options.h"
#include "simulate_args.h"
#include "simulate_sweep.h"
#include "simulate_view.h"

enum { SVG_SMS = 132 };

#define REAL_OPTION(option, value, most, otherwise, text)                                                              \
    {                                                                                                                  \
        .name = option, .kind = CLI_REAL, .arg = value, .low = 0, .high = most, .fallback = otherwise, .help = text    \
    }
#define WORD_OPTION(option, value, list, otherwise, text)                                                              \
    {                                                                                                                  \
        .name = option, .kind = CLI_WORD, .arg = value, .words = list, .fallback = otherwise, .help = text             \
    }

static const struct cli_option options[] = {
    {.name = "preset",
     .kind = CLI_TEXT,
     .arg = "NAME",
     .help = "shape of a real model, by name of `xstage list shapes`; single dimensions given beside it win"},
    COUNT_DEFAULT("ranks", "P", 65536, "2", "devices that exchange"),
    FA_HEAD_OPTIONS,
    COUNT_OPTION("seq", "M", 268435456, "fa-a2a: tokens of the whole sequence"),
    FA_BATCH_OPTION,
    MOE_LAYER_OPTIONS,
    COUNT_OPTION("tokens", "T", 16777216, "moe: tokens of one rank"),
    {.name = "counts",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help = "moe: rows that every expert received, as numbers in a text or JSON array; - reads standard input"},
    WORD_OPTION("routing", "KIND", "uniform|zipf|hot-expert|hot-rank", "uniform",
                "moe: made-up counts instead of a file"),
    REAL_OPTION("skew", "S", 1e6, "2", "moe: exponent of zipf, or how many times the mean the hot one takes"),
    WORD_OPTION("schedule", "SCHEDULE", "wave|interleaved", "wave", "moe: order of the tiles"),
    COUNT_OPTION("lead", "TILES", 1000000000, "moe, interleaved: Linear-1 tiles ahead; default: the knee"),
    COUNT_DEFAULT("group", "TILES", 1000000, "1", "moe, interleaved: Linear-2 tiles in a row"),
    COUNT_DEFAULT("unit", "BLOCKS", 1024, "1",
                  "moe: row blocks of an expert whose tiles of a column follow each other, so that they share weights"),
    COUNT_OPTION("ring", "BLOCKS", 16777216, "moe: row blocks the pools hold; default: all"),
    {.name = "no-pull", .kind = CLI_FLAG, .help = "moe: the rows are there from the start"},
    MOE_DTYPE_OPTION,
    {.name = "dedup",
     .kind = CLI_FLAG,
     .help = "moe: a token's row is pulled once for all experts of a rank; else for each"},
    {.name = "tiles-only",
     .kind = CLI_FLAG,
     .help = "moe: leave out the exchange of counts, the barrier behind the last store and the combine"},
    REAL_OPTION("memory-gb-per-s", "RATE", 1e9, "4800",
                "moe: rate of the combine's reads and writes; the default is an H200's data sheet"),
    REAL_OPTION("act-frac", "FRAC", 100, "0.1",
                "moe: activation and publish of a Linear-1 tile, as a share of its matrix time"),
    WORD_OPTION("method", "METHOD", "st16|st4|bulk", "st16", "16-byte stores, 4-byte stores, or bulk (TMA) stores"),
    COUNT_DEFAULT("slices", "N", 1024, "1",
                  "bulk stores, or --issuer role: pieces in which a tile leaves during the next one (17)"),
    WORD_OPTION("issuer", "WHO", "own|role", "own",
                "who issues: the role that computed the tile, or a role of its own behind the staging slots"),
    WORD_OPTION("coupling", "WHEN", "issue|completion", "issue",
                "whoever issues goes on when its stores were accepted, or only when they are visible (the rival view)"),
    COUNT_DEFAULT("tile-rows", "ROWS", 65536, "128", "rows of an output tile"),
    COUNT_OPTION("tile-cols", "COLS", 65536,
                 "columns of an inner step (fa-a2a, default 128) or of a tile (moe, default 256)"),
    COUNT_OPTION("producers", "K", 4096, "CTAs of the grid; default: the profile's SM count"),
    COUNT_DEFAULT("staging-slots", "N", 1024, "1", "output tiles a CTA can hold back"),
    COUNT_DEFAULT("element-bytes", "BYTES", 16, "2", "bytes of one stored value"),
    REAL_OPTION("tflops", "TFLOPS", 1e9, NULL, "rate of one device; default: the profile's dense peak"),
    REAL_OPTION("ingress-gb-per-s", "RATE", 1e9, NULL, "most that arrives at one rank; default: the drain rate"),
    REAL_OPTION("jitter", "FRAC", 1, "0", "log-normal spread of the tiles' work; 0: equal tiles stay aligned"),
    REAL_OPTION("start-skew-us", "US", 1e9, "0", "each rank starts this much after the one before it"),
    {.name = "dispersion",
     .kind = CLI_FLAG,
     .help = "SMs drain through the path's hardware groups, as far as the profile knows them"},
    {.name = "bystanders",
     .kind = CLI_FLAG,
     .help =
         "a tile's loads wait behind stores (16): on NVLink behind the SM's own, on the host path behind everybody's"},
    {.name = "as-traced",
     .kind = CLI_FLAG,
     .help = "fa-a2a: Q as the kernel's warpgroups meet it, and warpgroups out of step, from traces between two H200"},
    COUNT_OPTION("domain", "RANKS", 65536,
                 "ranks of one NVLink domain; what leaves it goes over network interfaces; default: all of them"),
    REAL_OPTION("nic-gb-per-s", "RATE", 1e9, "400",
                "what the interfaces of one domain carry each way, together; the default is eight of 400 Gbit/s"),
    REAL_OPTION("nic-latency-us", "US", 1e6, "5", "from one domain to another"),
    WORD_OPTION(
        "network", "MODEL", "builtin|simgrid", "builtin",
        "between domains: rate and latency as given, or what SimGrid finds when all domains send to all (if it is installed)"),
    {.name = "platform",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help = "with --network simgrid: a platform of it (XML) whose first hosts are the domains; default: one switch"},
    {.name = "exact-links", .kind = CLI_FLAG, .help = "settle the network at every change, with any number of ranks"},
    REAL_OPTION("rate-step-us", "US", 1e6, NULL,
                "settle the network this often; default: at every change up to 8 ranks, 1 us up to 64, then 5 us"),
    REAL_OPTION("series-step-us", "US", 1e9, NULL, "distance of the backlog's points; default: 400 points in all"),
    COUNT_OPTION("event-limit", "N", 9e15, "give up after so many events with exit code 3"),
    {.name = "no-free-run", .kind = CLI_FLAG, .help = "leave out the second run that tells what is exposed"},
    {.name = "trace", .kind = CLI_FILE, .arg = "FILE", .help = "write a Perfetto trace (Chrome trace events, JSON)"},
    {.name = "svg", .kind = CLI_FILE, .arg = "FILE", .help = "write a picture of the first rank"},
    COUNT_DEFAULT("trace-ranks", "P", 65536, "2", "ranks in the trace"),
    {.name = "extrapolate", .letter = 'x', .kind = CLI_FLAG, .help = "read the profile outside its range too"},
    {.name = "vary",
     .kind = CLI_TEXT,
     .arg = "NAME=VALUES",
     .help = "simulate once for each value of an option (seq=1K..16K:x2, schedule=wave,interleaved); may be repeated"},
    CLI_JOB_OPTIONS,
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage simulate fa-a2a --preset flux1 --ranks 4 --svg flux1.svg",
     "FLUX.1's attention with its all-to-all on four devices, with a picture."},
    {"xstage simulate moe --preset qwen3-30b --ranks 8 --schedule interleaved --routing zipf --skew 1 --trace t.json",
     "A fine-grained layer under skewed routing, as a trace for ui.perfetto.dev."},
    {"xstage simulate moe --preset deepseek-v3 --ranks 8 --coupling completion",
     "The same kernel if every store had to be visible before the next tile."},
    {"mpirun -n 4 xstage simulate fa-a2a --preset flux1 --vary seq=1K..64K:x2 --vary ranks=2,4,8 --csv=sweep.csv",
     "A sweep shared by four processes; the rows are those of one."},
    {"xstage simulate moe --preset deepseek-v3 --ranks 64 --domain 8 --schedule interleaved",
     "Eight machines of eight, with the interfaces between them."},
    {"xstage simulate examples/traffic/gemm-reduce-scatter.json --ranks 4 --json", "A kernel described in JSON."},
    {NULL, NULL},
};

static const char about[] =
    "Steps a kernel through time tile by tile. Each SM takes tiles in the kernel's order, waits for what they need, works, "
    "and stores into a stage that it shares with the other SMs; the ranks share links that bound what one sends and what "
    "one receives. Prints when everything is visible everywhere, what the exchange adds to the kernel without it, and per "
    "rank how long its roles worked, stalled behind the stage and waited for tiles or rows.\n\n"
    "With equal tiles bursts stay aligned, the worst case; --jitter lets them drift. A schedule that cannot progress (a "
    "lead or a ring that is too small) is named with the task that waits and what for: exit code 1. -o FILE writes the "
    "JSON document to FILE.";

static enum xst_status write_text(struct cli *cli, const char *option, char *text)
{
    const char *const path = cli_text(cli, option);
    const enum xst_status status = cli_write(cli, path, text, strlen(text));
    free(text);
    return status;
}

static enum xst_status write_pictures(struct cli *cli, const struct xst_profile *profile,
                                      const struct simulation *simulation)
{
    char title[256], *text = NULL;
    enum xst_status status = XST_OK;
    if (simulation->spans.dropped > 0)
        cli_note(cli, "%zu spans were too many and left out of the trace", simulation->spans.dropped);
    if (cli_has(cli, "trace")) {
        status = xst_timeline_trace(&simulation->spans, &simulation->result, simulation->kind_names, &text, &cli->diag);
        if (status == XST_OK)
            status = write_text(cli, "trace", text);
    }
    if (status == XST_OK && cli_has(cli, "svg")) {
        snprintf(title, sizeof title, "%.60s%s%.60s, rank 0 of %lld, %.60s: %.4g us", cli_simulation_kernel(simulation),
                 simulation->name[0] ? " " : "", simulation->name, (long long)simulation->result.rank_count,
                 profile->name, simulation->result.makespan_us);
        status = xst_timeline_svg(&simulation->spans, &simulation->result, simulation->kind_names, title, SVG_SMS,
                                  &text, &cli->diag);
        if (status == XST_OK)
            status = write_text(cli, "svg", text);
    }
    return status;
}

static int finish(struct cli *cli, const struct xst_profile *profile, const struct simulation *simulation)
{
    const char *const output = cli_text(cli, "output");
    struct cli_table table;
    void *rows = NULL;
    enum xst_status status = cli_simulation_table(cli, simulation, &rows, &table);
    if (status == XST_OK)
        status = write_pictures(cli, profile, simulation);
    if (status != XST_OK) {
        free(rows);
        return cli_fail(cli, status);
    }
    json_t *const document = cli_document(cli, "simulate", 1);
    cli_simulation_put(document, profile, simulation, &table);
    if (output)
        status = cli_write_json(cli, output, document);
    if (status == XST_OK && cli_wants_text(cli) && !(output && strcmp(output, "-") == 0))
        cli_simulation_print(cli, stdout, profile, simulation, &table);
    int code = CLI_FAILED;
    if (status == XST_OK) {
        code = cli_emit(cli, document, &table, CLI_GOOD);
    } else {
        json_decref(document);
        code = cli_fail(cli, status);
    }
    free(rows);
    return code;
}

/* Before the work is done: files that exist are refused. */
static enum xst_status check_files(struct cli *cli)
{
    static const char *const names[] = {"trace", "svg"};
    enum xst_status status = cli_check_outputs(cli, 1);
    for (int i = 0; status == XST_OK && i < 2; i++)
        if (cli_has(cli, names[i]))
            status = xst_text_check(cli_text(cli, names[i]), cli->force, &cli->diag);
    return status;
}

static enum xst_status check_word(struct cli *cli)
{
    static const char *const words[] = {"fa-a2a", "moe"};
    const char *const word = cli->args[0];
    if (strcmp(word, "fa-a2a") == 0 || strcmp(word, "moe") == 0 || strcmp(word, "-") == 0 || access(word, F_OK) == 0 ||
        strchr(word, '.') || strchr(word, '/'))
        return XST_OK;
    const char *const nearest = cli_nearest(word, words, 2);
    return cli_say(&cli->diag, XST_ERR_USAGE, "'%.60s' is neither a kernel (fa-a2a, moe) nor a traffic file%s%s%s",
                   word, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A kernel that cannot progress is an answer: no. */
static int fail_with(struct cli *cli, enum xst_status status)
{
    const int stuck = status == XST_ERR_TIMEOUT && strncmp(cli->diag.text, "no progress", 11) == 0;
    if (stuck && strcmp(cli->args[0], "moe") == 0)
        cli_hint(cli, "a larger --lead or --ring lets it go on");
    if (status == XST_ERR_NO_DATA)
        cli_hint(cli, "--extrapolate reads the profile outside its range; other profiles: `xstage list profiles`");
    const int code = cli_fail(cli, status);
    return stuck ? CLI_NO : code;
}

static int run_one(struct cli *cli, const struct xst_profile *profile)
{
    struct simulation simulation = {0};
    const enum xst_status status = cli_simulate(cli, profile, &simulation);
    const int code = status == XST_OK ? finish(cli, profile, &simulation) : fail_with(cli, status);
    cli_simulation_free(&simulation);
    return code;
}

static int run(struct cli *cli)
{
    struct xst_profile profile = {0};
    const int sweeps = cli_given(cli, "vary") > 0;
    /* One simulation is one process's work. */
    if (!sweeps && cli_job_rank(cli) > 0)
        return CLI_GOOD;
    enum xst_status status = cli_job_rank(cli) == 0 ? check_files(cli) : XST_OK;
    if (status == XST_OK)
        status = check_word(cli);
    if (status == XST_OK)
        status = cli_profile_load(cli, &profile);
    const int code = status != XST_OK ? fail_with(cli, status)
                     : sweeps         ? cli_simulate_sweep(cli, &profile)
                                      : run_one(cli, &profile);
    xst_profile_free(&profile);
    return code;
}

const struct cli_command cli_command_simulate = {
    .name = "simulate",
    .group = CLI_GROUP_PREDICT,
    .purpose = "A kernel tile by tile on a machine, on any number of ranks: makespan, stalls, waits, backlog, trace",
    .needs = "no GPU",
    .usage = "fa-a2a|moe|TRAFFIC.json [OPTIONS]",
    .least_args = 1,
    .most_args = 1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .arg_words = "fa-a2a|moe",
    .job = CLI_JOB_ALL,
};
