/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the bystander probe, and one of the load loop.
 */
#include "base/diag.h"
#include "machine/cuda_machine.h"

enum { LANDING_BYTES = 65536, WARP = 32 };

/* Fresh lines of local memory for every run. */
static CUdeviceptr next_local(struct xsti_cuda_side *side, size_t bytes)
{
    if (side->local_at + bytes > side->local_bytes)
        side->local_at = 0;
    const CUdeviceptr at = side->local + side->local_at;
    side->local_at += bytes;
    return at;
}

static enum xst_status fail_unfinished(const struct xsti_cuda_side *side, const struct xst_measure_request *request,
                                       int64_t cta, struct xst_diag *diag)
{
    char text[XSTI_REQUEST_TEXT_BYTES];
    return xsti_fail(diag, XST_ERR_DEVICE, "device %d: %s: CTA %lld left no record", side->device.ordinal,
                     xsti_request_text(request, text), (long long)cta);
}

enum xst_status xsti_cuda_run_bystander(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                        struct xsti_run *run, struct xst_diag *diag)
{
    struct xsti_cuda_side *const side = &machine->sides[0];
    const struct xsti_cuda_shape shape = xsti_cuda_burst_shape(request);
    const size_t bytes = (size_t)request->producers * sizeof(struct xsti_bystander_record);
    const double us = 1e-3 / side->clock_ghz;
    char text[XSTI_REQUEST_TEXT_BYTES];
    struct xsti_bystander_params params = {
        .local_stride = LANDING_BYTES,
        .bulk = request->method == XST_METHOD_BULK,
        .op = (uint32_t)request->op,
        .delay_cycles = (uint32_t)(request->delay_us * 1e3 * side->clock_ghz + 0.5),
        .chunk = XSTI_CUDA_CHUNK_BYTES,
        .staging = shape.staging_bytes,
    };
    XSTI_TRY(xsti_cuda_side_need_records(side, bytes, diag));
    XSTI_TRY(xsti_cuda_side_need_local(side, (size_t)request->producers * LANDING_BYTES, diag));
    XSTI_TRY(xsti_cuda_layout(machine, 0, request, &params.layout, diag));
    params.layout.seed = machine->seed++;
    params.start = xsti_cuda_side_start(side);
    params.records = side->records + sizeof(struct xsti_cuda_state);
    params.local = next_local(side, (size_t)request->producers * LANDING_BYTES);
    XSTI_TRY(xsti_cuda_side_clear(side, diag));
    XSTI_TRY(xsti_device_fill(&side->device, params.records, 0, bytes, diag));
    XSTI_TRY(xsti_kernel_launch(&side->device, &side->bystander, (int)request->producers, (int)request->threads,
                                shape.staging_bytes + LANDING_BYTES, &params, diag));
    XSTI_TRY(xsti_cuda_side_collect(side, bytes, xsti_request_text(request, text), diag));
    const struct xsti_bystander_record *const records = (const void *)xsti_cuda_side_records(side);
    double issue = 0, op = 0, op_max = 0;
    for (int64_t p = 0; p < request->producers; p++) {
        if (!records[p].done)
            return fail_unfinished(side, request, p, diag);
        issue += records[p].issue;
        op += records[p].op;
        op_max = records[p].op > op_max ? records[p].op : op_max;
    }
    run->bystander.issue_us = issue / (double)request->producers * us;
    run->bystander.op_us_mean = op / (double)request->producers * us;
    run->bystander.op_us_max = op_max * us;
    run->sm_clock_ghz = side->clock_ghz;
    return XST_OK;
}

/* Mean and worst load of the CTAs from `first` to `end`. */
static void reduce_loop(const struct xsti_loop_record *records, int64_t first, int64_t end, double us, double *mean_us,
                        double *max_us, double *loads)
{
    double sum = 0, count = 0, most = 0;
    for (int64_t c = first; c < end; c++) {
        sum += (double)records[c].sum_cycles;
        count += records[c].loads;
        most = records[c].max_cycles > most ? records[c].max_cycles : most;
    }
    *mean_us = count > 0 ? sum / count * us : 0;
    *max_us = most * us;
    *loads = end > first ? count / (double)(end - first) : 0;
}

enum xst_status xsti_cuda_run_loop(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                   struct xsti_run *run, struct xst_diag *diag)
{
    struct xsti_cuda_side *const side = &machine->sides[0];
    const int64_t ctas = side->device.sm_count;
    const size_t bytes = (size_t)ctas * sizeof(struct xsti_loop_record);
    const size_t local_bytes = (size_t)ctas * (size_t)request->load_span_bytes;
    const int bulk = request->method == XST_METHOD_BULK;
    const double us = 1e-3 / side->clock_ghz;
    char text[XSTI_REQUEST_TEXT_BYTES];
    struct xst_measure_request sends = *request;
    struct xsti_loop_params params = {
        .local_stride = (uint64_t)request->load_span_bytes,
        .span_cycles = (uint64_t)(request->span_us * 1e3 * side->clock_ghz),
        .senders = (uint32_t)request->producers,
        .slices = (uint32_t)request->slices,
        .slice_cycles = (uint32_t)(request->slice_every_us * 1e3 * side->clock_ghz + 0.5),
        .load_bytes = (uint32_t)request->load_bytes,
        .bulk = (uint32_t)bulk,
    };
    if (sends.producers == 0)
        sends.producers = 1; /* a layout has at least one producer, even if nobody sends */
    XSTI_TRY(xsti_cuda_side_need_records(side, bytes, diag));
    XSTI_TRY(xsti_cuda_side_need_local(side, local_bytes, diag));
    XSTI_TRY(xsti_cuda_layout(machine, 0, &sends, &params.layout, diag));
    params.layout.seed = machine->seed++;
    params.start = xsti_cuda_side_start(side);
    params.records = side->records + sizeof(struct xsti_cuda_state);
    params.local = side->local;
    XSTI_TRY(xsti_cuda_side_clear(side, diag));
    XSTI_TRY(xsti_device_fill(&side->device, params.records, 0, bytes, diag));
    XSTI_TRY(xsti_kernel_launch(&side->device, &side->loop, (int)ctas, (int)request->threads + WARP,
                                params.load_bytes + (bulk ? (size_t)request->bytes_per_producer / params.slices : 0),
                                &params, diag));
    XSTI_TRY(xsti_cuda_side_collect(side, bytes, xsti_request_text(request, text), diag));
    const struct xsti_loop_record *const records = (const void *)xsti_cuda_side_records(side);
    for (int64_t c = 0; c < ctas; c++)
        if (!records[c].done)
            return fail_unfinished(side, request, c, diag);
    struct xst_loop_sample *const row = &run->loop;
    reduce_loop(records, 0, request->producers, us, &row->sender_mean_us, &row->sender_max_us, &row->sender_loads);
    reduce_loop(records, request->producers, ctas, us, &row->other_mean_us, &row->other_max_us, &row->other_loads);
    run->sm_clock_ghz = side->clock_ghz;
    return XST_OK;
}
