/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - what an origin of machines has to provide: five functions.
 * Checking requests, repetition until the precision is reached, medians, time
 * limits and the sink are the same for all and live in measure.c.
 */
#ifndef XSTI_MACHINE_MACHINE_H
#define XSTI_MACHINE_MACHINE_H

#include <xstage/machine.h>

/* What one run of a request gave. Burst runs fill `sample` (all times; its
 * medians are taken over runs), bystander and loop runs theirs. `producers` has
 * room for request->producers rows, filled when asked for. */
struct xsti_run {
    struct xst_sample sample;
    struct xst_bystander_sample bystander;
    struct xst_loop_sample loop;
    struct xst_producer_sample *producers; /* NULL: not wanted */
    struct xst_sample *samples;            /* several senders: one a sender, the first as `sample`; else NULL */
    double sm_clock_ghz;
    double verified_bytes;
    int verify; /* set by the caller: check every byte of this run's last burst */
    int exact;  /* set by the origin: a recorded row, further runs would give the
                 same */
};

struct xsti_machine_ops {
    void (*close)(struct xst_machine *machine);
    /* Can this request be answered: XST_OK, or the reason. The request's own
   * consistency was checked before. */
    enum xst_status (*check)(const struct xst_machine *machine, const struct xst_measure_request *request,
                             struct xst_diag *diag);
    /* Before the first run of a request; `request` may be completed (a period
   * that was not given). */
    enum xst_status (*prepare)(struct xst_machine *machine, struct xst_measure_request *request, struct xst_diag *diag);
    /* One run. `rep` counts from 0. */
    enum xst_status (*run)(struct xst_machine *machine, const struct xst_measure_request *request, int64_t rep,
                           struct xsti_run *run, struct xst_diag *diag);
    /* State of the machine after a request (throttle reasons); may be NULL. */
    void (*extras)(struct xst_machine *machine, struct xst_measure_extras *extras);
    int warm_up; /* runs of each request whose result is thrown away */
};

/* Every origin embeds this first. */
struct xst_machine {
    const struct xsti_machine_ops *ops;
    struct xst_machine_facts facts;
    unsigned targets;       /* bit per enum xst_target */
    int64_t most_producers; /* 0: no bound */
    int64_t devices;        /* that can send to each other; 0: 2 */
};

/* The text after the colon, for each origin. */
enum xst_status xsti_machine_open_cuda(const char *text, struct xst_machine **machine_out, struct xst_diag *diag);
enum xst_status xsti_machine_open_file(const char *text, struct xst_machine **machine_out, struct xst_diag *diag);
enum xst_status xsti_machine_open_sim(const char *text, struct xst_machine **machine_out, struct xst_diag *diag);

/* A request's own consistency: ranges, whole pieces, bytes a multiple of the
 * store width. */
enum xst_status xsti_request_check(const struct xst_measure_request *request, struct xst_diag *diag);

/* Who sends in a request on a machine of that many devices: how many, the device of sender i, and where it sends to (-1: to all
 * others in turn). */
int64_t xsti_request_senders(const struct xst_measure_request *request, int64_t devices);
int64_t xsti_request_sender(const struct xst_measure_request *request, int64_t i);
int64_t xsti_request_receiver(const struct xst_measure_request *request, int64_t sender, int64_t devices);

/* "periodic host/st16, 132 x 16384 B, gap 4.3 us", for messages. */
enum { XSTI_REQUEST_TEXT_BYTES = 160 };
const char *xsti_request_text(const struct xst_measure_request *request, char text_out[XSTI_REQUEST_TEXT_BYTES]);

#endif
