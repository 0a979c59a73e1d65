/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_moe_trace.h - `xstage bench moe --trace`: one traced call of each order, into a file that Perfetto opens.
 */
#ifndef XST_CLI_BENCH_MOE_TRACE_H
#define XST_CLI_BENCH_MOE_TRACE_H

#include <xstage/moe_bench.h>

#include "bench_moe_rows.h"
#include "cli.h"

/* Before anything is timed: one layer, tiles that can be traced, a file that can be written. */
enum xst_status cli_bench_moe_trace_check(struct cli *cli);

/* After the timing: the layer's orders, first those asked for; what they waited and issued goes into their rows. */
enum xst_status cli_bench_moe_trace(struct cli *cli, const struct xst_moe_bench *bench,
                                    const struct xst_moe_bench_entry *entries, size_t count,
                                    struct cli_bench_moe_row *rows);

#endif
