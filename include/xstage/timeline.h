/* SPDX-License-Identifier: Apache-2.0
 *
 * timeline.h - kernels stepped through time tile by tile, on any number of ranks.
 *
 * A *rank* is a device of K SMs. An SM takes the next tile of its kernel, waits for what the tile needs, works, and stores the
 * result: into a staging slot, from there into the stage behind it, which holds c bytes per SM and drains at R, shared between
 * the SMs with backlog. A slot is free again when the burst has been accepted; the computing role itself waits for that when it
 * issues plain stores on its own. Ranks meet in the network alone: a source sends R at most, a destination takes in its ingress
 * limit at most, and a rank may pull rows from its peers over the same links. What a kernel does comes from a callback, or from
 * the kernels of this project by shape and plan.
 *
 * Flows are kept per source and mix of destinations, never per tile and destination; memory grows with SMs and not with tiles.
 * Time moves from event to event. With few ranks the network's rates are settled anew at every change; with many at the end of
 * every `rate_step_us`, and in between the ranks run on their own. Same input and seed, same output.
 * Units: us, bytes, bytes/us.
 */
#ifndef XSTAGE_TIMELINE_H
#define XSTAGE_TIMELINE_H

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

/* When a role that issues may go on. */
#define XST_COUPLING_MAP(X)                                                                                            \
    X(ISSUE, "issue", "when its stores were accepted")                                                                 \
    X(COMPLETION, "completion", "when they are visible at the peer: the rival view")
enum xst_coupling {
#define X(NAME, text, meaning) XST_COUPLING_##NAME,
    XST_COUPLING_MAP(X)
#undef X
};
const char *xst_coupling_text(enum xst_coupling coupling);
int xst_coupling_parse(const char *text, enum xst_coupling *coupling_out);

/* Who issues. */
#define XST_ISSUER_MAP(X)                                                                                              \
    X(OWN, "own", "the role that computed the tile, which then goes back to work")                                     \
    X(ROLE, "role", "a role of its own behind the staging slots")
enum xst_issuer {
#define X(NAME, text, meaning) XST_ISSUER_##NAME,
    XST_ISSUER_MAP(X)
#undef X
};
const char *xst_issuer_text(enum xst_issuer issuer);
int xst_issuer_parse(const char *text, enum xst_issuer *issuer_out);

enum { XST_FLOOR_POINTS = 64, XST_TIMELINE_PARTS = 4, XST_TIMELINE_KINDS = 4 };

/* Backpressure-free time over bytes of one burst: linear between points, the first one's below, the last slope above. */
struct xst_floor_curve {
    int64_t count;
    double bytes[XST_FLOOR_POINTS];
    double us[XST_FLOOR_POINTS];
};

/* One device's store path as the timeline needs it. */
struct xst_timeline_machine {
    double drain_bytes_per_us;           /* R */
    double ingress_bytes_per_us;         /* most that arrives at one rank */
    double capacity_bytes;               /* c: of one SM */
    double visible_us;                   /* from drained to known as visible (fence) */
    double signal_us;                    /* a flag, from its store to being seen by a peer */
    double free_capacity_bytes;          /* Q_free of (16); negative: not known */
    int shared_queue;                    /* (16): loads wait behind the whole backlog, not behind their own SM's */
    int64_t groups;                      /* hardware groups of SMs with equal shares; 0 and 1: none */
    int64_t full_sms;                    /* SMs that fill the device; deals the groups */
    double share_spread;                 /* log-normal spread of an SM's share, drawn at every burst; 0: equal shares */
    enum xst_method method;              /* bulk: issue ends at its floor, whatever the stage holds */
    struct xst_floor_curve issue_floor;  /* T0 */
    struct xst_floor_curve accept_floor; /* of the staging: the release floor of bulk stores, else T0 */
};

/* Reads R, T0 and c = Q(K)/K off a path's tables for K SMs and bursts up to `bytes`. XST_ERR_NO_DATA when they are not known
 * there and `extrapolate` is 0. ingress = R, share_spread as fitted, groups not taken;
 * signal = half a fence, which is there and back. */
enum xst_status xst_timeline_machine_read(const struct xst_path *path, int64_t producers, double bytes, int extrapolate,
                                          struct xst_timeline_machine *machine_out, struct xst_diag *diag);

/* A computing role of several warpgroups whose burst stalled: each waits for its own stores, so they may begin the next tile out of
 * step, and then wait for operands that the others have not released yet. Zero: the role is one. */
struct xst_out_of_step {
    double extra_frac; /* a tile out of step takes this much longer */
    double enter;      /* probability after a burst that took twice its floor and more */
    double stay;       /* probability to go through another tile like that */
};

/* Ranks beyond one NVLink domain. Consecutive ranks form a domain; what crosses domains goes over their network interfaces, all of
 * a domain together, each way on its own, shared fairly, and needs `latency_us` more to be visible. Zero: one domain. */
struct xst_scale_out {
    int64_t domain_ranks;
    double nic_bytes_per_us; /* of a domain, each way */
    double latency_us;
};

/* What a network of SimGrid (a library of its own, taken when it is installed) makes of `domains` domains that all send to all
 * at once: sets nic_bytes_per_us and latency_us to what one domain gets. `platform`: an XML platform of SimGrid whose first
 * hosts are the domains; NULL: one switch, with scale_out's rate and latency to and from each domain.
 * XST_ERR_UNAVAILABLE when SimGrid is not installed, XST_ERR_RANGE when the platform has too few hosts. */
enum xst_status xst_scale_out_simgrid(const char *platform, int64_t domains, double bytes_each,
                                      struct xst_scale_out *scale_out, struct xst_diag *diag);

/* What an SM does next. Comes zeroed, with counters and mix negative. */
struct xst_tile {
    int64_t need_counter[2]; /* counters of this rank; negative: none */
    int64_t need_value[2];   /* starts when each is at least this */
    double work_us;
    int64_t
        post_counter[2]; /* one is added at the end of the work, `post_delay_us` (of the config) later for the first */
    double remote_bytes; /* leave the device */
    double local_bytes;  /* stored at home: cost issue time alone */
    int32_t mix;         /* where the remote bytes go; negative: evenly to the other ranks of the group */
    int32_t kind;        /* index into kind_names */
    int32_t part;        /* waits are counted by part, 0..XST_TIMELINE_PARTS-1 */
    int64_t id;          /* for describe and the trace */
};

/* A piece of what a rank pulls from its peers. Comes zeroed, with counters and mix negative. */
struct xst_pull {
    int64_t need_counter;
    int64_t need_value;
    double bytes; /* from other ranks */
    int64_t post_counter;
    int32_t mix; /* where they come from */
};

/* Returns 1 with *tile_out filled, 0 when this SM is done. A rank's SMs are
 * asked in the order of their time. */
typedef int xst_timeline_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out);
typedef int xst_timeline_pull(void *context, int64_t rank, int64_t index, struct xst_pull *pull_out);
/* What a tile is ("Linear-2 tile 3 of block 7"), and what a counter counts. */
typedef void xst_timeline_describe(void *context, int64_t rank, const struct xst_tile *tile, char *text, size_t bytes);
typedef void xst_timeline_counter_name(void *context, int64_t rank, int64_t counter, char *text, size_t bytes);

/* Shares of one mix, in all 1; ranks of the run. */
struct xst_mix {
    int64_t count;
    const int64_t *ranks;
    const double *frac;
};

enum xst_span_role { XST_SPAN_MATH, XST_SPAN_STORE, XST_SPAN_PULL };
enum xst_span_what {
    XST_SPAN_WORK,    /* `kind` says which */
    XST_SPAN_WAIT,    /* for a counter */
    XST_SPAN_SLOT,    /* for a free staging slot */
    XST_SPAN_ISSUE,   /* a burst, from its start until it was accepted */
    XST_SPAN_TRANSFER /* of a pull */
};
struct xst_span {
    int32_t rank;
    int32_t sm;
    int16_t role;
    int16_t what;
    int16_t kind;
    double start_us;
    double end_us;
    double floor_us; /* of an issue: how long it takes without backpressure */
    int64_t id;
};
typedef void xst_timeline_span(void *context, const struct xst_span *span);

struct xst_timeline_config {
    struct xst_timeline_machine machine;
    int64_t ranks;
    int64_t group_ranks; /* ranks of one exchange group, consecutive; 0: all of them */
    int64_t sms;         /* K */
    int64_t staging_slots;
    enum xst_issuer issuer;
    enum xst_coupling coupling;
    int64_t counters; /* per rank */
    const struct xst_mix *mixes;
    int64_t mix_count;
    double post_delay_us;
    double work_spread;             /* log-normal spread of the tiles' work, 0: none */
    double start_skew_us;           /* rank r starts r times this later */
    double rate_step_us;            /* 0: 8 ranks and less exact, 64 and less 1 us, else 5 us */
    struct xst_scale_out scale_out; /* its latency is part of visible_us and signal_us here */
    int exact_links;                /* settled at every change, with any number of ranks */
    /* Bulk stores, or a role of its own: a tile leaves in so many pieces, the first at its end, the others evenly over the next tile's
     * work (17), or at once when its SM is done; 0 and 1: at once. */
    int64_t slices;
    double pull_hold_us; /* no pull begins earlier than this after the last rank of its group started */
    int bystanders;      /* a tile's loads queue behind stores (16) ... */
    double prefetch_us;  /* ... beyond what was loaded ahead */
    struct xst_out_of_step out_of_step;
    int queue_full;    /* bulk stores: more copies than the engine holds, so issue lasts until the release */
    int free_exchange; /* stores and pulls take no time at all: the kernel without its exchange */
    uint64_t seed;
    int64_t event_limit; /* 0: none */
    double series_step_us;
    int64_t series_count; /* at most this many points; the step doubles when they are used up */
    const char *kind_names[XST_TIMELINE_KINDS];
    void *context;
    xst_timeline_next *next;
    xst_timeline_pull *pull;                 /* may be NULL */
    xst_timeline_describe *describe;         /* may be NULL */
    xst_timeline_counter_name *counter_name; /* may be NULL */
    xst_timeline_span *span;                 /* may be NULL */
    void *span_context;
};

/* Time of one role, mean over the SMs of a rank. */
struct xst_role_time {
    double busy_us;  /* works, or issues without backpressure */
    double stall_us; /* backpressure: issue above its floor, no free slot */
    double wait_us;  /* for other tiles or for rows; loads behind stores */
};

struct xst_rank_account {
    struct xst_role_time math;
    struct xst_role_time store; /* all zero when the computing role issues */
    struct xst_role_time pull;  /* busy: rows on their way */
    double end_us;              /* last tile done and issued */
    double visible_us;          /* last byte visible at its peer */
    double pull_end_us;
    int64_t tiles;
    int64_t bursts;
    double issue_us; /* mean */
    double issue_max_us;
    double sent_bytes;
    double received_bytes;
    double pulled_bytes;
    double backlog_peak_bytes; /* at burst starts */
    int64_t waited[XST_TIMELINE_PARTS];
};

struct xst_timeline_point {
    double time_us;
    double backlog_bytes; /* all ranks */
    double egress_bytes_per_us;
    double backlog_first_bytes; /* rank 0 */
    double egress_first_bytes_per_us;
};

struct xst_timeline_result {
    double makespan_us; /* everything visible everywhere */
    double sender_us;   /* last rank done and issued */
    double free_us;     /* the same kernel without its exchange; negative: not run */
    double exposed_us;  /* makespan - free */
    double barrier_us;  /* moe with its exchange: the last rank has passed the barrier before the combine; else 0 */
    double combine_us;  /* the longest sum of a rank behind it; makespan_us has both */
    double publish_us;  /* fa-a2a: fence and flag behind the last store; makespan_us has it */
    double sent_bytes;
    double received_bytes;
    double pulled_bytes;
    int64_t tiles;
    int64_t bursts;
    int64_t events;
    int64_t waited[XST_TIMELINE_PARTS];
    double issue_us; /* mean over bursts */
    double issue_max_us;
    double backlog_peak_bytes; /* of one rank */
    struct xst_rank_account *ranks;
    int64_t rank_count;
    struct xst_timeline_point *series;
    int64_t series_count;
};

/* XST_ERR_RANGE names the field; when nobody can go on, XST_ERR_TIMEOUT says which task waits for what. */
enum xst_status xst_timeline_run(const struct xst_timeline_config *config, struct xst_timeline_result *result_out,
                                 struct xst_diag *diag);
void xst_timeline_result_free(struct xst_timeline_result *result);

/* What the kernels below share. */
struct xst_timeline_options {
    enum xst_issuer issuer;
    enum xst_coupling coupling;
    double work_spread;
    double start_skew_us;
    double rate_step_us;
    struct xst_scale_out scale_out;
    int exact_links;
    /* Bulk stores, or a role of its own: pieces a tile leaves in over the next tile's work; 0 and 1: at once. */
    int64_t slices;
    int dispersion;              /* groups of the path; XST_ERR_NO_DATA when the profile does not know them */
    int bystanders;              /* (16); XST_ERR_NO_DATA when the profile does not know Q_free */
    int as_traced;               /* fa-a2a: Q and warpgroups out of step as traces of the kernel show them */
    double ingress_bytes_per_us; /* 0: R */
    int no_free_run;             /* leave out the second run without exchange */
    uint64_t seed;
    int64_t event_limit;
    double series_step_us;
    int64_t series_count;
    int extrapolate;
    xst_timeline_span *span;
    void *span_context;
};

enum xst_status xst_timeline_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                    const struct xst_fa_a2a_plan *plan, const struct xst_timeline_options *options,
                                    struct xst_timeline_result *result_out, struct xst_diag *diag);

struct xst_timeline_moe {
    int64_t lead;        /* interleaved: Linear-1 tiles ahead, 1 or more */
    int64_t group;       /* interleaved: Linear-2 tiles in a row, 1 or more */
    int64_t ring_blocks; /* blocks the pools hold; 0: all */
    int no_pull;         /* rows are there from the start */
    const int64_t
        *rows;    /* per expert of the model, all sources of a group together; every source sends each the same */
    int exchange; /* the exchange of counts before the first pull, barrier and combine after the last store */
    double memory_bytes_per_us; /* of the combine's reads and writes; 0: 4.8e6, an H200's data sheet */
    int64_t unit; /* blocks of one expert whose tiles of a column follow each other (moe.h); 0 and 1: block by block */
    int64_t operand_bytes; /* of a pulled value (xst_moe_operand_bytes): 1 for e4m3; 0: element_bytes */
    int once;              /* a token's row is pulled for the first of its experts on a rank, for all of them */
};

/* More ranks than experts: every `experts` consecutive ranks form a group of their own, ranks a multiple of it. */
enum xst_status xst_timeline_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                                 const struct xst_moe_plan *plan, const struct xst_timeline_moe *moe,
                                 const struct xst_timeline_options *options, struct xst_timeline_result *result_out,
                                 struct xst_diag *diag);

/* A described kernel on `ranks` ranks, each sending evenly to the others. */
enum xst_status xst_timeline_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                     int64_t ranks, const struct xst_timeline_options *options,
                                     struct xst_timeline_result *result_out, struct xst_diag *diag);

/* Spans kept for a trace or a picture. Zero-initialise; `most` 0: two million. */
struct xst_spans {
    struct xst_span *spans;
    size_t count;
    size_t room;
    size_t most;
    int64_t ranks; /* keep those of the first ranks only; 0: all */
    size_t dropped;
};
void xst_spans_add(void *spans, const struct xst_span *span); /* an xst_timeline_span */
void xst_spans_free(struct xst_spans *spans);

/* Chrome trace event format, for Perfetto: a process per rank, a track per SM and role, counters for backlog and egress. */
enum xst_status xst_timeline_trace(const struct xst_spans *spans, const struct xst_timeline_result *result,
                                   const char *const kind_names[XST_TIMELINE_KINDS], char **text_out,
                                   struct xst_diag *diag);

/* A picture: one line per SM of the first rank (at most `most_sms`), the backlog under it. */
enum xst_status xst_timeline_svg(const struct xst_spans *spans, const struct xst_timeline_result *result,
                                 const char *const kind_names[XST_TIMELINE_KINDS], const char *title, int64_t most_sms,
                                 char **text_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
