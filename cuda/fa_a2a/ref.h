/* SPDX-License-Identifier: Apache-2.0
 *
 * ref.h - the plain answer: attention by the definition, and the exchange as a loop. Obviously right, slow.
 */
#ifndef XST_FA_A2A_REF_H
#define XST_FA_A2A_REF_H

#include <stdint.h>

#include "base/bf16.h"

/* Contiguous (batch, rows, heads, head_dim) tensors; k and v have key_rows rows of which the first key_len take part, or
 * key_lens[batch]. No key at all: zeros, and minus infinity for lse. */
struct xsti_fa_problem {
    int64_t batch;
    int64_t seq;
    int64_t key_rows;
    int64_t key_len;
    int64_t heads;
    int64_t head_dim;
    double scale;
    const int32_t *key_lens; /* NULL: key_len for all */
};

/* In double precision from the bf16 inputs. lse (batch, heads, seq) may be NULL. XST_ERR_MEMORY is the only failure: -1. */
int xsti_fa_reference(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                      float *out, float *lse);

/* The same with every intermediate rounded to bf16 and the scale applied to k: the error a careful bf16 program may make. */
int xsti_fa_reference_bf16(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k,
                           const uint16_t *v, float *out);

/* FlashAttention's rule: largest error at most twice that of `rounded` plus the cost of one rounding. Answers the largest error;
 * *bound_out is what is allowed. */
double xsti_fa_error(const uint16_t *got, const float *reference, const float *rounded, int64_t count,
                     double *bound_out);

/* One sender's part of the exchange: its o (batch, seq, heads, head_dim) into every owner's
 * outs[p] (batch, row_first[p + 1] - row_first[p], heads_total, head_dim). */
void xsti_fa_exchange(const struct xsti_fa_problem *problem, const uint16_t *o, int64_t ranks, const int64_t *row_first,
                      int64_t heads_total, int64_t head_first, uint16_t *const *outs);

#endif
