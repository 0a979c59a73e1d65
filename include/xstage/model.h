/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h - the X-Stage laws, one function each, and the prediction that composes them on a profile.
 *
 * Stores pass a stage between *issue* (the instruction was accepted) and *remote visibility*. It drains at R and holds Q.
 * Symbols, in code and here: K producers, B bytes_per_producer, V = K*B burst_bytes, G gap_us, T0 issue_floor_us,
 * R drain_bytes_per_us, Q capacity_bytes, q backlog_bytes. Units: us, bytes, bytes/us. Equation numbers are those of
 * docs/model.md. The laws are pure: arguments finite, T0, V, G, Q >= 0, R > 0 (asserted), result finite and >= 0 unless a
 * margin, which is negative when its bound fails.
 */
#ifndef XSTAGE_MODEL_H
#define XSTAGE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/profile.h>
#include <xstage/status.h>
#include <xstage/timing.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The four quantities every law is made of, for one burst shape on one path. */
struct xst_stage {
    double floor_us;           /* T0(K, V) */
    double drain_bytes_per_us; /* R */
    double capacity_bytes;     /* Q(K); INFINITY where no bound applies */
    double burst_bytes;        /* V */
};

/* (1) steady-state issue of bursts free to drift: max(T0, V/R - G) */
double xst_law_issue_us(const struct xst_stage *stage, double gap_us);
/* (2) issue overhead: [V/R - G - T0]+ */
double xst_law_overhead_us(const struct xst_stage *stage, double gap_us);
/* (3) recovery gap G*: [V/R - T0]+ */
double xst_law_recovery_gap_us(const struct xst_stage *stage);
/* (4) steady-state period: max(V/R, T0 + G) */
double xst_law_period_us(const struct xst_stage *stage, double gap_us);
/* (5) the rival: completion-coupled period, V/R + G */
double xst_law_completion_coupled_us(const struct xst_stage *stage, double gap_us);
/* (6) backlog an isolated burst leaves: [V - R*T0]+ */
double xst_law_backlog_bytes(const struct xst_stage *stage);
/* (7) issue of an isolated burst: max(T0, (V - Q)/R) */
double xst_law_isolated_issue_us(const struct xst_stage *stage);
/* (10) design test: R*(T0 + G) - V and Q - q0; negative: that bound fails */
double xst_law_margin_rate_bytes(const struct xst_stage *stage, double gap_us);
double xst_law_margin_capacity_bytes(const struct xst_stage *stage);
/* (11) steady-state issue of bursts that start together: max(T0, V/R - min(G, Q/R)); the period is that plus G */
double xst_law_aligned_issue_us(const struct xst_stage *stage, double gap_us);
double xst_law_aligned_period_us(const struct xst_stage *stage, double gap_us);

/* The recursion that contains them: one burst met with backlog q, then a gap.
 * issue = max(T0, (V + q - Q)/R); q after issue = min(Q, [q + V - R*issue]+); q after the gap = [that - R*G]+. */
struct xst_step {
    double issue_us;
    double backlog_after_issue_bytes;
    double backlog_after_gap_bytes;
};
struct xst_step xst_law_step(const struct xst_stage *stage, double backlog_bytes, double gap_us);

/* (16) delay of a local operation that meets backlog q: [q - Q_free]+ / R */
double xst_law_bystander_delay_us(double backlog_bytes, double free_capacity_bytes, double drain_bytes_per_us);

/* T0 of the path at (K, B): linear in B between points of the nearest recorded producer count (nearest in log K, among those
 * whose table spans B); below the smallest recorded B its value. *extrapolated_out (may be NULL) is set when (K, B) lies
 * outside the path's valid range. XST_ERR_NO_DATA when that is so and `extrapolate` is 0, or when there is no table. */
enum xst_status xst_path_floor_us(const struct xst_path *path, double producers, double bytes_per_producer,
                                  int extrapolate, double *floor_us_out, int *extrapolated_out);

/* Q(K): linear in K between recorded producer counts, through the origin below the smallest; above the largest only with
 * `extrapolate`, by min(K*c, Q_total). The release form is the same for staging release of bulk stores. */
enum xst_status xst_path_capacity_bytes(const struct xst_path *path, double producers, int extrapolate,
                                        double *capacity_bytes_out, int *extrapolated_out);
enum xst_status xst_path_release_floor_us(const struct xst_path *path, double producers, double bytes_per_producer,
                                          int extrapolate, double *floor_us_out, int *extrapolated_out);
enum xst_status xst_path_release_capacity_bytes(const struct xst_path *path, double producers, int extrapolate,
                                                double *capacity_bytes_out, int *extrapolated_out);

/* (8) the knee: largest B per producer with V - R*T0(K, V) <= Q(K), by bisection inside the valid range.
 * XST_ERR_NO_DATA when Q(K) is not known or no stall exists inside the range. */
enum xst_status xst_path_knee_bytes_per_producer(const struct xst_path *path, double producers,
                                                 double *bytes_per_producer_out);

/* All laws for one burst shape. Never fails on missing data: what cannot be known has its bit clear in timing->known and the
 * first reason in timing->reason. Returns XST_ERR_RANGE for a burst that is not one (K < 1, B < 1, G < 0, not finite). */
enum xst_status xst_timing_predict(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                                   struct xst_timing *timing_out, struct xst_diag *diag);

/* The same for `count` bursts, one result each; stops at the first error. No allocation. */
enum xst_status xst_timing_predict_many(const struct xst_path *path, const struct xst_burst *bursts, size_t count,
                                        int extrapolate, struct xst_timing *timings_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
