/* SPDX-License-Identifier: Apache-2.0
 *
 * Timing attention + exchange: rounds, medians, and what follows from them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/stats.h"
#include "fa_a2a/bench_state.h"

enum { MOST_ROUNDS = 101 };

const char *xst_fa_a2a_variant_text(enum xst_fa_a2a_variant variant)
{
    static const char *const texts[] = {
#define X(NAME, text, meaning) text,
        XST_FA_A2A_VARIANT_MAP(X)
#undef X
    };
    return texts[variant];
}

static enum xst_status in_range(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

enum xst_status xst_fa_a2a_bench_check(const struct xst_fa_a2a_bench *bench, struct xst_diag *diag)
{
    XSTI_TRY(in_range("batch", bench->batch, 1, 64, diag));
    XSTI_TRY(in_range("ranks", bench->ranks, 2, XSTI_FA_BENCH_RANKS, diag));
    XSTI_TRY(in_range("heads", bench->heads_total, bench->ranks, 1024, diag));
    XSTI_TRY(in_range("seq", bench->seq, bench->ranks, 1 << 20, diag));
    XSTI_TRY(in_range("groups", bench->groups, 0, 3, diag));
    XSTI_TRY(in_range("rounds", bench->rounds, 1, MOST_ROUNDS, diag));
    XSTI_TRY(in_range("calls", bench->calls, 0, 100000, diag));
    XSTI_TRY(in_range("pairs", bench->pairs, 0, 2, diag));
    if (!(bench->drain_bytes_per_us >= 0) || !isfinite(bench->drain_bytes_per_us))
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: drain_bytes_per_us is %g; a rate, or 0, is needed",
                         bench->drain_bytes_per_us);
    if (bench->slices < 1 || bench->slices > 16 || 16 % bench->slices != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: slices is %lld, not 1, 2, 4, 8 or 16",
                         (long long)bench->slices);
    if (bench->groups == 1)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: groups is 1; 2 and 3 exist, 0 chooses");
    if (bench->heads_total % bench->ranks != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: heads is %lld, not a multiple of ranks (%lld)",
                         (long long)bench->heads_total, (long long)bench->ranks);
    if (bench->head_dim != 64 && bench->head_dim != 128)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: head_dim is %lld; kernels exist for 64 and 128",
                         (long long)bench->head_dim);
    if (bench->pairs == 2 && bench->head_dim != 128)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a bench: pairs with head_dim %lld; they exist for 128",
                         (long long)bench->head_dim);
    return XST_OK;
}

static enum xst_status record(struct xsti_fa_bench *b, int which, struct xst_diag *diag)
{
    for (int64_t r = 0; r < b->active; r++) {
        struct xsti_fa_bench_rank *const rank = &b->ranks[r];
        const struct xsti_device *const device = &rank->kernels->device;
        const CUevent event = which == 0 ? rank->begin : which == 1 ? rank->middle : rank->end;
        XSTI_TRY(xsti_device_use(device, diag));
        XSTI_CU(device->driver, cuEventRecord(event, device->stream), device->ordinal, diag, "recording an event");
    }
    return XST_OK;
}

/* Between two events, the slowest rank's. */
static enum xst_status elapsed(struct xsti_fa_bench *b, int to_middle, double *us_out, struct xst_diag *diag)
{
    double most = 0;
    for (int64_t r = 0; r < b->active; r++) {
        struct xsti_fa_bench_rank *const rank = &b->ranks[r];
        float ms;
        XSTI_TRY(xsti_device_use(&rank->kernels->device, diag));
        XSTI_CU(&rank->kernels->driver, cuEventElapsedTime(&ms, rank->begin, to_middle ? rank->middle : rank->end),
                rank->kernels->device.ordinal, diag, "reading an event");
        most = ms * 1000.0 > most ? ms * 1000.0 : most;
    }
    *us_out = most;
    return XST_OK;
}

static enum xst_status time_back_to_back(struct xsti_fa_bench *b, enum xst_fa_a2a_variant variant, int64_t calls,
                                         double *us_out, struct xst_diag *diag)
{
    XSTI_TRY(xsti_fa_bench_enqueue(b, variant, 2, diag));
    XSTI_TRY(record(b, 0, diag));
    XSTI_TRY(xsti_fa_bench_enqueue(b, variant, calls, diag));
    XSTI_TRY(record(b, 2, diag));
    XSTI_TRY(xsti_fa_bench_finish(b, diag));
    XSTI_TRY(elapsed(b, 0, us_out, diag));
    *us_out /= (double)calls;
    return XST_OK;
}

static enum xst_status time_one(struct xsti_fa_bench *b, enum xst_fa_a2a_variant variant, double *sender_out,
                                double *visible_out, struct xst_diag *diag)
{
    XSTI_TRY(xsti_fa_bench_enqueue(b, variant, 1, diag));
    XSTI_TRY(xsti_fa_bench_finish(b, diag));
    XSTI_TRY(record(b, 0, diag));
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_fa_bench_send(b, r, variant, diag));
    XSTI_TRY(record(b, 1, diag));
    for (int64_t r = 0; r < b->active; r++)
        XSTI_TRY(xsti_fa_bench_wait(b, r, variant, diag));
    XSTI_TRY(record(b, 2, diag));
    XSTI_TRY(xsti_fa_bench_finish(b, diag));
    XSTI_TRY(elapsed(b, 1, sender_out, diag));
    return elapsed(b, 0, visible_out, diag);
}

struct times {
    double back_to_back[MOST_ROUNDS];
    double sender[MOST_ROUNDS];
    double visible[MOST_ROUNDS];
};

static int64_t calls_of(const struct xst_fa_a2a_bench *request, int64_t heads)
{
    if (request->calls != 0)
        return request->calls;
    const double flop =
        4.0 * (double)(request->batch * heads * request->head_dim) * (double)request->seq * (double)request->seq;
    const double calls = 10000 / (flop / 550e6 + 20); /* about 10 ms at 550 TFLOP/s */
    return calls < 3 ? 3 : calls > 200 ? 200 : (int64_t)calls;
}

static enum xst_status time_all(struct xsti_fa_bench *b, int64_t calls, struct times *times, struct xst_diag *diag)
{
    for (int64_t round = 0; round < b->request->rounds; round++)
        for (int i = 0; i < XST_FA_A2A_VARIANT_COUNT; i++) {
            const int v = (int)((i + round) % XST_FA_A2A_VARIANT_COUNT);
            const enum xst_fa_a2a_variant variant = (enum xst_fa_a2a_variant)v;
            XSTI_TRY(time_back_to_back(b, variant, calls, &times[v].back_to_back[round], diag));
            XSTI_TRY(time_one(b, variant, &times[v].sender[round], &times[v].visible[round], diag));
        }
    return XST_OK;
}

static void make_rows(const struct xsti_fa_bench *b, int64_t calls, struct times *times,
                      struct xst_fa_a2a_bench_row rows[XST_FA_A2A_VARIANT_COUNT])
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const size_t n = (size_t)request->rounds;
    const double flop =
        4.0 * (double)(request->batch * b->heads * request->head_dim) * (double)request->seq * (double)request->seq;
    const double remote =
        (double)(request->batch * b->heads * request->head_dim) * 2 * (double)(request->seq - b->row_first[1]);
    for (int v = 0; v < XST_FA_A2A_VARIANT_COUNT; v++) {
        struct xst_fa_a2a_bench_row *const row = &rows[v];
        const struct xst_fa_a2a_choice *const choice =
            xsti_fa_bench_is_fused((enum xst_fa_a2a_variant)v) ? &b->choice : &b->alone;
        *row = (struct xst_fa_a2a_bench_row){.variant = (enum xst_fa_a2a_variant)v,
                                             .groups = choice->groups,
                                             .pairs = choice->pairs,
                                             .calls = calls};
        row->median_us = xsti_median(times[v].back_to_back, n);
        row->min_us = row->max_us = times[v].back_to_back[0];
        for (size_t i = 1; i < n; i++) {
            row->min_us = fmin(row->min_us, times[v].back_to_back[i]);
            row->max_us = fmax(row->max_us, times[v].back_to_back[i]);
        }
        row->sender_us = xsti_median(times[v].sender, n);
        row->visible_us = xsti_median(times[v].visible, n);
        row->tflops = xsti_fa_bench_has_attention(row->variant) ? flop / row->median_us / 1e6 : NAN;
        row->drain_bytes_per_us = xsti_fa_bench_has_exchange(row->variant) ? remote / row->median_us : 0;
    }
    const double fa = rows[XST_FA_A2A_VARIANT_FA_ONLY].median_us, serial = rows[XST_FA_A2A_VARIANT_SERIAL].median_us;
    for (int v = 0; v < XST_FA_A2A_VARIANT_COUNT; v++) {
        const int fused = xsti_fa_bench_is_fused((enum xst_fa_a2a_variant)v);
        rows[v].residual_us = fused ? rows[v].median_us - fa : NAN;
        rows[v].residual_frac = fused ? rows[v].residual_us / fa : NAN;
        rows[v].hiding_ratio = fused ? (serial - rows[v].median_us) / (serial - fa) : NAN;
        rows[v].speedup = fused ? serial / rows[v].median_us : NAN;
    }
}

enum xst_status xst_fa_a2a_bench_run(const struct xst_fa_a2a_bench *bench,
                                     struct xst_fa_a2a_bench_row rows_out[XST_FA_A2A_VARIANT_COUNT],
                                     struct xst_diag *diag)
{
    XSTI_TRY(xst_fa_a2a_bench_check(bench, diag));
    struct xsti_fa_bench *const b = calloc(1, sizeof *b);
    struct times *const times = calloc(XST_FA_A2A_VARIANT_COUNT, sizeof *times);
    enum xst_status status = b && times ? XST_OK : xsti_fail_memory(diag);
    if (status == XST_OK) {
        b->request = bench;
        const int64_t calls = calls_of(bench, bench->heads_total / bench->ranks);
        status = xsti_fa_bench_open(b, diag);
        if (status == XST_OK)
            status = xsti_fa_bench_check(b, diag);
        if (status == XST_OK)
            status = time_all(b, calls, times, diag);
        if (status == XST_OK)
            make_rows(b, calls, times, rows_out);
        xsti_fa_bench_close(b);
    }
    free(times);
    free(b);
    return status;
}
