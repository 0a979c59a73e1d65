/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulator's word beside the prediction, for the candidates that matter.
 */
#include <stdio.h>
#include <string.h>

#include <xstage/plan.h>

#include "base/diag.h"

/* The best candidate not yet asked; -1: none. */
static int64_t next(const struct xst_plan *plan)
{
    int64_t best = -1;
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const candidate = &plan->considered[i];
        if (!candidate->predicted_us.known || candidate->simulated_us.known)
            continue;
        if (best < 0 || candidate->predicted_us.value < plan->considered[best].predicted_us.value)
            best = (int64_t)i;
    }
    return best;
}

enum xst_status xst_plan_simulate(struct xst_plan *plan, xst_plan_simulator *simulator, void *context, size_t most,
                                  struct xst_diag *diag)
{
    char text[192];
    int64_t best = -1;
    for (size_t asked = 0; asked < most; asked++) {
        const int64_t index = next(plan);
        if (index < 0)
            break;
        struct xst_plan_candidate *const candidate = &plan->considered[index];
        double simulated_us = 0;
        XSTI_TRY(simulator(context, plan, candidate, &simulated_us, diag));
        candidate->simulated_us.value = simulated_us;
        candidate->simulated_us.known = 1;
        if (best < 0 || simulated_us < plan->considered[best].simulated_us.value)
            best = index;
    }
    if (best < 0 || best == plan->chosen)
        return XST_OK;
    const size_t used = strlen(plan->note);
    snprintf(plan->note + used, sizeof plan->note - used,
             "%sThe simulator prefers: %s (%.4g us simulated, %.4g for the chosen one).", used ? " " : "",
             xst_plan_describe(plan, &plan->considered[best], text, sizeof text),
             plan->considered[best].simulated_us.value, plan->considered[plan->chosen].simulated_us.value);
    return XST_OK;
}
