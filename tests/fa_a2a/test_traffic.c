/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of the attention kernel's tiles against a plain enumeration: every row of every head once, peers first, a tile that
 * spans owners with the one that comes first.
 */
#include <xstage/fa_a2a.h>

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const struct xst_fa_a2a_plan plan128 = {.tile_rows = 128,
                                               .tile_cols = 128,
                                               .producers = 132,
                                               .stages = 2,
                                               .staging_slots = 1,
                                               .sm_flop_per_us = 989.4e6 / 132};

/* Owner of a row by counting: the first seq % ranks ranks own one row more. */
static int64_t owner_plain(const struct xst_fa_a2a_shape *shape, int64_t row)
{
    int64_t end = 0;
    for (int64_t rank = 0; rank < shape->ranks; rank++) {
        end += shape->seq / shape->ranks + (rank < shape->seq % shape->ranks);
        if (row < end)
            return rank;
    }
    return -1;
}

static void check_walk(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan, int64_t rank)
{
    struct xst_fa_a2a_counts counts;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_fa_a2a_count(shape, plan, &counts, &diag), &diag);
    const int64_t cells = shape->batch * counts.heads_per_rank * counts.row_tiles;
    assert_int_equal(counts.tiles, cells);
    char *const seen = calloc((size_t)cells, 1);
    int64_t last_step = 0;
    for (int64_t i = 0; i < counts.tiles; i++) {
        const struct xst_fa_a2a_tile tile = xst_fa_a2a_tile_at(shape, plan, rank, i);
        assert_int_equal(tile.first_row % plan->tile_rows, 0);
        assert_true(tile.rows >= 1 && tile.rows <= plan->tile_rows && tile.first_row + tile.rows <= shape->seq);
        const int64_t cell =
            (tile.batch * counts.heads_per_rank + tile.head) * counts.row_tiles + tile.first_row / plan->tile_rows;
        assert_true(cell >= 0 && cell < cells && !seen[cell]);
        seen[cell] = 1;
        int64_t remote = 0, earliest = shape->ranks;
        for (int64_t row = tile.first_row; row < tile.first_row + tile.rows; row++) {
            const int64_t owner = owner_plain(shape, row);
            const int64_t step = (owner - rank - 1 + shape->ranks) % shape->ranks;
            remote += owner != rank;
            earliest = step < earliest ? step : earliest;
        }
        assert_int_equal(tile.remote_rows, remote);
        assert_int_equal((tile.destination - rank - 1 + shape->ranks) % shape->ranks, earliest);
        assert_true(earliest >= last_step); /* peers first, each once */
        last_step = earliest;
    }
    free(seen);
}

static void walks_every_tile_once(void **state)
{
    (void)state;
    static const int64_t seqs[] = {8, 63, 129, 576, 1000, 1023, 4481};
    static const int64_t ranks[] = {2, 3, 5, 8};
    for (size_t s = 0; s < sizeof seqs / sizeof *seqs; s++) {
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            const struct xst_fa_a2a_shape shape = {2, 16, 64, seqs[s], ranks[r], 2};
            struct xst_fa_a2a_plan plan = plan128;
            for (int64_t rank = 0; rank < ranks[r]; rank++) {
                plan.tile_rows = 128;
                check_walk(&shape, &plan, rank);
                plan.tile_rows = 64;
                check_walk(&shape, &plan, rank);
            }
        }
    }
}

static void describes_flux(void **state)
{
    (void)state;
    const struct xst_fa_a2a_shape shape = {1, 24, 128, 4608, 2, 2};
    struct xst_fa_a2a_counts counts;
    struct xst_traffic traffic;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_fa_a2a_count(&shape, &plan128, &counts, &diag), &diag);
    assert_int_equal(counts.heads_per_rank, 12);
    assert_int_equal(counts.tiles, 432);
    assert_int_equal(counts.waves, 4);
    xt_near(counts.kv_us, 1.119, 0.001);
    xt_near(counts.remote_bytes, 12.0 * 2304 * 256, 0);
    xt_ok(xst_fa_a2a_traffic(&shape, &plan128, &traffic, &diag), &diag);
    assert_int_equal(traffic.producers, 132);
    xt_near(traffic.bytes_per_producer, 32768, 0);
    xt_near(traffic.remote_frac, 0.5, 0);
    xt_near(traffic.burst_remote_frac, 1, 0);
    xt_near(traffic.gap_us, 36 * 1.11916, 0.001);
    xt_near(traffic.bursts_per_producer, 4, 0);
}

/* One wave of everything: what leaves at once is the share in the long run. */
static void a_single_wave_is_not_all_remote(void **state)
{
    (void)state;
    const struct xst_fa_a2a_shape shape = {1, 8, 128, 1024, 2, 2};
    struct xst_traffic traffic;
    xt_ok(xst_fa_a2a_traffic(&shape, &plan128, &traffic, NULL), NULL);
    assert_int_equal(traffic.producers, 32);
    xt_near(traffic.burst_remote_frac, 0.5, 0);
}

static void refuses_what_is_no_shape(void **state)
{
    (void)state;
    const struct xst_fa_a2a_shape good = {1, 24, 128, 4608, 2, 2};
    struct xst_fa_a2a_shape shape = good;
    struct xst_fa_a2a_plan plan = plan128;
    struct xst_diag diag = {XST_OK, 0, ""};
    shape.ranks = 1;
    xt_status(xst_fa_a2a_check(&shape, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "nothing leaves the device");
    shape.ranks = 25;
    xt_status(xst_fa_a2a_check(&shape, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "heads is 24");
    shape = good;
    shape.seq = 0;
    xt_status(xst_fa_a2a_check(&shape, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "seq is 0");
    plan.sm_flop_per_us = 0;
    xt_status(xst_fa_a2a_check(&good, &plan, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "sm_flop_per_us");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_every_tile_once),
        cmocka_unit_test(describes_flux),
        cmocka_unit_test(a_single_wave_is_not_all_remote),
        cmocka_unit_test(refuses_what_is_no_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
