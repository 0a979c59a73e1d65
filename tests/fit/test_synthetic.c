/* SPDX-License-Identifier: Apache-2.0
 *
 * Known parameters in, samples out, parameters back: R within 2 %, T0 and Q within 5 %, over 240 random machines; and what the
 * rows cannot identify comes back unknown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <xstage/model.h>

#include "support/synth.h"

enum { MACHINES = 240 };

struct worst {
    double drain, floor, capacity;
    int capacity_points;
};

static struct xst_profile fitted(const struct xst_samples *samples)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile;
    xt_ok(xst_profile_fit(samples, NULL, &profile, NULL, &diag), &diag);
    return profile;
}

static int note(double *worst, double error, double bound, const char *what, uint64_t seed, double producers,
                double bytes)
{
    *worst = fmax(*worst, fabs(error));
    if (fabs(error) <= bound)
        return 0;
    print_error("machine %llu: %s at %g producers, %g bytes is off by %+.1f %%\n", (unsigned long long)seed, what,
                producers, bytes, 100 * error);
    return 1;
}

/* 0 when every parameter came back. */
static int check_machine(uint64_t seed, struct worst *worst)
{
    int64_t producers = 0;
    struct xt_machine machine = xt_machine_draw(seed, &producers);
    const int64_t counts[] = {1, producers / 4, producers / 2, producers};
    struct xst_samples samples = {0};
    xt_machine_isolated(&machine, counts, 4, &samples);
    xt_machine_zero_gap(&machine, counts, 4, &samples);
    xt_machine_gaps(&machine, counts + 2, 2, &samples);
    xt_machine_aligned(&machine, counts + 3, 1, &samples);
    struct xst_profile profile = fitted(&samples);
    const struct xst_path *const path = profile.paths;
    int bad = profile.path_count != 1 || !path->drain_bytes_per_us.known || path->issue_floor.count == 0;
    bad += note(&worst->drain, path->drain_bytes_per_us.value / machine.drain_bytes_per_us - 1, 0.02, "R", seed, 0, 0);
    for (size_t i = 0; i < path->issue_floor.count; i++) {
        const struct xst_floor_point *const point = &path->issue_floor.points[i];
        bad += note(&worst->floor, point->us / xt_machine_floor_us(&machine, (double)point->bytes_per_producer) - 1,
                    0.05, "T0", seed, (double)point->producers, (double)point->bytes_per_producer);
    }
    int largest_known = 0;
    for (size_t i = 0; i < path->capacity.count; i++) {
        const struct xst_capacity_point *const point = &path->capacity.points[i];
        worst->capacity_points++;
        largest_known |= point->producers == producers;
        bad += note(&worst->capacity, point->bytes / xt_machine_capacity_bytes(&machine, (double)point->producers) - 1,
                    0.05, "Q", seed, (double)point->producers, 0);
    }
    if (!largest_known) {
        print_error("machine %llu: Q of %lld producers is not known\n", (unsigned long long)seed, (long long)producers);
        bad++;
    }
    xst_profile_free(&profile);
    xst_samples_free(&samples);
    return bad != 0;
}

static void parameters_come_back(void **state)
{
    (void)state;
    struct worst worst = {0, 0, 0, 0};
    int bad = 0;
    for (uint64_t seed = 1; seed <= MACHINES; seed++)
        bad += check_machine(seed, &worst);
    print_message("%d machines, %d capacity points; worst error: R %.2f %%, T0 %.2f %%, Q %.2f %%\n", MACHINES,
                  worst.capacity_points, 100 * worst.drain, 100 * worst.floor, 100 * worst.capacity);
    assert_int_equal(bad, 0);
}

/* A machine of 64 producers that saturates its path eight times over. */
static struct xt_machine plain_machine(void)
{
    return (struct xt_machine){.drain_bytes_per_us = 200e3,
                               .capacity_per_producer_bytes = 20e3,
                               .capacity_total_bytes = INFINITY,
                               .floor_us = 0.08,
                               .floor_bytes_per_us = 25e3,
                               .loop_us = 0.2,
                               .fence_us = 1.5,
                               .noise = 0.01,
                               .drifting = 1,
                               .seed = 5};
}

static const int64_t plain_counts[] = {1, 16, 32, 64};

static void the_plain_machine_is_known(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    xt_machine_isolated(&machine, plain_counts, 4, &samples);
    xt_machine_zero_gap(&machine, plain_counts, 4, &samples);
    xt_machine_gaps(&machine, plain_counts, 4, &samples);
    struct xst_profile profile = fitted(&samples);
    const struct xst_path *const path = profile.paths;
    xt_near(path->drain_bytes_per_us.value, 200e3, 2e3);
    assert_true(path->drain_bytes_per_us.low <= 200e3 * 1.01 && path->drain_bytes_per_us.high >= 200e3 * 0.99);
    xt_near(path->loop_us.value, 0.2, 0.01);
    xt_near(path->fence_us.value, 1.5, 0.05);
    xt_near(path->capacity_per_producer_bytes.value, 20e3, 1e3);
    assert_false(path->capacity_total_bytes.known); /* there is none */
    assert_false(path->free_capacity_bytes.known);
    assert_false(path->groups.known);
    assert_false(path->share_spread.known);
    assert_int_equal(path->release_floor.count, 0);
    assert_int_equal(path->valid.producers_low, 1);
    assert_int_equal(path->valid.producers_high, 64);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Four producers of 25 GB/s never meet a drain of 200: no row can show it. */
static void producers_that_never_saturate(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    const int64_t counts[] = {1, 2, 4};
    struct xst_samples samples = {0};
    xt_machine_isolated(&machine, counts, 3, &samples);
    xt_machine_zero_gap(&machine, counts, 3, &samples);
    xt_machine_gaps(&machine, counts, 3, &samples);
    struct xst_profile profile = fitted(&samples);
    assert_false(profile.paths[0].drain_bytes_per_us.known);
    assert_int_equal(profile.paths[0].capacity.count, 0);
    assert_false(profile.paths[0].capacity_per_producer_bytes.known);
    assert_true(profile.paths[0].issue_floor.count > 0);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void no_isolated_rows(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    xt_machine_zero_gap(&machine, plain_counts, 4, &samples);
    xt_machine_gaps(&machine, plain_counts, 4, &samples);
    struct xst_profile profile = fitted(&samples);
    const struct xst_path *const path = profile.paths;
    xt_near(path->drain_bytes_per_us.value, 200e3, 4e3);
    assert_int_equal(path->capacity.count, 0);
    assert_false(path->capacity_per_producer_bytes.known);
    assert_false(path->capacity_total_bytes.known);
    assert_false(path->fence_us.known);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void no_periodic_rows(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    xt_machine_isolated(&machine, plain_counts, 4, &samples);
    struct xst_profile profile = fitted(&samples);
    assert_false(profile.paths[0].drain_bytes_per_us.known);
    assert_int_equal(profile.paths[0].capacity.count, 0);
    assert_false(profile.paths[0].loop_us.known);
    assert_int_equal(profile.paths[0].drain_by_producers.count, 0);
    assert_true(profile.paths[0].fence_us.known);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void only_gaps(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    xt_machine_gaps(&machine, plain_counts, 4, &samples);
    struct xst_profile profile = fitted(&samples);
    assert_false(profile.paths[0].drain_bytes_per_us.known);
    assert_int_equal(profile.paths[0].capacity.count, 0);
    assert_false(profile.paths[0].fence_us.known);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Bursts below the knee of every count: they bound Q from below and say no more. */
static void bursts_that_never_stall(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    for (int64_t bytes = 1024; (double)bytes < 0.8 * xt_machine_knee_bytes(&machine, 64); bytes += 1024) {
        xt_machine_row(&machine, XST_MODE_ISOLATED, 1, bytes, 0, 1, &samples);
        xt_machine_row(&machine, XST_MODE_ISOLATED, 64, bytes, 0, 1, &samples);
    }
    xt_machine_zero_gap(&machine, plain_counts, 4, &samples);
    struct xst_profile profile = fitted(&samples);
    xt_near(profile.paths[0].drain_bytes_per_us.value, 200e3, 4e3);
    assert_int_equal(profile.paths[0].capacity.count, 0);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Alone, one producer count: where the others are, nothing is known. */
static void one_producer_count(void **state)
{
    (void)state;
    struct xt_machine machine = plain_machine();
    struct xst_samples samples = {0};
    const int64_t counts[] = {64};
    xt_machine_isolated(&machine, counts, 1, &samples);
    xt_machine_zero_gap(&machine, counts, 1, &samples);
    struct xst_profile profile = fitted(&samples);
    const struct xst_path *const path = profile.paths;
    xt_near(path->drain_bytes_per_us.value, 200e3, 4e3);
    double us = 0;
    assert_int_equal(xst_path_floor_us(path, 32, 4096, 0, &us, NULL), XST_ERR_NO_DATA);
    assert_int_equal(xst_path_capacity_bytes(path, 32, 0, &us, NULL), XST_ERR_NO_DATA);
    assert_int_equal(path->capacity.count, 1);
    xt_near(path->capacity.points[0].bytes, 64 * 20e3, 0.05 * 64 * 20e3);
    /* the base curve stops where the stall begins */
    for (size_t i = 0; i < path->issue_floor.count; i++) {
        const struct xst_floor_point *const point = &path->issue_floor.points[i];
        const double want = xt_machine_floor_us(&machine, (double)point->bytes_per_producer);
        xt_near(point->us, want, 0.05 * want);
    }
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_machine_is_known),
        cmocka_unit_test(producers_that_never_saturate),
        cmocka_unit_test(no_isolated_rows),
        cmocka_unit_test(no_periodic_rows),
        cmocka_unit_test(only_gaps),
        cmocka_unit_test(bursts_that_never_stall),
        cmocka_unit_test(one_producer_count),
        cmocka_unit_test(parameters_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
