/* SPDX-License-Identifier: Apache-2.0
 *
 * fa_a2a_bench.h - timing attention + exchange against its unfused parts, on checked results.
 *
 * Where the other ranks' outputs are decides what can be seen:
 *   peer    one device a rank (devices 0 .. ranks - 1): the real thing
 *   host    rank 0 alone, the others' outputs in mapped host memory: the remote path of a machine with one GPU
 *   local   rank 0 alone, the others' outputs in its own memory: no X-Stage, what the stores cost by themselves
 * Times are medians over rounds, the order of variants rotated from round to round; with several ranks each round counts the
 * slowest rank. Inputs are random; before anything is timed every variant's output is compared byte for byte with attention
 * followed by the exchange, and sampled rows of that with the plain reference.
 */
#ifndef XSTAGE_FA_A2A_BENCH_H
#define XSTAGE_FA_A2A_BENCH_H

#include <stdint.h>

#include <xstage/sample.h>
#include <xstage/status.h>
#include <xstage/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, text, meaning) */
#define XST_FA_A2A_VARIANT_MAP(X)                                                                                      \
    X(FA_ONLY, "fa_only", "attention with a local output")                                                             \
    X(A2A_ONLY, "a2a_only", "the exchange alone")                                                                      \
    X(SERIAL, "serial", "attention, then the exchange")                                                                \
    X(ST16, "fused_st16", "fused, 16-byte stores")                                                                     \
    X(BULK, "fused_bulk", "fused, bulk stores at the tile's end")                                                      \
    X(PACED, "fused_paced", "fused, stores in slices over the next tile")
enum xst_fa_a2a_variant {
#define X(NAME, text, meaning) XST_FA_A2A_VARIANT_##NAME,
    XST_FA_A2A_VARIANT_MAP(X)
#undef X
        XST_FA_A2A_VARIANT_COUNT
};
const char *xst_fa_a2a_variant_text(enum xst_fa_a2a_variant variant);

struct xst_fa_a2a_bench {
    int64_t batch;
    int64_t heads_total; /* H, a multiple of ranks */
    int64_t head_dim;
    int64_t seq;
    int64_t ranks; /* 2 .. 8 */
    enum xst_target target;
    int64_t groups; /* warpgroups; 0: xst_fa_a2a_choose */
    int64_t pairs;  /* CTAs that share keys and values: 0 xst_fa_a2a_choose, 1 never, 2 always, attention alone too */
    int64_t slices; /* paced */
    int64_t rounds; /* a median is taken over */
    int64_t calls;  /* back to back in a round; 0: about 10 ms */
    uint64_t seed;
    double drain_bytes_per_us; /* R of the path, which paces paced stores; 0: not known */
};

struct xst_fa_a2a_bench_row {
    enum xst_fa_a2a_variant variant;
    int64_t groups;
    int64_t pairs;    /* 1: CTAs share keys and values */
    int64_t calls;    /* n of a round */
    double median_us; /* of one call, back to back, remote-visible */
    double min_us;
    double max_us;
    double sender_us;          /* one call alone, until the sender is free again */
    double visible_us;         /* one call alone, until all ranks' data are there */
    double tflops;             /* of one rank; NaN without attention */
    double drain_bytes_per_us; /* remote bytes of one rank over median_us; 0 where nothing leaves */
    double residual_us;        /* fused: median - fa_only; NaN elsewhere */
    double residual_frac;      /* of fa_only */
    double hiding_ratio;       /* (serial - fused) / (serial - fa_only) */
    double speedup;            /* serial / fused */
};

/* XST_ERR_RANGE or XST_ERR_USAGE with the field, its value and its bound. */
enum xst_status xst_fa_a2a_bench_check(const struct xst_fa_a2a_bench *bench, struct xst_diag *diag);

/* All variants of one shape. XST_ERR_UNAVAILABLE without the devices; XST_ERR_DEVICE when an output is wrong: nothing is timed
 * then. */
enum xst_status xst_fa_a2a_bench_run(const struct xst_fa_a2a_bench *bench,
                                     struct xst_fa_a2a_bench_row rows_out[XST_FA_A2A_VARIANT_COUNT],
                                     struct xst_diag *diag);

/* One traced call of each variant in `variants` (bit 1 << enum xst_fa_a2a_variant: the exchange alone and the fused ones), every
 * rank; the facts say the shape and what the launcher chose. Traced kernels are a few marks slower than those that are timed. */
enum xst_status xst_fa_a2a_bench_trace(const struct xst_fa_a2a_bench *bench, unsigned variants,
                                       struct xst_trace *trace_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
