/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage bench: a fused kernel against its unfused parts, on checked results.
 */
#include <string.h>

#include "bench_rows.h"

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
     .help = "rows of the whole sequence; hides those of a preset"},
    {.name = "heads",
     .kind = CLI_INT,
     .arg = "H",
     .low = 1,
     .high = 1024,
     .help = "heads of the model, all ranks together (24 without a preset)"},
    {.name = "head-dim",
     .kind = CLI_INT,
     .arg = "D",
     .low = 64,
     .high = 128,
     .help = "64 or 128 (128 without a preset)"},
    {.name = "batch",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 64,
     .help = "sequences at once (1 without a preset)"},
    {.name = "ranks",
     .letter = 'P',
     .kind = CLI_INT,
     .arg = "P",
     .low = 2,
     .high = 8,
     .fallback = "2",
     .help = "ranks"},
    {.name = "target",
     .kind = CLI_WORD,
     .arg = "WHERE",
     .words = "peer|host|local",
     .fallback = "host",
     .help = "where the other ranks' outputs are: a device a rank, host memory, or the one device's own memory"},
    {.name = "groups",
     .kind = CLI_INT,
     .arg = "N",
     .low = 0,
     .high = 3,
     .fallback = "0",
     .help = "warpgroups of 64 rows in a tile, 2 or 3; 0: the fuller last wave"},
    {.name = "slices",
     .kind = CLI_INT,
     .arg = "N",
     .low = 1,
     .high = 16,
     .fallback = "8",
     .help = "paced stores: slices of a tile, 1, 2, 4, 8 or 16"},
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
     .help = "calls back to back in a round; 0: about 10 ms"},
    {.name = NULL},
};

static const struct cli_example examples[] = {
    {"xstage bench fa-a2a -M 512..32K:x2 --heads 24",
     "Attention + exchange on one GPU, the remote half in host memory."},
    {"xstage bench fa-a2a --preset flux1,wan2.1-14b --target peer -P 2 --json=bench.json",
     "The same between two GPUs."},
    {NULL, NULL},
};

static const char about[] =
    "Kernels: fa-a2a. Variants: attention alone, the exchange alone, one after the other, and fused with 16-byte, bulk and "
    "paced stores. Before anything is timed, every variant's output is compared byte for byte with attention followed by the "
    "exchange, and sampled rows of that with the plain reference.\n\n"
    "median_us is the time of one call among many back to back, until all data are visible; sender_us and visible_us are "
    "of one call alone, launch included. residual_us is what fusing leaves over attention alone; hiding_ratio is the hidden "
    "share of what the exchange costs when it follows; speedup is serial over fused.\n\n"
    "With --target host or local rank 0 runs alone: what the others send is not there.";

/* What can be timed. */
static const struct kernel {
    const char *name;
    int (*run)(struct cli *cli);
} kernels[] = {{"fa-a2a", cli_bench_fa_a2a}};

static int run(struct cli *cli)
{
    const enum xst_status status = cli_check_outputs(cli, 1);
    if (status != XST_OK)
        return cli_fail(cli, status);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(cli->args[0], kernels[i].name) == 0)
            return kernels[i].run(cli);
    cli_hint(cli, "for example: xstage bench fa-a2a --seq 4K,8K");
    return cli_complain(cli, XST_ERR_USAGE, "\"%s\" is no kernel that can be timed; fa-a2a is", cli->args[0]);
}

const struct cli_command cli_command_bench = {
    .name = "bench",
    .group = CLI_GROUP_MEASURE,
    .purpose = "time a fused kernel against its unfused parts, on checked results",
    .needs = "a Hopper GPU; --target peer one a rank",
    .usage = "fa-a2a [--seq ROWS] [--preset NAMES]",
    .least_args = 1,
    .most_args = 1,
    .about = about,
    .options = options,
    .examples = examples,
    .run = run,
    .arg_words = "fa-a2a",
};
