/* SPDX-License-Identifier: Apache-2.0
 *
 * The plain reference against answers known beforehand, the interleaved order of gate and up, and the two measures of error.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/moe_kernel.h>

#include "moe/ref.h"

enum { H = 16, I = 8, E = 3, K = 2 };

static void interleaving(void **state)
{
    enum { INTER = 24, HIDDEN = 3 };
    uint16_t gate[INTER * HIDDEN], up[INTER * HIDDEN], both[2 * INTER * HIDDEN];
    (void)state;
    for (int i = 0; i < INTER * HIDDEN; i++) {
        gate[i] = (uint16_t)i;
        up[i] = (uint16_t)(1000 + i);
    }
    xst_moe_interleave_w1(gate, up, INTER, HIDDEN, both);
    for (int row = 0; row < 2 * INTER; row++) {
        const int i = row / 16, j = row % 16, is_up = j >= 8;
        for (int c = 0; c < HIDDEN; c++)
            assert_int_equal(both[row * HIDDEN + c], (is_up ? 1000 : 0) + (8 * i + j % 8) * HIDDEN + c);
    }
}

/* Gate reads x[0] times `gate`, up reads x[1], Linear 2 copies column c of the activation to columns c and c + 8, times `out`. */
struct layer {
    uint16_t w1[E][2 * I * H], w2[E][H * I];
    const uint16_t *w1s[E], *w2s[E];
    struct xsti_moe_problem problem;
};

static void make_layer(struct layer *layer, const float gate[E], const float out[E], double clamp)
{
    uint16_t gates[I * H], ups[I * H];
    memset(layer, 0, sizeof *layer);
    for (int e = 0; e < E; e++) {
        memset(gates, 0, sizeof gates);
        memset(ups, 0, sizeof ups);
        for (int column = 0; column < I; column++) {
            gates[column * H] = xsti_float_to_bf16(gate[e]);
            ups[column * H + 1] = xsti_float_to_bf16((float)(column + 1));
            layer->w2[e][column * I + column] = xsti_float_to_bf16(out[e]);
            layer->w2[e][(column + 8) * I + column] = xsti_float_to_bf16(out[e]);
        }
        xst_moe_interleave_w1(gates, ups, I, H, layer->w1[e]);
        layer->w1s[e] = layer->w1[e];
        layer->w2s[e] = layer->w2[e];
    }
    layer->problem = (struct xsti_moe_problem){H, I, E, K, clamp, layer->w1s, layer->w2s};
}

/* silu(64) is 64 in double; sums are short. Token 0: both choices; 1: one void; 2: both void; 3: the same expert twice. */
static void known_answers(void **state)
{
    static const float gate[E] = {64, 64, 0}, out[E] = {1, -2, 1};
    static const int64_t ids[4 * K] = {0, 1, -1, 0, -5, -1, 1, 1};
    static const float weights[4 * K] = {0.5f, 0.25f, 9, 1, 1, 1, 0.5f, 0.25f};
    struct layer layer;
    uint16_t x[4 * H] = {0};
    double y[4 * H];
    (void)state;
    for (int t = 0; t < 4; t++) {
        x[t * H] = xsti_float_to_bf16(1);
        x[t * H + 1] = xsti_float_to_bf16((float)(t + 1));
    }
    for (int rounding = 0; rounding < 2; rounding++) {
        make_layer(&layer, gate, out, 0);
        assert_int_equal(xsti_moe_reference(&layer.problem, (enum xsti_moe_rounding)rounding, 4, x, ids, weights, y),
                         0);
        for (int c = 0; c < H; c++) {
            const double up = c % 8 + 1;
            xt_near(y[0 * H + c], 64 * up * (0.5 * 1 + 0.25 * -2), 1e-9);
            xt_near(y[1 * H + c], 64 * 2 * up, 1e-9);
            xt_near(y[2 * H + c], 0, 0);
            xt_near(y[3 * H + c], 64 * 4 * up * (0.5 + 0.25) * -2, 1e-9);
        }
    }
}

static void clamps(void **state)
{
    static const float gate[E] = {64, -64, 1}, out[E] = {1, 1, 1};
    static const int64_t ids[3 * K] = {0, -1, 1, -1, 2, -1};
    static const float weights[3 * K] = {1, 0, 1, 0, 1, 0};
    const double silu10 = 10 / (1 + exp(-10.0)), silu1 = 1 / (1 + exp(-1.0));
    struct layer layer;
    uint16_t x[3 * H] = {0};
    double y[3 * H];
    (void)state;
    for (int t = 0; t < 3; t++) {
        x[t * H] = xsti_float_to_bf16(1);
        x[t * H + 1] = xsti_float_to_bf16(-4);
    }
    make_layer(&layer, gate, out, 10);
    assert_int_equal(xsti_moe_reference(&layer.problem, XSTI_MOE_EXACT, 3, x, ids, weights, y), 0);
    for (int c = 0; c < H; c++) {
        const double up = fmax(-4.0 * (c % 8 + 1), -10);
        xt_near(y[c], silu10 * up, 1e-9);
        xt_near(y[H + c], -64 / (1 + exp(64.0)) * up, 1e-30); /* a gate is not clamped from below */
        xt_near(y[2 * H + c], silu1 * up, 1e-9);
    }
}

/* Where a value falls between two bf16 numbers: the rounded answer is on one of them, the exact one is not. */
static void rounding_points(void **state)
{
    static const float gate[E] = {64, 64, 64}, out[E] = {1, 1, 1};
    static const int64_t ids[K] = {0, 1};
    static const float weights[K] = {1.00390625f, 1}; /* 64 * 1.00390625 is a tie between 64 and 64.5 */
    struct layer layer;
    uint16_t x[H] = {0};
    double exact[H], as_bf16[H];
    (void)state;
    x[0] = x[1] = xsti_float_to_bf16(1);
    make_layer(&layer, gate, out, 0);
    assert_int_equal(xsti_moe_reference(&layer.problem, XSTI_MOE_EXACT, 1, x, ids, weights, exact), 0);
    assert_int_equal(xsti_moe_reference(&layer.problem, XSTI_MOE_AS_BF16, 1, x, ids, weights, as_bf16), 0);
    xt_near(exact[0], 128.25, 1e-9);
    xt_near(as_bf16[0], 128, 0);
}

static void measures_of_error(void **state)
{
    const double want[8] = {1, 2, 3, 4, 0, 0, 0, 0};
    uint16_t got[8] = {0};
    (void)state;
    for (int i = 0; i < 4; i++)
        got[i] = xsti_float_to_bf16((float)want[i]);
    xt_near(xsti_moe_difference(got, want, 8), 0, 0);
    xt_near(xsti_moe_row_error(got, want, 2, 4), 0, 0);
    xt_near(xsti_moe_difference(got, want, 0), 0, 0);
    got[3] = xsti_float_to_bf16(5);
    xt_near(xsti_moe_difference(got, want, 8), 1 / (30.0 + 39.0), 1e-12);
    xt_near(xsti_moe_row_error(got, want, 2, 4), 1 / sqrt(30.0), 1e-12);
    got[5] = 1;
    assert_true(isinf(xsti_moe_row_error(got, want, 2, 4)));
    got[0] = 0xffff;
    assert_true(isnan(xsti_moe_difference(got, want, 8)));
    assert_true(isnan(xsti_moe_row_error(got, want, 2, 4)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaving),    cmocka_unit_test(known_answers),     cmocka_unit_test(clamps),
        cmocka_unit_test(rounding_points), cmocka_unit_test(measures_of_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
