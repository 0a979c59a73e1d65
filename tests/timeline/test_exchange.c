/* SPDX-License-Identifier: Apache-2.0
 *
 * What surrounds the tiles: hardware groups of SMs, loads behind stores, counts before the first pull, barrier and combine, and
 * links that are kept at every moment.
 */
#include "timeline/fixture.h"

#include <xstage/sim.h>

/* Every SM, or the first one alone, stores `bytes` after each tile. */
struct plain {
    int64_t tiles;
    double work_us;
    double bytes;
    int first_alone;
};

static int plain_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct plain *const plain = context;
    (void)rank;
    tile_out->work_us = plain->work_us;
    tile_out->remote_bytes = plain->first_alone && sm > 0 ? 0 : plain->bytes;
    return taken < plain->tiles;
}

static struct xst_timeline_config config_of(struct plain *plain, int64_t sms)
{
    struct xst_timeline_config config = {.ranks = 2, .sms = sms, .staging_slots = 1, .context = plain};
    config.next = plain_next;
    config.machine = (struct xst_timeline_machine){.drain_bytes_per_us = 372e3,
                                                   .ingress_bytes_per_us = 372e3,
                                                   .capacity_bytes = 2.4 * 1048576 / 132,
                                                   .issue_floor = {1, {32768}, {0.5}},
                                                   .accept_floor = {1, {32768}, {0.5}}};
    return config;
}

static struct xst_timeline_result run(const struct xst_timeline_config *config)
{
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    fixture_ok(xst_timeline_run(config, &result, &diag), &diag);
    return result;
}

/* The per-producer fluid on the same ports: the slow ports decide when it ends, the fast ones end early. */
static void ports_agree_with_the_fluid(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct plain plain = {40, 3.0 * i + 0.2, 32768, 0};
        struct xst_timeline_config config = config_of(&plain, 132);
        struct xst_sim_source source = {.drain_bytes_per_us = 372e3, .groups = 24};
        struct xst_sim_producer producers[132];
        int64_t group[132];
        xst_sim_deal_groups(24, 132, 132, group);
        for (int k = 0; k < 132; k++)
            producers[k] = (struct xst_sim_producer){0, group[k], 2.4 * 1048576 / 132, 1};
        struct xst_sim_pattern pattern = {32768, 0.5, plain.work_us, 40};
        const struct xst_sim_config other = {.sources = &source,
                                             .source_count = 1,
                                             .producers = producers,
                                             .producer_count = 132,
                                             .next = xst_sim_pattern_next,
                                             .context = &pattern};
        struct xst_sim_result fluid;
        struct xst_diag diag = {XST_OK, 0, ""};
        fixture_ok(xst_sim_run(&other, &fluid, &diag), &diag);
        config.machine.groups = 24;
        config.machine.full_sms = 132;
        struct xst_timeline_result result = run(&config);
        fixture_near(result.makespan_us, fluid.makespan_us + plain.work_us, i < 3 ? 0.01 : 0.05); /* tiles work first */
        fixture_near(plain.work_us + result.issue_us, plain.work_us + fluid.issue_mean_us, i < 3 ? 0.02 : 0.05);
        config.machine.groups = 1;
        struct xst_timeline_result even = run(&config);
        fixture_near(result.sent_bytes, even.sent_bytes, 1e-12);
        assert_true(result.issue_us <= 1.001 * even.issue_us); /* whoever drifts stalls less */
        xst_timeline_result_free(&even);
        xst_timeline_result_free(&result);
        xst_sim_result_free(&fluid);
    }
}

/* (16) by hand: the backlog behind a burst that fits, at the SM's share of the drain. */
static void loads_wait_behind_their_own_stores(void **state)
{
    (void)state;
    struct plain plain = {10, 4, 16384, 0};
    struct xst_timeline_config config = config_of(&plain, 132);
    const double share = 372e3 / 132;
    for (int i = 0; i < 3; i++) {
        config.bystanders = 1;
        config.machine.free_capacity_bytes = i == 1 ? 359e3 : 0;
        config.prefetch_us = i == 2 ? 1.5 : 0;
        const double held = 16384 - 0.5 * share - config.machine.free_capacity_bytes / 132;
        const double delay_us = held / share - config.prefetch_us;
        struct xst_timeline_result result = run(&config);
        fixture_near(result.sender_us, 10 * 4.5 + 9 * delay_us, 1e-6);
        fixture_near(result.ranks[0].math.wait_us, 9 * delay_us, 1e-6);
        xst_timeline_result_free(&result);
    }
    config.bystanders = 0;
    struct xst_timeline_result none = run(&config);
    fixture_near(none.ranks[0].math.wait_us, 0, 0);
    xst_timeline_result_free(&none);
}

/* (17): a tile in slices over the next one keeps the backlog low, sends the same and costs nothing while the path keeps up; the
 * loads behind it wait less. */
static void slices_keep_the_backlog_low(void **state)
{
    (void)state;
    struct plain plain = {30, 20, 32768, 0};
    struct xst_timeline_config config = config_of(&plain, 132);
    config.machine.method = XST_METHOD_BULK;
    config.series_step_us = 0.25;
    config.series_count = 4000;
    config.bystanders = 1;
    double wait = INFINITY, end = 0;
    for (int64_t slices = 1; slices <= 16; slices *= 2) {
        config.slices = slices;
        struct xst_timeline_result result = run(&config);
        fixture_near(result.sent_bytes, 2.0 * 132 * 30 * 32768, 1e-12);
        fixture_near(result.received_bytes, result.sent_bytes, 1e-12);
        assert_int_equal(result.bursts, 2 * 132 * 30);
        double most = 0; /* a slice has left before the next one comes; what is left of the last tile leaves at once */
        for (int64_t i = 0; i < result.series_count && result.series[i].time_us < 500; i++)
            most = fmax(most, result.series[i].backlog_first_bytes);
        assert_true(most <= 132 * 32768.0 / (double)slices * 1.001 && most > 0);
        assert_true(result.ranks[0].math.wait_us <= (slices > 1 ? 0.55 : 1) * wait);
        if (slices > 1)
            assert_true(result.makespan_us < 1.01 * end + 20);
        end = result.makespan_us;
        wait = result.ranks[0].math.wait_us;
        xst_timeline_result_free(&result);
    }
    struct xst_diag diag;
    struct xst_timeline_result result;
    config.machine.method = XST_METHOD_ST16;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "slices need bulk stores or a role"));
}

/* One SM stores: on NVLink it waits alone, behind a shared queue everybody does. */
static void who_waits_depends_on_the_queue(void **state)
{
    (void)state;
    struct plain plain = {10, 1, 65536, 1};
    struct xst_timeline_config config = config_of(&plain, 4);
    config.machine.capacity_bytes = 65536;
    config.machine.drain_bytes_per_us = config.machine.ingress_bytes_per_us = 20e3;
    config.bystanders = 1;
    struct xst_timeline_result own = run(&config);
    config.machine.shared_queue = 1;
    struct xst_timeline_result shared = run(&config);
    config.bystanders = 0;
    struct xst_timeline_result none = run(&config);
    fixture_near(none.ranks[0].math.wait_us, 0, 0);
    assert_true(own.ranks[0].math.wait_us > 1);
    assert_true(shared.ranks[0].math.wait_us > 2 * own.ranks[0].math.wait_us);
    xst_timeline_result_free(&own);
    xst_timeline_result_free(&shared);
    xst_timeline_result_free(&none);
}

static const struct xst_moe_shape shape = {2048, 1024, 16, 2, 1024, 2, 2};
static const struct xst_moe_plan plan = {.tile_rows = 128,
                                         .tile_cols = 256,
                                         .tile_depth = 64,
                                         .producers = 132,
                                         .stages = 4,
                                         .staging_slots = 1,
                                         .method = XST_METHOD_ST16,
                                         .act_frac = 0.1};

static struct xst_timeline_result run_moe(const struct xst_moe_shape *layer, const struct xst_timeline_moe *moe,
                                          const struct xst_timeline_options *options)
{
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    fixture.paths[0].fence_us = (struct xst_measure){2, 2, 2, 1, 1};
    fixture_ok(xst_timeline_moe(&fixture.profile, layer, &plan, moe, options, &result, &diag), &diag);
    return result;
}

/* Counts, a fence and a flag before the first row; a flag behind the last byte, then (topk + 1) rows a token through memory. */
static void the_exchange_is_head_barrier_and_combine(void **state)
{
    (void)state;
    int64_t rows[16];
    const struct xst_timeline_options options = {.extrapolate = 1};
    for (int e = 0; e < 16; e++)
        rows[e] = 256;
    struct xst_timeline_moe moe = {.rows = rows};
    struct xst_timeline_result bare = run_moe(&shape, &moe, &options);
    moe.exchange = 1;
    moe.memory_bytes_per_us = 2e6;
    struct xst_timeline_result whole = run_moe(&shape, &moe, &options);
    const double combine_us = 1024.0 * 3 * 2048 * 2 / 2e6;
    fixture_near(whole.combine_us, combine_us, 1e-12);
    fixture_near(whole.barrier_us, fmax(whole.ranks[0].visible_us, whole.ranks[1].visible_us) + 1, 1e-12);
    fixture_near(whole.makespan_us, whole.barrier_us + combine_us, 1e-12);
    fixture_near(whole.free_us, bare.free_us + combine_us, 1e-12);
    fixture_near(whole.makespan_us, bare.makespan_us + 3 + 1 + combine_us,
                 1e-6); /* two equal ranks: the head is a shift */
    fixture_near(whole.ranks[0].pull.wait_us - bare.ranks[0].pull.wait_us, 3, 1e-6);
    assert_true(bare.barrier_us == 0 && bare.combine_us == 0);
    moe.no_pull = 1;
    struct xst_timeline_result there = run_moe(&shape, &moe, &options);
    assert_true(there.makespan_us < whole.makespan_us);
    struct xst_diag diag;
    struct fixture fixture;
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    moe.memory_bytes_per_us = -1;
    xst_timeline_result_free(&there);
    xst_timeline_result_free(&whole);
    assert_int_equal(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &options, &whole, &diag), XST_ERR_RANGE);
    xst_timeline_result_free(&bare);
}

/* A late rank holds up the pulls of all. */
static void the_last_rank_holds_the_pulls(void **state)
{
    (void)state;
    int64_t rows[16];
    for (int e = 0; e < 16; e++)
        rows[e] = 256;
    const struct xst_timeline_moe moe = {.rows = rows, .exchange = 1};
    struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1};
    struct xst_timeline_result together = run_moe(&shape, &moe, &options);
    options.start_skew_us = 50;
    struct xst_timeline_result late = run_moe(&shape, &moe, &options);
    fixture_near(late.makespan_us, together.makespan_us + 50, 1e-6);
    fixture_near(late.ranks[0].pull.wait_us, together.ranks[0].pull.wait_us + 50, 1e-6);
    xst_timeline_result_free(&together);
    xst_timeline_result_free(&late);
}

/* Links kept on average, as with many ranks, against links kept at every moment: the bound that docs/simulate.md states. */
static void average_links_are_within_a_percent(void **state)
{
    (void)state;
    int64_t rows[32];
    for (int64_t ranks = 16; ranks <= 32; ranks += 16)
        for (int skewed = 0; skewed < 2; skewed++) {
            const struct xst_moe_shape layer = {4096, 1024, ranks, 2, 1024, ranks, 2};
            const struct xst_timeline_moe moe = {.rows = rows};
            struct xst_timeline_options options = {.extrapolate = 1, .no_free_run = 1, .work_spread = 0.02, .seed = 3};
            for (int64_t e = 0; e < ranks; e++)
                rows[e] = skewed ? 1024 + 128 * (e % 8) * 2 : 2048;
            struct xst_timeline_result average = run_moe(&layer, &moe, &options);
            options.exact_links = 1;
            struct xst_timeline_result exact = run_moe(&layer, &moe, &options);
            fixture_near(average.makespan_us, exact.makespan_us, 0.02);
            fixture_near(average.sent_bytes, exact.sent_bytes, 1e-12);
            xst_timeline_result_free(&average);
            xst_timeline_result_free(&exact);
        }
}

static void what_the_profile_does_not_know_is_said(void **state)
{
    (void)state;
    struct fixture fixture;
    struct xst_timeline_result result;
    struct xst_diag diag;
    int64_t rows[16] = {256};
    const struct xst_timeline_moe moe = {.rows = rows};
    fixture_make(&fixture, 372e3, 1.5e-5, 18 * 1024);
    const struct xst_timeline_options ports = {.extrapolate = 1, .dispersion = 1},
                                      loads = {.extrapolate = 1, .bystanders = 1};
    assert_int_equal(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &ports, &result, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "does not know the groups"));
    assert_int_equal(xst_timeline_moe(&fixture.profile, &shape, &plan, &moe, &loads, &result, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "Q_free"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_agree_with_the_fluid),
        cmocka_unit_test(loads_wait_behind_their_own_stores),
        cmocka_unit_test(slices_keep_the_backlog_low),
        cmocka_unit_test(who_waits_depends_on_the_queue),
        cmocka_unit_test(the_exchange_is_head_barrier_and_combine),
        cmocka_unit_test(the_last_rank_holds_the_pulls),
        cmocka_unit_test(average_links_are_within_a_percent),
        cmocka_unit_test(what_the_profile_does_not_know_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
