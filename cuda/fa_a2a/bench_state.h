/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_state.h - what a benchmark holds: ranks, buffers, and the calls made with them.
 */
#ifndef XST_FA_A2A_BENCH_STATE_H
#define XST_FA_A2A_BENCH_STATE_H

#include <xstage/fa_a2a_bench.h>

#include "fa_a2a/kernels.h"

enum { XSTI_FA_BENCH_RANKS = 8 };

/* A rank that runs. */
struct xsti_fa_bench_rank {
    struct xst_fa_a2a_kernels *kernels;
    CUdeviceptr qkv[3], local;
    CUdeviceptr local_control; /* of the calls with one rank */
    uint64_t local_out[1], local_controls[1];
    CUevent begin, middle, end;
};

struct xsti_fa_bench {
    const struct xst_fa_a2a_bench *request;
    int64_t active; /* ranks that run: all (peer) or one */
    int64_t heads;
    int64_t row_first[XSTI_FA_BENCH_RANKS + 1], one_rank[2];
    size_t out_bytes[XSTI_FA_BENCH_RANKS]; /* of one buffer */
    size_t in_bytes;                       /* of q, k, v or the local output */
    uint64_t flip;
    uint64_t out[XSTI_FA_BENCH_RANKS], control[XSTI_FA_BENCH_RANKS];
    struct xsti_pinned pinned[XSTI_FA_BENCH_RANKS];
    struct xsti_fa_bench_rank ranks[XSTI_FA_BENCH_RANKS];
    struct xst_fa_a2a_choice choice, alone; /* fused; attention in a kernel of its own */
    uint16_t *host[3];                      /* rank 0's q, k, v */
};

/* Devices, inputs, outputs, control blocks of a checked request. `b` is zero but for `request`; close it whatever comes back. */
enum xst_status xsti_fa_bench_open(struct xsti_fa_bench *b, struct xst_diag *diag);
void xsti_fa_bench_close(struct xsti_fa_bench *b);

/* What a variant is made of. */
int xsti_fa_bench_has_attention(enum xst_fa_a2a_variant variant);
int xsti_fa_bench_has_exchange(enum xst_fa_a2a_variant variant);
int xsti_fa_bench_is_fused(enum xst_fa_a2a_variant variant);

/* What rank r does in one call: both in one kernel where several ranks run; `ring` may be NULL. */
enum xst_status xsti_fa_bench_call(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   const struct xsti_trace_ring *ring, struct xst_diag *diag);

/* The same in two steps: send, then (several ranks) wait for the others. */
enum xst_status xsti_fa_bench_send(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   struct xst_diag *diag);
enum xst_status xsti_fa_bench_wait(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   struct xst_diag *diag);

/* All ranks, `calls` times; nothing is waited for. Then: waits for all streams, faults are errors. */
enum xst_status xsti_fa_bench_enqueue(struct xsti_fa_bench *b, enum xst_fa_a2a_variant variant, int64_t calls,
                                      struct xst_diag *diag);
enum xst_status xsti_fa_bench_finish(struct xsti_fa_bench *b, struct xst_diag *diag);

/* Every variant's bytes against attention followed by the exchange, sampled rows of that against the plain reference.
 * XST_ERR_DEVICE names the first difference. */
enum xst_status xsti_fa_bench_check(struct xsti_fa_bench *b, struct xst_diag *diag);

#endif
