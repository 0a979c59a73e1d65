/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of a run to the columns of a row, on records written by hand.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "machine/reduce.h"

enum { PRODUCERS = 2, BURSTS = 4 };

/* Producer p: bursts start every 1000 (1 + p) cycles from 10 on and take 100 (1 + p) + burst cycles; release 50 later. */
static unsigned char *make_records(size_t *stride_out)
{
    const size_t stride = xsti_burst_record_stride(BURSTS);
    unsigned char *const bytes = calloc(PRODUCERS, stride);
    for (uint32_t p = 0; p < PRODUCERS; p++) {
        struct xsti_burst_record *const record = (struct xsti_burst_record *)(bytes + p * stride);
        struct xsti_burst_times *const times = (struct xsti_burst_times *)(record + 1);
        *record = (struct xsti_burst_record){.start_ns = 1000 + 32 * p,
                                             .end_ns = 9000 + 64 * p,
                                             .cycles = 16000,
                                             .fenced = 4000 * (1 + p),
                                             .sm_id = 7 + p,
                                             .done = 1};
        for (uint32_t b = 0; b < BURSTS; b++) {
            times[b].start = 10 + 1000 * (1 + p) * b;
            times[b].issue_end = times[b].start + 100 * (1 + p) + b;
            times[b].release = times[b].issue_end + 50;
        }
    }
    *stride_out = stride;
    return bytes;
}

static void test_burst(void **state)
{
    struct xsti_burst_records records = {.producers = PRODUCERS, .bursts = BURSTS};
    struct xst_sample sample = {0};
    unsigned char *const bytes = make_records(&records.stride);
    (void)state;
    records.bytes = bytes;
    xsti_reduce_burst(&records, 2.0, &sample); /* 2 GHz: 2000 cycles are 1 us */
    xt_near(sample.issue_mean_us, (102 + 103 + 202 + 203) / 4.0 / 2000, 1e-12);
    xt_near(sample.issue_max_us, 203 / 2000.0, 1e-12);
    xt_near(sample.release_mean_us, sample.issue_mean_us + 50 / 2000.0, 1e-12);
    xt_near(sample.period_mean_us, 1500 / 2000.0, 1e-12);
    xt_near(sample.fenced_max_us, (8000 - (10 + 2000 * 3)) / 2000.0, 1e-12);
    xt_near(sample.total_us, (9064 - 1000) * 1e-3, 1e-9);
    assert_int_equal(xsti_reduce_first_unfinished(&records), -1);
    ((struct xsti_burst_record *)(bytes + records.stride))->done = 0;
    assert_int_equal(xsti_reduce_first_unfinished(&records), 1);
    free(bytes);
}

/* A producer that ran long enough brings its own clock: SMs of one device differ. */
static void test_own_clock(void **state)
{
    struct xsti_burst_records records = {.producers = PRODUCERS, .bursts = BURSTS};
    struct xst_sample sample = {0};
    unsigned char *const bytes = make_records(&records.stride);
    struct xsti_burst_record *const second = (struct xsti_burst_record *)(bytes + records.stride);
    (void)state;
    records.bytes = bytes;
    second->start_ns = 1000, second->end_ns = 1001000, second->cycles = 1000000; /* 1 GHz */
    xsti_reduce_burst(&records, 2.0, &sample);
    xt_near(sample.issue_max_us, 203 / 1000.0, 1e-12);
    xt_near(xsti_reduce_clock_ghz(&records, 2.0), 1.5, 1e-12);
    free(bytes);
}

static void test_producers(void **state)
{
    struct xsti_burst_records records = {.producers = PRODUCERS, .bursts = BURSTS};
    const struct xst_sample sample = {.target = XST_TARGET_HOST, .producers = PRODUCERS, .bursts = BURSTS};
    struct xst_producer_sample rows[PRODUCERS];
    unsigned char *const bytes = make_records(&records.stride);
    (void)state;
    records.bytes = bytes;
    xsti_reduce_producers(&records, 2.0, &sample, rows);
    assert_int_equal(rows[1].producer, 1);
    assert_int_equal(rows[1].sm_id, 8);
    xt_near(rows[0].issue_mean_us, 102.5 / 2000, 1e-12);
    xt_near(rows[0].own_total_us, (3 * 1000 + 103) / 2000.0, 1e-12);
    xt_near(rows[0].fenced_total_us, (4000 - 10) / 2000.0, 1e-12);
    free(bytes);
}

/* An isolated burst has no period and counts whole. */
static void test_isolated(void **state)
{
    struct xsti_burst_records records = {.producers = PRODUCERS, .bursts = 1};
    struct xst_sample sample = {0};
    unsigned char *const bytes = make_records(&records.stride);
    (void)state;
    records.bytes = bytes;
    xsti_reduce_burst(&records, 2.0, &sample);
    xt_near(sample.issue_mean_us, 150 / 2000.0, 1e-12);
    xt_near(sample.period_mean_us, 0, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_burst), cmocka_unit_test(test_own_clock),
                                       cmocka_unit_test(test_producers), cmocka_unit_test(test_isolated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
