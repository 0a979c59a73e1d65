/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks to spans, from rings laid out by hand.
 */
#include "gpu/trace_ring.h"

#include <string.h>

#include "support/support.h"

enum { CTAS = 2, TRACKS = 3, ROOM = 4 };

static struct xsti_trace_track tracks[CTAS * TRACKS];
static struct xsti_trace_mark marks[CTAS * TRACKS * ROOM];
static const struct xsti_trace_ring ring = {.tracks_per_cta = TRACKS, .marks_per_track = ROOM};

static void begin(void)
{
    memset(tracks, 0, sizeof tracks);
    memset(marks, 0, sizeof marks);
}

/* A track whose SM runs at 2 cycles a nanosecond, from `ns` on for 10 us. */
static void open_track(int track, uint64_t ns, uint64_t clock, enum xst_trace_role role, uint16_t unit)
{
    tracks[track] = (struct xsti_trace_track){.clock = {clock, clock + 20000},
                                              .ns = {ns, ns + 10000},
                                              .sm = 40 + (uint32_t)track,
                                              .role = (uint16_t)role,
                                              .unit = unit};
}

static void mark(int track, uint64_t clock, enum xst_trace_what what, uint32_t tile, uint32_t value)
{
    marks[track * ROOM + tracks[track].written++ % ROOM] =
        (struct xsti_trace_mark){clock << 8 | (uint64_t)what, tile, value};
}

static struct xst_trace read_ring(void)
{
    struct xst_trace trace = {0};
    struct xst_diag diag = {0};
    xt_ok(xst_trace_add_call(&trace, "call", &diag), &diag);
    xt_ok(xsti_trace_spans(tracks, marks, &ring, CTAS, 3, &trace, &diag), &diag);
    return trace;
}

static void cycles_become_time(void **state)
{
    (void)state;
    begin();
    open_track(0, 5000000, 100, XST_TRACE_ROLE_MATH, 0);
    mark(0, 100, XST_TRACE_IDLE, 0xffffffff, 0);
    mark(0, 2100, XST_TRACE_LOAD, 9, 0);
    mark(0, 12100, XST_TRACE_MATH, 9, 500);
    open_track(4, 5001000, 7, XST_TRACE_ROLE_STORE, 0); /* of CTA 1, a microsecond later */
    mark(4, 7, XST_TRACE_IDLE, 0xffffffff, 0);
    mark(4, 2007, XST_TRACE_ISSUE, 0xffffffff, 4096);
    struct xst_trace trace = read_ring();
    assert_int_equal(trace.span_count, 3);
    const struct xst_trace_span *const load = &trace.spans[0], *const math = &trace.spans[1],
                                       *const issue = &trace.spans[2];
    assert_int_equal(load->what, XST_TRACE_LOAD);
    assert_int_equal(load->tile, 9);
    assert_int_equal(load->rank, 3);
    assert_int_equal(load->sm, 40);
    xt_near(load->start_us, 0, 1e-9);
    xt_near(load->end_us, 1, 1e-9);
    xt_near(math->end_us, 6, 1e-9);
    xt_near(math->stall_us, 0.25, 1e-9);
    assert_int_equal(issue->cta, 1);
    assert_int_equal(issue->tile, XST_TRACE_NO_TILE);
    xt_near(issue->start_us, 1, 1e-9);
    xt_near(issue->end_us, 2, 1e-9);
    assert_true(issue->bytes == 4096);
    xst_trace_free(&trace);
}

static void warps_of_a_unit_are_one(void **state)
{
    (void)state;
    begin();
    for (int track = 0; track < 2; track++) {
        open_track(track, 1000, 0, XST_TRACE_ROLE_MATH, 1);
        mark(track, 0, XST_TRACE_IDLE, 0xffffffff, 0);
        mark(track, 2000 + 200 * (uint64_t)track, XST_TRACE_ISSUE, 2, 1024);
    }
    struct xst_trace trace = read_ring();
    assert_int_equal(trace.span_count, 1);
    xt_near(trace.spans[0].end_us, 1.1, 1e-9);
    assert_true(trace.spans[0].bytes == 2048);
    xst_trace_free(&trace);
}

/* Six marks in a ring of four: the first two are gone, and what was between them and the third with them. */
static void a_full_ring_says_so(void **state)
{
    (void)state;
    begin();
    open_track(1, 1000, 0, XST_TRACE_ROLE_MATH, 0);
    mark(1, 0, XST_TRACE_IDLE, 0xffffffff, 0);
    for (uint32_t i = 1; i < 6; i++)
        mark(1, 2000 * i, XST_TRACE_MATH, i, 0);
    struct xst_trace trace = read_ring();
    assert_int_equal(trace.calls[0].lost, 2);
    assert_int_equal(trace.span_count, 3);
    assert_int_equal(trace.spans[0].tile, 3);
    xt_near(trace.spans[2].end_us, 5, 1e-9);
    xst_trace_free(&trace);
}

/* A device that has been up for long: clocks that a double rounds, and that a mark cuts. */
static void large_clocks(void **state)
{
    (void)state;
    const uint64_t clocks[] = {(UINT64_C(1) << 54) + 1, (UINT64_C(1) << 56) - 1000, (UINT64_C(3) << 56) + 5};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        begin();
        open_track(0, 5000000, clocks[i], XST_TRACE_ROLE_MATH, 0);
        mark(0, clocks[i], XST_TRACE_IDLE, 0xffffffff, 0);
        mark(0, clocks[i] + 2001, XST_TRACE_LOAD, 9, 0);
        struct xst_trace trace = read_ring();
        assert_int_equal(trace.span_count, 1);
        xt_near(trace.spans[0].start_us, 0, 1e-9);
        xt_near(trace.spans[0].end_us, 1.0005, 1e-9);
        xst_trace_free(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_become_time),
        cmocka_unit_test(warps_of_a_unit_are_one),
        cmocka_unit_test(a_full_ring_says_so),
        cmocka_unit_test(large_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
