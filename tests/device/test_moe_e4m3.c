/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernels with e4m3 operands on a device: against the plain reference, and bit for bit against each other.
 * XSTAGE_FUZZ_MOE: how many random layers (default 6). Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <stdio.h>
#include <stdlib.h>

static struct moe_machine machine;

static int64_t most_tokens(const struct moe_case *made)
{
    int64_t most = 1;
    for (int64_t r = 0; r < made->ranks; r++)
        most = made->tokens[r] > most ? made->tokens[r] : most;
    return most;
}

/* All orders, alike and mixed over the ranks, fused and not, on one set of inputs. */
static void every_order(const struct moe_case *made, const char *name)
{
    struct moe_world world;
    struct moe_inputs in;
    uint16_t *first[MOE_MOST_P], *again[MOE_MOST_P];
    char what[96];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    moe_world_make_e4m3(&machine, made, most_tokens(made) + 3, &world);
    moe_inputs_make(&world, made, &in);
    moe_inputs_solve(&world, &in);
    moe_run(&world, &in, MOE_FUSED, orders, 1, name, first);
    moe_check(&world, &in, made->numbers, first, name);
    for (size_t i = 0; i <= 2 * count; i++) {
        const int mixed = i == 2 * count;
        const enum moe_form form = i < count || mixed ? MOE_FUSED : MOE_UNFUSED;
        snprintf(what, sizeof what, "%s, %s, %s %zu", name, form == MOE_FUSED ? "fused" : "unfused",
                 mixed ? "mixed orders" : "order", i % count);
        moe_run(&world, &in, form, mixed ? orders : orders + i % count, mixed ? count : 1, what, again);
        moe_same(&world, &in, first, again, what);
        moe_y_free(&world, again);
    }
    moe_y_free(&world, first);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

/* ranks, experts, hidden, inter, topk, tokens, clamp, pattern, masked, numbers */
static void shapes_and_boundaries(void **state)
{
    static const struct moe_case cases[] = {
        {1, 1, 128, 128, 1, {1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {1, 1, 256, 128, 1, {700}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {1, 3, 384, 256, 2, {130}, 7, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 8, 1152, 384, 6, {127}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 2, 4224, 1408, 2, {140}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {2, 2, 128, 128, 1, {0, 1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {2, 6, 256, 384, 4, {65, 129}, 0.5, MOE_ANY, 0.3, MOE_RANDOM_NUMBERS},
        {2, 5, 384, 640, 4, {129, 7}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {3, 7, 640, 256, 4, {64, 0, 65}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {4, 10, 640, 128, 6, {7, 0, 128, 40}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {8, 16, 128, 512, 2, {64, 63, 1, 0, 129, 20, 3, 300}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "shape %zu", i);
        every_order(&cases[i], name);
    }
}

static void patterns(void **state)
{
    char name[48];
    (void)state;
    for (int pattern = MOE_DISTINCT; pattern <= MOE_MASKED_RANK; pattern++) {
        const struct moe_case made = {4,   12,
                                      384, 256,
                                      4,   {100, 37, 64, 129},
                                      0,   (enum moe_pattern)pattern,
                                      0.3, MOE_RANDOM_NUMBERS};
        snprintf(name, sizeof name, "pattern %d", pattern);
        every_order(&made, name);
    }
}

/* The same inputs again and again, with and without delays: the same bits. */
static void repeats_and_delays(void **state)
{
    const struct moe_case made = {4, 10, 640, 384, 4, {150, 90, 10, 260}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS};
    struct moe_world world;
    struct moe_inputs in;
    struct xst_moe_order each[MOE_MOST_P];
    uint16_t *first[MOE_MOST_P], *again[MOE_MOST_P];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    char what[64];
    (void)state;
    moe_world_make_e4m3(&machine, &made, 300, &world);
    moe_inputs_make(&world, &made, &in);
    moe_inputs_solve(&world, &in);
    moe_run(&world, &in, MOE_UNFUSED, orders, 1, "first", first);
    moe_check(&world, &in, made.numbers, first, "first");
    for (int i = 0; i < 40; i++) {
        for (int r = 0; r < MOE_MOST_P; r++) {
            each[r] = orders[(i < 20 ? 0 : i + r) % (int)count];
            each[r].delay_ns = i < 20 ? 0 : 20000;
            each[r].seed = i;
        }
        snprintf(what, sizeof what, "repeat %d", i);
        moe_run(&world, &in, MOE_FUSED, each, MOE_MOST_P, what, again);
        moe_same(&world, &in, first, again, what);
        moe_y_free(&world, again);
    }
    moe_y_free(&world, first);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

static struct moe_case random_case(void)
{
    struct moe_case made = {.ranks = 1 + moe_pick(MOE_MOST_P)};
    made.experts = made.ranks + moe_pick(20);
    made.hidden = 128 * (1 + moe_pick(6));
    made.inter = 128 * (1 + moe_pick(5));
    made.topk = 1 + moe_pick(made.experts < 9 ? made.experts : 9);
    made.clamp = moe_pick(2) ? 0 : 0.25 + (double)moe_pick(12);
    return made;
}

/* One layer, one buffer, calls that differ in tokens, masks, orders and form; nothing is cleared in between. */
static void fuzz_layer(int which)
{
    struct moe_case made = random_case();
    struct moe_world world;
    struct xst_moe_order each[MOE_MOST_P];
    char what[160];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    const int64_t most = 1 + moe_pick(140);
    moe_world_make_e4m3(&machine, &made, most, &world);
    for (int n = 0; n < 4; n++) {
        struct moe_inputs in;
        uint16_t *y[MOE_MOST_P], *again[MOE_MOST_P];
        const enum moe_form form = moe_pick(4) ? MOE_FUSED : MOE_UNFUSED;
        made.pattern = (enum moe_pattern)moe_pick(4);
        made.masked = moe_pick(3) ? 0 : (double)moe_pick(11) / 10;
        for (int64_t r = 0; r < made.ranks; r++)
            made.tokens[r] = moe_pick(5) ? moe_pick(most + 1) : moe_pick(2) * most;
        for (int r = 0; r < MOE_MOST_P; r++) {
            each[r] = orders[moe_pick((int64_t)count)];
            each[r].lead = 1 + moe_pick(60);
            each[r].group = 1 + moe_pick(8);
        }
        snprintf(what, sizeof what, "fuzz %d call %d: P %d E %d H %d I %d k %d clamp %g pattern %d masked %g", which, n,
                 (int)made.ranks, (int)made.experts, (int)made.hidden, (int)made.inter, (int)made.topk, made.clamp,
                 (int)made.pattern, made.masked);
        moe_inputs_make(&world, &made, &in);
        moe_inputs_solve(&world, &in);
        moe_run(&world, &in, form, each, MOE_MOST_P, what, y);
        moe_check(&world, &in, made.numbers, y, what);
        moe_run(&world, &in, MOE_UNFUSED, orders, 1, what, again);
        moe_same(&world, &in, y, again, what);
        moe_y_free(&world, again);
        moe_y_free(&world, y);
        moe_inputs_free(&in);
    }
    moe_world_free(&world);
}

static void fuzz(void **state)
{
    const char *const asked = getenv("XSTAGE_FUZZ_MOE");
    const int layers = asked ? atoi(asked) : 6;
    (void)state;
    for (int i = 0; i < layers; i++) {
        moe_seed(2000 + (uint64_t)i);
        fuzz_layer(i);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_boundaries),
        cmocka_unit_test(patterns),
        cmocka_unit_test(repeats_and_delays),
        cmocka_unit_test(fuzz),
    };
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
