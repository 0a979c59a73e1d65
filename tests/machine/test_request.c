/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests: what is one, and the sentence about what is not.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"

static struct xst_measure_request good_request(void)
{
    return (struct xst_measure_request){.mode = XST_MODE_PERIODIC,
                                        .target = XST_TARGET_HOST,
                                        .method = XST_METHOD_ST16,
                                        .threads = 256,
                                        .producers = 132,
                                        .bytes_per_producer = 16384,
                                        .gap_us = 3,
                                        .bursts = 48,
                                        .reps = 3};
}

static void expect_bad(const struct xst_measure_request *request, enum xst_status status, const char *part)
{
    struct xst_diag diag = {0};
    xt_status(xsti_request_check(request, &diag), status, &diag);
    xt_contains(diag.text, part);
}

static void test_good(void **state)
{
    struct xst_diag diag = {0};
    struct xst_measure_request request = good_request();
    (void)state;
    xt_ok(xsti_request_check(&request, &diag), &diag);
    request.piece_bytes = 256, request.pitch_bytes = 6144;
    xt_ok(xsti_request_check(&request, &diag), &diag);
    request.piece_bytes = 8192, request.pitch_bytes = 8192; /* two sweeps of 256 x 16 bytes */
    xt_ok(xsti_request_check(&request, &diag), &diag);
}

static void test_bad_numbers(void **state)
{
    struct xst_measure_request request = good_request();
    (void)state;
    request.producers = 0;
    expect_bad(&request, XST_ERR_RANGE, "producers is 0, outside 1..65536");
    request = good_request();
    request.threads = 100;
    expect_bad(&request, XST_ERR_RANGE, "threads is 100, not a multiple of 32");
    request = good_request();
    request.bytes_per_producer = 100;
    expect_bad(&request, XST_ERR_RANGE, "bytes_per_producer is 100, not a multiple of 16, the unit of method st16");
    request = good_request();
    request.gap_us = NAN;
    expect_bad(&request, XST_ERR_RANGE, "gap_us is nan");
    request.gap_us = -1;
    expect_bad(&request, XST_ERR_RANGE, "gap_us is -1");
    request = good_request();
    request.bursts = 3;
    expect_bad(&request, XST_ERR_RANGE, "at least 4");
    request = good_request();
    request.mode = XST_MODE_ISOLATED;
    expect_bad(&request, XST_ERR_USAGE, "isolated burst has one burst and no gap");
    request = good_request();
    request.direction = XST_DIRECTION_BOTH;
    expect_bad(&request, XST_ERR_USAGE, "between two devices only");
}

static void test_bad_pieces(void **state)
{
    struct xst_measure_request request = good_request();
    (void)state;
    request.piece_bytes = 256;
    expect_bad(&request, XST_ERR_RANGE, "pitch");
    request.pitch_bytes = 128;
    expect_bad(&request, XST_ERR_RANGE, "piece_bytes is 256 and pitch_bytes 128");
    request.piece_bytes = 192, request.pitch_bytes = 1024;
    expect_bad(&request, XST_ERR_RANGE, "not a whole number of pieces of 192");
    request.bytes_per_producer = 192 * 64;
    expect_bad(&request, XST_ERR_RANGE, "neither a divisor nor a multiple of the 4096 bytes");
    request.method = XST_METHOD_BULK; /* bulk copies are cut by hand */
    assert_int_equal(xsti_request_check(&request, NULL), XST_OK);
}

static void test_text(void **state)
{
    char text[XSTI_REQUEST_TEXT_BYTES];
    struct xst_measure_request request = good_request();
    (void)state;
    assert_string_equal(xsti_request_text(&request, text), "periodic host/st16, 132 x 16384 B, gap 3 us");
    request.bytes_per_producer = INT64_MAX, request.producers = INT64_MAX, request.piece_bytes = INT64_MAX;
    request.pitch_bytes = INT64_MAX;
    assert_true(strlen(xsti_request_text(&request, text)) < sizeof text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad_numbers),
                                       cmocka_unit_test(test_bad_pieces), cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
