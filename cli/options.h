/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the checks of one option's value, and words of a "a|b|c" list.
 */
#ifndef XST_CLI_OPTIONS_H
#define XST_CLI_OPTIONS_H

#include <stddef.h>

#include "cli.h"

/* Takes `text` (NULL for a flag, or for an optional value left out) as the value of `value->option`. */
enum xst_status cli_option_set(struct cli_value_of_option *value, const char *text, struct xst_diag *diag);

/* Splits "a|b|c" into copies kept in `buffer`; returns how many. */
size_t cli_words_split(const char *list, char *buffer, size_t buffer_bytes, const char *words[], size_t most);

/* The option as help and pages show it: "--bytes=BYTES", "--json[=FILE]". */
const char *cli_option_text(const struct cli_option *option, char *text, size_t bytes);

/* Its range and default in brackets for help and pages, "" when it has none: "[1..65536; default 256]". */
const char *cli_option_range(const struct cli_option *option, char *text, size_t bytes);

__attribute__((format(printf, 3, 4))) enum xst_status cli_say(struct xst_diag *diag, enum xst_status status,
                                                              const char *format, ...);
#if defined __clang_analyzer__ && !defined CLI_SAY_DEFINES
/* The analyser sees one file at a time: say here that the status given is the status returned. */
#define cli_say(diag, status, ...) ((void)(cli_say)((diag), (status), __VA_ARGS__), (status))
#endif

#endif
