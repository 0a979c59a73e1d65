/* SPDX-License-Identifier: Apache-2.0
 *
 * cli.h - what a running command sees: its arguments, how it complains, and the exit codes.
 */
#ifndef XST_CLI_CLI_H
#define XST_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <xstage/status.h>

#include "command.h"
#include "sweep.h"

enum cli_exit {
    CLI_GOOD = 0,
    CLI_NO = 1,          /* the answer is no */
    CLI_USAGE = 2,       /* wrong use or bad input */
    CLI_FAILED = 3,      /* environment or run time */
    CLI_UNAVAILABLE = 77 /* not possible on this machine or in this build */
};

/* As often one option's texts are kept. */
enum { CLI_MOST_REPEATS = 16 };

/* One option's value as the parser left it. */
struct cli_value_of_option {
    const struct cli_option *option;
    const char *text;                  /* as written, or the fallback; NULL: not given, or a flag or bare --json */
    int given;                         /* how often it was given */
    const char *all[CLI_MOST_REPEATS]; /* every text it was given, in order; for options that may be repeated */
    double number;                     /* CLI_INT, CLI_REAL */
    struct cli_sweep sweep;
};

struct cli_job;

struct cli {
    const struct cli_command *command;
    struct cli_value_of_option values[CLI_MOST_OPTIONS];
    size_t value_count;
    const char **args; /* positional arguments */
    int arg_count;
    int argc; /* the whole command line, for the documents */
    char **argv;
    int quiet;
    int verbose;
    int force;
    struct cli_job *job;  /* job.h; NULL: the command takes part in none */
    struct xst_diag diag; /* for library calls; cli_fail prints it */
    char hint[512];       /* "" or what to do next; printed under the next complaint */
};

/* Options by long name; asserted to exist. */
int cli_given(const struct cli *cli, const char *name);        /* written on the command line */
const char *cli_text(const struct cli *cli, const char *name); /* its text or fallback; NULL when not set */
const char *cli_text_at(const struct cli *cli, const char *name, int index);   /* the index-th time; NULL beyond */
int64_t cli_int(const struct cli *cli, const char *name);                      /* has a value: given or fallback */
double cli_real(const struct cli *cli, const char *name);                      /* the same */
const struct cli_sweep *cli_sweep_of(const struct cli *cli, const char *name); /* count 0 when not set */
int cli_has(const struct cli *cli, const char *name);                          /* has a value, given or fallback */

/* Prints "xstage verb: <cli->diag.text>" and the hint, and returns the exit code of `status`. */
int cli_fail(struct cli *cli, enum xst_status status);

/* The same with a sentence of the command itself. */
__attribute__((format(printf, 3, 4))) int cli_complain(struct cli *cli, enum xst_status status, const char *format,
                                                       ...);

/* Sets the hint of the next complaint. */
__attribute__((format(printf, 2, 3))) void cli_hint(struct cli *cli, const char *format, ...);

/* A line for the person at the terminal, on standard error: "xstage verb: ..."; not with -q. */
__attribute__((format(printf, 2, 3))) void cli_note(const struct cli *cli, const char *format, ...);

enum cli_exit cli_exit_of(enum xst_status status);

/* Nearest word by edit distance, NULL when none is near enough to be meant. */
const char *cli_nearest(const char *word, const char *const *words, size_t count);

/* Parses argv[first..argc) for `command` into `cli` (zeroed by the caller). On a mistake fills cli->diag and the hint. */
enum xst_status cli_parse(struct cli *cli, const struct cli_command *command, int argc, char **argv, int first);
void cli_free(struct cli *cli);

/* The whole tool: what main() calls. */
int cli_main(int argc, char **argv);

#endif
