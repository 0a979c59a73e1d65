/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded rows as a machine: the same question gives the recorded answer, another one is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/machine.h>

static const char spec[] =
    "file:" XST_SOURCE_DIR "/data/h200x2-bursts.csv," XST_SOURCE_DIR "/data/h200-host-bystander.csv";

static const struct xst_measure_request burst = {.probe = XST_PROBE_BURST,
                                                 .mode = XST_MODE_ISOLATED,
                                                 .target = XST_TARGET_PEER,
                                                 .method = XST_METHOD_ST16,
                                                 .threads = 256,
                                                 .producers = 132,
                                                 .bytes_per_producer = 32768,
                                                 .bursts = 1,
                                                 .reps = 3};

static struct xst_machine *open_machine(void)
{
    struct xst_machine *machine = NULL;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (xst_machine_open(spec, &machine, &diag) != XST_OK)
        fail_msg("%s", diag.text);
    return machine;
}

static void answers_what_was_recorded(void **state)
{
    (void)state;
    struct xst_machine *const machine = open_machine();
    struct xst_samples samples = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_measure_sink sink = xst_measure_sink_samples(&samples);
    const struct xst_measure_options options = {.precision = 0};
    struct xst_measure_request requests[] = {burst, burst};
    requests[1].probe = XST_PROBE_BYSTANDER;
    requests[1].target = XST_TARGET_HOST;
    requests[1].bytes_per_producer = 16384;
    requests[1].op = XST_BYSTANDER_OP_LOAD;
    requests[1].delay_us = 20;
    if (xst_machine_measure(machine, requests, 2, &options, &sink, &diag) != XST_OK)
        fail_msg("%s", diag.text);
    assert_int_equal(samples.row_count, 1);
    assert_float_equal(samples.rows[0].issue_mean_us, 4.969, 0.001);
    assert_int_equal(samples.bystander_count, 1);
    assert_float_equal(samples.bystanders[0].op_us_max, 16.154, 0.001);
    assert_string_equal(xst_machine_facts(machine)->origin, "recorded");
    assert_true(xst_machine_has_target(machine, XST_TARGET_LOCAL));
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

static void refuses_what_was_not(void **state)
{
    (void)state;
    struct xst_machine *machine = open_machine();
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_measure_request request = burst;
    request.bytes_per_producer = 33008;
    assert_int_equal(xst_machine_check(machine, &request, &diag), XST_ERR_NO_DATA);
    assert_non_null(strstr(diag.text, "132 x 33008 B: no recorded row has it"));
    xst_machine_close(machine);
    assert_int_equal(xst_machine_open("file:", &machine, &diag), XST_ERR_USAGE);
    assert_int_equal(xst_machine_open("file:a.csv,,b.csv", &machine, &diag), XST_ERR_IO);
    assert_int_equal(xst_machine_open("file:" XST_SOURCE_DIR "/data,", &machine, &diag), XST_ERR_IO);
    assert_int_equal(xst_machine_open("fil:a.csv", &machine, &diag), XST_ERR_USAGE);
    assert_non_null(strstr(diag.text, "did you mean \"file\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_what_was_recorded),
                                       cmocka_unit_test(refuses_what_was_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
