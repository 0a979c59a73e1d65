/* SPDX-License-Identifier: Apache-2.0
 *
 * A validation as rows: the same keys in the table, in CSV and in validation[] of the document.
 */
#include <stdlib.h>
#include <string.h>

#include "fit_rows.h"

#define X(NAME, text, meaning) +1
enum { MODEL_COUNT = 0 XST_MODEL_MAP(X) };
#undef X

typedef const struct xst_validation_row *row_ptr;

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const row_ptr r = row;                                                                                         \
        return expression;                                                                                             \
    }
GETTER(target, cli_text_cell(xst_target_text(r->path.target)))
GETTER(direction, cli_text_cell(xst_direction_text(r->path.direction)))
GETTER(method, cli_text_cell(xst_method_text(r->path.method)))
GETTER(threads, cli_int_cell(r->path.threads))
GETTER(piece_bytes, cli_int_cell(r->path.piece_bytes))
GETTER(pitch_bytes, cli_int_cell(r->path.pitch_bytes))
GETTER(quantity, cli_text_cell(xst_quantity_text(r->quantity)))
GETTER(model, cli_text_cell(xst_model_text(r->model)))
GETTER(rows, cli_text_cell(xst_rows_text(r->rows)))
GETTER(held_out, cli_bool_cell(r->held_out))
GETTER(n, cli_int_cell(r->n))
GETTER(median, r->n > 0 ? cli_real_cell(r->median_abs_rel_err) : cli_null())
GETTER(p90, r->n > 0 ? cli_real_cell(r->p90_abs_rel_err) : cli_null())
GETTER(max, r->n > 0 ? cli_real_cell(r->max_abs_rel_err) : cli_null())
GETTER(bias, r->n > 0 ? cli_real_cell(r->bias) : cli_null())
GETTER(median_us, r->n > 0 ? cli_real_cell(r->median_abs_err_us) : cli_null())
#undef GETTER

static const struct cli_column columns[] = {
    {"target", NULL, CLI_SHOW_PLAIN, 0, get_target},
    {"direction", NULL, CLI_SHOW_PLAIN, 0, get_direction},
    {"method", NULL, CLI_SHOW_PLAIN, 0, get_method},
    {"threads", NULL, CLI_SHOW_PLAIN, 1, get_threads},
    {"piece_bytes", NULL, CLI_SHOW_PLAIN, 1, get_piece_bytes},
    {"pitch_bytes", NULL, CLI_SHOW_PLAIN, 1, get_pitch_bytes},
    {"quantity", NULL, CLI_SHOW_PLAIN, 0, get_quantity},
    {"model", NULL, CLI_SHOW_PLAIN, 0, get_model},
    {"rows", NULL, CLI_SHOW_PLAIN, 0, get_rows},
    {"held_out", NULL, CLI_SHOW_PLAIN, 0, get_held_out},
    {"n", NULL, CLI_SHOW_PLAIN, 0, get_n},
    {"median_abs_rel_err", "median", CLI_SHOW_PERCENT, 0, get_median},
    {"p90_abs_rel_err", "p90", CLI_SHOW_PERCENT, 0, get_p90},
    {"max_abs_rel_err", "worst", CLI_SHOW_PERCENT, 0, get_max},
    {"bias", NULL, CLI_SHOW_PERCENT, 0, get_bias},
    {"median_abs_err_us", "median_us", CLI_SHOW_US, 1, get_median_us},
};

struct cli_table cli_validation_table(const struct xst_validation *validation)
{
    return (struct cli_table){columns, sizeof columns / sizeof *columns, validation->rows, validation->row_count,
                              sizeof *validation->rows};
}

int cli_path_is_default(const struct xst_path_key *key)
{
    return key->threads == 256 && key->piece_bytes == 0 && key->pitch_bytes == 0;
}

/* One line of the short table: every model on the same rows. */
struct summary {
    char path[96];
    const struct xst_validation_row *law;                    /* the group's first row: path, quantity, rows */
    const struct xst_validation_row *models[MODEL_COUNT][2]; /* [model][held out] */
};

static struct cli_cell summary_error(const struct summary *summary, enum xst_model model, int held_out, char what)
{
    const struct xst_validation_row *const row = summary->models[model][held_out];
    if (!row || row->n == 0)
        return cli_null();
    switch (what) {
    case 'n':
        return cli_int_cell(row->n);
    case 'm':
        return cli_real_cell(row->median_abs_rel_err);
    case 'p':
        return cli_real_cell(row->p90_abs_rel_err);
    case 'w':
        return cli_real_cell(row->max_abs_rel_err);
    default:
        return cli_real_cell(row->bias);
    }
}

#define SUMMARY(name, expression)                                                                                      \
    static struct cli_cell sum_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct summary *const s = row;                                                                           \
        return expression;                                                                                             \
    }
SUMMARY(path, cli_text_cell(s->path))
SUMMARY(quantity, cli_text_cell(xst_quantity_text(s->law->quantity)))
SUMMARY(rows, cli_text_cell(xst_rows_text(s->law->rows)))
SUMMARY(n, summary_error(s, XST_MODEL_LAW, 0, 'n'))
SUMMARY(law, summary_error(s, XST_MODEL_LAW, 0, 'm'))
SUMMARY(law_p90, summary_error(s, XST_MODEL_LAW, 0, 'p'))
SUMMARY(law_worst, summary_error(s, XST_MODEL_LAW, 0, 'w'))
SUMMARY(law_bias, summary_error(s, XST_MODEL_LAW, 0, 'b'))
SUMMARY(held_n, summary_error(s, XST_MODEL_LAW, 1, 'n'))
SUMMARY(held_law, summary_error(s, XST_MODEL_LAW, 1, 'm'))
SUMMARY(aligned, summary_error(s, XST_MODEL_LAW_ALIGNED, 0, 'm'))
SUMMARY(fluid, summary_error(s, XST_MODEL_FLUID, 0, 'm'))
SUMMARY(rival, summary_error(s, XST_MODEL_COMPLETION_COUPLED, 0, 'm'))
#undef SUMMARY

static const struct cli_column summary_columns[] = {
    {"path", NULL, CLI_SHOW_PLAIN, 0, sum_path},
    {"quantity", NULL, CLI_SHOW_PLAIN, 0, sum_quantity},
    {"rows", NULL, CLI_SHOW_PLAIN, 0, sum_rows},
    {"n", NULL, CLI_SHOW_PLAIN, 0, sum_n},
    {"law", NULL, CLI_SHOW_PERCENT, 0, sum_law},
    {"p90", NULL, CLI_SHOW_PERCENT, 0, sum_law_p90},
    {"worst", NULL, CLI_SHOW_PERCENT, 0, sum_law_worst},
    {"bias", NULL, CLI_SHOW_PERCENT, 0, sum_law_bias},
    {"held_out", NULL, CLI_SHOW_PLAIN, 0, sum_held_n},
    {"law", NULL, CLI_SHOW_PERCENT, 0, sum_held_law},
    {"law_aligned", NULL, CLI_SHOW_PERCENT, 0, sum_aligned},
    {"fluid", NULL, CLI_SHOW_PERCENT, 0, sum_fluid},
    {"rival", NULL, CLI_SHOW_PERCENT, 0, sum_rival},
};

static int same_group(const struct xst_validation_row *a, const struct xst_validation_row *b)
{
    return a->path.target == b->path.target && a->path.direction == b->path.direction &&
           a->path.method == b->path.method && a->path.threads == b->path.threads &&
           a->path.piece_bytes == b->path.piece_bytes && a->path.pitch_bytes == b->path.pitch_bytes &&
           a->quantity == b->quantity && a->rows == b->rows;
}

static size_t summarise(const struct cli *cli, const struct xst_validation *validation, struct summary *summaries)
{
    size_t count = 0;
    for (size_t i = 0; i < validation->row_count; i++) {
        const struct xst_validation_row *const row = &validation->rows[i];
        size_t s = 0;
        if (!cli->verbose && !cli_path_is_default(&row->path))
            continue;
        while (s < count && !same_group(summaries[s].law, row))
            s++;
        if (s == count) {
            const struct xst_path path = {.target = row->path.target,
                                          .direction = row->path.direction,
                                          .method = row->path.method,
                                          .threads = row->path.threads,
                                          .piece_bytes = row->path.piece_bytes,
                                          .pitch_bytes = row->path.pitch_bytes};
            summaries[count++].law = row;
            xst_path_text(&path, summaries[s].path, sizeof summaries[s].path);
        }
        summaries[s].models[row->model][row->held_out != 0] = row;
    }
    return count;
}

void cli_validation_print(const struct cli *cli, const struct xst_validation *validation)
{
    struct summary *const summaries = calloc(validation->row_count + 1, sizeof *summaries);
    if (!summaries)
        return;
    const size_t count = summarise(cli, validation, summaries);
    printf(
        "\n%sValidation%s: median relative error against the recorded rows, with p90, worst and bias of the law; then "
        "the\n"
        "law on held-out rows (served no parameter), the law for bursts that start together, and the rival, in which\n"
        "issue waits for visibility (completion-coupled). Issue errors are over the measured period.\n",
        cli_bold(stdout), cli_plain(stdout));
    const struct cli_table table = {summary_columns, sizeof summary_columns / sizeof *summary_columns, summaries, count,
                                    sizeof *summaries};
    if (count)
        cli_table_print(cli, stdout, &table);
    if (validation->unmatched_rows)
        printf("%lld rows are on paths, or need parameters, that the profile does not have\n",
               (long long)validation->unmatched_rows);
    printf("Every model with p90, worst and bias: --csv or --json%s\n",
           cli->verbose ? "" : "; other thread counts and row patterns: -v");
    free(summaries);
}
