/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.h - the design test on one path, without words; and the words apart.
 */
#ifndef XSTI_AUDIT_JUDGE_H
#define XSTI_AUDIT_JUDGE_H

#include <xstage/audit.h>
#include <xstage/model.h>

/* What the profile's tables say for K producers x B bytes; unknown ones have their number's `known` clear. */
struct xsti_tables {
    struct xst_number drain;
    struct xst_number floor;
    struct xst_number capacity;
    struct xst_number release_floor;
    struct xst_number release_capacity;
};

struct xsti_judgement {
    enum xst_verdict verdict;
    struct xst_bound rate;
    struct xst_bound capacity;
    struct xst_bound staging;
    enum xst_answer bystander_holds;
    struct xst_audit_case aligned;
    struct xst_audit_case drifting;
    struct xst_audit_numbers numbers;
    const char *missing; /* what the profile lacks first; NULL: nothing */
    int extrapolated;
};

struct xst_number xsti_number_of(double value);

struct xsti_tables xsti_tables_read(const struct xst_path *path, double producers, double bytes_per_producer,
                                    int extrapolate);

void xsti_judge(const struct xst_path *path, const struct xst_traffic *traffic, int extrapolate,
                struct xsti_judgement *judgement_out);

/* Starts an audit: options checked, path found, traffic judged, head filled. */
enum xst_status xsti_audit_begin(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                 const struct xst_audit_options *options, struct xst_audit *audit,
                                 const struct xst_path **path_out, struct xst_diag *diag);

/* Actions and sentences, from what begin (and the kernel's own part) left in the audit. */
void xsti_audit_finish(const struct xst_profile *profile, const struct xst_path *path,
                       const struct xst_audit_options *options, struct xst_audit *audit);

/* Compute rate of one SM at peak, and how many SMs: from options or the profile. */
enum xst_status xsti_machine_rate(const struct xst_profile *profile, const struct xst_audit_options *options,
                                  int64_t *producers, double *sm_flop_per_us, double *peak_tflops_out,
                                  struct xst_diag *diag);

/* Appends; more than XST_MOST_ACTIONS are dropped. */
void xsti_action_add(struct xst_audit *audit, const struct xst_action *action);

/* Fills audit->actions for the design as judged. */
void xsti_actions_find(const struct xst_profile *profile, const struct xst_path *path, int extrapolate,
                       struct xst_audit *audit);

void xsti_audit_say(const struct xst_profile *profile, const struct xst_path *path, const char *missing,
                    struct xst_audit *audit);

/* "18 KiB", "2.37 MiB", "640 B" and "0.24 us", "109 us". */
enum { XSTI_AMOUNT_BYTES = 32 };
const char *xsti_bytes_text(double bytes, char text[XSTI_AMOUNT_BYTES]);
const char *xsti_us_text(double us, char text[XSTI_AMOUNT_BYTES]);

#endif
