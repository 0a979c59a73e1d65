/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage bench: a fused kernel against its unfused parts, on checked results.
 */
#include <string.h>

#include "bench_moe.h"
#include "bench_rows.h"
#include "job.h"
#include "options.h"

static const struct cli_option options[] = {
    {.name = "preset",
     .kind = CLI_TEXT,
     .arg = "NAMES",
     .help = "shapes by name, separated by commas (xstage list shapes)"},
    {.name = "seq",
     .letter = 'M',
     .kind = CLI_SWEEP_INT,
     .arg = "ROWS",
     .low = 1,
     .high = 1048576,
     .help = "fa-a2a: rows of the whole sequence; hides those of a preset"},
    {.name = "heads",
     .kind = CLI_INT,
     .arg = "H",
     .low = 1,
     .high = 1024,
     .help = "fa-a2a: heads of the model, all ranks together (24 without a preset)"},
    {.name = "head-dim",
     .kind = CLI_INT,
     .arg = "D",
     .low = 64,
     .high = 128,
     .help = "fa-a2a: 64 or 128 (128 without a preset)"},
    {.name = "batch",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 64,
     .help = "fa-a2a: sequences at once (1 without a preset)"},
    {.name = "ranks",
     .letter = 'P',
     .kind = CLI_INT,
     .arg = "P",
     .low = 1,
     .high = 512,
     .fallback = "2",
     .help = "ranks; 2 .. 8 for fa-a2a and between peers"},
    {.name = "target",
     .kind = CLI_WORD,
     .arg = "WHERE",
     .words = "peer|host|local",
     .help =
         "where the other ranks' data are: a device a rank, host memory (default of fa-a2a), or the one device's own "
         "memory (default of moe)"},
    {.name = "groups",
     .kind = CLI_INT,
     .arg = "N",
     .low = 0,
     .high = 3,
     .fallback = "0",
     .help = "fa-a2a: warpgroups of 64 rows in a tile, 2 or 3; 0: the fuller last wave"},
    {.name = "pairs",
     .kind = CLI_WORD,
     .arg = "WHEN",
     .words = "auto|never|always",
     .fallback = "auto",
     .help = "fa-a2a: neighbouring CTAs load keys and values for each other (head dimension 128); always: attention "
             "alone too"},
    {.name = "slices",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 16,
     .fallback = "8",
     .help = "paced stores: slices that 16 rows of a tile leave in, 1, 2, 4, 8 or 16"},
    {.name = "rounds",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 101,
     .fallback = "7",
     .help = "rounds a median is taken over; the order of variants rotates"},
    {.name = "calls",
     .kind = CLI_INT,
     .arg = "N",
     .low = 0,
     .high = 100000,
     .fallback = "0",
     .help = "calls back to back in a round; 0: about 10 ms (moe: 20)"},
    {.name = "trace",
     .kind = CLI_FILE,
     .arg = "FILE",
     .help =
         "afterwards trace one call of each variant into FILE, which Perfetto opens and xstage audit reads; one shape "
         "(moe: one lead, tiles of 128 rows)"},
    {.name = "trace-variants",
     .kind = CLI_TEXT,
     .arg = "NAMES",
     .fallback = "a2a_only,fused_st16,fused_bulk,fused_paced",
     .help = "fa-a2a: variants to trace, separated by commas"},
    CLI_BENCH_MOE_OPTIONS,
    CLI_JOB_OPTIONS,
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage bench moe --preset qwen3-30b --ranks 8 --tokens 1K,4K",
     "One rank's share of a mixture-of-experts layer, every row at home."},
    {"xstage bench moe --preset deepseek-v4-flash --ranks 8 --target host --remote-frac 0.02,0.05 --lead 64..512:x2",
     "A share of the results goes to host memory: what each schedule loses by it."},
    {"xstage bench moe --preset deepseek-v3 --experts 64 --ranks 2 --target peer --routing zipf --skew 0.5",
     "Between two GPUs, with a quarter of the experts and skewed routing."},
    {"xstage bench fa-a2a -M 512..32K:x2 --heads 24",
     "Attention + exchange on one GPU, the remote half in host memory."},
    {"xstage bench fa-a2a --preset flux1,wan2.1-14b --target peer -P 2 --json=bench.json",
     "The same between two GPUs."},
    {"xstage bench fa-a2a -M 4K --target peer --trace trace.json --trace-variants fused_paced",
     "One traced call beside the times; Perfetto opens it."},
    {"xstage bench moe --preset qwen3-30b --ranks 8 --target host --remote-frac 0.1 --store at_once --trace moe.json",
     "Both schedules with a traced call each: xstage audit moe --trace reads it."},
    {NULL, NULL},
};

static const char about[] =
    "Kernels: fa-a2a and moe. Before anything is timed, outputs are compared byte for byte between all variants, and sampled rows "
    "with the plain reference. median_us is the time of one call among many back to back, until all data are there.\n\n"
    "fa-a2a: attention alone, the exchange alone, one after the other, and fused with 16-byte, bulk and paced stores. "
    "sender_us and visible_us are of one call alone, launch included. residual_us is what fusing leaves over attention "
    "alone; hiding_ratio is the hidden share of what the exchange costs when it follows; speedup is serial over fused. "
    "With --target host or local rank 0 runs alone: what the others send is not there.\n\n"
    "moe: the layer as separate kernels, fused with the wave schedule, and fused and interleaved at each --lead; with stores "
    "at once and paced; and, where rows leave the device, the same with every row at home (alone_...). residual_us is what "
    "sending leaves over that; speedup is unfused over fused; \"of floor\" is the largest of computing, memory and path, "
    "each at its rate, over the median. The planner's choice is timed along: regret is how much slower it is than the best "
    "fused row of its layer. With --target local or host the device does what rank 0 of --ranks ranks would do, with all "
    "rows its own or a share of them owned by a rank in host memory; between peers every rank has a device. With --trace, "
    "stall_us is the mean time that a warpgroup's part of a tile waited for operands in the traced call, issue_us how long the "
    "issue of a part took (JSON and CSV).";

/* Options that belong to one kernel; those not listed belong to all of them. */
static const struct belongs {
    const char *name;
    const char *kernel;
} options_of_kernels[] = {
    {"seq", "fa-a2a"},
    {"heads", "fa-a2a"},
    {"head-dim", "fa-a2a"},
    {"batch", "fa-a2a"},
    {"groups", "fa-a2a"},
    {"pairs", "fa-a2a"},
    {"trace-variants", "fa-a2a"},
    {"hidden", "moe"},
    {"inter", "moe"},
    {"experts", "moe"},
    {"topk", "moe"},
    {"tokens", "moe"},
    {"routing", "moe"},
    {"skew", "moe"},
    {"remote-frac", "moe"},
    {"schedule", "moe"},
    {"lead", "moe"},
    {"group", "moe"},
    {"store", "moe"},
    {"dedup", "moe"},
    {"ring", "moe"},
    {"clamp", "moe"},
    {"dtype", "moe"},
    {"tile-rows", "moe"},
    {"ctas", "moe"},
    {"gemm-tflops", "moe"},
    {"memory-gb-per-s", "moe"},
};

static enum xst_status check_options(struct cli *cli, const char *kernel)
{
    for (size_t i = 0; i < sizeof options_of_kernels / sizeof *options_of_kernels; i++) {
        const struct belongs *const option = &options_of_kernels[i];
        if (cli_given(cli, option->name) && strcmp(option->kernel, kernel) != 0)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s does not go with %s; it belongs to %s", option->name,
                           kernel, option->kernel);
    }
    return XST_OK;
}

/* What can be timed. */
static const struct kernel {
    const char *name;
    int (*run)(struct cli *cli);
} kernels[] = {{"fa-a2a", cli_bench_fa_a2a}, {"moe", cli_bench_moe}};

static int run(struct cli *cli)
{
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status != XST_OK)
        return cli_fail(cli, status);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(cli->args[0], kernels[i].name) == 0) {
            status = check_options(cli, kernels[i].name);
            return status == XST_OK ? kernels[i].run(cli) : cli_fail(cli, status);
        }
    cli_hint(cli, "for example: xstage bench fa-a2a --seq 4K,8K");
    return cli_complain(cli, XST_ERR_USAGE, "\"%s\" is no kernel that can be timed; fa-a2a and moe are", cli->args[0]);
}

const struct cli_command cli_command_bench = {
    .name = "bench",
    .group = CLI_GROUP_MEASURE,
    .purpose = "time a fused kernel against its unfused parts, on checked results",
    .needs = "a Hopper GPU; --target peer one a rank",
    .usage = "fa-a2a|moe [--preset NAMES]",
    .least_args = 1,
    .most_args = 1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .arg_words = "fa-a2a|moe",
    .job = CLI_JOB_FIRST,
};
