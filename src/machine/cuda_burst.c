/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the burst probe, on one sender or on two at once.
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

static enum xst_status launch_side(struct xsti_cuda_machine *machine, size_t s,
                                   const struct xst_measure_request *request, const struct xsti_layout *layout,
                                   int gated, struct xst_diag *diag)
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
    if (gated) {
        params.start.gate = machine->gate.device;
        params.start.ready = machine->gate.device + (1 + s) * sizeof(uint32_t);
    }
    XSTI_TRY(xsti_cuda_side_clear(side, diag));
    /* A record that no producer wrote must not look finished. */
    XSTI_TRY(xsti_device_fill(&side->device, params.records, 0, stride * (size_t)request->producers, diag));
    return xsti_kernel_launch(&side->device, &side->burst[request->method], (int)request->producers,
                              (int)request->threads, shape.shared_bytes, &params, diag);
}

/* Opens the gate once every device has arrived; on a time-out it opens it as
 * well, so that nobody waits for ever. */
static void open_gate(struct xsti_cuda_machine *machine, size_t sides)
{
    volatile uint32_t *const flags = machine->gate.host;
    const double limit_us = xsti_now_us() + 0.5e6;
    for (size_t s = 0; s < sides; s++)
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

enum xst_status xsti_cuda_run_burst(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                    struct xsti_run *run, struct xst_diag *diag)
{
    const size_t sides = request->direction == XST_DIRECTION_BOTH ? 2 : 1;
    const size_t bytes = xsti_burst_record_stride(request->bursts) * (size_t)request->producers;
    struct xsti_layout layouts[2];
    struct xsti_burst_records records;
    for (size_t s = 0; s < sides; s++) {
        XSTI_TRY(xsti_cuda_side_need_records(&machine->sides[s], bytes, diag));
        XSTI_TRY(xsti_cuda_layout(machine, s, request, &layouts[s], diag));
        layouts[s].seed = machine->seed++;
        if (run->verify)
            XSTI_TRY(xsti_cuda_poison(machine, s, request, &layouts[s], diag));
    }
    if (sides > 1)
        memset(machine->gate.host, 0, machine->gate.bytes);
    for (size_t s = 0; s < sides; s++)
        XSTI_TRY(launch_side(machine, s, request, &layouts[s], sides > 1, diag));
    if (sides > 1)
        open_gate(machine, sides);
    for (size_t s = sides; s-- > 0;) /* the first side last: its records make the row */
        XSTI_TRY(collect_side(&machine->sides[s], request, &records, diag));
    run->sm_clock_ghz = xsti_reduce_clock_ghz(&records, machine->sides[0].clock_ghz);
    xsti_reduce_burst(&records, machine->sides[0].clock_ghz, &run->sample);
    if (run->producers)
        xsti_reduce_producers(&records, machine->sides[0].clock_ghz, &run->sample, run->producers);
    for (size_t s = 0; s < sides && run->verify; s++)
        XSTI_TRY(xsti_cuda_verify(machine, s, request, &layouts[s], &run->verified_bytes, diag));
    return XST_OK;
}
