/* SPDX-License-Identifier: Apache-2.0
 *
 * The laws' word on one row, by hand: T0 0.5 us, R 372 GB/s, Q 2.4 MiB, d 0.2, F 1.95 (docs/model.md, "How errors are measured").
 */
#include <math.h>
#include <stdlib.h>

#include <xstage/model.h>

#include "support/support.h"

static const double VOLUME = 132.0 * 32768, DRAIN_US = 132.0 * 32768 / 372000;

static struct xst_sample row_of(enum xst_mode mode, double gap_us, int64_t bursts)
{
    return (struct xst_sample){.mode = mode,
                               .threads = 256,
                               .producers = 132,
                               .bytes_per_producer = 32768,
                               .gap_us = gap_us,
                               .bursts = bursts,
                               .reps = 1};
}

static struct xst_row_prediction predict(const struct xst_path *path, struct xst_sample row, enum xst_model model)
{
    struct xst_row_prediction prediction = {-1, -1, -1, -1};
    xst_row_predict(path, &row, model, &prediction);
    return prediction;
}

static void free_running(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_path *const path = profile.paths;
    struct xst_row_prediction got = predict(path, row_of(XST_MODE_PERIODIC, 0, 100), XST_MODEL_LAW);
    assert_true(got.known);
    xt_near(got.total_us, 100 * DRAIN_US + 1.95, 1e-6);
    xt_near(got.issue_us, DRAIN_US - 0.2, 1e-9);
    got = predict(path, row_of(XST_MODE_PERIODIC, 20, 100), XST_MODEL_LAW);
    xt_near(got.total_us, 100 * 0.5 + 99 * 20.2 + 1.95, 1e-6);
    xt_near(got.issue_us, 0.5, 1e-9);
    xt_near(got.release_us, got.issue_us, 0);
    got = predict(path, row_of(XST_MODE_PERIODIC, 5, 100), XST_MODEL_LAW);
    xt_near(got.issue_us, DRAIN_US - 5.2, 1e-9);
    got = predict(path, row_of(XST_MODE_PERIODIC, 5, 100), XST_MODEL_COMPLETION_COUPLED);
    xt_near(got.total_us, 100 * DRAIN_US + 99 * 5.2 + 1.95, 1e-6);
    xst_profile_free(&profile);
}

/* Aligned rows: the gap is what the row itself shows between issue end and next start, the barrier included. */
static void aligned(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_sample row = row_of(XST_MODE_ALIGNED, 5, 100);
    row.issue_mean_us = 5;
    row.period_mean_us = 30;
    const double issue_us = (VOLUME - 2.4 * 1048576) / 372000;
    const struct xst_row_prediction got = predict(profile.paths, row, XST_MODEL_LAW_ALIGNED);
    xt_near(got.issue_us, issue_us, 1e-6);
    /* last burst: its issue, then what is left of it drains, then the fence */
    xt_near(got.total_us, 99 * (issue_us + 25) + DRAIN_US + 1.95, 1e-5);
    xst_profile_free(&profile);
}

static void isolated(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_row_prediction law = predict(profile.paths, row_of(XST_MODE_ISOLATED, 0, 1), XST_MODEL_LAW);
    xt_near(law.issue_us, (VOLUME - 2.4 * 1048576) / 372000, 1e-6);
    xt_near(law.total_us, 0, 0);
    const struct xst_row_prediction rival =
        predict(profile.paths, row_of(XST_MODE_ISOLATED, 0, 1), XST_MODEL_COMPLETION_COUPLED);
    xt_near(rival.issue_us, DRAIN_US, 1e-9);
    xst_profile_free(&profile);
}

static void what_is_missing_is_not_known(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_path path = profile.paths[0];
    path.drain_bytes_per_us.known = 0;
    assert_false(predict(&path, row_of(XST_MODE_PERIODIC, 5, 10), XST_MODEL_LAW).known);
    path = profile.paths[0];
    path.issue_floor.count = 0;
    assert_false(predict(&path, row_of(XST_MODE_PERIODIC, 5, 10), XST_MODEL_LAW).known);
    /* d and F are parts of a sum: unknown, they count as nothing */
    path = profile.paths[0];
    path.loop_us.known = path.fence_us.known = 0;
    xt_near(predict(&path, row_of(XST_MODE_PERIODIC, 20, 10), XST_MODEL_LAW).total_us, 10 * 0.5 + 9 * 20, 1e-9);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_running),
        cmocka_unit_test(aligned),
        cmocka_unit_test(isolated),
        cmocka_unit_test(what_is_missing_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
