/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_trace.h - `xstage bench --trace`: one traced call of a shape's variants, into a file that Perfetto opens.
 */
#ifndef XST_CLI_BENCH_TRACE_H
#define XST_CLI_BENCH_TRACE_H

#include <xstage/fa_a2a_bench.h>

#include "cli.h"

/* Before anything is timed: one shape, variants that can be traced, a file that can be written. */
enum xst_status cli_bench_trace_check(struct cli *cli);

/* After the timing. */
enum xst_status cli_bench_trace(struct cli *cli, const struct xst_fa_a2a_bench *bench);

#endif
