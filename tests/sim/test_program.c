/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps, counters, fences, loads, staging slots.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>
#include <xstage/sim.h>

enum { PAIRS = 32 };

static const double R = 372e3, T0 = 0.5, BYTES = 32768;

struct table {
    const struct xst_sim_step *steps; /* [producer][step] */
    int64_t count;
};

static int table_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct table *const table = context;
    (void)now_us;
    if (step >= table->count)
        return 0;
    *step_out = table->steps[producer * table->count + step];
    return 1;
}

static enum xst_status run_table(const struct xst_sim_step *steps, int64_t producers, int64_t count, int64_t counters,
                                 double free_capacity, struct xst_sim_result *result, struct xst_diag *diag)
{
    struct table table = {steps, count};
    const struct xst_sim_source source = {.drain_bytes_per_us = 100,
                                          .groups = 1,
                                          .fence_us = 2,
                                          .free_capacity_bytes = free_capacity};
    struct xst_sim_producer members[4];
    for (int i = 0; i < 4; i++)
        members[i] = (struct xst_sim_producer){.capacity_bytes = 1e9, .weight = 1};
    const struct xst_sim_config config = {.sources = &source,
                                          .source_count = 1,
                                          .producers = members,
                                          .producer_count = producers,
                                          .counter_count = counters,
                                          .next = table_next,
                                          .context = &table};
    return xst_sim_run(&config, result, diag);
}

#define NONE .wait_counter = -1, .post_counter = -1

static void fence_waits_for_the_backlog(void **state)
{
    (void)state;
    /* 1000 bytes accepted in 1 us, drained in 10, fence 2 */
    const struct xst_sim_step steps[] = {{NONE, .bytes = 1000, .floor_us = 1, .flags = XST_SIM_FENCE}};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(run_table(steps, 1, 1, 0, 0, &result, &diag), &diag);
    xt_near(result.accounts[0].end_us, 12, 1e-9);
    xt_near(result.accounts[0].drained_us, 10, 1e-9);
    xt_near(result.accounts[0].fence_wait_us, 9, 1e-9);
    xt_near(result.issue_mean_us, 1, 1e-9);
    xst_sim_result_free(&result);
}

static void counters_order_producers(void **state)
{
    (void)state;
    const struct xst_sim_step steps[] = {
        {.wait_counter = 0, .wait_value = 1, .work_us = 3, .post_counter = 1},
        {.wait_counter = -1, .post_counter = 0, .work_us = 5},
    };
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(run_table(steps, 2, 1, 2, 0, &result, &diag), &diag);
    xt_near(result.accounts[0].end_us, 8, 1e-9);
    xt_near(result.accounts[0].wait_us, 5, 1e-9);
    xst_sim_result_free(&result);
}

static void release_comes_with_the_drain(void **state)
{
    (void)state;
    /* Two bursts of 500 bytes back to back: each frees its waiter when its own bytes are gone, at 5 and at 10 us. */
    const struct xst_sim_step burst = {.wait_counter = -1,
                                       .bytes = 500,
                                       .floor_us = 0.5,
                                       .post_counter = 0,
                                       .flags = XST_SIM_RELEASE};
    const struct xst_sim_step steps[] = {burst,
                                         burst,
                                         {.wait_counter = 0, .wait_value = 1, .post_counter = -1},
                                         {NONE},
                                         {.wait_counter = 0, .wait_value = 2, .post_counter = -1},
                                         {NONE}};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(run_table(steps, 3, 2, 1, 0, &result, &diag), &diag);
    xt_near(result.accounts[0].end_us, 1, 1e-9);
    xt_near(result.accounts[1].end_us, 5, 1e-6);
    xt_near(result.accounts[2].end_us, 10, 1e-6);
    xst_sim_result_free(&result);
}

static void loads_queue_behind_the_backlog(void **state)
{
    (void)state;
    /* 900 bytes left at 1 us, 400 of them harm nobody: 5 us; another producer of the same source waits as well. */
    const struct xst_sim_step steps[] = {{NONE, .bytes = 1000, .floor_us = 1},
                                         {NONE, .load_us = 0.5},
                                         {NONE, .work_us = 1},
                                         {NONE, .load_us = 0.25},
                                         {NONE, .work_us = 7},
                                         {NONE, .load_us = 0.25}};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(run_table(steps, 3, 2, 0, 400, &result, &diag), &diag);
    xt_near(result.accounts[0].load_max_us, 5.5, 1e-9);
    xt_near(result.accounts[1].load_max_us, 5.25, 1e-9);
    xt_near(result.accounts[2].load_max_us, 0.25, 1e-9);
    xst_sim_result_free(&result);
}

static void says_who_waits_for_what(void **state)
{
    (void)state;
    const struct xst_sim_step steps[] = {{NONE, .work_us = 1},
                                         {.wait_counter = 1, .wait_value = 7, .post_counter = 1},
                                         {.wait_counter = -1, .work_us = 2, .post_counter = 1},
                                         {NONE, .work_us = 1}};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_status(run_table(steps, 2, 2, 2, 0, &result, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "producer 0 (step 1) waits for counter 1 to reach 7, it is at 1");
}

static void refuses_a_counter_that_is_not_there(void **state)
{
    (void)state;
    const struct xst_sim_step steps[] = {{.wait_counter = 5, .wait_value = 1, .post_counter = -1}};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_status(run_table(steps, 1, 1, 2, 0, &result, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "wait_counter is 5");
}

static int endless_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    (void)context, (void)producer, (void)step, (void)now_us, (void)step_out;
    return 1;
}

static void endless_programs_are_found_out(void **state)
{
    (void)state;
    const struct xst_sim_source source = {.drain_bytes_per_us = 1, .groups = 1};
    const struct xst_sim_producer producer = {.capacity_bytes = 1, .weight = 1};
    const struct xst_sim_config config = {.sources = &source,
                                          .source_count = 1,
                                          .producers = &producer,
                                          .producer_count = 1,
                                          .next = endless_next};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_status(xst_sim_run(&config, &result, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "producer 0 repeats steps");
}

/* Programs at random: either everybody ends, or the first one stuck is named. */
static void random_programs_never_hang(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int trial = 0; trial < 400; trial++) {
        struct xst_sim_step steps[4 * 6];
        for (int i = 0; i < 24; i++)
            steps[i] = (struct xst_sim_step){.wait_counter = rand_r(&seed) % 5 - 2,
                                             .wait_value = rand_r(&seed) % 4,
                                             .load_us = rand_r(&seed) % 3 ? 0 : 0.3,
                                             .work_us = rand_r(&seed) % 3,
                                             .bytes = rand_r(&seed) % 2 ? 0 : 1 + rand_r(&seed) % 500,
                                             .floor_us = 0.5 + rand_r(&seed) % 10,
                                             .post_counter = rand_r(&seed) % 5 - 2,
                                             .flags = (uint32_t)(rand_r(&seed) % 16)};
        struct xst_sim_result result;
        struct xst_diag diag;
        const enum xst_status status = run_table(steps, 4, 6, 3, 100, &result, &diag);
        if (status == XST_OK) {
            xt_near(result.drained_bytes, result.injected_bytes, 1e-6 * result.injected_bytes + 1e-6);
            xst_sim_result_free(&result);
        } else {
            assert_int_equal(status, XST_ERR_TIMEOUT);
            xt_contains(diag.text, "waits for counter");
        }
    }
}

static struct xst_sim_result run_staging(struct xst_sim_staging *staging, double free_capacity)
{
    struct xst_sim_producer producers[2 * PAIRS];
    for (int i = 0; i < 2 * PAIRS; i++)
        producers[i] = (struct xst_sim_producer){.capacity_bytes = staging->bulk ? 1e9 : 20000, .weight = 1};
    const struct xst_sim_source source = {.drain_bytes_per_us = R, .groups = 1, .free_capacity_bytes = free_capacity};
    const struct xst_sim_config config = {.sources = &source,
                                          .source_count = 1,
                                          .producers = producers,
                                          .producer_count = 2 * PAIRS,
                                          .counter_count = 2 * PAIRS,
                                          .next = xst_sim_staging_next,
                                          .context = staging,
                                          .share_spread_burst = 0.3,
                                          .seed = 5};
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(xst_sim_run(&config, &result, &diag), &diag);
    return result;
}

static double tile_period(double compute_us, double epilogue_us, int64_t slots, int bulk)
{
    struct xst_sim_staging staging = {.pairs = PAIRS,
                                      .tiles = 1000,
                                      .slots = slots,
                                      .compute_us = compute_us,
                                      .epilogue_us = epilogue_us,
                                      .bytes = BYTES,
                                      .floor_us = T0,
                                      .bulk = bulk};
    struct xst_sim_result result = run_staging(&staging, 0);
    const double period = result.makespan_us / 1000;
    xst_sim_result_free(&result);
    return period;
}

/* The tile period is max(T_mma, T_epilogue + T_iss); slots delay propagation and cannot change that. */
static void slots_cannot_change_the_rate(void **state)
{
    (void)state;
    const struct xst_stage stage = {T0, R, 20000.0 * PAIRS, PAIRS * BYTES};
    static const double compute[] = {0.5, 1.5, 2.5, 4, 8};
    static const double epilogue[] = {0.2, 1, 3};
    for (size_t c = 0; c < sizeof compute / sizeof *compute; c++)
        for (size_t e = 0; e < sizeof epilogue / sizeof *epilogue; e++) {
            const double want = fmax(compute[c], xst_law_period_us(&stage, epilogue[e]));
            for (int64_t slots = 2; slots <= 8; slots *= 2)
                xt_near(tile_period(compute[c], epilogue[e], slots, 0), want, 0.015 * want);
            /* One slot: compute and issue take turns, so compute is part of the gap. */
            const double serial = xst_law_period_us(&stage, compute[c] + epilogue[e]);
            xt_near(tile_period(compute[c], epilogue[e], 1, 0), serial, 0.015 * serial);
        }
}

/* Bulk stores free a slot at release: enough slots reach the same rate, one slot pays the drain of its own tile. */
static void bulk_slots_are_freed_at_release(void **state)
{
    (void)state;
    const double drain_us = PAIRS * BYTES / R;
    const double many = tile_period(4, 0.2, 8, 1), one = tile_period(4, 0.2, 1, 1);
    xt_near(many, 4, 0.02 * 4);
    assert_true(one > 4.7);
    xt_within(one, 4.2 + T0, 4.2 + drain_us);
}

/* (17): a burst in slices over the time of the next tile leaves less backlog for a load to wait behind. */
static void pacing_shortens_the_wait_of_loads(void **state)
{
    (void)state;
    double last = INFINITY;
    for (int64_t slices = 1; slices <= 8; slices *= 2) {
        struct xst_sim_staging staging = {.pairs = PAIRS,
                                          .tiles = 200,
                                          .slots = 2,
                                          .load_us = 0.3,
                                          .compute_us = 4,
                                          .epilogue_us = 0.2,
                                          .bytes = BYTES,
                                          .floor_us = T0,
                                          .slices = slices,
                                          .span_us = 3.5};
        struct xst_sim_result result = run_staging(&staging, 50000);
        double waits = 0;
        for (int i = 0; i < PAIRS; i++)
            waits += result.accounts[i].load_wait_us;
        assert_true(waits < last || waits == 0);
        last = waits;
        xst_sim_result_free(&result);
    }
}

/* The recorded host path: bulk loads and the worst of every operation follow (16) within a tenth of the wait. */
static void recorded_bystanders(void **state)
{
    (void)state;
    struct xst_samples samples = xt_host_samples();
    struct xst_profile profile;
    struct xst_diag diag;
    xt_ok(xst_profile_fit(&samples, NULL, &profile, NULL, &diag), &diag);
    const struct xst_path *const path = xt_path_of(&profile, XST_TARGET_HOST, XST_METHOD_ST16);
    assert_true(path->free_capacity_bytes.known);
    int judged = 0;
    double mean[2] = {0, 0};
    for (size_t i = 0; i < samples.bystander_count; i++) {
        const struct xst_bystander_sample *const row = &samples.bystanders[i];
        const struct xst_bystander_sample *base = NULL;
        for (size_t j = 0; j < samples.bystander_count; j++)
            if (samples.bystanders[j].bytes == 0 && samples.bystanders[j].producers == row->producers &&
                samples.bystanders[j].op == row->op && samples.bystanders[j].target == row->target &&
                samples.bystanders[j].method == row->method)
                base = &samples.bystanders[j];
        if (row->target != XST_TARGET_HOST || row->method != XST_METHOD_ST16 || row->bytes == 0 || !base ||
            row->op == XST_BYSTANDER_OP_STORE_FENCE)
            continue;
        struct xst_fluid_bystander prediction;
        xt_ok(xst_fluid_bystander_predict(path, row, base->op_us_max, 1, &prediction, &diag), &diag);
        if (row->bytes * row->producers > 3000000)
            continue; /* stalled bursts: producers begin at different backlogs */
        xt_near(prediction.op_us_max, row->op_us_max, 0.1 * row->op_us_max + 0.1);
        const int small = row->op == XST_BYSTANDER_OP_LOAD || row->op == XST_BYSTANDER_OP_ATOMIC;
        if (!small)
            xt_near(prediction.op_us_mean, row->op_us_mean, 0.15 * row->op_us_mean + 0.1);
        else if (row->op_us_mean > 1)
            assert_true(prediction.op_us_mean > row->op_us_mean);
        mean[0] += prediction.op_us_max;
        mean[1] += row->op_us_max;
        judged++;
    }
    assert_true(judged >= 40);
    xt_near(mean[0], mean[1], 0.05 * mean[1]);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fence_waits_for_the_backlog),       cmocka_unit_test(counters_order_producers),
        cmocka_unit_test(release_comes_with_the_drain),      cmocka_unit_test(loads_queue_behind_the_backlog),
        cmocka_unit_test(says_who_waits_for_what),           cmocka_unit_test(refuses_a_counter_that_is_not_there),
        cmocka_unit_test(endless_programs_are_found_out),    cmocka_unit_test(random_programs_never_hang),
        cmocka_unit_test(slots_cannot_change_the_rate),      cmocka_unit_test(bulk_slots_are_freed_at_release),
        cmocka_unit_test(pacing_shortens_the_wait_of_loads), cmocka_unit_test(recorded_bystanders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
