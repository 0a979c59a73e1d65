/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream of tiles in closed form is the walk, tile by tile, however many CTAs share it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/moe.h>

#include "moe/layout.h"
#include "moe/stream.h"

enum { MOST_EXPERTS = 40 };

static uint64_t state_of_numbers = 1;

static int64_t number(int64_t low, int64_t high)
{
    state_of_numbers = state_of_numbers * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((state_of_numbers >> 33) % (uint64_t)(high - low + 1));
}

static void make_table(struct xsti_moe_stream *stream, const int64_t *rows, int64_t experts, uint32_t *table)
{
    uint32_t blocks = 0;
    for (int64_t e = 0; e < experts; e++) {
        const uint32_t here = (uint32_t)((rows[e] + stream->tile_rows - 1) / stream->tile_rows);
        table[e] = xsti_moe_table_entry(blocks, here == 0 ? 0 : (uint32_t)rows[e] - (here - 1) * stream->tile_rows);
        blocks += here;
    }
    table[experts] = xsti_moe_table_entry(blocks, 0);
    stream->blocks = blocks;
    stream->experts = (uint32_t)experts;
}

/* Every CTA's tiles against the walk's; with a lead that suffices, no Linear-2 tile comes early. */
static void compare(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan, const int64_t *rows,
                    int64_t experts, int64_t lead, int64_t group, int64_t unit, int64_t wave_most)
{
    uint32_t table[MOST_EXPERTS + 1];
    struct xst_moe_walk walk;
    struct xst_moe_tile tile;
    struct xst_moe_counts counts;
    assert_int_equal(xst_moe_count(shape, plan, &counts, NULL), XST_OK);
    assert_int_equal(xst_moe_walk_begin(shape, plan, rows, experts, lead, group, &walk, NULL), XST_OK);
    walk.unit = unit;
    walk.wave_most = wave_most;
    struct xsti_moe_stream stream = {.n1 = (uint32_t)counts.l1_per_block,
                                     .n2 = (uint32_t)counts.l2_per_block,
                                     .lead = (uint32_t)lead,
                                     .group = (uint32_t)group,
                                     .unit = (uint32_t)unit,
                                     .wave_most = (uint32_t)wave_most,
                                     .interleaved = plan->schedule == XST_SCHEDULE_INTERLEAVED,
                                     .tile_rows = (uint32_t)plan->tile_rows};
    stream.wave_blocks = (uint32_t)((2 * plan->producers + counts.l1_per_block - 1) / counts.l1_per_block);
    make_table(&stream, rows, experts, table);
    struct xsti_moe_cursor *const cursors = calloc((size_t)plan->producers, sizeof *cursors);
    uint32_t *const done = calloc(stream.blocks + 1, sizeof *done);
    uint32_t index = 0;
    for (; xst_moe_walk_next(&walk, &tile); index++) {
        assert_true(index < xsti_moe_tiles(&stream));
        const struct xsti_moe_task task =
            xsti_moe_task_at(&stream, table, &cursors[index % (uint32_t)plan->producers], index);
        const uint32_t expert = xsti_moe_expert_of(&stream, table, task.block);
        assert_int_equal(task.linear, tile.linear);
        assert_int_equal(task.block, tile.block);
        assert_int_equal(task.column, tile.column);
        assert_int_equal(expert, tile.expert);
        assert_int_equal(xsti_moe_rows_of(&stream, table, expert, task.block), tile.rows);
        done[task.block] += task.linear == 1;
        if (task.linear == 2)
            assert_int_equal(done[task.block], stream.n1);
    }
    assert_int_equal(index, xsti_moe_tiles(&stream));
    free(cursors);
    free(done);
}

static void every_order_is_the_walk(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        int64_t rows[MOST_EXPERTS];
        const int64_t experts = number(1, MOST_EXPERTS);
        const struct xst_moe_shape shape = {number(1, 20) * 128, number(1, 40) * 64, 2 * experts, 1, 64, 2, 2};
        const struct xst_moe_plan plan = {.tile_rows = INT64_C(64) << number(0, 2),
                                          .tile_cols = 256,
                                          .tile_depth = 64,
                                          .producers = number(1, 30),
                                          .stages = 4,
                                          .staging_slots = 1,
                                          .schedule = (enum xst_schedule)number(0, 1),
                                          .sm_flop_per_us = 1e6};
        for (int64_t e = 0; e < experts; e++)
            rows[e] = number(0, 2) == 0 ? 0 : number(0, 900);
        const int64_t group = number(1, 9), unit = number(0, 1) ? 1 : number(1, 12);
        const int64_t n1 = (2 * shape.inter + 255) / 256, n2 = (shape.hidden + 255) / 256;
        const int64_t lead = xsti_moe_least_lead(n1, n2, group, unit) + number(0, 3) * number(0, 100);
        compare(&shape, &plan, rows, experts, lead, group, unit, number(0, 1) ? 0 : unit + number(0, 20));
    }
}

/* One layer alone: what the unfused kernels walk. */
static void one_layer_alone(void **state)
{
    (void)state;
    uint32_t table[3];
    static const int64_t rows[2] = {130, 65};
    struct xsti_moe_stream stream = {.lead = 1u << 20, .group = 1, .unit = 1, .interleaved = 1, .tile_rows = 64};
    struct xsti_moe_cursor cursor = {0, 0, 0};
    make_table(&stream, rows, 2, table);
    assert_int_equal(stream.blocks, 5);
    for (uint32_t linear = 1; linear <= 2; linear++) {
        stream.n1 = linear == 1 ? 7 : 0;
        stream.n2 = linear == 2 ? 7 : 0;
        stream.lead = linear == 1 ? 35 : 0;
        assert_int_equal(xsti_moe_tiles(&stream), 35);
        for (uint32_t index = 0; index < 35; index++) {
            const struct xsti_moe_task task = xsti_moe_task_at(&stream, table, &cursor, index);
            assert_int_equal(task.linear, linear);
            assert_int_equal(task.block, index / 7);
            assert_int_equal(task.column, index % 7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_is_the_walk),
        cmocka_unit_test(one_layer_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
