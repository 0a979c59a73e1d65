/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_trace.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/text_file.h>

#include "options.h"
#include "output.h"

/* Bits of the variants named. */
static enum xst_status parse_variants(struct cli *cli, unsigned *variants_out)
{
    char names[256], *rest = names, *name;
    unsigned variants = 0;
    const char *const text = cli_text(cli, "trace-variants");
    if (strlen(text) >= sizeof names)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--trace-variants is longer than %zu bytes", sizeof names - 1);
    strcpy(names, text);
    while ((name = strsep(&rest, ","))) {
        int v = 0;
        while (v < XST_FA_A2A_VARIANT_COUNT && strcmp(name, xst_fa_a2a_variant_text((enum xst_fa_a2a_variant)v)) != 0)
            v++;
        if (v == XST_FA_A2A_VARIANT_COUNT || v == XST_FA_A2A_VARIANT_FA_ONLY || v == XST_FA_A2A_VARIANT_SERIAL)
            return cli_say(&cli->diag, XST_ERR_USAGE,
                           "--trace-variants: \"%.40s\" is none of a2a_only, fused_st16, fused_bulk, fused_paced",
                           name);
        variants |= 1u << v;
    }
    *variants_out = variants;
    return XST_OK;
}

enum xst_status cli_bench_trace_check(struct cli *cli)
{
    unsigned variants;
    if (!cli_has(cli, "trace"))
        return XST_OK;
    if (cli_sweep_of(cli, "seq")->count > 1 || (cli_has(cli, "preset") && strchr(cli_text(cli, "preset"), ',')))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--trace takes one shape, not several");
    const enum xst_status status = parse_variants(cli, &variants);
    return status == XST_OK ? xst_text_check(cli_text(cli, "trace"), cli->force, &cli->diag) : status;
}

enum xst_status cli_bench_trace(struct cli *cli, const struct xst_fa_a2a_bench *bench)
{
    struct xst_trace trace;
    unsigned variants;
    char *text = NULL;
    enum xst_status status = parse_variants(cli, &variants);
    if (status == XST_OK)
        status = xst_fa_a2a_bench_trace(bench, variants, &trace, &cli->diag);
    if (status != XST_OK)
        return status;
    status = xst_trace_write(&trace, &text, &cli->diag);
    if (status == XST_OK)
        status = cli_write(cli, cli_text(cli, "trace"), text, strlen(text));
    if (status == XST_OK)
        cli_note(cli, "%zu spans of %lld calls in %s; ui.perfetto.dev opens it", trace.span_count,
                 (long long)trace.call_count, cli_text(cli, "trace"));
    free(text);
    xst_trace_free(&trace);
    return status;
}
