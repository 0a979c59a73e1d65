/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + exchange, shape by shape.
 */
#include "bench_rows.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/shapes.h>

#include "bench_trace.h"
#include "data_dir.h"
#include "options.h"

struct job {
    struct cli *cli;
    struct xst_profile profile;
    struct cli_bench_list list;
};

static int64_t pairs_of(const char *word)
{
    return strcmp(word, "always") == 0 ? 2 : strcmp(word, "never") == 0;
}

/* One shape of a preset or of the options, with one length. */
static enum xst_status bench_shape(struct job *job, const char *preset_name, int64_t seq)
{
    struct cli *const cli = job->cli;
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
                                     .pairs = pairs_of(cli_text(cli, "pairs")),
                                     .slices = cli_int(cli, "slices"),
                                     .rounds = cli_int(cli, "rounds"),
                                     .calls = cli_int(cli, "calls"),
                                     .seed = cli_has(cli, "seed") ? (uint64_t)cli_int(cli, "seed") : 1};
    if (xst_target_parse(cli_has(cli, "target") ? cli_text(cli, "target") : "host", &bench.target) != 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--target names no target");
    bench.drain_bytes_per_us = cli_bench_drain(&job->profile, bench.target);
    status = xst_fa_a2a_bench_run(&bench, rows, &cli->diag);
    for (int v = 0; v < XST_FA_A2A_VARIANT_COUNT && status == XST_OK; v++)
        status = cli_bench_add(cli, &job->list, preset ? preset->name : "", &bench, &rows[v]);
    return status;
}

static enum xst_status bench_lengths(struct job *job, const char *preset_name)
{
    const struct cli_sweep *const lengths = cli_sweep_of(job->cli, "seq");
    if (!lengths->count)
        return bench_shape(job, preset_name, 0);
    for (size_t i = 0; i < lengths->count; i++) {
        const enum xst_status status = bench_shape(job, preset_name, (int64_t)lengths->values[i]);
        if (status != XST_OK)
            return status;
    }
    return XST_OK;
}

static enum xst_status bench_all(struct job *job)
{
    struct cli *const cli = job->cli;
    char names[1024], *rest = names, *name;
    enum xst_status status = XST_OK;
    if (!cli_has(cli, "preset"))
        return bench_lengths(job, NULL);
    if (strlen(cli_text(cli, "preset")) >= sizeof names)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--preset is longer than %zu bytes", sizeof names - 1);
    strcpy(names, cli_text(cli, "preset"));
    while (status == XST_OK && (name = strsep(&rest, ",")))
        status = bench_lengths(job, name);
    return status;
}

int cli_bench_fa_a2a(struct cli *cli)
{
    struct job job = {.cli = cli};
    enum xst_status status = cli_bench_trace_check(cli);
    if (status == XST_OK && cli_has(cli, "profile"))
        status = cli_profile_load(cli, &job.profile);
    if (status == XST_OK)
        status = bench_all(&job);
    if (status == XST_OK && cli_has(cli, "trace"))
        status = cli_bench_trace(cli, &job.list.rows[0].bench);
    const struct cli_table table = cli_bench_table(&job.list);
    const int code = status == XST_OK ? cli_bench_emit(cli, "fa-a2a", &table) : cli_fail(cli, status);
    free(job.list.rows);
    xst_profile_free(&job.profile);
    return code;
}
