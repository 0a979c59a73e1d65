/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernels with a ring instead of the whole pool: as few blocks as an order may have, and some more, give the same
 * bits as all. Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <stdio.h>

static struct moe_machine machine;

static struct xst_moe_order order_of(const struct xst_moe_order *order)
{
    struct xst_moe_order changed = *order;
    changed.dedup = XST_MOE_DEDUP_AUTO;
    return changed;
}

/* Rows of a ring that holds what `order` needs and `more` blocks. */
static int64_t ring_of(const struct moe_world *world, const struct xst_moe_order *order, int64_t more)
{
    return (xst_moe_ring_blocks(&world->layer, order) + more) * order->tile_rows;
}

static void compare(struct moe_world *world, const struct moe_inputs *in, const struct xst_moe_order *orders,
                    size_t count, uint16_t *const first[MOE_MOST_P], const char *what)
{
    uint16_t *again[MOE_MOST_P];
    moe_run(world, in, MOE_FUSED, orders, count, what, again);
    moe_same(world, in, first, again, what);
    moe_y_free(world, again);
}

/* Each order alike on all ranks, with exactly what it needs and with more; then ranks with orders of their own. */
static void every_ring(const struct moe_case *made, enum xst_moe_dtype dtype, const char *name)
{
    static const int64_t more[] = {0, 1, 7};
    struct moe_world world;
    struct moe_inputs in;
    struct xst_moe_order mixed[MOE_MOST_P];
    uint16_t *first[MOE_MOST_P];
    int64_t widest = 0;
    char what[96];
    size_t count;
    const struct xst_moe_order *const orders = moe_orders(&count);
    moe_world_of(&machine, made, dtype, moe_most_tokens(made) + 3, &world);
    moe_inputs_make(&world, made, &in);
    moe_inputs_solve(&world, &in);
    moe_run(&world, &in, MOE_FUSED, orders, 1, name, first);
    moe_check(&world, &in, made->numbers, first, name);
    for (size_t i = 0; i < count; i++) {
        const struct xst_moe_order order = order_of(&orders[i]);
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            moe_world_ring(&world, 0);
            moe_world_ring(&world, ring_of(&world, &order, more[m]));
            snprintf(what, sizeof what, "%s, order %zu, ring of %lld rows", name, i, (long long)world.layer.ring);
            for (int again = 0; again < 2; again++) /* nothing is cleared in between */
                compare(&world, &in, &order, 1, first, what);
        }
    }
    moe_world_ring(&world, 0);
    for (size_t r = 0; r < MOE_MOST_P; r++) {
        mixed[r] = order_of(&orders[(3 * r + 1) % count]);
        mixed[r].delay_ns = 20000;
        mixed[r].seed = (int64_t)r;
        widest = ring_of(&world, &mixed[r], 0) > widest ? ring_of(&world, &mixed[r], 0) : widest;
    }
    moe_world_ring(&world, widest);
    snprintf(what, sizeof what, "%s, mixed orders, ring of %lld rows", name, (long long)widest);
    compare(&world, &in, mixed, MOE_MOST_P, first, what);
    moe_y_free(&world, first);
    moe_inputs_free(&in);
    moe_world_free(&world);
}

/* ranks, experts, hidden, inter, topk, tokens, clamp, pattern, masked, numbers */
static void bf16_rows(void **state)
{
    static const struct moe_case cases[] = {
        {1, 1, 128, 64, 1, {1500}, 0, MOE_ANY, 0, MOE_EXACT_NUMBERS},
        {1, 3, 384, 320, 2, {1300}, 7, MOE_ANY, 0.1, MOE_RANDOM_NUMBERS},
        {2, 6, 640, 192, 4, {300, 150}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {4, 10, 256, 448, 6, {100, 0, 128, 40}, 0, MOE_DISTINCT, 0.3, MOE_RANDOM_NUMBERS},
        {2, 4, 384, 192, 2, {400, 300}, 0, MOE_ONE_EXPERT, 0, MOE_RANDOM_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "bf16 case %zu", i);
        every_ring(&cases[i], XST_MOE_BF16, name);
    }
}

static void e4m3_rows(void **state)
{
    static const struct moe_case cases[] = {
        {1, 3, 384, 384, 2, {1300}, 0, MOE_ANY, 0.1, MOE_RANDOM_NUMBERS},
        {2, 5, 640, 256, 4, {300, 150}, 0.5, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "e4m3 case %zu", i);
        every_ring(&cases[i], XST_MOE_E4M3, name);
    }
}

/* Refused before anything is launched. */
static void what_a_ring_does_not_do(void **state)
{
    const struct moe_case made = {1, 3, 384, 320, 2, {600}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS};
    const struct xst_moe_order order = {.schedule = XST_SCHEDULE_INTERLEAVED, .lead = 9, .group = 1, .tile_rows = 64};
    struct moe_world world;
    struct xst_diag diag = {0};
    (void)state;
    moe_world_make(&machine, &made, 600, &world);
    moe_world_ring(&world, ring_of(&world, &order, 0));
    struct xst_moe_call call = moe_call_of(&world, 0, 600);
    xt_status(xst_moe_unfused(machine.kernels, &call, &order, machine.streams[0], &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "unfused, with a ring of ");
    call.layer.ring -= 64;
    xt_status(xst_moe_fused(machine.kernels, &call, &order, machine.streams[0], &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "this order needs ");
    moe_world_free(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bf16_rows),
        cmocka_unit_test(e4m3_rows),
        cmocka_unit_test(what_a_ring_does_not_do),
    };
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
