/* SPDX-License-Identifier: Apache-2.0
 *
 * ref.h - the plain answer: every token's experts one after the other, as the formula of moe_kernel.h says. Obviously right, slow.
 */
#ifndef XST_MOE_REF_H
#define XST_MOE_REF_H

#include <stdint.h>

#include "base/bf16.h"

/* A layer as one device would hold it: all experts of the model. */
struct xsti_moe_problem {
    int64_t hidden;
    int64_t inter;
    int64_t experts;
    int64_t topk;
    double clamp; /* 0: none */
    /* Weights of expert e, in the kernel's form: (2 inter, hidden) interleaved, (hidden, inter). */
    const uint16_t *const *w1;
    const uint16_t *const *w2;
};

/* Where results are rounded on the way. */
enum xsti_moe_rounding {
    XSTI_MOE_EXACT,  /* nowhere: double throughout */
    XSTI_MOE_AS_BF16 /* where the kernel does: gate and up, activation, slot and y to bf16 */
};

/* y (tokens, hidden) of x (tokens, hidden), ids and weights (tokens, topk); ids < 0 are void. Tokens are computed in parallel where
 * the build has OpenMP. -1 without memory. */
int xsti_moe_reference(const struct xsti_moe_problem *problem, enum xsti_moe_rounding rounding, int64_t tokens,
                       const uint16_t *x, const int64_t *ids, const float *weights, double *y);

/* The same layer with e4m3 operands. Scales of expert e: w1 (2, inter / 128, hidden / 128), w2 (hidden / 128, inter / 128). */
struct xsti_moe_problem_e4m3 {
    int64_t hidden;
    int64_t inter;
    int64_t experts;
    int64_t topk;
    double clamp;
    const uint8_t *const *w1;
    const uint8_t *const *w2;
    const float *const *w1_scales;
    const float *const *w2_scales;
};

/* x (tokens, hidden) with x_scales (tokens, hidden / 128). Quantised and rounded where the kernel does: gate and up to bf16, the
 * activations to e4m3 with a scale for each 128 of a row, slot and y to bf16; sums in double. */
int xsti_moe_reference_e4m3(const struct xsti_moe_problem_e4m3 *problem, int64_t tokens, const uint8_t *x,
                            const float *x_scales, const int64_t *ids, const float *weights, double *y);

/* silu(min(gate, clamp)) * clamp(up) * weight. */
double xsti_moe_activation(double clamp, double gate, double up, double weight);

/* Row of column `column`'s gate in the interleaved matrix; its up is eight rows further. */
int64_t xsti_moe_gate_row(int64_t column);

/* How far `got` is from `want`, as 1 - 2 <x, y> / (|x|^2 + |y|^2): 0 for equal, and NaN when a value is. */
double xsti_moe_difference(const uint16_t *got, const double *want, int64_t count);

/* Largest |got - want| / |want| of a row; a row of zeros has to be zero, else the answer is infinite. */
double xsti_moe_row_error(const uint16_t *got, const double *want, int64_t rows, int64_t hidden);

#endif
