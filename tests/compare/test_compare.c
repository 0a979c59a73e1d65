/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/compare.h>

/* A profile of one path, in memory of its own. */
struct machine {
    struct xst_profile profile;
    struct xst_path path;
    struct xst_floor_point floor[3];
    struct xst_capacity_point capacity[2];
};

static void make(struct machine *machine)
{
    memset(machine, 0, sizeof *machine);
    struct xst_path *const path = &machine->path;
    path->method = XST_METHOD_ST16;
    path->threads = 256;
    path->drain_bytes_per_us = (struct xst_measure){372000, 371000, 373000, 12, 1};
    path->fence_us = (struct xst_measure){2, 1.9, 2.1, 5, 1};
    machine->floor[0] = (struct xst_floor_point){16, 1024, 0.1, XST_FLOOR_SOURCE_PLATEAU};
    machine->floor[1] = (struct xst_floor_point){132, 1024, 0.1, XST_FLOOR_SOURCE_PLATEAU};
    machine->floor[2] = (struct xst_floor_point){132, 32768, 0.5, XST_FLOOR_SOURCE_PLATEAU};
    machine->capacity[0] = (struct xst_capacity_point){16, 500e3, 500e3, 500e3, 1};
    machine->capacity[1] = (struct xst_capacity_point){132, 2.4e6, 2.3e6, 2.5e6, 8};
    path->issue_floor = (struct xst_floor_table){machine->floor, 3};
    path->capacity = (struct xst_capacity_table){machine->capacity, 2};
    machine->profile.paths = path;
    machine->profile.path_count = 1;
}

static void compare(const struct machine *before, const struct machine *after, struct xst_comparison *comparison)
{
    assert_int_equal(xst_profile_compare(&before->profile, &after->profile, NULL, comparison, NULL), XST_OK);
}

/* The row of a parameter at a producer count (0: any). */
static const struct xst_comparison_row *find(const struct xst_comparison *comparison, const char *parameter,
                                             int64_t producers)
{
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (strcmp(comparison->rows[i].parameter, parameter) == 0 &&
            (producers == 0 || comparison->rows[i].producers == producers))
            return &comparison->rows[i];
    }
    fail_msg("no row of %s", parameter);
    return NULL;
}

static void test_nothing_moved(void **state)
{
    (void)state;
    struct machine a, b;
    struct xst_comparison comparison;
    make(&a);
    make(&b);
    compare(&a, &b, &comparison);
    assert_int_equal(comparison.row_count, 7); /* R, F, three floors, two capacities; what neither knows is no row */
    assert_int_equal(comparison.same, 7);
    assert_int_equal(comparison.same_machine, 1);
    xst_comparison_free(&comparison);
    assert_null(comparison.rows);
}

/* Which direction is worse, for each parameter. */
static void test_directions(void **state)
{
    (void)state;
    struct machine a, b;
    struct xst_comparison comparison;
    make(&a);
    make(&b);
    b.path.drain_bytes_per_us = (struct xst_measure){300000, 299000, 301000, 12, 1};
    b.path.fence_us = (struct xst_measure){3, 2.9, 3.1, 5, 1};
    b.floor[2].us = 0.6;
    b.capacity[0] = (struct xst_capacity_point){16, 400e3, 400e3, 400e3, 1};
    compare(&a, &b, &comparison);
    assert_int_equal(comparison.worse, 4);
    assert_int_equal(comparison.better, 0);
    assert_int_equal(find(&comparison, "fence_us", 0)->moved, XST_MOVED_WORSE);
    assert_true(find(&comparison, "capacity", 16)->change_frac < -0.19);
    xst_comparison_free(&comparison);
    compare(&b, &a, &comparison);
    assert_int_equal(comparison.worse, 0);
    assert_int_equal(comparison.better, 4);
    xst_comparison_free(&comparison);
}

/* Noise is the fraction plus what both intervals cover between the values; exactly that much is still noise. */
static void test_noise(void **state)
{
    (void)state;
    struct machine a, b;
    struct xst_comparison comparison;
    make(&a);
    make(&b);
    a.floor[0].us = 1;
    b.floor[0].us = 1.05;
    b.floor[2].us = 0.5 * 1.0501;
    b.capacity[1] = (struct xst_capacity_point){132, 2.1e6, 2.0e6, 2.2e6, 8};
    compare(&a, &b, &comparison);
    assert_int_equal(find(&comparison, "issue_floor", 16)->moved, XST_MOVED_SAME);
    assert_int_equal(find(&comparison, "capacity", 132)->moved, XST_MOVED_SAME); /* 0.05 * 2.4 + 0.1 + 0.1 covers 0.3 */
    assert_int_equal(comparison.worse, 1);
    xst_comparison_free(&comparison);
    const struct xst_compare_options none = {0, 0, 0};
    assert_int_equal(xst_profile_compare(&a.profile, &b.profile, &none, &comparison, NULL), XST_OK);
    assert_int_equal(find(&comparison, "capacity", 132)->moved, XST_MOVED_WORSE); /* 0.2 covered of 0.3 */
    assert_int_equal(comparison.worse, 3);
    xst_comparison_free(&comparison);
}

static void test_known_on_one_side(void **state)
{
    (void)state;
    struct machine a, b;
    struct xst_comparison comparison;
    make(&a);
    make(&b);
    b.path.fence_us.known = 0;
    b.path.loop_us = (struct xst_measure){0.2, 0.2, 0.2, 3, 1};
    b.path.issue_floor.count = 2; /* (132, 32768) is gone */
    b.capacity[0].producers = 32; /* 16 gone, 32 new */
    compare(&a, &b, &comparison);
    assert_int_equal(comparison.removed, 3);
    assert_int_equal(comparison.added, 2);
    assert_int_equal(comparison.worse, 0);
    assert_false(find(&comparison, "fence_us", 0)->after_known);
    assert_int_equal(find(&comparison, "capacity", 32)->moved, XST_MOVED_ADDED);
    xst_comparison_free(&comparison);
}

static void test_paths_and_machines_differ(void **state)
{
    (void)state;
    struct machine a, b;
    struct xst_comparison comparison;
    make(&a);
    make(&b);
    b.path.target = XST_TARGET_HOST;
    strcpy(b.profile.machine.machine, "another");
    compare(&a, &b, &comparison);
    assert_int_equal(comparison.same_machine, 0);
    assert_int_equal(comparison.removed, 7);
    assert_int_equal(comparison.added, 7);
    xst_comparison_free(&comparison);
}

static void test_bad_noise(void **state)
{
    (void)state;
    struct machine a;
    struct xst_comparison comparison;
    struct xst_diag diag;
    const struct xst_compare_options bad = {0.01, -1, 0.05};
    make(&a);
    assert_int_equal(xst_profile_compare(&a.profile, &a.profile, &bad, &comparison, &diag), XST_ERR_RANGE);
    assert_non_null(strstr(diag.text, "-1"));
    xst_comparison_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_moved),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_known_on_one_side),
        cmocka_unit_test(test_paths_and_machines_differ),
        cmocka_unit_test(test_bad_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
