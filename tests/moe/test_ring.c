/* SPDX-License-Identifier: Apache-2.0
 *
 * How many blocks a ring has to hold: what the stream of tiles needs of it, tile by tile, never more; block by block exactly that. What
 * is refused, and what it does to the buffer.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/moe_kernel.h>

#include "moe/layout.h"
#include "moe/stream.h"

enum { MOST_EXPERTS = 12, CTAS = 20 };

static uint64_t state_of_numbers = 3;

static int64_t number(int64_t low, int64_t high)
{
    state_of_numbers = state_of_numbers * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((state_of_numbers >> 33) % (uint64_t)(high - low + 1));
}

static void make_table(struct xsti_moe_stream *stream, const int64_t *rows, uint32_t *table)
{
    uint32_t blocks = 0;
    for (uint32_t e = 0; e < stream->experts; e++) {
        const uint32_t here = (uint32_t)((rows[e] + stream->tile_rows - 1) / stream->tile_rows);
        table[e] = xsti_moe_table_entry(blocks, here == 0 ? 0 : (uint32_t)rows[e] - (here - 1) * stream->tile_rows);
        blocks += here;
    }
    table[stream->experts] = xsti_moe_table_entry(blocks, 0);
    stream->blocks = blocks;
}

/* The order as the kernel is told it, with a ring of `ring` blocks. */
static struct xsti_moe_stream stream_of(const struct xst_moe_layer *layer, const struct xst_moe_order *order,
                                        int64_t ring)
{
    const int64_t n1 = (2 * layer->inter + 255) / 256, n2 = (layer->hidden + 255) / 256;
    const int64_t least = xsti_moe_least_lead(n1, n2, order->group, order->unit);
    return (struct xsti_moe_stream){.n1 = (uint32_t)n1,
                                    .n2 = (uint32_t)n2,
                                    .lead = (uint32_t)(order->lead > least ? order->lead : least),
                                    .group = (uint32_t)order->group,
                                    .unit = (uint32_t)order->unit,
                                    .wave_blocks = (uint32_t)((2 * CTAS + n1 - 1) / n1),
                                    .wave_most = (uint32_t)xsti_moe_wave_most(ring, order->unit),
                                    .ring = (uint32_t)ring,
                                    .interleaved = order->schedule == XST_SCHEDULE_INTERLEAVED,
                                    .tile_rows = (uint32_t)order->tile_rows,
                                    .experts = (uint32_t)layer->experts};
}

/* Blocks from the first one with a Linear-2 tile to come to the one whose Linear-1 tile it is, at most. */
static int64_t needed_by(struct xsti_moe_stream *stream, const int64_t *rows)
{
    uint32_t table[MOST_EXPERTS + 1], unfinished = 0;
    struct xsti_moe_cursor cursor = {0, 0, 0};
    int64_t needed = 0;
    make_table(stream, rows, table);
    uint32_t *const done = calloc(stream->blocks + 1, sizeof *done);
    for (uint32_t i = 0; i < xsti_moe_tiles(stream); i++) {
        const struct xsti_moe_task task = xsti_moe_task_at(stream, table, &cursor, i);
        done[task.block] += task.linear == 2;
        while (unfinished < stream->blocks && done[unfinished] == stream->n2)
            unfinished++;
        if (task.linear == 1 && (int64_t)task.block - unfinished + 1 > needed)
            needed = (int64_t)task.block - unfinished + 1;
    }
    free(done);
    return needed;
}

static struct xst_moe_layer layer_of(int64_t experts, int64_t tokens)
{
    return (struct xst_moe_layer){.hidden = number(1, 12) * 128,
                                  .inter = number(1, 20) * 64,
                                  .experts = experts,
                                  .topk = 1,
                                  .tokens_most = tokens,
                                  .ranks = 1,
                                  .ctas = CTAS};
}

static struct xst_moe_order order_of(int interleaved, int64_t unit)
{
    return (struct xst_moe_order){.schedule = interleaved ? XST_SCHEDULE_INTERLEAVED : XST_SCHEDULE_WAVE,
                                  .lead = number(1, 60),
                                  .group = number(1, 9),
                                  .tile_rows = 64,
                                  .unit = unit};
}

static void no_routing_needs_more(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        int64_t rows[MOST_EXPERTS], sum = 0;
        const int64_t experts = number(1, MOST_EXPERTS);
        for (int64_t e = 0; e < experts; e++)
            sum += rows[e] = number(0, 2) == 0 ? 0 : number(1, trial % 2 ? 300 : 2000);
        const struct xst_moe_layer layer = layer_of(experts, sum > 0 ? sum : 1);
        const struct xst_moe_order order = order_of(trial & 1, number(0, 1) ? 1 : number(2, 9));
        const int64_t ring = xst_moe_ring_blocks(&layer, &order) + (trial % 3 ? 0 : number(0, 40));
        struct xsti_moe_stream stream = stream_of(&layer, &order, ring);
        assert_true(needed_by(&stream, rows) <= ring);
    }
}

/* One expert with all rows, more blocks than any lead here: they need what the bound says. */
static void the_bound_is_exact(void **state)
{
    (void)state;
    for (int trial = 0; trial < 1000; trial++) {
        const int64_t rows[1] = {64 * number(90, 120)};
        const struct xst_moe_layer layer = layer_of(1, rows[0]);
        const struct xst_moe_order order = order_of(1, 1);
        const int64_t ring = xst_moe_ring_blocks(&layer, &order);
        struct xsti_moe_stream stream = stream_of(&layer, &order, ring);
        assert_int_equal(needed_by(&stream, rows), ring);
    }
}

static void one_block_below_is_refused(void **state)
{
    const uint64_t buffers[1] = {1024};
    struct xst_moe_call call = {.layer = {4096, 2048, 32, 6, 8192, 1, 132, XST_MOE_BF16, 0},
                                .tokens = 8192,
                                .w1 = 1024,
                                .w2 = 1024,
                                .y = 1024,
                                .buffers = buffers};
    struct xst_moe_order order = {.schedule = XST_SCHEDULE_INTERLEAVED, .lead = 254, .group = 1, .tile_rows = 128};
    struct xst_diag diag = {0};
    (void)state;
    const int64_t needed = xst_moe_ring_blocks(&call.layer, &order);
    assert_int_equal(needed, 17); /* lead - 1 = 15 blocks of 16 tiles and 13 */
    call.layer.ring = needed * 128;
    xt_ok(xst_moe_call_check(&call, &order, &diag), &diag);
    call.layer.ring -= 64; /* half a block is none */
    xt_status(xst_moe_call_check(&call, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "the ring of 2112 rows holds 16 blocks of 128, this order needs 17 (2176 rows)");
    order.schedule = XST_SCHEDULE_WAVE; /* cut to what there is */
    xt_ok(xst_moe_call_check(&call, &order, &diag), &diag);
    order.dedup = XST_MOE_DEDUP_ON;
    xt_status(xst_moe_call_check(&call, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "dedup is on");
    assert_int_equal(xst_moe_dedup_of(&call.layer, &(struct xst_moe_order){0}), XST_MOE_DEDUP_OFF);
    call.layer.ring = 100;
    xt_status(xst_moe_call_check(&call, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "ring is 100, not a multiple of 64");
}

/* The pools shrink to the ring, what is read of all blocks does not; a ring as large as the pool is none. */
static void the_buffer_shrinks(void **state)
{
    struct xst_moe_layer layer = {4096, 2048, 256, 6, 8192, 8, 132, XST_MOE_BF16, 0};
    struct xsti_moe_regions all, some;
    struct xst_diag diag = {0};
    (void)state;
    xt_ok(xsti_moe_regions(&layer, &all, &diag), &diag);
    assert_int_equal(all.pool_rows, all.rows_most);
    layer.ring = 64 * 128;
    xt_ok(xsti_moe_regions(&layer, &some, &diag), &diag);
    assert_int_equal(some.pool_rows, layer.ring);
    assert_int_equal(some.rows_most, all.rows_most);
    const uint64_t row = (4096 + 2048) * 2, gone = (uint64_t)(all.rows_most - layer.ring) * row;
    assert_int_equal(all.open.bytes - some.open.bytes, gone + (uint64_t)all.rows_most * 2048 * 4);
    layer.ring = all.rows_most;
    xt_ok(xsti_moe_regions(&layer, &some, &diag), &diag);
    assert_int_equal(some.open.bytes, all.open.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_routing_needs_more),
        cmocka_unit_test(the_bound_is_exact),
        cmocka_unit_test(one_block_below_is_refused),
        cmocka_unit_test(the_buffer_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
