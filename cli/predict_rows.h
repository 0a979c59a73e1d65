/* SPDX-License-Identifier: Apache-2.0
 *
 * predict_rows.h - a prediction as a row: the columns are the fields of timing.h.
 */
#ifndef XST_CLI_PREDICT_ROWS_H
#define XST_CLI_PREDICT_ROWS_H

#include <xstage/timing.h>

#include "output.h"

#define X(name, needs, law, meaning) +1
enum { CLI_PREDICT_COLUMNS = 2 XST_TIMING_FIELDS(X) };
#undef X

/* Columns of rows of struct xst_timing. staged: the path releases its staging later than it issues, so that is shown;
 * extrapolate: rows may be marked as such. */
void cli_predict_columns(struct cli_column columns[CLI_PREDICT_COLUMNS], int staged, int extrapolate);

#endif
