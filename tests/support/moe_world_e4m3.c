/* SPDX-License-Identifier: Apache-2.0
 *
 * Worlds with e4m3 operands: the random numbers of the bf16 ones, quantised. Then each scale is multiplied by a power of two of its
 * own, which makes another problem of it, one whose neighbouring scales have little in common.
 */
#include "support/moe_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALED = 128 };

size_t moe_scale_count(const struct moe_world *world, int linear)
{
    if (world->layer.dtype != XST_MOE_E4M3)
        return 0;
    return (size_t)(world->layer.hidden / SCALED * (world->layer.inter / SCALED)) * (linear == 1 ? 2 : 1);
}

static void vary(float *scales, size_t count)
{
    for (size_t i = 0; i < count; i++)
        scales[i] = ldexpf(scales[i], (int)moe_pick(7) - 3);
}

/* Gate or up rows of an interleaved bf16 matrix. */
static void pick_rows(const uint16_t *w1, int64_t from, int64_t inter, int64_t hidden, uint16_t *rows_out)
{
    for (int64_t row = 0; row < inter; row++)
        memcpy(rows_out + row * hidden, w1 + (xsti_moe_gate_row(row) + from) * hidden, (size_t)hidden * 2);
}

static void quantise_w1(const struct moe_world *world, int64_t expert, uint8_t *values_out, float *scales_out)
{
    const int64_t hidden = world->layer.hidden, inter = world->layer.inter;
    const size_t matrix = (size_t)(inter * hidden);
    uint16_t *const rows = malloc(matrix * 2);
    uint8_t *const parts = malloc(2 * matrix);
    assert_true(rows && parts);
    for (int part = 0; part < 2; part++) {
        pick_rows(world->w1s[expert], 8 * part, inter, hidden, rows);
        xst_moe_quantise_blocks(rows, inter, hidden, parts + (size_t)part * matrix,
                                scales_out + (size_t)part * moe_scale_count(world, 1) / 2);
    }
    xst_moe_interleave_w1_e4m3(parts, parts + matrix, inter, hidden, values_out);
    free(rows);
    free(parts);
}

void moe_quantise_weights(struct moe_world *world)
{
    const size_t experts = (size_t)world->layer.experts, matrix = (size_t)(world->layer.inter * world->layer.hidden);
    const size_t one = moe_scale_count(world, 1), two = moe_scale_count(world, 2);
    world->w8.values = malloc(experts * 3 * matrix);
    world->w8.scales = malloc(experts * (one + two) * sizeof(float));
    assert_true(world->w8.values && world->w8.scales);
    for (size_t e = 0; e < experts; e++) {
        quantise_w1(world, (int64_t)e, world->w8.values + e * 2 * matrix, world->w8.scales + e * one);
        xst_moe_quantise_blocks(world->w2s[e], world->layer.hidden, world->layer.inter,
                                world->w8.values + (experts * 2 + e) * matrix,
                                world->w8.scales + experts * one + e * two);
    }
    vary(world->w8.scales, experts * (one + two));
}

void moe_quantise_rows(const struct moe_world *world, int64_t rank, struct moe_inputs *in)
{
    const int64_t hidden = world->layer.hidden, tokens = in->tokens[rank];
    const size_t scales = (size_t)(tokens * (hidden / SCALED));
    struct moe_quantised *const out = &in->x8[rank];
    out->values = malloc((size_t)(tokens * hidden) + 1);
    out->scales = malloc(scales * sizeof(float) + 1);
    assert_true(out->values && out->scales);
    xst_moe_quantise_rows(in->x[rank], tokens, hidden, out->values, out->scales);
    vary(out->scales, scales);
}

void moe_solve_e4m3(const struct moe_world *world, int64_t rank, struct moe_inputs *in)
{
    const struct xst_moe_layer *const layer = &world->layer;
    const size_t experts = (size_t)layer->experts, matrix = (size_t)(layer->inter * layer->hidden);
    const size_t one = moe_scale_count(world, 1), two = moe_scale_count(world, 2);
    const uint8_t **const values = calloc(2 * experts, sizeof *values);
    const float **const scales = calloc(2 * experts, sizeof *scales);
    assert_true(values && scales);
    for (size_t e = 0; e < experts; e++) {
        values[e] = world->w8.values + e * 2 * matrix;
        values[experts + e] = world->w8.values + (experts * 2 + e) * matrix;
        scales[e] = world->w8.scales + e * one;
        scales[experts + e] = world->w8.scales + experts * one + e * two;
    }
    const struct xsti_moe_problem_e4m3 problem = {layer->hidden,    layer->inter, layer->experts,
                                                  layer->topk,      world->clamp, values,
                                                  values + experts, scales,       scales + experts};
    assert_int_equal(xsti_moe_reference_e4m3(&problem, in->tokens[rank], in->x8[rank].values, in->x8[rank].scales,
                                             in->ids[rank], in->weights[rank], in->rounded[rank]),
                     0);
    free(values);
    free(scales);
}
