/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens into a rank's buffer on a device: every bit of them, quantised as the host does it, and nothing beside them. Without a
 * device, or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"

enum { POISON = 0xcd, EXTRA = 3 };

static struct moe_machine machine;

struct tokens {
    int64_t count, hidden, topk, stride, id_bytes;
    enum xst_moe_dtype dtype;
};

/* Host copies of what is brought; rows with everything between 2^-60 and 2^60, and one of zeros. */
struct inputs {
    uint16_t *x;
    unsigned char *ids;
    float *weights;
};

static void make(const struct tokens *t, struct inputs *in)
{
    in->x = calloc((size_t)(t->count * t->stride), sizeof *in->x);
    in->ids = calloc((size_t)(t->count * t->topk), (size_t)t->id_bytes);
    in->weights = calloc((size_t)(t->count * t->topk), sizeof *in->weights);
    assert_true(in->x && in->ids && in->weights);
    for (int64_t row = 0; row < t->count; row++)
        for (int64_t c = 0; c < t->stride; c++) {
            const float value = ldexpf((float)(moe_pick(2001) - 1000) / 1000, (int)(moe_pick(6) + row % 120 - 60));
            in->x[row * t->stride + c] = row == 2 ? 0 : xsti_float_to_bf16(value);
        }
    for (int64_t i = 0; i < t->count * t->topk; i++) {
        const int64_t id = moe_pick(9) - 1;
        const int32_t narrow = (int32_t)id;
        memcpy(in->ids + i * t->id_bytes, t->id_bytes == 8 ? (const void *)&id : (const void *)&narrow,
               (size_t)t->id_bytes);
        in->weights[i] = (float)(i + 1) / 7;
    }
}

static uint64_t on_device(const void *bytes, size_t count)
{
    struct xst_diag diag = {0};
    CUdeviceptr at = 0;
    xt_ok(xsti_device_alloc(&machine.device, count, &at, &diag), &diag);
    xt_ok(xsti_device_write(&machine.device, at, bytes, count, &diag), &diag);
    return at;
}

/* Rows 0 .. count - 1 of a region are `want`, those behind are untouched. */
static void check_region(uint64_t at, int64_t count, int64_t row_bytes, const void *want, const char *what)
{
    struct xst_diag diag = {0};
    const size_t all = (size_t)((count + EXTRA) * row_bytes);
    unsigned char *const got = malloc(all);
    assert_non_null(got);
    xt_ok(xsti_device_read(&machine.device, got, at, all, &diag), &diag);
    for (size_t i = 0; i < all; i++) {
        const int expected = i < (size_t)(count * row_bytes) ? ((const unsigned char *)want)[i] : POISON;
        if (got[i] != expected)
            fail_msg("%s: byte %zu is %d, %d is expected", what, i, got[i], expected);
    }
    free(got);
}

static void check_rows(const struct tokens *t, const struct inputs *in, const struct xst_moe_layout *at, uint64_t base)
{
    const int64_t groups = t->hidden / 128;
    uint16_t *const rows = malloc((size_t)(t->count * t->hidden) * sizeof *rows);
    uint8_t *const values = malloc((size_t)(t->count * t->hidden));
    float *const scales = malloc((size_t)(t->count * groups) * sizeof *scales);
    assert_true(rows && values && scales);
    for (int64_t row = 0; row < t->count; row++)
        memcpy(rows + row * t->hidden, in->x + row * t->stride, (size_t)t->hidden * sizeof *rows);
    if (t->dtype == XST_MOE_E4M3) {
        xst_moe_quantise_rows(rows, t->count, t->hidden, values, scales);
        check_region(base + at->x, t->count, t->hidden, values, "values");
        check_region(base + at->x_scales, t->count, groups * (int64_t)sizeof *scales, scales, "scales");
    } else {
        check_region(base + at->x, t->count, t->hidden * 2, rows, "rows");
    }
    free(rows);
    free(values);
    free(scales);
}

static void bring(const struct tokens *t)
{
    struct xst_diag diag = {0};
    struct xst_moe_layout at;
    struct inputs in;
    const struct xst_moe_layer layer =
        {t->hidden, 256, 8, t->topk, t->count + EXTRA, 1, xst_moe_sm_count(machine.kernels), t->dtype, 0};
    xt_ok(xst_moe_layout(&layer, &at, &diag), &diag);
    make(t, &in);
    CUdeviceptr base = 0;
    xt_ok(xsti_device_alloc(&machine.device, at.bytes, &base, &diag), &diag);
    xt_ok(xsti_device_fill(&machine.device, base, POISON, at.bytes, &diag), &diag);
    const uint64_t buffers[1] = {base};
    const struct xst_moe_call call = {.layer = layer, .tokens = t->count, .buffers = buffers};
    const int64_t choices = t->count * t->topk;
    const struct xst_moe_tokens tokens = {.x = on_device(in.x, (size_t)(t->count * t->stride) * sizeof *in.x),
                                          .x_stride = t->stride,
                                          .ids = on_device(in.ids, (size_t)(choices * t->id_bytes)),
                                          .id_bytes = t->id_bytes,
                                          .weights = on_device(in.weights, (size_t)choices * sizeof *in.weights)};
    xt_ok(xst_moe_bring(machine.kernels, &call, &tokens, machine.device.stream, &diag), &diag);
    xt_ok(xsti_device_wait(&machine.device, 5e6, "bringing tokens", &diag), &diag);
    int64_t *const ids = malloc((size_t)choices * sizeof *ids);
    assert_non_null(ids);
    for (int64_t i = 0; i < choices; i++)
        ids[i] =
            t->id_bytes == 8 ? ((const int64_t *)(const void *)in.ids)[i] : ((const int32_t *)(const void *)in.ids)[i];
    check_rows(t, &in, &at, base);
    check_region(base + at.ids, t->count, t->topk * 8, ids, "ids");
    check_region(base + at.weights, t->count, t->topk * 4, in.weights, "weights");
    const uint64_t taken[] = {tokens.x, tokens.ids, tokens.weights, base};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        xsti_device_free(&machine.device, taken[i]);
    free(ids);
    free(in.x);
    free(in.ids);
    free(in.weights);
}

static void every_bit(void **state)
{
    (void)state;
    static const struct tokens cases[] = {
        {1, 128, 1, 128, 8, XST_MOE_BF16},     {1, 128, 1, 128, 4, XST_MOE_E4M3},
        {300, 384, 2, 400, 4, XST_MOE_BF16},   {300, 384, 2, 400, 8, XST_MOE_E4M3},
        {257, 4096, 6, 4096, 8, XST_MOE_E4M3}, {31, 1152, 16, 2304, 4, XST_MOE_E4M3},
        {70000, 128, 1, 136, 4, XST_MOE_E4M3}, /* more tokens than CTAs */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        bring(&cases[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bit)};
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
