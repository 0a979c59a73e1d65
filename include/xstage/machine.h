/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - a machine that can be measured, whatever it is made of.
 *
 * A machine is opened by a text and answers requests with sample rows; the rows look the same from every origin:
 *   cuda, cuda:0, cuda:0,1      real devices; the first one named sends
 *   sim:producers=132,drain=372GB/s,...   a synthetic machine given by parameters, sim:NAME one made from a stored profile
 * A *request* is one cell of a sweep. Rows come out one by one through a sink, each complete; stopping early keeps those that
 * came. Every repetition is a whole run on an empty path; a row holds medians over repetitions.
 */
#ifndef XSTAGE_MACHINE_H
#define XSTAGE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xst_machine;

/* Opens a machine. A `spec` without a known kind before the colon is XST_ERR_USAGE and names the kinds; a machine that cannot
 * exist here (no driver, no such device) is XST_ERR_UNAVAILABLE with the reason. Free with xst_machine_close. */
enum xst_status xst_machine_open(const char *spec, struct xst_machine **machine_out, struct xst_diag *diag);

/* The same machine made from a profile in memory (copied): what sim:NAME does after finding the profile. */
enum xst_status xst_machine_open_profile(const struct xst_profile *profile, uint64_t seed,
                                         struct xst_machine **machine_out, struct xst_diag *diag);

/* So many of it: `many` is what stands behind the name in sim:NAME,devices=8,ingress=371GB/s,domain=8,nic=400GB/s,noise=0.02,seed=1;
 * "" is two. `seed` is taken when the text has none. */
enum xst_status xst_machine_open_profile_many(const struct xst_profile *profile, const char *many, uint64_t seed,
                                              struct xst_machine **machine_out, struct xst_diag *diag);

void xst_machine_close(struct xst_machine *machine);

/* What the machine says about itself; `origin` is "measured" or "synthetic". Valid until it is closed. */
const struct xst_machine_facts *xst_machine_facts(const struct xst_machine *machine);

/* Devices that can send to each other: 1 or more. */
int64_t xst_machine_devices(const struct xst_machine *machine);

/* Can this target be measured on this machine: 1 or 0. */
int xst_machine_has_target(const struct xst_machine *machine, enum xst_target target);

/* Which probe answers a request. */
#define XST_PROBE_MAP(X)                                                                                               \
    X(BURST, "burst", "bursts and gaps")                                                                               \
    X(BYSTANDER, "bystander", "one local operation per producer after a burst")                                        \
    X(LOOP, "loop", "local loads on every SM while some of them send")
enum xst_probe {
#define X(NAME, text, meaning) XST_PROBE_##NAME,
    XST_PROBE_MAP(X)
#undef X
};

/* One cell. Members that a probe does not use are 0. */
struct xst_measure_request {
    enum xst_probe probe;
    enum xst_mode mode;
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t threads;            /* of one producer */
    int64_t producers;          /* loop: senders */
    int64_t bytes_per_producer; /* one burst; loop: in the whole span; bystander and loop: 0 is the baseline */
    int64_t piece_bytes;        /* 0, 0: one contiguous block */
    int64_t pitch_bytes;
    double gap_us;
    double
        period_us; /* aligned: burst n starts at n * period_us, or at once when late; 0: floor of one producer + gap_us */
    int64_t bursts;
    int64_t reps; /* the fewest; more until options->precision is reached */
    /* target peer; devices are counted as the machine names them */
    enum xst_flow
        flow;        /* incast: sender 0, then 2, 3, ... `senders` in all, to device 1; rotation: every device sends */
    int64_t senders; /* incast alone; 0: one */
    int64_t sender;  /* pair and spread: who sends; pair: and where to. Both 0: device 0 to device 1 */
    int64_t receiver;
    /* bystander */
    enum xst_bystander_op op;
    double delay_us;
    /* loop */
    int64_t slices;
    double slice_every_us;
    int64_t load_bytes;
    int64_t load_span_bytes; /* local memory one SM walks through; small: served by L2, large: by device memory */
    double span_us;
};

struct xst_measure_options {
    double
        precision; /* half width of the median's interval over the median that is good enough; 0: `reps` runs, no more */
    double timeout_us; /* wall time of the whole call; 0: none */
    int per_producer;  /* keep a row for every producer of periodic and aligned cells */
    int verify;        /* check every byte of the last burst, once a cell */
};

/* How the numbers of a row came about. */
struct xst_measure_extras {
    int64_t reps;          /* runs behind the medians */
    double precision;      /* reached; half width of the interval over the median */
    int precise;           /* 1: `precision` is what was asked for, or nothing was asked */
    double sm_clock_ghz;   /* during the runs; 0: not known */
    double verified_bytes; /* 0: not checked */
    char throttle[128];    /* reasons the clock was held back, "" none */
};

/* One finished request: exactly one of sample, bystander, loop is not NULL. */
struct xst_measure_row {
    const struct xst_measure_request *request;
    size_t index;
    size_t count;
    double seconds_left; /* estimate for the rest of the call */
    const struct xst_sample *sample;
    const struct xst_bystander_sample *bystander;
    const struct xst_loop_sample *loop;
    const struct xst_producer_sample *producers;
    size_t producer_count;
    struct xst_measure_extras extras;
};

/* `row` is called once a finished request, with several senders once for each of them. `stop` (may be NULL) is asked between runs:
 * not 0 ends the call. */
struct xst_measure_sink {
    void *user;
    enum xst_status (*row)(void *user, const struct xst_measure_row *row, struct xst_diag *diag);
    int (*stop)(void *user);
};

/* Checks a request against what the machine can do, without running it. */
enum xst_status xst_machine_check(const struct xst_machine *machine, const struct xst_measure_request *request,
                                  struct xst_diag *diag);

/* Answers `count` requests in order. All are checked before the first one runs. XST_ERR_INTERRUPTED when `stop` said so,
 * XST_ERR_TIMEOUT when options->timeout_us ran out; the rows handed to the sink until then are complete. */
enum xst_status xst_machine_measure(struct xst_machine *machine, const struct xst_measure_request *requests,
                                    size_t count, const struct xst_measure_options *options,
                                    const struct xst_measure_sink *sink, struct xst_diag *diag);

/* A sink that appends every row to `samples`. */
struct xst_measure_sink xst_measure_sink_samples(struct xst_samples *samples);

/* The default calibration of one path: what identifies T0, R, Q, F, d and Q_free, for st16 and bulk stores, plus aligned
 * sweeps that test (11). Gaps are placed around V/R, so it wants a rate near R: a zero-gap burst of all producers
 * (xst_plan_drain_probe) gives one; 0 takes 50 GB/s for host, 350 for peer, 2000 for local memory. malloc'd, the caller
 * frees. `sm_count` producers are the most. */
enum xst_status xst_plan_calibration(enum xst_target target, int64_t sm_count, double drain_bytes_per_us,
                                     struct xst_measure_request **requests_out, size_t *count_out,
                                     struct xst_diag *diag);
struct xst_measure_request xst_plan_drain_probe(enum xst_target target, int64_t sm_count);

#ifdef __cplusplus
}
#endif

#endif
