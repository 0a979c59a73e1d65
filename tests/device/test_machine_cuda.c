/* SPDX-License-Identifier: Apache-2.0
 *
 * Measuring a real device: every byte arrives, by every method and pattern; bad requests are refused; rows are sane.
 * Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <xstage/machine.h>

static struct xst_machine *machine;
static int64_t sm_count;

static struct xst_measure_request request_of(enum xst_mode mode, enum xst_target target, enum xst_method method,
                                             int64_t producers, int64_t bytes)
{
    return (struct xst_measure_request){.mode = mode,
                                        .target = target,
                                        .method = method,
                                        .threads = 256,
                                        .producers = producers,
                                        .bytes_per_producer = bytes,
                                        .bursts = mode == XST_MODE_ISOLATED ? 1 : 12,
                                        .reps = 2};
}

static enum xst_status check_row(void *user, const struct xst_measure_row *row, struct xst_diag *diag)
{
    const struct xst_measure_request *const request = row->request;
    (void)user, (void)diag;
    xt_near(row->extras.verified_bytes, (double)request->producers * (double)request->bytes_per_producer, 0);
    assert_true(row->sample->issue_mean_us > 0);
    assert_true(row->sample->issue_max_us >= row->sample->issue_mean_us * 0.999);
    assert_true(row->sample->release_mean_us >= row->sample->issue_mean_us * 0.999);
    assert_true(row->sample->total_us > 0);
    return XST_OK;
}

static void run(const struct xst_measure_request *requests, size_t count)
{
    const struct xst_measure_options options = {.verify = 1};
    const struct xst_measure_sink sink = {.row = check_row};
    struct xst_diag diag = {0};
    xt_ok(xst_machine_measure(machine, requests, count, &options, &sink, &diag), &diag);
}

/* Sizes around the sweep of all threads, the bulk chunk and the staging buffer. */
static void test_every_byte(void **state)
{
    static const int64_t sizes[] = {16, 48, 4096, 4112, 8192, 8208, 65536, 131072, 147456};
    static const enum xst_target targets[] = {XST_TARGET_HOST, XST_TARGET_LOCAL};
    struct xst_measure_request requests[2 * 3 * 9 * 2];
    size_t count = 0;
    (void)state;
    for (int t = 0; t < 2; t++)
        for (int m = 0; m < 3; m++)
            for (int s = 0; s < 9; s++) {
                requests[count++] = request_of(XST_MODE_ISOLATED, targets[t], (enum xst_method)m, 3, sizes[s]);
                requests[count++] = request_of(XST_MODE_PERIODIC, targets[t], (enum xst_method)m, sm_count, sizes[s]);
            }
    run(requests, count);
}

static void test_rows(void **state)
{
    static const int64_t shapes[][3] = {/* bytes, piece, pitch */
                                        {16384, 256, 6144},  {16384, 64, 1536},     {32768, 8192, 10240},
                                        {16384, 4096, 4096}, {24576, 12288, 16384}, {147456, 16384, 20480}};
    struct xst_measure_request requests[3 * 6];
    size_t count = 0;
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < 6; s++) {
            struct xst_measure_request *const request = &requests[count++];
            *request = request_of(XST_MODE_PERIODIC, XST_TARGET_HOST, (enum xst_method)m, 29, shapes[s][0]);
            request->piece_bytes = shapes[s][1];
            request->pitch_bytes = shapes[s][2];
            if (m == XST_METHOD_ST4 && shapes[s][1] == 12288)
                request->piece_bytes = 6144; /* its sweep is 1 KiB */
        }
    run(requests, count);
}

static void test_threads_and_modes(void **state)
{
    static const int64_t threads[] = {32, 128, 512, 1024};
    struct xst_measure_request requests[12];
    size_t count = 0;
    (void)state;
    for (int t = 0; t < 4; t++)
        for (int m = 0; m < 3; m++) {
            requests[count] = request_of(XST_MODE_ALIGNED, XST_TARGET_HOST, (enum xst_method)m, sm_count, 16384);
            requests[count].threads = threads[t];
            requests[count].gap_us = 20;
            count++;
        }
    run(requests, count);
}

static void expect_refused(const struct xst_measure_request *request, enum xst_status status, const char *part)
{
    struct xst_diag diag = {0};
    xt_status(xst_machine_check(machine, request, &diag), status, &diag);
    xt_contains(diag.text, part);
}

static void test_refusals(void **state)
{
    struct xst_measure_request request =
        request_of(XST_MODE_PERIODIC, XST_TARGET_HOST, XST_METHOD_BULK, sm_count + 1, 131072);
    (void)state;
    expect_refused(&request, XST_ERR_RANGE, "do not fit on device");
    request = request_of(XST_MODE_PERIODIC, XST_TARGET_HOST, XST_METHOD_ST16, 65536, 1024);
    expect_refused(&request, XST_ERR_RANGE, "do not fit on device");
    request = request_of(XST_MODE_PERIODIC, XST_TARGET_HOST, XST_METHOD_ST16, 1, 1024);
    request.gap_us = 1e6;
    expect_refused(&request, XST_ERR_RANGE, "one run would last");
    if (!xst_machine_has_target(machine, XST_TARGET_PEER)) {
        request = request_of(XST_MODE_PERIODIC, XST_TARGET_PEER, XST_METHOD_ST16, 1, 1024);
        expect_refused(&request, XST_ERR_UNAVAILABLE, "target peer does not exist");
    }
}

/* More memory than there is, a device that is not there, and one that is being measured already. */
static void test_faults(void **state)
{
    struct xst_measure_request request =
        request_of(XST_MODE_PERIODIC, XST_TARGET_LOCAL, XST_METHOD_ST16, sm_count, 1 << 30);
    const struct xst_measure_options options = {0};
    const struct xst_measure_sink sink = {.row = NULL};
    struct xst_machine *other = NULL;
    struct xst_diag diag = {0};
    (void)state;
    xt_status(xst_machine_measure(machine, &request, 1, &options, &sink, &diag), XST_ERR_MEMORY, &diag);
    xt_contains(diag.text, "MiB");
    xt_status(xst_machine_open("cuda:99", &other, &diag), XST_ERR_UNAVAILABLE, &diag);
    xt_contains(diag.text, "device 99 does not exist");
    xt_status(xst_machine_open("cuda", &other, &diag), XST_ERR_DEVICE, &diag);
    xt_contains(diag.text, "is measuring this device");
}

/* Who sends to whom on every device there is: all bytes of all senders arrive, each in its own place. Last: it opens a machine of its
 * own. */
static void test_flows(void **state)
{
    struct xst_diag diag = {0};
    (void)state;
    xst_machine_close(machine);
    machine = NULL;
    if (xst_machine_open("cuda:0,1", &machine, &diag) != XST_OK) {
        xt_ok(xst_machine_open("cuda", &machine, &diag), &diag);
        struct xst_measure_request alone = request_of(XST_MODE_PERIODIC, XST_TARGET_HOST, XST_METHOD_ST16, 1, 1024);
        alone.flow = XST_FLOW_ROTATION;
        expect_refused(&alone, XST_ERR_USAGE, "between devices");
        return;
    }
    struct xst_measure_request requests[4 * 2 * 2];
    size_t count = 0;
    for (int m = 0; m < 2; m++)
        for (int f = 0; f < 4; f++)
            for (int k = 0; k < 2; k++) {
                struct xst_measure_request *const request = &requests[count++];
                *request = request_of(k ? XST_MODE_PERIODIC : XST_MODE_ISOLATED, XST_TARGET_PEER,
                                      m ? XST_METHOD_BULK : XST_METHOD_ST16, 8, 16384);
                request->flow = (enum xst_flow)f;
                request->sender = f == XST_FLOW_PAIR || f == XST_FLOW_SPREAD;
            }
    run(requests, count);
}

/* Bystanders and the load loop leave rows; nothing about their size is decided here. */
static void test_bystanders(void **state)
{
#define X(NAME, text, meaning) XST_BYSTANDER_OP_##NAME,
    static const enum xst_bystander_op ops[] = {XST_BYSTANDER_OP_MAP(X)};
#undef X
    enum { OPS = sizeof ops / sizeof *ops };
    struct xst_measure_request requests[2 * OPS + 4];
    struct xst_samples samples = {0};
    const struct xst_measure_options options = {0};
    const struct xst_measure_sink sink = xst_measure_sink_samples(&samples);
    struct xst_diag diag = {0};
    size_t count = 0;
    (void)state;
    for (int m = 0; m < 2; m++) {
        const enum xst_method method = m ? XST_METHOD_BULK : XST_METHOD_ST16;
        for (int o = 0; o < OPS; o++)
            requests[count++] = (struct xst_measure_request){.probe = XST_PROBE_BYSTANDER,
                                                             .target = XST_TARGET_HOST,
                                                             .method = method,
                                                             .threads = 256,
                                                             .producers = sm_count,
                                                             .bytes_per_producer = o % 2 * 8192,
                                                             .op = ops[o],
                                                             .reps = 2};
        for (int k = 0; k < 2; k++)
            requests[count++] = (struct xst_measure_request){.probe = XST_PROBE_LOOP,
                                                             .target = XST_TARGET_HOST,
                                                             .method = method,
                                                             .threads = 256,
                                                             .producers = k * (sm_count - 8),
                                                             .bytes_per_producer = k * 16384,
                                                             .slices = 1 + 3 * k,
                                                             .slice_every_us = 5,
                                                             .load_bytes = 4096,
                                                             .load_span_bytes = 65536,
                                                             .span_us = 40,
                                                             .reps = 2};
    }
    xt_ok(xst_machine_measure(machine, requests, count, &options, &sink, &diag), &diag);
    assert_int_equal(samples.bystander_count, 2 * OPS);
    assert_int_equal(samples.loop_count, 4);
    for (size_t i = 0; i < samples.bystander_count; i++)
        assert_true(samples.bystanders[i].op_us_mean > 0);
    for (size_t i = 0; i < samples.loop_count; i++)
        assert_true(samples.loops[i].other_loads > 0);
    xst_samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_byte),
                                       cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_threads_and_modes),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_bystanders),
                                       cmocka_unit_test(test_flows)};
    struct xst_diag diag = {0};
    const enum xst_status status = xst_machine_open("cuda", &machine, &diag);
    if (status == XST_ERR_UNAVAILABLE) {
        printf("SKIP: %s\n", diag.text);
        return 77;
    }
    if (status != XST_OK) {
        printf("FAIL: %s\n", diag.text);
        return 1;
    }
    sm_count = (int64_t)xst_machine_facts(machine)->sm_count.value;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    xst_machine_close(machine);
    return failed;
}
