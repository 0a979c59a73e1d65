/* SPDX-License-Identifier: Apache-2.0
 *
 * Made-up routing keeps every row, never gives an expert more rows than tokens, and is skewed as asked.
 */
#include "planner/fixture.h"

static void make(enum xst_routing routing, double skew, const struct xst_moe_shape *shape, int64_t *counts)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t rows = 0;
    xt_ok(xst_routing_make(routing, skew, shape, counts, &diag), &diag);
    for (int64_t e = 0; e < shape->experts; e++) {
        assert_in_range(counts[e], 0, shape->ranks * shape->tokens);
        rows += counts[e];
    }
    assert_int_equal(rows, shape->ranks * shape->tokens * shape->topk);
}

static void totals(void **state)
{
    (void)state;
    static const struct xst_moe_shape shapes[] = {{256, 256, 128, 8, 4096, 8, 2},
                                                  {256, 256, 7, 3, 11, 3, 2},
                                                  {256, 256, 4, 4, 5, 2, 2},
                                                  {256, 256, 9, 1, 1, 9, 2},
                                                  {256, 256, 300, 6, 1000, 64, 2}};
    static const double skews[] = {0, 0.5, 1, 2, 17, 1e6};
    int64_t counts[300];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int routing = 0; routing < 4; routing++) {
            for (size_t k = 0; k < sizeof skews / sizeof *skews; k++)
                make((enum xst_routing)routing, skews[k], &shapes[s], counts);
        }
    }
}

static void as_asked(void **state)
{
    (void)state;
    const struct xst_moe_shape shape = {256, 256, 64, 4, 1024, 8, 2};
    const double mean = 8.0 * 1024 * 4 / 64;
    int64_t counts[64], first = 0, end = 0, rows = 0;
    make(XST_ROUTING_UNIFORM, 3, &shape, counts);
    for (int e = 0; e < 64; e++)
        xt_near((double)counts[e], mean, 1);
    make(XST_ROUTING_HOT_EXPERT, 5, &shape, counts);
    xt_near((double)counts[0], 5 * mean, 2);
    xt_near((double)counts[1], (double)counts[63], 1);
    make(XST_ROUTING_HOT_RANK, 3, &shape, counts);
    xst_moe_experts_of(&shape, 0, &first, &end);
    for (int64_t e = first; e < end; e++)
        rows += counts[e];
    xt_near((double)rows, 3 * mean * 8, 10);
    make(XST_ROUTING_ZIPF, 1, &shape, counts);
    xt_near((double)counts[1] / (double)counts[3], 2, 0.02);
}

static void experts_of_ranks(void **state)
{
    (void)state;
    const struct xst_moe_shape shape = {256, 256, 11, 2, 16, 4, 2};
    int64_t first = 0, end = 0, next = 0;
    for (int64_t rank = 0; rank < 4; rank++) {
        xst_moe_experts_of(&shape, rank, &first, &end);
        assert_int_equal(first, next);
        assert_int_equal(end - first, rank < 3 ? 3 : 2);
        next = end;
    }
    assert_int_equal(next, 11);
}

static void refused(void **state)
{
    (void)state;
    const struct xst_moe_shape shape = {256, 256, 8, 2, 16, 4, 2}, bad = {256, 256, 8, 9, 16, 4, 2};
    int64_t counts[8];
    enum xst_routing routing = XST_ROUTING_UNIFORM;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_routing_make(XST_ROUTING_ZIPF, -1, &shape, counts, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_routing_make(XST_ROUTING_ZIPF, NAN, &shape, counts, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_routing_make((enum xst_routing)9, 1, &shape, counts, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_routing_make(XST_ROUTING_ZIPF, 1, &bad, counts, &diag), XST_ERR_RANGE, &diag);
    assert_int_equal(xst_routing_parse("hot-rank", &routing), 0);
    assert_int_equal(routing, XST_ROUTING_HOT_RANK);
    assert_int_equal(xst_routing_parse("hot", &routing), -1);
    assert_string_equal(xst_routing_text(XST_ROUTING_ZIPF), "zipf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals),
        cmocka_unit_test(as_asked),
        cmocka_unit_test(experts_of_ranks),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
