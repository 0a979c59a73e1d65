/* SPDX-License-Identifier: Apache-2.0
 *
 * sim.h - the same stage stepped through time, one producer at a time.
 *
 * A *source* (a device) drains at R, shared between hardware groups of producers with backlog, then inside a group, by
 * weight; what one cannot use goes to the others. A *producer* (a CTA or a role) accepts a burst at its backpressure-free rate
 * until its own capacity c is full, then at the rate it drains; it drains no faster than it accepts. Its weight can be drawn
 * anew for every burst. What a producer does is a sequence of *steps* handed out by a callback: wait for a counter, load,
 * work, store a burst, fence, post a counter. Time moves from event to event (a burst starts, reaches its floor, ends; a
 * backlog runs empty), never by fixed steps; memory grows with producers, not with steps. Same input and seed, same output.
 * This simulator knows no law of model.h; tests hold the two against each other. Units: us, bytes, bytes/us.
 */
#ifndef XSTAGE_SIM_H
#define XSTAGE_SIM_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One device's remote-store path. */
struct xst_sim_source {
    double drain_bytes_per_us;   /* R */
    double capacity_total_bytes; /* bounds the sum of its producers' capacities, split evenly; 0: no such bound */
    double free_capacity_bytes;  /* Q_free of (16): backlog that delays no load */
    double fence_us;             /* F: from an empty backlog to the end of a fence */
    int64_t groups;              /* hardware groups, 1 or more: each with backlog gets an equal share */
};

/* Where stores arrive. With destinations, group g of every source is its traffic to destination g: each source divides its
 * drain evenly over the destinations it has backlog for, each destination its ingress over the sources, and what one end
 * cannot use goes to the others (max-min fair). One event then costs O(sources * destinations). */
struct xst_sim_destination {
    double ingress_bytes_per_us;
};

/* Who stores. */
struct xst_sim_producer {
    int64_t source;
    int64_t group;         /* in its source */
    double capacity_bytes; /* c */
    double weight;         /* its share inside the group; 1 unless unequal on purpose */
};

/* Flags of a step. */
enum {
    XST_SIM_STEADY = 1, /* counts in the steady-state issue mean */
    XST_SIM_QUIET = 2,  /* not a burst of its own: keeps the weight of the last one, counts in no issue */
    XST_SIM_FENCE = 4,  /* then wait until the own backlog is empty, plus fence_us */
    XST_SIM_RELEASE = 8 /* then post when the own backlog is empty, without waiting for it (bulk stores) */
};

/* One step of a producer; its parts happen in this order, those that are zero do not happen. */
struct xst_sim_step {
    int64_t wait_counter; /* negative: none */
    int64_t wait_value;   /* goes on when the counter is at least this */
    double load_us;       /* a local load: this long when nothing is in its way, later behind the backlog (16) */
    double work_us;       /* useful time */
    double bytes;         /* burst */
    double floor_us;      /* its issue time without backpressure, > 0 with bytes */
    int64_t post_counter; /* one is added at the step's end (at release with XST_SIM_RELEASE); negative: none */
    uint32_t flags;
};

/* Hands out step number `step` (from 0) of `producer` at time `now_us`. Returns 1 with *step_out filled (it comes zeroed,
 * counters -1), 0 when the producer is done. */
typedef int xst_sim_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out);

struct xst_sim_config {
    const struct xst_sim_source *sources;
    int64_t source_count;
    const struct xst_sim_destination *destinations; /* NULL: the destinations never limit */
    int64_t destination_count;                      /* 0, or `groups` of every source */
    const struct xst_sim_producer *producers;
    int64_t producer_count;
    int64_t counter_count;
    xst_sim_next *next;
    void *context;
    double share_spread_burst; /* log-normal spread of the weight, drawn at every burst */
    double share_spread;       /* log-normal spread of the weight, drawn once per producer */
    uint64_t seed;
    double series_step_us; /* backlog is recorded every so often; 0: not */
    size_t series_count;   /* at most this many points */
    int64_t event_limit;   /* 0: none; more events than this are XST_ERR_TIMEOUT */
};

/* What one producer saw. */
struct xst_sim_account {
    int64_t bursts;
    int64_t steady_bursts;
    double issue_us;        /* sum over bursts */
    double steady_issue_us; /* sum over steady bursts */
    double issue_max_us;
    double wait_us;      /* for counters */
    double load_wait_us; /* loads behind the backlog */
    double load_max_us;  /* longest load */
    double fence_wait_us;
    double work_us;
    double end_us;     /* its last step ended */
    double drained_us; /* its last byte drained; 0: it stored nothing */
    double injected_bytes;
    double drained_bytes;
};

struct xst_sim_point {
    double time_us;
    double backlog_bytes; /* all sources */
};

struct xst_sim_result {
    double makespan_us; /* last step end or drained byte */
    double issue_mean_us;
    double steady_issue_mean_us; /* mean over producers and steady bursts */
    double injected_bytes;
    double drained_bytes;
    double backlog_peak_bytes; /* largest recorded series point */
    int64_t events;
    struct xst_sim_account *accounts; /* one per producer */
    int64_t account_count;
    struct xst_sim_point *series;
    size_t series_count;
};

/* Runs until every producer is done. XST_ERR_RANGE names the field that is out of range; when nobody can go on,
 * XST_ERR_TIMEOUT says which producer waits for which counter, its value and the value wanted. */
enum xst_status xst_sim_run(const struct xst_sim_config *config, struct xst_sim_result *result_out,
                            struct xst_diag *diag);
void xst_sim_result_free(struct xst_sim_result *result);

/* A program for `next`: every producer stores `bursts` bursts with `gap_us` between the end of one and the start of the next;
 * the second half counts as steady. */
struct xst_sim_pattern {
    double bytes;
    double floor_us;
    double gap_us;
    int64_t bursts;
};
int xst_sim_pattern_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out);

/* A program for `next`: `pairs` compute roles (producers 0..pairs-1) hand tiles to as many issuing roles (pairs..2*pairs-1)
 * through `slots` staging slots each. A compute role stalls while all its slots are full; a slot is free again at the end of
 * the issue, with `bulk` when the tile has drained. Counters: 2*pairs. `slices` > 1 paces a tile's burst (17): that many parts,
 * evenly over `span_us`. */
struct xst_sim_staging {
    int64_t pairs;
    int64_t tiles;
    int64_t slots;
    double load_us; /* local loads a tile waits for, with nothing in their way */
    double compute_us;
    double epilogue_us; /* of the issuing role, before the burst */
    double bytes;
    double floor_us;
    int64_t slices; /* 0 or 1: one burst */
    double span_us;
    int bulk;
};
int xst_sim_staging_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out);

/* Puts `producers` of a device into its hardware groups the way Hopper launches CTAs (docs/notes/0005-dispersion.md):
 * fills group_out[0..producers). full_producers: producers that fill the device. */
void xst_sim_deal_groups(int64_t groups, int64_t full_producers, int64_t producers, int64_t *group_out);

/* The fluid's word on a recorded free-running, aligned or isolated row, as struct xst_row_prediction of fit.h is the laws'. */
struct xst_fluid_prediction {
    double total_us;     /* of the run, fence included; 0 for isolated rows */
    double issue_us;     /* mean over producers and steady bursts */
    double own_total_us; /* mean over producers of their own end */
    int64_t events;
};

/* XST_ERR_NO_DATA when the path has no drain rate, no floor at this K and B, or no capacity. Dispersion comes from the path
 * (`groups`, `share_spread_burst`, `share_spread`, `record_bytes`, `turn_us`; not known: one group, no spread, 0). */
enum xst_status xst_fluid_row_predict(const struct xst_path *path, const struct xst_sample *row, uint64_t seed,
                                      struct xst_fluid_prediction *prediction_out, struct xst_diag *diag);

/* A recorded bystander row run again: the burst, the delay, then one local operation per producer that takes `baseline_us`
 * with nothing in its way. (16) is an upper bound for single small loads and atomics: compare those by their worst. */
struct xst_fluid_bystander {
    double op_us_mean;
    double op_us_max;
};
enum xst_status xst_fluid_bystander_predict(const struct xst_path *path, const struct xst_bystander_sample *row,
                                            double baseline_us, uint64_t seed,
                                            struct xst_fluid_bystander *prediction_out, struct xst_diag *diag);

/* Fits the dispersion of `path` to part of its free-running rows with gap > 0 and judges it on the rest. */
struct xst_dispersion_options {
    uint64_t seed;
    double holdout_frac;     /* share of rows kept for judging; 0: the default, one half */
    unsigned char *held_out; /* NULL, or one per sample row: set to 1 where a row was kept for judging, else to 0 */
};

struct xst_dispersion_errors {
    int64_t n;
    double median_abs_rel_err;
    double p90_abs_rel_err;
    double max_abs_rel_err;
};

struct xst_dispersion {
    int64_t rows_fit;
    int64_t rows_held_out;
    int64_t rows_unused; /* of this path, but no floor or capacity */
    int64_t simulations;
    struct xst_dispersion_errors fit_period, fit_issue;
    struct xst_dispersion_errors held_out_period, held_out_issue;
};

/* Sets path->groups, share_spread_burst, share_spread, record_bytes and turn_us; low and high span the values whose misfit is within a tenth of the
 * best. XST_ERR_NO_DATA when fewer than eight rows can be used. */
enum xst_status xst_path_fit_dispersion(struct xst_path *path, const struct xst_samples *samples,
                                        const struct xst_dispersion_options *options,
                                        struct xst_dispersion *dispersion_out, struct xst_diag *diag);

/* Whether a row is one of this path. */
int xst_path_has_row(const struct xst_path *path, const struct xst_sample *row);

#ifdef __cplusplus
}
#endif

#endif
