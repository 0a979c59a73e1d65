/* SPDX-License-Identifier: Apache-2.0
 *
 * What leaves per wave: both orders send the same bytes, one receiver at a time or all at once.
 */
#include "planner/attention_waves.h"

#include "planner/fixture.h"

static void both_orders_send_the_same(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{24, 4608, 2}, {24, 4481, 3}, {8, 100, 8}, {40, 8191, 8}, {5, 77, 5}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct xst_fa_a2a_shape shape = {2, shapes[i][0], 64, shapes[i][1], shapes[i][2], 2};
        const struct xst_fa_a2a_plan plan =
            {128, 128, 20, 2, 1, XST_METHOD_ST16, XST_PHASE_UNKNOWN, 1e6, XST_TARGET_PEER};
        struct xst_fa_a2a_counts counts;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_fa_a2a_count(&shape, &plan, &counts, &diag), &diag);
        struct xsti_wave *const waves = calloc((size_t)counts.waves, sizeof *waves);
        double *const destinations = calloc((size_t)shape.ranks, sizeof *destinations);
        assert_non_null(waves);
        assert_non_null(destinations);
        for (int order = 0; order < 2; order++) {
            double bytes = 0;
            int64_t tiles = 0;
            xsti_attention_waves(&shape, &plan, &counts, (enum xst_tile_order)order, destinations, waves);
            for (int64_t w = 0; w < counts.waves; w++) {
                bytes += waves[w].remote_bytes;
                tiles += waves[w].tiles;
                assert_true(waves[w].drain_bytes >= waves[w].remote_bytes);
            }
            xt_near(bytes, counts.remote_bytes, 0.5);
            assert_int_equal(tiles, counts.tiles);
        }
        free(waves);
        free(destinations);
    }
}

/* Four ranks, one wave per quarter of the rows: in order, three senders meet at the owner; peers first, nobody
 * meets. */
static void incast(void **state)
{
    (void)state;
    const struct xst_fa_a2a_shape shape = {1, 4, 128, 4096, 4, 2};
    const struct xst_fa_a2a_plan plan = {128, 128, 8, 2, 1, XST_METHOD_ST16, XST_PHASE_UNKNOWN, 1e6, XST_TARGET_PEER};
    struct xst_fa_a2a_counts counts;
    struct xsti_wave waves[4];
    double destinations[4];
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_fa_a2a_count(&shape, &plan, &counts, &diag), &diag);
    assert_int_equal(counts.waves, 4);
    xsti_attention_waves(&shape, &plan, &counts, XST_TILE_ORDER_ROWS, destinations, waves);
    xt_near(waves[0].remote_bytes, 8 * 128 * 256, 0);
    xt_near(waves[0].drain_bytes, 3 * waves[0].remote_bytes, 0);
    xt_near(waves[3].remote_bytes, 0, 0); /* the last rank's own rows */
    xsti_attention_waves(&shape, &plan, &counts, XST_TILE_ORDER_PEERS_FIRST, destinations, waves);
    xt_near(waves[0].drain_bytes, waves[0].remote_bytes, 0);
    xt_near(waves[3].remote_bytes, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_orders_send_the_same),
        cmocka_unit_test(incast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
