/* SPDX-License-Identifier: Apache-2.0
 *
 * timing.h - when things happen: what a burst shape is asked for, and the answer of model, simulator or hardware.
 *
 * Plain stores are over for the producer when they are issued. Bulk stores leave a staging buffer behind that is busy until it
 * is *released*; the backpressure then shows in the release and not in the issue. On such a path the issue numbers stay on the
 * floor until the staging itself is exhausted, and rate, period and recovery gap are those of the release.
 */
#ifndef XSTAGE_TIMING_H
#define XSTAGE_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The question: K producers, each B bytes, then G us of useful time. */
struct xst_burst {
    double producers;
    double bytes_per_producer;
    double gap_us;
};

/* Why something is not known. */
#define XST_REASON_MAP(X)                                                                                              \
    X(NONE, "")                                                                                                        \
    X(NO_DRAIN, "the profile has no drain rate for this path")                                                         \
    X(NO_FLOOR, "the profile has no issue floor for this many producers and bytes")                                    \
    X(NO_CAPACITY, "the profile has no capacity for this many producers")
enum xst_reason {
#define X(NAME, sentence) XST_REASON_##NAME,
    XST_REASON_MAP(X)
#undef X
};
const char *xst_reason_sentence(enum xst_reason reason);

/* Bits of xst_timing.known and .extrapolated. */
enum {
    XST_TIMING_DRAIN = 1,
    XST_TIMING_FLOOR = 2,
    XST_TIMING_CAPACITY = 4,
    XST_TIMING_RELEASE = 8,
    XST_TIMING_RELEASE_CAPACITY = 16
};

/* X(name, needs, law, meaning): the numbers of a prediction in the order they are printed. `needs` are the known bits without
 * which the number is null. */
#define XST_TIMING_FIELDS(X)                                                                                           \
    X(producers, 0, "K", "concurrent issuers")                                                                         \
    X(bytes_per_producer, 0, "B", "bytes one producer writes in one burst")                                            \
    X(gap_us, 0, "G", "useful time between issue end and next issue start")                                            \
    X(burst_bytes, 0, "V", "aggregate burst volume")                                                                   \
    X(drain_us, XST_TIMING_DRAIN, "V/R", "time the burst needs to drain")                                              \
    X(issue_floor_us, XST_TIMING_FLOOR, "T0", "issue time without backpressure")                                       \
    X(issue_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(1)", "steady-state issue, producers free to drift")             \
    X(issue_aligned_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY, "(11)",                             \
      "steady-state issue, producers start together")                                                                  \
    X(overhead_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(2)", "issue time above the floor")                           \
    X(period_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(4)", "issue + gap, steady state")                              \
    X(period_aligned_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY, "(11)",                            \
      "issue + gap when producers start together")                                                                     \
    X(recovery_gap_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(3)", "smallest gap at which issue is on its floor")      \
    X(isolated_issue_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY, "(7)",                             \
      "issue of a burst on an empty path")                                                                             \
    X(backlog_bytes, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(6)", "what an isolated burst leaves in the stage")         \
    X(capacity_bytes, XST_TIMING_CAPACITY, "Q(K)", "what the stage holds")                                             \
    X(margin_rate_bytes, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "(10)", "R*(T0+G) - V; negative: rate bound fails")      \
    X(margin_capacity_bytes, XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY, "(10)",                        \
      "Q - backlog; negative: capacity bound fails")                                                                   \
    X(release_floor_us, XST_TIMING_RELEASE, "T0r", "staging busy without backpressure; = T0 for plain stores")         \
    X(release_us, XST_TIMING_DRAIN | XST_TIMING_RELEASE, "(1)r", "staging busy per burst, steady state")               \
    X(release_isolated_us, XST_TIMING_DRAIN | XST_TIMING_RELEASE | XST_TIMING_RELEASE_CAPACITY, "(7)r",                \
      "staging busy for a burst on an empty path, or one of an aligned train")                                         \
    X(completion_coupled_period_us, XST_TIMING_DRAIN, "(5)", "rival: issue waits for visibility, V/R + G")             \
    X(ideal_period_us, XST_TIMING_DRAIN, "max", "rival: perfect overlap, max(G, V/R)")                                 \
    X(loggp_period_us, XST_TIMING_DRAIN | XST_TIMING_FLOOR, "LogGP", "rival: LogGP with parameters of this profile")

struct xst_timing {
#define X(name, needs, law, meaning) double name;
    XST_TIMING_FIELDS(X)
#undef X
    uint32_t known;         /* XST_TIMING_* bits */
    uint32_t extrapolated;  /* XST_TIMING_* bits of values read outside the valid range */
    enum xst_reason reason; /* why the first missing value is missing */
};

#ifdef __cplusplus
}
#endif

#endif
