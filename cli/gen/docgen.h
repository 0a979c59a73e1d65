/* SPDX-License-Identifier: Apache-2.0
 *
 * docgen.h - the writers of xstage-docgen.
 */
#ifndef XST_CLI_GEN_DOCGEN_H
#define XST_CLI_GEN_DOCGEN_H

#include <stdio.h>

#include "../command.h"

void docgen_tool_page(FILE *out);
void docgen_command_page(FILE *out, const struct cli_command *command);
void docgen_bash(FILE *out);
void docgen_zsh(FILE *out);

#endif
