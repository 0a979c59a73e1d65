/* SPDX-License-Identifier: Apache-2.0
 *
 * Timing a mixture-of-experts layer: rounds, medians, and what follows from them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/stats.h"
#include "moe/bench_state.h"

enum { MOST_ROUNDS = 101 };

const char *xst_moe_form_text(enum xst_moe_form form)
{
    static const char *const texts[] = {
#define X(NAME, text, meaning) text,
        XST_MOE_FORM_MAP(X)
#undef X
    };
    return texts[form];
}

static enum xst_status in_range(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe bench: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

/* The layer and every order pass the kernel's own checks, with made-up addresses. */
static enum xst_status check_calls(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                   size_t count, struct xst_diag *diag)
{
    const uint64_t buffers[XST_MOE_MOST_RANKS] = {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024};
    const int64_t ranks = bench->target == XST_TARGET_PEER ? bench->ranks : 1;
    const struct xst_moe_call call = {.layer = {.hidden = bench->hidden,
                                                .inter = bench->inter,
                                                .experts = bench->target == XST_TARGET_PEER
                                                               ? bench->experts
                                                               : (bench->experts + bench->ranks - 1) / bench->ranks,
                                                .topk = bench->topk,
                                                .tokens_most = bench->tokens,
                                                .ranks = ranks,
                                                .dtype = bench->dtype,
                                                .ring = bench->ring,
                                                .ctas = bench->ctas > 0 ? bench->ctas : 1},
                                      .tokens = bench->tokens,
                                      .clamp = bench->clamp,
                                      .w1 = 1024,
                                      .w2 = 1024,
                                      .w1_scales = 1024,
                                      .w2_scales = 1024,
                                      .y = 1024,
                                      .buffers = buffers};
    for (size_t i = 0; i < count; i++)
        XSTI_TRY(xst_moe_call_check(&call, &entries[i].order, diag));
    return XST_OK;
}

enum xst_status xst_moe_bench_check(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                    size_t count, struct xst_diag *diag)
{
    const int peers = bench->target == XST_TARGET_PEER;
    XSTI_TRY(in_range("entries", (int64_t)count, 1, XST_MOE_BENCH_MOST_ENTRIES, diag));
    XSTI_TRY(in_range("target", bench->target, XST_TARGET_PEER, XST_TARGET_LOCAL, diag));
    XSTI_TRY(in_range("tokens", bench->tokens, 1, 1 << 20, diag));
    XSTI_TRY(in_range("ranks", bench->ranks, peers ? 2 : 1, peers ? XST_MOE_MOST_RANKS : bench->experts, diag));
    XSTI_TRY(in_range("experts", bench->experts, bench->ranks, 1 << 16, diag));
    XSTI_TRY(in_range("rounds", bench->rounds, 1, MOST_ROUNDS, diag));
    XSTI_TRY(in_range("calls", bench->calls, 0, 100000, diag));
    if (!(bench->remote_frac >= 0 && bench->remote_frac <= 1))
        return xsti_fail(diag, XST_ERR_RANGE, "moe bench: remote_frac is %g, outside 0..1", bench->remote_frac);
    for (size_t i = 0; i < count; i++)
        if (entries[i].form == XST_MOE_FORM_ALONE && bench->target == XST_TARGET_LOCAL)
            return xsti_fail(diag, XST_ERR_USAGE,
                             "moe bench: entry %zu is \"alone\", which with a local target is what \"fused\" is", i);
    for (size_t i = 0; i < count && bench->ring > 0; i++)
        if (entries[i].form == XST_MOE_FORM_UNFUSED)
            return xsti_fail(diag, XST_ERR_USAGE, "moe bench: entry %zu is \"unfused\", which needs all blocks", i);
    return check_calls(bench, entries, count, diag);
}

static enum xst_status record(struct xsti_moe_bench_state *b, int at_end, struct xst_diag *diag)
{
    for (int64_t d = 0; d < b->devices; d++) {
        const struct xsti_device *const device = &b->device[d].kernels->device;
        XSTI_TRY(xsti_device_use(device, diag));
        XSTI_CU(device->driver, cuEventRecord(at_end ? b->device[d].end : b->device[d].begin, device->stream),
                device->ordinal, diag, "recording an event");
    }
    return XST_OK;
}

/* Between the two events, the slowest device's. */
static enum xst_status elapsed(struct xsti_moe_bench_state *b, double *us_out, struct xst_diag *diag)
{
    double most = 0;
    for (int64_t d = 0; d < b->devices; d++) {
        const struct xsti_device *const device = &b->device[d].kernels->device;
        float ms;
        XSTI_TRY(xsti_device_use(device, diag));
        XSTI_CU(device->driver, cuEventElapsedTime(&ms, b->device[d].begin, b->device[d].end), device->ordinal, diag,
                "reading an event");
        most = ms * 1000.0 > most ? ms * 1000.0 : most;
    }
    *us_out = most;
    return XST_OK;
}

/* Two calls first, so that the devices are in step. */
static enum xst_status time_one(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry, int64_t calls,
                                double *us_out, struct xst_diag *diag)
{
    XSTI_TRY(xsti_moe_bench_enqueue(b, entry, 2, diag));
    XSTI_TRY(record(b, 0, diag));
    XSTI_TRY(xsti_moe_bench_enqueue(b, entry, calls, diag));
    XSTI_TRY(record(b, 1, diag));
    XSTI_TRY(xsti_moe_bench_finish(b, diag));
    XSTI_TRY(elapsed(b, us_out, diag));
    *us_out /= (double)calls;
    return XST_OK;
}

/* What rank 0 has to do. */
struct work {
    int64_t rows;
    double flop;
    double memory_bytes;
};

static struct work work_of(const struct xsti_moe_bench_state *b)
{
    const struct xst_moe_bench *const request = b->request;
    const struct xst_moe_shape shape = {.experts = request->experts, .ranks = request->ranks};
    const double hidden = (double)request->hidden, inter = (double)request->inter;
    struct work work = {0};
    int64_t first, end, touched = 0, own = 0;
    xst_moe_experts_of(&shape, 0, &first, &end);
    for (int64_t e = first; e < end; e++) {
        work.rows += b->counts[e];
        touched += b->counts[e] > 0;
    }
    for (int64_t i = 0; i < b->main.tokens[0] * request->topk; i++)
        own += b->main.ids[0][i] >= 0;
    work.flop = 6 * (double)work.rows * hidden * inter;
    /* weights; pool and activations written and read; slots written and read, y written */
    const double scaled = xsti_moe_bench_row_bytes(request) / hidden; /* bytes of a value of x or of an activation */
    const double weight = request->dtype == XST_MOE_E4M3 ? 1 : 2;
    work.memory_bytes = (double)touched * 3 * hidden * inter * weight +
                        (double)work.rows * 2 * (hidden + inter) * scaled +
                        2 * ((double)own * 2 * hidden + (double)b->main.tokens[0] * hidden);
    return work;
}

static int64_t calls_of(const struct xsti_moe_bench_state *b, const struct work *work)
{
    if (b->request->calls != 0)
        return b->request->calls;
    const double once_us = fmax(work->flop / 600e6, work->memory_bytes / 4e6) + 50;
    const double calls = 20000 / once_us; /* about 20 ms at 600 TFLOP/s or 4 TB/s */
    return calls < 3 ? 3 : calls > 200 ? 200 : (int64_t)calls;
}

static double floor_of(const struct xsti_moe_bench_state *b, const struct work *work, double remote_bytes)
{
    const struct xst_moe_bench *const request = b->request;
    double us = 0;
    if (request->flop_per_us > 0)
        us = fmax(us, work->flop / request->flop_per_us);
    if (request->memory_bytes_per_us > 0)
        us = fmax(us, work->memory_bytes / request->memory_bytes_per_us);
    if (request->drain_bytes_per_us > 0)
        us = fmax(us, remote_bytes / request->drain_bytes_per_us);
    return us > 0 ? us : NAN;
}

static struct xst_moe_bench_row make_row(const struct xsti_moe_bench_state *b, size_t i, const struct work *work,
                                         int64_t calls, double *times)
{
    const size_t n = (size_t)b->request->rounds;
    const int alone = b->entries[i].form == XST_MOE_FORM_ALONE;
    struct xst_moe_bench_row row = {.entry = b->entries[i], .rows = work->rows, .calls = calls};
    row.ctas = alone ? b->alone[0].layer.ctas : b->main.layer.ctas;
    row.median_us = xsti_median(times, n);
    row.min_us = row.max_us = times[0];
    for (size_t t = 1; t < n; t++) {
        row.min_us = fmin(row.min_us, times[t]);
        row.max_us = fmax(row.max_us, times[t]);
    }
    row.tflops = work->flop / row.median_us / 1e6;
    row.memory_bytes = work->memory_bytes;
    row.memory_bytes_per_us = work->memory_bytes / row.median_us;
    const struct xsti_moe_bench_group *const group = alone ? &b->alone[0] : &b->main;
    const int once = xst_moe_dedup_of(&group->layer, &row.entry.order) == XST_MOE_DEDUP_ON;
    row.entry.order.dedup = once ? XST_MOE_DEDUP_ON : XST_MOE_DEDUP_OFF;
    row.buffer_bytes = (double)group->at.bytes;
    row.pulled_bytes = xsti_moe_bench_pulled_bytes(b, group, once);
    row.remote_bytes = alone ? 0 : xsti_moe_bench_remote_bytes(b, once);
    row.remote_bytes_per_us = row.remote_bytes / row.median_us;
    row.floor_us = floor_of(b, work, row.remote_bytes);
    row.floor_ratio = row.floor_us / row.median_us;
    row.residual_us = row.residual_frac = row.speedup = NAN;
    return row;
}

static int same_order(const struct xst_moe_order *a, const struct xst_moe_order *b)
{
    return a->schedule == b->schedule && a->lead == b->lead && a->group == b->group && a->tile_rows == b->tile_rows &&
           a->store == b->store && a->slices == b->slices && a->unit == b->unit && a->dedup == b->dedup;
}

static void compare_rows(struct xst_moe_bench_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (rows[j].entry.form == XST_MOE_FORM_UNFUSED && isnan(rows[i].speedup))
                rows[i].speedup = rows[j].median_us / rows[i].median_us;
            if (rows[j].entry.form != XST_MOE_FORM_ALONE || rows[i].entry.form != XST_MOE_FORM_FUSED ||
                !same_order(&rows[i].entry.order, &rows[j].entry.order))
                continue;
            rows[i].residual_us = rows[i].median_us - rows[j].median_us;
            rows[i].residual_frac = rows[i].residual_us / rows[j].median_us;
        }
}

static enum xst_status time_all(struct xsti_moe_bench_state *b, double *times, struct xst_moe_bench_row *rows_out,
                                struct xst_diag *diag)
{
    const size_t count = b->entry_count, rounds = (size_t)b->request->rounds;
    const struct work work = work_of(b);
    const int64_t calls = calls_of(b, &work);
    for (size_t round = 0; round < rounds; round++)
        for (size_t turn = 0; turn < count; turn++) {
            const size_t i = (turn + round) % count;
            XSTI_TRY(time_one(b, &b->entries[i], calls, &times[i * rounds + round], diag));
        }
    for (size_t i = 0; i < count; i++)
        rows_out[i] = make_row(b, i, &work, calls, &times[i * rounds]);
    compare_rows(rows_out, count);
    return XST_OK;
}

enum xst_status xst_moe_bench_run(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                  size_t count, struct xst_moe_bench_row *rows_out, struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_bench_check(bench, entries, count, diag));
    struct xsti_moe_bench_state *const b = calloc(1, sizeof *b);
    double *const times = calloc(count * (size_t)bench->rounds, sizeof *times);
    enum xst_status status = b && times ? XST_OK : xsti_fail_memory(diag);
    if (status == XST_OK) {
        b->request = bench;
        b->entries = entries;
        b->entry_count = count;
        status = xsti_moe_bench_plan(b, diag);
        if (status == XST_OK)
            status = xsti_moe_bench_open(b, diag);
        if (status == XST_OK)
            status = xsti_moe_bench_verify(b, diag);
        if (status == XST_OK)
            status = time_all(b, times, rows_out, diag);
        xsti_moe_bench_close(b);
    }
    free(times);
    free(b);
    return status;
}
