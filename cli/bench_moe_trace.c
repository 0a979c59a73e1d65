/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_moe_trace.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/text_file.h>

#include "options.h"
#include "output.h"

enum { MOST_TRACED = 4 }; /* two schedules, two stores */

enum xst_status cli_bench_moe_trace_check(struct cli *cli)
{
    static const char *const sweeps[] = {"tokens", "remote-frac", "lead", "group", "unit", "ring"};
    if (!cli_has(cli, "trace"))
        return XST_OK;
    if (cli_has(cli, "preset") && strchr(cli_text(cli, "preset"), ','))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--trace takes one layer, not several");
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        if (cli_sweep_of(cli, sweeps[i])->count > 1)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--trace takes one layer and order: one value of --%s",
                           sweeps[i]);
    if (strcmp(cli_text(cli, "dedup"), "both") == 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--trace takes one layer and order: --dedup on or off, not both");
    const int64_t tile_rows = cli_int(cli, "tile-rows");
    if (tile_rows != 0 && tile_rows != 128)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--trace goes with --tile-rows 128, not %lld", (long long)tile_rows);
    return xst_text_check(cli_text(cli, "trace"), cli->force, &cli->diag);
}

static int has_name(const struct xst_moe_bench_entry *entries, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(xst_moe_trace_variant(&entries[i].order), name) == 0)
            return 1;
    return 0;
}

static enum xst_status write_trace(struct cli *cli, const struct xst_trace *trace)
{
    char *text = NULL;
    enum xst_status status = xst_trace_write(trace, &text, &cli->diag);
    if (status == XST_OK)
        status = cli_write(cli, cli_text(cli, "trace"), text, strlen(text));
    if (status == XST_OK)
        cli_note(cli, "%zu spans of %lld calls in %s; ui.perfetto.dev opens it", trace->span_count,
                 (long long)trace->call_count, cli_text(cli, "trace"));
    free(text);
    return status;
}

enum xst_status cli_bench_moe_trace(struct cli *cli, const struct xst_moe_bench *bench,
                                    const struct xst_moe_bench_entry *entries, size_t count,
                                    struct cli_bench_moe_row *rows)
{
    struct xst_moe_bench_entry traced[MOST_TRACED] = {{0}};
    size_t row_of[MOST_TRACED] = {0}, kept = 0;
    struct xst_trace trace;
    for (size_t i = 0; i < count && kept < MOST_TRACED; i++)
        if (entries[i].form == XST_MOE_FORM_FUSED &&
            !has_name(traced, kept, xst_moe_trace_variant(&entries[i].order))) {
            row_of[kept] = i;
            traced[kept++] = entries[i];
        }
    enum xst_status status = xst_moe_bench_trace(bench, traced, kept, &trace, &cli->diag);
    if (status != XST_OK)
        return status;
    for (size_t i = 0; i < kept; i++) {
        struct xst_trace_times times;
        xst_trace_sum(&trace, (int64_t)i, &times);
        rows[row_of[i]].stall_us = times.stall_us;
        rows[row_of[i]].issue_us = times.issue_us;
    }
    status = write_trace(cli, &trace);
    xst_trace_free(&trace);
    return status;
}
