/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of each variant. One host thread drives all ranks; each rank has its device's stream.
 */
#include <math.h>

#include "fa_a2a/bench_state.h"

static const double WAIT_LIMIT_US = 5e6;

static struct xst_fa_a2a_call call_of(const struct xsti_fa_bench *b, int64_t r, int alone)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const struct xsti_fa_bench_rank *const rank = &b->ranks[r];
    const int64_t d = request->head_dim, row = b->heads * d;
    struct xst_fa_a2a_tensor tensors[3];
    for (int t = 0; t < 3; t++)
        tensors[t] = (struct xst_fa_a2a_tensor){rank->qkv[t], request->seq * row, row, d};
    return (struct xst_fa_a2a_call){
        .batch = request->batch,
        .seq = request->seq,
        .key_len = request->seq,
        .heads = b->heads,
        .heads_total = alone ? b->heads : request->heads_total,
        .head_first = alone ? 0 : r * b->heads,
        .head_dim = d,
        .rank = alone ? 0 : r,
        .ranks = alone ? 1 : request->ranks,
        .row_first = alone ? b->one_rank : b->row_first,
        .scale = 1 / sqrt((double)d),
        .q = tensors[0],
        .k = tensors[1],
        .v = tensors[2],
        .out = alone ? rank->local_out : b->out,
        .out_flip_bytes = alone ? 0 : b->flip,
        .control = alone ? rank->local_controls : b->control,
    };
}

int xsti_fa_bench_has_attention(enum xst_fa_a2a_variant variant)
{
    return variant != XST_FA_A2A_VARIANT_A2A_ONLY;
}

int xsti_fa_bench_has_exchange(enum xst_fa_a2a_variant variant)
{
    return variant != XST_FA_A2A_VARIANT_FA_ONLY;
}

int xsti_fa_bench_is_fused(enum xst_fa_a2a_variant variant)
{
    return variant >= XST_FA_A2A_VARIANT_ST16;
}

/* What a rank does in one call; with limit_us > 0 it also waits for the others. */
static enum xst_status call_variant(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                    double limit_us, const struct xsti_trace_ring *ring, struct xst_diag *diag)
{
    struct xsti_fa_bench_rank *const rank = &b->ranks[r];
    void *const stream = rank->kernels->device.stream;
    if (xsti_fa_bench_is_fused(variant)) {
        const struct xst_fa_a2a_call call = call_of(b, r, 0);
        struct xst_fa_a2a_choice choice = b->choice;
        choice.store = (enum xst_fa_a2a_store)(variant - XST_FA_A2A_VARIANT_ST16);
        return xsti_fa_launch(rank->kernels, &call, &choice, limit_us, ring, stream, diag);
    }
    if (xsti_fa_bench_has_attention(variant)) {
        const struct xst_fa_a2a_call alone = call_of(b, r, 1);
        XSTI_TRY(xst_fa_a2a_launch(rank->kernels, &alone, &b->alone, stream, diag));
    }
    if (xsti_fa_bench_has_exchange(variant)) {
        const struct xst_fa_a2a_call call = call_of(b, r, 0);
        return xsti_fa_push(rank->kernels, &call, rank->local, 2 * b->choice.ctas, limit_us, ring, stream, diag);
    }
    return XST_OK;
}

enum xst_status xsti_fa_bench_send(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   struct xst_diag *diag)
{
    return call_variant(b, r, variant, 0, NULL, diag);
}

enum xst_status xsti_fa_bench_call(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   const struct xsti_trace_ring *ring, struct xst_diag *diag)
{
    /* nobody sends to the one rank that runs alone */
    return call_variant(b, r, variant, b->active > 1 ? WAIT_LIMIT_US : 0, ring, diag);
}

enum xst_status xsti_fa_bench_wait(struct xsti_fa_bench *b, int64_t r, enum xst_fa_a2a_variant variant,
                                   struct xst_diag *diag)
{
    if (b->active == 1 || !xsti_fa_bench_has_exchange(variant))
        return XST_OK; /* nobody sends to the one rank that runs */
    const struct xst_fa_a2a_call call = call_of(b, r, 0);
    return xst_fa_a2a_wait(b->ranks[r].kernels, &call, WAIT_LIMIT_US, b->ranks[r].kernels->device.stream, diag);
}

enum xst_status xsti_fa_bench_enqueue(struct xsti_fa_bench *b, enum xst_fa_a2a_variant variant, int64_t calls,
                                      struct xst_diag *diag)
{
    for (int64_t i = 0; i < calls; i++)
        for (int64_t r = 0; r < b->active; r++)
            XSTI_TRY(xsti_fa_bench_call(b, r, variant, NULL, diag));
    return XST_OK;
}

enum xst_status xsti_fa_bench_finish(struct xsti_fa_bench *b, struct xst_diag *diag)
{
    for (int64_t r = 0; r < b->active; r++) {
        const struct xst_fa_a2a_call call = call_of(b, r, 0), alone = call_of(b, r, 1);
        void *const stream = b->ranks[r].kernels->device.stream;
        XSTI_TRY(xst_fa_a2a_status(b->ranks[r].kernels, &call, stream, diag));
        XSTI_TRY(xst_fa_a2a_status(b->ranks[r].kernels, &alone, stream, diag));
    }
    return XST_OK;
}
