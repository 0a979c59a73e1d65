/* SPDX-License-Identifier: Apache-2.0
 *
 * A validation as rows: the same keys in the table, in CSV and in validation[] of the document.
 */
#include <stdlib.h>
#include <string.h>

#include "fit_rows.h"

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

void cli_validation_print(const struct cli *cli, const struct xst_validation *validation)
{
    struct xst_validation_row *const rows = calloc(validation->row_count + 1, sizeof *rows);
    if (!rows)
        return;
    struct xst_validation shown = {rows, 0, 0};
    for (size_t i = 0; i < validation->row_count; i++) {
        if (cli->verbose || cli_path_is_default(&validation->rows[i].path))
            rows[shown.row_count++] = validation->rows[i];
    }
    printf("\n%sValidation%s: relative error of each law on the recorded rows. completion_coupled is the rival model;\n"
           "held_out: only rows that served no parameter. Issue errors are over the measured period.\n",
           cli_bold(stdout), cli_plain(stdout));
    const struct cli_table table = cli_validation_table(&shown);
    cli_table_print(cli, stdout, &table);
    if (shown.row_count < validation->row_count)
        printf("%zu more lines of other thread counts and row patterns: -v\n", validation->row_count - shown.row_count);
    if (validation->unmatched_rows)
        printf("%lld rows are on paths, or need parameters, that the profile does not have\n",
               (long long)validation->unmatched_rows);
    free(rows);
}
