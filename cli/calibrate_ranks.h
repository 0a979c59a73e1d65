/* SPDX-License-Identifier: Apache-2.0
 *
 * calibrate_ranks.h - a calibration in which every process of a job measures: one after the other, since two at once would
 * measure each other. Process r drives GPU r and writes to the next one; the rows go to rank 0, which fits and writes all.
 */
#ifndef XST_CLI_CALIBRATE_RANKS_H
#define XST_CLI_CALIBRATE_RANKS_H

#include "cli.h"

/* Collective; returns an exit code. */
int cli_calibrate_ranks(struct cli *cli);

#endif
