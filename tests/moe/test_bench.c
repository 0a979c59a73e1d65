/* SPDX-License-Identifier: Apache-2.0
 *
 * Benchmarks without a device: what is refused, and who gets which tokens and rows.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "moe/bench_state.h"

#define INTERLEAVED                                                                                                    \
    {                                                                                                                  \
        .schedule = XST_SCHEDULE_INTERLEAVED, .lead = 50, .group = 1, .tile_rows = 128, .store = XST_MOE_STORE_PACED,  \
        .slices = 4                                                                                                    \
    }
static const struct xst_moe_bench_entry entries[] = {
    {.form = XST_MOE_FORM_UNFUSED, .order = {.schedule = XST_SCHEDULE_WAVE, .tile_rows = 128}},
    {.form = XST_MOE_FORM_FUSED, .order = INTERLEAVED},
    {.form = XST_MOE_FORM_ALONE, .order = INTERLEAVED},
};

static struct xst_moe_bench good(enum xst_target target, enum xst_routing routing)
{
    return (struct xst_moe_bench){.hidden = 256,
                                  .inter = 128,
                                  .experts = 18,
                                  .topk = 4,
                                  .tokens = 300,
                                  .ranks = 4,
                                  .target = target,
                                  .remote_frac = 0.25,
                                  .routing = routing,
                                  .skew = 1.5,
                                  .rounds = 3,
                                  .seed = 5};
}

#define REFUSE(change, status, words)                                                                                  \
    do {                                                                                                               \
        struct xst_moe_bench bench = good(XST_TARGET_PEER, XST_ROUTING_UNIFORM);                                       \
        struct xst_moe_bench_entry asked[3];                                                                           \
        size_t count = 3;                                                                                              \
        struct xst_diag diag = {0};                                                                                    \
        memcpy(asked, entries, sizeof asked);                                                                          \
        change;                                                                                                        \
        xt_status(xst_moe_bench_check(&bench, asked, count, &diag), status, &diag);                                    \
        xt_contains(diag.text, words);                                                                                 \
    } while (0)

static void a_good_one_passes(void **state)
{
    struct xst_diag diag = {0};
    const struct xst_moe_bench fine = good(XST_TARGET_HOST, XST_ROUTING_UNIFORM);
    (void)state;
    xt_ok(xst_moe_bench_check(&fine, entries, 3, &diag), &diag);
}

static void refusals(void **state)
{
    (void)state;
    REFUSE(bench.hidden = 200, XST_ERR_RANGE, "hidden is 200, not a multiple of 128");
    REFUSE(bench.dtype = XST_MOE_E4M3; bench.inter = 192, XST_ERR_RANGE, "inter is 192, not a multiple of 128");
    REFUSE(bench.ranks = 1, XST_ERR_RANGE, "ranks is 1, outside 2..8");
    REFUSE(bench.ranks = 9, XST_ERR_RANGE, "ranks is 9, outside 2..8");
    REFUSE(bench.experts = 3, XST_ERR_RANGE, "experts is 3, outside 4..");
    REFUSE(bench.target = XST_TARGET_HOST; bench.ranks = 19, XST_ERR_RANGE, "ranks is 19, outside 1..18");
    REFUSE(bench.remote_frac = 1.5, XST_ERR_RANGE, "remote_frac is 1.5, outside 0..1");
    REFUSE(bench.rounds = 0, XST_ERR_RANGE, "rounds is 0, outside 1..101");
    REFUSE(bench.calls = -1, XST_ERR_RANGE, "calls is -1, outside 0..");
    REFUSE(bench.tokens = 0, XST_ERR_RANGE, "tokens is 0, outside 1..");
    REFUSE(count = 0, XST_ERR_RANGE, "entries is 0, outside 1..");
    REFUSE(asked[1].order.lead = 0, XST_ERR_RANGE, "lead is 0, outside 1..");
    REFUSE(bench.target = XST_TARGET_LOCAL, XST_ERR_USAGE, "entry 2 is \"alone\"");
}

/* Every expert of the group gets its rows, from anywhere; an expert with no more rows than there are tokens meets none twice. */
static void check_group(const struct xsti_moe_bench_group *group, const int64_t *counts, int64_t experts)
{
    const int64_t topk = group->layer.topk;
    int64_t *const rows = calloc((size_t)group->layer.experts, sizeof *rows), tokens = 0;
    assert_non_null(rows);
    for (int64_t r = 0; r < group->layer.ranks; r++) {
        assert_int_equal(group->first_token[r], tokens);
        assert_true(group->tokens[r] <= group->layer.tokens_most);
        tokens += group->tokens[r];
        for (int64_t i = 0; i < group->tokens[r] * topk; i++) {
            const int64_t id = group->ids[r][i];
            if (id < 0)
                continue;
            assert_true(id < group->layer.experts);
            rows[id]++;
            for (int64_t j = i / topk * topk; j < i; j++)
                assert_int_not_equal(group->ids[r][j], id);
        }
    }
    for (int64_t e = 0; e < group->layer.experts; e++)
        assert_int_equal(rows[e], e < experts ? counts[e] : 0);
    free(rows);
}

static void plan(struct xsti_moe_bench_state *b, const struct xst_moe_bench *bench, size_t entry_count)
{
    struct xst_diag diag = {0};
    memset(b, 0, sizeof *b);
    b->request = bench;
    b->entries = entries;
    b->entry_count = entry_count;
    xt_ok(xsti_moe_bench_plan(b, &diag), &diag);
}

static void every_routing_is_carried_out(void **state)
{
    (void)state;
    for (int routing = 0; routing < 4; routing++) {
        struct xsti_moe_bench_state b;
        const struct xst_moe_bench bench = good(XST_TARGET_PEER, (enum xst_routing)routing);
        plan(&b, &bench, 3);
        check_group(&b.main, b.counts, 18);
        assert_int_equal(b.devices, 4);
        assert_int_equal(b.main.active, 4);
        assert_int_equal(b.has_alone, 1);
        int64_t first = 0;
        for (int r = 0; r < 4; r++) { /* 5, 5, 4, 4 experts */
            assert_int_equal(b.main.first_expert[r], first);
            assert_int_equal(b.alone[r].layer.ranks, 1);
            assert_int_equal(b.alone[r].layer.experts, r < 2 ? 5 : 4);
            assert_int_equal(b.alone[r].first_device, r);
            assert_int_equal(b.alone[r].first_expert[0], first);
            if (routing == XST_ROUTING_UNIFORM) /* else one expert may have more rows than there are tokens */
                check_group(&b.alone[r], b.counts + first, b.alone[r].layer.experts);
            first += b.alone[r].layer.experts;
        }
        xsti_moe_bench_close(&b);
    }
}

static void a_share_leaves_for_the_host(void **state)
{
    static const double shares[] = {0, 0.01, 0.25, 1};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct xsti_moe_bench_state b;
        struct xst_moe_bench bench = good(XST_TARGET_HOST, XST_ROUTING_UNIFORM);
        bench.remote_frac = shares[i];
        plan(&b, &bench, 3);
        int64_t rows = 0;
        for (int e = 0; e < 5; e++)
            rows += b.counts[e];
        check_group(&b.main, b.counts, 5);
        assert_int_equal(b.main.layer.ranks, 2);
        assert_int_equal(b.main.layer.experts, 10);
        assert_int_equal(b.main.active, 1);
        assert_int_equal(b.devices, 1);
        assert_int_equal(b.main.tokens[0] + b.main.tokens[1], (rows + 3) / 4);
        xt_near((double)b.main.tokens[1], shares[i] * (double)b.main.layer.tokens_most, 0.5);
        for (int once = 0; once < 2; once++)
            xt_near(xsti_moe_bench_remote_bytes(&b, once), shares[i] * (double)rows * 256 * 2, 4 * 256 * 2 + 4);
        xsti_moe_bench_close(&b);
    }
}

/* All ranks' tokens choose one expert of rank 0: more rows than a buffer may have tokens for. */
static void more_tokens_than_a_buffer_holds(void **state)
{
    struct xst_moe_bench bench = good(XST_TARGET_HOST, XST_ROUTING_HOT_EXPERT);
    struct xsti_moe_bench_state b = {.request = &bench, .entries = entries, .entry_count = 3};
    struct xst_diag diag = {0};
    (void)state;
    bench.tokens = 1 << 20;
    bench.ranks = 18;
    bench.skew = 18;
    xt_ok(xst_moe_bench_check(&bench, entries, 3, &diag), &diag);
    xt_status(xsti_moe_bench_plan(&b, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "tokens_most is ");
    assert_null(b.main.ids[0]);
    xsti_moe_bench_close(&b);
}

static void rows_between_peers_are_counted(void **state)
{
    struct xsti_moe_bench_state b;
    struct xst_moe_bench bench = good(XST_TARGET_PEER, XST_ROUTING_UNIFORM);
    (void)state;
    bench.experts = 16;
    plan(&b, &bench, 2);
    assert_int_equal(b.has_alone, 0);
    /* of 1200 rows that rank 0 receives three quarters come from peers, of 1200 choices of its tokens as many go to peers */
    xt_near(xsti_moe_bench_remote_bytes(&b, 0), 2 * 0.75 * 1200 * 256 * 2, 0.05 * 2 * 0.75 * 1200 * 256 * 2);
    assert_true(xsti_moe_bench_pulled_bytes(&b, &b.main, 0) == 1200.0 * 256 * 2);
    xsti_moe_bench_close(&b);
}

/* Once: the tokens that chose something of rank 0, counted one by one; what leaves rank 0 shrinks by what its peers fetch less. */
static void a_row_is_fetched_once(void **state)
{
    struct xsti_moe_bench_state b;
    struct xst_moe_bench bench = good(XST_TARGET_PEER, XST_ROUTING_UNIFORM);
    int64_t tokens = 0;
    (void)state;
    bench.experts = 16;
    plan(&b, &bench, 2);
    const int64_t experts = bench.experts / bench.ranks;
    for (int64_t r = 0; r < bench.ranks; r++)
        for (int64_t t = 0; t < b.main.tokens[r]; t++) {
            int chosen = 0;
            for (int64_t s = 0; s < bench.topk; s++)
                chosen |= b.main.ids[r][t * bench.topk + s] < experts;
            tokens += chosen;
        }
    assert_true(tokens < 1200);
    assert_true(xsti_moe_bench_pulled_bytes(&b, &b.main, 1) == (double)tokens * 256 * 2);
    assert_true(xsti_moe_bench_remote_bytes(&b, 1) < xsti_moe_bench_remote_bytes(&b, 0));
    xsti_moe_bench_close(&b);
}

/* The rows of rank 0's experts that others brought, counted one by one. */
static void returned_rows_are_counted(void **state)
{
    struct xsti_moe_bench_state b;
    const struct xst_moe_bench bench = good(XST_TARGET_PEER, XST_ROUTING_ZIPF);
    int64_t rows = 0;
    (void)state;
    plan(&b, &bench, 2);
    for (int64_t r = 1; r < bench.ranks; r++)
        for (int64_t i = 0; i < b.main.tokens[r] * bench.topk; i++)
            rows += b.main.ids[r][i] >= 0 && b.main.ids[r][i] < 5; /* 5, 5, 4, 4 experts */
    assert_true(rows > 0);
    assert_int_equal(xsti_moe_bench_sent_rows(&b, 0), rows);
    xsti_moe_bench_close(&b);
}

#define NOT_TRACED(change, words)                                                                                      \
    do {                                                                                                               \
        const struct xst_moe_bench bench = good(XST_TARGET_HOST, XST_ROUTING_UNIFORM);                                 \
        struct xst_moe_bench_entry asked[2] = {entries[1], entries[1]};                                                \
        struct xst_trace trace = {.span_count = 0};                                                                    \
        struct xst_diag diag = {0};                                                                                    \
        asked[1].order.store = XST_MOE_STORE_AT_ONCE;                                                                  \
        change;                                                                                                        \
        xt_status(xst_moe_bench_trace(&bench, asked, 2, &trace, &diag), XST_ERR_USAGE, &diag);                         \
        xt_contains(diag.text, words);                                                                                 \
    } while (0)

/* Facts say lead, group and unit once for a whole trace. */
static void what_cannot_be_traced(void **state)
{
    (void)state;
    NOT_TRACED(asked[0] = entries[0], "entry 0 is unfused");
    NOT_TRACED(asked[1].order.tile_rows = 64, "entry 1 is fused with tiles of 64 rows");
    NOT_TRACED(asked[1].order.store = XST_MOE_STORE_PACED, "entries 0 and 1 differ in more");
    NOT_TRACED(asked[1].order.lead = 51, "entries 0 and 1 differ in more");
    assert_string_equal(xst_moe_trace_variant(&entries[1].order), "interleaved_paced");
}

static void values_repeat_the_pool(void **state)
{
    static const uint16_t want[8] = {103, 102, 101, 100, 1, 2, 3, 4};
    const struct xst_moe_bench request = good(XST_TARGET_LOCAL, XST_ROUTING_UNIFORM);
    struct xsti_moe_bench_state b = {.request = &request};
    uint16_t *const pool = calloc(XSTI_MOE_POOL_VALUES, sizeof *pool), got[8];
    (void)state;
    assert_non_null(pool);
    for (int i = 0; i < 4; i++) {
        pool[i] = (uint16_t)(i + 1);
        pool[XSTI_MOE_POOL_VALUES - 1 - i] = (uint16_t)(100 + i);
    }
    b.pools[XSTI_MOE_POOL_W1] = (unsigned char *)pool;
    xsti_moe_bench_values(&b, XSTI_MOE_POOL_W1, 3 * (uint64_t)XSTI_MOE_POOL_VALUES - 4, 8, got);
    assert_memory_equal(got, want, sizeof want);
    free(pool);
}

/* Values of one byte, scales of four; a row of x comes with its scales. */
static void bytes_of_values(void **state)
{
    struct xst_moe_bench request = good(XST_TARGET_LOCAL, XST_ROUTING_UNIFORM);
    const struct xsti_moe_bench_state b = {.request = &request};
    (void)state;
    assert_int_equal(xsti_moe_bench_value_bytes(&b, XSTI_MOE_POOL_X), 2);
    xt_near(xsti_moe_bench_row_bytes(&request), 256 * 2, 0);
    request.dtype = XST_MOE_E4M3;
    assert_int_equal(xsti_moe_bench_value_bytes(&b, XSTI_MOE_POOL_W2), 1);
    assert_int_equal(xsti_moe_bench_value_bytes(&b, XSTI_MOE_POOL_W2_SCALES), 4);
    xt_near(xsti_moe_bench_row_bytes(&request), 256 + 2 * 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_one_passes),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_routing_is_carried_out),
        cmocka_unit_test(a_share_leaves_for_the_host),
        cmocka_unit_test(more_tokens_than_a_buffer_holds),
        cmocka_unit_test(rows_between_peers_are_counted),
        cmocka_unit_test(a_row_is_fetched_once),
        cmocka_unit_test(returned_rows_are_counted),
        cmocka_unit_test(what_cannot_be_traced),
        cmocka_unit_test(values_repeat_the_pool),
        cmocka_unit_test(bytes_of_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
