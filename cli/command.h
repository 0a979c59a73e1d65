/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h - a command of the tool as a table: its name, options and examples.
 *
 * Everything a person can see of a command comes from its table: parsing and its errors, --help, the man page, and the shell
 * completions. To add a command, write cmd_<verb>.c with one `const struct cli_command cli_command_<verb>` and add one
 * line to commands.def.
 */
#ifndef XST_CLI_COMMAND_H
#define XST_CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

/* What an option takes. The parser checks the value against it before the command runs. */
enum cli_kind {
    CLI_FLAG,     /* nothing */
    CLI_TEXT,     /* any text */
    CLI_FILE,     /* a file name; completed by the shell */
    CLI_PROFILE,  /* a stored profile's name or a file name */
    CLI_WORD,     /* one of `words`, separated by '|' */
    CLI_INT,      /* an integer in [low, high]; K, M, G are binary */
    CLI_REAL,     /* a decimal number in [low, high] */
    CLI_SWEEP,    /* numbers: lists, ranges and steps (sweep.h), each in [low, high] */
    CLI_SWEEP_INT /* the same, integers, with K, M, G */
};

struct cli_option {
    const char *name; /* long name; the table ends with a NULL name */
    char letter;      /* short name, 0: none */
    enum cli_kind kind;
    const char *arg; /* name of the value in the help; NULL for flags */
    double low;      /* numbers only */
    double high;
    const char *words;    /* CLI_WORD only: "peer|host|local" */
    const char *fallback; /* value when the option is not given; NULL: not set */
    const char *help;     /* a sentence without its full stop; says the unit */
    int value_optional;   /* --json[=FILE] */
    int hidden;           /* left out of help and pages */
};

struct cli_example {
    const char *command;
    const char *sentence;
};

/* The groups of `xstage --help`. */
enum cli_group { CLI_GROUP_MEASURE, CLI_GROUP_PREDICT, CLI_GROUP_SHOW, CLI_GROUP_ABOUT, CLI_GROUP_COUNT };

/* What a command does when a launcher starts it several times at once (job.h). */
enum cli_job_use {
    CLI_JOB_NONE,  /* each process runs it for itself */
    CLI_JOB_FIRST, /* rank 0 runs it, the others wait */
    CLI_JOB_ALL    /* all run it and share the work */
};

struct cli;

struct cli_command {
    const char *name;
    enum cli_group group;
    const char *purpose;                /* one line */
    const char *needs;                  /* "no GPU", "a GPU or a synthetic machine" */
    const char *usage;                  /* arguments after the command's name: "SAMPLES... -o PROFILE" */
    int least_args;                     /* positional arguments */
    int most_args;                      /* -1: any number */
    const char *about;                  /* paragraphs for help and man page, separated by blank lines; may be NULL */
    const struct cli_option *options;   /* its own; the global ones are added */
    const struct cli_example *examples; /* ends with a NULL command */
    int (*run)(struct cli *cli);        /* returns an exit code (enum cli_exit) */
    int output_is_folder;               /* -o names a folder */
    int output_is_text;                 /* -o takes what is printed: the command has no other product (capture.h) */
    const char *arg_words;              /* words that complete the first argument ("fa-a2a|moe"); NULL: files */
    enum cli_job_use job;
};

/* Every command, in the order of commands.def; NULL-terminated. */
extern const struct cli_command *const cli_commands[];

/* Options that every command takes. */
extern const struct cli_option cli_global_options[];
extern const char *const cli_group_titles[CLI_GROUP_COUNT];

enum { CLI_MOST_OPTIONS = 96 };

/* NULL when there is none of that name. */
const struct cli_command *cli_command_find(const char *name);

/* Fills `options` with the command's own options, then the global ones; returns how many. A command's own option hides the
 * global one of the same name. */
size_t cli_command_options(const struct cli_command *command, const struct cli_option *options[CLI_MOST_OPTIONS]);

#endif
