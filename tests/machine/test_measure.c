/* SPDX-License-Identifier: Apache-2.0
 *
 * Measuring a synthetic machine: rows, determinism, precision, interruption, and the way back to its parameters.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/machine.h>

static const char quiet_spec[] = "sim:producers=32,drain=100GB/s,per-producer=20KiB,floor=50GB/s,fence=2us,free=100KiB";
static const char noisy_spec[] =
    "sim:producers=32,drain=100GB/s,per-producer=20KiB,floor=50GB/s,fence=2us,noise=0.05,spread=0.3,seed=7";

static struct xst_machine *open_machine(const char *spec)
{
    struct xst_machine *machine = NULL;
    struct xst_diag diag = {0};
    xt_ok(xst_machine_open(spec, &machine, &diag), &diag);
    return machine;
}

static struct xst_measure_request request_of(enum xst_mode mode, int64_t producers, int64_t bytes, double gap_us)
{
    return (struct xst_measure_request){.mode = mode,
                                        .target = XST_TARGET_PEER,
                                        .method = XST_METHOD_ST16,
                                        .threads = 256,
                                        .producers = producers,
                                        .bytes_per_producer = bytes,
                                        .gap_us = gap_us,
                                        .bursts = mode == XST_MODE_ISOLATED ? 1 : 32,
                                        .reps = 3};
}

static void measure(struct xst_machine *machine, const struct xst_measure_request *requests, size_t count,
                    double precision, struct xst_samples *samples)
{
    const struct xst_measure_options options = {.precision = precision};
    const struct xst_measure_sink sink = xst_measure_sink_samples(samples);
    struct xst_diag diag = {0};
    xt_ok(xst_machine_measure(machine, requests, count, &options, &sink, &diag), &diag);
}

/* Isolated bursts follow (7), zero-gap totals give R, a long gap gives the floor. */
static void test_rows(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    const struct xst_measure_request requests[] = {request_of(XST_MODE_ISOLATED, 32, 65536, 0),
                                                   request_of(XST_MODE_PERIODIC, 32, 32768, 0),
                                                   request_of(XST_MODE_PERIODIC, 32, 16384, 50)};
    struct xst_samples samples = {0};
    (void)state;
    measure(machine, requests, 3, 0, &samples);
    assert_int_equal(samples.row_count, 3);
    xt_near(samples.rows[0].issue_mean_us, (32 * 65536 - 32 * 20480) / 100e3, 0.1);
    xt_near(32 * 32768.0 * 32 / (samples.rows[1].total_us - 2), 100e3, 1e3);
    xt_near(samples.rows[2].issue_mean_us, 16384 / 50e3, 1e-6);
    xt_near(samples.rows[2].period_mean_us, 50 + 16384 / 50e3, 1e-6);
    assert_int_equal(samples.rows[0].reps, 3);
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

/* The same seed gives the same rows, in any order; another seed other rows. */
static void test_seed(void **state)
{
    struct xst_machine *const machine = open_machine(noisy_spec);
    const struct xst_measure_request first[] = {request_of(XST_MODE_PERIODIC, 32, 32768, 4),
                                                request_of(XST_MODE_ISOLATED, 32, 65536, 0)};
    const struct xst_measure_request second[] = {first[1], first[0]};
    struct xst_samples a = {0}, b = {0};
    (void)state;
    measure(machine, first, 2, 0, &a);
    measure(machine, second, 2, 0, &b);
    assert_memory_equal(&a.rows[0].issue_mean_us, &b.rows[1].issue_mean_us, 6 * sizeof(double));
    assert_memory_equal(&a.rows[1].issue_mean_us, &b.rows[0].issue_mean_us, 6 * sizeof(double));
    xst_samples_free(&a);
    xst_samples_free(&b);
    xst_machine_close(machine);
}

static void test_precision(void **state)
{
    struct xst_machine *const machine = open_machine(noisy_spec);
    const struct xst_measure_request request = request_of(XST_MODE_PERIODIC, 32, 32768, 4);
    struct xst_samples loose = {0}, tight = {0};
    (void)state;
    measure(machine, &request, 1, 0.2, &loose);
    measure(machine, &request, 1, 0.02, &tight);
    assert_true(loose.rows[0].reps >= 6);
    assert_true(tight.rows[0].reps > loose.rows[0].reps);
    xst_samples_free(&loose);
    xst_samples_free(&tight);
    xst_machine_close(machine);
}

struct counting {
    int rows;
    int questions;
};

static enum xst_status count_row(void *user, const struct xst_measure_row *row, struct xst_diag *diag)
{
    (void)diag;
    assert_non_null(row->sample);
    assert_true(row->seconds_left >= 0);
    ((struct counting *)user)->rows++;
    return XST_OK;
}

static int stop_later(void *user)
{
    return ((struct counting *)user)->rows >= 2;
}

static void test_interruption(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    const struct xst_measure_request one = request_of(XST_MODE_PERIODIC, 32, 16384, 1);
    const struct xst_measure_request requests[] = {one, one, one, one};
    const struct xst_measure_options options = {0}, hurried = {.timeout_us = 1e-3};
    struct counting counting = {0};
    const struct xst_measure_sink sink = {.user = &counting, .row = count_row, .stop = stop_later};
    const struct xst_measure_sink patient = {.user = &counting, .row = count_row};
    struct xst_diag diag = {0};
    (void)state;
    xt_status(xst_machine_measure(machine, requests, 4, &options, &sink, &diag), XST_ERR_INTERRUPTED, &diag);
    assert_int_equal(counting.rows, 2);
    xt_contains(diag.text, "2 of 4 cells");
    xt_status(xst_machine_measure(machine, requests, 4, &hurried, &patient, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "0 of 4 cells");
    xst_machine_close(machine);
}

/* Nothing is measured when one cell of the list cannot be. */
static void test_refusals(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    struct xst_measure_request requests[] = {request_of(XST_MODE_PERIODIC, 32, 16384, 1),
                                             request_of(XST_MODE_PERIODIC, 33, 16384, 1)};
    const struct xst_measure_options options = {0};
    struct counting counting = {0};
    const struct xst_measure_sink sink = {.user = &counting, .row = count_row};
    struct xst_diag diag = {0};
    (void)state;
    xt_status(xst_machine_measure(machine, requests, 2, &options, &sink, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "producers is 33");
    assert_int_equal(counting.rows, 0);
    requests[1] = requests[0];
    requests[1].target = XST_TARGET_LOCAL;
    xt_status(xst_machine_measure(machine, requests, 2, &options, &sink, &diag), XST_ERR_UNAVAILABLE, &diag);
    requests[1] = requests[0];
    requests[1].threads = 512;
    xt_status(xst_machine_measure(machine, requests, 2, &options, &sink, &diag), XST_ERR_UNAVAILABLE, &diag);
    xt_contains(diag.text, "512");
    xst_machine_close(machine);
}

/* The default plan, fitted: the parameters come back. */
static void test_recovery(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    struct xst_measure_request *requests = NULL;
    size_t count = 0, kept = 0;
    struct xst_samples samples = {0};
    struct xst_profile profile = {0};
    struct xst_diag diag = {0};
    (void)state;
    xt_ok(xst_plan_calibration(XST_TARGET_PEER, 32, 100e3, &requests, &count, &diag), &diag);
    for (size_t i = 0; i < count; i++)
        if (xst_machine_check(machine, &requests[i], &diag) == XST_OK)
            requests[kept++] = requests[i];
        else
            assert_int_equal(requests[i].probe, XST_PROBE_LOOP);
    measure(machine, requests, kept, 0, &samples);
    const struct xst_fit_options options = {.facts = xst_machine_facts(machine), .name = "recovered"};
    xt_ok(xst_profile_fit(&samples, &options, &profile, NULL, &diag), &diag);
    const struct xst_path *const path = xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16);
    xt_near(path->drain_bytes_per_us.value, 100e3, 1e3);
    xt_near(path->fence_us.value, 2, 0.1);
    assert_true(path->capacity.count > 0);
    xt_near(path->capacity.points[path->capacity.count - 1].bytes, 32 * 20480, 0.03 * 32 * 20480);
    free(requests);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

/* A machine from a stored profile answers as that profile says. */
static void test_profile(void **state)
{
    struct xst_profile profile = xt_small_profile();
    struct xst_machine *machine = NULL;
    struct xst_diag diag = {0};
    struct xst_samples samples = {0};
    const struct xst_measure_request request = request_of(XST_MODE_PERIODIC, 132, 32768, 0);
    (void)state;
    xt_ok(xst_machine_open_profile(&profile, 1, &machine, &diag), &diag);
    xst_profile_free(&profile);
    measure(machine, &request, 1, 0, &samples);
    xt_near(132 * 32768.0 * 32 / samples.rows[0].total_us, 372e3, 0.03 * 372e3);
    assert_string_equal(xst_machine_facts(machine)->origin, "synthetic");
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

static struct xst_measure_request flow_of(enum xst_flow flow, int64_t senders)
{
    struct xst_measure_request request = request_of(XST_MODE_PERIODIC, 32, 32768, 0);
    request.flow = flow;
    request.senders = senders;
    return request;
}

/* Four devices: V/R of 10.49 us a burst and sender. What a receiver takes in (R unless said otherwise) is shared by its senders; what
 * goes to all others in turn is bound by the sender alone. */
static void test_flows(void **state)
{
    static const char four[] =
        "sim:producers=32,drain=100GB/s,per-producer=20KiB,floor=50GB/s,fence=2us,devices=4,ingress=150GB/s";
    struct xst_machine *const machine = open_machine(four);
    const struct xst_measure_request requests[] = {flow_of(XST_FLOW_INCAST, 1), flow_of(XST_FLOW_INCAST, 3),
                                                   flow_of(XST_FLOW_SPREAD, 0), flow_of(XST_FLOW_ROTATION, 0)};
    const double alone_us = 32 * 32 * 32768.0 / 100e3;
    struct xst_samples samples = {0};
    (void)state;
    assert_int_equal(xst_machine_devices(machine), 4);
    measure(machine, requests, 4, 0, &samples);
    assert_int_equal(samples.row_count, 1 + 3 + 1 + 4);
    xt_near(samples.rows[0].total_us - 2, alone_us, 1e-3 * alone_us);
    for (int s = 0; s < 3; s++) { /* 300 GB/s want in, 150 fit */
        const struct xst_sample *const row = &samples.rows[1 + s];
        assert_int_equal(row->flow, XST_FLOW_INCAST);
        assert_int_equal(row->senders, 3);
        assert_int_equal(row->sender, s == 0 ? 0 : s + 1);
        assert_int_equal(row->receiver, 1);
        xt_near(row->total_us - 2, 2 * alone_us, 5e-3 * alone_us);
    }
    assert_int_equal(samples.rows[4].receiver, -1);
    xt_near(samples.rows[4].total_us - 2, alone_us, 5e-3 * alone_us);
    for (int s = 0; s < 4; s++) { /* equal shares stay in step: nobody meets */
        assert_int_equal(samples.rows[5 + s].sender, s);
        xt_near(samples.rows[5 + s].total_us - 2, alone_us, 5e-3 * alone_us);
    }
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

/* Unequal shares: the worst producer's fence is behind its own last burst, not behind the last one that began. */
static void test_fence_of_unequal_shares(void **state)
{
    struct xst_machine *const machine =
        open_machine("sim:producers=32,drain=100GB/s,per-producer=20KiB,floor=50GB/s,fence=2us,spread=0.6,devices=4");
    struct xst_measure_request requests[] = {request_of(XST_MODE_PERIODIC, 32, 32768, 0), flow_of(XST_FLOW_INCAST, 1)};
    struct xst_samples samples = {0};
    (void)state;
    measure(machine, requests, 2, 0, &samples);
    assert_int_equal(samples.row_count, 2);
    assert_true(samples.rows[1].fenced_max_us > 0.5 * samples.rows[0].fenced_max_us);
    assert_true(samples.rows[1].fenced_max_us < 2 * samples.rows[0].fenced_max_us);
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

/* Between two devices the rotation is both directions, and each is what one alone is. */
static void test_rotation_of_two(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    const struct xst_measure_request requests[] = {request_of(XST_MODE_PERIODIC, 32, 32768, 5),
                                                   {.mode = XST_MODE_PERIODIC,
                                                    .target = XST_TARGET_PEER,
                                                    .method = XST_METHOD_ST16,
                                                    .threads = 256,
                                                    .producers = 32,
                                                    .bytes_per_producer = 32768,
                                                    .gap_us = 5,
                                                    .bursts = 32,
                                                    .reps = 3,
                                                    .flow = XST_FLOW_ROTATION}};
    struct xst_samples samples = {0};
    (void)state;
    measure(machine, requests, 2, 0, &samples);
    assert_int_equal(samples.row_count, 3);
    for (int s = 1; s < 3; s++) {
        xt_near(samples.rows[s].total_us, samples.rows[0].total_us, 0.005 * samples.rows[0].total_us);
        xt_near(samples.rows[s].issue_mean_us, samples.rows[0].issue_mean_us, 0.05);
        xt_near(samples.rows[s].period_mean_us, samples.rows[0].period_mean_us, 0.05);
        xt_near(samples.rows[s].fenced_max_us, samples.rows[0].fenced_max_us, 0.05);
        assert_int_equal(samples.rows[s].receiver, 2 - s);
    }
    xst_samples_free(&samples);
    xst_machine_close(machine);
}

static void refuse(const struct xst_machine *machine, struct xst_measure_request request, enum xst_status wanted,
                   const char *words)
{
    struct xst_diag diag = {0};
    assert_int_equal(xst_machine_check(machine, &request, &diag), wanted);
    xt_contains(diag.text, words);
}

static void test_flow_refusals(void **state)
{
    struct xst_machine *const machine = open_machine(quiet_spec);
    struct xst_measure_request request = flow_of(XST_FLOW_INCAST, 2);
    (void)state;
    refuse(machine, request, XST_ERR_RANGE, "of 2 devices at most 1 send to one");
    request = flow_of(XST_FLOW_ROTATION, 0);
    request.target = XST_TARGET_HOST;
    refuse(machine, request, XST_ERR_USAGE, "not with host");
    request = flow_of(XST_FLOW_PAIR, 0);
    request.sender = request.receiver = 1;
    refuse(machine, request, XST_ERR_USAGE, "does not send to itself");
    request.receiver = 2;
    refuse(machine, request, XST_ERR_RANGE, "device 2 is not one of the machine's 2");
    request.sender = -1;
    request.receiver = 0;
    refuse(machine, request, XST_ERR_RANGE, "device -1 is not one of the machine's 2");
    request = flow_of(XST_FLOW_ROTATION, 0);
    request.mode = XST_MODE_ALIGNED;
    refuse(machine, request, XST_ERR_UNAVAILABLE, "free-running");
    xst_machine_close(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_rotation_of_two),
        cmocka_unit_test(test_flow_refusals),
        cmocka_unit_test(test_fence_of_unequal_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
