/* SPDX-License-Identifier: Apache-2.0 */
#include "audit_trace.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/audit_trace.h>

#include "options.h"
#include "output.h"

struct row {
    const char *variant;
    struct xst_trace_check check;
};

#define ROW(row)   ((const struct row *)(row))
#define CHECK(row) (&ROW(row)->check)

static struct cli_cell number_cell(const struct xst_number *number)
{
    return number->known ? cli_real_cell(number->value) : cli_null();
}

static struct cli_cell get_variant(const void *row)
{
    return cli_text_cell(ROW(row)->variant);
}

static struct cli_cell get_rank(const void *row)
{
    return cli_int_cell(CHECK(row)->rank);
}

static struct cli_cell get_what(const void *row)
{
    return cli_text_cell(xst_trace_check_text(CHECK(row)->name));
}

static struct cli_cell get_kind(const void *row)
{
    const enum xst_trace_check_kind kind = xst_trace_check_kind(CHECK(row)->name);
    return cli_text_cell(kind == XST_TRACE_CHECK_EQUAL   ? "promise"
                         : kind == XST_TRACE_CHECK_LEAST ? "bound"
                                                         : "prediction");
}

static struct cli_cell get_promised(const void *row)
{
    return number_cell(&CHECK(row)->promised);
}

static struct cli_cell get_observed(const void *row)
{
    return number_cell(&CHECK(row)->observed);
}

static struct cli_cell get_holds(const void *row)
{
    return CHECK(row)->holds == XST_ANSWER_UNKNOWN ? cli_null() : cli_bool_cell(CHECK(row)->holds == XST_ANSWER_YES);
}

static struct cli_cell get_meaning(const void *row)
{
    return cli_text_cell(xst_trace_check_meaning(CHECK(row)->name));
}

static const struct cli_column columns[] = {
    {"variant", NULL, CLI_SHOW_PLAIN, 0, get_variant},  {"rank", NULL, CLI_SHOW_PLAIN, 0, get_rank},
    {"what", NULL, CLI_SHOW_PLAIN, 0, get_what},        {"kind", NULL, CLI_SHOW_PLAIN, 0, get_kind},
    {"promised", NULL, CLI_SHOW_FULL, 0, get_promised}, {"observed", NULL, CLI_SHOW_FULL, 0, get_observed},
    {"holds", NULL, CLI_SHOW_PLAIN, 0, get_holds},      {"meaning", NULL, CLI_SHOW_PLAIN, 1, get_meaning},
};

/* The trace says what ran. */
static enum xst_status check_options(struct cli *cli)
{
    static const char *const said[] =
        {"preset",        "ranks",         "heads",     "head-dim",         "seq",        "batch",   "phase",
         "method",        "tile-rows",     "tile-cols", "attention-tflops", "producers",  "stages",  "brief",
         "staging-slots", "element-bytes", "target",    "hidden",           "inter",      "experts", "topk",
         "tokens",        "schedule",      "lead",      "act-frac",         "gemm-tflops"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (cli_given(cli, said[i]))
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s does not go with --trace: the trace says what ran",
                           said[i]);
    return XST_OK;
}

static json_t *document_of(const struct cli *cli, const struct xst_profile *profile, const struct xst_trace *trace,
                           const struct cli_table *table, int broken)
{
    json_t *const document = cli_document(cli, "audit_trace", 1), *const facts = json_object();
    for (int64_t i = 0; i < trace->fact_count; i++)
        json_object_set_new(facts, trace->facts[i].name, json_integer((json_int_t)trace->facts[i].value));
    json_object_set_new(document, "kernel", json_string(trace->kernel));
    json_object_set_new(document, "facts", facts);
    json_object_set_new(document, "profile", json_pack("{s:s, s:s}", "name", profile->name, "id", profile->id));
    json_object_set_new(document, "holds", json_boolean(!broken));
    json_object_set_new(document, "checks", cli_table_json(table));
    return document;
}

static int emit(struct cli *cli, const struct xst_profile *profile, const struct xst_trace *trace,
                const struct row *rows, size_t count)
{
    const struct cli_table table = {columns, sizeof columns / sizeof *columns, rows, count, sizeof *rows};
    const char *const output = cli_text(cli, "output");
    size_t broken = 0;
    for (size_t i = 0; i < count; i++)
        broken += rows[i].check.holds == XST_ANSWER_NO;
    json_t *const document = document_of(cli, profile, trace, &table, broken > 0);
    if (cli_wants_text(cli) && !(output && strcmp(output, "-") == 0)) {
        cli_table_print(cli, stdout, &table);
        printf("%s%s%s\n", broken ? cli_bad(stdout) : cli_good(stdout),
               broken ? "the kernel did not do what its traffic description promises"
                      : "every promise of the traffic description is kept",
               cli_plain(stdout));
    }
    const enum xst_status status = output ? cli_write_json(cli, output, document) : XST_OK;
    if (status != XST_OK) {
        json_decref(document);
        return cli_fail(cli, status);
    }
    return cli_emit(cli, document, &table, broken ? CLI_NO : CLI_GOOD);
}

int cli_audit_trace(struct cli *cli, const struct xst_profile *profile)
{
    struct xst_trace trace = {0};
    struct xst_trace_check *const checks = malloc(XST_TRACE_MOST_CHECKS * sizeof *checks);
    struct row *const rows = malloc(XST_TRACE_MOST_CHECKS * sizeof *rows);
    const struct xst_audit_options options = {.extrapolate = cli_given(cli, "extrapolate"),
                                              .peak_tflops =
                                                  cli_has(cli, "peak-tflops") ? cli_real(cli, "peak-tflops") : 0};
    size_t count = 0;
    enum xst_status status = checks && rows ? check_options(cli) : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    if (status == XST_OK)
        status = xst_trace_read(cli_text(cli, "trace"), &trace, &cli->diag);
    if (status == XST_OK)
        status = (strcmp(cli->args[0], "moe") == 0 ? xst_audit_moe_trace
                                                   : xst_audit_fa_a2a_trace)(&trace, profile, &options, checks,
                                                                             XST_TRACE_MOST_CHECKS, &count, &cli->diag);
    for (size_t i = 0; status == XST_OK && i < count; i++)
        rows[i] = (struct row){trace.calls[checks[i].call].variant, checks[i]};
    const int code = status == XST_OK ? emit(cli, profile, &trace, rows, count) : cli_fail(cli, status);
    xst_trace_free(&trace);
    free(checks);
    free(rows);
    return code;
}
