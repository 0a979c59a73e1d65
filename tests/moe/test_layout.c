/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric buffer: regions in order, apart and aligned, large enough for the worst routing; what is refused and with which
 * words.
 */
#include "support/support.h"

#include <string.h>

#include <xstage/moe_kernel.h>

#include "moe/layout.h"

static struct xst_moe_layer layer_of(int64_t ranks, int64_t experts, int64_t topk, int64_t tokens_most)
{
    return (struct xst_moe_layer){.hidden = 384,
                                  .inter = 192,
                                  .experts = experts,
                                  .topk = topk,
                                  .tokens_most = tokens_most,
                                  .ranks = ranks,
                                  .ctas = 132};
}

/* What a region has to hold, by its offset. */
struct region {
    uint64_t at;
    uint64_t bytes;
};

static void regions_are_apart(void **state)
{
    static const int64_t tokens[] = {1, 63, 129, 8192};
    (void)state;
    for (int64_t ranks = 1; ranks <= XST_MOE_MOST_RANKS; ranks++)
        for (int64_t experts = ranks; experts < ranks + 70; experts += 23)
            for (int t = 0; t < 4; t++) {
                const struct xst_moe_layer layer = layer_of(ranks, experts, 1 + experts % 8, tokens[t]);
                struct xst_moe_layout layout;
                struct xst_diag diag = {0};
                xt_ok(xst_moe_layout(&layer, &layout, &diag), &diag);
                const uint64_t rows = (uint64_t)(layer.tokens_most * layer.topk);
                const struct region regions[] = {{layout.control, 256},
                                                 {layout.x, (uint64_t)layer.tokens_most * 384 * 2},
                                                 {layout.ids, rows * 8},
                                                 {layout.weights, rows * 4},
                                                 {layout.combine, rows * 384 * 2}};
                for (int i = 0; i < 5; i++) {
                    assert_int_equal(regions[i].at % 16, 0);
                    assert_true(regions[i].at + regions[i].bytes <= layout.bytes);
                    for (int j = 0; j < i; j++)
                        assert_true(regions[i].at >= regions[j].at + regions[j].bytes ||
                                    regions[j].at >= regions[i].at + regions[i].bytes);
                }
            }
}

/* e4m3: half as many bytes of x, and its scales; all parts apart. */
static void scales_have_their_place(void **state)
{
    struct xst_moe_layer layer = layer_of(4, 12, 4, 100);
    struct xsti_moe_regions at;
    struct xst_diag diag = {0};
    (void)state;
    layer.inter = 256;
    layer.dtype = XST_MOE_E4M3;
    xt_ok(xsti_moe_regions(&layer, &at, &diag), &diag);
    const uint64_t pool = (uint64_t)at.pool_rows;
    const struct region regions[] = {{at.open.x, 100 * 384},
                                     {at.open.x_scales, 100 * 3 * 4},
                                     {at.open.combine, 100 * 4 * 384 * 2},
                                     {at.pool_x, pool * 384 * 2},
                                     {at.pool_act, pool * 256},
                                     {at.pool_x_scales, pool * 3 * 4},
                                     {at.act_scales, pool * 2 * 4}};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(regions[i].at % 1024, 0);
        assert_true(regions[i].at + regions[i].bytes <= at.open.bytes);
        for (int j = 0; j < i; j++)
            assert_true(regions[i].at >= regions[j].at + regions[j].bytes ||
                        regions[j].at >= regions[i].at + regions[i].bytes);
    }
}

/* Blocks that the worst routing needs: all rows of all ranks here, spread so that every expert's last block has one row. */
static void the_pool_holds_the_worst_routing(void **state)
{
    (void)state;
    for (int64_t ranks = 1; ranks <= 8; ranks += 3)
        for (int64_t experts = ranks; experts < 100; experts += 17)
            for (int64_t tokens = 1; tokens < 300; tokens += 37) {
                const struct xst_moe_layer layer = layer_of(ranks, experts, 3, tokens);
                const int64_t rows = ranks * tokens * 3, local = (experts + ranks - 1) / ranks;
                struct xsti_moe_regions regions;
                struct xst_diag diag = {0};
                xt_ok(xsti_moe_regions(&layer, &regions, &diag), &diag);
                for (int64_t tile = 64; tile <= 256; tile *= 2) {
                    const int64_t alone = local < rows ? local - 1 : rows - 1; /* experts with one row */
                    const int64_t blocks = alone + (rows - alone + tile - 1) / tile;
                    assert_true(blocks * tile <= regions.pool_rows);
                    assert_true(blocks <= regions.blocks_most);
                }
                assert_int_equal(regions.local_most, local);
                assert_int_equal(regions.list_most, tokens * 3);
            }
}

/* Peers find each other's parts by the same offsets: nothing but the layer decides them. */
static void one_layer_one_layout(void **state)
{
    const struct xst_moe_layer layer = layer_of(4, 10, 4, 100);
    struct xst_moe_layout first, again;
    struct xst_diag diag = {0};
    (void)state;
    memset(&first, 0xff, sizeof first);
    memset(&again, 0, sizeof again);
    xt_ok(xst_moe_layout(&layer, &first, &diag), &diag);
    xt_ok(xst_moe_layout(&layer, &again, &diag), &diag);
    assert_memory_equal(&first, &again, sizeof first);
}

#define REFUSE(change, words)                                                                                          \
    do {                                                                                                               \
        struct xst_moe_layer layer = layer_of(4, 12, 4, 100);                                                          \
        struct xst_moe_layout layout = {.bytes = 77};                                                                  \
        struct xst_diag diag = {0};                                                                                    \
        change;                                                                                                        \
        xt_status(xst_moe_layout(&layer, &layout, &diag), XST_ERR_RANGE, &diag);                                       \
        xt_contains(diag.text, words);                                                                                 \
        assert_int_equal(layout.bytes, 77); /* written only on success */                                              \
    } while (0)

static void refusals(void **state)
{
    (void)state;
    REFUSE(layer.hidden = 2880, "hidden is 2880, not a multiple of 128");
    REFUSE(layer.hidden = 0, "hidden is 0, outside 128..");
    REFUSE(layer.inter = 100, "inter is 100, not a multiple of 64");
    REFUSE(layer.inter = -64, "inter is -64, outside 64..");
    REFUSE(layer.dtype = XST_MOE_E4M3, "inter is 192, not a multiple of 128");
    REFUSE(layer.dtype = (enum xst_moe_dtype)7, "dtype is 7, outside 0..1");
    REFUSE(layer.topk = 0, "topk is 0, outside 1..16");
    REFUSE(layer.topk = 17, "topk is 17, outside 1..16");
    REFUSE(layer.ranks = 9, "ranks is 9, outside 1..8");
    REFUSE(layer.ranks = 0, "ranks is 0, outside 1..8");
    REFUSE(layer.experts = 3, "experts is 3, outside 4..");
    REFUSE(layer.experts = 4 * 512 + 1, "experts is 2049, outside 4..2048");
    REFUSE(layer.tokens_most = 0, "tokens_most is 0, outside 1..");
    REFUSE(layer.ctas = 0, "ctas is 0, outside 1..");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_apart),
        cmocka_unit_test(scales_have_their_place),
        cmocka_unit_test(the_pool_holds_the_worst_routing),
        cmocka_unit_test(one_layer_one_layout),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
