/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_rows.h - the rows of `xstage bench`: one variant of one shape each, and the record they make.
 */
#ifndef XST_CLI_BENCH_ROWS_H
#define XST_CLI_BENCH_ROWS_H

#include <xstage/fa_a2a_bench.h>
#include <xstage/profile.h>

#include "output.h"

struct cli_bench_row {
    const char *preset; /* "" none */
    struct xst_fa_a2a_bench bench;
    struct xst_fa_a2a_bench_row row;
};

struct cli_bench_list {
    struct cli_bench_row *rows; /* freed by the caller */
    size_t count;
};

enum xst_status cli_bench_add(struct cli *cli, struct cli_bench_list *list, const char *preset,
                              const struct xst_fa_a2a_bench *bench, const struct xst_fa_a2a_bench_row *row);

struct cli_table cli_bench_table(const struct cli_bench_list *list);

/* Prints the table, and writes the record where --json and --csv want it, with the devices as they are after the runs: name,
 * driver, clocks, power, throttle reason, nvcc. Returns an exit code. */
int cli_bench_emit(struct cli *cli, const char *kernel, const struct cli_table *table);

/* R of the path to peers or host memory; 0 where the profile does not know it. */
double cli_bench_drain(const struct xst_profile *profile, enum xst_target target);

/* One kernel each: `xstage bench KERNEL`. */
int cli_bench_fa_a2a(struct cli *cli);

#endif
