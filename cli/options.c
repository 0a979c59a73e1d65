/* SPDX-License-Identifier: Apache-2.0
 *
 * The options every command takes, and what a value of each kind must look like.
 */
#define CLI_SAY_DEFINES
#include "options.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_global_options[] = {
    {.name = "json",
     .kind = CLI_FILE,
     .arg = "FILE",
     .value_optional = 1,
     .help = "write one JSON document: to standard output instead of the table, or to FILE beside it"},
    {.name = "csv",
     .kind = CLI_FILE,
     .arg = "FILE",
     .value_optional = 1,
     .help = "write the rows as CSV: to standard output instead of the table, or to FILE beside it"},
    {.name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE", .help = "write the main product to FILE"},
    {.name = "force", .letter = 'f', .kind = CLI_FLAG, .help = "overwrite existing files"},
    {.name = "profile",
     .letter = 'p',
     .kind = CLI_PROFILE,
     .arg = "PROFILE",
     .help = "machine profile: a name of `xstage list profiles` or a file"},
    {.name = "machine",
     .letter = 'm',
     .kind = CLI_TEXT,
     .arg = "WHAT",
     .help = "machine: cuda, file:SAMPLES, sim:PROFILE or sim:KEY=VALUE,..."},
    {.name = "seed",
     .kind = CLI_INT,
     .arg = "N",
     .low = 0,
     .high = 9007199254740992.0,
     .fallback = "1",
     .help = "seed of everything random"},
    {.name = "timeout",
     .kind = CLI_REAL,
     .arg = "SECONDS",
     .low = 0,
     .high = 1e7,
     .help = "give up after this time with exit code 3; 0: never"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "no remarks on standard error"},
    {.name = "verbose", .letter = 'v', .kind = CLI_FLAG, .help = "all columns, and more remarks"},
    {.name = "help", .letter = 'h', .kind = CLI_FLAG, .help = "show this help and exit"},
    {.name = "version", .letter = 'V', .kind = CLI_FLAG, .help = "show version and build options and exit"},
    {.name = NULL},
};

const char *const cli_group_titles[CLI_GROUP_COUNT] = {
    [CLI_GROUP_MEASURE] = "Measure and fit",
    [CLI_GROUP_PREDICT] = "Predict and decide",
    [CLI_GROUP_SHOW] = "Show and compare",
    [CLI_GROUP_ABOUT] = "About this machine and build",
};

enum xst_status cli_say(struct xst_diag *diag, enum xst_status status, const char *format, ...)
{
    if (diag) {
        va_list list;
        va_start(list, format);
        vsnprintf(diag->text, sizeof diag->text, format, list);
        va_end(list);
        diag->status = status;
        diag->line = 0;
    }
    return status;
}

size_t cli_words_split(const char *list, char *buffer, size_t buffer_bytes, const char *words[], size_t most)
{
    snprintf(buffer, buffer_bytes, "%s", list);
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(buffer, "|", &rest); word && count < most; word = strtok_r(NULL, "|", &rest))
        words[count++] = word;
    return count;
}

static enum xst_status check_word(const struct cli_option *option, const char *text, struct xst_diag *diag)
{
    char buffer[512];
    const char *words[64];
    const size_t count = cli_words_split(option->words, buffer, sizeof buffer, words, 64);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return XST_OK;
    }
    const char *const nearest = cli_nearest(text, words, count);
    if (nearest)
        return cli_say(diag, XST_ERR_USAGE, "--%s: '%.60s' is not one of %s; did you mean %s?", option->name, text,
                       option->words, nearest);
    return cli_say(diag, XST_ERR_USAGE, "--%s: '%.60s' is not one of %s", option->name, text, option->words);
}

static enum xst_status check_number(struct cli_value_of_option *value, const char *text, struct xst_diag *diag)
{
    const struct cli_option *const option = value->option;
    const int integer = option->kind == CLI_INT;
    if (cli_number_parse(text, strlen(text), integer, &value->number) != 0)
        return cli_say(diag, XST_ERR_USAGE, "--%s: '%.60s' is not %s", option->name, text,
                       integer ? "an integer such as 12, 32K or 1M" : "a number");
    if (value->number < option->low || value->number > option->high)
        return cli_say(diag, XST_ERR_USAGE, "--%s: '%.60s' is outside %.16g..%.16g", option->name, text, option->low,
                       option->high);
    return XST_OK;
}

enum xst_status cli_option_set(struct cli_value_of_option *value, const char *text, struct xst_diag *diag)
{
    const struct cli_option *const option = value->option;
    enum xst_status status = XST_OK;
    value->text = text;
    if (!text)
        return XST_OK;
    switch (option->kind) {
    case CLI_FLAG:
    case CLI_TEXT:
    case CLI_FILE:
    case CLI_PROFILE:
        if (!text[0])
            status = cli_say(diag, XST_ERR_USAGE, "--%s: needs %s, not an empty text", option->name, option->arg);
        break;
    case CLI_WORD:
        status = check_word(option, text, diag);
        break;
    case CLI_INT:
    case CLI_REAL:
        status = check_number(value, text, diag);
        break;
    case CLI_SWEEP:
    case CLI_SWEEP_INT:
        cli_sweep_free(&value->sweep);
        status = cli_sweep_parse(option->name, text, option->kind == CLI_SWEEP_INT, option->low, option->high,
                                 &value->sweep, diag);
        break;
    }
    return status;
}

const char *cli_option_text(const struct cli_option *option, char *text, size_t bytes)
{
    if (option->kind == CLI_FLAG)
        snprintf(text, bytes, "--%s", option->name);
    else
        snprintf(text, bytes, option->value_optional ? "--%s[=%s]" : "--%s=%s", option->name, option->arg);
    return text;
}

/* Large bounds that are whole powers read better with a suffix. */
static void bound_text(double value, int integer, char *text, size_t bytes)
{
    const double gib = 1073741824.0;
    if (integer && fabs(value) >= gib && fmod(value, gib) == 0)
        snprintf(text, bytes, "%.16gG", value / gib);
    else
        snprintf(text, bytes, "%.16g", value);
}

const char *cli_option_range(const struct cli_option *option, char *text, size_t bytes)
{
    char range[160] = "", low[40], high[40];
    const int integer = option->kind == CLI_INT || option->kind == CLI_SWEEP_INT;
    if (option->kind == CLI_WORD) {
        snprintf(range, sizeof range, "%s", option->words);
    } else if (integer || option->kind == CLI_REAL || option->kind == CLI_SWEEP) {
        bound_text(option->low, integer, low, sizeof low);
        bound_text(option->high, integer, high, sizeof high);
        snprintf(range, sizeof range, "%s..%s", low, high);
    }
    text[0] = '\0';
    if (range[0] && option->fallback)
        snprintf(text, bytes, "[%s; default %s]", range, option->fallback);
    else if (range[0])
        snprintf(text, bytes, "[%s]", range);
    else if (option->fallback)
        snprintf(text, bytes, "[default %s]", option->fallback);
    return text;
}

size_t cli_command_options(const struct cli_command *command, const struct cli_option *options[CLI_MOST_OPTIONS])
{
    size_t count = 0;
    for (const struct cli_option *option = command ? command->options : NULL; option && option->name; option++) {
        assert(count < CLI_MOST_OPTIONS);
        options[count++] = option;
    }
    const size_t own = count;
    for (const struct cli_option *option = cli_global_options; option->name; option++) {
        size_t i = 0;
        while (i < own && strcmp(options[i]->name, option->name) != 0)
            i++;
        assert(count < CLI_MOST_OPTIONS);
        if (i == own)
            options[count++] = option;
    }
    return count;
}

static const struct cli_value_of_option *find(const struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->value_count; i++) {
        if (strcmp(cli->values[i].option->name, name) == 0)
            return &cli->values[i];
    }
    assert(!"an option of the command's table");
    abort();
}

int cli_given(const struct cli *cli, const char *name)
{
    return find(cli, name)->given;
}

int cli_has(const struct cli *cli, const char *name)
{
    return find(cli, name)->text != NULL;
}

const char *cli_text_at(const struct cli *cli, const char *name, int index)
{
    const struct cli_value_of_option *const value = find(cli, name);
    return index >= 0 && index < value->given && index < CLI_MOST_REPEATS ? value->all[index] : NULL;
}

const char *cli_text(const struct cli *cli, const char *name)
{
    return find(cli, name)->text;
}

int64_t cli_int(const struct cli *cli, const char *name)
{
    return (int64_t)find(cli, name)->number;
}

double cli_real(const struct cli *cli, const char *name)
{
    return find(cli, name)->number;
}

const struct cli_sweep *cli_sweep_of(const struct cli *cli, const char *name)
{
    return &find(cli, name)->sweep;
}
