/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_kernel.h - running a mixture-of-experts layer in one kernel: dispatch, Linear 1, gated activation, Linear 2, combine
 * (moe.h describes the same work for the audit).
 *
 * Rank r of P holds experts [first_r, end_r) of the model (xst_moe_experts_of) and its own tokens. The kernel fetches the rows
 * that chose its experts from the ranks they live on, computes, and stores each result row straight into the slot
 * (token, choice) of its owner's combine buffer; the owner then sums the slots of a token in ascending order of choice:
 *
 *     y[t] = sum_s W2[e] ( weight[t, s] * silu(min(g, c)) * clamp(u, -c, c) ),  (g, u) = W1[e] x[t],  e = ids[t, s] >= 0
 *
 * bf16 in and out, fp32 sums; each slot is rounded to bf16 once. The result does not depend on the schedule, bit for bit.
 *
 * With e4m3 (FP8) operands x, weights and the activations between the layers are 8-bit floats with a float scale for every 128
 * values of a row, of the weights for every 128 x 128 values: value = scale * e4m3. The activations are quantised by the kernel, each
 * 128 of a row by their largest. Slots and y stay bf16.
 *
 * What other ranks read and write lies in one symmetric buffer a rank, of the same layout everywhere. Nothing is allocated here.
 */
#ifndef XSTAGE_MOE_KERNEL_H
#define XSTAGE_MOE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/moe.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XST_MOE_MOST_RANKS = 8, XST_MOE_MOST_TOPK = 16, XST_MOE_MOST_LOCAL_EXPERTS = 512 };

/* How a finished Linear-2 tile leaves. X(NAME, text, meaning) */
#define XST_MOE_STORE_MAP(X)                                                                                           \
    X(AT_ONCE, "at_once", "16-byte stores by the warps that computed the rows, at the tile's end")                     \
    X(PACED, "paced", "bulk stores of row segments, in slices over the next tile's inner loop")
enum xst_moe_store {
#define X(NAME, text, meaning) XST_MOE_STORE_##NAME,
    XST_MOE_STORE_MAP(X)
#undef X
};

/* What becomes of a row whose token chose several experts of a rank. X(NAME, text, meaning) */
#define XST_MOE_DEDUP_MAP(X)                                                                                           \
    X(AUTO, "auto", "on where tokens have several choices, of which there are many (xst_moe_dedup_of)")                \
    X(ON, "on", "fetched once, for all of them")                                                                       \
    X(OFF, "off", "fetched for each of them")
enum xst_moe_dedup {
#define X(NAME, text, meaning) XST_MOE_DEDUP_##NAME,
    XST_MOE_DEDUP_MAP(X)
#undef X
};
const char *xst_moe_dedup_text(enum xst_moe_dedup dedup);

/* Type of x and weights. X(NAME, text, bytes) */
#define XST_MOE_DTYPE_MAP(X)                                                                                           \
    X(BF16, "bf16", 2)                                                                                                 \
    X(E4M3, "e4m3", 1)
enum xst_moe_dtype {
#define X(NAME, text, bytes) XST_MOE_##NAME,
    XST_MOE_DTYPE_MAP(X)
#undef X
};
const char *xst_moe_dtype_text(enum xst_moe_dtype dtype);

/* What is fixed for the life of a symmetric buffer, and the same on all ranks. */
struct xst_moe_layer {
    int64_t hidden;      /* H: a multiple of 128 */
    int64_t inter;       /* I: a multiple of 64; e4m3: of 128 */
    int64_t experts;     /* of the model; expert e lives on the rank xst_moe_experts_of says */
    int64_t topk;        /* 1 .. XST_MOE_MOST_TOPK */
    int64_t tokens_most; /* a rank may bring 0 .. tokens_most tokens to a call */
    int64_t ranks;       /* 1 .. XST_MOE_MOST_RANKS */
    int64_t ctas;        /* of the persistent grid, at most one per SM; the one field that ranks may differ in */
    enum xst_moe_dtype dtype;
    /* Rows the pools hold, a multiple of 64: blocks take the places of finished ones (xst_moe_ring_blocks says how many an order needs;
     * some more let rows come early). 0, or as many as the worst routing needs: all blocks. With a ring there are no unfused
     * calls. */
    int64_t ring;
};

/* Where the parts of a symmetric buffer are, in bytes from its start. The caller writes its tokens' rows, ids and weights. */
struct xst_moe_layout {
    uint64_t bytes;    /* of the buffer; zero before the first call, address a multiple of 1024 */
    uint64_t x;        /* (tokens_most, hidden) of the layer's type */
    uint64_t ids;      /* (tokens_most, topk) int64: the expert, negative: this choice is void */
    uint64_t weights;  /* (tokens_most, topk) float */
    uint64_t combine;  /* (tokens_most, topk, hidden) bf16, written by all ranks */
    uint64_t control;  /* flags, counters, fault record */
    uint64_t x_scales; /* e4m3: (tokens_most, hidden / 128) float, positive, of 128 values of a row each */
};

/* One rank's call. */
struct xst_moe_call {
    struct xst_moe_layer layer;
    int64_t rank;
    int64_t tokens;          /* of this rank, now */
    double clamp;            /* c of the formula, positive; 0: none */
    uint64_t w1;             /* (local experts, 2 inter, hidden), rows interleaved (xst_moe_interleave_w1) */
    uint64_t w2;             /* (local experts, hidden, inter) */
    uint64_t y;              /* (tokens, hidden) bf16; may be 0 with 0 tokens */
    const uint64_t *buffers; /* [ranks]: symmetric buffers as mapped on this device */
    const uint64_t *combine; /* [ranks] instead of buffers[p] + layout.combine, e.g. in host memory; NULL: there */
    double limit_us;         /* of a wait for another rank; 0: two seconds */
    uint64_t w1_scales;      /* e4m3: (local experts, 2, inter / 128, hidden / 128) float > 0: gate's, then up's */
    uint64_t w2_scales;      /* e4m3: (local experts, hidden / 128, inter / 128) float > 0 */
};

/* A rank's tokens as a model has them, in device memory. */
struct xst_moe_tokens {
    uint64_t x;       /* (tokens, hidden) bf16, a multiple of 16 */
    int64_t x_stride; /* from row to row, in elements: a multiple of 8, at least hidden */
    uint64_t ids;     /* (tokens, topk) */
    int64_t id_bytes; /* 4: int32, 8: int64 */
    uint64_t weights; /* (tokens, topk) float */
};

/* How a call is carried out. Ranks may differ in all of it. */
struct xst_moe_order {
    enum xst_schedule schedule;
    /* interleaved: Linear-1 tiles ahead, at least 1; raised where a Linear-2 tile would come before its block's Linear-1 tiles */
    int64_t lead;
    int64_t group; /* interleaved: Linear-2 tiles in a row, at least 1 */
    /* 64, 128, or 256: then two CTAs share a tile's weights, ctas is even, and the order of tiles is that of half as many CTAs */
    int64_t tile_rows;
    enum xst_moe_store store;
    int64_t slices;   /* paced: pieces a tile leaves in, 1, 2, 4, 8 */
    int64_t delay_ns; /* for tests: roles sleep up to so long before each task; else 0 */
    int64_t seed;     /* of the delays */
    int64_t unit;     /* blocks of one expert whose tiles of a column follow each other (moe.h); 0, 1: block by block */
    enum xst_moe_dedup dedup;
};

/* What AUTO comes to for this layer. */
enum xst_moe_dedup xst_moe_dedup_of(const struct xst_moe_layer *layer, const struct xst_moe_order *order);

/* Blocks of order->tile_rows rows that a ring has to hold, whatever the routing: from the first Linear-1 tile of a block to the last
 * Linear-2 tile of another. Waves are cut to what the ring holds. The layer and the order have been checked. */
int64_t xst_moe_ring_blocks(const struct xst_moe_layer *layer, const struct xst_moe_order *order);

/* Fills the layout; XST_ERR_RANGE with the field, its value and its bound. No device is asked. */
enum xst_status xst_moe_layout(const struct xst_moe_layer *layer, struct xst_moe_layout *layout_out,
                               struct xst_diag *diag);

/* The same words for a call. No device is asked. */
enum xst_status xst_moe_call_check(const struct xst_moe_call *call, const struct xst_moe_order *order,
                                   struct xst_diag *diag);

/* Rows of one expert's gate and up matrices, (inter, hidden) bf16 each in host memory, interleaved 8 gate, 8 up, 8 gate, ... into
 * w1_out (2 inter, hidden): row 16 i + j is gate row 8 i + j for j < 8, up row 8 i + j - 8 else. */
void xst_moe_interleave_w1(const uint16_t *gate, const uint16_t *up, int64_t inter, int64_t hidden, uint16_t *w1_out);

/* The same of e4m3 matrices, which are quantised before. */
void xst_moe_interleave_w1_e4m3(const uint8_t *gate, const uint8_t *up, int64_t inter, int64_t hidden, uint8_t *w1_out);

/* (rows, columns) bf16 in host memory to e4m3, columns a multiple of 128: each 128 values of a row get the scale that makes the
 * largest of them 448, and at least 2^-40; scales_out (rows, columns / 128). Infinities and NaN become NaN. */
void xst_moe_quantise_rows(const uint16_t *values, int64_t rows, int64_t columns, uint8_t *values_out,
                           float *scales_out);

/* The same for each 128 x 128 values, rows a multiple of 128 too; scales_out (rows / 128, columns / 128). */
void xst_moe_quantise_blocks(const uint16_t *values, int64_t rows, int64_t columns, uint8_t *values_out,
                             float *scales_out);

struct xst_moe_kernels;

/* Opens device `ordinal` (its primary context) and loads the kernels. XST_ERR_UNAVAILABLE where there is no driver, no such
 * device, no Hopper, or a build without device code. */
enum xst_status xst_moe_open(int64_t ordinal, struct xst_moe_kernels **kernels_out, struct xst_diag *diag);
void xst_moe_close(struct xst_moe_kernels *kernels);
int64_t xst_moe_sm_count(const struct xst_moe_kernels *kernels);

/* Enqueues what writes a call's rows, ids and weights into the rank's buffer: one launch, in front of the call. With e4m3 the rows
 * are quantised on the way, with the bits of xst_moe_quantise_rows. Whoever computes rows may as well store them there. */
enum xst_status xst_moe_bring(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                              const struct xst_moe_tokens *tokens, void *stream, struct xst_diag *diag);

/* Work is enqueued on `stream` (a CUstream or cudaStream_t), nothing is waited for, nothing needs clearing between calls, and
 * graphs replay. All ranks make the same sequence of calls. When the work has finished on a rank's stream, its y is there, its
 * peers have read its x, ids and weights, and all of them may be rewritten.
 *
 * fused    one kernel.
 * unfused  the same tiles as separate kernels: dispatch, grouped GEMM, activation, grouped GEMM (results stay here), combine
 *          (results sent, then summed). Bitwise the same y.
 * absent   what a rank that takes no part in the computing owes its peers: its tokens are counted, listed and fetched, and the
 *          barrier is met; its experts' rows are not computed and its y is not written. For machines with one device, where
 *          peers stand in memory only (`ctas` of this kernel: few). */
enum xst_status xst_moe_fused(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                              const struct xst_moe_order *order, void *stream, struct xst_diag *diag);
enum xst_status xst_moe_unfused(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                const struct xst_moe_order *order, void *stream, struct xst_diag *diag);
enum xst_status xst_moe_absent(struct xst_moe_kernels *kernels, const struct xst_moe_call *call, void *stream,
                               struct xst_diag *diag);

/* Waits for `stream` and reads what this rank's kernels recorded: XST_ERR_TIMEOUT when a wait ran out, with role, CTA, peer,
 * phase, what was expected and what was seen; XST_ERR_RANGE when an id was not below experts. The record is cleared. A buffer
 * whose wait ran out is zeroed on all ranks before it is used again. */
enum xst_status xst_moe_status(struct xst_moe_kernels *kernels, const struct xst_moe_call *call, void *stream,
                               struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
