/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_state.h - what a benchmark holds: devices, groups of ranks with their buffers, and the calls made with them.
 */
#ifndef XST_MOE_BENCH_STATE_H
#define XST_MOE_BENCH_STATE_H

#include <xstage/moe_bench.h>

#include "moe/kernels.h"

/* Random values of one kind: on the host, from where the reference takes them, and repeated over the tensors on the devices.
 * Its length is odd, so that equal rows of a tensor lie far apart. */
enum { XSTI_MOE_POOL_VALUES = 4194301 };
enum xsti_moe_pool {
    XSTI_MOE_POOL_X,
    XSTI_MOE_POOL_W1,
    XSTI_MOE_POOL_W2,
    XSTI_MOE_POOL_X_SCALES, /* these with e4m3 alone */
    XSTI_MOE_POOL_W1_SCALES,
    XSTI_MOE_POOL_W2_SCALES,
    XSTI_MOE_POOL_COUNT
};

/* Ranks that call each other: all of the machine's, or one rank by itself. */
struct xsti_moe_bench_group {
    struct xst_moe_layer layer;
    struct xst_moe_layout at;
    int64_t active; /* ranks that compute; one behind them may be absent */
    int first_device;
    int64_t first_expert[XST_MOE_MOST_RANKS]; /* number of a rank's first expert in the model's weights */
    int64_t tokens[XST_MOE_MOST_RANKS];
    int64_t first_token[XST_MOE_MOST_RANKS]; /* number of a rank's first token in the random values */
    int64_t *ids[XST_MOE_MOST_RANKS];        /* rank by rank, (tokens, topk) */
    float *weights[XST_MOE_MOST_RANKS];
    CUdeviceptr memory[XST_MOE_MOST_RANKS]; /* the buffers lie in it, aligned */
    uint64_t buffers[XST_MOE_MOST_RANKS], combine[XST_MOE_MOST_RANKS];
    struct xsti_pinned pinned; /* combine of the absent rank */
};

/* A device that computes. */
struct xsti_moe_bench_device {
    struct xst_moe_kernels *kernels;
    CUdeviceptr w1, w2, w1_scales, w2_scales, y;
    CUstream absent_stream;
    CUevent begin, end;
};

struct xsti_moe_bench_state {
    const struct xst_moe_bench *request;
    const struct xst_moe_bench_entry *entries;
    size_t entry_count;
    int64_t devices;
    struct xsti_moe_bench_device device[XST_MOE_MOST_RANKS];
    struct xsti_moe_bench_group main;
    struct xsti_moe_bench_group alone[XST_MOE_MOST_RANKS]; /* one rank each, with the rows of `main`; where asked for */
    int has_alone;
    int64_t *counts; /* rows per expert of the model */
    unsigned char *pools[XSTI_MOE_POOL_COUNT];
};

/* Groups of a checked request: who has which tokens and which experts they choose. No device is asked. `b` is zero but for
 * request, entries, entry_count; close it whatever comes back. */
enum xst_status xsti_moe_bench_plan(struct xsti_moe_bench_state *b, struct xst_diag *diag);

/* Rows of the main group that a rank's experts return to other ranks. */
int64_t xsti_moe_bench_sent_rows(const struct xsti_moe_bench_state *b, int64_t rank);

/* Of a row of x, with its scales. */
double xsti_moe_bench_row_bytes(const struct xst_moe_bench *request);

/* Of rank 0: rows it sends back, bf16, and rows its peers fetch from it, with their scales (an absent rank fetches nothing); rows
 * that it fetches for its experts, its own too. once: a token's row for all of its choices on a rank. */
double xsti_moe_bench_remote_bytes(const struct xsti_moe_bench_state *b, int once);
double xsti_moe_bench_pulled_bytes(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                   int once);

/* Devices and buffers of the groups. */
enum xst_status xsti_moe_bench_open(struct xsti_moe_bench_state *b, struct xst_diag *diag);
void xsti_moe_bench_close(struct xsti_moe_bench_state *b);

/* Bytes of a value. */
size_t xsti_moe_bench_value_bytes(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool);

/* `count` values of a tensor from its value number `first` on. */
void xsti_moe_bench_values(const struct xsti_moe_bench_state *b, enum xsti_moe_pool pool, uint64_t first, size_t count,
                           void *values_out);

/* CTAs of the absent rank: enough that nobody waits for it to list its tokens; 0 without one. */
int64_t xsti_moe_bench_absent_ctas(const struct xsti_moe_bench_state *b);

struct xst_moe_call xsti_moe_bench_call(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                        int64_t rank);

/* One entry `calls` times on all devices; nothing is waited for. Then: waits for all streams, faults are errors. */
enum xst_status xsti_moe_bench_enqueue(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry,
                                       int64_t calls, struct xst_diag *diag);
/* One call of the main group by kernels that leave a trace: rings[r] of the ranks that compute. */
enum xst_status xsti_moe_bench_enqueue_traced(struct xsti_moe_bench_state *b, const struct xst_moe_bench_entry *entry,
                                              const struct xsti_trace_ring *rings, struct xst_diag *diag);
enum xst_status xsti_moe_bench_finish(struct xsti_moe_bench_state *b, struct xst_diag *diag);

/* Every entry's bytes against the first of its group, that one's sums against its slots, sampled slots against the plain
 * reference. XST_ERR_DEVICE names the first difference. */
enum xst_status xsti_moe_bench_verify(struct xsti_moe_bench_state *b, struct xst_diag *diag);

#endif
