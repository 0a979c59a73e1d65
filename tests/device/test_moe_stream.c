/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernels in streams: calls back to back with changing inputs and no host in between, graphs that replay,
 * a rank that takes no part, results in host memory, and what happens when something is wrong: a peer that does not come, ranks
 * that disagree, an id that is no expert.
 */
#include "support/moe_world.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moe/params.h"

static struct moe_machine machine;

static uint64_t alloc(size_t bytes)
{
    struct xst_diag diag = {0};
    CUdeviceptr pointer = 0;
    xt_ok(xsti_device_alloc(&machine.device, bytes + 8, &pointer, &diag), &diag);
    return pointer;
}

static void copy(uint64_t to, uint64_t from, size_t bytes, CUstream stream)
{
    if (bytes > 0)
        assert_int_equal(machine.driver.cuMemcpyAsync(to, from, bytes, stream), CUDA_SUCCESS);
}

static void to_device(uint64_t to, const void *from, size_t bytes)
{
    struct xst_diag diag = {0};
    if (bytes > 0)
        xt_ok(xsti_device_write(&machine.device, to, from, bytes, &diag), &diag);
    xt_ok(xsti_device_wait(&machine.device, 10e6, "copying", &diag), &diag);
}

/* Several input sets on the device, copied into the symmetric buffers by the ranks' own streams. */
enum { SETS = 3, CALLS = 60, PAIR = 2 };

struct staged {
    struct moe_world world;
    struct moe_inputs in[SETS];
    uint16_t *want[SETS][MOE_MOST_P];
    uint64_t x[SETS][PAIR], ids[SETS][PAIR], weights[SETS][PAIR];
    uint64_t aside[PAIR]; /* y of every call */
    size_t y_bytes;       /* of the most tokens */
};

static const struct moe_case sets_of[SETS] = {
    {PAIR, 6, 384, 320, 4, {150, 40}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
    {PAIR, 6, 384, 320, 4, {3, 200}, 0, MOE_ANY, 0.4, MOE_RANDOM_NUMBERS},
    {PAIR, 6, 384, 320, 4, {64, 0}, 0, MOE_ONE_RANK, 0, MOE_RANDOM_NUMBERS},
};

static void stage(struct staged *s)
{
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    memset(s, 0, sizeof *s);
    moe_world_make(&machine, &sets_of[0], 200, &s->world);
    s->y_bytes = moe_y_bytes(&s->world, 200);
    for (int set = 0; set < SETS; set++) {
        struct moe_inputs *const in = &s->in[set];
        moe_inputs_make(&s->world, &sets_of[set], in);
        moe_inputs_solve(&s->world, in);
        moe_run(&s->world, in, MOE_FUSED, orders, 1, "one call alone", s->want[set]);
        moe_check(&s->world, in, MOE_RANDOM_NUMBERS, s->want[set], "one call alone");
        for (int r = 0; r < PAIR; r++) {
            const size_t choices = (size_t)(in->tokens[r] * sets_of[set].topk);
            s->x[set][r] = alloc(moe_y_bytes(&s->world, in->tokens[r]));
            s->ids[set][r] = alloc(choices * 8);
            s->weights[set][r] = alloc(choices * 4);
            to_device(s->x[set][r], in->x[r], moe_y_bytes(&s->world, in->tokens[r]));
            to_device(s->ids[set][r], in->ids[r], choices * 8);
            to_device(s->weights[set][r], in->weights[r], choices * 4);
        }
    }
    for (int r = 0; r < PAIR; r++)
        s->aside[r] = alloc(CALLS * s->y_bytes);
}

static void unstage(struct staged *s)
{
    for (int set = 0; set < SETS; set++) {
        for (int r = 0; r < PAIR; r++) {
            xsti_device_free(&machine.device, s->x[set][r]);
            xsti_device_free(&machine.device, s->ids[set][r]);
            xsti_device_free(&machine.device, s->weights[set][r]);
        }
        moe_y_free(&s->world, s->want[set]);
        moe_inputs_free(&s->in[set]);
    }
    for (int r = 0; r < PAIR; r++)
        xsti_device_free(&machine.device, s->aside[r]);
    moe_world_free(&s->world);
}

static void copy_inputs(const struct staged *s, int set, int r)
{
    const struct moe_world *const world = &s->world;
    const uint64_t buffer = world->buffers[r];
    const size_t choices = (size_t)(s->in[set].tokens[r] * world->layer.topk);
    CUstream const stream = machine.streams[r];
    copy(buffer + world->at.x, s->x[set][r], moe_y_bytes(world, s->in[set].tokens[r]), stream);
    copy(buffer + world->at.ids, s->ids[set][r], choices * 8, stream);
    copy(buffer + world->at.weights, s->weights[set][r], choices * 4, stream);
}

static void keep_y(const struct staged *s, int set, int r, int n)
{
    copy(s->aside[r] + (uint64_t)n * s->y_bytes, s->world.y[r], moe_y_bytes(&s->world, s->in[set].tokens[r]),
         machine.streams[r]);
}

static void compare_kept(const struct staged *s, int calls, int (*set_of)(int n))
{
    struct xst_diag diag = {0};
    for (int r = 0; r < PAIR; r++) {
        unsigned char *const got = malloc((size_t)calls * s->y_bytes);
        xt_ok(xsti_device_read(&machine.device, got, s->aside[r], (size_t)calls * s->y_bytes, &diag), &diag);
        for (int n = 0; n < calls; n++) {
            const int set = set_of(n);
            if (memcmp(got + (size_t)n * s->y_bytes, s->want[set][r], moe_y_bytes(&s->world, s->in[set].tokens[r])) !=
                0)
                fail_msg("call %d (inputs %d): rank %d has other bytes", n, set, r);
        }
        free(got);
    }
}

static int set_of_call(int n)
{
    return n * 7 / 3 % SETS;
}

/* One rank hurries ahead of the other by turns. */
static void back_to_back(void **state)
{
    struct staged s;
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    stage(&s);
    for (int n = 0; n < CALLS; n++)
        for (int r = 0; r < PAIR; r++) {
            const int set = set_of_call(n);
            struct xst_moe_order order = orders[(size_t)(n + 3 * r) % count];
            order.delay_ns = r == n / 4 % 2 ? 20000 : 0;
            order.seed = n;
            copy_inputs(&s, set, r);
            moe_enqueue(&s.world, n % 5 == 4 ? MOE_UNFUSED : MOE_FUSED, r, s.in[set].tokens[r], &order);
            keep_y(&s, set, r, n);
        }
    moe_finish(&s.world, "back to back");
    compare_kept(&s, CALLS, set_of_call);
    unstage(&s);
}

/* What of the driver only graphs need. */
struct graphs {
    CUresult (*begin)(CUstream, int);
    CUresult (*end)(CUstream, void **);
    CUresult (*instantiate)(void **, void *, unsigned long long);
    CUresult (*launch)(void *, CUstream);
    CUresult (*exec_destroy)(void *);
    CUresult (*destroy)(void *);
};

static int graphs_find(struct graphs *graphs)
{
    static const char *const names[6] = {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                                         "cuGraphLaunch",           "cuGraphExecDestroy", "cuGraphDestroy"};
    void *found[6];
    for (int i = 0; i < 6; i++)
        if (!(found[i] = dlsym(machine.driver.library, names[i])))
            return 0;
    memcpy(graphs, found, sizeof found);
    return 1;
}

static int set_of_replay(int n)
{
    return n < 3 ? 0 : n < 5 ? 1 : 0;
}

static void graphs_replay(void **state)
{
    enum { REPLAYS = 12, RELAXED = 2 };
    struct graphs graphs = {0};
    struct staged s;
    void *graph[2][PAIR], *exec[2][PAIR];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    if (!graphs_find(&graphs))
        skip();
    stage(&s);
    for (int set = 0; set < 2; set++)
        for (int r = 0; r < PAIR; r++) {
            CUstream const stream = machine.streams[r];
            assert_int_equal(graphs.begin(stream, RELAXED), CUDA_SUCCESS);
            copy_inputs(&s, set, r);
            moe_enqueue(&s.world, MOE_FUSED, r, s.in[set].tokens[r], &orders[set == 0 ? 0 : 6]);
            assert_int_equal(graphs.end(stream, &graph[set][r]), CUDA_SUCCESS);
            assert_int_equal(graphs.instantiate(&exec[set][r], graph[set][r], 0), CUDA_SUCCESS);
        }
    for (int n = 0; n < REPLAYS; n++)
        for (int r = 0; r < PAIR; r++) {
            assert_int_equal(graphs.launch(exec[set_of_replay(n)][r], machine.streams[r]), CUDA_SUCCESS);
            keep_y(&s, set_of_replay(n), r, n);
        }
    moe_finish(&s.world, "graphs");
    compare_kept(&s, REPLAYS, set_of_replay);
    for (int set = 0; set < 2; set++)
        for (int r = 0; r < PAIR; r++) {
            graphs.exec_destroy(exec[set][r]);
            graphs.destroy(graph[set][r]);
        }
    unstage(&s);
}

/* Rank 1 is absent and its combine buffer lies in host memory: the same slots as when it takes part, and nothing beside them. */
static void absent_rank_in_host_memory(void **state)
{
    const struct moe_case made = {2, 8, 384, 192, 4, {90, 70}, 0, MOE_ONE_RANK, 0.2, MOE_RANDOM_NUMBERS};
    struct moe_world world;
    struct moe_inputs in;
    struct xsti_pinned pinned;
    struct xst_diag diag = {0};
    uint16_t *want[MOE_MOST_P], *got[MOE_MOST_P];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    moe_world_make(&machine, &made, 90, &world);
    const size_t bytes = moe_y_bytes(&world, 90 * made.topk);
    uint16_t *const slots = malloc(bytes);
    moe_inputs_make(&world, &made, &in);
    moe_run(&world, &in, MOE_FUSED, orders, 1, "both", want);
    xt_ok(xsti_device_read(&machine.device, slots, world.combine[1], bytes, &diag), &diag);
    xt_ok(xsti_pinned_alloc(&machine.device, bytes, &pinned, &diag), &diag);
    world.own_combine = 1;
    const uint64_t device_combine = world.combine[1];
    for (size_t i = 0; i < count; i++) {
        moe_world_load(&world, &in);
        memset(pinned.host, 0xff, bytes);
        world.combine[1] = pinned.device;
        const struct xst_moe_call absent = moe_call_of(&world, 1, in.tokens[1]);
        xt_ok(xst_moe_absent(machine.kernels, &absent, machine.streams[1], &diag), &diag);
        moe_enqueue(&world, i % 3 == 2 ? MOE_UNFUSED : MOE_FUSED, 0, in.tokens[0], &orders[i]);
        moe_finish(&world, "one absent");
        assert_memory_equal(pinned.host, slots, bytes);
        got[0] = malloc(moe_y_bytes(&world, in.tokens[0]));
        xt_ok(xsti_device_read(&machine.device, got[0], world.y[0], moe_y_bytes(&world, in.tokens[0]), &diag), &diag);
        assert_memory_equal(got[0], want[0], moe_y_bytes(&world, in.tokens[0]));
        free(got[0]);
        world.combine[1] = device_combine;
    }
    xsti_pinned_free(&machine.device, &pinned);
    free(slots);
    moe_y_free(&world, want);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

static void an_id_that_is_no_expert(void **state)
{
    struct moe_case made = {2, 4, 128, 64, 2, {20, 30}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS};
    struct moe_world world;
    struct moe_inputs in;
    struct xst_diag diag = {0};
    uint16_t *y[MOE_MOST_P];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    moe_world_make(&machine, &made, 30, &world);
    moe_inputs_make(&world, &made, &in);
    in.ids[1][7] = -1; /* as the wrong one is taken */
    moe_inputs_solve(&world, &in);
    moe_world_load(&world, &in);
    const int64_t wrong = 4;
    to_device(world.buffers[1] + world.at.ids + 7 * 8, &wrong, sizeof wrong);
    for (int r = 0; r < 2; r++)
        moe_enqueue(&world, MOE_FUSED, r, in.tokens[r], &orders[0]);
    const struct xst_moe_call zero = moe_call_of(&world, 0, in.tokens[0]), one = moe_call_of(&world, 1, in.tokens[1]);
    xt_ok(xst_moe_status(machine.kernels, &zero, machine.streams[0], &diag), &diag);
    xt_status(xst_moe_status(machine.kernels, &one, machine.streams[1], &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "rank 1");
    xt_contains(diag.text, "4");
    xt_ok(xst_moe_status(machine.kernels, &one, machine.streams[1], &diag), &diag);
    for (int r = 0; r < 2; r++) {
        y[r] = malloc(moe_y_bytes(&world, in.tokens[r]));
        xt_ok(xsti_device_read(&machine.device, y[r], world.y[r], moe_y_bytes(&world, in.tokens[r]), &diag), &diag);
    }
    moe_check(&world, &in, made.numbers, y, "a wrong id");
    moe_y_free(&world, y);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

static void zero_buffers(const struct moe_world *world)
{
    struct xst_diag diag = {0};
    for (int64_t r = 0; r < world->layer.ranks; r++)
        xt_ok(xsti_device_fill(&machine.device, world->buffers[r], 0, world->at.bytes, &diag), &diag);
    xt_ok(xsti_device_wait(&machine.device, 10e6, "zeroing", &diag), &diag);
}

/* Another width on rank 1: both say so, and nobody waits for the other. */
static void ranks_that_disagree(void **state)
{
    const struct moe_case made = {2, 4, 128, 128, 2, {20, 30}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS};
    struct moe_world world;
    struct moe_inputs in;
    struct xst_diag diag = {0};
    struct xst_moe_call calls[2];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    moe_world_make(&machine, &made, 30, &world);
    moe_inputs_make(&world, &made, &in);
    moe_world_load(&world, &in);
    for (int r = 0; r < 2; r++) {
        calls[r] = moe_call_of(&world, r, in.tokens[r]);
        calls[r].layer.inter = r == 0 ? 128 : 64;
        xt_ok(xst_moe_fused(machine.kernels, &calls[r], &orders[0], machine.streams[r], &diag), &diag);
    }
    for (int r = 0; r < 2; r++) {
        xt_status(xst_moe_status(machine.kernels, &calls[r], machine.streams[r], &diag), XST_ERR_RANGE, &diag);
        xt_contains(diag.text, "came with different layers");
    }
    moe_inputs_free(&in);
    moe_world_free(&world);
}

/* Ends in a sentence, not in silence; after the buffers are zeroed everything works again. */
static void a_peer_that_does_not_come(void **state)
{
    const struct moe_case made = {3, 6, 128, 64, 2, {20, 30, 10}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS};
    struct moe_world world;
    struct moe_inputs in;
    struct xst_diag diag = {0};
    uint16_t *y[MOE_MOST_P];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    moe_world_make(&machine, &made, 30, &world);
    moe_inputs_make(&world, &made, &in);
    moe_inputs_solve(&world, &in);
    moe_world_load(&world, &in);
    world.limit_us = 20000;
    for (int r = 0; r < 2; r++)
        moe_enqueue(&world, MOE_FUSED, r, in.tokens[r], &orders[r]);
    for (int r = 0; r < 2; r++) {
        const struct xst_moe_call call = moe_call_of(&world, r, in.tokens[r]);
        xt_status(xst_moe_status(machine.kernels, &call, machine.streams[r], &diag), XST_ERR_TIMEOUT, &diag);
        xt_contains(diag.text, "in vain for rank 2 to begin call 1");
    }
    world.limit_us = 0;
    zero_buffers(&world);
    moe_run(&world, &in, MOE_FUSED, orders, 1, "after a fault", y);
    moe_check(&world, &in, made.numbers, y, "after a fault");
    moe_y_free(&world, y);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

/* Flag of rank `writer` in the control block of rank `reader`. */
static uint64_t flag_at(const struct moe_world *world, int64_t reader, size_t array, int64_t writer)
{
    return world->buffers[reader] + world->at.control + array + (uint64_t)writer * 8;
}

/* An absent rank, one CTA, that waits for a peer of its own: it holds an SM until the host raises that peer's flag, at most
 * three seconds. */
static void hold_an_sm(struct moe_world *holder, uint64_t *flag_out)
{
    const size_t counted = offsetof(struct xsti_moe_control, counted);
    struct xst_diag diag = {0};
    holder->limit_us = 3e6;
    struct xst_moe_call call = moe_call_of(holder, 1, 0);
    call.layer.ctas = 1;
    xt_ok(xst_moe_absent(machine.kernels, &call, machine.streams[1], &diag), &diag);
    *flag_out = 0;
    for (int tries = 0; tries < 100000 && *flag_out == 0; tries++)
        xt_ok(xsti_device_read(&machine.device, flag_out, flag_at(holder, 0, counted, 1), 8, &diag), &diag);
    assert_true(*flag_out != 0); /* it runs */
}

/* A kernel of another stream holds an SM, and the layer wants all: a sentence that names the place and the likely reason; with the SM
 * free and the buffer zeroed the next call is right. */
static void another_stream_holds_an_sm(void **state)
{
    static const size_t picked[] = {0, 10}; /* tiles of 128 rows, and of 256 over two CTAs */
    const struct moe_case pair = {2, 2, 128, 64, 1, {0, 0}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS};
    const struct moe_case made = {1, 6, 256, 128, 2, {70}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS};
    struct moe_world world, holder;
    struct moe_inputs in;
    struct xst_diag diag = {0};
    uint16_t *y[MOE_MOST_P];
    uint64_t flag;
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    (void)state;
    moe_world_make(&machine, &made, 70, &world);
    world.layer.ctas = xst_moe_sm_count(machine.kernels) / 2 * 2;
    moe_inputs_make(&world, &made, &in);
    moe_inputs_solve(&world, &in);
    for (size_t i = 0; i < sizeof picked / sizeof *picked; i++) {
        moe_world_make(&machine, &pair, 1, &holder);
        moe_world_load(&world, &in);
        hold_an_sm(&holder, &flag);
        world.limit_us = 50000;
        moe_enqueue(&world, MOE_FUSED, 0, in.tokens[0], &orders[picked[i]]);
        const struct xst_moe_call call = moe_call_of(&world, 0, in.tokens[0]);
        xt_status(xst_moe_status(machine.kernels, &call, machine.streams[0], &diag), XST_ERR_TIMEOUT, &diag);
        xt_contains(diag.text, i == 0 ? "waited in vain for rank 0 to begin call 1" : "to begin call 2");
        xt_contains(diag.text, "are all CTAs of this rank on the device at once?");
        to_device(flag_at(&holder, 1, offsetof(struct xsti_moe_control, done), 0), &flag, sizeof flag);
        const struct xst_moe_call held = moe_call_of(&holder, 1, 0);
        xt_ok(xst_moe_status(machine.kernels, &held, machine.streams[1], &diag), &diag);
        world.limit_us = 0;
        zero_buffers(&world);
        moe_run(&world, &in, MOE_FUSED, &orders[picked[i]], 1, "with all SMs", y);
        moe_check(&world, &in, made.numbers, y, "with all SMs");
        moe_y_free(&world, y);
        moe_world_free(&holder);
    }
    moe_inputs_free(&in);
    moe_world_free(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_to_back),
        cmocka_unit_test(graphs_replay),
        cmocka_unit_test(absent_rank_in_host_memory),
        cmocka_unit_test(an_id_that_is_no_expert),
        cmocka_unit_test(ranks_that_disagree),
        cmocka_unit_test(a_peer_that_does_not_come),
        cmocka_unit_test(another_stream_holds_an_sm),
    };
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
