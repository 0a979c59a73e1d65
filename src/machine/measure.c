/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to rows: warm up, repeat until the median is known well enough or
 * time is up, hand the row on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/stats.h"
#include "machine/machine.h"

/* A median has an interval from six values on; a cell that does not get precise
 * in MOST_RUNS is said to be imprecise. */
enum { FEWEST_FOR_PRECISION = 6, MOST_RUNS = 100, MOST_VALUES = 6 };

/* The measured columns of a row, over all its runs; of several senders one such each. */
struct columns {
    size_t width; /* values of one run */
    size_t key;   /* the one whose precision counts */
    size_t runs;
    size_t room;
    double *values[MOST_VALUES];
};

struct call {
    struct xst_machine *machine;
    const struct xst_measure_options *options;
    const struct xst_measure_sink *sink;
    double start_us;
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Addresses of the measured members of a run, in one order for reading and for
 * writing the medians back. */
static size_t members(enum xst_probe probe, enum xst_mode mode, struct xsti_run *run, double *to[MOST_VALUES],
                      size_t *key_out)
{
    struct xst_sample *const s = &run->sample;
    struct xst_bystander_sample *const b = &run->bystander;
    struct xst_loop_sample *const l = &run->loop;
    double *const burst[] = {&s->issue_mean_us,  &s->issue_max_us,  &s->release_mean_us,
                             &s->period_mean_us, &s->fenced_max_us, &s->total_us};
    double *const bystander[] = {&b->issue_us, &b->op_us_mean, &b->op_us_max};
    double *const loop[] = {&l->sender_mean_us, &l->sender_max_us, &l->sender_loads,
                            &l->other_mean_us,  &l->other_max_us,  &l->other_loads};
    switch (probe) {
    case XST_PROBE_BYSTANDER:
        memcpy(to, bystander, sizeof bystander);
        *key_out = 1;
        return 3;
    case XST_PROBE_LOOP:
        memcpy(to, loop, sizeof loop);
        *key_out = run->loop.senders > 0 ? 0 : 3;
        return 6;
    case XST_PROBE_BURST:
        break;
    }
    memcpy(to, burst, sizeof burst);
    *key_out = mode == XST_MODE_ISOLATED ? 0 : 5; /* Q is read off the isolated issue, R off the total */
    return 6;
}

static enum xst_status keep_run(struct columns *columns, const struct xst_measure_request *request,
                                struct xsti_run *run, struct xst_diag *diag)
{
    double *from[MOST_VALUES];
    columns->width = members(request->probe, request->mode, run, from, &columns->key);
    if (columns->runs == columns->room) {
        const size_t room = columns->room ? columns->room * 2 : 8;
        for (size_t c = 0; c < columns->width; c++) {
            double *const larger = realloc(columns->values[c], room * sizeof *larger);
            if (!larger)
                return xsti_fail_memory(diag);
            columns->values[c] = larger;
        }
        columns->room = room;
    }
    for (size_t c = 0; c < columns->width; c++)
        columns->values[c][columns->runs] = *from[c];
    columns->runs++;
    return XST_OK;
}

/* Half width of the key's median interval over the median. Sorts that column,
 * which costs nothing but its order. */
static double precision_of(struct columns *columns)
{
    const struct xsti_median_interval interval = xsti_median_interval(columns->values[columns->key], columns->runs);
    return interval.value > 0 ? (interval.high - interval.low) / 2 / interval.value : 0;
}

static enum xst_status check_time(const struct call *call, size_t done, size_t count, struct xst_diag *diag)
{
    const double limit_us = call->options->timeout_us;
    if (call->sink->stop && call->sink->stop(call->sink->user))
        return xsti_fail(diag, XST_ERR_INTERRUPTED, "interrupted after %zu of %zu cells; their rows are complete", done,
                         count);
    if (limit_us > 0 && now_us() - call->start_us > limit_us)
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "%zu of %zu cells were done when the limit of %g s ran "
                         "out; their rows are complete",
                         done, count, limit_us * 1e-6);
    return XST_OK;
}

static int enough(const struct call *call, const struct xst_measure_request *request, const struct xsti_run *run,
                  struct columns *columns)
{
    const size_t runs = columns->runs;
    if (run->exact || runs >= MOST_RUNS)
        return runs >= (size_t)request->reps || run->exact;
    if (runs < (size_t)request->reps)
        return 0;
    if (call->options->precision <= 0)
        return 1;
    return runs >= FEWEST_FOR_PRECISION && precision_of(columns) <= call->options->precision;
}

/* What a run gave, of each sender. */
static enum xst_status keep_senders(struct columns *columns, const struct xst_measure_request *request, size_t senders,
                                    struct xsti_run *run, struct xst_diag *diag)
{
    if (senders == 1)
        return keep_run(columns, request, run, diag);
    for (size_t s = 0; s < senders; s++) {
        run->sample = run->samples[s];
        XSTI_TRY(keep_run(&columns[s], request, run, diag));
    }
    run->sample = run->samples[0];
    return XST_OK;
}

static enum xst_status run_all(const struct call *call, const struct xst_measure_request *request, size_t index,
                               size_t count, size_t senders, struct xsti_run *run, struct columns *columns,
                               struct xst_diag *diag)
{
    struct xst_machine *const machine = call->machine;
    double verified_bytes = 0;
    for (int64_t rep = -machine->ops->warm_up; rep < 0; rep++)
        XSTI_TRY(machine->ops->run(machine, request, rep, run, diag));
    do {
        XSTI_TRY(check_time(call, index, count, diag));
        run->verify = call->options->verify && columns->runs == 0 && request->probe == XST_PROBE_BURST;
        run->verified_bytes = 0;
        XSTI_TRY(machine->ops->run(machine, request, (int64_t)columns->runs, run, diag));
        verified_bytes += run->verified_bytes;
        XSTI_TRY(keep_senders(columns, request, senders, run, diag));
    } while (!enough(call, request, run, columns));
    run->verified_bytes = verified_bytes;
    return XST_OK;
}

static enum xst_status hand_on(const struct call *call, const struct xst_measure_request *request, size_t index,
                               size_t count, struct xsti_run *run, struct columns *columns, struct xst_diag *diag)
{
    double *to[MOST_VALUES];
    size_t key = 0;
    const double elapsed_us = now_us() - call->start_us, precision = precision_of(columns);
    struct xst_measure_row row = {
        .request = request,
        .index = index,
        .count = count,
        .seconds_left = elapsed_us * 1e-6 / (double)(index + 1) * (double)(count - index - 1),
        .extras = {.reps = (int64_t)columns->runs,
                   .precision = precision,
                   .precise = call->options->precision <= 0 || run->exact ||
                              (columns->runs >= FEWEST_FOR_PRECISION && precision <= call->options->precision),
                   .sm_clock_ghz = run->sm_clock_ghz,
                   .verified_bytes = run->verified_bytes},
    };
    members(request->probe, request->mode, run, to, &key);
    for (size_t c = 0; c < columns->width; c++)
        *to[c] = xsti_median(columns->values[c], columns->runs);
    if (!run->exact)
        run->sample.reps = (int64_t)columns->runs;
    row.sample = request->probe == XST_PROBE_BURST ? &run->sample : NULL;
    row.bystander = request->probe == XST_PROBE_BYSTANDER ? &run->bystander : NULL;
    row.loop = request->probe == XST_PROBE_LOOP ? &run->loop : NULL;
    if (run->producers) {
        row.producers = run->producers;
        row.producer_count = (size_t)request->producers;
    }
    if (call->machine->ops->extras)
        call->machine->ops->extras(call->machine, &row.extras);
    return call->sink->row ? call->sink->row(call->sink->user, &row, diag) : XST_OK;
}

/* What the row says of itself, before anything is measured. A pair that was not named says nothing of devices. */
static void describe(const struct xst_measure_request *q, int64_t devices, struct xsti_run *run)
{
    const int64_t senders = xsti_request_senders(q, devices);
    const int plain = q->flow == XST_FLOW_PAIR && q->sender == 0 && q->receiver == 0;
    run->sample = (struct xst_sample){.mode = q->mode,
                                      .target = q->target,
                                      .direction = q->direction,
                                      .method = q->method,
                                      .threads = q->threads,
                                      .producers = q->producers,
                                      .bytes_per_producer = q->bytes_per_producer,
                                      .piece_bytes = q->piece_bytes,
                                      .pitch_bytes = q->pitch_bytes,
                                      .gap_us = q->gap_us,
                                      .bursts = q->bursts,
                                      .reps = q->reps,
                                      .flow = q->flow};
    for (int64_t s = 0; !plain && s < senders; s++) {
        struct xst_sample *const sample = run->samples ? &run->samples[s] : &run->sample;
        *sample = run->sample;
        sample->senders = senders;
        sample->sender = xsti_request_sender(q, s);
        sample->receiver = xsti_request_receiver(q, sample->sender, devices);
    }
    if (run->samples)
        run->sample = run->samples[0];
    run->bystander = (struct xst_bystander_sample){.target = q->target,
                                                   .direction = q->direction,
                                                   .method = q->method,
                                                   .producers = q->producers,
                                                   .bytes = q->bytes_per_producer,
                                                   .op = q->op,
                                                   .delay_us = q->delay_us};
    run->loop = (struct xst_loop_sample){.target = q->target,
                                         .direction = q->direction,
                                         .method = q->method,
                                         .senders = q->producers,
                                         .bytes = q->bytes_per_producer,
                                         .slices = q->slices,
                                         .slice_every_us = q->slice_every_us,
                                         .load_bytes = q->load_bytes,
                                         .span_us = q->span_us};
}

static enum xst_status measure_one(const struct call *call, const struct xst_measure_request *asked, size_t index,
                                   size_t count, struct xst_diag *diag)
{
    struct xst_measure_request request = *asked;
    const int64_t devices = xst_machine_devices(call->machine);
    const size_t senders = (size_t)xsti_request_senders(asked, devices);
    struct columns *const columns = calloc(senders, sizeof *columns);
    struct xsti_run run = {.producers = NULL, .samples = senders > 1 ? calloc(senders, sizeof *run.samples) : NULL};
    enum xst_status status = columns && (senders == 1 || run.samples) ? XST_OK : xsti_fail_memory(diag);
    if (status == XST_OK && call->options->per_producer && senders == 1 && request.probe == XST_PROBE_BURST &&
        request.mode != XST_MODE_ISOLATED) {
        run.producers = calloc((size_t)request.producers, sizeof *run.producers);
        if (!run.producers)
            status = xsti_fail_memory(diag);
    }
    if (status == XST_OK && call->machine->ops->prepare)
        status = call->machine->ops->prepare(call->machine, &request, diag);
    if (status == XST_OK) {
        describe(&request, devices, &run);
        status = run_all(call, &request, index, count, senders, &run, columns, diag);
    }
    run.verified_bytes /= (double)senders;
    for (size_t s = 0; s < senders && status == XST_OK; s++) {
        run.sample = senders > 1 ? run.samples[s] : run.sample;
        status = hand_on(call, &request, index, count, &run, &columns[s], diag);
    }
    for (size_t v = 0; columns && v < senders * MOST_VALUES; v++)
        free(columns[v / MOST_VALUES].values[v % MOST_VALUES]);
    free(columns);
    free(run.samples);
    free(run.producers);
    return status;
}

enum xst_status xst_machine_measure(struct xst_machine *machine, const struct xst_measure_request *requests,
                                    size_t count, const struct xst_measure_options *options,
                                    const struct xst_measure_sink *sink, struct xst_diag *diag)
{
    const struct call call = {.machine = machine, .options = options, .sink = sink, .start_us = now_us()};
    for (size_t i = 0; i < count; i++)
        XSTI_TRY(xst_machine_check(machine, &requests[i], diag));
    for (size_t i = 0; i < count; i++) {
        XSTI_TRY(check_time(&call, i, count, diag));
        XSTI_TRY(measure_one(&call, &requests[i], i, count, diag));
    }
    return XST_OK;
}

static enum xst_status append_row(void *user, const struct xst_measure_row *row, struct xst_diag *diag)
{
    struct xst_samples *const samples = user;
    if (row->sample)
        XSTI_TRY(xst_samples_append(samples, row->sample, diag));
    if (row->bystander)
        XSTI_TRY(xst_samples_append_bystander(samples, row->bystander, diag));
    if (row->loop)
        XSTI_TRY(xst_samples_append_loop(samples, row->loop, diag));
    for (size_t p = 0; p < row->producer_count; p++)
        XSTI_TRY(xst_samples_append_producer(samples, &row->producers[p], diag));
    return XST_OK;
}

struct xst_measure_sink xst_measure_sink_samples(struct xst_samples *samples)
{
    return (struct xst_measure_sink){.user = samples, .row = append_row, .stop = NULL};
}
