/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulator's word beside the prediction, for the candidates that matter.
 */
#include <stdio.h>
#include <string.h>

#include <xstage/plan.h>

#include "base/diag.h"

/* While asking, `known` tells a candidate passed over from one not yet asked. */
enum { UNASKED = 0, PASSED_OVER = -1 };

/* The best candidate not yet asked; -1: none. */
static int64_t next(const struct xst_plan *plan)
{
    int64_t best = -1;
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const candidate = &plan->considered[i];
        if (!candidate->predicted_us.known || candidate->simulated_us.known != UNASKED)
            continue;
        if (best < 0 || candidate->predicted_us.value < plan->considered[best].predicted_us.value)
            best = (int64_t)i;
    }
    return best;
}

static enum xst_status ask(struct xst_plan *plan, xst_plan_simulator *simulator, void *context, size_t most,
                           struct xst_diag *diag)
{
    for (size_t asked = 0; asked < most;) {
        const int64_t index = next(plan);
        if (index < 0)
            break;
        struct xst_plan_candidate *const candidate = &plan->considered[index];
        double simulated_us = 0;
        const enum xst_status status = simulator(context, plan, candidate, &simulated_us, diag);
        if (status != XST_OK && status != XST_ERR_UNAVAILABLE)
            return status;
        candidate->simulated_us.known = status == XST_OK ? 1 : PASSED_OVER;
        candidate->simulated_us.value = simulated_us;
        asked += status == XST_OK;
    }
    return XST_OK;
}

enum xst_status xst_plan_simulate(struct xst_plan *plan, xst_plan_simulator *simulator, void *context, size_t most,
                                  struct xst_diag *diag)
{
    char text[192];
    int64_t best = -1;
    const enum xst_status status = ask(plan, simulator, context, most, diag);
    for (size_t i = 0; i < plan->count; i++) {
        struct xst_plan_number *const simulated = &plan->considered[i].simulated_us;
        simulated->known = simulated->known == 1;
        if (simulated->known && (best < 0 || simulated->value < plan->considered[best].simulated_us.value))
            best = (int64_t)i;
    }
    if (status != XST_OK || best < 0 || !plan->considered[plan->chosen].simulated_us.known ||
        !(plan->considered[best].simulated_us.value < plan->considered[plan->chosen].simulated_us.value))
        return status;
    const size_t used = strlen(plan->note);
    snprintf(plan->note + used, sizeof plan->note - used,
             "%sThe simulator prefers: %s (%.4g us simulated, %.4g for the chosen one).", used ? " " : "",
             xst_plan_describe(plan, &plan->considered[best], text, sizeof text),
             plan->considered[best].simulated_us.value, plan->considered[plan->chosen].simulated_us.value);
    return XST_OK;
}
