/* SPDX-License-Identifier: Apache-2.0
 *
 * dispersion.h - the fluid beside the laws: fitting the shares of producers, and validation with the fluid where a profile
 * has them.
 */
#ifndef XST_CLI_DISPERSION_H
#define XST_CLI_DISPERSION_H

#include <xstage/fit.h>

#include "cli.h"

/* Fits groups and spreads of every default path (256 threads, one block) that has rows enough; the rows that served get
 * XST_ROW_DISPERSION. Says on standard error how far the rest is. */
enum xst_status cli_dispersion_fit(struct cli *cli, const struct xst_samples *samples, struct xst_profile *profile,
                                   struct xst_fit *fit);

/* xst_validation_run, with the fluid as a fourth model where a path has dispersion. */
enum xst_status cli_validate(struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                             const struct xst_fit *fit, struct xst_validation *validation_out);

#endif
