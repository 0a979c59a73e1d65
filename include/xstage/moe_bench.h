/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_bench.h - timing a fused mixture-of-experts layer against its unfused parts, on checked results.
 *
 * What is asked for is one rank's share of a layer over `ranks` ranks. Where the other ranks are decides what can be seen:
 *   peer    one device a rank (devices 0 .. ranks - 1): the real thing
 *   host    one device; a share of the rows belongs to an absent rank whose combine buffer is in mapped host memory: the remote
 *           path of a machine with one GPU
 *   local   one device; all rows are its own: no X-Stage, what the layer costs by itself
 * With host and local the device holds rank 0's experts and gets as many rows as rank 0 would get from all ranks together.
 *
 * Times are medians over rounds of calls back to back, the order of entries rotated from round to round; with several devices
 * each round counts the slowest one. Inputs are random; before anything is timed every entry's output is compared byte for byte
 * with the first one's, and sampled rows of that with the plain reference.
 */
#ifndef XSTAGE_MOE_BENCH_H
#define XSTAGE_MOE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/moe_kernel.h>
#include <xstage/plan.h>
#include <xstage/sample.h>
#include <xstage/status.h>
#include <xstage/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, text, meaning) */
#define XST_MOE_FORM_MAP(X)                                                                                            \
    X(FUSED, "fused", "one kernel")                                                                                    \
    X(UNFUSED, "unfused", "the same tiles as separate kernels")                                                        \
    X(ALONE, "alone", "fused, every row the device's own: what computing costs by itself")
enum xst_moe_form {
#define X(NAME, text, meaning) XST_MOE_FORM_##NAME,
    XST_MOE_FORM_MAP(X)
#undef X
};
const char *xst_moe_form_text(enum xst_moe_form form);

struct xst_moe_bench {
    int64_t hidden;
    int64_t inter;
    int64_t experts; /* of the model, all ranks together */
    int64_t topk;
    int64_t tokens; /* per rank */
    int64_t ranks;  /* peer: 2 .. 8; else 1 .. experts */
    enum xst_target target;
    double remote_frac; /* host: share of the rows that leaves the device, 0 .. 1 */
    enum xst_routing routing;
    double skew;
    double clamp; /* 0: none */
    enum xst_moe_dtype dtype;
    int64_t ring;   /* rows of the pools (moe_kernel.h); 0: all blocks */
    int64_t ctas;   /* 0: one per SM, less the few an absent rank needs */
    int64_t rounds; /* a median is taken over */
    int64_t calls;  /* back to back in a round; 0: about 20 ms */
    uint64_t seed;
    /* What the floor is made of; 0: left out. */
    double flop_per_us;
    double memory_bytes_per_us;
    double drain_bytes_per_us;
};

enum { XST_MOE_BENCH_MOST_ENTRIES = 48 };

/* One thing to time. */
struct xst_moe_bench_entry {
    enum xst_moe_form form;
    struct xst_moe_order order;
};

struct xst_moe_bench_row {
    struct xst_moe_bench_entry entry; /* dedup: on or off, as it was */
    int64_t ctas;
    int64_t rows;  /* that rank 0 received */
    int64_t calls; /* of a round */
    double median_us;
    double min_us;
    double max_us;
    double tflops;              /* of rank 0 */
    double memory_bytes;        /* least: weights and activations once; of rank 0 */
    double memory_bytes_per_us; /* memory_bytes over median_us */
    double buffer_bytes;        /* of a rank's symmetric buffer */
    double pulled_bytes;        /* rows rank 0 fetches for its experts, its own too */
    double remote_bytes;        /* that leave rank 0: rows it sends back, and rows peers fetch */
    double remote_bytes_per_us;
    double floor_us;      /* the largest of computing, memory and path, each at its rate */
    double floor_ratio;   /* floor_us / median_us */
    double residual_us;   /* fused: median_us less that of the alone entry of the same order; NaN without one */
    double residual_frac; /* of the alone entry */
    double speedup;       /* median_us of the unfused entry over this one's; NaN without one */
};

/* XST_ERR_RANGE or XST_ERR_USAGE with the field, its value and its bound. */
enum xst_status xst_moe_bench_check(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                    size_t count, struct xst_diag *diag);

/* Rows per expert of the model that the routing gives, [experts]: what xst_moe_choose wants to know of rank 0 is the first
 * part. */
enum xst_status xst_moe_bench_counts(const struct xst_moe_bench *bench, int64_t *counts_out, struct xst_diag *diag);

/* One row an entry. XST_ERR_UNAVAILABLE without the devices; XST_ERR_DEVICE when an output is wrong: nothing is timed then. */
enum xst_status xst_moe_bench_run(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                  size_t count, struct xst_moe_bench_row *rows_out, struct xst_diag *diag);

/* "wave_at_once", "interleaved_paced", ...: the name of an order's call in a trace. */
const char *xst_moe_trace_variant(const struct xst_moe_order *order);

/* Traces one call of each entry, all fused, with tiles of 128 rows, and different in schedule and store alone: facts say the rest
 * once for the whole trace. Nothing is checked. Freed with xst_trace_free. */
enum xst_status xst_moe_bench_trace(const struct xst_moe_bench *bench, const struct xst_moe_bench_entry *entries,
                                    size_t count, struct xst_trace *trace_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
