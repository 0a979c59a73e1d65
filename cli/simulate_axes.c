/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_axes.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

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

static enum xst_status split_words(struct cli *cli, struct sweep_axis *axis, const char *text)
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
        if (axis->count == CLI_AXIS_WORDS)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--vary %s: more than %d words", axis->option->name,
                           CLI_AXIS_WORDS);
        axis->words[axis->count++] = word;
    }
    if (axis->count == 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--vary %s: no values", axis->option->name);
    return XST_OK;
}

/* "seq=1K..16K:x2", "schedule=wave,interleaved" */
static enum xst_status parse_axis(struct cli *cli, const char *text, struct sweep_axis *axis)
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

enum xst_status cli_axes_parse(struct cli *cli, struct sweep *sweep)
{
    sweep->point_count = 1;
    for (int i = 0; i < cli_given(cli, "vary"); i++) {
        struct sweep_axis *const axis = &sweep->axes[sweep->axis_count];
        if (sweep->axis_count == CLI_MOST_AXES)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--vary: more than %d options at once", CLI_MOST_AXES);
        sweep->axis_count++;
        const enum xst_status status = parse_axis(cli, cli_text_at(cli, "vary", i), axis);
        if (status != XST_OK)
            return status;
        for (size_t j = 0; j + 1 < sweep->axis_count; j++)
            if (sweep->axes[j].option == axis->option)
                return cli_say(&cli->diag, XST_ERR_USAGE, "--vary: %s is varied twice", axis->option->name);
        if (sweep->point_count > CLI_MOST_POINTS / axis->count)
            return cli_say(&cli->diag, XST_ERR_RANGE, "--vary: more than %d points", CLI_MOST_POINTS);
        sweep->point_count *= axis->count;
    }
    return XST_OK;
}

size_t cli_axis_index(const struct sweep *sweep, size_t point, size_t a)
{
    for (size_t i = sweep->axis_count - 1; i > a; i--)
        point /= sweep->axes[i].count;
    return point % sweep->axes[a].count;
}

const char *cli_axes_text(const struct sweep *sweep, size_t point, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t a = 0; a < sweep->axis_count && at < bytes; a++) {
        const struct sweep_axis *const axis = &sweep->axes[a];
        const size_t index = cli_axis_index(sweep, point, a);
        const int put = axis->text ? snprintf(text + at, bytes - at, "%s%s %s", a ? ", " : "", axis->option->name,
                                              axis->words[index])
                                   : snprintf(text + at, bytes - at, "%s%s %.9g", a ? ", " : "", axis->option->name,
                                              axis->numbers.values[index]);
        at += put > 0 ? (size_t)put : 0;
    }
    return text;
}

void cli_axes_free(struct sweep *sweep)
{
    for (size_t a = 0; a < sweep->axis_count; a++) {
        cli_sweep_free(&sweep->axes[a].numbers);
        free(sweep->axes[a].text);
    }
}
