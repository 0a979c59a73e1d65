/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of every law, side by side: one line for each path, quantity and kind of rows.
 */
#include "report/html.h"

/* Models in the order of their columns. */
static const enum xst_model models[] = {XST_MODEL_LAW, XST_MODEL_LAW_ALIGNED, XST_MODEL_FLUID,
                                        XST_MODEL_COMPLETION_COUPLED};
enum { MODEL_COUNT = sizeof models / sizeof *models };

static const char *model_words(enum xst_model model)
{
    switch (model) {
    case XST_MODEL_LAW:
        return "free to drift, (1) (4) (7)";
    case XST_MODEL_LAW_ALIGNED:
        return "started together, (11)";
    case XST_MODEL_COMPLETION_COUPLED:
        return "completion-coupled, (5)";
    case XST_MODEL_FLUID:
        return "fluid with dispersion";
    }
    return "?";
}

static int is_default_key(const struct xst_path_key *key)
{
    return (key->threads == 256 || key->threads == 0) && key->piece_bytes == 0 && key->pitch_bytes == 0;
}

static int same_key(const struct xst_path_key *a, const struct xst_path_key *b)
{
    return a->target == b->target && a->direction == b->direction && a->method == b->method &&
           a->threads == b->threads && a->piece_bytes == b->piece_bytes && a->pitch_bytes == b->pitch_bytes;
}

/* Which lines one table shows. */
struct choice {
    const struct xst_validation *validation;
    int defaults;
    int held_out;
};

static int chosen(const struct choice *choice, const struct xst_validation_row *row)
{
    return is_default_key(&row->path) == choice->defaults && !row->held_out == !choice->held_out;
}

static const struct xst_validation_row *find(const struct choice *choice, const struct xst_validation_row *like,
                                             enum xst_model model)
{
    for (size_t i = 0; i < choice->validation->row_count; i++) {
        const struct xst_validation_row *const row = &choice->validation->rows[i];
        if (chosen(choice, row) && row->model == model && row->quantity == like->quantity && row->rows == like->rows &&
            same_key(&row->path, &like->path))
            return row;
    }
    return NULL;
}

static int has_model(const struct choice *choice, enum xst_model model)
{
    for (size_t i = 0; i < choice->validation->row_count; i++)
        if (chosen(choice, &choice->validation->rows[i]) && choice->validation->rows[i].model == model)
            return 1;
    return 0;
}

/* Bias is shown for the law alone. */
static int columns_of(enum xst_model model)
{
    return model == XST_MODEL_LAW ? 4 : 3;
}

/* Median, p90, worst and bias; rows on their floor are compared in us, where a ratio says nothing. */
static void put_errors(struct xsti_out *out, const struct xst_validation_row *row, int columns)
{
    char text[XSTI_NUMBER_BYTES];
    const int known = row && row->n > 0;
    if (known && row->quantity == XST_QUANTITY_ISOLATED_FLOOR) {
        xsti_putf(out, "<td class=\"first\" colspan=\"%d\">%s \xC2\xB5s in the median</td>", columns,
                  xsti_number_words(row->median_abs_err_us, text));
        return;
    }
    const double values[] = {known ? row->median_abs_rel_err : 0, known ? row->p90_abs_rel_err : 0,
                             known ? row->max_abs_rel_err : 0, known ? row->bias : 0};
    for (int i = 0; i < columns; i++)
        xsti_putf(out, i ? "<td>%s</td>" : "<td class=\"first\">%s</td>",
                  known ? xsti_percent_words(values[i], text) : "\xE2\x80\x93");
}

static void put_line(struct xsti_out *out, const struct choice *choice, const struct xst_validation_row *like)
{
    const struct xst_path path = {.target = like->path.target,
                                  .direction = like->path.direction,
                                  .method = like->path.method,
                                  .threads = like->path.threads,
                                  .piece_bytes = like->path.piece_bytes,
                                  .pitch_bytes = like->path.pitch_bytes};
    char name[XST_NAME_BYTES];
    xsti_put(out, "<tr><th>");
    xsti_put_escaped(out, xst_path_text(&path, name, sizeof name));
    xsti_putf(out, "</th><td class=\"w\">%s</td><td class=\"w\">%s</td><td>%lld</td>",
              xst_quantity_text(like->quantity), xst_rows_text(like->rows), (long long)like->n);
    for (size_t m = 0; m < MODEL_COUNT; m++)
        if (has_model(choice, models[m]))
            put_errors(out, find(choice, like, models[m]), columns_of(models[m]));
    xsti_put(out, "</tr>\n");
}

/* The first row of its kind stands for the line. */
static int is_first(const struct choice *choice, size_t index)
{
    const struct xst_validation_row *const row = &choice->validation->rows[index];
    for (size_t i = 0; i < index; i++) {
        const struct xst_validation_row *const before = &choice->validation->rows[i];
        if (chosen(choice, before) && before->quantity == row->quantity && before->rows == row->rows &&
            same_key(&before->path, &row->path))
            return 0;
    }
    return 1;
}

static void put_table(struct xsti_out *out, const struct choice *choice)
{
    xsti_put(
        out,
        "<div class=\"scroll\"><table class=\"errors\"><thead><tr><th class=\"w\" rowspan=\"2\">path</th>"
        "<th class=\"w\" rowspan=\"2\">quantity</th><th class=\"w\" rowspan=\"2\">rows</th><th rowspan=\"2\">n</th>");
    for (size_t m = 0; m < MODEL_COUNT; m++)
        if (has_model(choice, models[m]))
            xsti_putf(out, "<th class=\"first\" colspan=\"%d\">%s</th>", columns_of(models[m]), model_words(models[m]));
    xsti_put(out, "</tr><tr>");
    for (size_t m = 0; m < MODEL_COUNT; m++)
        if (has_model(choice, models[m]))
            xsti_putf(out, "<th class=\"first\">median</th><th>p90</th><th>worst</th>%s",
                      columns_of(models[m]) == 4 ? "<th>bias</th>" : "");
    xsti_put(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < choice->validation->row_count; i++)
        if (chosen(choice, &choice->validation->rows[i]) && is_first(choice, i))
            put_line(out, choice, &choice->validation->rows[i]);
    xsti_put(out, "</tbody></table></div>\n");
}

void xsti_put_validation(struct xsti_out *out, const struct xst_validation *validation, int alone)
{
    size_t counts[2][2] = {{0}};
    for (size_t i = 0; i < validation->row_count; i++)
        counts[is_default_key(&validation->rows[i].path)][validation->rows[i].held_out != 0]++;
    xsti_put(out,
             "<p>Relative errors of each law on every recorded row, beside the completion-coupled rival (5). Periods "
             "are compared"
             " as totals of a run; issue errors are over the measured period; bias is the median of prediction minus"
             " measurement.</p>\n");
    put_table(out, &(struct choice){validation, 1, 0});
    if (counts[1][1]) {
        xsti_put(out, "<details><summary>Only rows that served no parameter (held out)</summary>\n");
        put_table(out, &(struct choice){validation, 1, 1});
        xsti_put(out, "</details>\n");
    }
    if (counts[0][0]) {
        xsti_put(out, "<details><summary>Other thread counts and patterns</summary>\n");
        put_table(out, &(struct choice){validation, 0, 0});
        xsti_put(out, "</details>\n");
    }
    if (alone && validation->unmatched_rows)
        xsti_putf(out, "<p class=\"note\">%lld rows belong to paths or sizes this profile does not know.</p>\n",
                  (long long)validation->unmatched_rows);
}
