/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

struct xst_plan_number xsti_plan_known(double value)
{
    return (struct xst_plan_number){value, 1};
}

enum xst_status xsti_candidates_add(struct xsti_candidates *candidates, struct xst_plan_candidate **candidate_out,
                                    struct xst_diag *diag)
{
    if (candidates->count == candidates->room) {
        const size_t room = candidates->room ? 2 * candidates->room : 64;
        struct xst_plan_candidate *const larger = realloc(candidates->list, room * sizeof *larger);
        if (!larger)
            return xsti_fail_memory(diag);
        candidates->list = larger;
        candidates->room = room;
    }
    *candidate_out = &candidates->list[candidates->count++];
    memset(*candidate_out, 0, sizeof **candidate_out);
    return XST_OK;
}

/* Nine digits are what is printed: candidates that print alike are equal, and a plan read back is the plan that was
 * made. */
void xsti_candidate_sum(struct xst_plan_candidate *candidate)
{
    double sum_us = 0;
#define X(name, type, plans, meaning)                                                                                  \
    if (candidate->name.known)                                                                                         \
        sum_us += candidate->name.value;
    XST_PLAN_PARTS(X)
#undef X
    candidate->predicted_us = xsti_plan_known(xsti_round9(sum_us));
}

const char *xsti_plan_bytes_text(double bytes, char text[XSTI_PLAN_AMOUNT_BYTES])
{
    const double size = fabs(bytes);
    if (size >= 1048576)
        snprintf(text, XSTI_PLAN_AMOUNT_BYTES, "%.3g MiB", bytes / 1048576);
    else if (size >= 1024)
        snprintf(text, XSTI_PLAN_AMOUNT_BYTES, size >= 999.5 * 1024 ? "%.0f KiB" : "%.3g KiB", bytes / 1024);
    else
        snprintf(text, XSTI_PLAN_AMOUNT_BYTES, "%.0f B", bytes);
    return text;
}

const char *xsti_plan_us_text(double us, char text[XSTI_PLAN_AMOUNT_BYTES])
{
    snprintf(text, XSTI_PLAN_AMOUNT_BYTES, fabs(us) >= 999.5 ? "%.0f us" : "%.3g us", us);
    return text;
}

void xsti_candidate_too_large(struct xst_plan_candidate *candidate, double limit_bytes)
{
    char need[XSTI_PLAN_AMOUNT_BYTES], have[XSTI_PLAN_AMOUNT_BYTES];
    snprintf(candidate->reason, sizeof candidate->reason, "needs %s of shared memory, a CTA can have %s",
             xsti_plan_bytes_text(candidate->shared_bytes.value, need), xsti_plan_bytes_text(limit_bytes, have));
}

void xsti_plan_head(const struct xst_profile *profile, struct xst_plan *plan)
{
    memcpy(plan->profile_id, profile->id, sizeof plan->profile_id);
    memcpy(plan->profile_name, profile->name, sizeof plan->profile_name);
}

int xsti_plan_methods(int methods)
{
    return methods ? methods : 1 << XST_METHOD_ST16 | 1 << XST_METHOD_BULK;
}

enum xst_status xsti_plan_rate(const struct xst_profile *profile, double peak_tflops, double given_tflops,
                               int64_t *producers, double *peak_tflops_out, double *tflops_out, struct xst_diag *diag)
{
    const struct xst_machine_facts *const machine = &profile->machine;
    if (!(peak_tflops >= 0 && isfinite(peak_tflops)) || !(given_tflops >= 0 && isfinite(given_tflops)))
        return xsti_fail(diag, XST_ERR_RANGE, "peak %g or given rate %g is not a rate", peak_tflops, given_tflops);
    if (*producers == 0 && machine->sm_count.known)
        *producers = (int64_t)machine->sm_count.value;
    if (*producers == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s does not know the SM count; give --producers",
                         profile->name);
    if (peak_tflops == 0 && machine->peak_bf16_tflops.known)
        peak_tflops = machine->peak_bf16_tflops.value;
    if (peak_tflops == 0 && given_tflops == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "profile %s does not know the device's peak rate; give --peak-tflops or a measured rate",
                         profile->name);
    *peak_tflops_out = peak_tflops > 0 ? peak_tflops : given_tflops;
    *tflops_out = given_tflops > 0 ? given_tflops : peak_tflops;
    return XST_OK;
}
