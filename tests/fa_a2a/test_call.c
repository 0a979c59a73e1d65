/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the attention kernels without a device: what is refused and with which words, the walk the kernel is given against
 * the walk of the traffic description, the plain reference against answers known beforehand.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/fa_a2a.h>
#include <xstage/fa_a2a_kernel.h>

#include "fa_a2a/fill.h"
#include "fa_a2a/ref.h"

static const uint64_t addresses[8] = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000, 0x8000};
static const struct xst_fa_a2a_choice good_choice = {.groups = 2, .slices = 8, .ctas = 132};

static struct xst_fa_a2a_call good_call(int64_t *row_first)
{
    struct xst_fa_a2a_call call = {.batch = 2,
                                   .seq = 1000,
                                   .key_len = 1000,
                                   .head_dim = 128,
                                   .scale = 0.1,
                                   .out = addresses,
                                   .control = addresses};
    const struct xst_fa_a2a_tensor tensor = {0x10000, 1000 * 3 * 128, 3 * 128, 128};
    struct xst_diag diag = {0};
    call.q = call.k = call.v = tensor;
    xt_ok(xst_fa_a2a_call_split(&call, 12, 1, 4, row_first, &diag), &diag);
    return call;
}

static void refuse(const struct xst_fa_a2a_call *call, const struct xst_fa_a2a_choice *choice, enum xst_status status,
                   const char *words)
{
    struct xst_diag diag = {0};
    xt_status(xst_fa_a2a_call_check(call, choice, &diag), status, &diag);
    xt_contains(diag.text, words);
}

#define REFUSE(change, status, words)                                                                                  \
    do {                                                                                                               \
        struct xst_fa_a2a_call call = good_call(row_first);                                                            \
        struct xst_fa_a2a_choice choice = good_choice;                                                                 \
        (void)choice;                                                                                                  \
        change;                                                                                                        \
        refuse(&call, &choice, status, words);                                                                         \
    } while (0)

static void test_refusals(void **state)
{
    int64_t row_first[9];
    struct xst_diag diag = {0};
    struct xst_fa_a2a_call fine = good_call(row_first);
    (void)state;
    xt_ok(xst_fa_a2a_call_check(&fine, &good_choice, &diag), &diag);
    REFUSE(call.batch = 0, XST_ERR_RANGE, "batch is 0, outside 1..65535");
    REFUSE(call.seq = -1, XST_ERR_RANGE, "seq is -1");
    REFUSE(call.key_len = 0, XST_ERR_RANGE, "key_len is 0");
    REFUSE(call.head_dim = 96, XST_ERR_RANGE, "head_dim is 96; kernels exist for 64 and 128");
    REFUSE(call.head_first = 10, XST_ERR_RANGE, "head_first is 10, outside 0..9");
    REFUSE(call.rank = 4, XST_ERR_RANGE, "rank is 4, outside 0..3");
    REFUSE(call.ranks = 73, XST_ERR_RANGE, "ranks is 73, outside 1..72");
    REFUSE(call.scale = 0, XST_ERR_RANGE, "scale is 0");
    REFUSE(call.scale = NAN, XST_ERR_RANGE, "scale is nan");
    REFUSE(call.q.address = 0, XST_ERR_USAGE, "q is NULL");
    REFUSE(call.k.address = 0x10008, XST_ERR_RANGE, "k is 0x10008, not a multiple of 16 bytes");
    REFUSE(call.v.row_stride = 300, XST_ERR_RANGE, "v.row_stride is 300 elements, not a multiple of 8");
    REFUSE(call.v.head_stride = 64, XST_ERR_RANGE, "v.head_stride is 64 elements, outside 128..");
    REFUSE(call.out = NULL, XST_ERR_USAGE, "out is NULL");
    REFUSE(call.control = NULL, XST_ERR_USAGE, "control is NULL");
    REFUSE(call.lse = 2, XST_ERR_RANGE, "lse is 0x2");
    REFUSE(call.out_flip_bytes = 8, XST_ERR_RANGE, "out_flip_bytes is 0x8");
    REFUSE(row_first[2] = 200, XST_ERR_RANGE, "row_first falls from 250 to 200 at rank 1");
    REFUSE(row_first[4] = 999, XST_ERR_RANGE, "row_first goes from 0 to 999, not from 0 to seq (1000)");
    REFUSE((call.batch = 60000, call.heads = 60000, call.heads_total = 65535, call.head_first = 0), XST_ERR_RANGE,
           "32-bit");
    REFUSE(choice.groups = 4, XST_ERR_RANGE, "groups is 4, outside 2..3");
    REFUSE(choice.slices = 3, XST_ERR_RANGE, "slices is 3, not 1, 2, 4, 8 or 16");
    REFUSE(choice.ctas = 0, XST_ERR_RANGE, "ctas is 0");
    REFUSE(choice.pairs = 2, XST_ERR_RANGE, "pairs is 2, outside 0..1");
    REFUSE((choice.pairs = 1, choice.ctas = 131), XST_ERR_RANGE, "ctas is 131; pairs need an even number");
    REFUSE((choice.pairs = 1, call.head_dim = 64), XST_ERR_RANGE, "pairs with head_dim 64; they exist for 128");
    REFUSE(choice.drain_bytes_per_us = -1, XST_ERR_RANGE, "drain_bytes_per_us is -1");
    REFUSE(choice.drain_bytes_per_us = INFINITY, XST_ERR_RANGE, "drain_bytes_per_us is inf");
    REFUSE(call.key_lens = 2, XST_ERR_RANGE, "key_lens is 0x2, not a multiple of 4 bytes");
    /* rank 2 owns a row of three tiles of each of the 3 heads */
    REFUSE((choice.pairs = 1, choice.groups = 3, call.key_lens = 0x1000, row_first[3] = 960), XST_ERR_RANGE,
           "an odd number of tiles of 192 rows in a batch");
    fine = good_call(row_first);
    fine.key_lens = 0x1000;
    xt_ok(xst_fa_a2a_call_check(&fine, &(struct xst_fa_a2a_choice){3, 0, 8, 132, 1, 0, 0}, &diag), &diag);
    xt_status(xst_fa_a2a_call_split(&fine, 38, 0, 4, row_first, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "heads_total is 38, not a multiple of ranks (4)");
}

/* Tile of the kernel's walk, decoded as walk.cuh does. */
static void decode(const struct xsti_fa_params *p, int index, int block_rows, int64_t *batch, int64_t *head,
                   int64_t *row)
{
    int step = 0;
    while (index >= p->tile_first[step + 1])
        step++;
    const int in_step = index - p->tile_first[step];
    const int blocks = (p->tile_first[step + 1] - p->tile_first[step]) / (p->batch * p->heads);
    *batch = in_step / blocks / p->heads;
    *head = in_step / blocks % p->heads;
    *row = (int64_t)(p->block_first[step] + in_step % blocks) * block_rows;
}

static void test_walk_is_the_described_one(void **state)
{
    static const int64_t lengths[] = {8, 63, 64, 65, 127, 129, 1000, 1023, 4481, 4608};
    int64_t row_first[9];
    struct xst_diag diag = {0};
    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (int64_t ranks = 2; ranks <= 8; ranks++)
            for (int64_t rank = 0; rank < ranks; rank++)
                for (int groups = 2; groups <= 3; groups++) {
                    struct xst_fa_a2a_call call = {.batch = 2,
                                                   .seq = lengths[l],
                                                   .head_dim = 128,
                                                   .key_len = 300,
                                                   .out = addresses,
                                                   .control = addresses};
                    struct xsti_fa_params params;
                    xt_ok(xst_fa_a2a_call_split(&call, 3 * ranks, rank, ranks, row_first, &diag), &diag);
                    xsti_fa_fill(&call, 64 * groups, &good_choice, &params);
                    const struct xst_fa_a2a_shape shape = {2, 3 * ranks, 128, lengths[l], ranks, 2};
                    const struct xst_fa_a2a_plan plan = {.tile_rows = 64 * groups,
                                                         .tile_cols = 128,
                                                         .producers = 132,
                                                         .stages = 2,
                                                         .staging_slots = 1,
                                                         .sm_flop_per_us = 7e6};
                    struct xst_fa_a2a_counts counts;
                    xt_ok(xst_fa_a2a_count(&shape, &plan, &counts, &diag), &diag);
                    assert_int_equal(params.tile_first[ranks], counts.tiles);
                    for (int i = 0; i < counts.tiles; i++) {
                        const struct xst_fa_a2a_tile want = xst_fa_a2a_tile_at(&shape, &plan, rank, i);
                        int64_t batch, head, row;
                        decode(&params, i, 64 * groups, &batch, &head, &row);
                        assert_int_equal(batch, want.batch);
                        assert_int_equal(head, want.head);
                        assert_int_equal(row, want.first_row);
                    }
                }
}

/* Any ownership: every block of every head exactly once. */
static void test_uneven_walks(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        int64_t row_first[9] = {0};
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int64_t ranks = 1 + (int64_t)(seed >> 60) % 8;
        for (int64_t p = 0; p < ranks; p++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const int64_t kinds[4] = {0, 1, 50, 400};
            row_first[p + 1] = row_first[p] + (int64_t)(seed >> 40) % (kinds[seed >> 62] + 1);
        }
        if (row_first[ranks] == 0)
            continue;
        const struct xst_fa_a2a_call call = {.batch = 1,
                                             .seq = row_first[ranks],
                                             .key_len = 1,
                                             .heads = 2,
                                             .heads_total = 2 * ranks,
                                             .head_dim = 64,
                                             .rank = trial % ranks,
                                             .ranks = ranks,
                                             .row_first = row_first,
                                             .out = addresses,
                                             .control = addresses};
        struct xsti_fa_params params;
        xsti_fa_fill(&call, 128, &good_choice, &params);
        const int blocks = (int)((call.seq + 127) / 128);
        int seen[2][32] = {{0}};
        assert_int_equal(params.tile_first[ranks], 2 * blocks);
        for (int i = 0; i < 2 * blocks; i++) {
            int64_t batch, head, row;
            decode(&params, i, 128, &batch, &head, &row);
            assert_int_equal(seen[head][row / 128]++, 0);
        }
    }
}

static void test_choice_fills_the_waves(void **state)
{
    int64_t row_first[9];
    struct xst_diag diag = {0};
    struct xst_fa_a2a_call call = {.batch = 1, .seq = 8192, .head_dim = 128};
    (void)state;
    xt_ok(xst_fa_a2a_call_split(&call, 24, 0, 8, row_first, &diag), &diag);
    assert_int_equal(xst_fa_a2a_choose(&call, 132).groups, 3); /* 129 tiles of 192 rows, one wave */
    xt_ok(xst_fa_a2a_call_split(&call, 24, 0, 2, row_first, &diag), &diag);
    assert_int_equal(xst_fa_a2a_choose(&call, 132).groups, 2);
    assert_int_equal(xst_fa_a2a_choose(&call, 132).store, XST_FA_A2A_STORE_PACED);  /* several waves, another rank */
    assert_int_equal(xst_fa_a2a_choose(&call, 10000).store, XST_FA_A2A_STORE_ST16); /* one wave */
    call.ranks = 1;
    assert_int_equal(xst_fa_a2a_choose(&call, 132).store, XST_FA_A2A_STORE_ST16);
    call.ranks = 2;
    call.head_dim = 64;
    assert_int_equal(xst_fa_a2a_choose(&call, 132).groups, 3);
}

/* Pairs where something is sent behind computing, and never with two key lengths in one. */
static void test_choice_of_pairs(void **state)
{
    int64_t row_first[9];
    struct xst_diag diag = {0};
    struct xst_fa_a2a_call call = {.batch = 2, .seq = 8192, .key_len = 8192, .head_dim = 128};
    (void)state;
    xt_ok(xst_fa_a2a_call_split(&call, 24, 0, 2, row_first, &diag), &diag);
    assert_int_equal(xst_fa_a2a_choose(&call, 132).pairs, 1);
    call.key_len = 4096;
    assert_int_equal(xst_fa_a2a_choose(&call, 132).pairs, 0);
    call.key_len = 8192;
    assert_int_equal(xst_fa_a2a_choose(&call, 131).pairs, 0);
    assert_int_equal(xst_fa_a2a_choose(&call, 10000).pairs, 0);
    call.key_lens = 0x1000;
    assert_int_equal(xst_fa_a2a_choose(&call, 132).pairs, 1); /* 12 x 32 tiles a batch and step */
    row_first[1] = 128;
    call.heads = 3;
    assert_int_equal(xst_fa_a2a_choose(&call, 16).pairs, 0); /* 3 tiles a batch go home */
    call.key_lens = 0;
    assert_int_equal(xst_fa_a2a_choose(&call, 16).pairs, 1);
    call.head_dim = 64;
    assert_int_equal(xst_fa_a2a_choose(&call, 16).pairs, 0);
}

/* Whole pairs; and what is handed over never lies behind the last tile that has another one behind it. */
static void test_grid_and_pace(void **state)
{
    int64_t row_first[9];
    struct xst_diag diag = {0};
    struct xsti_fa_params params;
    struct xst_fa_a2a_call call =
        {.batch = 1, .seq = 4096, .head_dim = 128, .key_len = 4096, .out = addresses, .control = addresses};
    struct xst_fa_a2a_choice choice = {.groups = 2, .slices = 8, .ctas = 132, .drain_bytes_per_us = 52800};
    (void)state;
    assert_int_equal(xsti_fa_grid(&choice, 1000), 132);
    assert_int_equal(xsti_fa_grid(&choice, 5), 5);
    choice.pairs = 1;
    assert_int_equal(xsti_fa_grid(&choice, 5), 6);
    assert_int_equal(xsti_fa_grid(&choice, 4), 4);
    xt_ok(xst_fa_a2a_call_split(&call, 24, 0, 2, row_first, &diag), &diag);
    xsti_fa_fill(&call, 128, &choice, &params); /* 384 tiles, 192 of them the other rank's */
    assert_int_equal(params.handed_tiles, 192);
    assert_int_equal(params.full_wave_tiles, 132);
    assert_int_equal(params.slice_rows, 2);
    /* 2 rows of 256 bytes at 0.9 x 52800 bytes a us: 10.77 ns or 21.5 cycles for each CTA that sends */
    assert_int_equal(params.slice_least, 2844);
    assert_int_equal(params.slice_least_last, 1292);
    /* 64 slices in three quarters of a tile's time */
    assert_int_equal(params.slice_share, (uint32_t)(4294967296.0 / 64 * 0.75));
}

/* Equal scores: the mean of V; scores 0 and log 3: weights 1/4 and 3/4. The exchange moves whole heads. */
static void test_reference(void **state)
{
    const struct xsti_fa_problem problem = {1, 3, 2, 2, 1, 64, 1.0, NULL};
    uint16_t q[3 * 64] = {0}, k[2 * 64] = {0}, v[2 * 64];
    float out[3 * 64], lse[3];
    (void)state;
    for (int i = 0; i < 128; i++)
        v[i] = xsti_float_to_bf16(i < 64 ? 1.0f : 5.0f);
    q[0] = xsti_float_to_bf16(1.0f);
    k[64] = xsti_float_to_bf16((float)log(3.0));
    assert_int_equal(xsti_fa_reference(&problem, q, k, v, out, lse), 0);
    xt_near(out[0], 4.0, 0.01);
    xt_near(out[64], 3.0, 1e-6);
    xt_near(lse[0], log(4.0), 0.01);
    xt_near(lse[1], log(2.0), 1e-6);

    const int32_t lengths[1] = {1}, nothing[1] = {0};
    struct xsti_fa_problem shorter = problem;
    shorter.key_lens = lengths;
    assert_int_equal(xsti_fa_reference(&shorter, q, k, v, out, lse), 0);
    xt_near(out[0], 1.0, 1e-6);
    xt_near(lse[1], 0.0, 1e-6);
    shorter.key_lens = nothing;
    assert_int_equal(xsti_fa_reference(&shorter, q, k, v, out, lse), 0);
    xt_near(out[0], 0.0, 0);
    assert_true(isinf(lse[0]) && lse[0] < 0);

    const int64_t row_first[3] = {0, 2, 3};
    uint16_t a[2 * 2 * 64] = {0}, b[1 * 2 * 64] = {0}, *const outs[2] = {a, b};
    for (int i = 0; i < 3 * 64; i++)
        q[i] = (uint16_t)(i + 1);
    xsti_fa_exchange(&problem, q, 2, row_first, 2, 1, outs);
    assert_int_equal(a[0], 0);
    assert_int_equal(a[64], 1);
    assert_int_equal(a[128 + 64], 65);
    assert_int_equal(b[64 + 63], 192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_walk_is_the_described_one),
        cmocka_unit_test(test_uneven_walks),    cmocka_unit_test(test_choice_fills_the_waves),
        cmocka_unit_test(test_choice_of_pairs), cmocka_unit_test(test_grid_and_pace),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
