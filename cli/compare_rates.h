/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_rates.h - xstage compare PROFILE --with FILE: R held against what other tools measured.
 */
#ifndef XST_CLI_COMPARE_RATES_H
#define XST_CLI_COMPARE_RATES_H

#include "cli.h"

/* The whole of it; returns an exit code. */
int cli_compare_rates(struct cli *cli, const char *profile, const char *file);

#endif
