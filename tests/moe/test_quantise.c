/* SPDX-License-Identifier: Apache-2.0
 *
 * bf16 to e4m3 with scales, and a layer with e4m3 operands against the same layer without: as far from it as 8 bits are.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/moe_kernel.h>

#include "base/e4m3.h"
#include "moe/ref.h"

enum { H = 256, I = 128, E = 2, K = 2, T = 6, S = 128 };

static uint64_t state_of_noise = 7;

static float noise(void)
{
    state_of_noise = state_of_noise * 6364136223846793005u + 1442695040888963407u;
    return (float)(state_of_noise >> 40) / (float)(1 << 23) - 1;
}

static void fill(uint16_t *values, size_t count, float size)
{
    for (size_t i = 0; i < count; i++)
        values[i] = xsti_float_to_bf16(noise() * size);
}

/* Every value within half a step of what it became; a largest value of 448 in every row. */
static void rows(void **state)
{
    static uint16_t values[3 * H];
    static uint8_t got[3 * H];
    float scales[3 * H / S];
    (void)state;
    fill(values, 3 * H, 10);
    memset(values + H, 0, S * sizeof *values); /* row 1, first half */
    xst_moe_quantise_rows(values, 3, H, got, scales);
    for (int part = 0; part < 3 * H / S; part++) {
        float most = 0;
        int largest = 0;
        for (int i = part * S; i < (part + 1) * S; i++) {
            const float value = xsti_bf16_to_float(values[i]), back = xsti_e4m3_to_float(got[i]) * scales[part];
            most = fmaxf(most, fabsf(value));
            largest = (got[i] & 0x7f) > largest ? got[i] & 0x7f : largest;
            assert_true(fabsf(value - back) <= fmaxf(fabsf(value) / 16, scales[part] / 1024) * 1.0001f);
        }
        assert_int_equal(largest, most > 0 ? 0x7e : 0);
        xt_near(scales[part], most > 0 ? most / 448 : ldexp(1, -40), 1e-6 * most);
    }
}

/* One scale for 128 x 128, the same value wherever it stands. */
static void blocks(void **state)
{
    static uint16_t values[2 * S * H];
    static uint8_t got[2 * S * H];
    float scales[4];
    (void)state;
    fill(values, 2 * S * H, 1);
    values[5 * H + 200] = xsti_float_to_bf16(-7);  /* block (0, 1) */
    values[200 * H + 3] = xsti_float_to_bf16(3.5); /* block (1, 0) */
    xst_moe_quantise_blocks(values, 2 * S, H, got, scales);
    xt_near(scales[1], 7.0 / 448, 1e-9);
    xt_near(scales[2], 3.5 / 448, 1e-9);
    assert_true(scales[0] <= 1.0f / 448 && scales[3] <= 1.0f / 448);
    assert_int_equal(got[5 * H + 200], 0xfe);
    assert_int_equal(got[200 * H + 3], 0x7e);
    for (int row = 0; row < 2 * S; row++)
        for (int c = 0; c < H; c++) {
            const float scale = scales[row / S * 2 + c / S], value = xsti_bf16_to_float(values[row * H + c]);
            assert_int_equal(got[row * H + c], xsti_float_to_e4m3(value / scale));
        }
}

static void no_numbers(void **state)
{
    uint16_t values[S] = {0};
    uint8_t got[S];
    float scale;
    (void)state;
    values[3] = 0x7fc0;
    values[4] = xsti_float_to_bf16(448);
    xst_moe_quantise_rows(values, 1, S, got, &scale);
    assert_int_equal(got[3] & 0x7f, 0x7f);
    assert_int_equal(got[4], 0x7e);
    values[5] = 0xff80;
    xst_moe_quantise_rows(values, 1, S, got, &scale);
    assert_int_equal(got[5] & 0x7f, 0x7f);
}

static void interleaving(void **state)
{
    enum { ROWS = 16, COLS = 3 };
    uint8_t gate[ROWS * COLS], up[ROWS * COLS], both[2 * ROWS * COLS];
    (void)state;
    for (int i = 0; i < ROWS * COLS; i++) {
        gate[i] = (uint8_t)i;
        up[i] = (uint8_t)(100 + i);
    }
    xst_moe_interleave_w1_e4m3(gate, up, ROWS, COLS, both);
    for (int row = 0; row < 2 * ROWS; row++)
        for (int c = 0; c < COLS; c++)
            assert_int_equal(both[row * COLS + c], (row % 16 >= 8 ? 100 : 0) + (8 * (row / 16) + row % 8) * COLS + c);
}

/* Both forms of a layer. */
struct layer {
    uint16_t gate[E][I * H], up[E][I * H], w1[E][2 * I * H], w2[E][H * I], x[T * H];
    uint8_t gate8[I * H], up8[I * H], w1_8[E][2 * I * H], w2_8[E][H * I], x8[T * H];
    float s1[E][2 * I * H / S / S], s2[E][H * I / S / S], sx[T * H / S];
    double want[T * H], got[T * H];
};

static void make_layer(struct layer *l)
{
    fill(l->x, T * H, 2);
    xst_moe_quantise_rows(l->x, T, H, l->x8, l->sx);
    for (int e = 0; e < E; e++) {
        fill(l->gate[e], I * H, 0.2f);
        fill(l->up[e], I * H, 0.1f);
        fill(l->w2[e], H * I, 0.15f);
        xst_moe_interleave_w1(l->gate[e], l->up[e], I, H, l->w1[e]);
        xst_moe_quantise_blocks(l->gate[e], I, H, l->gate8, l->s1[e]);
        xst_moe_quantise_blocks(l->up[e], I, H, l->up8, l->s1[e] + I * H / S / S);
        xst_moe_interleave_w1_e4m3(l->gate8, l->up8, I, H, l->w1_8[e]);
        xst_moe_quantise_blocks(l->w2[e], H, I, l->w2_8[e], l->s2[e]);
    }
}

static void a_layer(void **state)
{
    static struct layer l;
    static const int64_t ids[T * K] = {0, 1, 1, -1, 0, 0, -1, -1, 1, 0, 0, 1};
    static const float weights[T * K] = {0.5f, 0.5f, 1, 9, 0.25f, 0.5f, 1, 1, 0.125f, 2, 1, 1};
    double off = 0, size = 0;
    (void)state;
    make_layer(&l);
    const uint16_t *const w1[E] = {l.w1[0], l.w1[1]}, *const w2[E] = {l.w2[0], l.w2[1]};
    const uint8_t *const w1_8[E] = {l.w1_8[0], l.w1_8[1]}, *const w2_8[E] = {l.w2_8[0], l.w2_8[1]};
    const float *const s1[E] = {l.s1[0], l.s1[1]}, *const s2[E] = {l.s2[0], l.s2[1]};
    const struct xsti_moe_problem plain = {H, I, E, K, 3, w1, w2};
    const struct xsti_moe_problem_e4m3 e4m3 = {H, I, E, K, 3, w1_8, w2_8, s1, s2};
    assert_int_equal(xsti_moe_reference(&plain, XSTI_MOE_EXACT, T, l.x, ids, weights, l.want), 0);
    assert_int_equal(xsti_moe_reference_e4m3(&e4m3, T, l.x8, l.sx, ids, weights, l.got), 0);
    for (int i = 0; i < T * H; i++) {
        off += (l.got[i] - l.want[i]) * (l.got[i] - l.want[i]);
        size += l.got[i] * l.got[i] + l.want[i] * l.want[i];
    }
    assert_true(size > 1 && off / size > 1e-5 && off / size < 0.01);
    for (int c = 0; c < H; c++)
        assert_true(l.got[3 * H + c] == 0); /* a token without choices */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),         cmocka_unit_test(blocks),  cmocka_unit_test(no_numbers),
        cmocka_unit_test(interleaving), cmocka_unit_test(a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
