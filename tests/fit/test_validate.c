/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows a validation line counts, and what its numbers are. Bounds on recorded rows are in test_recorded.c.
 */
#include <math.h>
#include <stdlib.h>

#include <xstage/fit.h>

#include "support/synth.h"

struct judged {
    struct xst_samples samples;
    struct xst_profile profile;
    struct xst_fit fit;
    struct xst_validation validation;
};

static void judge(struct judged *judged, const struct xst_fit *fit)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_validation_run(&judged->profile, &judged->samples, fit, &judged->validation, &diag), &diag);
}

static void make(struct judged *judged)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    judged->samples = xt_host_samples();
    xt_ok(xst_profile_fit(&judged->samples, NULL, &judged->profile, &judged->fit, &diag), &diag);
}

static void unmake(struct judged *judged)
{
    xst_validation_free(&judged->validation);
    xst_validation_free(&judged->validation);
    xst_fit_free(&judged->fit);
    xst_profile_free(&judged->profile);
    xst_samples_free(&judged->samples);
}

/* Rows of a path and kind counted by hand; held_out: only those that served nothing. */
static int64_t count_rows(const struct judged *judged, const struct xst_validation_row *line)
{
    int64_t count = 0;
    for (size_t i = 0; i < judged->samples.row_count; i++) {
        const struct xst_sample *const row = &judged->samples.rows[i];
        const enum xst_rows rows = row->mode == XST_MODE_ISOLATED  ? XST_ROWS_ISOLATED
                                   : row->mode == XST_MODE_ALIGNED ? XST_ROWS_ALIGNED
                                   : row->gap_us > 0               ? XST_ROWS_FREE
                                                                   : XST_ROWS_ZERO_GAP;
        count += row->target == line->path.target && row->method == line->path.method && rows == line->rows &&
                 !(line->held_out && judged->fit.used[i]);
    }
    return count;
}

static void every_row_of_a_group_counts(void **state)
{
    (void)state;
    struct judged judged = {0};
    make(&judged);
    judge(&judged, &judged.fit);
    int held_out_lines = 0;
    for (size_t i = 0; i < judged.validation.row_count; i++) {
        const struct xst_validation_row *const line = &judged.validation.rows[i];
        assert_true(line->n > 0);
        assert_true(line->median_abs_rel_err <= line->p90_abs_rel_err &&
                    line->p90_abs_rel_err <= line->max_abs_rel_err);
        assert_true(fabs(line->bias) <= line->max_abs_rel_err);
        assert_true(line->median_abs_err_us >= 0);
        if (line->quantity == XST_QUANTITY_PERIOD || line->quantity == XST_QUANTITY_ISSUE)
            assert_int_equal(line->n, count_rows(&judged, line));
        else
            assert_true(line->n <= count_rows(&judged, line));
        held_out_lines += line->held_out;
    }
    assert_true(held_out_lines > 5);
    assert_int_equal(judged.validation.unmatched_rows, 0);
    unmake(&judged);
}

static void without_a_fit_nothing_is_held_out(void **state)
{
    (void)state;
    struct judged judged = {0};
    make(&judged);
    judge(&judged, NULL);
    assert_true(judged.validation.row_count > 5);
    for (size_t i = 0; i < judged.validation.row_count; i++)
        assert_false(judged.validation.rows[i].held_out);
    unmake(&judged);
}

static void rows_of_other_paths_are_unmatched(void **state)
{
    (void)state;
    struct judged judged = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    make(&judged);
    const size_t before = judged.samples.row_count;
    const struct xst_sample stranger = {.target = XST_TARGET_PEER,
                                        .threads = 256,
                                        .producers = 1,
                                        .bytes_per_producer = 1};
    xt_ok(xst_samples_append(&judged.samples, &stranger, &diag), &diag);
    judge(&judged, NULL);
    assert_int_equal(judged.validation.unmatched_rows, 1);
    xst_validation_free(&judged.validation);
    /* a fit of other samples is refused */
    xt_status(xst_validation_run(&judged.profile, &judged.samples, &judged.fit, &judged.validation, &diag),
              XST_ERR_USAGE, &diag);
    judged.samples.row_count = before;
    unmake(&judged);
}

/* Rows made by the laws themselves, without noise: the laws that made them have no error to speak of, the rival has. */
static void rows_made_by_the_laws(void **state)
{
    (void)state;
    struct judged judged = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xt_machine machine = {.drain_bytes_per_us = 200e3,
                                 .capacity_per_producer_bytes = 20e3,
                                 .capacity_total_bytes = INFINITY,
                                 .floor_us = 0.08,
                                 .floor_bytes_per_us = 25e3,
                                 .loop_us = 0.2,
                                 .fence_us = 1.5,
                                 .drifting = 1};
    const int64_t counts[] = {1, 16, 32, 64};
    xt_machine_isolated(&machine, counts, 4, &judged.samples);
    xt_machine_zero_gap(&machine, counts, 4, &judged.samples);
    xt_machine_gaps(&machine, counts, 4, &judged.samples);
    xt_machine_aligned(&machine, counts, 4, &judged.samples);
    xt_ok(xst_profile_fit(&judged.samples, NULL, &judged.profile, &judged.fit, &diag), &diag);
    judge(&judged, &judged.fit);
    int lines = 0;
    for (size_t i = 0; i < judged.validation.row_count; i++) {
        const struct xst_validation_row *const line = &judged.validation.rows[i];
        const enum xst_model maker = line->rows == XST_ROWS_ALIGNED ? XST_MODEL_LAW_ALIGNED : XST_MODEL_LAW;
        /* few bursts into an empty stage: the start of a zero-gap run is not its steady state */
        if (line->model == maker && line->quantity == XST_QUANTITY_PERIOD && ++lines)
            xt_within(line->median_abs_rel_err, 0, 0.002);
        if (line->model == maker && line->quantity == XST_QUANTITY_ISOLATED_ISSUE && ++lines)
            xt_within(line->median_abs_rel_err, 0, 0.005);
        if (line->model == XST_MODEL_COMPLETION_COUPLED && line->quantity == XST_QUANTITY_PERIOD &&
            line->rows == XST_ROWS_FREE)
            xt_within(line->median_abs_rel_err, 0.2, 2);
    }
    assert_true(lines >= 4);
    unmake(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_a_group_counts),
        cmocka_unit_test(without_a_fit_nothing_is_held_out),
        cmocka_unit_test(rows_of_other_paths_are_unmatched),
        cmocka_unit_test(rows_made_by_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
