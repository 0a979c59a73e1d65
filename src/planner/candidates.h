/* SPDX-License-Identifier: Apache-2.0
 *
 * candidates.h - a growing list of candidates, and what turns it into a plan: the sum, the choice, the reasons.
 */
#ifndef XSTI_PLANNER_CANDIDATES_H
#define XSTI_PLANNER_CANDIDATES_H

#include <xstage/plan.h>

struct xsti_candidates {
    struct xst_plan_candidate *list;
    size_t count;
    size_t room;
};

struct xst_plan_number xsti_plan_known(double value);

/* Appends a zeroed candidate; *candidate_out is valid until the next call. */
enum xst_status xsti_candidates_add(struct xsti_candidates *candidates, struct xst_plan_candidate **candidate_out,
                                    struct xst_diag *diag);

/* predicted_us from the known parts; the caller leaves it out where one is missing and says why in `reason`. */
void xsti_candidate_sum(struct xst_plan_candidate *candidate);

/* "needs 272 KiB of shared memory, a CTA can have 227 KiB" */
void xsti_candidate_too_large(struct xst_plan_candidate *candidate, double limit_bytes);

/* Hands the list over to the plan: choice, runner-up, reasons, sentences. */
void xsti_plan_finish(struct xsti_candidates *candidates, struct xst_plan *plan);

/* Profile's name and id into the plan. */
void xsti_plan_head(const struct xst_profile *profile, struct xst_plan *plan);

/* The device's rate and SM count from options or the profile; XST_ERR_NO_DATA says what to give. */
enum xst_status xsti_plan_rate(const struct xst_profile *profile, double peak_tflops, double given_tflops,
                               int64_t *producers, double *peak_tflops_out, double *tflops_out, struct xst_diag *diag);

/* "18 KiB", "2.37 MiB", "640 B"; "0.24 us", "109 us". */
enum { XSTI_PLAN_AMOUNT_BYTES = 32 };
const char *xsti_plan_bytes_text(double bytes, char text[XSTI_PLAN_AMOUNT_BYTES]);
const char *xsti_plan_us_text(double us, char text[XSTI_PLAN_AMOUNT_BYTES]);

/* bit per method; 0 stands for 16-byte and bulk stores */
int xsti_plan_methods(int methods);

#endif
