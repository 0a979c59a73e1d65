/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate_sweep.h - the same kernel simulated over and over with other options: --vary NAME=VALUES, shared by the processes of
 * a job. The result does not depend on how many processes there are.
 */
#ifndef XST_CLI_SIMULATE_SWEEP_H
#define XST_CLI_SIMULATE_SWEEP_H

#include <xstage/profile.h>

#include "simulate_axes.h"

/* Runs every point and prints or writes the rows (rank 0). Returns an exit code: CLI_NO when no point could progress. */
int cli_simulate_sweep(struct cli *cli, const struct xst_profile *profile);

/* Prints or writes the rows of sweep->outcomes; an exit code (simulate_rows.c). */
int cli_sweep_show(struct cli *cli, const struct xst_profile *profile, struct sweep *sweep);

#endif
