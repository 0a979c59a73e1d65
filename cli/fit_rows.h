/* SPDX-License-Identifier: Apache-2.0
 *
 * fit_rows.h - a fit and a validation as tables and as text.
 */
#ifndef XST_CLI_FIT_ROWS_H
#define XST_CLI_FIT_ROWS_H

#include <xstage/fit.h>

#include "output.h"

/* Is it the default kind of path (256 threads, one block) that the short tables show? */
int cli_path_is_default(const struct xst_path_key *key);
int cli_profile_path_is_default(const struct xst_path *path);

/* Parameters of every path, for a person. */
void cli_fit_print(const struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                   const struct xst_fit *fit);

/* Every row that served no parameter, with its reason. */
void cli_fit_print_excluded(const struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                            const struct xst_fit *fit);

/* The same account for a document: {rows, used, excluded, reasons{}, outliers[]}. */
json_t *cli_fit_json(const struct xst_samples *samples, const struct xst_profile *profile, const struct xst_fit *fit,
                     int with_rows);

/* A validation as a table whose columns are the keys of validation[]. */
struct cli_table cli_validation_table(const struct xst_validation *validation);
void cli_validation_print(const struct cli *cli, const struct xst_validation *validation);

#endif
