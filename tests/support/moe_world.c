/* SPDX-License-Identifier: Apache-2.0 */
#include "support/moe_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/trace_ring.h"
#include "moe/kernels.h"
#include "moe/layout.h"
#include "moe/params.h"

static uint64_t state_of_noise = 1;

void moe_seed(uint64_t seed)
{
    state_of_noise = seed * 2654435761u + 1;
}

static uint64_t next_bits(void)
{
    state_of_noise = state_of_noise * 6364136223846793005u + 1442695040888963407u;
    return state_of_noise >> 32;
}

int64_t moe_pick(int64_t below)
{
    return (int64_t)(next_bits() % (uint64_t)below);
}

/* About normal, from a sum of four bytes. */
static float noise(void)
{
    const uint64_t bits = next_bits();
    const double sum = (double)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255)) / 256 - 2;
    return (float)(sum * 1.732);
}

int moe_machine_open(struct moe_machine *machine)
{
    struct xst_diag diag = {0};
    memset(machine, 0, sizeof *machine);
    /* Streams beyond eight share hardware queues by default, and a rank must not queue behind the peer it waits for. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    if (xst_moe_open(0, &machine->kernels, &diag) != XST_OK) {
        printf("skipped: %s\n", diag.text);
        return 77;
    }
    xt_ok(xsti_driver_open(&machine->driver, &diag), &diag);
    xt_ok(xsti_device_open(&machine->driver, 0, &machine->device, &diag), &diag);
    for (int r = 0; r < MOE_MOST_P; r++)
        assert_int_equal(machine->driver.cuStreamCreate(&machine->streams[r], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return 0;
}

void moe_machine_close(struct moe_machine *machine)
{
    for (int r = 0; r < MOE_MOST_P; r++)
        machine->driver.cuStreamDestroy(machine->streams[r]);
    xsti_device_close(&machine->device);
    xst_moe_close(machine->kernels);
    xsti_driver_close(&machine->driver);
}

int moe_machine_main(struct moe_machine *machine, int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const int skipped = moe_machine_open(machine);
    if (skipped)
        return skipped;
    const int failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
    moe_machine_close(machine);
    return failed;
}

static uint64_t alloc(const struct moe_world *world, size_t bytes)
{
    struct xst_diag diag = {0};
    CUdeviceptr pointer = 0;
    xt_ok(xsti_device_alloc(&world->machine->device, bytes, &pointer, &diag), &diag);
    return pointer;
}

static void fill(const struct moe_world *world, uint64_t at, int byte, size_t bytes)
{
    struct xst_diag diag = {0};
    if (bytes > 0)
        xt_ok(xsti_device_fill(&world->machine->device, at, byte, bytes, &diag), &diag);
}

static void upload(const struct moe_world *world, uint64_t to, const void *from, size_t bytes)
{
    struct xst_diag diag = {0};
    if (bytes > 0)
        xt_ok(xsti_device_write(&world->machine->device, to, from, bytes, &diag), &diag);
}

/* Gate rows read column 0, which is 1 in every token: silu(64) is 64 in every arithmetic. The rest is -1, 0, 1. */
static void exact_weights(struct moe_world *world)
{
    const int64_t hidden = world->layer.hidden, inter = world->layer.inter;
    for (int64_t row = 0; row < world->layer.experts * 2 * inter; row++)
        for (int64_t c = 0; c < hidden; c++) {
            const float value = row % 16 < 8 ? (c == 0 ? 64.0f : 0.0f) : (c == 0 ? 0.0f : (float)(moe_pick(3) - 1));
            world->w1[row * hidden + c] = xsti_float_to_bf16(value);
        }
    for (int64_t i = 0; i < world->layer.experts * hidden * inter; i++)
        world->w2[i] = xsti_float_to_bf16((float)(moe_pick(3) - 1));
}

static void random_weights(struct moe_world *world)
{
    const int64_t hidden = world->layer.hidden, inter = world->layer.inter;
    const float one = (float)(2 / sqrt((double)hidden)), two = (float)(1 / sqrt((double)inter));
    for (int64_t i = 0; i < world->layer.experts * 2 * inter * hidden; i++)
        world->w1[i] = xsti_float_to_bf16(noise() * one);
    for (int64_t i = 0; i < world->layer.experts * hidden * inter; i++)
        world->w2[i] = xsti_float_to_bf16(noise() * two);
}

static void make_weights(struct moe_world *world, enum moe_numbers numbers)
{
    const struct xst_moe_layer *const layer = &world->layer;
    const size_t one = (size_t)(2 * layer->inter * layer->hidden), two = (size_t)(layer->inter * layer->hidden);
    const size_t experts = (size_t)layer->experts, bytes = experts * (one + two) * 2;
    world->w1 = malloc(bytes);
    world->w1s = calloc(2 * experts, sizeof *world->w1s);
    assert_true(world->w1 && world->w1s);
    world->w2 = world->w1 + experts * one;
    world->w2s = world->w1s + experts;
    for (size_t e = 0; e < experts; e++) {
        world->w1s[e] = world->w1 + e * one;
        world->w2s[e] = world->w2 + e * two;
    }
    if (numbers == MOE_EXACT_NUMBERS)
        exact_weights(world);
    else
        random_weights(world);
    world->weights_at = alloc(world, bytes + MOE_GUARD);
    fill(world, world->weights_at, 0xff, bytes + MOE_GUARD); /* tails may not read on */
    if (layer->dtype == XST_MOE_E4M3) {
        const size_t scales = experts * (moe_scale_count(world, 1) + moe_scale_count(world, 2)) * sizeof(float);
        moe_quantise_weights(world);
        upload(world, world->weights_at, world->w8.values, bytes / 2);
        world->scales_at = alloc(world, scales + MOE_GUARD);
        fill(world, world->scales_at, 0xff, scales + MOE_GUARD);
        upload(world, world->scales_at, world->w8.scales, scales);
    } else {
        upload(world, world->weights_at, world->w1, bytes);
    }
}

/* CTAs of one of `ranks` ranks. Two CTAs that share a tile need two SMs of one group of SMs (there are fewer than ten groups), and
 * another rank's single CTAs may leave one over in each. */
static int64_t share_of(int64_t sms, int64_t ranks)
{
    enum { LEFT_OVER = 10 };
    return (ranks == 1 ? sms : (sms - LEFT_OVER) / ranks) / 2 * 2;
}

static void make_world(struct moe_machine *machine, const struct moe_case *made, int64_t tokens_most,
                       enum xst_moe_dtype dtype, struct moe_world *world)
{
    struct xst_diag diag = {0};
    memset(world, 0, sizeof *world);
    world->machine = machine;
    world->clamp = made->clamp;
    world->layer = (struct xst_moe_layer){.hidden = made->hidden,
                                          .inter = made->inter,
                                          .experts = made->experts,
                                          .topk = made->topk,
                                          .tokens_most = tokens_most,
                                          .ranks = made->ranks,
                                          .dtype = dtype};
    world->layer.ctas = share_of(xst_moe_sm_count(machine->kernels), made->ranks);
    xt_ok(xst_moe_layout(&world->layer, &world->at, &diag), &diag);
    make_weights(world, made->numbers);
    for (int64_t r = 0; r < made->ranks; r++) {
        world->bases[r] = alloc(world, world->at.bytes + 1024);
        world->buffers[r] = (world->bases[r] + 1023) / 1024 * 1024;
        fill(world, world->buffers[r], 0, world->at.bytes);
        world->combine[r] = world->buffers[r] + world->at.combine;
        world->y[r] = alloc(world, moe_y_bytes(world, tokens_most) + 2 * MOE_GUARD) + MOE_GUARD;
    }
}

void moe_world_make(struct moe_machine *machine, const struct moe_case *made, int64_t tokens_most,
                    struct moe_world *world)
{
    make_world(machine, made, tokens_most, XST_MOE_BF16, world);
}

void moe_world_make_e4m3(struct moe_machine *machine, const struct moe_case *made, int64_t tokens_most,
                         struct moe_world *world)
{
    make_world(machine, made, tokens_most, XST_MOE_E4M3, world);
}

void moe_world_ring(struct moe_world *world, int64_t ring)
{
    struct xst_moe_layout all;
    struct xst_diag diag = {0};
    world->layer.ring = 0;
    xt_ok(xst_moe_layout(&world->layer, &all, &diag), &diag);
    world->layer.ring = ring;
    xt_ok(xst_moe_layout(&world->layer, &world->at, &diag), &diag);
    assert_true(world->at.bytes <= all.bytes);
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        fill(world, world->buffers[r], 0, all.bytes);
        world->combine[r] = world->buffers[r] + world->at.combine;
    }
}

void moe_world_free(struct moe_world *world)
{
    const struct xsti_device *const device = &world->machine->device;
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        xsti_device_free(device, world->bases[r]);
        xsti_device_free(device, world->y[r] - MOE_GUARD);
    }
    xsti_device_free(device, world->weights_at);
    if (world->layer.dtype == XST_MOE_E4M3)
        xsti_device_free(device, world->scales_at);
    free(world->w8.values), free(world->w8.scales);
    free(world->w1);
    free(world->w1s);
}

static int64_t local_experts(const struct moe_world *world, int64_t rank, int64_t *first_out)
{
    const struct xst_moe_shape shape = {.experts = world->layer.experts, .ranks = world->layer.ranks};
    int64_t end;
    xst_moe_experts_of(&shape, rank, first_out, &end);
    return end - *first_out;
}

static int taken(const int64_t *ids, int64_t count, int64_t expert)
{
    for (int64_t i = 0; i < count; i++)
        if (ids[i] == expert)
            return 1;
    return 0;
}

static int64_t choose(const struct moe_world *world, const struct moe_case *made, const int64_t *before, int64_t count)
{
    int64_t first, expert;
    switch (made->pattern) {
    case MOE_ONE_EXPERT:
        return made->experts - 1;
    case MOE_ONE_RANK:
        return moe_pick(local_experts(world, 0, &first));
    case MOE_DISTINCT:
        do
            expert = moe_pick(made->experts);
        while (count < made->experts && taken(before, count, expert));
        return expert;
    default:
        return moe_pick(made->experts);
    }
}

static void make_rank(const struct moe_world *world, const struct moe_case *made, int64_t rank, struct moe_inputs *in)
{
    const int64_t tokens = in->tokens[rank], hidden = made->hidden, topk = made->topk;
    const int exact = made->numbers == MOE_EXACT_NUMBERS;
    in->x[rank] = malloc((size_t)(tokens * hidden) * 2 + 8);
    in->ids[rank] = malloc((size_t)(tokens * topk) * 8 + 8);
    in->weights[rank] = malloc((size_t)(tokens * topk) * 4 + 8);
    assert_true(in->x[rank] && in->ids[rank] && in->weights[rank]);
    for (int64_t i = 0; i < tokens * hidden; i++) {
        const float sparse = i % hidden == 0 ? 1 : moe_pick(hidden) < 8 ? (float)(moe_pick(3) - 1) : 0;
        in->x[rank][i] = xsti_float_to_bf16(exact ? sparse : noise());
    }
    for (int64_t i = 0; i < tokens * topk; i++) {
        const int is_void =
            (double)moe_pick(1000) < 1000 * made->masked || (made->pattern == MOE_MASKED_RANK && rank == 1);
        const int64_t expert = choose(world, made, in->ids[rank] + i / topk * topk, i % topk);
        in->ids[rank][i] = is_void ? -1 - moe_pick(3) : expert;
        in->weights[rank][i] = exact ? ldexpf(1, -(int)moe_pick(3)) : 0.05f + (float)moe_pick(1000) / 1000;
        if (is_void)
            in->weights[rank][i] = NAN; /* nobody looks */
    }
}

void moe_inputs_make(const struct moe_world *world, const struct moe_case *made, struct moe_inputs *in)
{
    memset(in, 0, sizeof *in);
    memcpy(in->tokens, made->tokens, sizeof in->tokens);
    for (int64_t r = 0; r < made->ranks; r++) {
        assert_true(in->tokens[r] <= world->layer.tokens_most);
        make_rank(world, made, r, in);
        if (world->layer.dtype == XST_MOE_E4M3)
            moe_quantise_rows(world, r, in);
    }
}

void moe_inputs_solve(const struct moe_world *world, struct moe_inputs *in)
{
    const struct xst_moe_layer *const layer = &world->layer;
    const struct xsti_moe_problem problem = {layer->hidden, layer->inter, layer->experts, layer->topk,
                                             world->clamp,  world->w1s,   world->w2s};
    for (int64_t r = 0; r < layer->ranks; r++) {
        const size_t bytes = (size_t)(in->tokens[r] * layer->hidden) * sizeof(double) + 8;
        in->exact[r] = malloc(bytes);
        in->rounded[r] = malloc(bytes);
        assert_true(in->exact[r] && in->rounded[r]);
        if (layer->dtype == XST_MOE_E4M3) {
            moe_solve_e4m3(world, r, in);
            continue;
        }
        assert_int_equal(xsti_moe_reference(&problem, XSTI_MOE_EXACT, in->tokens[r], in->x[r], in->ids[r],
                                            in->weights[r], in->exact[r]),
                         0);
        assert_int_equal(xsti_moe_reference(&problem, XSTI_MOE_AS_BF16, in->tokens[r], in->x[r], in->ids[r],
                                            in->weights[r], in->rounded[r]),
                         0);
    }
}

void moe_inputs_free(struct moe_inputs *in)
{
    for (int r = 0; r < MOE_MOST_P; r++) {
        free(in->x[r]), free(in->ids[r]), free(in->weights[r]);
        free(in->x8[r].values), free(in->x8[r].scales);
        free(in->exact[r]), free(in->rounded[r]);
    }
}

size_t moe_y_bytes(const struct moe_world *world, int64_t tokens)
{
    return (size_t)(tokens * world->layer.hidden) * 2;
}

/* Rows, ids and weights of tokens that are not there, and last call's results, are NaN or out of range. */
void moe_world_load(struct moe_world *world, const struct moe_inputs *in)
{
    const struct xst_moe_layer *const layer = &world->layer;
    const int64_t most = layer->tokens_most, topk = layer->topk;
    struct xsti_moe_regions regions;
    struct xst_diag diag = {0};
    xt_ok(xsti_moe_regions(layer, &regions, &diag), &diag);
    const int is_e4m3 = layer->dtype == XST_MOE_E4M3;
    const size_t element = is_e4m3 ? 1 : 2, groups = is_e4m3 ? (size_t)layer->hidden / 128 : 0;
    for (int64_t r = 0; r < layer->ranks; r++) {
        const int64_t tokens = in->tokens[r];
        const uint64_t buffer = world->buffers[r];
        fill(world, buffer + world->at.x, 0xff, (size_t)(most * layer->hidden) * element);
        fill(world, buffer + world->at.x_scales, 0xff, (size_t)most * groups * 4);
        fill(world, buffer + world->at.ids, 0x7f, (size_t)(most * topk) * 8);
        fill(world, buffer + world->at.weights, 0xff, (size_t)(most * topk) * 4);
        fill(world, world->combine[r], 0xff, moe_y_bytes(world, most * topk));
        fill(world, buffer + regions.pool_x, 0xff, moe_y_bytes(world, regions.pool_rows));
        fill(world, buffer + regions.pool_act, 0xff, (size_t)(regions.pool_rows * layer->inter) * element);
        if (regions.pool_rows == regions.rows_most)
            fill(world, buffer + regions.mid, 0xff, (size_t)(regions.pool_rows * layer->inter) * 4);
        fill(world, buffer + regions.pool_x_scales, 0xff, (size_t)regions.pool_rows * groups * 4);
        fill(world, buffer + regions.act_scales, 0xff,
             is_e4m3 ? (size_t)(regions.pool_rows * (layer->inter / 128)) * 4 : 0);
        upload(world, buffer + world->at.x, is_e4m3 ? (const void *)in->x8[r].values : in->x[r],
               (size_t)(tokens * layer->hidden) * element);
        upload(world, buffer + world->at.x_scales, in->x8[r].scales, (size_t)tokens * groups * 4);
        upload(world, buffer + world->at.ids, in->ids[r], (size_t)(tokens * topk) * 8);
        upload(world, buffer + world->at.weights, in->weights[r], (size_t)(tokens * topk) * 4);
        fill(world, world->y[r] - MOE_GUARD, 0xff, moe_y_bytes(world, most) + 2 * MOE_GUARD);
    }
    xt_ok(xsti_device_wait(&world->machine->device, 10e6, "loading inputs", &diag), &diag);
}

struct xst_moe_call moe_call_of(const struct moe_world *world, int64_t rank, int64_t tokens)
{
    const struct xst_moe_layer *const layer = &world->layer;
    const uint64_t matrix = (uint64_t)(layer->inter * layer->hidden) * (layer->dtype == XST_MOE_E4M3 ? 1 : 2);
    const uint64_t one = moe_scale_count(world, 1) * 4, two = moe_scale_count(world, 2) * 4;
    int64_t first;
    local_experts(world, rank, &first);
    return (struct xst_moe_call){
        .layer = *layer,
        .rank = rank,
        .tokens = tokens,
        .clamp = world->clamp,
        .w1 = world->weights_at + (uint64_t)first * 2 * matrix,
        .w2 = world->weights_at + (uint64_t)layer->experts * 2 * matrix + (uint64_t)first * matrix,
        .y = world->y[rank],
        .buffers = world->buffers,
        .combine = world->own_combine ? world->combine : NULL,
        .limit_us = world->limit_us,
        .w1_scales = world->scales_at + (uint64_t)first * one,
        .w2_scales = world->scales_at + (uint64_t)layer->experts * one + (uint64_t)first * two,
    };
}

void moe_enqueue(struct moe_world *world, enum moe_form form, int64_t rank, int64_t tokens,
                 const struct xst_moe_order *order)
{
    struct xst_diag diag = {0};
    const struct xst_moe_call call = moe_call_of(world, rank, tokens);
    CUstream const stream = world->machine->streams[rank];
    if (form == MOE_FUSED)
        xt_ok(xst_moe_fused(world->machine->kernels, &call, order, stream, &diag), &diag);
    else
        xt_ok(xst_moe_unfused(world->machine->kernels, &call, order, stream, &diag), &diag);
}

void moe_finish(struct moe_world *world, const char *what)
{
    int failed = 0;
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        struct xst_diag diag = {0};
        const struct xst_moe_call call = moe_call_of(world, r, 0);
        if (xst_moe_status(world->machine->kernels, &call, world->machine->streams[r], &diag) != XST_OK) {
            print_error("%s: %s\n", what, diag.text);
            failed = 1;
        }
    }
    if (failed)
        fail();
}

static uint16_t *read_y(const struct moe_world *world, int64_t rank, int64_t tokens, const char *what)
{
    const size_t bytes = moe_y_bytes(world, tokens), all = bytes + 2 * MOE_GUARD;
    struct xst_diag diag = {0};
    unsigned char *const got = malloc(all);
    assert_non_null(got);
    xt_ok(xsti_device_read(&world->machine->device, got, world->y[rank] - MOE_GUARD, all, &diag), &diag);
    for (size_t i = 0; i < MOE_GUARD; i++)
        if (got[i] != 0xff || got[MOE_GUARD + bytes + i] != 0xff)
            fail_msg("%s: rank %lld wrote beside y", what, (long long)rank);
    memmove(got, got + MOE_GUARD, bytes);
    return (uint16_t *)got;
}

void moe_run(struct moe_world *world, const struct moe_inputs *in, enum moe_form form,
             const struct xst_moe_order *orders, size_t count, const char *what, uint16_t *y[MOE_MOST_P])
{
    moe_world_load(world, in);
    for (int64_t r = 0; r < world->layer.ranks; r++)
        moe_enqueue(world, form, r, in->tokens[r], &orders[(size_t)r % count]);
    moe_finish(world, what);
    for (int64_t r = 0; r < world->layer.ranks; r++)
        y[r] = read_y(world, r, in->tokens[r], what);
}

void moe_run_traced(struct moe_world *world, const struct moe_inputs *in, const struct xst_moe_order *orders,
                    size_t count, const char *what, struct xst_trace *trace, uint16_t *y[MOE_MOST_P])
{
    enum { MARKS = 4096 };
    const struct xsti_device *const device = &world->machine->device;
    const int64_t ctas = world->layer.ctas;
    struct xsti_trace_ring rings[MOE_MOST_P] = {{0}};
    struct xst_diag diag = {0};
    moe_world_load(world, in);
    xt_ok(xsti_moe_find_traced(world->machine->kernels, &diag), &diag);
    for (int64_t r = 0; r < world->layer.ranks; r++)
        xt_ok(xsti_trace_ring_open(device, ctas, XSTI_MOE_TRACKS, MARKS, &rings[r], &diag), &diag);
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        const struct xst_moe_call call = moe_call_of(world, r, in->tokens[r]);
        xt_ok(xsti_moe_fused_traced(world->machine->kernels, &call, &orders[(size_t)r % count], &rings[r],
                                    world->machine->streams[r], &diag),
              &diag);
    }
    moe_finish(world, what);
    xt_ok(xst_trace_add_call(trace, what, &diag), &diag);
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        y[r] = read_y(world, r, in->tokens[r], what);
        xt_ok(xsti_trace_ring_read(device, &rings[r], ctas, (int32_t)r, trace, &diag), &diag);
        xsti_trace_ring_close(device, &rings[r]);
    }
    xst_trace_finish(trace);
}

static void check_exact(const double *want, const uint16_t *y, int64_t count, int64_t hidden, const char *what)
{
    for (int64_t i = 0; i < count; i++)
        if (!((double)xsti_bf16_to_float(y[i]) == want[i]))
            fail_msg("%s: token %lld, column %lld is %g, not %g", what, (long long)(i / hidden),
                     (long long)(i % hidden), xsti_bf16_to_float(y[i]), want[i]);
}

/* How far the rounded answer is from the exact one. */
static double cost_of_rounding(const struct moe_inputs *in, int64_t r, int64_t count)
{
    double off = 0, sizes = 0;
    for (int64_t i = 0; i < count; i++) {
        const double a = in->rounded[r][i], b = in->exact[r][i];
        off += (a - b) * (a - b);
        sizes += a * a + b * b;
    }
    return sizes > 0 ? off / sizes : 0;
}

static void check_e4m3(const struct moe_world *world, const struct moe_inputs *in, int64_t r, const uint16_t *y,
                       const char *what)
{
    const int64_t hidden = world->layer.hidden;
    const double off = xsti_moe_difference(y, in->rounded[r], in->tokens[r] * hidden);
    const double row = xsti_moe_row_error(y, in->rounded[r], in->tokens[r], hidden);
    /* of one row alone, what a row may be off: half the square of MOE_E4M3_ROW */
    const double bound = MOE_E4M3_OFF * (1 + 4 / (double)(in->tokens[r] > 0 ? in->tokens[r] : 1));
    if (!(off < bound && row < MOE_E4M3_ROW))
        fail_msg("%s: rank %lld, %lld tokens: difference %g (bound %g), worst row %g (bound %g)", what, (long long)r,
                 (long long)in->tokens[r], off, bound, row, MOE_E4M3_ROW);
}

void moe_check(const struct moe_world *world, const struct moe_inputs *in, enum moe_numbers numbers,
               uint16_t *const y[MOE_MOST_P], const char *what)
{
    const int64_t hidden = world->layer.hidden;
    for (int64_t r = 0; r < world->layer.ranks; r++) {
        const int64_t count = in->tokens[r] * hidden;
        if (world->layer.dtype == XST_MOE_E4M3) {
            check_e4m3(world, in, r, y[r], what);
            continue;
        }
        if (numbers == MOE_EXACT_NUMBERS)
            check_exact(in->rounded[r], y[r], count, hidden, what);
        const double off = xsti_moe_difference(y[r], in->exact[r], count);
        const double row = xsti_moe_row_error(y[r], in->exact[r], in->tokens[r], hidden);
        const double to_rounded = xsti_moe_difference(y[r], in->rounded[r], count);
        const double bound = fmax(1e-5, 1.1 * cost_of_rounding(in, r, count));
        if (!(off < bound && row < 0.03 && to_rounded < 5e-6))
            fail_msg("%s: rank %lld: difference %g (bound %g; to the rounded answer %g), worst row %g", what,
                     (long long)r, off, bound, to_rounded, row);
    }
}

void moe_same(const struct moe_world *world, const struct moe_inputs *in, uint16_t *const a[MOE_MOST_P],
              uint16_t *const b[MOE_MOST_P], const char *what)
{
    for (int64_t r = 0; r < world->layer.ranks; r++)
        for (int64_t i = 0; i < in->tokens[r] * world->layer.hidden; i++)
            if (a[r][i] != b[r][i])
                fail_msg("%s: rank %lld, token %lld, column %lld: other bits (%04x, %04x)", what, (long long)r,
                         (long long)(i / world->layer.hidden), (long long)(i % world->layer.hidden), a[r][i], b[r][i]);
}

void moe_y_free(const struct moe_world *world, uint16_t *y[MOE_MOST_P])
{
    for (int64_t r = 0; r < world->layer.ranks; r++)
        free(y[r]);
}

#define IN_UNITS(when, how_far, turn, rows, how, pieces, blocks, once)                                                 \
    {                                                                                                                  \
        .schedule = XST_SCHEDULE_##when, .lead = how_far, .group = turn, .tile_rows = rows,                            \
        .store = XST_MOE_STORE_##how, .slices = pieces, .unit = blocks, .dedup = XST_MOE_DEDUP_##once                  \
    }
#define ORDER(when, how_far, turn, rows, how, pieces, once) IN_UNITS(when, how_far, turn, rows, how, pieces, 1, once)

const struct xst_moe_order *moe_orders(size_t *count_out)
{
    static const struct xst_moe_order orders[] = {
        ORDER(WAVE, 1, 1, 128, AT_ONCE, 1, ON),
        ORDER(WAVE, 1, 1, 64, AT_ONCE, 1, OFF),
        ORDER(WAVE, 1, 1, 128, PACED, 4, OFF),
        ORDER(WAVE, 1, 1, 64, PACED, 2, ON),
        ORDER(INTERLEAVED, 1, 1, 128, AT_ONCE, 1, ON),
        ORDER(INTERLEAVED, 17, 4, 64, AT_ONCE, 1, ON),
        ORDER(INTERLEAVED, 40, 3, 128, PACED, 8, OFF),
        ORDER(INTERLEAVED, 5, 2, 64, PACED, 1, OFF),
        ORDER(INTERLEAVED, 9, 1, 128, AT_ONCE, 1, ON),
        ORDER(INTERLEAVED, 100000, 1, 128, PACED, 2, ON),
        ORDER(WAVE, 1, 1, 256, AT_ONCE, 1, OFF),
        ORDER(INTERLEAVED, 11, 2, 256, PACED, 4, OFF),
        ORDER(INTERLEAVED, 6, 1, 256, AT_ONCE, 1, ON),
        IN_UNITS(INTERLEAVED, 1, 2, 128, AT_ONCE, 1, 3, ON),
        IN_UNITS(INTERLEAVED, 30, 1, 64, PACED, 2, 8, OFF),
        IN_UNITS(WAVE, 1, 1, 256, AT_ONCE, 1, 2, ON),
    };
    *count_out = sizeof orders / sizeof *orders;
    return orders;
}
