/* SPDX-License-Identifier: Apache-2.0
 *
 * The attention kernels on a device: FlashAttention's error rule against the plain reference; transport bit for bit between one
 * rank plus a permutation and several virtual ranks of one device; repeats, alternating buffers, delays, a missing peer.
 * Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/fa_a2a_kernel.h>

#include "fa_a2a/kernels.h"
#include "fa_a2a/ref.h"
#include "gpu/device.h"
#include "gpu/trace_ring.h"

enum { MOST_P = 8, GUARD = 4096 };

static struct xst_fa_a2a_kernels *kernels;
static struct xsti_driver driver;
static struct xsti_device device;
static uint64_t seed = 1;

static uint64_t alloc(size_t bytes)
{
    struct xst_diag diag = {0};
    CUdeviceptr pointer = 0;
    xt_ok(xsti_device_alloc(&device, bytes, &pointer, &diag), &diag);
    return pointer;
}

static void upload(uint64_t to, const void *from, size_t bytes)
{
    struct xst_diag diag = {0};
    xt_ok(xsti_device_write(&device, to, from, bytes, &diag), &diag);
}

static void download(void *to, uint64_t from, size_t bytes)
{
    struct xst_diag diag = {0};
    xt_ok(xsti_device_read(&device, to, from, bytes, &diag), &diag);
}

static void poison(uint64_t at, size_t bytes)
{
    struct xst_diag diag = {0};
    xt_ok(xsti_device_fill(&device, at, 0xff, bytes, &diag), &diag);
}

static uint64_t control_alloc(void)
{
    struct xst_diag diag = {0};
    const uint64_t at = alloc(xst_fa_a2a_control_bytes());
    xt_ok(xsti_device_fill(&device, at, 0, xst_fa_a2a_control_bytes(), &diag), &diag);
    return at;
}

/* About normal, from a sum of four uniform numbers. */
static float noise(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(seed >> 33) / 2147483648.0 - 0.5;
    }
    return (float)(sum * 1.732);
}

static uint16_t *noise_tensor(int64_t count, float amplitude)
{
    uint16_t *const values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = xsti_float_to_bf16(noise() * amplitude);
    return values;
}

/* One rank's inputs, on the host and on the device. */
struct inputs {
    struct xsti_fa_problem problem;
    uint16_t *host[3]; /* q, k, v */
    uint64_t at[3];
    uint64_t key_lens; /* of the problem, on the device; 0 none */
};

static int64_t rows_of(const struct xsti_fa_problem *problem, int tensor)
{
    return tensor == 0 ? problem->seq : problem->key_rows;
}

static struct inputs make_inputs(struct xsti_fa_problem problem, float amplitude)
{
    struct inputs in = {.problem = problem};
    for (int t = 0; t < 3; t++) {
        const int64_t count = problem.batch * rows_of(&problem, t) * problem.heads * problem.head_dim;
        in.host[t] = noise_tensor(count, t == 0 ? amplitude : 1.0f);
        for (int64_t b = 0; b < problem.batch && t > 0; b++) { /* what lies behind the keys is never read */
            const int64_t keys = problem.key_lens ? problem.key_lens[b] : problem.key_len;
            memset(in.host[t] + (b * problem.key_rows + keys) * problem.heads * problem.head_dim, 0xff,
                   (size_t)((problem.key_rows - keys) * problem.heads * problem.head_dim) * 2);
        }
        in.at[t] = alloc((size_t)count * 2);
        upload(in.at[t], in.host[t], (size_t)count * 2);
    }
    if (problem.key_lens) {
        in.key_lens = alloc((size_t)problem.batch * 4);
        upload(in.key_lens, problem.key_lens, (size_t)problem.batch * 4);
    }
    return in;
}

static void free_inputs(struct inputs *in)
{
    for (int t = 0; t < 3; t++) {
        free(in->host[t]);
        xsti_device_free(&device, in->at[t]);
    }
    xsti_device_free(&device, in->key_lens);
}

static struct xst_fa_a2a_tensor tensor_of(const struct inputs *in, int t)
{
    const struct xsti_fa_problem *const p = &in->problem;
    return (struct xst_fa_a2a_tensor){in->at[t], rows_of(p, t) * p->heads * p->head_dim, p->heads * p->head_dim,
                                      p->head_dim};
}

static struct xst_fa_a2a_call call_of(const struct inputs *in)
{
    const struct xsti_fa_problem *const p = &in->problem;
    return (struct xst_fa_a2a_call){.batch = p->batch,
                                    .seq = p->seq,
                                    .key_len = p->key_len,
                                    .key_lens = in->key_lens,
                                    .heads = p->heads,
                                    .heads_total = p->heads,
                                    .head_dim = p->head_dim,
                                    .ranks = 1,
                                    .scale = p->scale,
                                    .q = tensor_of(in, 0),
                                    .k = tensor_of(in, 1),
                                    .v = tensor_of(in, 2)};
}

static struct xst_fa_a2a_choice choice_of(int64_t groups, enum xst_fa_a2a_store store, int64_t ctas)
{
    return (struct xst_fa_a2a_choice){.groups = groups, .store = store, .slices = 4, .ctas = ctas};
}

/* The same in pairs, on whole pairs of CTAs. */
static struct xst_fa_a2a_choice in_pairs(struct xst_fa_a2a_choice choice)
{
    choice.pairs = 1;
    choice.ctas += choice.ctas % 2;
    return choice;
}

/* What can be chosen for a head dimension: groups 2 and 3, each alone, and at d = 128 in pairs. */
static int kinds_of(int64_t head_dim)
{
    return head_dim == 128 ? 4 : 2;
}

static struct xst_fa_a2a_choice kind_of(int kind, enum xst_fa_a2a_store store, int64_t ctas)
{
    const struct xst_fa_a2a_choice choice = choice_of(2 + kind % 2, store, ctas);
    return kind < 2 ? choice : in_pairs(choice);
}

static int64_t out_count(const struct inputs *in)
{
    return in->problem.batch * in->problem.seq * in->problem.heads * in->problem.head_dim;
}

/* The answer of one rank alone, `out` is (batch, seq, heads, d). */
static void run_alone(const struct inputs *in, const struct xst_fa_a2a_choice *choice, uint16_t *out, float *lse)
{
    struct xst_diag diag = {0};
    struct xst_fa_a2a_call call = call_of(in);
    const int64_t row_first[2] = {0, call.seq};
    const size_t bytes = (size_t)out_count(in) * 2, lse_bytes = (size_t)(call.batch * call.heads * call.seq) * 4;
    const uint64_t at = alloc(bytes + 2 * GUARD), lse_at = lse ? alloc(lse_bytes) : 0, control = control_alloc();
    const uint64_t inner = at + GUARD;
    unsigned char guard[2 * GUARD];
    poison(at, bytes + 2 * GUARD);
    call.row_first = row_first;
    call.out = &inner;
    call.control = &control;
    call.lse = lse_at;
    xt_ok(xst_fa_a2a_launch(kernels, &call, choice, device.stream, &diag), &diag);
    xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
    download(out, inner, bytes);
    download(guard, at, GUARD);
    download(guard + GUARD, inner + bytes, GUARD);
    for (int i = 0; i < 2 * GUARD; i++)
        assert_int_equal(guard[i], 0xff);
    if (lse)
        download(lse, lse_at, lse_bytes);
    xsti_device_free(&device, at);
    xsti_device_free(&device, lse_at);
    xsti_device_free(&device, control);
}

static struct xsti_fa_problem problem_of(int64_t batch, int64_t seq, int64_t key_len, int64_t heads, int64_t head_dim)
{
    return (struct xsti_fa_problem){batch, seq, key_len + 3, key_len, heads, head_dim, 1.0 / sqrt((double)head_dim),
                                    NULL};
}

/* FlashAttention's rule and the sums' logarithms, for every kernel of a problem. */
static void check_error_rule(struct xsti_fa_problem problem, float amplitude, const char *what)
{
    struct inputs in = make_inputs(problem, amplitude);
    const int64_t count = out_count(&in), rows = problem.batch * problem.heads * problem.seq;
    float *const reference = malloc((size_t)count * 4), *const rounded = malloc((size_t)count * 4);
    float *const lse = malloc((size_t)rows * 4), *const lse_reference = malloc((size_t)rows * 4);
    uint16_t *const got = malloc((size_t)count * 2);
    assert_int_equal(xsti_fa_reference(&problem, in.host[0], in.host[1], in.host[2], reference, lse_reference), 0);
    assert_int_equal(xsti_fa_reference_bf16(&problem, in.host[0], in.host[1], in.host[2], rounded), 0);
    for (int kind = 0; kind < kinds_of(problem.head_dim); kind++)
        for (int store = 0; store < 3; store++) {
            const struct xst_fa_a2a_choice choice = kind_of(kind, (enum xst_fa_a2a_store)store, device.sm_count);
            double bound;
            run_alone(&in, &choice, got, lse);
            const double error = xsti_fa_error(got, reference, rounded, count, &bound);
            if (!(error <= bound + 1e-6))
                fail_msg("%s, d %lld kind %d store %d: error %g, bound %g", what, (long long)problem.head_dim, kind,
                         store, error, bound);
            for (int64_t i = 0; i < rows; i++)
                if (isinf(lse_reference[i]))
                    assert_true(isinf(lse[i]) && lse[i] < 0);
                else
                    xt_near(lse[i], lse_reference[i], 1e-4 * (1 + fabs((double)lse_reference[i])));
        }
    free(reference), free(rounded), free(lse), free(lse_reference), free(got);
    free_inputs(&in);
}

static void test_error_rule(void **state)
{
    static const int64_t shapes[][4] = {/* batch, seq, keys, heads */
                                        {1, 1, 1, 1},     {2, 64, 128, 2},  {2, 239, 1, 3},   {2, 113, 203, 1},
                                        {1, 113, 211, 2}, {1, 108, 256, 1}, {1, 799, 3, 2},   {3, 65, 127, 1},
                                        {1, 191, 193, 1}, {1, 193, 385, 1}, {1, 1023, 700, 1}};
    static const float amplitudes[] = {1, 4, 10};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int64_t d = 64; d <= 128; d += 64) {
            char what[32];
            snprintf(what, sizeof what, "shape %zu", s);
            check_error_rule(problem_of(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], d), amplitudes[s % 3],
                             what);
        }
}

/* Each batch its own number of keys, none at all too; rows behind them are not numbers. 2 heads: no pair has two batches. */
static void test_key_lens(void **state)
{
    static const int32_t lengths[] = {300, 0, 1, 127, 128, 129, 299};
    (void)state;
    for (int64_t d = 64; d <= 128; d += 64)
        for (int64_t seq = 130; seq < 400; seq += 269) {
            struct xsti_fa_problem problem = problem_of(7, seq, 300, 2, d);
            problem.key_lens = lengths;
            check_error_rule(problem, 4, "lengths");
        }
}

/* Lengths are read when the kernel runs: the same call answers for what stands there then, as a replayed graph does. Numbers out of
 * bounds are taken as the nearest one in them. */
static void test_key_lens_change(void **state)
{
    static const int32_t before[] = {40, 200}, after[] = {-5, 1000}, means[] = {0, 256};
    struct xst_diag diag = {0};
    (void)state;
    struct xsti_fa_problem problem = problem_of(2, 128, 256, 2, 128);
    problem.key_rows = 256;
    problem.key_lens = before;
    struct inputs in = make_inputs(problem, 1);
    const int64_t count = out_count(&in), row_first[2] = {0, 128};
    const size_t bytes = (size_t)count * 2;
    uint16_t *const got = malloc(bytes), *const want = malloc(bytes);
    const uint64_t at = alloc(bytes), control = control_alloc();
    for (int t = 1; t < 3; t++) { /* no NaN left */
        free(in.host[t]);
        in.host[t] = noise_tensor(2 * 256 * 2 * 128, 1);
        upload(in.at[t], in.host[t], 2 * 256 * 2 * 128 * 2);
    }
    struct xst_fa_a2a_call call = call_of(&in);
    call.row_first = row_first;
    call.out = &at;
    call.control = &control;
    for (int kind = 0; kind < kinds_of(128); kind++) {
        const struct xst_fa_a2a_choice choice = kind_of(kind, XST_FA_A2A_STORE_ST16, 2);
        upload(in.key_lens, means, sizeof means);
        run_alone(&in, &choice, want, NULL);
        upload(in.key_lens, before, sizeof before);
        xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
        upload(in.key_lens, after, sizeof after);
        poison(at, bytes);
        xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
        download(got, at, bytes);
        assert_memory_equal(got, want, bytes);
        for (int64_t i = 0; i < count / 2; i++)
            assert_int_equal(got[i], 0);
    }
    free(got), free(want);
    xsti_device_free(&device, at);
    xsti_device_free(&device, control);
    free_inputs(&in);
}

/* Scores all equal give the mean of V; one dominant key gives its row. */
static void test_exact_answers(void **state)
{
    struct inputs in = make_inputs(problem_of(1, 130, 300, 1, 128), 0);
    uint16_t *const got = malloc((size_t)out_count(&in) * 2);
    const struct xst_fa_a2a_choice choice = choice_of(2, XST_FA_A2A_STORE_ST16, 1);
    (void)state;
    run_alone(&in, &choice, got, NULL);
    for (int64_t i = 0; i < 128; i++) {
        double mean = 0;
        for (int64_t key = 0; key < 300; key++)
            mean += xsti_bf16_to_float(in.host[2][key * 128 + i]) / 300;
        xt_near(xsti_bf16_to_float(got[i]), mean, 2e-3);
        assert_int_equal(got[i], got[129 * 128 + i]);
    }
    for (int64_t i = 0; i < 130 * 128; i++)
        in.host[0][i] = xsti_float_to_bf16(i % 128 == 7 ? 64.0f : 0.0f);
    for (int64_t key = 0; key < 300; key++)
        in.host[1][key * 128 + 7] = xsti_float_to_bf16(key == 211 ? 64.0f : -64.0f);
    upload(in.at[0], in.host[0], 130 * 128 * 2);
    upload(in.at[1], in.host[1], 300 * 128 * 2);
    run_alone(&in, &choice, got, NULL);
    for (int64_t i = 0; i < 130 * 128; i++)
        assert_int_equal(got[i], in.host[2][211 * 128 + i % 128]);
    free(got);
    free_inputs(&in);
}

/* A group of virtual ranks on this device. */
struct group {
    int64_t ranks, heads_total;
    int64_t row_first[MOST_P + 1];
    struct inputs in[MOST_P];
    uint64_t base[MOST_P], out[MOST_P], control[MOST_P];
    size_t bytes[MOST_P]; /* of one output buffer */
    uint64_t flip;        /* 0: one buffer */
};

static void make_group(struct group *g, int64_t ranks, struct xsti_fa_problem problem, const int64_t *row_first,
                       int two_buffers)
{
    *g = (struct group){.ranks = ranks, .heads_total = ranks * problem.heads};
    size_t most = 0;
    for (int64_t p = 0; p <= ranks; p++)
        g->row_first[p] = row_first ? row_first[p] : problem.seq * p / ranks;
    for (int64_t p = 0; p < ranks; p++) {
        g->in[p] = make_inputs(problem, 1);
        g->bytes[p] =
            (size_t)(problem.batch * (g->row_first[p + 1] - g->row_first[p]) * g->heads_total * problem.head_dim) * 2;
        most = g->bytes[p] > most ? g->bytes[p] : most;
        g->control[p] = control_alloc();
    }
    g->flip = two_buffers ? most + GUARD : 0;
    for (int64_t p = 0; p < ranks; p++) {
        g->base[p] = alloc(2 * (most + GUARD) + GUARD);
        g->out[p] = g->base[p] + GUARD;
        poison(g->base[p], 2 * (most + GUARD) + GUARD);
    }
}

static void free_group(struct group *g)
{
    for (int64_t p = 0; p < g->ranks; p++) {
        free_inputs(&g->in[p]);
        xsti_device_free(&device, g->base[p]);
        xsti_device_free(&device, g->control[p]);
    }
}

static struct xst_fa_a2a_call rank_call(const struct group *g, int64_t rank)
{
    struct xst_fa_a2a_call call = call_of(&g->in[rank]);
    call.heads_total = g->heads_total;
    call.head_first = rank * call.heads;
    call.rank = rank;
    call.ranks = g->ranks;
    call.row_first = g->row_first;
    call.out = g->out;
    call.out_flip_bytes = g->flip;
    call.control = g->control;
    return call;
}

/* What every owner should hold, from each rank alone and the exchange as a loop. */
static void expected_outputs(const struct group *g, const struct xst_fa_a2a_choice *choice, uint16_t *want[MOST_P])
{
    for (int64_t r = 0; r < g->ranks; r++) {
        uint16_t *const alone = malloc((size_t)out_count(&g->in[r]) * 2);
        run_alone(&g->in[r], choice, alone, NULL);
        xsti_fa_exchange(&g->in[r].problem, alone, g->ranks, g->row_first, g->heads_total, r * g->in[r].problem.heads,
                         want);
        free(alone);
    }
}

static void compare_outputs(const struct group *g, uint64_t flip, uint16_t *const want[MOST_P], const char *what)
{
    for (int64_t p = 0; p < g->ranks; p++) {
        unsigned char *const got = malloc(g->bytes[p] + 2 * GUARD);
        download(got, g->out[p] + flip - GUARD, g->bytes[p] + 2 * GUARD);
        if (memcmp(got + GUARD, want[p], g->bytes[p]) != 0)
            fail_msg("%s: rank %lld of %lld holds other bytes", what, (long long)p, (long long)g->ranks);
        for (int i = 0; i < GUARD; i++)
            if (got[i] != 0xff || got[GUARD + g->bytes[p] + (size_t)i] != 0xff)
                fail_msg("%s: rank %lld, guard band written", what, (long long)p);
        free(got);
    }
}

static void want_alloc(const struct group *g, uint16_t *want[MOST_P])
{
    for (int64_t p = 0; p < g->ranks; p++)
        want[p] = calloc(1, g->bytes[p] + 16);
}

static void want_free(const struct group *g, uint16_t *want[MOST_P])
{
    for (int64_t p = 0; p < g->ranks; p++)
        free(want[p]);
}

/* Every variant, launched rank after rank on one stream, then all waits. */
static void transport(int64_t ranks, struct xsti_fa_problem problem, const int64_t *row_first)
{
    struct group g;
    uint16_t *want[MOST_P] = {0};
    struct xst_diag diag = {0};
    make_group(&g, ranks, problem, row_first, 0);
    want_alloc(&g, want);
    for (int kind = 0; kind < kinds_of(problem.head_dim); kind++)
        for (int store = 0; store < 4; store++) { /* 3: the exchange alone */
            char what[64];
            const struct xst_fa_a2a_choice alone = choice_of(2 + kind % 2, XST_FA_A2A_STORE_ST16, device.sm_count);
            expected_outputs(&g, &alone, want);
            for (int64_t p = 0; p < ranks; p++)
                poison(g.base[p], g.bytes[p] + 2 * GUARD);
            for (int64_t r = 0; r < ranks; r++) {
                const struct xst_fa_a2a_call call = rank_call(&g, r);
                const struct xst_fa_a2a_choice choice =
                    kind_of(kind, (enum xst_fa_a2a_store)(store % 3), r % 2 ? device.sm_count : 7);
                if (store < 3) {
                    xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
                    continue;
                }
                uint16_t *const o = malloc((size_t)out_count(&g.in[r]) * 2);
                const uint64_t source = alloc((size_t)out_count(&g.in[r]) * 2);
                run_alone(&g.in[r], &alone, o, NULL);
                upload(source, o, (size_t)out_count(&g.in[r]) * 2);
                xt_ok(xst_fa_a2a_push(kernels, &call, source, 20, device.stream, &diag), &diag);
                xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
                xsti_device_free(&device, source);
                free(o);
            }
            for (int64_t r = 0; r < ranks; r++) {
                const struct xst_fa_a2a_call call = rank_call(&g, r);
                xt_ok(xst_fa_a2a_wait(kernels, &call, 1e6, device.stream, &diag), &diag);
                xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
            }
            snprintf(what, sizeof what, "d %d kind %d store %d", (int)problem.head_dim, kind, store);
            compare_outputs(&g, 0, want, what);
        }
    want_free(&g, want);
    free_group(&g);
}

static void test_transport(void **state)
{
    static const int64_t uneven3[] = {0, 100, 101, 1025}, empty4[] = {0, 0, 130, 130, 259};
    static const int64_t lengths[] = {1, 63, 65, 127, 191, 193, 1000, 1023};
    static const int64_t ranks[] = {1, 2, 3, 4, 8};
    (void)state;
    for (int64_t d = 64; d <= 128; d += 64) {
        for (int i = 0; i < 8; i++)
            transport(ranks[i % 5], problem_of(1 + i % 3, lengths[i], 70 + i, 1 + i % 3, d), NULL);
        transport(3, problem_of(2, 1025, 1025, 3, d), uneven3);
        transport(4, problem_of(2, 259, 259, 5, d), empty4);
        transport(8, problem_of(1, 2047, 512, 3, d), NULL);
    }
}

/* Two virtual ranks, a stream each, two buffers, random delays, a copy as load beside them, and no host in between: after each
 * wait the stream copies its rank's buffer aside, and everything is compared at the end. */
enum { CALLS = 120, PAIR = 2 };

struct back_to_back {
    struct group g;
    CUstream stream[PAIR], load;
    uint64_t queries[2][PAIR]; /* two sets of inputs */
    uint64_t aside[PAIR];      /* CALLS outputs */
    uint64_t ballast;          /* source and target of the copy */
    uint16_t *want[2][MOST_P];
};

enum { BALLAST_BYTES = 64 << 20 };

static int set_of_call(int n)
{
    return n % 3 % 2;
}

static void make_back_to_back(struct back_to_back *b)
{
    const struct xst_fa_a2a_choice alone = choice_of(2, XST_FA_A2A_STORE_ST16, device.sm_count);
    make_group(&b->g, PAIR, problem_of(1, 700, 700, 2, 128), NULL, 1);
    const size_t q_bytes = (size_t)out_count(&b->g.in[0]) * 2;
    for (int set = 0; set < 2; set++) {
        want_alloc(&b->g, b->want[set]);
        for (int r = 0; r < PAIR; r++) {
            uint16_t *const q = noise_tensor(out_count(&b->g.in[0]), 2);
            b->queries[set][r] = alloc(q_bytes);
            upload(b->queries[set][r], q, q_bytes);
            upload(b->g.in[r].at[0], q, q_bytes);
            free(q);
        }
        expected_outputs(&b->g, &alone, b->want[set]);
    }
    for (int r = 0; r < PAIR; r++) {
        assert_int_equal(driver.cuStreamCreate(&b->stream[r], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        b->aside[r] = alloc(CALLS * b->g.bytes[r]);
    }
    assert_int_equal(driver.cuStreamCreate(&b->load, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    b->ballast = alloc(2 * (size_t)BALLAST_BYTES);
}

static void enqueue_call(const struct back_to_back *b, int n)
{
    struct xst_diag diag = {0};
    for (int r = 0; r < PAIR; r++) {
        struct xst_fa_a2a_call call = rank_call(&b->g, r);
        struct xst_fa_a2a_choice choice = choice_of(2, (enum xst_fa_a2a_store)(n % 3), n % 4 < 2 ? 20 + 7 * r : 3 + r);
        if (n / 6 % 2)
            choice = in_pairs(choice);
        choice.delay_ns = r == n % 2 ? 20000 : 3000;
        call.q.address = b->queries[set_of_call(n)][r];
        xt_ok(xst_fa_a2a_run(kernels, &call, &choice, 2e6, b->stream[r], &diag), &diag);
        assert_int_equal(driver.cuMemcpyAsync(b->aside[r] + (uint64_t)(n - 1) * b->g.bytes[r],
                                              b->g.out[r] + (n % 2 ? b->g.flip : 0), b->g.bytes[r], b->stream[r]),
                         CUDA_SUCCESS);
    }
    assert_int_equal(driver.cuMemcpyAsync(b->ballast, b->ballast + BALLAST_BYTES, BALLAST_BYTES, b->load),
                     CUDA_SUCCESS);
}

static void test_back_to_back(void **state)
{
    struct back_to_back b = {0};
    struct xst_diag diag = {0};
    (void)state;
    make_back_to_back(&b);
    for (int n = 1; n <= CALLS; n++)
        enqueue_call(&b, n);
    for (int r = 0; r < PAIR; r++) {
        const struct xst_fa_a2a_call call = rank_call(&b.g, r);
        unsigned char *const got = malloc(CALLS * b.g.bytes[r]);
        xt_ok(xst_fa_a2a_status(kernels, &call, b.stream[r], &diag), &diag);
        download(got, b.aside[r], CALLS * b.g.bytes[r]);
        for (int n = 1; n <= CALLS; n++)
            if (memcmp(got + (size_t)(n - 1) * b.g.bytes[r], b.want[set_of_call(n)][r], b.g.bytes[r]) != 0)
                fail_msg("call %d: rank %d holds other bytes", n, r);
        free(got);
    }
    assert_int_equal(driver.cuStreamSynchronize(b.load), CUDA_SUCCESS);
    driver.cuStreamDestroy(b.load);
    xsti_device_free(&device, b.ballast);
    for (int r = 0; r < PAIR; r++) {
        driver.cuStreamDestroy(b.stream[r]);
        xsti_device_free(&device, b.aside[r]);
        xsti_device_free(&device, b.queries[0][r]);
        xsti_device_free(&device, b.queries[1][r]);
    }
    want_free(&b.g, b.want[0]);
    want_free(&b.g, b.want[1]);
    free_group(&b.g);
}

static void test_repeats(void **state)
{
    struct inputs in = make_inputs(problem_of(1, 1025, 1025, 2, 128), 1);
    const size_t bytes = (size_t)out_count(&in) * 2;
    uint16_t *const first = malloc(bytes), *const again = malloc(bytes);
    struct xst_fa_a2a_call call = call_of(&in);
    struct xst_diag diag = {0};
    const int64_t row_first[2] = {0, call.seq};
    const uint64_t out = alloc(bytes), control = control_alloc();
    (void)state;
    call.row_first = row_first, call.out = &out, call.control = &control;
    for (int i = 0; i < 1000; i++) {
        struct xst_fa_a2a_choice choice = choice_of(2, (enum xst_fa_a2a_store)(i % 3), 1 + i % device.sm_count);
        if (i / 3 % 2)
            choice = in_pairs(choice);
        choice.delay_ns = i % 5 == 0 ? 2000 : 0;
        poison(out, bytes);
        xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
        download(i == 0 ? first : again, out, bytes);
        if (i > 0 && memcmp(first, again, bytes) != 0)
            fail_msg("run %d gives other bytes", i);
    }
    xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
    free(first), free(again);
    xsti_device_free(&device, out);
    xsti_device_free(&device, control);
    free_inputs(&in);
}

/* One owner's output in mapped host memory: the remote path of a machine with one GPU. */
static void test_host_memory(void **state)
{
    struct group g;
    struct xsti_pinned pinned;
    struct xst_diag diag = {0};
    uint16_t *want[MOST_P] = {0};
    const struct xst_fa_a2a_choice alone = choice_of(2, XST_FA_A2A_STORE_ST16, device.sm_count);
    (void)state;
    make_group(&g, 2, problem_of(1, 1025, 600, 3, 128), NULL, 0);
    want_alloc(&g, want);
    expected_outputs(&g, &alone, want);
    xt_ok(xsti_pinned_alloc(&device, g.bytes[1], &pinned, &diag), &diag);
    g.out[1] = pinned.device;
    for (int store = 0; store < 6; store++) {
        memset(pinned.host, 0xff, g.bytes[1]);
        for (int64_t r = 0; r < 2; r++) {
            const struct xst_fa_a2a_call call = rank_call(&g, r);
            struct xst_fa_a2a_choice choice =
                kind_of(store < 3 ? 0 : 2, (enum xst_fa_a2a_store)(store % 3), r ? 10 : device.sm_count);
            choice.drain_bytes_per_us = store == 5 ? 1000 : 0; /* slices that take longer than a tile */
            xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
            xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
        }
        assert_memory_equal(pinned.host, want[1], g.bytes[1]);
    }
    xsti_pinned_free(&device, &pinned);
    want_free(&g, want);
    free_group(&g);
}

static void test_missing_peer(void **state)
{
    struct group g;
    struct xst_diag diag = {0};
    (void)state;
    make_group(&g, 3, problem_of(1, 400, 100, 1, 128), NULL, 0);
    const struct xst_fa_a2a_choice choice = in_pairs(choice_of(2, XST_FA_A2A_STORE_ST16, device.sm_count));
    for (int64_t r = 0; r < 2; r++) { /* rank 2 never comes */
        const struct xst_fa_a2a_call call = rank_call(&g, r);
        xt_ok(xst_fa_a2a_launch(kernels, &call, &choice, device.stream, &diag), &diag);
    }
    const struct xst_fa_a2a_call call = rank_call(&g, 0);
    xt_ok(xst_fa_a2a_wait(kernels, &call, 3000, device.stream, &diag), &diag);
    xt_status(xst_fa_a2a_status(kernels, &call, device.stream, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "rank 0 waited in vain for rank 2: call 1 expected, 0 seen");
    xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
    xt_ok(xst_fa_a2a_run(kernels, &call, &choice, 3000, device.stream, &diag), &diag);
    xt_status(xst_fa_a2a_status(kernels, &call, device.stream, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "rank 0 waited in vain for rank 1: call 2 expected, 1 seen");
    free_group(&g);
}

/* What a rank's spans say: every tile is computed and issued once by each warpgroup (paced: handed tiles by the sending warp), in
 * order on its track, and the bytes that left are those of the rows of others. */
static void check_spans(const struct xst_trace *trace, const struct group *g, int64_t rank, int64_t groups, int store)
{
    const int64_t d = g->in[0].problem.head_dim, own = g->row_first[rank + 1] - g->row_first[rank];
    const double remote =
        (double)(g->in[0].problem.batch * g->in[0].problem.heads * (g->in[0].problem.seq - own) * d * 2);
    const int64_t tiles =
        g->in[0].problem.batch * g->in[0].problem.heads * ((g->in[0].problem.seq + 64 * groups - 1) / (64 * groups));
    double bytes = 0;
    int64_t computed = 0, fences = 0, sent = 0;
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        assert_true(span->end_us >= span->start_us);
        assert_true(span->tile < tiles);
        bytes += span->bytes;
        computed += span->what == XST_TRACE_MATH;
        fences += span->what == XST_TRACE_FENCE;
        sent += span->what == XST_TRACE_ISSUE && span->role == XST_TRACE_ROLE_STORE;
    }
    assert_int_equal(trace->calls[0].lost, 0);
    assert_int_equal(computed, tiles * groups);
    assert_true(fences > 0);
    assert_true(bytes == remote);
    assert_true(store == XST_FA_A2A_STORE_PACED ? sent > 0 : sent == 0);
}

static void test_trace(void **state)
{
    enum { CTAS = 8, TRACKS = 16 };
    struct group g;
    uint16_t *want[MOST_P] = {0};
    struct xst_diag diag = {0};
    (void)state;
    make_group(&g, 2, problem_of(1, 1025, 700, 3, 128), NULL, 0); /* an odd number of tiles of 128 rows */
    want_alloc(&g, want);
    xt_ok(xsti_fa_find_traced(kernels, &diag), &diag);
    for (int kind = 0; kind < kinds_of(128); kind++)
        for (int store = 0; store < 3; store++) {
            const int64_t groups = 2 + kind % 2;
            const struct xst_fa_a2a_choice alone = choice_of(groups, XST_FA_A2A_STORE_ST16, device.sm_count);
            const struct xst_fa_a2a_choice choice = kind_of(kind, (enum xst_fa_a2a_store)store, CTAS);
            expected_outputs(&g, &alone, want);
            for (int64_t r = 0; r < 2; r++) {
                struct xst_trace trace = {0};
                struct xsti_trace_ring ring = {0};
                const struct xst_fa_a2a_call call = rank_call(&g, r);
                xt_ok(xst_trace_add_call(&trace, "fused", &diag), &diag);
                xt_ok(xsti_trace_ring_open(&device, CTAS, TRACKS, 256, &ring, &diag), &diag);
                xt_ok(xsti_fa_launch(kernels, &call, &choice, 0, &ring, device.stream, &diag), &diag);
                xt_ok(xst_fa_a2a_status(kernels, &call, device.stream, &diag), &diag);
                xt_ok(xsti_trace_ring_read(&device, &ring, CTAS, 0, &trace, &diag), &diag);
                check_spans(&trace, &g, r, groups, store);
                xsti_trace_ring_close(&device, &ring);
                xst_trace_free(&trace);
            }
            compare_outputs(&g, 0, want, "traced");
        }
    want_free(&g, want);
    free_group(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_answers), cmocka_unit_test(test_error_rule),
        cmocka_unit_test(test_key_lens),      cmocka_unit_test(test_key_lens_change),
        cmocka_unit_test(test_transport),     cmocka_unit_test(test_back_to_back),
        cmocka_unit_test(test_host_memory),   cmocka_unit_test(test_missing_peer),
        cmocka_unit_test(test_repeats),       cmocka_unit_test(test_trace),
    };
    struct xst_diag diag = {0};
    if (xst_fa_a2a_open(0, &kernels, &diag) != XST_OK) {
        printf("skipped: %s\n", diag.text);
        return 77;
    }
    xt_ok(xsti_driver_open(&driver, &diag), &diag);
    xt_ok(xsti_device_open(&driver, 0, &device, &diag), &diag);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    xsti_device_close(&device);
    xst_fa_a2a_close(kernels);
    xsti_driver_close(&driver);
    return failed;
}
