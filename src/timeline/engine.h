/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h - the state of a running timeline, and who changes which part of it.
 *
 *   make.c      checks and allocates
 *   run.c       the main loop
 *   rank.c      what an SM does next: tiles, counters, pulls
 *   store.c     staging slots, bursts, the stage they drain from
 *   series.c    backlog over time; summary.c: who waits for what, and the sums
 *   network.c   what each rank may send, and how fast it pulls
 *
 * The stage of a rank is one fluid: SMs with backlog drain in proportion to their weights, so one clock per rank (bytes per unit
 * of weight) tells when each of them has drained what it must; these *tags* stay where they are when rates change. No SM drains
 * faster than it accepts. Between two settlements of the network a rank touches nothing but its own state.
 */
#ifndef XSTI_TIMELINE_ENGINE_H
#define XSTI_TIMELINE_ENGINE_H

#include <xstage/timeline.h>

#include "base/diag.h"
#include "timeline/heap.h"

enum xsti_sm_state {
    XSTI_SM_START, /* has not begun: the rank starts later */
    XSTI_SM_WAIT,  /* for a counter */
    XSTI_SM_WORK,
    XSTI_SM_SLOT,  /* for a staging slot */
    XSTI_SM_ISSUE, /* issues its own stores */
    XSTI_SM_DONE
};

struct xsti_burst {
    double remote_bytes;
    double accept_floor_us;
    double issue_floor_us;
    double queued_us;
    int64_t id;
    int32_t mix;
    int16_t kind;
};

struct xsti_sm {
    /* computing role */
    enum xsti_sm_state state;
    double since_us;
    int64_t taken;
    struct xst_tile tile;
    int32_t need;        /* which of the tile's needs it waits for */
    int32_t next_waiter; /* of the same counter; -1: last */
    int stalled;         /* its last burst took twice its floor and more */
    int out_of_step;
    /* staging */
    int32_t slots_used;
    int32_t fifo_first, fifo_count;
    struct xsti_burst *fifo; /* staging_slots of them */
    /* the burst being accepted: the first of the fifo */
    int accepting;
    int floor_passed;
    int drained_enough;  /* what is left fits in the stage */
    int32_t slices_left; /* of the burst, not handed to the stage yet */
    double slice_us;     /* between two slices during the work that is going on */
    double last_slice_us;
    int visible_wait; /* completion coupling: drained, now until visible */
    double accept_us;
    /* share of the drain */
    int active;
    int tag_is_accept; /* the tag stands for drained_enough, not for empty */
    int32_t mix;
    double share; /* drawn at the burst */
    double weight;
    double backlog; /* as of touch_clock */
    double touch_clock;
    uint64_t burst_index;
    /* sums */
    double work_us, wait_us, slot_us, own_floor_us, own_stall_us, store_floor_us, store_stall_us;
    double end_us;
    double empty_us; /* last time its backlog ran empty */
};

struct xsti_post {
    double at_us;
    int64_t counter;
};

struct xsti_counter_state {
    int64_t value;
    int32_t first_waiter; /* -1: none */
};

enum xsti_pull_state { XSTI_PULL_NONE, XSTI_PULL_HOLD, XSTI_PULL_WAIT, XSTI_PULL_RUN, XSTI_PULL_DONE };

/* SMs by hardware group: those of port p are member[first[p]] .. member[first[p + 1] - 1]. */
struct xsti_ports {
    int64_t count;
    int64_t *port; /* of an SM */
    int32_t *first, *member;
};

struct xsti_rank {
    const struct xst_timeline_config *config;
    int64_t index;
    int64_t domain;
    double start_us;
    struct xsti_sm *sms;
    struct xsti_burst *fifos;
    struct xsti_queue timers;       /* 2 * sm: its work or own issue; 2 * sm + 1: its burst's floor */
    struct xsti_queue tags;         /* SMs by clock */
    const struct xsti_ports *ports; /* NULL: one share for all */
    double *port_share;             /* sum over the active SMs of a port */
    struct xsti_counter_state *counters;
    struct xsti_post *posts; /* ring: delayed posts, in order of time */
    int64_t posts_room, posts_first, posts_count;
    int32_t working; /* SMs not done */
    /* stage */
    double now_us; /* clock and backlog are as of this time */
    double clock;
    double weight; /* of active SMs */
    int32_t active;
    double store_rate;  /* granted by the network */
    double accept_rate; /* most one unit of weight drains */
    double backlog;
    double drained;
    double busy_store_us; /* since the last settlement: time with backlog */
    double *to;           /* weight by destination; NULL when no mixes are used */
    double even_weight;   /* weight of those that send evenly */
    double *sent_to;      /* bytes by destination; NULL like `to` */
    double sent_even;
    /* pull */
    enum xsti_pull_state pull_state;
    struct xst_pull pull;
    int64_t pull_index;
    double pull_left;
    double pull_rate;
    double pull_since_us;
    double pull_hold_us; /* until then no pull begins */
    double pull_busy_us, pull_wait_us, pulled;
    double *pulled_from; /* NULL like `to` */
    double pulled_even;
    /* network's memory */
    double store_demand; /* bytes per us, smoothed */
    double store_busy;   /* share of the time, smoothed */
    double drained_before;
    int dirty; /* something the network must know has changed */
    /* sums */
    struct xst_rank_account account;
    double issue_sum_us;
    int64_t events;
    int64_t idle_events; /* since time last moved */
    double idle_at_us;
    int stuck; /* endless: too many events without time */
};

struct xsti_timeline {
    const struct xst_timeline_config *config;
    struct xsti_rank *ranks;
    int64_t group_ranks;
    int64_t domain_ranks; /* of a group that share links; group_ranks: all of them */
    int64_t domains;
    double each_peer; /* share of an even stream that each peer gets */
    struct xsti_ports ports;
    double rate_step_us;                             /* 0: settled at every change */
    double *load_out, *load_in, *room_out, *room_in; /* network.c, by rank */
    double *store, *pull, *store_want, *pull_want;
    double *limit_out, *limit_in;
    double *nic_out, *nic_in, *nic_limit_out, *nic_limit_in, *even; /* by domain */
};

/* Zeroed: nothing is recorded. */
struct xsti_recorder {
    struct xst_timeline_point *points;
    int64_t count, most;
    double step_us, next_us;
    double drained, drained_first; /* as of the last point */
};

#pragma GCC visibility push(hidden)

/* rank.c */
void xsti_rank_begin(struct xsti_rank *rank);
double xsti_rank_next(const struct xsti_rank *rank); /* time of the next event; INFINITY: none */
void xsti_rank_step(struct xsti_rank *rank, double at_us);
void xsti_rank_move(struct xsti_rank *rank, double to_us); /* without an event */
void xsti_sm_claim(struct xsti_rank *rank, int32_t sm);
void xsti_emit(const struct xsti_rank *rank, const struct xst_span *span);

/* store.c */
void xsti_store_begin(struct xsti_rank *rank, int32_t sm); /* the tile of this SM has worked */
void xsti_store_floor(struct xsti_rank *rank, int32_t sm);
void xsti_store_pace(struct xsti_rank *rank, int32_t sm, double work_us); /* its next tile begins; 0: there is none */
void xsti_store_tag(struct xsti_rank *rank, int32_t sm);
void xsti_store_issued(struct xsti_rank *rank, int32_t sm); /* bulk, own: its issue is over */
double xsti_clock_rate(const struct xsti_rank *rank);
double xsti_load_delay(const struct xsti_rank *rank, int32_t sm); /* (16): of a load issued now */

/* make.c */
enum xst_status xsti_timeline_check(const struct xst_timeline_config *config, struct xst_diag *diag);
enum xst_status xsti_timeline_make(const struct xst_timeline_config *config, struct xsti_timeline *timeline,
                                   struct xst_diag *diag);
void xsti_timeline_free(struct xsti_timeline *timeline);

/* series.c */
enum xst_status xsti_record_start(const struct xst_timeline_config *config, struct xsti_recorder *recorder,
                                  struct xst_diag *diag);
void xsti_record(const struct xsti_timeline *timeline, struct xsti_recorder *recorder);

/* summary.c */
int64_t xsti_timeline_events(const struct xsti_timeline *timeline);
enum xst_status xsti_say_waiting(const struct xsti_timeline *timeline, const struct xsti_rank *rank,
                                 struct xst_diag *diag);
enum xst_status xsti_sum_up(struct xsti_timeline *timeline, const struct xsti_recorder *recorder,
                            struct xst_timeline_result *result, struct xst_diag *diag);

/* network.c */
void xsti_network_settle(struct xsti_timeline *timeline);

/* random.c: from (seed, a, b, c) alone: standard normal */
double xsti_timeline_normal(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);
/* uniform in [0, 1) from the same, other bits of them */
double xsti_timeline_uniform(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

#pragma GCC visibility pop

/* Linear between points, the first one's below, the last slope above. */
static inline double xsti_floor_us(const struct xst_floor_curve *curve, double bytes)
{
    const int64_t last = curve->count - 1;
    int64_t i = 0;
    if (last < 0 || bytes <= 0)
        return 0;
    if (bytes <= curve->bytes[0] || last == 0)
        return curve->us[0] * (last == 0 && bytes > curve->bytes[0] ? bytes / curve->bytes[0] : 1);
    while (i + 2 <= last && curve->bytes[i + 1] < bytes)
        i++;
    return curve->us[i] +
           (curve->us[i + 1] - curve->us[i]) * (bytes - curve->bytes[i]) / (curve->bytes[i + 1] - curve->bytes[i]);
}

/* Members of the exchange group, or of the domain, of a rank: [first, end). */
static inline void xsti_group_of(int64_t group_ranks, int64_t rank, int64_t *first_out, int64_t *end_out)
{
    *first_out = rank / group_ranks * group_ranks;
    *end_out = *first_out + group_ranks;
}

#endif
