/* SPDX-License-Identifier: Apache-2.0
 *
 * From the command line to checked values. argp does the walking; what it would accept by abbreviation, or complain about in
 * its own words, is looked at first so that a mistake gets one sentence that names the nearest valid option.
 */
#include <argp.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { FIRST_KEY = 0x200 }; /* options are keyed by their place in the table, above every character */

/* Edit distance with neighbours swapped as one step; words are short. */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 48 };
    size_t rows[3][MOST + 1];
    const size_t m = strlen(a), n = strlen(b);
    if (m > MOST || n > MOST)
        return MOST;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *const now = rows[i % 3], *const before = rows[(i + 2) % 3], *const earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[m % 3][n];
}

const char *cli_nearest(const char *word, const char *const *words, size_t count)
{
    const size_t length = strlen(word);
    const char *nearest = NULL;
    size_t best = length < 3 ? 1 : 2 + length / 6;
    best++;
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    if (nearest)
        return nearest;
    /* A word cut short, or one with something behind it: "--gap" for "--gap-us". */
    for (size_t i = 0; i < count; i++) {
        assert(words[i]);
        const size_t common = strlen(words[i]) < length ? strlen(words[i]) : length;
        if (common >= 2 && strncmp(word, words[i], common) == 0)
            return words[i];
    }
    return NULL;
}

static struct cli_value_of_option *find_long(struct cli *cli, const char *name, size_t bytes)
{
    for (size_t i = 0; i < cli->value_count; i++) {
        const char *const known = cli->values[i].option->name;
        if (strlen(known) == bytes && strncmp(known, name, bytes) == 0)
            return &cli->values[i];
    }
    return NULL;
}

static struct cli_value_of_option *find_letter(struct cli *cli, char letter)
{
    for (size_t i = 0; i < cli->value_count; i++) {
        if (cli->values[i].option->letter == letter)
            return &cli->values[i];
    }
    return NULL;
}

static enum xst_status unknown_long(struct cli *cli, const char *name, size_t bytes)
{
    const char *words[CLI_MOST_OPTIONS];
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)bytes, name);
    for (size_t i = 0; i < cli->value_count; i++)
        words[i] = cli->values[i].option->name;
    const char *const nearest = cli_nearest(word, words, cli->value_count);
    if (nearest)
        return cli_say(&cli->diag, XST_ERR_USAGE, "unknown option --%s; did you mean --%s?", word, nearest);
    cli_hint(cli, "xstage %s --help lists its options", cli->command->name);
    return cli_say(&cli->diag, XST_ERR_USAGE, "unknown option --%s", word);
}

static int wants_value(const struct cli_option *option)
{
    return option->kind != CLI_FLAG && !option->value_optional;
}

static enum xst_status missing_value(struct cli *cli, const struct cli_option *option)
{
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s needs a value: --%s=%s", option->name, option->name, option->arg);
}

/* Checks one "--name[=value]"; *skip_out says whether the next word is its value. */
static enum xst_status scan_long(struct cli *cli, const char *text, const char *next, int *skip_out)
{
    const size_t bytes = strcspn(text, "=");
    const struct cli_value_of_option *const value = find_long(cli, text, bytes);
    if (!value)
        return unknown_long(cli, text, bytes);
    if (value->option->kind == CLI_FLAG && text[bytes] == '=')
        return cli_say(&cli->diag, XST_ERR_USAGE, "--%s takes no value", value->option->name);
    *skip_out = wants_value(value->option) && text[bytes] != '=';
    return *skip_out && !next ? missing_value(cli, value->option) : XST_OK;
}

static enum xst_status scan_letters(struct cli *cli, const char *letters, const char *next, int *skip_out)
{
    for (const char *letter = letters; *letter; letter++) {
        const struct cli_value_of_option *const value = find_letter(cli, *letter);
        if (!value) {
            cli_hint(cli, "xstage %s --help lists its options", cli->command->name);
            return cli_say(&cli->diag, XST_ERR_USAGE, "unknown option -%c", *letter);
        }
        if (wants_value(value->option)) {
            *skip_out = letter[1] == '\0';
            return *skip_out && !next ? missing_value(cli, value->option) : XST_OK;
        }
    }
    return XST_OK;
}

static enum xst_status scan(struct cli *cli, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *const word = argv[i];
        int skip = 0;
        enum xst_status status = XST_OK;
        if (strcmp(word, "--") == 0)
            break;
        if (word[0] == '-' && word[1] == '-')
            status = scan_long(cli, word + 2, argv[i + 1], &skip);
        else if (word[0] == '-' && word[1])
            status = scan_letters(cli, word + 1, argv[i + 1], &skip);
        if (status != XST_OK)
            return status;
        i += skip;
    }
    return XST_OK;
}

static error_t take(int key, char *text, struct argp_state *state)
{
    struct cli *const cli = state->input;
    if (key == ARGP_KEY_ARG) {
        cli->args[cli->arg_count++] = text;
        return 0;
    }
    if (key < FIRST_KEY || key >= FIRST_KEY + (int)cli->value_count) {
        for (size_t i = 0; key < FIRST_KEY && key > 0 && i < cli->value_count; i++) {
            if (cli->values[i].option->letter == key)
                return take(FIRST_KEY + (int)i, text, state);
        }
        return ARGP_ERR_UNKNOWN;
    }
    struct cli_value_of_option *const value = &cli->values[key - FIRST_KEY];
    if (value->given < CLI_MOST_REPEATS)
        value->all[value->given] = text;
    value->given++;
    return cli_option_set(value, text, &cli->diag) == XST_OK ? 0 : EINVAL;
}

static enum xst_status check_count(struct cli *cli)
{
    const struct cli_command *const command = cli->command;
    if (cli_given(cli, "help") || cli_given(cli, "version"))
        return XST_OK;
    cli_hint(cli, "usage: xstage %s %s", command->name, command->usage);
    if (cli->arg_count < command->least_args)
        return cli_say(&cli->diag, XST_ERR_USAGE, "%d argument%s given, at least %d needed", cli->arg_count,
                       cli->arg_count == 1 ? "" : "s", command->least_args);
    if (command->most_args >= 0 && cli->arg_count > command->most_args)
        return cli_say(&cli->diag, XST_ERR_USAGE, "unexpected argument '%.80s'", cli->args[command->most_args]);
    cli->hint[0] = '\0';
    return XST_OK;
}

static enum xst_status walk(struct cli *cli, int argc, char **argv)
{
    struct argp_option options[CLI_MOST_OPTIONS + 1];
    memset(options, 0, sizeof options);
    for (size_t i = 0; i < cli->value_count; i++) {
        const struct cli_option *const option = cli->values[i].option;
        options[i].name = option->name;
        options[i].key = option->letter ? option->letter : FIRST_KEY + (int)i;
        options[i].arg = option->arg;
        options[i].flags = option->value_optional ? OPTION_ARG_OPTIONAL : 0;
    }
    const struct argp argp = {.options = options, .parser = take};
    const unsigned flags = ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP;
    if (argp_parse(&argp, argc, argv, flags, NULL, cli) == 0)
        return XST_OK;
    if (cli->diag.status == XST_OK)
        return cli_say(&cli->diag, XST_ERR_USAGE, "the command line cannot be read");
    return cli->diag.status;
}

enum xst_status cli_parse(struct cli *cli, const struct cli_command *command, int argc, char **argv, int first)
{
    const struct cli_option *options[CLI_MOST_OPTIONS];
    cli->command = command;
    cli->argc = argc;
    cli->argv = argv;
    cli->value_count = cli_command_options(command, options);
    for (size_t i = 0; i < cli->value_count; i++) {
        cli->values[i].option = options[i];
        if (options[i]->fallback) {
            const enum xst_status status = cli_option_set(&cli->values[i], options[i]->fallback, &cli->diag);
            assert(status == XST_OK && "a default within its own range");
            (void)status;
        }
    }
    /* argp moves words about, so it gets its own array; it wants a program name first. */
    const int count = argc - first + 1;
    char **const words = calloc((size_t)count + 1, sizeof *words);
    cli->args = calloc((size_t)count, sizeof *cli->args);
    if (!words || !cli->args) {
        free(words);
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    }
    words[0] = argv[0];
    memcpy(words + 1, argv + first, (size_t)(count - 1) * sizeof *words);
    enum xst_status status = scan(cli, count, words);
    if (status == XST_OK)
        status = walk(cli, count, words);
    free(words);
    if (status == XST_OK) {
        cli->quiet = cli_given(cli, "quiet");
        cli->verbose = cli_given(cli, "verbose");
        cli->force = cli_given(cli, "force");
        status = check_count(cli);
    }
    return status;
}

void cli_free(struct cli *cli)
{
    for (size_t i = 0; i < cli->value_count; i++)
        cli_sweep_free(&cli->values[i].sweep);
    free(cli->args);
    memset(cli, 0, sizeof *cli);
}
