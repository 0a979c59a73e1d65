/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a sweep, for a person and for programs.
 */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "simulate_sweep.h"

#define AXIS_GETTER(a)                                                                                                 \
    static struct cli_cell get_axis_##a(const void *row)                                                               \
    {                                                                                                                  \
        return ((const struct sweep_row *)row)->axes[a];                                                               \
    }
AXIS_GETTER(0)
AXIS_GETTER(1)
AXIS_GETTER(2)
AXIS_GETTER(3)

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct sweep_outcome *const o = &((const struct sweep_row *)row)->outcome;                               \
        return o->done ? expression : cli_null();                                                                      \
    }
GETTER(ranks, cli_int_cell(o->ranks))
GETTER(lead_tiles, o->lead_tiles ? cli_int_cell(o->lead_tiles) : cli_null())
GETTER(makespan_us, cli_real_cell(o->makespan_us))
GETTER(sender_us, cli_real_cell(o->sender_us))
GETTER(free_us, o->free_us >= 0 ? cli_real_cell(o->free_us) : cli_null())
GETTER(exposed_us, o->free_us >= 0 ? cli_real_cell(o->exposed_us) : cli_null())
GETTER(issue_us, cli_real_cell(o->issue_us))
GETTER(issue_max_us, cli_real_cell(o->issue_max_us))
GETTER(backlog_peak_bytes, cli_real_cell(o->backlog_peak_bytes))
GETTER(sent_bytes, cli_real_cell(o->sent_bytes))
GETTER(tiles, cli_int_cell(o->tiles))
GETTER(bursts, cli_int_cell(o->bursts))

static struct cli_cell get_no_progress(const void *row)
{
    return cli_text_cell(((const struct sweep_row *)row)->outcome.reason);
}

static const struct cli_column fixed_columns[] = {
    {"ranks", NULL, CLI_SHOW_PLAIN, 0, get_ranks},
    {"lead_tiles", "lead", CLI_SHOW_PLAIN, 1, get_lead_tiles},
    {"makespan_us", "makespan", CLI_SHOW_US, 0, get_makespan_us},
    {"sender_us", "issued", CLI_SHOW_US, 0, get_sender_us},
    {"free_us", "without exchange", CLI_SHOW_US, 0, get_free_us},
    {"exposed_us", "exposed", CLI_SHOW_US, 0, get_exposed_us},
    {"issue_us", "issue", CLI_SHOW_US, 0, get_issue_us},
    {"issue_max_us", "longest", CLI_SHOW_US, 0, get_issue_max_us},
    {"backlog_peak_bytes", "backlog", CLI_SHOW_BYTES, 0, get_backlog_peak_bytes},
    {"sent_bytes", "sent", CLI_SHOW_BYTES, 1, get_sent_bytes},
    {"tiles", NULL, CLI_SHOW_PLAIN, 1, get_tiles},
    {"bursts", NULL, CLI_SHOW_PLAIN, 1, get_bursts},
    {"no_progress", NULL, CLI_SHOW_PLAIN, 1, get_no_progress},
};
enum { FIXED_COLUMNS = sizeof fixed_columns / sizeof fixed_columns[0] };

/* Axes first; a fixed column that is an axis stands once. Returns how many. */
static size_t make_columns(const struct sweep *sweep, int any_stuck,
                           struct cli_column columns[CLI_MOST_AXES + FIXED_COLUMNS])
{
    struct cli_cell (*const getters[CLI_MOST_AXES])(const void *) = {get_axis_0, get_axis_1, get_axis_2, get_axis_3};
    size_t count = 0;
    for (size_t a = 0; a < sweep->axis_count; a++)
        columns[count++] = (struct cli_column){sweep->axes[a].column, NULL, CLI_SHOW_PLAIN, 0, getters[a]};
    for (size_t f = 0; f < FIXED_COLUMNS; f++) {
        size_t a = 0;
        while (a < sweep->axis_count && strcmp(sweep->axes[a].column, fixed_columns[f].name) != 0)
            a++;
        if (a < sweep->axis_count)
            continue;
        columns[count] = fixed_columns[f];
        if (any_stuck && strcmp(fixed_columns[f].name, "no_progress") == 0)
            columns[count].wide = 0;
        count++;
    }
    return count;
}

static enum xst_status make_rows(struct cli *cli, struct sweep *sweep)
{
    sweep->rows = calloc(sweep->point_count, sizeof *sweep->rows);
    if (!sweep->rows)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t point = 0; point < sweep->point_count; point++) {
        struct sweep_row *const row = &sweep->rows[point];
        row->outcome = sweep->outcomes[point];
        for (size_t a = 0; a < sweep->axis_count; a++) {
            const struct sweep_axis *const axis = &sweep->axes[a];
            const size_t index = cli_axis_index(sweep, point, a);
            row->axes[a] = axis->text                      ? cli_text_cell(axis->words[index])
                           : axis->option->kind == CLI_INT ? cli_int_cell((int64_t)axis->numbers.values[index])
                                                           : cli_real_cell(axis->numbers.values[index]);
        }
    }
    return XST_OK;
}

static json_t *document_of(struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                           const struct cli_table *table)
{
    json_t *const document = cli_document(cli, "simulate_sweep", 1);
    json_t *const vary = json_array();
    for (size_t a = 0; a < sweep->axis_count; a++)
        json_array_append_new(vary, json_string(sweep->axes[a].column));
    json_object_set_new(document, "kernel", json_string(cli->args[0]));
    json_object_set_new(document, "preset", cli_string(cli_text(cli, "preset")));
    json_object_set_new(document, "profile", json_pack("{s:s, s:s}", "name", profile->name, "id", profile->id));
    json_object_set_new(document, "vary", vary);
    json_object_set_new(document, "rows", cli_table_json(table));
    return document;
}

static void print(const struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                  const struct cli_table *table)
{
    printf("%s on %s, %zu points, us:\n", cli->args[0], profile->name[0] ? profile->name : profile->id,
           sweep->point_count);
    cli_table_print(cli, stdout, table);
}

int cli_sweep_show(struct cli *cli, const struct xst_profile *profile, struct sweep *sweep)
{
    const char *const output = cli_text(cli, "output");
    struct cli_column columns[CLI_MOST_AXES + FIXED_COLUMNS];
    size_t stuck = 0;
    enum xst_status status = make_rows(cli, sweep);
    if (status != XST_OK)
        return cli_fail(cli, status);
    for (size_t point = 0; point < sweep->point_count; point++)
        stuck += sweep->outcomes[point].stuck != 0;
    const size_t column_count = make_columns(sweep, stuck > 0, columns);
    const struct cli_table table = {columns, column_count, sweep->rows, sweep->point_count, sizeof *sweep->rows};
    json_t *const document = document_of(cli, profile, sweep, &table);
    if (output)
        status = cli_write_json(cli, output, document);
    if (status == XST_OK && cli_wants_text(cli) && !(output && strcmp(output, "-") == 0))
        print(cli, profile, sweep, &table);
    if (status == XST_OK)
        return cli_emit(cli, document, &table, stuck == sweep->point_count ? CLI_NO : CLI_GOOD);
    json_decref(document);
    return cli_fail(cli, status);
}
