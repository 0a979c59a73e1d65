/* SPDX-License-Identifier: Apache-2.0
 *
 * fa_a2a_kernel.h - running attention fused with the exchange behind it (fa_a2a.h describes the same work for the audit).
 *
 * A rank holds all rows of its own heads, q, k, v (B, M, h, d) bf16, d contiguous. Row g of the output belongs to the rank p
 * with row_first[p] <= g < row_first[p + 1] and lands in p's tensor out_p (B, M_p, H, d) bf16, at head head_first + j for the
 * j-th head of the sender, packed. The kernel stores each finished tile there itself, while the next tile is computed.
 *
 * With ranks = 1 the same kernel is plain attention. Nothing is allocated here: the caller owns every buffer.
 */
#ifndef XSTAGE_FA_A2A_KERNEL_H
#define XSTAGE_FA_A2A_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XST_FA_A2A_MOST_RANKS = 72 };

/* How a finished tile leaves. X(NAME, text, meaning) */
#define XST_FA_A2A_STORE_MAP(X)                                                                                        \
    X(ST16, "st16", "16-byte stores by the warp that computed the rows, at the tile's end")                            \
    X(BULK, "bulk", "one bulk (TMA) store a row, at the tile's end")                                                   \
    X(PACED, "paced", "16-byte stores by a warp of their own, slice by slice while the next tile is computed")
enum xst_fa_a2a_store {
#define X(NAME, text, meaning) XST_FA_A2A_STORE_##NAME,
    XST_FA_A2A_STORE_MAP(X)
#undef X
};

/* (B, rows, heads, d) bf16 in device memory, d contiguous. Strides in elements, multiples of 8; address a multiple of 16. */
struct xst_fa_a2a_tensor {
    uint64_t address;
    int64_t batch_stride;
    int64_t row_stride;
    int64_t head_stride;
};

/* One rank's call.
 *
 * key_lens is read while the kernel runs and must not change meanwhile: a graph that is replayed follows what stands there then.
 * Numbers outside 0 .. key_len are taken as the nearer of the two. A batch without keys gives zeros, and minus infinity for lse. */
struct xst_fa_a2a_call {
    int64_t batch;
    int64_t seq;     /* M: query rows, all of them here */
    int64_t key_len; /* keys that take part; k and v have at least so many rows, what lies behind is never read */
    /* (B) int32 in memory the device reads: keys of each batch instead, 0 .. key_len; 0: key_len for all */
    uint64_t key_lens;
    int64_t heads;       /* h: of this rank */
    int64_t heads_total; /* H: of an output row */
    int64_t head_first;  /* where this rank's heads begin in an output row */
    int64_t head_dim;    /* d: 64 or 128 */
    int64_t rank;
    int64_t ranks;
    const int64_t *row_first; /* [ranks + 1], from 0 to seq, not falling: who owns which rows */
    double scale;             /* of the scores; positive */
    struct xst_fa_a2a_tensor q;
    struct xst_fa_a2a_tensor k;
    struct xst_fa_a2a_tensor v;
    const uint64_t *out;     /* [ranks]: out_p as mapped on this device, multiples of 16 */
    uint64_t out_flip_bytes; /* from one output buffer to the other, same for all ranks; 0: one buffer only */
    uint64_t lse;            /* (B, h, M) float, natural logarithm, stays here; 0: not wanted */
    const uint64_t
        *control;   /* [ranks]: control blocks as mapped on this device; only control[rank] is needed when ranks = 1 */
    uint64_t epoch; /* number of this call, from 1; 0: counted in the control block, so that graphs replay */
};

/* What the planner chose. */
struct xst_fa_a2a_choice {
    int64_t groups; /* warpgroups that compute, 64 rows of a tile each: 2 or 3 */
    enum xst_fa_a2a_store store;
    int64_t slices; /* paced: pieces that 16 rows of a tile leave in, 1, 2, 4, 8 or 16 */
    int64_t ctas;   /* of the persistent grid; at most one per SM */
    /* 1: CTAs 2 n and 2 n + 1 load keys and values for each other; d = 128, ctas even, and with key_lens an even number of
     * tiles in each batch of each step of the walk */
    int64_t pairs;
    /* paced: R of the path; slices of all CTAs leave at nine tenths of it at most. 0: not known */
    double drain_bytes_per_us;
    int64_t delay_ns; /* for tests: warpgroups sleep up to so long before each tile; else 0 */
};

/* Bytes of a control block: device memory, zero before the first call, one per rank, writable by all ranks. */
size_t xst_fa_a2a_control_bytes(void);

/* Where in it a fault is recorded: 4 bytes that are 0 while there is none, for who mirrors them to the host without waiting. */
size_t xst_fa_a2a_fault_offset(void);

/* Fills heads, heads_total, head_first, rank, ranks and row_first[0 .. ranks] (the caller's, ranks + 1 of them; call->row_first
 * then points to it) for an even split: XST_ERR_RANGE when heads_total is not a multiple of ranks. The first seq % ranks ranks
 * own one row more. */
enum xst_status xst_fa_a2a_call_split(struct xst_fa_a2a_call *call, int64_t heads_total, int64_t rank, int64_t ranks,
                                      int64_t *row_first, struct xst_diag *diag);

/* XST_ERR_RANGE or XST_ERR_USAGE with the field, its value and its bound. No device is asked. */
enum xst_status xst_fa_a2a_call_check(const struct xst_fa_a2a_call *call, const struct xst_fa_a2a_choice *choice,
                                      struct xst_diag *diag);

/* The choice a table of measured rates makes for a device with `sm_count` SMs: warpgroups by the fill of the last wave, paced
 * stores where other ranks own rows and there is more than one wave, else 16-byte stores at once, pairs with paced stores of long
 * sequences where they are allowed, one CTA per SM. Valid when the call's shape is; with key_lens row_first has to be there. */
struct xst_fa_a2a_choice xst_fa_a2a_choose(const struct xst_fa_a2a_call *call, int64_t sm_count);

/* The kernels, loaded on one device. */
struct xst_fa_a2a_kernels;

/* Opens device `ordinal` (its primary context, the one the CUDA run time uses) and loads the kernels. XST_ERR_UNAVAILABLE where
 * there is no driver, no such device, no Hopper, or a build without device code. */
enum xst_status xst_fa_a2a_open(int64_t ordinal, struct xst_fa_a2a_kernels **kernels_out, struct xst_diag *diag);
void xst_fa_a2a_close(struct xst_fa_a2a_kernels *kernels);
int64_t xst_fa_a2a_sm_count(const struct xst_fa_a2a_kernels *kernels);

/* Work is enqueued on `stream`, a CUstream or cudaStream_t (NULL: the legacy default stream), and nothing is waited for.
 *
 * launch   computes and stores; when it has finished on the stream, this rank's sources may be reused, and its peers have been
 *          told. What the peers sent may still be under way.
 * wait     ends when every peer's delivery of the latest launch's epoch is here, or after limit_us: then a fault is recorded.
 * run      launch and wait in one kernel: its last CTA stays until the peers have delivered, the others are gone by then.
 * push     the exchange alone: `source` is (B, M, h, d) bf16, contiguous; q, k, v, scale are not looked at. Same epochs.
 *
 * Buffers. Rank r may overwrite an output of call n only when its owner has read it. With two output buffers (out_flip_bytes)
 * call n writes buffer n % 2, and launch, wait, read on one stream is enough: an owner's launch of call n + 1 follows its
 * reads of call n, so whoever has waited for call n + 1 may launch call n + 2. With one buffer the ranks have to meet between
 * the last read and the next launch. Control blocks and outputs are freed only after all ranks' streams have been waited for. */
enum xst_status xst_fa_a2a_launch(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                                  const struct xst_fa_a2a_choice *choice, void *stream, struct xst_diag *diag);
enum xst_status xst_fa_a2a_wait(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, double limit_us,
                                void *stream, struct xst_diag *diag);
enum xst_status xst_fa_a2a_run(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                               const struct xst_fa_a2a_choice *choice, double limit_us, void *stream,
                               struct xst_diag *diag);
enum xst_status xst_fa_a2a_push(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, uint64_t source,
                                int64_t ctas, void *stream, struct xst_diag *diag);

/* Waits for `stream` and reads what this rank's kernels recorded: XST_ERR_TIMEOUT when a wait ran out, with who waited for whom,
 * in which phase, what was expected and what was seen. The record is cleared. */
enum xst_status xst_fa_a2a_status(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, void *stream,
                                  struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
