/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage bench: a fused kernel against its unfused parts, on checked results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/fa_a2a_bench.h>
#include <xstage/shapes.h>

#include "bench_rows.h"
#include "options.h"
#include "output.h"

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

/* One shape of a preset or of the options, with one length. */
static enum xst_status bench_shape(struct cli *cli, const char *preset_name, int64_t seq, struct cli_bench_list *list)
{
    const struct xst_fa_preset *preset = NULL;
    struct xst_fa_a2a_bench_row rows[XST_FA_A2A_VARIANT_COUNT];
    enum xst_status status = preset_name ? xst_fa_preset_find(preset_name, &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    struct xst_fa_a2a_bench bench = {.batch =
                                         cli_has(cli, "batch") ? cli_int(cli, "batch") : (preset ? preset->batch : 1),
                                     .heads_total =
                                         cli_has(cli, "heads") ? cli_int(cli, "heads") : (preset ? preset->heads : 24),
                                     .head_dim = cli_has(cli, "head-dim") ? cli_int(cli, "head-dim")
                                                                          : (preset ? preset->head_dim : 128),
                                     .seq = seq ? seq : (preset ? preset->seq : 4096),
                                     .ranks = cli_int(cli, "ranks"),
                                     .groups = cli_int(cli, "groups"),
                                     .slices = cli_int(cli, "slices"),
                                     .rounds = cli_int(cli, "rounds"),
                                     .calls = cli_int(cli, "calls"),
                                     .seed = cli_has(cli, "seed") ? (uint64_t)cli_int(cli, "seed") : 1};
    if (xst_target_parse(cli_text(cli, "target"), &bench.target) != 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--target names no target");
    status = xst_fa_a2a_bench_run(&bench, rows, &cli->diag);
    for (int v = 0; v < XST_FA_A2A_VARIANT_COUNT && status == XST_OK; v++)
        status = cli_bench_add(cli, list, preset ? preset->name : "", &bench, &rows[v]);
    return status;
}

static enum xst_status bench_lengths(struct cli *cli, const char *preset_name, struct cli_bench_list *list)
{
    const struct cli_sweep *const lengths = cli_sweep_of(cli, "seq");
    if (!lengths->count)
        return bench_shape(cli, preset_name, 0, list);
    for (size_t i = 0; i < lengths->count; i++) {
        const enum xst_status status = bench_shape(cli, preset_name, (int64_t)lengths->values[i], list);
        if (status != XST_OK)
            return status;
    }
    return XST_OK;
}

static enum xst_status bench_all(struct cli *cli, struct cli_bench_list *list)
{
    char names[1024], *rest = names, *name;
    enum xst_status status = XST_OK;
    if (!cli_has(cli, "preset"))
        return bench_lengths(cli, NULL, list);
    if (strlen(cli_text(cli, "preset")) >= sizeof names)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--preset is longer than %zu bytes", sizeof names - 1);
    strcpy(names, cli_text(cli, "preset"));
    while (status == XST_OK && (name = strsep(&rest, ",")))
        status = bench_lengths(cli, name, list);
    return status;
}

static int run(struct cli *cli)
{
    struct cli_bench_list list = {0};
    enum xst_status status = cli_check_outputs(cli, 1);
    if (status == XST_OK && strcmp(cli->args[0], "fa-a2a") != 0) {
        cli_hint(cli, "for example: xstage bench fa-a2a --seq 4K,8K");
        status = cli_say(&cli->diag, XST_ERR_USAGE, "\"%s\" is no kernel that can be timed; fa-a2a is", cli->args[0]);
    }
    if (status == XST_OK)
        status = bench_all(cli, &list);
    if (status != XST_OK) {
        free(list.rows);
        return cli_fail(cli, status);
    }
    const struct cli_table table = cli_bench_table(&list);
    if (cli_wants_text(cli))
        cli_table_print(cli, stdout, &table);
    json_t *const document = cli_document(cli, "bench", 1);
    json_object_set_new(document, "kernel", json_string("fa-a2a"));
    json_object_set_new(document, "facts", cli_bench_facts());
    json_object_set_new(document, "rows", cli_table_json(&table));
    const int code = cli_emit(cli, document, &table, CLI_GOOD);
    free(list.rows);
    return code;
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
