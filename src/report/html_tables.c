/* SPDX-License-Identifier: Apache-2.0
 *
 * T0 and Q of every path, validation errors, and the account of rows.
 */
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/rows.h"

enum { MOST_COLUMNS = 16, MOST_OUTLIERS = 40, REASON_COUNT = 32 };

static int same_bytes_before(const struct xst_floor_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (table->points[i].bytes_per_producer == table->points[index].bytes_per_producer)
            return 1;
    return 0;
}

static const struct xst_floor_point *point_at(const struct xst_floor_table *table, int64_t producers, int64_t bytes)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->points[i].producers == producers && table->points[i].bytes_per_producer == bytes)
            return &table->points[i];
    return NULL;
}

/* Index of the smallest byte count above `after` in the table; the count when there is none. */
static size_t next_bytes(const struct xst_floor_table *table, int64_t after)
{
    size_t best = table->count;
    for (size_t i = 0; i < table->count; i++)
        if (!same_bytes_before(table, i) && table->points[i].bytes_per_producer > after &&
            (best == table->count || table->points[i].bytes_per_producer < table->points[best].bytes_per_producer))
            best = i;
    return best;
}

/* Plateaus in bold, isolated bursts plain, other sources named. */
static void put_floor_cell(struct xsti_out *out, const struct xst_floor_point *point)
{
    char text[XSTI_NUMBER_BYTES];
    xsti_number_words(point->us, text);
    if (point->source == XST_FLOOR_SOURCE_PLATEAU)
        xsti_putf(out, "<td><strong>%s</strong></td>", text);
    else if (point->source == XST_FLOOR_SOURCE_ISOLATED)
        xsti_putf(out, "<td>%s</td>", text);
    else
        xsti_putf(out, "<td>%s <small>%s</small></td>", text, xst_floor_source_text(point->source));
}

/* Bytes down, producers across. */
static void put_floor_table(struct xsti_out *out, const struct xst_floor_table *table, const char *name)
{
    int64_t columns[MOST_COLUMNS], bytes = -1;
    size_t count = 0;
    char text[XSTI_NUMBER_BYTES];
    if (table->count == 0)
        return;
    for (size_t i = 0; i < table->count && count < MOST_COLUMNS; i++)
        if (count == 0 || table->points[i].producers != columns[count - 1])
            columns[count++] = table->points[i].producers;
    xsti_putf(out, "<div class=\"scroll\"><table><thead><tr><th class=\"w\">%s<br><small>\xC2\xB5s</small></th>", name);
    for (size_t c = 0; c < count; c++)
        xsti_putf(out, "<th>K = %lld</th>", (long long)columns[c]);
    xsti_put(out, "</tr></thead><tbody>\n");
    for (size_t row = next_bytes(table, bytes); row < table->count; row = next_bytes(table, bytes)) {
        bytes = table->points[row].bytes_per_producer;
        xsti_putf(out, "<tr><th>%s</th>", xsti_bytes_words((double)bytes, text));
        for (size_t c = 0; c < count; c++) {
            const struct xst_floor_point *const point = point_at(table, columns[c], bytes);
            if (point)
                put_floor_cell(out, point);
            else
                xsti_put(out, "<td></td>");
        }
        xsti_put(out, "</tr>\n");
    }
    xsti_put(out, "</tbody></table></div>\n");
}

static void put_capacity_table(struct xsti_out *out, const struct xst_capacity_table *table, const char *name)
{
    char text[XSTI_NUMBER_BYTES], high[XSTI_NUMBER_BYTES];
    if (table->count == 0)
        return;
    xsti_putf(out, "<div class=\"scroll\"><table><thead><tr><th class=\"w\">%s</th><th>capacity</th><th>from</th><th>to</th>"
                   "<th>per producer</th><th>rows</th></tr></thead><tbody>\n",
              name);
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        xsti_putf(out, "<tr><th>K = %lld</th>", (long long)point->producers);
        xsti_put_bytes_cell(out, 1, point->bytes);
        xsti_putf(out, "<td>%s</td><td>%s</td>", xsti_bytes_words(point->low, text), xsti_bytes_words(point->high, high));
        xsti_put_bytes_cell(out, 1, point->bytes / (double)point->producers);
        xsti_putf(out, "<td>%lld</td></tr>\n", (long long)point->n);
    }
    xsti_put(out, "</tbody></table></div>\n");
}

void xsti_put_path_details(struct xsti_out *out, const struct xst_profile *profile)
{
    char name[XST_NAME_BYTES];
    int open = 1;
    for (size_t i = 0; i < profile->path_count; i++) {
        const struct xst_path *const path = &profile->paths[i];
        if (path->issue_floor.count + path->capacity.count + path->release_floor.count + path->release_capacity.count == 0)
            continue;
        /* The first path that matters stands open; the others are a click away. */
        const int first = open && path->target != XST_TARGET_LOCAL && xsti_path_is_default(path);
        open &= !first;
        xsti_put(out, first ? "<details open><summary>" : "<details><summary>");
        xsti_put_escaped(out, xst_path_text(path, name, sizeof name));
        xsti_put(out, ": T0 and Q</summary>\n<div class=\"tables\">\n");
        put_floor_table(out, &path->issue_floor, "T0");
        put_capacity_table(out, &path->capacity, "Q(K)");
        put_floor_table(out, &path->release_floor, "T0 of the release");
        put_capacity_table(out, &path->release_capacity, "Q(K) of the release");
        xsti_put(out, "</div></details>\n");
    }
    xsti_put(out, "<p class=\"note\">T0 in bold: large-gap plateau; plain: isolated burst of the fewest producers.</p>\n");
}

static void put_validation_row(struct xsti_out *out, const struct xst_validation_row *row)
{
    const struct xst_path path = {.target = row->path.target,
                                  .direction = row->path.direction,
                                  .method = row->path.method,
                                  .threads = row->path.threads,
                                  .piece_bytes = row->path.piece_bytes,
                                  .pitch_bytes = row->path.pitch_bytes};
    char name[XST_NAME_BYTES];
    const int known = row->n > 0;
    xsti_put(out, "<tr><th>");
    xsti_put_escaped(out, xst_path_text(&path, name, sizeof name));
    xsti_putf(out, "</th><td class=\"w\">%s</td><td class=\"w\">%s</td><td class=\"w\">%s</td><td>%lld</td>",
              xst_quantity_text(row->quantity), xst_rows_text(row->rows), xst_model_text(row->model), (long long)row->n);
    xsti_put_percent_cell(out, known, row->median_abs_rel_err);
    xsti_put_percent_cell(out, known, row->p90_abs_rel_err);
    xsti_put_percent_cell(out, known, row->max_abs_rel_err);
    xsti_put_percent_cell(out, known, row->bias);
    xsti_put_number_cell(out, known, row->median_abs_err_us);
    xsti_put(out, "</tr>\n");
}

static int is_default_key(const struct xst_path_key *key)
{
    return (key->threads == 256 || key->threads == 0) && key->piece_bytes == 0 && key->pitch_bytes == 0;
}

static void put_validation_table(struct xsti_out *out, const struct xst_validation *validation, int defaults, int held_out)
{
    xsti_put(out, "<div class=\"scroll\"><table><thead><tr><th class=\"w\">path</th><th class=\"w\">quantity</th>"
                  "<th class=\"w\">rows</th><th class=\"w\">model</th><th>n</th><th>median</th><th>p90</th><th>worst</th>"
                  "<th>bias</th><th>median<br><small>\xC2\xB5s</small></th></tr></thead><tbody>\n");
    for (size_t i = 0; i < validation->row_count; i++)
        if (is_default_key(&validation->rows[i].path) == defaults && !validation->rows[i].held_out == !held_out)
            put_validation_row(out, &validation->rows[i]);
    xsti_put(out, "</tbody></table></div>\n");
}

void xsti_put_validation(struct xsti_out *out, const struct xst_validation *validation)
{
    size_t counts[2][2] = {{0}};
    for (size_t i = 0; i < validation->row_count; i++)
        counts[is_default_key(&validation->rows[i].path)][validation->rows[i].held_out != 0]++;
    xsti_put(out, "<p>Relative errors of each law on every recorded row, beside the completion-coupled rival (5). Periods are compared"
                  " as totals of a run; issue errors are over the measured period; bias is prediction minus measurement.</p>\n");
    put_validation_table(out, validation, 1, 0);
    if (counts[1][1]) {
        xsti_put(out, "<details><summary>Only rows that served no parameter (held out)</summary>\n");
        put_validation_table(out, validation, 1, 1);
        xsti_put(out, "</details>\n");
    }
    if (counts[0][0]) {
        xsti_put(out, "<details><summary>Other thread counts and patterns</summary>\n");
        put_validation_table(out, validation, 0, 0);
        xsti_put(out, "</details>\n");
    }
    if (validation->unmatched_rows)
        xsti_putf(out, "<p class=\"note\">%lld rows belong to paths or sizes this profile does not know.</p>\n",
                  (long long)validation->unmatched_rows);
}

static void put_outliers(struct xsti_out *out, const struct xst_report_section *section)
{
    const struct xst_fit *const fit = section->fit;
    char value[XSTI_NUMBER_BYTES], expected[XSTI_NUMBER_BYTES];
    xsti_putf(out, "<details><summary>%zu outliers: used, but far from the law they should follow</summary>\n<div class=\"scroll\">"
                   "<table><thead><tr><th class=\"w\">row</th><th class=\"w\">parameter</th><th>from this row</th><th>fitted</th></tr>"
                   "</thead><tbody>\n",
              fit->outlier_count);
    for (size_t i = 0; i < fit->outlier_count && i < MOST_OUTLIERS; i++) {
        const struct xst_outlier *const outlier = &fit->outliers[i];
        if (outlier->row >= section->samples->row_count)
            continue;
        const struct xst_sample *const row = &section->samples->rows[outlier->row];
        const int bytes = strstr(outlier->quantity, "capacity") != NULL, rate = strcmp(outlier->quantity, "drain") == 0;
        xsti_putf(out, "<tr><th>%s, K = %lld, %s, gap %s \xC2\xB5s", xst_mode_text(row->mode), (long long)row->producers,
                  xsti_bytes_words((double)row->bytes_per_producer, value), xsti_number_words(row->gap_us, expected));
        xsti_putf(out, "%s</th><td class=\"w\">", row->line ? "" : "");
        xsti_put_escaped(out, outlier->quantity);
        const double scale = rate ? 1e-3 : 1;
        xsti_putf(out, "</td><td>%s%s</td><td>%s%s</td></tr>\n",
                  bytes ? xsti_bytes_words(outlier->value, value) : xsti_number_words(outlier->value * scale, value),
                  rate ? " GB/s" : bytes ? "" : " \xC2\xB5s",
                  bytes ? xsti_bytes_words(outlier->expected, expected) : xsti_number_words(outlier->expected * scale, expected),
                  rate ? " GB/s" : bytes ? "" : " \xC2\xB5s");
    }
    xsti_put(out, "</tbody></table></div>\n");
    if (fit->outlier_count > MOST_OUTLIERS)
        xsti_putf(out, "<p class=\"note\">%zu more are not shown.</p>\n", fit->outlier_count - MOST_OUTLIERS);
    xsti_put(out, "</details>\n");
}

void xsti_put_rows_account(struct xsti_out *out, const struct xst_report_section *section)
{
    const struct xst_fit *const fit = section->fit;
    size_t reasons[REASON_COUNT] = {0}, used = 0;
    for (size_t i = 0; i < fit->row_count; i++) {
        used += fit->used[i] != 0;
        if (!fit->used[i] && (size_t)fit->exclude[i] < REASON_COUNT)
            reasons[fit->exclude[i]]++;
    }
    xsti_putf(out, "<p>%zu of %zu rows identify a parameter; %lld numbers were fitted. The others serve for validation only:</p>\n"
                   "<div class=\"scroll\"><table><tbody>\n",
              used, fit->row_count, (long long)fit->parameter_count);
    for (size_t i = 1; i < REASON_COUNT; i++)
        if (reasons[i])
            xsti_putf(out, "<tr><td>%zu</td><td class=\"wrap\">%s</td></tr>\n", reasons[i],
                      xst_exclude_sentence((enum xst_exclude)i));
    xsti_put(out, "</tbody></table></div>\n");
    if (fit->outlier_count)
        put_outliers(out, section);
}
