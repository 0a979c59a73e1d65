/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "options.h"
#include "output.h"
#include "simulate_args.h"

enum { MOST_AXES = 4, MOST_POINTS = 100000, MOST_WORDS = 64, REASON_BYTES = 240 };

/* One --vary: an option and the values it takes. */
struct axis {
    const struct cli_option *option;
    char column[48];
    struct cli_sweep numbers; /* of numbers */
    char *text;               /* of words: taken apart */
    const char *words[MOST_WORDS];
    size_t count;
};

/* What came out at one point, as it travels between processes. */
struct outcome {
    int32_t done;   /* 1: the numbers hold */
    int32_t status; /* of the simulation */
    int32_t stuck;  /* a schedule that cannot progress: an answer, no error */
    int32_t pad;
    int64_t ranks;
    int64_t lead_tiles; /* 0: none */
    int64_t tiles;
    int64_t bursts;
    double makespan_us;
    double sender_us;
    double free_us; /* -1: not asked */
    double exposed_us;
    double issue_us;
    double issue_max_us;
    double backlog_peak_bytes;
    double sent_bytes;
    char reason[REASON_BYTES];
};

struct row {
    struct cli_cell axes[MOST_AXES];
    struct outcome outcome;
};

struct sweep {
    struct axis axes[MOST_AXES];
    size_t axis_count;
    size_t point_count;
    struct outcome *outcomes; /* [point_count] */
    struct row *rows;
};

/* What can be varied: numbers, words and presets of the command, and the seed. */
static int can_vary(const struct cli *cli, const struct cli_option *option)
{
    static const char *const others[] = {"rank", "processes", "trace-ranks"};
    const struct cli_option *own = cli->command->options;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option->name, others[i]) == 0)
            return 0;
    while (own->name && own != option)
        own++;
    if (!own->name)
        return strcmp(option->name, "seed") == 0;
    return option->kind == CLI_INT || option->kind == CLI_REAL || option->kind == CLI_WORD ||
           strcmp(option->name, "preset") == 0;
}

static enum xst_status find_option(struct cli *cli, const char *name, const struct cli_option **option_out)
{
    const char *words[CLI_MOST_OPTIONS];
    size_t count = 0;
    for (size_t i = 0; i < cli->value_count; i++) {
        const struct cli_option *const option = cli->values[i].option;
        if (!can_vary(cli, option))
            continue;
        if (strcmp(option->name, name) == 0) {
            *option_out = option;
            return XST_OK;
        }
        words[count++] = option->name;
    }
    const char *const nearest = cli_nearest(name, words, count);
    return cli_say(&cli->diag, XST_ERR_USAGE,
                   "--vary: %.40s is no option that takes a number or one of some words%s%s%s", name,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static enum xst_status split_words(struct cli *cli, struct axis *axis, const char *text)
{
    char *rest = NULL;
    axis->text = strdup(text);
    if (!axis->text)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (char *word = strtok_r(axis->text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        struct cli_value_of_option value = {.option = axis->option};
        const enum xst_status status = cli_option_set(&value, word, &cli->diag);
        if (status != XST_OK)
            return status;
        if (axis->count == MOST_WORDS)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--vary %s: more than %d words", axis->option->name, MOST_WORDS);
        axis->words[axis->count++] = word;
    }
    if (axis->count == 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--vary %s: no values", axis->option->name);
    return XST_OK;
}

/* "seq=1K..16K:x2", "schedule=wave,interleaved" */
static enum xst_status parse_axis(struct cli *cli, const char *text, struct axis *axis)
{
    const char *const equals = strchr(text, '=');
    char name[40];
    if (!equals || !equals[1] || (size_t)(equals - text) >= sizeof name)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--vary: '%.60s' is not NAME=VALUES, such as seq=1K..16K:x2", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    enum xst_status status = find_option(cli, name, &axis->option);
    if (status != XST_OK)
        return status;
    if (cli_given(cli, name))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is given, and varied by --vary; one of them is too much", name);
    snprintf(axis->column, sizeof axis->column, "%s", name);
    for (char *at = axis->column; *at; at++)
        *at = *at == '-' ? '_' : *at;
    if (axis->option->kind == CLI_WORD || axis->option->kind == CLI_TEXT)
        return split_words(cli, axis, equals + 1);
    status = cli_sweep_parse(name, equals + 1, axis->option->kind == CLI_INT, axis->option->low, axis->option->high,
                             &axis->numbers, &cli->diag);
    axis->count = axis->numbers.count;
    return status;
}

static enum xst_status parse_axes(struct cli *cli, struct sweep *sweep)
{
    sweep->point_count = 1;
    for (int i = 0; i < cli_given(cli, "vary"); i++) {
        struct axis *const axis = &sweep->axes[sweep->axis_count];
        if (sweep->axis_count == MOST_AXES)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--vary: more than %d options at once", MOST_AXES);
        sweep->axis_count++;
        const enum xst_status status = parse_axis(cli, cli_text_at(cli, "vary", i), axis);
        if (status != XST_OK)
            return status;
        for (size_t j = 0; j + 1 < sweep->axis_count; j++)
            if (sweep->axes[j].option == axis->option)
                return cli_say(&cli->diag, XST_ERR_USAGE, "--vary: %s is varied twice", axis->option->name);
        if (sweep->point_count > MOST_POINTS / axis->count)
            return cli_say(&cli->diag, XST_ERR_RANGE, "--vary: more than %d points", MOST_POINTS);
        sweep->point_count *= axis->count;
    }
    return XST_OK;
}

/* Which value of axis a belongs to a point: the last --vary runs fastest. */
static size_t value_index(const struct sweep *sweep, size_t point, size_t a)
{
    for (size_t i = sweep->axis_count - 1; i > a; i--)
        point /= sweep->axes[i].count;
    return point % sweep->axes[a].count;
}

/* The command line of one point. It shares the original's memory and is not freed. */
static struct cli point_line(const struct cli *cli, const struct sweep *sweep, size_t point)
{
    struct cli line = *cli;
    for (size_t a = 0; a < sweep->axis_count; a++) {
        const struct axis *const axis = &sweep->axes[a];
        const size_t index = value_index(sweep, point, a);
        for (size_t i = 0; i < line.value_count; i++) {
            struct cli_value_of_option *const value = &line.values[i];
            if (value->option != axis->option)
                continue;
            value->given = 1;
            value->text = axis->text ? axis->words[index] : axis->column;
            value->number = axis->text ? 0 : axis->numbers.values[index];
        }
    }
    return line;
}

static void keep(const struct simulation *simulation, struct outcome *outcome)
{
    const struct xst_timeline_result *const result = &simulation->result;
    const int leads = simulation->kind == SIMULATION_MOE && simulation->moe_plan.schedule == XST_SCHEDULE_INTERLEAVED;
    outcome->done = 1;
    outcome->ranks = result->rank_count;
    outcome->lead_tiles = leads ? simulation->moe.lead : 0;
    outcome->tiles = result->tiles;
    outcome->bursts = result->bursts;
    outcome->makespan_us = result->makespan_us;
    outcome->sender_us = result->sender_us;
    outcome->free_us = result->free_us;
    outcome->exposed_us = result->exposed_us;
    outcome->issue_us = result->issue_us;
    outcome->issue_max_us = result->issue_max_us;
    outcome->backlog_peak_bytes = result->backlog_peak_bytes;
    outcome->sent_bytes = result->sent_bytes;
}

static enum xst_status run_point(const struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                                 size_t point, struct outcome *outcome)
{
    struct cli *const line = malloc(sizeof *line);
    struct simulation simulation = {0};
    memset(outcome, 0, sizeof *outcome);
    if (!line)
        return outcome->status = XST_ERR_MEMORY;
    *line = point_line(cli, sweep, point);
    line->diag.text[0] = '\0';
    const enum xst_status status = cli_simulate(line, profile, &simulation);
    outcome->status = (int32_t)status;
    outcome->stuck = status == XST_ERR_TIMEOUT && strncmp(line->diag.text, "no progress", 11) == 0;
    if (status == XST_OK)
        keep(&simulation, outcome);
    else
        memcpy(outcome->reason, line->diag.text, strnlen(line->diag.text, sizeof outcome->reason - 1));
    cli_simulation_free(&simulation);
    free(line);
    return outcome->stuck ? XST_OK : status;
}

/* This process's points: every ranks-th one. It stops at its first error; that of the lowest point is the one reported, so
 * that any number of processes says the same. */
static enum xst_status run_share(struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                                 struct outcome *share)
{
    const size_t rank = (size_t)cli_job_rank(cli), ranks = (size_t)cli_job_ranks(cli);
    const int terminal = !cli->quiet && isatty(STDERR_FILENO) == 1;
    enum xst_status status = XST_OK;
    for (size_t point = rank; point < sweep->point_count && status == XST_OK; point += ranks) {
        if (terminal)
            fprintf(stderr, "\rxstage simulate: point %zu of %zu ", point + 1, sweep->point_count);
        if (run_point(cli, profile, sweep, point, &share[point / ranks]) != XST_OK)
            break;
        status = cli_job_check(cli);
    }
    if (terminal)
        fputs("\r\033[K", stderr);
    return status;
}

static enum xst_status run_all(struct cli *cli, const struct xst_profile *profile, struct sweep *sweep)
{
    const struct xst_group group = cli_job_group(cli);
    const size_t ranks = (size_t)group.ranks, each = (sweep->point_count + ranks - 1) / ranks;
    struct outcome *const share = calloc(each, sizeof *share), *const all = calloc(each * ranks, sizeof *all);
    sweep->outcomes = calloc(each * ranks, sizeof *sweep->outcomes);
    enum xst_status status = XST_OK;
    if (!share || !all || !sweep->outcomes)
        status = cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    if (status == XST_OK)
        status = run_share(cli, profile, sweep, share);
    if (status == XST_OK)
        status = xst_group_gather(&group, share, each * sizeof *share, all, &cli->diag);
    for (size_t point = 0; status == XST_OK && point < sweep->point_count; point++)
        sweep->outcomes[point] = all[point % ranks * each + point / ranks];
    free(share);
    free(all);
    return status;
}

/* "lead 3, group 2" */
static const char *point_text(const struct sweep *sweep, size_t point, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t a = 0; a < sweep->axis_count && at < bytes; a++) {
        const struct axis *const axis = &sweep->axes[a];
        const size_t index = value_index(sweep, point, a);
        const int put = axis->text ? snprintf(text + at, bytes - at, "%s%s %s", a ? ", " : "", axis->option->name,
                                              axis->words[index])
                                   : snprintf(text + at, bytes - at, "%s%s %.9g", a ? ", " : "", axis->option->name,
                                              axis->numbers.values[index]);
        at += put > 0 ? (size_t)put : 0;
    }
    return text;
}

/* The first point that failed, if any; every process finds the same. */
static enum xst_status find_failure(struct cli *cli, const struct sweep *sweep)
{
    char text[256];
    for (size_t point = 0; point < sweep->point_count; point++) {
        const struct outcome *const outcome = &sweep->outcomes[point];
        if (outcome->status != XST_OK && !outcome->stuck)
            return cli_say(&cli->diag, (enum xst_status)outcome->status, "%s: %s",
                           point_text(sweep, point, text, sizeof text), outcome->reason);
    }
    return XST_OK;
}

#define AXIS_GETTER(a)                                                                                                 \
    static struct cli_cell get_axis_##a(const void *row)                                                               \
    {                                                                                                                  \
        return ((const struct row *)row)->axes[a];                                                                     \
    }
AXIS_GETTER(0)
AXIS_GETTER(1)
AXIS_GETTER(2)
AXIS_GETTER(3)

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct outcome *const o = &((const struct row *)row)->outcome;                                           \
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
    return cli_text_cell(((const struct row *)row)->outcome.reason);
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
                           struct cli_column columns[MOST_AXES + FIXED_COLUMNS])
{
    struct cli_cell (*const getters[MOST_AXES])(const void *) = {get_axis_0, get_axis_1, get_axis_2, get_axis_3};
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
        struct row *const row = &sweep->rows[point];
        row->outcome = sweep->outcomes[point];
        row->outcome.reason[REASON_BYTES - 1] = '\0';
        for (size_t a = 0; a < sweep->axis_count; a++) {
            const struct axis *const axis = &sweep->axes[a];
            const size_t index = value_index(sweep, point, a);
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

static int show(struct cli *cli, const struct xst_profile *profile, struct sweep *sweep)
{
    const char *const output = cli_text(cli, "output");
    struct cli_column columns[MOST_AXES + FIXED_COLUMNS];
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

static void sweep_free(struct sweep *sweep)
{
    for (size_t a = 0; a < sweep->axis_count; a++) {
        cli_sweep_free(&sweep->axes[a].numbers);
        free(sweep->axes[a].text);
    }
    free(sweep->outcomes);
    free(sweep->rows);
}

int cli_simulate_sweep(struct cli *cli, const struct xst_profile *profile)
{
    struct sweep sweep = {0};
    int code = CLI_GOOD;
    enum xst_status status = XST_OK;
    if (cli_has(cli, "trace") || cli_has(cli, "svg"))
        status = cli_say(&cli->diag, XST_ERR_USAGE, "--trace and --svg show one simulation; --vary makes many");
    if (status == XST_OK)
        status = parse_axes(cli, &sweep);
    if (status == XST_OK)
        status = run_all(cli, profile, &sweep);
    if (status == XST_OK) {
        status = find_failure(cli, &sweep);
        cli_job_agreed(cli, status);
    }
    if (status != XST_OK)
        code = cli_fail(cli, status);
    else if (cli_job_rank(cli) == 0)
        code = show(cli, profile, &sweep);
    sweep_free(&sweep);
    return code;
}
