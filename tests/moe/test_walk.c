/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of a rank's tiles: each once, in order, no Linear-2 tile before its block's Linear-1 tiles, live blocks bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/moe.h>

static const struct xst_moe_shape shape = {1000, 384, 8, 2, 512, 2, 2};

static struct xst_moe_plan plan_of(enum xst_schedule schedule)
{
    return (struct xst_moe_plan){.tile_rows = 64,
                                 .tile_cols = 128,
                                 .tile_depth = 64,
                                 .producers = 10,
                                 .stages = 4,
                                 .staging_slots = 1,
                                 .schedule = schedule,
                                 .act_frac = 0.1,
                                 .sm_flop_per_us = 1e6};
}

/* n1 = 6, n2 = 8 */
static void each_tile_once_and_in_order(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 130, 64, 0, 1, 700, 0};
    for (int64_t lead = 1; lead < 140; lead += 7) {
        for (int schedule = 0; schedule < 2; schedule++) {
            const struct xst_moe_plan plan = plan_of((enum xst_schedule)schedule);
            struct xst_moe_walk walk;
            struct xst_moe_tile tile;
            int64_t next[3] = {0, 0, 0}, done[2][32], live_most = 0, total_rows = 0;
            memset(done, 0, sizeof done);
            assert_int_equal(xst_moe_walk_begin(&shape, &plan, rows, 7, lead, 3, &walk, NULL), XST_OK);
            assert_int_equal(walk.blocks, 3 + 1 + 1 + 11);
            while (xst_moe_walk_next(&walk, &tile)) {
                const int64_t columns = tile.linear == 1 ? 6 : 8;
                assert_int_equal(tile.block * columns + tile.column, next[tile.linear]++);
                done[tile.linear - 1][tile.block]++;
                assert_true(rows[tile.expert] > 0 && tile.rows >= 1 && tile.rows <= 64);
                total_rows += tile.linear == 2 && tile.column == 0 ? tile.rows : 0;
                if (tile.linear == 2 && (!walk.interleaved || lead >= 6 + 2 * 6 / 8 + 1))
                    assert_int_equal(done[0][tile.block], 6);
                const int64_t live = next[1] / 6 - next[2] / 8;
                live_most = live > live_most ? live : live_most;
            }
            assert_int_equal(next[1], 16 * 6);
            assert_int_equal(next[2], 16 * 8);
            assert_int_equal(total_rows, 130 + 64 + 1 + 700);
            assert_true(live_most <= xst_moe_walk_live_blocks(&walk));
        }
    }
}

/* Three blocks of the first expert with rows give 18 tiles, below two rounds of 10; the fourth makes it a wave. */
static void a_wave_has_two_rounds(void **state)
{
    (void)state;
    static const int64_t rows[] = {130, 64, 1, 700};
    const struct xst_moe_plan plan = plan_of(XST_SCHEDULE_WAVE);
    struct xst_moe_walk walk;
    struct xst_moe_tile tile;
    int64_t first = 0;
    assert_int_equal(xst_moe_walk_begin(&shape, &plan, rows, 4, 0, 0, &walk, NULL), XST_OK);
    while (xst_moe_walk_next(&walk, &tile) && tile.linear == 1)
        first++;
    assert_int_equal(first, 4 * 6);
    assert_int_equal(tile.part, XST_MOE_STARTUP);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const int64_t rows[] = {5, -1};
    const struct xst_moe_plan plan = plan_of(XST_SCHEDULE_INTERLEAVED);
    struct xst_moe_walk walk;
    struct xst_diag diag;
    assert_int_equal(xst_moe_walk_begin(&shape, &plan, rows, 2, 5, 1, &walk, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "expert 1 has -1 rows"));
    assert_int_equal(xst_moe_walk_begin(&shape, &plan, rows, 1, 0, 1, &walk, &diag), XST_ERR_RANGE);
    assert_int_equal(xst_moe_walk_begin(&shape, &plan, rows, 1, 9, 0, &walk, &diag), XST_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tile_once_and_in_order),
        cmocka_unit_test(a_wave_has_two_rounds),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
