/* SPDX-License-Identifier: Apache-2.0 */
#include "compare_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <xstage/compare.h>

#include "options.h"
#include "output.h"

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct xst_bench_comparison_row *const r = row;                                                          \
        return expression;                                                                                             \
    }
GETTER(cell, cli_text_cell(r->key))
GETTER(before, r->before_known ? cli_real_cell(r->before_us) : cli_null())
GETTER(after, r->after_known ? cli_real_cell(r->after_us) : cli_null())
GETTER(change, r->before_known && r->after_known ? cli_real_cell(r->change_frac) : cli_null())
GETTER(noise, r->before_known && r->after_known ? cli_real_cell(r->noise_frac) : cli_null())
GETTER(verdict, cli_text_cell(xst_moved_text(r->moved)))
#undef GETTER

static const struct cli_column columns[] = {
    {"cell", NULL, CLI_SHOW_PLAIN, 0, get_cell},
    {"before_us", NULL, CLI_SHOW_PLAIN, 0, get_before},
    {"after_us", NULL, CLI_SHOW_PLAIN, 0, get_after},
    {"change_frac", "change", CLI_SHOW_PERCENT, 0, get_change},
    {"noise_frac", "noise", CLI_SHOW_PERCENT, 0, get_noise},
    {"verdict", NULL, CLI_SHOW_PLAIN, 0, get_verdict},
};

static struct cli_table table_of(const struct xst_bench_comparison_row *rows, size_t count)
{
    return (struct cli_table){columns, sizeof columns / sizeof *columns, rows, count, sizeof *rows};
}

static int64_t in_common(const struct xst_bench_comparison *comparison)
{
    return comparison->moved[XST_MOVED_SAME] + comparison->moved[XST_MOVED_BETTER] + comparison->moved[XST_MOVED_WORSE];
}

/* What moved; -v: all cells. */
static enum xst_status print(struct cli *cli, const struct xst_bench_comparison *comparison)
{
    struct xst_bench_comparison_row *const shown = calloc(comparison->row_count + 1, sizeof *shown);
    const int64_t *const moved = comparison->moved;
    size_t count = 0;
    if (!shown)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < comparison->row_count; i++) {
        const enum xst_moved how = comparison->rows[i].moved;
        if (cli->verbose || how == XST_MOVED_WORSE || how == XST_MOVED_BETTER)
            shown[count++] = comparison->rows[i];
    }
    for (int i = 0; i < 2; i++)
        printf("%-7s %s (%s): %s\n", i == 0 ? "before" : "after", cli->args[i], comparison->kernel[i],
               comparison->machine[i][0] ? comparison->machine[i] : "no machine facts");
    printf("\n");
    const struct cli_table table = table_of(shown, count);
    if (count)
        cli_table_print(cli, stdout, &table);
    free(shown);
    printf(
        "%s%lld slower, %lld faster, %lld within the noise; %lld in the first record only, %lld in the second only%s\n",
        count ? "\n" : "", (long long)moved[XST_MOVED_WORSE], (long long)moved[XST_MOVED_BETTER],
        (long long)moved[XST_MOVED_SAME], (long long)moved[XST_MOVED_REMOVED], (long long)moved[XST_MOVED_ADDED],
        cli->verbose ? "" : " (-v shows every cell)");
    if (in_common(comparison))
        printf("%s%s%s\n", moved[XST_MOVED_WORSE] ? cli_bad(stdout) : cli_good(stdout),
               moved[XST_MOVED_WORSE] ? "regression" : "no regression", cli_plain(stdout));
    return XST_OK;
}

static json_t *record_json(const struct cli *cli, const struct xst_bench_comparison *comparison, int i)
{
    return json_pack("{s:o, s:o, s:o}", "file", cli_string(cli->args[i]), "kernel", cli_string(comparison->kernel[i]),
                     "machine", cli_string(comparison->machine[i]));
}

static json_t *document_of(const struct cli *cli, const struct xst_bench_comparison *comparison, double noise_frac)
{
    const struct cli_table table = table_of(comparison->rows, comparison->row_count);
    json_t *const document = cli_document(cli, "compare", 1), *const counts = json_object();
    for (int i = 0; i < XST_MOVED_COUNT; i++)
        json_object_set_new(counts, xst_moved_text((enum xst_moved)i), json_integer(comparison->moved[i]));
    json_object_set_new(document, "kind", json_string("bench"));
    json_object_set_new(document, "before", record_json(cli, comparison, 0));
    json_object_set_new(document, "after", record_json(cli, comparison, 1));
    json_object_set_new(document, "noise", json_pack("{s:f}", "time_frac", noise_frac));
    json_object_set_new(document, "regression",
                        in_common(comparison) ? json_boolean(comparison->moved[XST_MOVED_WORSE] > 0) : json_null());
    json_object_set_new(document, "counts", counts);
    json_object_set_new(document, "rows", cli_table_json(&table));
    return document;
}

int cli_compare_bench(struct cli *cli, const char *before, const char *after)
{
    struct xst_bench_comparison comparison = {0};
    const double noise_frac = cli_has(cli, "noise") && !cli_given(cli, "noise-time-frac")
                                  ? cli_real(cli, "noise")
                                  : cli_real(cli, "noise-time-frac");
    enum xst_status status = xst_bench_compare(before, after, noise_frac, &comparison, &cli->diag);
    if (status == XST_OK && cli_wants_text(cli))
        status = print(cli, &comparison);
    const struct cli_table table = table_of(comparison.rows, comparison.row_count);
    const int common = in_common(&comparison) > 0;
    int code;
    if (status != XST_OK)
        code = cli_fail(cli, status);
    else
        code = cli_emit(cli, document_of(cli, &comparison, noise_frac), &table,
                        comparison.moved[XST_MOVED_WORSE] ? CLI_NO : CLI_GOOD);
    if (status == XST_OK && code == CLI_GOOD && !common)
        code = cli_complain(cli, XST_ERR_NO_DATA, "%s and %s have no cell in common", before, after);
    xst_bench_comparison_free(&comparison);
    return code;
}
