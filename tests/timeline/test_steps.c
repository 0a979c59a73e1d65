/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stalled burst leaves behind: warpgroups out of step, a full queue of bulk copies; slices by a role of its own.
 * One SM a rank and R = 1000 bytes/us, so that every time can be told by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/timeline.h>

enum { TILES = 4 };

/* Tiles of 10 us and 8,000 bytes: 8 us of drain, T0 = 1 us. */
static int next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    (void)context, (void)rank, (void)sm;
    *tile_out = (struct xst_tile){.need_counter = {-1, -1}, .post_counter = {-1, -1}, .mix = -1};
    tile_out->work_us = 10;
    tile_out->remote_bytes = 8000;
    tile_out->id = taken;
    return taken < TILES;
}

static struct xst_timeline_config config_of(enum xst_method method, double capacity_bytes)
{
    return (struct xst_timeline_config){.machine = {.drain_bytes_per_us = 1000,
                                                    .ingress_bytes_per_us = 1000,
                                                    .capacity_bytes = capacity_bytes,
                                                    .method = method,
                                                    .issue_floor = {1, {8000}, {0.25}},
                                                    .accept_floor = {1, {8000}, {1}}},
                                        .ranks = 2,
                                        .sms = 1,
                                        .staging_slots = 1,
                                        .seed = 3,
                                        .next = next};
}

static void ends(const struct xst_timeline_config *config, double sender_us, double makespan_us)
{
    struct xst_timeline_result result;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (xst_timeline_run(config, &result, &diag) != XST_OK)
        fail_msg("%s", diag.text);
    if (fabs(result.sender_us - sender_us) > 1e-9 * sender_us)
        fail_msg("issued after %.12g, not %.12g", result.sender_us, sender_us);
    if (fabs(result.makespan_us - makespan_us) > 1e-9 * makespan_us)
        fail_msg("visible after %.12g, not %.12g", result.makespan_us, makespan_us);
    xst_timeline_result_free(&result);
}

/* Nothing fits in the stage: a burst stalls for its 8 us of drain. */
static void a_stalled_burst_may_cost_the_next_tile(void **state)
{
    (void)state;
    struct xst_timeline_config config = config_of(XST_METHOD_ST16, 0);
    ends(&config, 4 * 18, 4 * 18);
    config.out_of_step = (struct xst_out_of_step){.extra_frac = 0.2, .enter = 1, .stay = 1};
    ends(&config, 4 * 18 + 3 * 2, 4 * 18 + 3 * 2); /* every tile but the first is 2 us longer */
    config.out_of_step.stay = 0;
    ends(&config, 4 * 18 + 2 * 2, 4 * 18 + 2 * 2); /* the second, and the fourth: the third is in step again */
    config.out_of_step.enter = 0;
    ends(&config, 4 * 18, 4 * 18);
}

/* 7,000 bytes fit: issue is on its floor, so nobody is parted. */
static void a_burst_on_its_floor_costs_nothing(void **state)
{
    (void)state;
    struct xst_timeline_config config = config_of(XST_METHOD_ST16, 7000);
    config.out_of_step = (struct xst_out_of_step){.extra_frac = 0.2, .enter = 1, .stay = 1};
    ends(&config, 4 * 11, 4 * 11 + 7);
}

/* Loads behind the SM's own stores bring the warpgroups together again: 2,000 bytes in the stage at the end of issue are 2 us. */
static void late_loads_restore_the_step(void **state)
{
    (void)state;
    struct xst_timeline_config config = config_of(XST_METHOD_ST16, 2000);
    config.bystanders = 1;
    ends(&config, 4 * 16 + 3 * 2, 4 * 18);
    config.out_of_step = (struct xst_out_of_step){.extra_frac = 0.2, .enter = 1, .stay = 1};
    ends(&config, 4 * 16 + 3 * 2, 4 * 18);
    config.prefetch_us = 2; /* loaded ahead: nobody waits, and they stay apart */
    ends(&config, 4 * 16 + 3 * 2, 4 * 16 + 3 * 2 + 2);
}

/* Bulk stores go on after 0.25 us and hold their one slot until they have drained, which the next tile's work covers; with the
 * engine's queue full the issuer waits for that itself. */
static void a_full_queue_of_copies_holds_the_issuer(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timeline_result result;
    struct xst_timeline_config config = config_of(XST_METHOD_BULK, 0);
    ends(&config, 4 * 10.25 + 7.75, 4 * 10.25 + 7.75);
    config.queue_full = 1;
    ends(&config, 4 * 18, 4 * 18);
    config.slices = 4; /* nobody would hand on the second one */
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "full queue"));
}

/* A role of its own sends plain stores in four pieces of 2 us of drain, 2.5 us apart: nobody waits, and the last tile, with none
 * behind it, leaves at once. */
static void a_role_sends_plain_stores_in_slices(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timeline_result result;
    struct xst_timeline_config config = config_of(XST_METHOD_ST16, 0);
    config.issuer = XST_ISSUER_ROLE;
    config.slices = 4;
    ends(&config, 4 * 10 + 8, 4 * 10 + 8);
    config.issuer = XST_ISSUER_OWN;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "a role of their own"));
}

static void chances_are_checked(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_timeline_result result;
    struct xst_timeline_config config = config_of(XST_METHOD_ST16, 0);
    config.out_of_step.stay = 1.5;
    assert_int_equal(xst_timeline_run(&config, &result, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "out_of_step.stay is 1.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stalled_burst_may_cost_the_next_tile),
        cmocka_unit_test(a_burst_on_its_floor_costs_nothing),
        cmocka_unit_test(late_loads_restore_the_step),
        cmocka_unit_test(a_full_queue_of_copies_holds_the_issuer),
        cmocka_unit_test(a_role_sends_plain_stores_in_slices),
        cmocka_unit_test(chances_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
