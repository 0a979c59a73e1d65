/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine on programs whose answer is known: limits, the laws' closed forms, conservation, monotony, and no hanging.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/model.h>
#include <xstage/sim.h>
#include <xstage/timeline.h>

/* Every SM: `tiles` tiles of the same work and bytes. */
struct plain {
    int64_t tiles;
    double work_us;
    double bytes;
    double local_bytes;
};

static int plain_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct plain *const plain = context;
    (void)rank;
    (void)sm;
    tile_out->work_us = plain->work_us;
    tile_out->remote_bytes = plain->bytes;
    tile_out->local_bytes = plain->local_bytes;
    tile_out->id = taken;
    return taken < plain->tiles;
}

/* R 372 GB/s, T0 0.5 us for 32 KiB, Q 2.4 MiB at 132 SMs. */
static struct xst_timeline_config config_of(struct plain *plain, int64_t ranks, int64_t sms)
{
    struct xst_timeline_config config = {.ranks = ranks, .sms = sms, .staging_slots = 1, .context = plain};
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
    if (xst_timeline_run(config, &result, &diag) != XST_OK)
        fail_msg("%s", diag.text);
    return result;
}

static double makespan(const struct xst_timeline_config *config)
{
    struct xst_timeline_result result = run(config);
    const double makespan_us = result.makespan_us;
    xst_timeline_result_free(&result);
    return makespan_us;
}

static void near(double value, double wanted, double frac)
{
    if (!(fabs(value - wanted) <= frac * fabs(wanted) + 1e-9))
        fail_msg("%.9g is not within %g of %.9g", value, frac, wanted);
}

static void without_stores_time_is_work(void **state)
{
    (void)state;
    struct plain plain = {7, 3.5, 0, 0};
    const struct xst_timeline_config config = config_of(&plain, 2, 132);
    near(makespan(&config), 7 * 3.5, 1e-12);
    plain.local_bytes = 32768; /* stores at home cost their issue alone */
    near(makespan(&config), 7 * 4.0, 1e-12);
}

static void a_full_link_takes_bytes_over_rate(void **state)
{
    (void)state;
    struct plain plain = {40, 0.1, 32768, 0};
    const struct xst_timeline_config config = config_of(&plain, 2, 132);
    const double drain_us = 40 * 132 * 32768.0 / 372e3;
    const double us = makespan(&config);
    assert_true(us >= drain_us);
    near(us, drain_us + 0.1, 1e-6);
}

/* Equal tiles stay aligned, so every burst but the first is (11): max(T0, V/R - min(G, Q/R)), the first (7). */
static void equal_tiles_follow_the_aligned_law(void **state)
{
    (void)state;
    static const double gaps[] = {0.5, 3, 5, 8, 11, 12, 20};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        struct plain plain = {50, gaps[i], 32768, 0};
        const struct xst_timeline_config config = config_of(&plain, 2, 132);
        const struct xst_stage stage = {0.5, 372e3, 2.4 * 1048576, 132 * 32768.0};
        struct xst_timeline_result result = run(&config);
        const double isolated_us = xst_law_isolated_issue_us(&stage);
        near(result.issue_us, (49 * xst_law_aligned_issue_us(&stage, gaps[i]) + isolated_us) / 50, 1e-3);
        xst_timeline_result_free(&result);
    }
}

/* The other simulator, on the same pattern with equal shares. */
static void agrees_with_the_per_producer_fluid(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct plain plain = {30, 2.0 * i + 0.3, 16384.0 + 8192.0 * i, 0};
        struct xst_timeline_config config = config_of(&plain, 2, 64);
        struct xst_sim_source source = {.drain_bytes_per_us = 372e3, .groups = 1};
        struct xst_sim_producer producers[64];
        for (int k = 0; k < 64; k++)
            producers[k] = (struct xst_sim_producer){.capacity_bytes = config.machine.capacity_bytes, .weight = 1};
        struct xst_sim_pattern pattern = {.bytes = plain.bytes,
                                          .floor_us = plain.bytes / 32768 * 0.5,
                                          .gap_us = plain.work_us,
                                          .bursts = 30};
        config.machine.issue_floor = config.machine.accept_floor =
            (struct xst_floor_curve){1, {plain.bytes}, {pattern.floor_us}};
        const struct xst_sim_config other = {.sources = &source,
                                             .source_count = 1,
                                             .producers = producers,
                                             .producer_count = 64,
                                             .next = xst_sim_pattern_next,
                                             .context = &pattern};
        struct xst_sim_result fluid;
        struct xst_timeline_result result = run(&config);
        assert_int_equal(xst_sim_run(&other, &fluid, NULL), XST_OK);
        near(result.issue_us, fluid.issue_mean_us, 1e-6);
        xst_sim_result_free(&fluid);
        xst_timeline_result_free(&result);
    }
}

static void completion_coupling_adds_the_whole_drain(void **state)
{
    (void)state;
    struct plain plain = {50, 20, 32768, 0};
    struct xst_timeline_config config = config_of(&plain, 2, 132);
    config.coupling = XST_COUPLING_COMPLETION;
    near(makespan(&config), 50 * (20 + 132 * 32768.0 / 372e3), 1e-6);
    config.machine.visible_us = 2;
    near(makespan(&config), 50 * (22 + 132 * 32768.0 / 372e3), 1e-6);
}

/* S slots and a role that issues: a tile takes the longer of work and issue. Own issue adds them. */
static void slots_hide_issue_behind_work(void **state)
{
    (void)state;
    struct plain plain = {100, 2.0, 32768, 0};
    struct xst_timeline_config config = config_of(&plain, 2, 8); /* 8 x 32 KiB fit: issue is 0.5 */
    near(makespan(&config), 100 * 2.5, 0.01);
    config.issuer = XST_ISSUER_ROLE;
    near(makespan(&config), 100 * 2.0, 0.01);
    plain.work_us = 0.25;
    near(makespan(&config), 100 * 0.704652, 0.02); /* 8 x 32 KiB over R */
    config.machine.method = XST_METHOD_BULK;
    config.issuer = XST_ISSUER_OWN;
    config.staging_slots = 4;
    near(makespan(&config), 100 * 0.75, 0.02); /* its own issue is on the floor; slots hide the rest */
}

static void every_byte_arrives_once(void **state)
{
    (void)state;
    for (int64_t ranks = 2; ranks <= 20; ranks += 6) {
        struct plain plain = {9, 1.5, 40000, 100};
        struct xst_timeline_config config = config_of(&plain, ranks, 24);
        config.machine.share_spread = 0.4;
        config.work_spread = 0.3;
        config.seed = 5;
        struct xst_timeline_result result = run(&config);
        const double bytes = (double)ranks * 24 * 9 * 40000;
        near(result.sent_bytes, bytes, 1e-12);
        near(result.received_bytes, bytes, 1e-12);
        assert_int_equal(result.tiles, ranks * 24 * 9);
        assert_int_equal(result.bursts, result.tiles);
        xst_timeline_result_free(&result);
    }
}

static void faster_links_and_deeper_stages_do_not_hurt(void **state)
{
    (void)state;
    double before = INFINITY;
    for (int i = 0; i < 8; i++) {
        struct plain plain = {20, 4, 32768, 0};
        struct xst_timeline_config config = config_of(&plain, 3, 100);
        config.machine.drain_bytes_per_us = config.machine.ingress_bytes_per_us = 100e3 * (1 + i);
        const double us = makespan(&config);
        assert_true(us <= before * (1 + 1e-9));
        before = us;
    }
    before = INFINITY;
    for (int i = 0; i < 8; i++) {
        struct plain plain = {20, 12, 32768, 0};
        struct xst_timeline_config config = config_of(&plain, 3, 100);
        config.machine.capacity_bytes = 5000.0 * i;
        const double us = makespan(&config);
        assert_true(us <= before * (1 + 1e-9));
        before = us;
    }
}

static int incast_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const int more = plain_next(context, rank, sm, taken, tile_out);
    tile_out->mix = 0;
    return more && rank != 0;
}

/* Everybody to rank 0: its way in decides; fewer ranks exactly, many in steps. */
static void incast_is_bound_by_the_way_in(void **state)
{
    (void)state;
    static const int64_t to[] = {0};
    static const double all[] = {1};
    const struct xst_mix mix = {1, to, all};
    for (int64_t ranks = 3; ranks <= 24; ranks += 7) {
        struct plain plain = {60, 1, 32768, 0};
        struct xst_timeline_config config = config_of(&plain, ranks, 32);
        config.next = incast_next;
        config.mixes = &mix;
        config.mix_count = 1;
        struct xst_timeline_result result = run(&config);
        const double bytes = (double)(ranks - 1) * 32 * 60 * 32768;
        assert_true(ranks > 8 || result.makespan_us >= bytes / 372e3);
        near(result.makespan_us, bytes / 372e3, 0.03); /* in steps the first one comes before any settlement */
        near(result.ranks[0].received_bytes, bytes, 1e-12);
        xst_timeline_result_free(&result);
    }
}

static void same_seed_same_answer(void **state)
{
    (void)state;
    struct plain plain = {12, 6, 32768, 0};
    struct xst_timeline_config config = config_of(&plain, 16, 48);
    config.machine.share_spread = 0.3;
    config.work_spread = 0.1;
    config.seed = 7;
    struct xst_timeline_result a = run(&config), b = run(&config);
    assert_true(a.makespan_us == b.makespan_us && a.events == b.events && a.issue_us == b.issue_us);
    config.seed = 8;
    assert_true(makespan(&config) != a.makespan_us);
    xst_timeline_result_free(&a);
    xst_timeline_result_free(&b);
}

static int waits_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    (void)rank;
    tile_out->work_us = 1;
    tile_out->id = sm;
    if (sm == 1) {
        tile_out->need_counter[0] = 0;
        tile_out->need_value[0] = *(int64_t *)context;
    } else {
        tile_out->post_counter[0] = 0;
    }
    return taken < 2;
}

static void who_waits_is_named(void **state)
{
    (void)state;
    int64_t wanted = 2;
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timeline_config config = config_of(NULL, 2, 2);
    config.context = &wanted;
    config.next = waits_next;
    config.counters = 1;
    near(makespan(&config), 4, 1e-12); /* waits for two tiles, then two of its own */
    wanted = 3;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_TIMEOUT);
    assert_non_null(strstr(diag.text, "SM 1: tile 1 waits for counter 0: 2 of 3"));
    config.ranks = 12;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_TIMEOUT);
}

static void an_event_limit_ends_a_long_run(void **state)
{
    (void)state;
    struct plain plain = {1000000000, 1, 32768, 0};
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timeline_config config = config_of(&plain, 2, 4);
    config.event_limit = 1000;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_TIMEOUT);
    assert_non_null(strstr(diag.text, "the limit is 1000"));
    config.sms = 0;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "sms is 0"));
}

static void the_series_ends_empty_and_never_negative(void **state)
{
    (void)state;
    struct plain plain = {20, 6, 32768, 0};
    for (int64_t ranks = 2; ranks <= 12; ranks += 10) {
        struct xst_timeline_config config = config_of(&plain, ranks, 132);
        config.series_step_us = 0.25;
        config.series_count = 64;
        struct xst_timeline_result result = run(&config);
        assert_in_range(result.series_count, 16, 64);
        for (int64_t i = 0; i < result.series_count; i++) {
            assert_true(result.series[i].backlog_bytes >= 0);
            assert_true(result.series[i].egress_bytes_per_us <= 372e3 * (double)ranks * (1 + 1e-9));
        }
        assert_true(result.backlog_peak_bytes <= 132 * (32768 + 2.4 * 1048576 / 132) + 1);
        xst_timeline_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_stores_time_is_work),
        cmocka_unit_test(a_full_link_takes_bytes_over_rate),
        cmocka_unit_test(equal_tiles_follow_the_aligned_law),
        cmocka_unit_test(agrees_with_the_per_producer_fluid),
        cmocka_unit_test(completion_coupling_adds_the_whole_drain),
        cmocka_unit_test(slots_hide_issue_behind_work),
        cmocka_unit_test(every_byte_arrives_once),
        cmocka_unit_test(faster_links_and_deeper_stages_do_not_hurt),
        cmocka_unit_test(incast_is_bound_by_the_way_in),
        cmocka_unit_test(same_seed_same_answer),
        cmocka_unit_test(who_waits_is_named),
        cmocka_unit_test(an_event_limit_ends_a_long_run),
        cmocka_unit_test(the_series_ends_empty_and_never_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
