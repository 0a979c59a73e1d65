/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h - the tables as text for a person.
 */
#ifndef XST_CLI_HELP_H
#define XST_CLI_HELP_H

#include <stdio.h>

#include "command.h"

void cli_help_tool(FILE *out);
void cli_help_command(FILE *out, const struct cli_command *command);
void cli_help_version(FILE *out);

/* Writes `text` wrapped at `width` columns, every line behind `indent` spaces; the first line continues at column `at`. */
void cli_wrap(FILE *out, const char *text, int indent, int at, int width);

#endif
