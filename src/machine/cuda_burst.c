/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the burst probe, on one sender or on several at once.
 */
#include <sched.h>
#include <string.h>

#include "base/diag.h"
#include "machine/cuda_machine.h"
#include "machine/reduce.h"

static uint32_t cycles_of(double us, double clock_ghz)
{
    return (uint32_t)(us * 1e3 * clock_ghz + 0.5);
}

/* `arrival`: this sender's flag beside the gate; 0: it starts alone. */
static enum xst_status launch_side(struct xsti_cuda_machine *machine, size_t s,
                                   const struct xst_measure_request *request, const struct xsti_layout *layout,
                                   size_t arrival, struct xst_diag *diag)
{
    struct xsti_cuda_side *const side = &machine->sides[s];
    const struct xsti_cuda_shape shape = xsti_cuda_burst_shape(request);
    const size_t stride = xsti_burst_record_stride(request->bursts);
    const int aligned = request->mode == XST_MODE_ALIGNED;
    struct xsti_burst_params params = {
        .start = xsti_cuda_side_start(side),
        .layout = *layout,
        .records = side->records + sizeof(struct xsti_cuda_state),
        .record_stride = stride,
        .bursts = (uint32_t)request->bursts,
        .gap_cycles = aligned ? 0 : cycles_of(request->gap_us, side->clock_ghz),
        .period_ns = aligned ? (uint32_t)(request->period_us * 1e3 + 0.5) : 0,
        .chunk = XSTI_CUDA_CHUNK_BYTES,
        .staging = shape.staging_bytes,
        .copies = shape.copies,
    };
    if (arrival > 0) {
        params.start.gate = machine->gate.device;
        params.start.ready = machine->gate.device + arrival * sizeof(uint32_t);
    }
    XSTI_TRY(xsti_cuda_side_clear(side, diag));
    /* A record that no producer wrote must not look finished. */
    XSTI_TRY(xsti_device_fill(&side->device, params.records, 0, stride * (size_t)request->producers, diag));
    return xsti_kernel_launch(&side->device, &side->burst[request->method], (int)request->producers,
                              (int)request->threads, shape.shared_bytes, &params, diag);
}

/* Opens the gate once every device has arrived; on a time-out it opens it as
 * well, so that nobody waits for ever. */
static void open_gate(struct xsti_cuda_machine *machine, size_t senders)
{
    volatile uint32_t *const flags = machine->gate.host;
    const double limit_us = xsti_now_us() + 0.5e6;
    for (size_t s = 0; s < senders; s++)
        while (flags[1 + s] == 0 && xsti_now_us() < limit_us)
            sched_yield();
    flags[0] = 1;
}

static enum xst_status collect_side(struct xsti_cuda_side *side, const struct xst_measure_request *request,
                                    struct xsti_burst_records *records_out, struct xst_diag *diag)
{
    char text[XSTI_REQUEST_TEXT_BYTES];
    const size_t stride = xsti_burst_record_stride(request->bursts);
    XSTI_TRY(xsti_cuda_side_collect(side, stride * (size_t)request->producers, xsti_request_text(request, text), diag));
    const struct xsti_burst_records records = {.bytes = xsti_cuda_side_records(side),
                                               .stride = stride,
                                               .producers = request->producers,
                                               .bursts = request->bursts};
    const int64_t unfinished = xsti_reduce_first_unfinished(&records);
    if (unfinished >= 0)
        return xsti_fail(diag, XST_ERR_DEVICE,
                         "device %d: %s: producer %lld did not finish within 2^32 "
                         "cycles: ask for fewer bursts or bytes",
                         side->device.ordinal, text, (long long)unfinished);
    *records_out = records;
    return XST_OK;
}

/* Devices that send in a request, in the order of their rows. In both directions the second's row is not kept. */
static size_t find_senders(const struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                           size_t senders_out[XSTI_CUDA_MOST_DEVICES])
{
    const size_t count = request->direction == XST_DIRECTION_BOTH
                             ? 2
                             : (size_t)xsti_request_senders(request, (int64_t)machine->side_count);
    for (size_t i = 0; i < count; i++)
        senders_out[i] =
            request->direction == XST_DIRECTION_BOTH ? i : (size_t)xsti_request_sender(request, (int64_t)i);
    return count;
}

static enum xst_status launch_all(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                  const size_t *senders, size_t count, struct xsti_layout *layouts, int verify,
                                  struct xst_diag *diag)
{
    const size_t bytes = xsti_burst_record_stride(request->bursts) * (size_t)request->producers;
    for (size_t i = 0; i < count; i++) {
        XSTI_TRY(xsti_cuda_side_need_records(&machine->sides[senders[i]], bytes, diag));
        XSTI_TRY(xsti_cuda_layout(machine, senders[i], request, &layouts[i], diag));
        layouts[i].seed = machine->seed++;
    }
    for (size_t i = 0; i < count && verify; i++) /* buffers have their size now */
        XSTI_TRY(xsti_cuda_poison(machine, senders[i], request, &layouts[i], diag));
    if (count > 1)
        memset(machine->gate.host, 0, machine->gate.bytes);
    for (size_t i = 0; i < count; i++)
        XSTI_TRY(launch_side(machine, senders[i], request, &layouts[i], count > 1 ? 1 + i : 0, diag));
    if (count > 1)
        open_gate(machine, count);
    return XST_OK;
}

enum xst_status xsti_cuda_run_burst(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                    struct xsti_run *run, struct xst_diag *diag)
{
    size_t senders[XSTI_CUDA_MOST_DEVICES] = {0};
    struct xsti_layout layouts[XSTI_CUDA_MOST_DEVICES];
    struct xsti_burst_records records;
    const size_t count = find_senders(machine, request, senders);
    XSTI_TRY(launch_all(machine, request, senders, count, layouts, run->verify, diag));
    for (size_t i = count; i-- > 0;) { /* the first sender last: its records make the row */
        struct xsti_cuda_side *const side = &machine->sides[senders[i]];
        XSTI_TRY(collect_side(side, request, &records, diag));
        if (run->samples)
            xsti_reduce_burst(&records, side->clock_ghz, &run->samples[i]);
    }
    const double clock_ghz = machine->sides[senders[0]].clock_ghz;
    run->sm_clock_ghz = xsti_reduce_clock_ghz(&records, clock_ghz);
    if (run->samples)
        run->sample = run->samples[0];
    else
        xsti_reduce_burst(&records, clock_ghz, &run->sample);
    if (run->producers)
        xsti_reduce_producers(&records, clock_ghz, &run->sample, run->producers);
    for (size_t i = 0; i < count && run->verify; i++) {
        double verified_bytes = 0;
        XSTI_TRY(xsti_cuda_verify(machine, senders[i], request, &layouts[i], &verified_bytes, diag));
        run->verified_bytes += i == 0 || run->samples ? verified_bytes : 0; /* of the rows that are kept */
    }
    return XST_OK;
}
