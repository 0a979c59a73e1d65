/* SPDX-License-Identifier: Apache-2.0
 *
 * plan_view.h - plans for a person, as table rows, and as documents.
 */
#ifndef XST_CLI_PLAN_VIEW_H
#define XST_CLI_PLAN_VIEW_H

#include <xstage/plan.h>

#include "output.h"

/* The choice, the runner-up, what each other setting would cost, the kernel's numbers. sweep: the Pareto table too. */
void cli_plan_print(const struct cli *cli, FILE *out, const struct xst_plan *plan, int sweep);

/* Every candidate, one row each. */
struct cli_table cli_plan_table(const struct xst_plan *plan);

/* Puts the plan's keys into `document`. */
enum xst_status cli_plan_put(struct cli *cli, json_t *document, const struct xst_plan *plan);

#endif
