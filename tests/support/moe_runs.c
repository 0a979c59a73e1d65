/* SPDX-License-Identifier: Apache-2.0
 *
 * What both types of operands are put through.
 */
#include "support/moe_world.h"

#include <stdio.h>
#include <stdlib.h>

int64_t moe_most_tokens(const struct moe_case *made)
{
    int64_t most = 1;
    for (int64_t r = 0; r < made->ranks; r++)
        most = made->tokens[r] > most ? made->tokens[r] : most;
    return most;
}

void moe_world_of(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype,
                  int64_t tokens_most, struct moe_world *world)
{
    if (dtype == XST_MOE_E4M3)
        moe_world_make_e4m3(machine, made, tokens_most, world);
    else
        moe_world_make(machine, made, tokens_most, world);
}

void moe_every_order(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype,
                     const char *name)
{
    struct moe_world world;
    struct moe_inputs in;
    uint16_t *first[MOE_MOST_P], *again[MOE_MOST_P];
    size_t count;
    char what[96];
    const struct xst_moe_order *const orders = moe_orders(&count);
    moe_world_of(machine, made, dtype, moe_most_tokens(made) + 3, &world);
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

void moe_repeats(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype)
{
    struct moe_world world;
    struct moe_inputs in;
    struct xst_moe_order each[MOE_MOST_P];
    uint16_t *first[MOE_MOST_P], *again[MOE_MOST_P];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    char what[64];
    moe_world_of(machine, made, dtype, 300, &world);
    moe_inputs_make(&world, made, &in);
    moe_inputs_solve(&world, &in);
    moe_run(&world, &in, MOE_UNFUSED, orders, 1, "first", first);
    moe_check(&world, &in, made->numbers, first, "first");
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

static struct moe_case random_case(enum xst_moe_dtype dtype)
{
    struct moe_case made = {.ranks = 1 + moe_pick(MOE_MOST_P)};
    made.experts = made.ranks + moe_pick(20);
    made.hidden = 128 * (1 + moe_pick(6));
    made.inter = dtype == XST_MOE_E4M3 ? 128 * (1 + moe_pick(5)) : 64 * (1 + moe_pick(7));
    made.topk = 1 + moe_pick(made.experts < 9 ? made.experts : 9);
    made.clamp = moe_pick(2) ? 0 : 0.25 + (double)moe_pick(12);
    return made;
}

/* An order for each rank; with bf16, which costs less to check, in units and with delays too. */
static void random_orders(enum xst_moe_dtype dtype, struct xst_moe_order each[MOE_MOST_P])
{
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    for (int r = 0; r < MOE_MOST_P; r++) {
        each[r] = orders[moe_pick((int64_t)count)];
        each[r].lead = 1 + moe_pick(60);
        each[r].group = 1 + moe_pick(8);
        if (dtype == XST_MOE_E4M3)
            continue;
        each[r].unit = moe_pick(3) ? 1 : moe_pick(10);
        each[r].delay_ns = moe_pick(3) ? 0 : 5000;
        each[r].seed = moe_pick(1000);
    }
}

/* One layer, one buffer, calls that differ in tokens, masks, orders and form; nothing is cleared in between. */
static void fuzz_layer(struct moe_machine *machine, enum xst_moe_dtype dtype, int which, int calls)
{
    struct moe_case made = random_case(dtype);
    struct moe_world world;
    char what[160];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    const int64_t most = 1 + moe_pick(140);
    moe_world_of(machine, &made, dtype, most, &world);
    for (int n = 0; n < calls; n++) {
        struct moe_inputs in;
        struct xst_moe_order each[MOE_MOST_P];
        uint16_t *y[MOE_MOST_P], *again[MOE_MOST_P];
        const enum moe_form form = moe_pick(4) ? MOE_FUSED : MOE_UNFUSED;
        made.pattern = (enum moe_pattern)moe_pick(4);
        made.masked = moe_pick(3) ? 0 : (double)moe_pick(11) / 10;
        for (int64_t r = 0; r < made.ranks; r++)
            made.tokens[r] = moe_pick(5) ? moe_pick(most + 1) : moe_pick(2) * most;
        random_orders(dtype, each);
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

void moe_fuzz(struct moe_machine *machine, enum xst_moe_dtype dtype, int layers, int calls, uint64_t seed)
{
    const char *const asked = getenv("XSTAGE_FUZZ_MOE");
    for (int i = 0; i < (asked ? atoi(asked) : layers); i++) {
        moe_seed(seed + (uint64_t)i);
        fuzz_layer(machine, dtype, i, calls);
    }
}
