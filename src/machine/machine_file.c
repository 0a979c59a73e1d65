/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine of recorded rows: a request is answered by the row that has its axes, and refused when none has. Further runs give
 * the same row, so each is taken once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "machine/machine.h"

/* Recorded gaps carry three or four decimals. */
static const double same_us = 0.0006;

struct file_machine {
    struct xst_machine machine; /* first */
    struct xst_samples samples;
};

static const struct file_machine *file_of(const struct xst_machine *machine)
{
    return (const struct file_machine *)(const void *)machine;
}

static int same_time(double a, double b)
{
    return fabs(a - b) <= same_us;
}

static const struct xst_sample *find_burst(const struct xst_samples *samples, const struct xst_measure_request *request)
{
    for (size_t i = 0; i < samples->row_count; i++) {
        const struct xst_sample *const row = &samples->rows[i];
        if (row->flow == XST_FLOW_PAIR && row->sender == request->sender && row->receiver == request->receiver &&
            row->mode == request->mode && row->target == request->target && row->direction == request->direction &&
            row->method == request->method && row->threads == request->threads &&
            row->producers == request->producers && row->bytes_per_producer == request->bytes_per_producer &&
            row->piece_bytes == request->piece_bytes && row->pitch_bytes == request->pitch_bytes &&
            same_time(row->gap_us, request->gap_us))
            return row;
    }
    return NULL;
}

static const struct xst_bystander_sample *find_bystander(const struct xst_samples *samples,
                                                         const struct xst_measure_request *request)
{
    for (size_t i = 0; i < samples->bystander_count; i++) {
        const struct xst_bystander_sample *const row = &samples->bystanders[i];
        if (row->target == request->target && row->direction == request->direction && row->method == request->method &&
            row->producers == request->producers && row->bytes == request->bytes_per_producer &&
            row->op == request->op && same_time(row->delay_us, request->delay_us))
            return row;
    }
    return NULL;
}

static enum xst_status check(const struct xst_machine *machine, const struct xst_measure_request *request,
                             struct xst_diag *diag)
{
    const struct xst_samples *const samples = &file_of(machine)->samples;
    char text[XSTI_REQUEST_TEXT_BYTES];
    if (request->flow != XST_FLOW_PAIR)
        return xsti_fail(diag, XST_ERR_NO_DATA, "%s: recorded rows answer for one device to one other",
                         xsti_request_text(request, text));
    if (request->probe == XST_PROBE_BURST && find_burst(samples, request))
        return XST_OK;
    if (request->probe == XST_PROBE_BYSTANDER && find_bystander(samples, request))
        return XST_OK;
    return xsti_fail(diag, XST_ERR_NO_DATA, "%s: no recorded row has it (%zu burst and %zu bystander rows)",
                     xsti_request_text(request, text), samples->row_count, samples->bystander_count);
}

static enum xst_status prepare(struct xst_machine *machine, struct xst_measure_request *request, struct xst_diag *diag)
{
    (void)machine, (void)request, (void)diag;
    return XST_OK;
}

static enum xst_status run(struct xst_machine *machine, const struct xst_measure_request *request, int64_t rep,
                           struct xsti_run *run_out, struct xst_diag *diag)
{
    (void)rep;
    const struct xst_samples *const samples = &file_of(machine)->samples;
    XSTI_TRY(check(machine, request, diag));
    if (request->probe == XST_PROBE_BURST)
        run_out->sample = *find_burst(samples, request);
    else
        run_out->bystander = *find_bystander(samples, request);
    run_out->exact = 1;
    return XST_OK;
}

static void close_file(struct xst_machine *machine)
{
    struct file_machine *const file = (struct file_machine *)(void *)machine;
    xst_samples_free(&file->samples);
    free(file);
}

static const struct xsti_machine_ops ops = {.close = close_file, .check = check, .prepare = prepare, .run = run};

/* "a.csv,b.csv" */
static enum xst_status read_files(const char *list, struct xst_samples *samples, struct xst_diag *diag)
{
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0)
            return xsti_fail(diag, XST_ERR_USAGE, "file:%s: an empty file name; file:A.csv,B.csv is needed", list);
        char *const path = strndup(at, length);
        if (!path)
            return xsti_fail_memory(diag);
        const enum xst_status status = xst_samples_read(path, samples, diag);
        free(path);
        XSTI_TRY(status);
        at += length;
        if (*at == '\0')
            return XST_OK;
    }
}

enum xst_status xsti_machine_open_file(const char *text, struct xst_machine **machine_out, struct xst_diag *diag)
{
    struct file_machine *const file = calloc(1, sizeof *file);
    if (!file)
        return xsti_fail_memory(diag);
    file->machine.ops = &ops;
    snprintf(file->machine.facts.machine, sizeof file->machine.facts.machine, "recorded rows");
    snprintf(file->machine.facts.origin, sizeof file->machine.facts.origin, "recorded");
    const enum xst_status status = read_files(text, &file->samples, diag);
    if (status != XST_OK) {
        close_file(&file->machine);
        return status;
    }
    for (size_t i = 0; i < file->samples.row_count; i++)
        file->machine.targets |= 1u << file->samples.rows[i].target;
    for (size_t i = 0; i < file->samples.bystander_count; i++)
        file->machine.targets |= 1u << file->samples.bystanders[i].target;
    *machine_out = &file->machine;
    return XST_OK;
}
