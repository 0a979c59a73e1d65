/* SPDX-License-Identifier: Apache-2.0
 *
 * The fit's promises whatever the numbers are: order, repetition, accounting, options, odd input.
 */
#include <xstage/fit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static char *fitted_text(const struct xst_samples *samples)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile;
    char *text = NULL;
    xt_ok(xst_profile_fit(samples, NULL, &profile, NULL, &diag), &diag);
    xt_ok(xst_profile_print(&profile, &text, &diag), &diag);
    xst_profile_free(&profile);
    return text;
}

static unsigned random_below(unsigned *seed, size_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (unsigned)((*seed >> 8) % below);
}

/* Fisher-Yates over both kinds of row. */
static void shuffle(struct xst_samples *samples, unsigned seed)
{
    for (size_t i = samples->row_count; i > 1; i--) {
        const size_t j = random_below(&seed, i);
        const struct xst_sample row = samples->rows[i - 1];
        samples->rows[i - 1] = samples->rows[j];
        samples->rows[j] = row;
    }
    for (size_t i = samples->bystander_count; i > 1; i--) {
        const size_t j = random_below(&seed, i);
        const struct xst_bystander_sample row = samples->bystanders[i - 1];
        samples->bystanders[i - 1] = samples->bystanders[j];
        samples->bystanders[j] = row;
    }
}

static void check_order(struct xst_samples samples)
{
    char *const want = fitted_text(&samples);
    for (unsigned seed = 0; seed < 6; seed++) {
        char *const got = fitted_text(&samples);
        assert_string_equal(got, want);
        free(got);
        shuffle(&samples, seed);
    }
    free(want);
    xst_samples_free(&samples);
}

static void order_of_rows_does_not_matter(void **state)
{
    (void)state;
    check_order(xt_nvlink_samples());
    check_order(xt_host_samples());
}

static void check_account(struct xst_samples samples)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile;
    struct xst_fit fit;
    xt_ok(xst_profile_fit(&samples, NULL, &profile, &fit, &diag), &diag);
    assert_int_equal(fit.row_count, samples.row_count);
    int64_t used[64] = {0}, excluded[64] = {0}, parameters = 0;
    assert_true(profile.path_count <= 64);
    for (size_t i = 0; i < fit.row_count; i++) {
        assert_true((fit.used[i] != 0) != (fit.exclude[i] != XST_EXCLUDE_NONE));
        assert_string_not_equal(xst_exclude_text(fit.exclude[i]), "?");
        assert_in_range(fit.path[i], 0, profile.path_count - 1);
        const struct xst_sample *const row = &samples.rows[i];
        const struct xst_path *const path = &profile.paths[fit.path[i]];
        assert_int_equal(path->target, row->target);
        assert_int_equal(path->direction, row->direction);
        assert_int_equal(path->method, row->method);
        assert_int_equal(path->threads, row->threads);
        assert_int_equal(path->piece_bytes, row->piece_bytes);
        *(fit.used[i] ? &used[fit.path[i]] : &excluded[fit.path[i]]) += 1;
        /* a parameter is read off the kind of row that identifies it */
        if (fit.used[i] & (XST_ROW_CAPACITY | XST_ROW_RELEASE_CAPACITY | XST_ROW_FENCE))
            assert_int_equal(row->mode, XST_MODE_ISOLATED);
        if (fit.used[i] & XST_ROW_DRAIN)
            assert_true(row->mode == XST_MODE_PERIODIC && row->gap_us == 0);
        if (row->mode == XST_MODE_ALIGNED)
            assert_int_equal(fit.exclude[i], XST_EXCLUDE_ALIGNED);
    }
    for (size_t p = 0; p < profile.path_count; p++) {
        const struct xst_path *const path = &profile.paths[p];
        assert_int_equal(path->rows_used, used[p]);
        assert_int_equal(path->rows_excluded, excluded[p]);
        assert_true(used[p] + excluded[p] > 0);
        parameters += (int64_t)(path->issue_floor.count + path->capacity.count);
    }
    assert_true(fit.parameter_count >= parameters);
    for (size_t i = 0; i < fit.outlier_count; i++) {
        assert_true(fit.outliers[i].row < samples.row_count);
        assert_true(fit.used[fit.outliers[i].row] != 0); /* reported, not dropped */
        assert_true(isfinite(fit.outliers[i].value) && isfinite(fit.outliers[i].expected));
        assert_true(strlen(fit.outliers[i].quantity) > 0);
    }
    xst_fit_free(&fit);
    assert_null(fit.used);
    xst_fit_free(&fit);
    xst_fit_free(NULL);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void every_row_is_accounted_for(void **state)
{
    (void)state;
    check_account(xt_nvlink_samples());
    check_account(xt_host_samples());
}

static void options_are_copied(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = xt_host_samples();
    struct xst_machine_facts facts;
    struct xst_profile profile, again;
    xt_ok(xst_machine_facts_read(XST_SOURCE_DIR "/data/h200-host.json", &facts, &diag), &diag);
    const struct xst_fit_options options = {&facts, "h200-host"};
    xt_ok(xst_profile_fit(&samples, &options, &profile, NULL, &diag), &diag);
    assert_string_equal(profile.name, "h200-host");
    assert_string_equal(profile.machine.device, "NVIDIA H200");
    xt_near(profile.machine.sm_count.value, 132, 0);
    const struct xst_fit_options nameless = {NULL, NULL};
    xt_ok(xst_profile_fit(&samples, &nameless, &again, NULL, &diag), &diag);
    assert_string_equal(again.name, "");
    assert_string_not_equal(again.id, profile.id);
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct xst_fit_options long_name = {NULL, name};
    xst_profile_free(&again);
    xt_ok(xst_profile_fit(&samples, &long_name, &again, NULL, &diag), &diag);
    assert_true(strlen(again.name) < XST_NAME_BYTES);
    xst_profile_free(&again);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void nothing_to_fit(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile;
    const struct xst_samples none = {0};
    xt_status(xst_profile_fit(&none, NULL, &profile, NULL, &diag), XST_ERR_NO_DATA, &diag);
    assert_true(strlen(diag.text) > 20);
    xt_status(xst_profile_fit(&none, NULL, &profile, NULL, NULL), XST_ERR_NO_DATA, NULL);
    struct xst_samples bystanders = {0};
    xt_data_read("h200-host-bystander.csv", &bystanders);
    xt_status(xst_profile_fit(&bystanders, NULL, &profile, NULL, &diag), XST_ERR_NO_DATA, &diag);
    xst_samples_free(&bystanders);
}

/* One row of any kind gives a valid profile in which what it cannot identify is null. */
static void single_rows(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples all = xt_nvlink_samples();
    for (size_t i = 0; i < all.row_count; i += 7) {
        struct xst_samples one = {.rows = &all.rows[i], .row_count = 1};
        struct xst_profile profile;
        struct xst_fit fit;
        xt_ok(xst_profile_fit(&one, NULL, &profile, &fit, &diag), &diag);
        assert_int_equal(profile.path_count, 1);
        assert_false(profile.paths[0].drain_bytes_per_us.known); /* one row cannot tell a drain from a slow producer */
        assert_int_equal(profile.paths[0].capacity.count, 0);
        assert_true((fit.used[0] != 0) != (fit.exclude[0] != XST_EXCLUDE_NONE));
        xst_fit_free(&fit);
        xst_profile_free(&profile);
    }
    xst_samples_free(&all);
}

/* A clock that jumps can make a period shorter than its parts; such a row says nothing of d. */
static void loop_time_is_never_negative(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = {0};
    struct xst_sample row = {.mode = XST_MODE_PERIODIC,
                             .threads = 256,
                             .producers = 4,
                             .bytes_per_producer = 4096,
                             .gap_us = 50,
                             .bursts = 10,
                             .reps = 1,
                             .issue_mean_us = 0.1,
                             .release_mean_us = 0.1,
                             .total_us = 510};
    static const double periods[] = {50.3, 50.2, 50.0, 49.0, 1.0};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        row.period_mean_us = periods[i];
        xt_ok(xst_samples_append(&samples, &row, &diag), &diag);
    }
    struct xst_profile profile;
    xt_ok(xst_profile_fit(&samples, NULL, &profile, NULL, &diag), &diag);
    assert_true(profile.paths[0].loop_us.known);
    xt_near(profile.paths[0].loop_us.value, 0.15, 1e-6);
    assert_int_equal(profile.paths[0].loop_us.n, 2);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Rows that a reader accepts but no machine produces: zeros, extremes, the same row many times. The fit must answer with a
 * profile that can be read back, or refuse a value that no profile may hold. */
static void odd_rows(void **state)
{
    (void)state;
    static const double times[] = {0, 1e-9, 1, 1e9};
    static const int64_t counts[] = {1, 132, 65536};
    static const int64_t bytes[] = {1, 4096, INT64_C(1099511627776)};
    unsigned seed = 7;
    int refused = 0;
    for (int round = 0; round < 300; round++) {
        struct xst_diag diag = {XST_OK, 0, ""};
        struct xst_samples samples = {0};
        const unsigned rows = 1 + random_below(&seed, 12);
        for (unsigned r = 0; r < rows; r++) {
            const struct xst_sample row = {.mode = (enum xst_mode)random_below(&seed, 3),
                                           .threads = 256,
                                           .producers = counts[random_below(&seed, 3)],
                                           .bytes_per_producer = bytes[random_below(&seed, 3)],
                                           .gap_us = times[random_below(&seed, 4)],
                                           .bursts = 1 + 99 * random_below(&seed, 2),
                                           .reps = 1,
                                           .issue_mean_us = times[random_below(&seed, 4)],
                                           .release_mean_us = times[random_below(&seed, 4)],
                                           .period_mean_us = times[random_below(&seed, 4)],
                                           .fenced_max_us = times[random_below(&seed, 4)],
                                           .total_us = times[random_below(&seed, 4)]};
            xt_ok(xst_samples_append(&samples, &row, &diag), &diag);
        }
        struct xst_profile profile, again;
        struct xst_fit fit;
        struct xst_validation validation;
        char *text = NULL;
        const enum xst_status status = xst_profile_fit(&samples, NULL, &profile, &fit, &diag);
        if (status != XST_OK) {
            xt_status(status, XST_ERR_RANGE, &diag);
            xt_contains(diag.text, "outside");
            xst_samples_free(&samples);
            refused++;
            continue;
        }
        xt_ok(xst_profile_print(&profile, &text, &diag), &diag);
        xt_ok(xst_profile_parse("again", text, strlen(text), &again, NULL, &diag), &diag);
        xt_ok(xst_validation_run(&profile, &samples, &fit, &validation, &diag), &diag);
        for (size_t i = 0; i < validation.row_count; i++)
            assert_false(isnan(validation.rows[i].median_abs_rel_err));
        xst_validation_free(&validation);
        xst_fit_free(&fit);
        xst_profile_free(&profile);
        xst_profile_free(&again);
        xst_samples_free(&samples);
        free(text);
    }
    assert_in_range(refused, 1, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_rows_does_not_matter),
        cmocka_unit_test(every_row_is_accounted_for),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(nothing_to_fit),
        cmocka_unit_test(single_rows),
        cmocka_unit_test(odd_rows),
        cmocka_unit_test(loop_time_is_never_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
