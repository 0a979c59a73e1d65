/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.h - a kernel's traffic on a machine's profile: does the design hold, by how much, and what to change.
 *
 * The design test (10) has two bounds. *Rate*: what leaves the device in the long run, f*V, fits in R*(T0 + G). *Capacity*: the
 * backlog of the largest burst that can leave at once fits in Q(K). Plain stores pass when the rate holds and the capacity
 * holds for bursts that start together, unless the design states that it spreads them. Bulk stores leave the producer at once;
 * they are judged on their staging: it must be released within the gap (and the periods other staging slots buy).
 * Where the profile knows the backlog that delays nobody (16) the bystanders are a third bound; it is reported beside the
 * verdict and has its own remedy. A verdict needs numbers: what the profile does not know stays unknown.
 */
#ifndef XSTAGE_AUDIT_H
#define XSTAGE_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/fa_a2a.h>
#include <xstage/moe.h>
#include <xstage/profile.h>
#include <xstage/status.h>
#include <xstage/traffic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XST_VERDICT_MAP(X)                                                                                             \
    X(UNKNOWN, "unknown", "the profile lacks what the verdict needs")                                                  \
    X(PIGGYBACK, "piggyback", "both bounds hold: the role that owns the output issues and goes back to work")          \
    X(RESHAPE, "reshape", "a bound fails: redistribute work between bursts, or cut the burst")
enum xst_verdict {
#define X(NAME, text, meaning) XST_VERDICT_##NAME,
    XST_VERDICT_MAP(X)
#undef X
};
const char *xst_verdict_text(enum xst_verdict verdict);

enum xst_answer { XST_ANSWER_UNKNOWN, XST_ANSWER_NO, XST_ANSWER_YES };

/* A number of an audit; known == 0: the value is meaningless. */
struct xst_number {
    double value;
    int32_t known;
    int32_t extrapolated;
};

/* One bound: what is left (negative: what is missing). */
struct xst_bound {
    enum xst_answer holds;
    struct xst_number margin_bytes;
};

/* How the design fares when bursts start together, or drift apart. */
struct xst_audit_case {
    enum xst_verdict verdict;
    struct xst_number issue_us;
    struct xst_number period_us;
    struct xst_number release_us; /* of the staging; = issue for plain stores */
};

/* X(name, meaning) */
#define XST_AUDIT_NUMBERS(X)                                                                                           \
    X(producers, "K: CTAs that burst")                                                                                 \
    X(bytes_per_producer, "B: one producer's burst, local share included")                                             \
    X(burst_bytes, "V = K*B")                                                                                          \
    X(remote_bytes, "f*V: what leaves the device per period in the long run")                                          \
    X(largest_burst_bytes, "what can leave the device at once in the tile order")                                      \
    X(gap_us, "G: useful time between bursts, compute at peak")                                                        \
    X(drain_bytes_per_us, "R")                                                                                         \
    X(drain_us, "V/R")                                                                                                 \
    X(issue_floor_us, "T0")                                                                                            \
    X(recovery_gap_us, "G* (3) when all of V leaves the device")                                                       \
    X(recovery_gap_remote_us, "G* (3) of f*V")                                                                         \
    X(issue_us, "(1): drifting bursts, long run")                                                                      \
    X(issue_peak_us, "(1): drifting bursts while the largest ones follow each other")                                  \
    X(issue_aligned_us, "(11): largest bursts that start together")                                                    \
    X(isolated_issue_us, "(7): the largest burst on an empty path")                                                    \
    X(period_us, "(4)")                                                                                                \
    X(completion_coupled_period_us, "(5), the rival")                                                                  \
    X(backlog_bytes, "q0 (6) of the largest burst")                                                                    \
    X(capacity_bytes, "Q(K)")                                                                                          \
    X(release_floor_us, "staging busy without backpressure")                                                           \
    X(release_us, "staging busy, drifting bursts")                                                                     \
    X(release_aligned_us, "staging busy, largest bursts that start together")                                          \
    X(release_budget_us, "time after which the staging is needed again")                                               \
    X(free_capacity_bytes, "Q_free (16): backlog that delays no bystander")                                            \
    X(bystander_delay_us, "(16): delay of a local load right after the largest burst")                                 \
    X(prefetch_us, "local loads in flight ahead of their use")                                                         \
    X(given_tflops, "measured or given compute rate of the device")                                                    \
    X(gap_given_us, "G at that rate")                                                                                  \
    X(margin_rate_given_bytes, "rate margin at that rate")

struct xst_audit_numbers {
#define X(name, meaning) struct xst_number name;
    XST_AUDIT_NUMBERS(X)
#undef X
};

/* What a change touches; the text is the key it changes. */
#define XST_CHANGE_MAP(X)                                                                                              \
    X(BYTES, "bytes_per_producer")                                                                                     \
    X(METHOD, "method")                                                                                                \
    X(PHASE, "phase")                                                                                                  \
    X(PRODUCERS, "producers")                                                                                          \
    X(GAP, "gap_us")                                                                                                   \
    X(SCHEDULE, "schedule")                                                                                            \
    X(SLICES, "slices")
enum xst_change {
#define X(NAME, text) XST_CHANGE_##NAME,
    XST_CHANGE_MAP(X)
#undef X
};
const char *xst_change_text(enum xst_change change);

/* A change after which the model says the design holds. Best first: least issue time per original burst. */
struct xst_action {
    enum xst_change what;
    int numeric; /* from and to are numbers, else words */
    double from;
    double to;
    char from_word[16];
    char to_word[16];
    struct xst_number predicted_issue_us;   /* of one burst after the change */
    struct xst_number predicted_release_us; /* staging busy after the change; bulk only */
    struct xst_number issue_per_tile_us;    /* issue for what was one burst before the change */
    char text[240];                         /* the sentence */
};

enum { XST_MOST_ACTIONS = 10, XST_AUDIT_TEXT_BYTES = 320 };

/* (12) and the walk of the tiles, for fa-a2a. */
#define XST_AUDIT_FA_NUMBERS(X)                                                                                        \
    X(tiles, "output tiles of one rank")                                                                               \
    X(waves, "rounds of the persistent grid")                                                                          \
    X(last_wave_tiles, "tiles of the last round")                                                                      \
    X(kv_blocks, "inner steps per tile")                                                                               \
    X(t_kv_min_us, "one inner step at peak")                                                                           \
    X(m_upper_bound, "(12): from this many rows on the rate bound holds, all of V remote")                             \
    X(m_upper_bound_remote, "the same for f*V")                                                                        \
    X(compute_us, "waves * G at peak")                                                                                 \
    X(exposed_issue_us, "issue summed over the waves, aligned")                                                        \
    X(tail_us, "last issue to remote-visible: backlog left, and the fence")                                            \
    X(exposed_us, "issue and tail: what the exchange adds to attention")
struct xst_audit_fa {
#define X(name, meaning) struct xst_number name;
    XST_AUDIT_FA_NUMBERS(X)
#undef X
};

/* (13)-(15) and the lead, for moe. Leads are counted in Linear-1 tiles. */
#define XST_AUDIT_MOE_NUMBERS(X)                                                                                       \
    X(rows, "rows one rank receives, balanced routing")                                                                \
    X(blocks, "row blocks of one rank")                                                                                \
    X(l1_tiles, "Linear-1 tiles of one rank")                                                                          \
    X(l2_tiles, "Linear-2 tiles of one rank")                                                                          \
    X(l1_per_block, "n1")                                                                                              \
    X(l2_per_block, "n2")                                                                                              \
    X(rho, "Linear-1 tiles per Linear-2 tile")                                                                         \
    X(t_l1_us, "one Linear-1 tile at peak")                                                                            \
    X(t_l2_us, "one Linear-2 tile at peak")                                                                            \
    X(t_act_us, "activation, cast and publish of one Linear-1 tile")                                                   \
    X(gap_wave_us, "(13): T_L2")                                                                                       \
    X(gap_interleaved_us, "(14): T_L2 + rho*T_L1")                                                                     \
    X(lead_first_tiles, "(15), a first guess")                                                                         \
    X(lead_knee_tiles, "smallest lead without starvation in steady state")                                             \
    X(lead_startup_tiles, "the same, first two rounds included")                                                       \
    X(lead_tail_tiles, "the same, start-up and tail included")                                                         \
    X(lead_working_set_bytes, "intermediate activations between the schedules' ends at the knee")                      \
    X(lead_tiles, "lead asked about")                                                                                  \
    X(lead_stall_us, "time an SM waits on average at that lead, whole call")                                           \
    X(lead_starved_tiles, "Linear-2 tiles that wait in steady state at that lead")
struct xst_audit_moe {
#define X(name, meaning) struct xst_number name;
    XST_AUDIT_MOE_NUMBERS(X)
#undef X
    enum xst_schedule recommended;
    int recommended_known;
};

/* A schedule's share of a moe audit. */
struct xst_audit_schedule {
    enum xst_schedule schedule;
    enum xst_verdict verdict;
    struct xst_number gap_us;
    struct xst_bound rate;
    struct xst_bound capacity;
    struct xst_audit_case aligned;
    struct xst_audit_case drifting;
};

enum xst_audit_kind { XST_AUDIT_TRAFFIC, XST_AUDIT_FA_A2A, XST_AUDIT_MOE };

struct xst_audit {
    enum xst_audit_kind kind;
    char name[XST_NAME_BYTES]; /* preset, file or "" */
    char profile_id[XST_ID_BYTES];
    char profile_name[XST_NAME_BYTES];
    struct xst_traffic traffic;
    /* fa-a2a and moe: what was asked */
    struct xst_fa_a2a_shape fa_shape;
    struct xst_fa_a2a_plan fa_plan;
    struct xst_moe_shape moe_shape;
    struct xst_moe_plan moe_plan;
    /* the answer */
    enum xst_verdict verdict;
    struct xst_bound rate;
    struct xst_bound capacity;
    struct xst_bound staging; /* bulk stores only: release against its budget, in bytes of drain */
    enum xst_answer bystander_holds;
    struct xst_audit_case aligned;
    struct xst_audit_case drifting;
    struct xst_audit_numbers numbers;
    struct xst_audit_fa fa;
    struct xst_audit_moe moe;
    struct xst_audit_schedule schedules[2];
    struct xst_action actions[XST_MOST_ACTIONS];
    size_t action_count;
    int extrapolated;                    /* a number was read outside the profile's range */
    char sentence[XST_AUDIT_TEXT_BYTES]; /* the verdict for a person */
    char reason[XST_AUDIT_TEXT_BYTES];   /* why the first missing number is missing; "" */
    char note[XST_AUDIT_TEXT_BYTES];     /* what else to know; "" */
};

struct xst_audit_options {
    int extrapolate;     /* read the profile's tables outside their range */
    double peak_tflops;  /* 0: the profile's */
    double given_tflops; /* measured or given compute rate of the device; 0: none */
    int64_t lead;        /* moe: lead to examine, in Linear-1 tiles; 0: none */
};

/* Judges `traffic` on `profile`. XST_ERR_NO_DATA when the profile has no such path. */
enum xst_status xst_audit_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                  const struct xst_audit_options *options, struct xst_audit *audit_out,
                                  struct xst_diag *diag);

/* The kernels of this project. plan->producers == 0: the profile's SM count; plan->sm_flop_per_us == 0: the peak's share of one
 * SM. XST_ERR_NO_DATA when the profile does not know what is needed and no option gives it. */
enum xst_status xst_audit_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                 const struct xst_fa_a2a_plan *plan, const struct xst_audit_options *options,
                                 struct xst_audit *audit_out, struct xst_diag *diag);
enum xst_status xst_audit_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                              const struct xst_moe_plan *plan, const struct xst_audit_options *options,
                              struct xst_audit *audit_out, struct xst_diag *diag);

/* The audit as one JSON object without the document's head (malloc'd, the caller frees). */
enum xst_status xst_audit_print(const struct xst_audit *audit, char **text_out, struct xst_diag *diag);

/* The interleaved list: `blocks` blocks of n1 Linear-1 and n2 Linear-2 tiles, K CTAs that take the next entry when free. A block's
 * Linear-2 tiles need all its Linear-1 tiles, act_us after they end. */
struct xst_lead_problem {
    int64_t blocks;
    int64_t l1_per_block;
    int64_t l2_per_block;
    int64_t producers;
    double l1_us;
    double l2_us;
    double act_us;
};

/* Steady state leaves out the first two rounds (the first 2*K Linear-2 tiles) and the tiles after the last Linear-1 tile. */
struct xst_lead_waits {
    int64_t steady_tiles; /* Linear-2 tiles that fall into steady state */
    int64_t steady_starved;
    int64_t startup_starved;
    int64_t tail_starved;
    double wait_us; /* summed over all CTAs */
    double makespan_us;
};

/* (15) */
int64_t xst_lead_first_tiles(const struct xst_lead_problem *problem);

/* Runs the list at one lead >= l1_per_block (a smaller one would wait for ever; it is raised). */
enum xst_status xst_lead_run(const struct xst_lead_problem *problem, int64_t lead, struct xst_lead_waits *waits_out,
                             struct xst_diag *diag);

/* The smallest leads without a wait; -1 where the call is too short to have one. */
struct xst_lead_knees {
    int64_t steady;
    int64_t startup;
    int64_t tail;
};
enum xst_status xst_lead_find(const struct xst_lead_problem *problem, struct xst_lead_knees *knees_out,
                              struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
