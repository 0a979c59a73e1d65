/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_checks.h - what the audits of traces share: a list of checks being filled, and the spans' own order.
 */
#ifndef XSTI_AUDIT_TRACE_CHECKS_H
#define XSTI_AUDIT_TRACE_CHECKS_H

#include <xstage/audit_trace.h>

struct xsti_trace_output {
    struct xst_trace_check *checks;
    size_t room;
    size_t count;
    int full; /* there was one more */
    int64_t call;
    int64_t rank;
};

void xsti_trace_put(struct xsti_trace_output *out, enum xst_trace_check_name name, struct xst_number promised,
                    struct xst_number observed);

struct xsti_trace_mean {
    double sum;
    int64_t count;
};

static inline void xsti_trace_add(struct xsti_trace_mean *mean, double value)
{
    mean->sum += value;
    mean->count++;
}

/* Of a call, so that a file's word alone does not decide how much memory and time it takes. */
enum xst_status xsti_trace_check_tiles(int64_t tiles, struct xst_diag *diag);

struct xst_number xsti_trace_mean_of(const struct xsti_trace_mean *mean);

/* Every call has spans, of ranks 0, 1, ... below `ranks`: what nobody looks at would keep every promise. No call has lost marks. */
enum xst_status xsti_trace_check_spans(const struct xst_trace *trace, int64_t ranks, struct xst_diag *diag);

#endif
