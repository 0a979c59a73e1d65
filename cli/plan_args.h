/* SPDX-License-Identifier: Apache-2.0
 *
 * plan_args.h - what to plan, from the command line: presets, routing, or a traffic file; or a saved plan read back.
 */
#ifndef XST_CLI_PLAN_ARGS_H
#define XST_CLI_PLAN_ARGS_H

#include <xstage/plan.h>

#include "cli.h"

/* Each fills *plan; the caller frees it with xst_plan_free. */
enum xst_status cli_plan_fa_a2a(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan);
enum xst_status cli_plan_moe(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan);
enum xst_status cli_plan_traffic(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan);

/* An option of another question is a mistake: says which. kernel: "fa-a2a", "moe" or "traffic". */
enum xst_status cli_plan_check(struct cli *cli, const char *kernel);

/* Rows per expert of a file: whole numbers, one per expert, separated by white space, commas or brackets (so a JSON
 * array is fine too); '#' starts a comment. */
enum xst_status cli_counts_read(struct cli *cli, const char *path, int64_t *counts, int64_t experts);

#endif
