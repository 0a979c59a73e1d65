/* SPDX-License-Identifier: Apache-2.0
 *
 * plan_sim.h - the timeline's word beside a plan's prediction: what --simulate asks.
 */
#ifndef XST_CLI_PLAN_SIM_H
#define XST_CLI_PLAN_SIM_H

#include <xstage/plan.h>

#include "cli.h"

/* What the plan was made of; NULL members: not of this kind. */
struct cli_plan_subject {
    const struct xst_profile *profile;
    const struct xst_fa_a2a_shape *fa_shape;
    const struct xst_moe_shape *moe_shape;
    const struct xst_moe_plan *moe_plan;
    const int64_t *counts; /* of every expert of the model */
    const struct xst_traffic *traffic;
    int extrapolate;
};

/* Steps the best --simulate=N candidates through time. Those the timeline has no form for (slices, rows in order,
 * cut waves) are passed over. */
enum xst_status cli_plan_simulate(struct cli *cli, const struct cli_plan_subject *subject, struct xst_plan *plan);

#endif
