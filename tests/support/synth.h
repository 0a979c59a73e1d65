/* SPDX-License-Identifier: Apache-2.0
 *
 * synth.h - sample rows of a machine whose parameters are known: every row is the recursion of docs/model.md, burst by burst,
 * with equal shares and seeded noise. What the fit makes of such rows must be the parameters.
 */
#ifndef XST_TESTS_SYNTH_H
#define XST_TESTS_SYNTH_H

#include "support/support.h"

struct xt_machine {
    double drain_bytes_per_us;
    double capacity_per_producer_bytes; /* Q(K) = min(K * this, capacity_total_bytes) */
    double capacity_total_bytes;
    double floor_us; /* T0(B) = floor_us + B / floor_bytes_per_us */
    double floor_bytes_per_us;
    double loop_us;
    double fence_us;
    double noise;  /* every time of a row is off by up to this share, uniformly */
    int drifting;  /* free-running producers drift apart: (1); else they stay together: (11) */
    uint64_t seed; /* changes as numbers are drawn */
};

/* Uniform in [low, high). */
double xt_random(uint64_t *seed, double low, double high);

double xt_machine_floor_us(const struct xt_machine *machine, double bytes_per_producer);
double xt_machine_capacity_bytes(const struct xt_machine *machine, double producers);
/* Smallest B at which an isolated burst of K producers stalls; INFINITY when none does. */
double xt_machine_knee_bytes(const struct xt_machine *machine, double producers);

/* A machine anybody could own: 16-160 producers, 20-800 GB/s, drawn from `seed`. */
struct xt_machine xt_machine_draw(uint64_t seed, int64_t *producers_out);

/* Appends one row. Isolated rows have no gap and one burst. */
void xt_machine_row(struct xt_machine *machine, enum xst_mode mode, int64_t producers, int64_t bytes, double gap_us,
                    int64_t bursts, struct xst_samples *samples);

/* The sweeps of a calibration, each for the producer counts `counts`: isolated bursts up to four knees of the largest count;
 * zero-gap runs; gap sweeps; aligned runs. */
void xt_machine_isolated(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples);
void xt_machine_zero_gap(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples);
void xt_machine_gaps(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples);
void xt_machine_aligned(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples);

#endif
