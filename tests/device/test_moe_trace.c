/* SPDX-License-Identifier: Apache-2.0
 *
 * Traced mixture-of-experts kernels on a device: the same bits as the others, and marks that say what was done. Without a device,
 * or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <stdio.h>
#include <stdlib.h>

#include "moe/params.h"

static struct moe_machine machine;

struct counts {
    int64_t blocks;
    int64_t remote_rows;
};

/* What rank `rank` has to do. */
static struct counts counts_of(const struct moe_world *world, const struct moe_inputs *in, int64_t rank)
{
    const struct xst_moe_shape shape = {.experts = world->layer.experts, .ranks = world->layer.ranks};
    struct counts counts = {0, 0};
    int64_t first, end;
    xst_moe_experts_of(&shape, rank, &first, &end);
    for (int64_t e = first; e < end; e++) {
        int64_t rows = 0;
        for (int64_t r = 0; r < world->layer.ranks; r++)
            for (int64_t i = 0; i < in->tokens[r] * world->layer.topk; i++) {
                rows += in->ids[r][i] == e;
                counts.remote_rows += in->ids[r][i] == e && r != rank;
            }
        counts.blocks += (rows + 127) / 128;
    }
    return counts;
}

/* Every tile once, by its layer's end; a part of a tile for each warpgroup that has rows of it. */
static void check_rank(const struct moe_world *world, const struct moe_inputs *in, const struct xst_trace *trace,
                       int64_t rank, int paced, const char *what)
{
    const struct counts counts = counts_of(world, in, rank);
    const int64_t n1 = (2 * world->layer.inter + 255) / 256, n2 = (world->layer.hidden + 255) / 256;
    const int64_t tiles = counts.blocks * (n1 + n2);
    unsigned char *const seen = calloc((size_t)tiles + 1, 1);
    int64_t ends[3] = {0, 0, 0}, heads = 0, pulls = 0, sums = 0;
    double bytes = 0;
    assert_non_null(seen);
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        if (span->rank != rank)
            continue;
        assert_true(span->end_us >= span->start_us && span->tile < tiles && span->cta < world->layer.ctas);
        bytes += span->bytes;
        heads += span->what == XST_TRACE_HEAD;
        pulls += span->what == XST_TRACE_PULL;
        sums += span->what == XST_TRACE_COMBINE;
        const int linear = span->what == XST_TRACE_ACT ? 1 : span->what == XST_TRACE_ISSUE ? 2 : 0;
        if (linear == 2)
            assert_int_equal(span->role, paced ? XST_TRACE_ROLE_STORE : XST_TRACE_ROLE_MATH);
        if (linear && !(seen[span->tile] & linear)) {
            seen[span->tile] |= (unsigned char)linear;
            ends[linear]++;
        }
        if (span->what == XST_TRACE_MATH)
            seen[span->tile] |= 4;
    }
    for (int64_t i = 0; i < tiles; i++)
        if (seen[i] != 5 && seen[i] != 6)
            fail_msg("%s: rank %d, tile %d: seen as %d", what, (int)rank, (int)i, seen[i]);
    assert_int_equal(ends[1], counts.blocks * n1);
    assert_int_equal(ends[2], counts.blocks * n2);
    assert_true(bytes == (double)(counts.remote_rows * world->layer.hidden * 2));
    assert_true(heads == 6 * world->layer.ctas && pulls == 2 * world->layer.ctas && sums == heads);
    free(seen);
}

static void traced_is_untraced(const struct moe_case *made, int e4m3)
{
    struct moe_world world;
    struct moe_inputs in;
    uint16_t *first[MOE_MOST_P], *again[MOE_MOST_P];
    size_t count;
    char what[32];
    const struct xst_moe_order *const orders = moe_orders(&count);
    (e4m3 ? moe_world_make_e4m3 : moe_world_make)(&machine, made, 300, &world);
    moe_inputs_make(&world, made, &in);
    moe_run(&world, &in, MOE_FUSED, orders, 1, "untraced", first);
    for (size_t i = 0; i < count; i++) {
        struct xst_trace trace = {0};
        if (orders[i].tile_rows != 128)
            continue;
        snprintf(what, sizeof what, "traced %d %zu", e4m3, i);
        moe_run_traced(&world, &in, &orders[i], 1, what, &trace, again);
        moe_same(&world, &in, first, again, what);
        assert_int_equal(trace.calls[0].lost, 0);
        for (int64_t r = 0; r < made->ranks; r++)
            check_rank(&world, &in, &trace, r, orders[i].store == XST_MOE_STORE_PACED, what);
        moe_y_free(&world, again);
        xst_trace_free(&trace);
    }
    moe_y_free(&world, first);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

static void every_tile_is_marked(void **state)
{
    const struct moe_case one = {1, 3, 384, 256, 2, {290}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS};
    const struct moe_case three = {3, 7, 640, 384, 4, {150, 0, 260}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS};
    (void)state;
    for (int e4m3 = 0; e4m3 < 2; e4m3++) {
        traced_is_untraced(&one, e4m3);
        traced_is_untraced(&three, e4m3);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_tile_is_marked)};
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
