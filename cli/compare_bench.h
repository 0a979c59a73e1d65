/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_bench.h - the benchmark half of xstage compare.
 */
#ifndef XST_CLI_COMPARE_BENCH_H
#define XST_CLI_COMPARE_BENCH_H

#include "cli.h"

/* Compares two benchmark records and prints what moved. The exit code. */
int cli_compare_bench(struct cli *cli, const char *before, const char *after);

#endif
