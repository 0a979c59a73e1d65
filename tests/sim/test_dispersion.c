/* SPDX-License-Identifier: Apache-2.0
 *
 * The fluid on recorded rows: the deal of the ports, a row run again, and the fit that is judged on rows it has not seen.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

#include <xstage/sim.h>

/* Sizes of groups, largest first. */
static void sizes_of(int64_t groups, int64_t full, int64_t producers, int *sizes)
{
    int64_t *const group = malloc((size_t)producers * sizeof *group);
    assert_non_null(group);
    xst_sim_deal_groups(groups, full, producers, group);
    for (int64_t g = 0; g < groups; g++)
        sizes[g] = 0;
    for (int64_t i = 0; i < producers; i++) {
        xt_within((double)group[i], 0, (double)groups - 1);
        sizes[group[i]]++;
    }
    free(group);
    for (int64_t g = 1; g < groups; g++)
        for (int64_t at = g; at > 0 && sizes[at - 1] < sizes[at]; at--) {
            const int moved = sizes[at];
            sizes[at] = sizes[at - 1];
            sizes[at - 1] = moved;
        }
}

static int count_of(const int *sizes, int groups, int size)
{
    int count = 0;
    for (int g = 0; g < groups; g++)
        count += sizes[g] == size;
    return count;
}

static void ports_of_a_full_device(void **state)
{
    (void)state;
    int sizes[24];
    sizes_of(24, 132, 132, sizes);
    assert_int_equal(count_of(sizes, 24, 6), 18);
    assert_int_equal(count_of(sizes, 24, 4), 6);
    sizes_of(24, 132, 64, sizes);
    assert_int_equal(sizes[0], 5);
    assert_int_equal(count_of(sizes, 24, 3), 10);
    assert_int_equal(count_of(sizes, 24, 2), 12);
}

static void every_producer_has_a_port(void **state)
{
    (void)state;
    int sizes[64];
    static const int64_t groups[] = {1, 2, 3, 7, 24, 64};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (int64_t full = 1; full <= 160; full += 3)
            for (int64_t producers = 1; producers <= 200; producers += 13)
                sizes_of(groups[g], full, producers, sizes);
}

static struct xst_path *host_path(struct xst_profile *profile, const struct xst_samples *samples)
{
    struct xst_diag diag;
    xt_ok(xst_profile_fit(samples, NULL, profile, NULL, &diag), &diag);
    const struct xst_path *const path = xt_path_of(profile, XST_TARGET_HOST, XST_METHOD_ST16);
    return &profile->paths[path - profile->paths];
}

static void fit_reaches_its_bounds(void **state)
{
    (void)state;
    struct xst_samples samples = xt_nvlink_samples();
    struct xst_profile profile;
    struct xst_diag diag;
    xt_ok(xst_profile_fit(&samples, NULL, &profile, NULL, &diag), &diag);
    struct xst_path *const path =
        &profile.paths[xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16) - profile.paths];
    struct xst_dispersion dispersion;
    unsigned char *const held_out = malloc(samples.row_count);
    assert_non_null(held_out);
    const struct xst_dispersion_options options = {.seed = 1, .held_out = held_out};
    xt_ok(xst_path_fit_dispersion(path, &samples, &options, &dispersion, &diag), &diag);
    assert_true(path->groups.known && path->share_spread_burst.known && path->share_spread.known &&
                path->record_bytes.known && path->turn_us.known);
    xt_near(path->groups.value, 24, 0);
    xt_within(dispersion.held_out_period.median_abs_rel_err, 0, 0.01);
    xt_within(dispersion.held_out_period.p90_abs_rel_err, 0, 0.04);
    xt_within(dispersion.held_out_period.max_abs_rel_err, 0, 0.10);
    xt_within(dispersion.held_out_issue.median_abs_rel_err, 0, 0.01);
    xt_within(dispersion.held_out_issue.p90_abs_rel_err, 0, 0.04);
    xt_within(dispersion.held_out_issue.max_abs_rel_err, 0, 0.12);
    int64_t marked = 0;
    for (size_t i = 0; i < samples.row_count; i++)
        marked += held_out[i];
    assert_int_equal(marked, dispersion.rows_held_out);
    const struct xst_measure first = path->share_spread_burst;
    xt_ok(xst_path_fit_dispersion(path, &samples, &options, NULL, &diag), &diag);
    xt_near(path->share_spread_burst.value, first.value, 0);
    free(held_out);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void spread_makes_the_host_rows_better(void **state)
{
    (void)state;
    struct xst_samples samples = xt_host_samples();
    struct xst_profile profile;
    struct xst_path *const path = host_path(&profile, &samples);
    double misfit[2] = {0, 0};
    for (int with = 0; with < 2; with++) {
        path->groups = (struct xst_measure){24, 24, 24, 1, with};
        path->share_spread_burst = (struct xst_measure){0.4, 0.4, 0.4, 1, with};
        for (size_t i = 0; i < samples.row_count; i++) {
            const struct xst_sample *const row = &samples.rows[i];
            struct xst_fluid_prediction prediction;
            struct xst_diag diag;
            if (row->mode != XST_MODE_PERIODIC || row->gap_us <= 0 || !xst_path_has_row(path, row))
                continue;
            xt_ok(xst_fluid_row_predict(path, row, i, &prediction, &diag), &diag);
            misfit[with] += fabs(prediction.issue_us - row->issue_mean_us) / row->period_mean_us;
            assert_true(prediction.total_us >= prediction.own_total_us);
        }
    }
    assert_true(misfit[1] < 0.5 * misfit[0]);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Without dispersion the fluid is the law on every aligned and isolated row; with it, within a tenth or 0.5 us of the rows. */
static void aligned_and_isolated_rows(void **state)
{
    (void)state;
    struct xst_samples samples = xt_nvlink_samples();
    struct xst_profile profile;
    struct xst_diag diag;
    xt_ok(xst_profile_fit(&samples, NULL, &profile, NULL, &diag), &diag);
    struct xst_path path = *xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16);
    int judged = 0, close = 0;
    for (size_t i = 0; i < samples.row_count; i++) {
        const struct xst_sample *const row = &samples.rows[i];
        struct xst_row_prediction law;
        struct xst_fluid_prediction fluid;
        if (row->mode == XST_MODE_PERIODIC || !xst_path_has_row(&path, row) || row->producers < 48)
            continue;
        path.groups.known = path.share_spread_burst.known = 0;
        xst_row_predict(&path, row, row->mode == XST_MODE_ALIGNED ? XST_MODEL_LAW_ALIGNED : XST_MODEL_LAW, &law);
        if (!law.known || xst_fluid_row_predict(&path, row, 1, &fluid, NULL) != XST_OK)
            continue;
        xt_near(fluid.issue_us, law.issue_us, 0.01 * law.issue_us + 0.001);
        path.groups = (struct xst_measure){24, 24, 24, 1, 1};
        path.share_spread_burst = (struct xst_measure){0.2, 0.1, 0.4, 1, 1};
        xt_ok(xst_fluid_row_predict(&path, row, 1, &fluid, &diag), &diag);
        close += fabs(fluid.issue_us - row->issue_mean_us) <= fmax(0.1 * row->issue_mean_us, 0.5);
        judged++;
    }
    assert_true(judged > 100);
    assert_true(close > 0.95 * judged);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows nobody has fitted anything to: the tables are of other rows of their probe, ports and spread of another probe's. */
static void blind(const char *tables_name, const char *rows_name, enum xst_target target, double spread)
{
    struct xst_samples tables = {0}, rows = {0};
    struct xst_profile profile;
    struct xst_diag diag;
    double period[128], issue[128];
    size_t count = 0;
    xt_data_read(tables_name, &tables);
    xt_data_read(rows_name, &rows);
    xt_ok(xst_profile_fit(&tables, NULL, &profile, NULL, &diag), &diag);
    struct xst_path path = *xt_path_of(&profile, target, XST_METHOD_ST16);
    path.groups = (struct xst_measure){24, 24, 24, 1, 1};
    path.share_spread_burst = (struct xst_measure){spread, spread, spread, 1, 1};
    for (size_t i = 0; i < rows.row_count && count < 128; i++) {
        const struct xst_sample *const row = &rows.rows[i];
        struct xst_fluid_prediction prediction;
        if (row->mode != XST_MODE_PERIODIC || !(row->gap_us > 0) || !xst_path_has_row(&path, row))
            continue;
        xt_ok(xst_fluid_row_predict(&path, row, i, &prediction, &diag), &diag);
        period[count] = fabs(prediction.total_us / row->total_us - 1);
        issue[count++] = fabs(prediction.issue_us - row->issue_mean_us) / row->period_mean_us;
    }
    assert_true(count > 50);
    qsort(period, count, sizeof *period, by_value);
    qsort(issue, count, sizeof *issue, by_value);
    xt_within(period[count / 2], 0, 0.01);
    xt_within(period[9 * count / 10], 0, 0.04);
    xt_within(period[count - 1], 0, 0.10);
    xt_within(issue[count / 2], 0, 0.01);
    xt_within(issue[9 * count / 10], 0, 0.04);
    xt_within(issue[count - 1], 0, 0.12);
    xst_profile_free(&profile);
    xst_samples_free(&tables);
    xst_samples_free(&rows);
}

static void blind_rows_hold(void **state)
{
    (void)state;
    blind("h200x2-calibrate.csv", "h200x2-clock.csv", XST_TARGET_PEER, 0.2);
    blind("h200-host-calibrate.csv", "h200-host-clock.csv", XST_TARGET_HOST, 0.4);
}

/* What the clock does not see costs no time where a gap lets it drain, and blocks the next burst where none does. */
static void queued_bytes_only_block_without_a_gap(void **state)
{
    (void)state;
    struct xst_samples samples = {0};
    struct xst_profile profile;
    struct xst_diag diag;
    xt_data_read("h200-host-clock.csv", &samples);
    xt_data_read("h200-host-calibrate.csv", &samples);
    struct xst_path path = *host_path(&profile, &samples);
    path.groups.known = path.share_spread_burst.known = path.share_spread.known = path.loop_us.known = 0;
    const double share = path.drain_bytes_per_us.value / 132;
    for (int gap = 0; gap < 2; gap++) {
        const struct xst_sample row = {.mode = XST_MODE_PERIODIC,
                                       .target = XST_TARGET_HOST,
                                       .threads = 256,
                                       .producers = 132,
                                       .bytes_per_producer = 32768,
                                       .gap_us = gap ? 30 : 0,
                                       .bursts = 48};
        struct xst_fluid_prediction prediction;
        xt_ok(xst_fluid_row_predict(&path, &row, 1, &prediction, &diag), &diag);
        xt_near(prediction.issue_us, (gap ? 32768 : 32768 - 4096) / share - row.gap_us, 0.02 * 32768 / share);
        xt_near(prediction.total_us, 48 * 32768 / share, 0.01 * prediction.total_us);
    }
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void says_what_is_missing(void **state)
{
    (void)state;
    struct xst_samples samples = xt_host_samples();
    struct xst_profile profile;
    struct xst_path path = *host_path(&profile, &samples);
    struct xst_fluid_prediction prediction;
    struct xst_diag diag;
    const struct xst_sample row = {.mode = XST_MODE_PERIODIC,
                                   .producers = 132,
                                   .bytes_per_producer = 16384,
                                   .bursts = 4};
    struct xst_path other = path;
    other.drain_bytes_per_us.known = 0;
    xt_status(xst_fluid_row_predict(&other, &row, 0, &prediction, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "drain rate");
    other = path;
    other.issue_floor.count = 0;
    xt_status(xst_fluid_row_predict(&other, &row, 0, &prediction, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "issue floor");
    other = path;
    other.capacity.count = 0;
    xt_status(xst_fluid_row_predict(&other, &row, 0, &prediction, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "capacity");
    struct xst_samples none = {0};
    xt_status(xst_path_fit_dispersion(&path, &none, NULL, NULL, &diag), XST_ERR_NO_DATA, &diag);
    xt_contains(diag.text, "needs 8");
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_of_a_full_device),    cmocka_unit_test(every_producer_has_a_port),
        cmocka_unit_test(fit_reaches_its_bounds),    cmocka_unit_test(spread_makes_the_host_rows_better),
        cmocka_unit_test(aligned_and_isolated_rows), cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(blind_rows_hold),           cmocka_unit_test(queued_bytes_only_block_without_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
