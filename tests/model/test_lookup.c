/* SPDX-License-Identifier: Apache-2.0
 *
 * T0(K, B), Q(K) and the knee out of a path's tables.
 */
#include <xstage/model.h>

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

static const double MIB = 1048576;

/* T0 of the small profile at (K, B), which must be inside its range. */
static double floor_inside(const struct xst_path *path, double producers, double bytes)
{
    double us = -1;
    int extrapolated = -1;
    assert_int_equal(xst_path_floor_us(path, producers, bytes, 0, &us, &extrapolated), XST_OK);
    assert_int_equal(extrapolated, 0);
    return us;
}

static void floor_between_points(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_path *const path = profile.paths;
    xt_near(floor_inside(path, 1, 1024), 0.08, 0);
    xt_near(floor_inside(path, 1, 16384), 0.20, 1e-12);
    xt_near(floor_inside(path, 1, 8704), 0.14, 1e-12);
    xt_near(floor_inside(path, 132, 32768), 0.50, 1e-12);
    xt_near(floor_inside(path, 132, 24576), 0.355, 1e-12);
    /* the nearest curve in log K: sqrt(132) = 11.5 divides them */
    xt_near(floor_inside(path, 11, 32768), 0.20 + 0.95 / 3, 1e-12);
    xt_near(floor_inside(path, 12, 32768), 0.50, 1e-12);
    /* 132's curve does not reach down to 8 KiB, that of one producer does */
    xt_near(floor_inside(path, 132, 8704), 0.14, 1e-12);
    xst_profile_free(&profile);
}

static void floor_beyond_its_range(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_path *const path = profile.paths;
    static const double beyond[][2] = {{133, 32768}, {0.5, 32768}, {132, 1023}, {132, 65537}, {1e6, 1e9}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        double us = -1;
        int extrapolated = -1;
        assert_int_equal(xst_path_floor_us(path, beyond[i][0], beyond[i][1], 0, &us, &extrapolated), XST_ERR_NO_DATA);
        xt_near(us, -1, 0);
        assert_int_equal(extrapolated, -1);
        assert_int_equal(xst_path_floor_us(path, beyond[i][0], beyond[i][1], 1, &us, &extrapolated), XST_OK);
        assert_int_equal(extrapolated, 1);
        assert_true(us > 0);
        assert_int_equal(xst_path_floor_us(path, beyond[i][0], beyond[i][1], 1, &us, NULL), XST_OK);
    }
    double us = 0;
    /* past the last point the last slope goes on; below the first its value stays */
    assert_int_equal(xst_path_floor_us(path, 132, 131072, 1, &us, NULL), XST_OK);
    xt_near(us, 1.15 + 2 * 0.65, 1e-12);
    assert_int_equal(xst_path_floor_us(path, 1, 16, 1, &us, NULL), XST_OK);
    xt_near(us, 0.08, 0);
    xst_profile_free(&profile);
}

static void empty_tables(void **state)
{
    (void)state;
    const struct xst_path path = {.valid = {1, 132, 1, 1048576}};
    double value = -1;
    for (int extrapolate = 0; extrapolate < 2; extrapolate++) {
        assert_int_equal(xst_path_floor_us(&path, 1, 1024, extrapolate, &value, NULL), XST_ERR_NO_DATA);
        assert_int_equal(xst_path_capacity_bytes(&path, 1, extrapolate, &value, NULL), XST_ERR_NO_DATA);
        assert_int_equal(xst_path_release_floor_us(&path, 1, 1024, extrapolate, &value, NULL), XST_ERR_NO_DATA);
        assert_int_equal(xst_path_release_capacity_bytes(&path, 1, extrapolate, &value, NULL), XST_ERR_NO_DATA);
    }
    assert_int_equal(xst_path_knee_bytes_per_producer(&path, 1, &value), XST_ERR_NO_DATA);
    xt_near(value, -1, 0);
}

static double capacity_inside(const struct xst_path *path, double producers)
{
    double bytes = -1;
    int extrapolated = -1;
    assert_int_equal(xst_path_capacity_bytes(path, producers, 0, &bytes, &extrapolated), XST_OK);
    assert_int_equal(extrapolated, 0);
    return bytes;
}

static void capacity_between_points(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_path *const path = profile.paths;
    const double q64 = path->capacity.points[0].bytes, q132 = path->capacity.points[1].bytes;
    xt_near(capacity_inside(path, 64), q64, 1e-6);
    xt_near(capacity_inside(path, 132), q132, 1e-6);
    xt_near(capacity_inside(path, 98), (q64 + q132) / 2, 1e-6);
    xt_near(capacity_inside(path, 16), q64 / 4, 1e-6);
    double bytes = -1;
    int extrapolated = -1;
    assert_int_equal(xst_path_capacity_bytes(path, 200, 0, &bytes, NULL), XST_ERR_NO_DATA);
    xt_near(bytes, -1, 0);
    assert_int_equal(xst_path_capacity_bytes(path, 200, 1, &bytes, &extrapolated), XST_OK);
    assert_int_equal(extrapolated, 1);
    xt_near(bytes, q132 * 200 / 132, 1e-6);
    /* with a known total the extrapolation is bounded by it */
    path->capacity_total_bytes = (struct xst_measure){3 * MIB, 3 * MIB, 3 * MIB, 0, 1};
    assert_int_equal(xst_path_capacity_bytes(path, 1000, 1, &bytes, NULL), XST_OK);
    xt_near(bytes, 3 * MIB, 0);
    /* a range wider than the table does not make it known there */
    path->valid.producers_high = 500;
    assert_int_equal(xst_path_capacity_bytes(path, 200, 0, &bytes, NULL), XST_ERR_NO_DATA);
    xst_profile_free(&profile);
}

/* (8): just below the knee V - R*T0 <= Q, just above it not. */
static void knee(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_path *const path = profile.paths;
    for (double producers = 60; producers <= 132; producers += 12) {
        double bytes = 0;
        assert_int_equal(xst_path_knee_bytes_per_producer(path, producers, &bytes), XST_OK);
        const double capacity = capacity_inside(path, producers);
        const double below = producers * (bytes - 1) - 372000 * floor_inside(path, producers, bytes - 1);
        const double above = producers * (bytes + 1) - 372000 * floor_inside(path, producers, bytes + 1);
        assert_true(below <= capacity && above > capacity);
    }
    double bytes = 0;
    assert_int_equal(xst_path_knee_bytes_per_producer(path, 132, &bytes), XST_OK);
    xt_within(bytes / 1024, 18, 20.5); /* "cut the burst to <= 18 KiB" */
    /* one producer never offers more than the drain */
    assert_int_equal(xst_path_knee_bytes_per_producer(path, 1, &bytes), XST_ERR_NO_DATA);
    assert_int_equal(xst_path_knee_bytes_per_producer(path, 500, &bytes), XST_ERR_NO_DATA);
    xst_profile_free(&profile);
}

/* No jump in B on one curve: T0 is continuous and does not fall. */
static void floor_does_not_fall_with_bytes(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    double before = 0;
    for (double bytes = 1024; bytes <= 65536; bytes += 61) {
        const double us = floor_inside(profile.paths, 1, bytes);
        assert_true(us >= before && us - before < 0.01 + (bytes == 1024));
        before = us;
    }
    before = 0;
    for (double bytes = 1024; bytes <= 65536; bytes += 61) {
        const double us = floor_inside(profile.paths, 132, bytes);
        assert_true(us >= before);
        before = us;
    }
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floor_between_points),
        cmocka_unit_test(floor_beyond_its_range),
        cmocka_unit_test(empty_tables),
        cmocka_unit_test(capacity_between_points),
        cmocka_unit_test(knee),
        cmocka_unit_test(floor_does_not_fall_with_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
