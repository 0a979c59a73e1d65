/* SPDX-License-Identifier: Apache-2.0
 *
 * What `xstage calibrate` measures. Every group of cells says which parameter
 * it is for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "machine/machine.h"

enum {
    KIB = 1024,
    THREADS = 256,
    BURSTS = 48,
    REPS_ISOLATED = 5,
    REPS_PERIODIC = 3,
    REPS_BYSTANDER = 5,
    LOAD_SPAN_BYTES = 64 * KIB, /* of one SM; all of them together stay in L2 */
};

struct list {
    struct xst_measure_request *rows;
    size_t count;
    size_t room;
    int failed;
    enum xst_target target;
    double drain_bytes_per_us;
};

static void add(struct list *list, struct xst_measure_request request)
{
    if (list->failed)
        return;
    if (list->count == list->room) {
        const size_t room = list->room ? list->room * 2 : 256;
        struct xst_measure_request *const larger = realloc(list->rows, room * sizeof *larger);
        if (!larger) {
            list->failed = 1;
            return;
        }
        list->rows = larger;
        list->room = room;
    }
    request.target = list->target;
    list->rows[list->count++] = request;
}

static struct xst_measure_request burst(enum xst_mode mode, enum xst_method method, int64_t producers, int64_t bytes,
                                        double gap_us)
{
    return (struct xst_measure_request){.probe = XST_PROBE_BURST,
                                        .mode = mode,
                                        .method = method,
                                        .threads = THREADS,
                                        .producers = producers,
                                        .bytes_per_producer = bytes,
                                        .gap_us = gap_us,
                                        .bursts = mode == XST_MODE_ISOLATED ? 1 : BURSTS,
                                        .reps = mode == XST_MODE_ISOLATED ? REPS_ISOLATED : REPS_PERIODIC};
}

/* Producer counts of a plan: a few, and all. */
static size_t producer_counts(int64_t sm_count, int64_t counts_out[6])
{
    static const int64_t few[] = {1, 8, 32, 64, 96};
    size_t count = 0;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (few[i] < sm_count)
            counts_out[count++] = few[i];
    counts_out[count++] = sm_count;
    return count;
}

/* T0 (one producer), F (its small bursts), Q (from the knee to three times the
 * knee). */
static void add_isolated(struct list *list, enum xst_method method, int64_t sm_count)
{
    static const int64_t kib[] = {1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128};
    int64_t counts[6];
    const size_t count = producer_counts(sm_count, counts);
    for (size_t k = 0; k < count; k++)
        for (size_t b = 0; b < sizeof kib / sizeof *kib; b++)
            if (counts[k] == 1 || (kib[b] >= 8 && (kib[b] <= 64 || counts[k] <= 64)))
                add(list, burst(XST_MODE_ISOLATED, method, counts[k], kib[b] * KIB, 0));
}

/* R, and the issue floor where nothing saturates. */
static void add_zero_gap(struct list *list, enum xst_method method, int64_t sm_count)
{
    static const int64_t kib[] = {4, 8, 16, 32};
    int64_t counts[6];
    const size_t count = producer_counts(sm_count, counts);
    for (size_t k = 0; k < count; k++)
        for (size_t b = 0; b < sizeof kib / sizeof *kib; b++)
            add(list, burst(XST_MODE_PERIODIC, method, counts[k], kib[b] * KIB, 0));
}

/* d and the plateau behind V/R; the rows before it judge (1) and the
 * dispersion. */
static void add_gaps(struct list *list, enum xst_mode mode, enum xst_method method, int64_t producers, int64_t bytes)
{
    static const double of_drain_time[] = {0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6};
    const double drain_us = (double)producers * (double)bytes / list->drain_bytes_per_us;
    for (size_t g = 0; g < sizeof of_drain_time / sizeof *of_drain_time; g++)
        add(list, burst(mode, method, producers, bytes, of_drain_time[g] * drain_us));
}

static void add_gap_sweeps(struct list *list, enum xst_method method, int64_t sm_count)
{
    static const int64_t kib[] = {8, 16, 32};
    for (size_t b = 0; b < sizeof kib / sizeof *kib; b++) {
        if (sm_count > 32)
            add_gaps(list, XST_MODE_PERIODIC, method, 32, kib[b] * KIB);
        add_gaps(list, XST_MODE_PERIODIC, method, sm_count, kib[b] * KIB);
    }
    add_gaps(list, XST_MODE_ALIGNED, method, sm_count, 16 * KIB);
    add_gaps(list, XST_MODE_ALIGNED, method, sm_count, 32 * KIB);
}

/* Q_free of (16): every operation behind bursts of growing backlog, at once and
 * later. */
static void add_bystanders(struct list *list, enum xst_method method, int64_t sm_count)
{
    static const int64_t kib[] = {2, 4, 8, 16, 24};
    static const double delays_us[] = {0, 2, 8, 20};
#define X(NAME, text, meaning) XST_BYSTANDER_OP_##NAME,
    static const enum xst_bystander_op ops[] = {XST_BYSTANDER_OP_MAP(X)};
#undef X
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        struct xst_measure_request request = {.probe = XST_PROBE_BYSTANDER,
                                              .method = method,
                                              .threads = THREADS,
                                              .producers = sm_count,
                                              .reps = REPS_BYSTANDER,
                                              .op = ops[o]};
        add(list, request);
        for (size_t b = 0; b < sizeof kib / sizeof *kib; b++)
            for (size_t d = 0; d < sizeof delays_us / sizeof *delays_us; d++) {
                request.bytes_per_producer = kib[b] * KIB;
                request.delay_us = delays_us[d];
                add(list, request);
            }
    }
}

/* Do SMs that send nothing wait too, and what do slices change. */
static void add_loops(struct list *list, enum xst_method method, int64_t sm_count)
{
    static const int64_t slices[] = {1, 4, 16};
    const int64_t senders[] = {sm_count / 8, sm_count / 2, sm_count - sm_count / 8, sm_count};
    struct xst_measure_request request = {.probe = XST_PROBE_LOOP,
                                          .method = method,
                                          .threads = THREADS,
                                          .reps = REPS_BYSTANDER,
                                          .slices = 1,
                                          .load_bytes = 4 * KIB,
                                          .load_span_bytes = LOAD_SPAN_BYTES,
                                          .span_us = 40};
    add(list, request);
    for (size_t c = 0; c < 2 * sizeof senders / sizeof *senders * (sizeof slices / sizeof *slices); c++) {
        request.producers = senders[c / 3 % 4];
        request.bytes_per_producer = c < 12 ? 16 * KIB : 32 * KIB;
        request.slices = slices[c % 3];
        if (request.producers == 0)
            continue;
        /* Slices are spread over the drain time at 87 % of R, and the loop goes on
     * a little beyond it. */
        const double drain_us =
            (double)request.producers * (double)request.bytes_per_producer / list->drain_bytes_per_us / 0.87;
        request.slice_every_us = request.slices > 1 ? drain_us / (double)request.slices : 0;
        request.span_us = 10 + drain_us;
        add(list, request);
    }
}

static double usual_drain(enum xst_target target)
{
    switch (target) {
    case XST_TARGET_HOST:
        return 50e3;
    case XST_TARGET_PEER:
        return 350e3;
    case XST_TARGET_LOCAL:
        break;
    }
    return 2000e3;
}

struct xst_measure_request xst_plan_drain_probe(enum xst_target target, int64_t sm_count)
{
    struct xst_measure_request request = burst(XST_MODE_PERIODIC, XST_METHOD_ST16, sm_count, 32 * KIB, 0);
    request.target = target;
    return request;
}

enum xst_status xst_plan_calibration(enum xst_target target, int64_t sm_count, double drain_bytes_per_us,
                                     struct xst_measure_request **requests_out, size_t *count_out,
                                     struct xst_diag *diag)
{
    static const enum xst_method methods[] = {XST_METHOD_ST16, XST_METHOD_BULK};
    struct list list = {.target = target,
                        .drain_bytes_per_us = drain_bytes_per_us > 0 ? drain_bytes_per_us : usual_drain(target)};
    if (sm_count < 1)
        return xsti_fail(diag, XST_ERR_RANGE, "sm_count is %lld, at least 1 is needed", (long long)sm_count);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        add_isolated(&list, methods[m], sm_count);
        add_zero_gap(&list, methods[m], sm_count);
        add_gap_sweeps(&list, methods[m], sm_count);
        add_bystanders(&list, methods[m], sm_count);
        add_loops(&list, methods[m], sm_count);
    }
    if (list.failed) {
        free(list.rows);
        return xsti_fail_memory(diag);
    }
    *requests_out = list.rows;
    *count_out = list.count;
    return XST_OK;
}
