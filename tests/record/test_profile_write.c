/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/profile.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* print -> parse -> print gives the same bytes, and the numbers in memory are those on paper. */
static void assert_stable(const struct xst_profile *profile)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile again = {0};
    char *first = NULL, *second = NULL;
    xt_ok(xst_profile_print(profile, &first, &diag), &diag);
    xt_ok(xst_profile_parse("printed", first, strlen(first), &again, NULL, &diag), &diag);
    xt_ok(xst_profile_print(&again, &second, &diag), &diag);
    assert_string_equal(first, second);
    assert_string_equal(profile->id, again.id);
    assert_int_equal(first[strlen(first) - 1], '\n');
    for (size_t i = 0; i < profile->path_count; i++) {
        const struct xst_path *const a = &profile->paths[i], *const b = &again.paths[i];
        assert_int_equal(a->drain_bytes_per_us.known, b->drain_bytes_per_us.known);
        if (a->drain_bytes_per_us.known)
            xt_near(b->drain_bytes_per_us.value, a->drain_bytes_per_us.value, 0);
        assert_int_equal(a->issue_floor.count, b->issue_floor.count);
        for (size_t p = 0; p < a->issue_floor.count; p++)
            xt_near(b->issue_floor.points[p].us, a->issue_floor.points[p].us, 0);
        assert_int_equal(a->capacity.count, b->capacity.count);
        for (size_t p = 0; p < a->capacity.count; p++)
            xt_near(b->capacity.points[p].bytes, a->capacity.points[p].bytes, 0);
    }
    xst_profile_free(&again);
    free(first);
    free(second);
}

static void print_parse_print(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    assert_stable(&profile);
    struct xst_diag diag = {XST_OK, 0, ""};
    static const double values[] = {0, 1e-9, 1.0 / 3, 123456.7891234, 9.99999999949e8, 5e-324, 1e9};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        profile.paths[0].loop_us = (struct xst_measure){values[i], values[i], values[i], 3, 1};
        profile.paths[0].issue_floor.points[5].us = 1.15 + values[i];
        xt_ok(xst_profile_seal(&profile, &diag), &diag);
        assert_stable(&profile);
    }
    xst_profile_free(&profile);
    struct xst_profile empty = {.name = "empty"};
    xt_ok(xst_profile_seal(&empty, &diag), &diag);
    assert_stable(&empty);
}

static void names_with_every_character(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_diag diag = {XST_OK, 0, ""};
    strcpy(profile.name, "a\"b\\c\n\t\x01/\xc3\xa9\xf0\x9f\x99\x82");
    strcpy(profile.machine.note, "</script><b>&amp;");
    xt_ok(xst_profile_seal(&profile, &diag), &diag);
    assert_stable(&profile);
    xst_profile_free(&profile);
}

static void unknown_is_null(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile = xt_small_profile();
    profile.paths[0].drain_bytes_per_us = (struct xst_measure){NAN, 5, 1, 7, 0};
    profile.paths[0].loop_us = (struct xst_measure){INFINITY, NAN, NAN, 7, 0};
    xt_ok(xst_profile_seal(&profile, &diag), &diag);
    char *text = NULL;
    xt_ok(xst_profile_print(&profile, &text, &diag), &diag);
    xt_contains(text, "\"drain_bytes_per_us\": null");
    xt_contains(text, "\"loop_us\": null");
    xt_contains(text, "\"free_capacity_bytes\": null");
    xt_contains(text, "\"device\": null");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    assert_stable(&profile);
    xst_profile_free(&profile);
}

static void files_are_whole_or_absent(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile = xt_small_profile(), again = {0};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "p.json");
    xt_ok(xst_profile_write(path, &profile, 0, &diag), &diag);
    xt_status(xst_profile_write(path, &profile, 0, &diag), XST_ERR_EXISTS, &diag);
    xt_ok(xst_profile_write(path, &profile, 1, &diag), &diag);
    xt_ok(xst_profile_read(path, &again, NULL, &diag), &diag);
    assert_string_equal(again.id, profile.id);
    assert_int_equal(xt_folder_count(folder), 1);
    xt_status(xst_profile_write("/dev/full", &profile, 1, &diag), XST_ERR_IO, &diag);
    xst_profile_free(&profile);
    xst_profile_free(&again);
    free(path);
    xt_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(print_parse_print),
        cmocka_unit_test(names_with_every_character),
        cmocka_unit_test(unknown_is_null),
        cmocka_unit_test(files_are_whole_or_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
