/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h - the state of a running simulation, and who changes which part of it.
 *
 *   setup.c    checks, allocates, puts everybody in place
 *   fluid.c    runs the event loop, sums up
 *   share.c    who drains how fast: settle, join, leave, tag, balance
 *   ingress.c  rates of (source, destination) flows where destinations have a limit; each flow is then a source of its own
 *   program.c  what a producer does next: its steps, counters and fences
 *
 * Virtual time: all sharing members of a group drain in proportion to their weights, so one clock per group (bytes per unit of
 * weight) tells when each of them has drained what it still must: its *tag*, which does not move when rates change. Groups in
 * turn share a source's drain evenly, so one clock per source (bytes per group) orders the groups' next tags. An event touches
 * one member, its group and its source: O(log members + log groups).
 *
 * A member whose share is at least its own accepting rate is *capped*: it drains at that rate and leaves the rest of its share
 * to its group, or to the other groups where it has no sharing member. At most drain/rate members are capped at once, so
 * they are kept in a list.
 */
#ifndef XSTI_SIM_ENGINE_H
#define XSTI_SIM_ENGINE_H

#include <xstage/sim.h>

#include "base/diag.h"
#include "sim/heap.h"

enum xsti_share { XSTI_SHARE_NONE, XSTI_SHARE_SHARED, XSTI_SHARE_CAPPED };

enum xsti_activity {
    XSTI_ACTIVITY_DONE,
    XSTI_ACTIVITY_WAIT, /* for a counter */
    XSTI_ACTIVITY_LOAD,
    XSTI_ACTIVITY_WORK,
    XSTI_ACTIVITY_ISSUE,
    XSTI_ACTIVITY_DRAIN, /* a fence waits for the backlog */
    XSTI_ACTIVITY_FENCE  /* and then its own time */
};

/* What a tag stands for. */
enum xsti_tag { XSTI_TAG_NONE, XSTI_TAG_ISSUED, XSTI_TAG_RELEASED, XSTI_TAG_EMPTY };

/* A post that waits for the burst before it to drain. */
struct xsti_release {
    double drained_bytes; /* of the producer, in all */
    int64_t counter;
};

/* In the order of use: what every event touches comes first, two cache lines long. */
struct xsti_member {
    int32_t group; /* index over all sources */
    int32_t source;
    double capacity;
    /* as of touch_us and touch_clock */
    double backlog;
    double left; /* bytes of the burst not accepted yet */
    double touch_us;
    double touch_clock;
    double drained;
    double injected;
    /* now */
    double accept; /* bytes per us without backpressure */
    double weight;
    double threshold;          /* accept / weight: capped when the group's clock runs at least as fast */
    double since_us;           /* the current activity began */
    uint8_t share;             /* enum xsti_share */
    uint8_t activity;          /* enum xsti_activity */
    uint8_t tag;               /* enum xsti_tag */
    uint8_t floor_passed;      /* issuing, and its issue floor is over: only backpressure holds it */
    int32_t next_waiter;       /* of the same counter; -1: last */
    uint32_t release_capacity; /* power of two */
    uint32_t release_first;
    uint32_t release_count;
    /* once a burst */
    double base_weight;
    uint64_t burst_index;
    /* program */
    int64_t step_index;
    struct xst_sim_step step;
    struct xsti_release *releases; /* ring of pending posts */
};

struct xsti_group {
    int32_t source;
    int32_t first; /* into engine->roster */
    int32_t size;
    int32_t sharing;   /* members that share */
    int32_t shared_at; /* its place in the source's sharing_groups, while it has such members */
    double weight;     /* their weights */
    double capped;     /* rates of capped members */
    double clock;      /* bytes per unit of weight */
    double clock_us;   /* as of this time */
    double clock_base; /* and this clock of the source */
    double threshold;  /* at most the smallest of its sharing members */
    struct xsti_heap tags;
};

struct xsti_source {
    double drain;
    double free_capacity;
    double fence_us;
    int32_t first_group;
    int32_t group_count;
    int32_t sharing;         /* groups with a sharing member */
    int32_t *sharing_groups; /* which */
    double capped;           /* rates of the groups without one */
    double clock;            /* bytes per sharing group */
    double clock_us;
    double wants;     /* accepting rates of its members with a share: it cannot drain faster */
    int32_t active;   /* members with a share */
    double level;     /* its rate: what a sharing group drains per us */
    double cap_level; /* no sharing member need be capped below this level */
    int32_t *capped_members;
    int32_t capped_count;
    struct xsti_heap groups; /* by the source's clock at their next tag */
};

struct xsti_counter {
    int64_t value;
    int32_t first_waiter, last_waiter;
};

struct xsti_engine {
    const struct xst_sim_config *config;
    double now;
    struct xsti_member *members;
    int32_t member_count;
    struct xsti_group *groups;
    int32_t group_count;
    struct xsti_source *sources;
    int32_t source_count;
    struct xsti_counter *counters;
    int64_t counter_count;
    int32_t *roster;         /* members by group */
    struct xsti_heap timers; /* members by real time */
    struct xsti_heap next;   /* sources by the real time of their next tag */
    int32_t *ready;          /* ring of members whose counter came */
    int32_t ready_first, ready_count;
    int32_t working;    /* members not done */
    int32_t fired;      /* member whose timer is being handled: still in `timers` until it has a new one */
    int64_t events;     /* starts, ends, capacities reached, backlogs run empty, loads, fences */
    int64_t idle_steps; /* steps begun since time last moved */
    struct xst_sim_account *accounts;
    struct xst_sim_point *series;
    size_t series_count;
    double backlog_peak;
    int32_t lanes;         /* engine sources per source of the configuration: its destinations, or 1 */
    int32_t ends;          /* sources and destinations of the configuration; 0: no destinations */
    double *room;          /* per end: what is left to give, in a solution */
    double *rates;         /* per flow, in a solution */
    int32_t *open;         /* per end: flows that can still grow */
    int32_t *producers_of; /* per source of the configuration */
    double *weights;       /* quantiles of the redrawn weight */
    int failed;            /* status of a program error, as enum xst_status */
    struct xst_diag *diag;
    void *memory;
};

/* fmin and fmax without their care for NaN, which cannot occur here, and without a call. */
static inline double xsti_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double xsti_max(double a, double b)
{
    return a > b ? a : b;
}

#pragma GCC visibility push(hidden) /* direct calls inside the shared library */

/* setup.c: the engine's `config` is set, all else zero; tear down whatever set_up returned */
enum xst_status xsti_set_up(struct xsti_engine *engine, struct xst_diag *diag);
void xsti_tear_down(struct xsti_engine *engine, int keep_results);

/* share.c */
void xsti_settle(struct xsti_engine *engine, struct xsti_member *member);
void xsti_join(struct xsti_engine *engine, struct xsti_member *member, double weight, double accept);
void xsti_leave(struct xsti_engine *engine, struct xsti_member *member);
void xsti_retag(struct xsti_engine *engine, struct xsti_member *member);
void xsti_balance(struct xsti_engine *engine, struct xsti_source *source);
double xsti_backlog(const struct xsti_engine *engine, const struct xsti_member *member);
void xsti_source_next(struct xsti_engine *engine, struct xsti_source *source);
int32_t xsti_source_due(struct xsti_engine *engine, struct xsti_source *source);

/* Of one source whose drain or members changed; xsti_balance() also where ingress ties sources together. */
void xsti_balance_source(struct xsti_engine *engine, struct xsti_source *source);

/* ingress.c */
void xsti_ingress_balance(struct xsti_engine *engine, struct xsti_source *source);

/* program.c */
void xsti_program_go(struct xsti_engine *engine, int32_t id);
void xsti_program_timer(struct xsti_engine *engine, int32_t id);
void xsti_program_tag(struct xsti_engine *engine, int32_t id);
void xsti_program_wake(struct xsti_engine *engine);

/* random.c: standard-normal quantiles; uniform bits from (seed, producer, burst) alone */
enum { XSTI_QUANTILES = 1024 };
double xsti_normal_quantile(double probability);
uint32_t xsti_draw(uint64_t seed, uint64_t producer, uint64_t burst);

#pragma GCC visibility pop

#endif
