/* SPDX-License-Identifier: Apache-2.0
 *
 * T0 and Q of every path.
 */
#include "report/html.h"

enum { MOST_COLUMNS = 16 };

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
    xsti_putf(out,
              "<div class=\"scroll\"><table><thead><tr><th class=\"w\">%s</th><th>capacity</th><th>from</th><th>to</th>"
              "<th>per producer</th><th>rows</th></tr></thead><tbody>\n",
              name);
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        xsti_putf(out, "<tr><th>K = %lld</th>", (long long)point->producers);
        xsti_put_bytes_cell(out, 1, point->bytes);
        xsti_putf(out, "<td>%s</td><td>%s</td>", xsti_bytes_words(point->low, text),
                  xsti_bytes_words(point->high, high));
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
        if (path->issue_floor.count + path->capacity.count + path->release_floor.count + path->release_capacity.count ==
            0)
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
    xsti_put(out,
             "<p class=\"note\">T0 in bold: large-gap plateau; plain: isolated burst of the fewest producers.</p>\n");
}
