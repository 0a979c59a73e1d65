/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_moe_rows.h - the rows of `xstage bench moe`: one way to carry out one layer each.
 */
#ifndef XST_CLI_BENCH_MOE_ROWS_H
#define XST_CLI_BENCH_MOE_ROWS_H

#include <xstage/moe_bench.h>

#include "output.h"

struct cli_bench_moe_row {
    const char *preset; /* "" none */
    struct xst_moe_bench bench;
    struct xst_moe_bench_row row;
    int planned;         /* the planner's choice */
    double predicted_us; /* by it; NaN elsewhere */
    double regret_frac;  /* its median over the best fused one's, minus 1; NaN elsewhere */
    double stall_us;     /* of a traced call: mean of a warpgroup's part of a tile; NaN: not traced */
    double issue_us;
};

struct cli_bench_moe_list {
    struct cli_bench_moe_row *rows; /* freed by the caller */
    size_t count;
};

struct cli_table cli_bench_moe_table(const struct cli_bench_moe_list *list);

#endif
