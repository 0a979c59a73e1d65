/* SPDX-License-Identifier: Apache-2.0
 *
 * audit_trace.h - what a traced kernel did, beside what its traffic description promised and what the model says.
 *
 * Promises are exact and come from shape and plan alone: which tiles there are, who computes which, how many bytes of each leave
 * the device. A broken promise means that planner, simulator and audit speak of another kernel than the one that runs. Gaps are
 * bounds: nobody computes faster than the device's peak. Predictions come from a profile; they stand beside what was seen and are
 * not judged.
 */
#ifndef XSTAGE_AUDIT_TRACE_H
#define XSTAGE_AUDIT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/audit.h>
#include <xstage/profile.h>
#include <xstage/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, kind, meaning); the text is the name in small letters.
 * EQUAL: observed is what was promised. LEAST: observed is at least that. MODEL: a prediction. */
#define XST_TRACE_CHECKS(X)                                                                                            \
    X(tiles, EQUAL, "output tiles computed")                                                                           \
    X(producers, EQUAL, "CTAs that computed")                                                                          \
    X(tiles_out_of_walk, EQUAL, "tiles not computed once, or not by the CTA the walk says")                            \
    X(remote_bytes, EQUAL, "bytes that left the device")                                                               \
    X(tiles_with_other_bytes, EQUAL, "tiles of which more or fewer bytes left")                                        \
    X(first_burst_bytes, EQUAL, "bytes of the first K tiles that left: the largest burst")                             \
    X(bytes_before_last_tile, LEAST, "bytes whose store began before its CTA's last tile was done")                    \
    X(gap_us, LEAST, "shortest computation of a tile; promised: at the device's peak")                                 \
    X(issue_first_us, MODEL, "mean issue of the first K tiles; predicted by (7): one burst, all together")             \
    X(issue_later_us, MODEL, "mean issue of later remote tiles; predicted by (1): drifting bursts")                    \
    X(late_us, MODEL,                                                                                                  \
      "how much longer the tile behind the first burst took; predicted by (16), less what was loaded ahead")           \
    X(gap_l1_us, LEAST, "moe: shortest computation of a Linear-1 tile; promised: at the device's peak")                \
    X(between_us, MODEL,                                                                                               \
      "moe: mean time from a CTA's burst to its next; predicted by (13), (14) at the device's peak")                   \
    X(stall_us, MODEL, "moe: mean wait for operands of a tile behind a burst, less that of others; predicted by (16)") \
    X(starved_us, MODEL, "moe: an SM's waits for the inputs of Linear-2 tiles; predicted by the list of the lead")     \
    X(backlog_bytes, MODEL, "moe: most that was issued and, at the profile's rate, not drained; predicted by (6)")
enum xst_trace_check_kind { XST_TRACE_CHECK_EQUAL, XST_TRACE_CHECK_LEAST, XST_TRACE_CHECK_MODEL };

enum xst_trace_check_name {
#define X(name, kind, meaning) XST_TRACE_CHECK_##name,
    XST_TRACE_CHECKS(X)
#undef X
        XST_TRACE_CHECK_COUNT
};
const char *xst_trace_check_text(enum xst_trace_check_name name);
const char *xst_trace_check_meaning(enum xst_trace_check_name name);
enum xst_trace_check_kind xst_trace_check_kind(enum xst_trace_check_name name);

struct xst_trace_check {
    int64_t call; /* of the trace */
    int64_t rank;
    enum xst_trace_check_name name;
    struct xst_number promised; /* or predicted */
    struct xst_number observed;
    enum xst_answer holds; /* of a promise whose two numbers are known; else unknown */
};

enum { XST_TRACE_MOST_CHECKS = XST_TRACE_MOST_CALLS * 8 * XST_TRACE_CHECK_COUNT };

/* All checks of every call and rank of a trace of fa-a2a, or of moe; what does not apply to a call is left out. `profile` may
 * be NULL: no bounds on time and no predictions then. Fills checks_out[0 .. *count_out). XST_ERR_NO_DATA when the trace does
 * not say what ran, has lost marks or a call without spans; XST_ERR_RANGE when it has ranks or tiles that its facts do not
 * know, or promises more than 2^22 tiles a call, or `room` is too small; XST_ERR_USAGE when it is of another kernel. */
enum xst_status xst_audit_fa_a2a_trace(const struct xst_trace *trace, const struct xst_profile *profile,
                                       const struct xst_audit_options *options, struct xst_trace_check *checks_out,
                                       size_t room, size_t *count_out, struct xst_diag *diag);
enum xst_status xst_audit_moe_trace(const struct xst_trace *trace, const struct xst_profile *profile,
                                    const struct xst_audit_options *options, struct xst_trace_check *checks_out,
                                    size_t room, size_t *count_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
