/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep.h - numbers as people write them: "32K", "0,1,2,4", "1..132", "0..10:0.5", "1K..64K:x2", and lists of those.
 */
#ifndef XST_CLI_SWEEP_H
#define XST_CLI_SWEEP_H

#include <stddef.h>

#include <xstage/status.h>

/* Most values of one sweep, and most points of a product of sweeps. */
enum { CLI_SWEEP_MOST = 50 * 1000 * 1000 };

struct cli_sweep {
    double *values;
    size_t count;
};

/* One number. K, M, G (also KB, KiB, ...) multiply by 1024, 1024^2, 1024^3 when `integer`. 0 on success. */
int cli_number_parse(const char *text, size_t bytes, int integer, double *value_out);

/* The whole of `text`. `name` is the option, for the messages; every value must lie in [low, high]. Free with
 * cli_sweep_free. */
enum xst_status cli_sweep_parse(const char *name, const char *text, int integer, double low, double high,
                                struct cli_sweep *sweep_out, struct xst_diag *diag);
void cli_sweep_free(struct cli_sweep *sweep);

#endif
