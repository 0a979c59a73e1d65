/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + exchange, shape by shape.
 */
#include "bench_rows.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/shapes.h>

#include "bench_trace.h"
#include "options.h"

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
    if (xst_target_parse(cli_has(cli, "target") ? cli_text(cli, "target") : "host", &bench.target) != 0)
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

int cli_bench_fa_a2a(struct cli *cli)
{
    struct cli_bench_list list = {0};
    enum xst_status status = cli_bench_trace_check(cli);
    if (status == XST_OK)
        status = bench_all(cli, &list);
    if (status == XST_OK && cli_has(cli, "trace"))
        status = cli_bench_trace(cli, &list.rows[0].bench);
    const struct cli_table table = cli_bench_table(&list);
    const int code = status == XST_OK ? cli_bench_emit(cli, "fa-a2a", &table) : cli_fail(cli, status);
    free(list.rows);
    return code;
}
