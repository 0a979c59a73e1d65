/* SPDX-License-Identifier: Apache-2.0
 *
 * From a step's choice to what the fused kernel is told: the same units, nothing it cannot run.
 */
#include <xstage/moe_kernel.h>

#include "planner/fixture.h"

struct step {
    struct xst_profile profile;
    struct xst_moe_setup setup;
    struct xst_moe_choice choice;
    int64_t rows[512];
    int64_t experts;
};

static void choose(struct step *step, const char *preset, int64_t ranks, const struct xst_moe_plan *tiles,
                   enum xst_routing routing)
{
    const struct xst_moe_shape shape = moe_shape_of(preset, ranks);
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t counts[512], first, end;
    step->profile = stored_profile("h200x2-nvlink.json");
    xt_ok(xst_moe_setup_make(&step->profile, &shape, tiles, &(struct xst_plan_moe_options){.extrapolate = 1},
                             &step->setup, &diag),
          &diag);
    xt_ok(xst_routing_make(routing, 0.8, &shape, counts, &diag), &diag);
    xst_moe_experts_of(&shape, 0, &first, &end);
    step->experts = end - first;
    for (int64_t e = first; e < end; e++)
        step->rows[e - first] = counts[e];
    void *const workspace = malloc(xst_moe_workspace_bytes(&step->setup));
    xt_ok(xst_moe_choose(&step->setup, step->rows, step->experts, workspace, xst_moe_workspace_bytes(&step->setup),
                         &step->choice, &diag),
          &diag);
    free(workspace);
}

static struct xst_moe_layer layer_of(const struct xst_moe_setup *setup)
{
    return (struct xst_moe_layer){.hidden = setup->shape.hidden,
                                  .inter = setup->shape.inter,
                                  .experts = setup->shape.experts,
                                  .topk = setup->shape.topk,
                                  .tokens_most = setup->shape.tokens,
                                  .ranks = setup->shape.ranks,
                                  .ctas = setup->plan.producers * (setup->plan.tile_rows == 256 ? 2 : 1)};
}

/* The walk of the order: the planner's lead and group are its own. */
static void walk_agrees(const struct step *step, const struct xst_moe_order *order)
{
    struct xst_moe_plan plan = step->setup.plan;
    struct xst_moe_walk walk;
    struct xst_moe_tile tile;
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t taken[3] = {0, 0, 0};
    int64_t *const finished = calloc((size_t)step->choice.blocks + 1, sizeof *finished); /* Linear-1 tiles of a block */
    assert_non_null(finished);
    plan.schedule = order->schedule;
    xt_ok(xst_moe_walk_begin(&step->setup.shape, &plan, step->rows, step->experts, order->lead, order->group, &walk,
                             &diag),
          &diag);
    walk.unit = order->unit;
    while (xst_moe_walk_next(&walk, &tile)) {
        if (tile.linear == 1)
            finished[tile.block]++;
        else
            assert_int_equal(finished[tile.block], step->setup.l1_per_block);
        if (tile.linear == 2 && order->schedule == XST_SCHEDULE_INTERLEAVED) {
            const int64_t turn = taken[2] / order->group * order->group;
            const int64_t ahead = order->lead + turn * step->setup.l1_per_block / step->setup.l2_per_block;
            assert_int_equal(taken[1], ahead < step->choice.l1_tiles ? ahead : step->choice.l1_tiles);
        }
        taken[tile.linear]++;
    }
    assert_int_equal(taken[1], step->choice.l1_tiles);
    assert_int_equal(taken[2], step->choice.l2_tiles);
    free(finished);
}

static void order_is_the_best_that_runs(void **state)
{
    (void)state;
    static const char *const presets[] = {"qwen3-30b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b"};
    static const int64_t tile_rows[] = {64, 128, 256};
    for (size_t p = 0; p < 4; p++)
        for (size_t t = 0; t < 3; t++)
            for (int routing = 0; routing < 2; routing++) {
                struct step step;
                struct xst_moe_order order;
                struct xst_diag diag = {XST_OK, 0, ""};
                struct xst_moe_plan tiles = moe_tiles;
                tiles.tile_rows = tile_rows[t];
                tiles.producers = tile_rows[t] == 256 ? 66 : 132;
                choose(&step, presets[p], 8, &tiles, (enum xst_routing)routing);
                const struct xst_moe_layer layer = layer_of(&step.setup);
                xt_ok(xst_moe_order_of(&step.setup, &step.choice, &layer, &order, &diag), &diag);
                assert_int_equal(order.tile_rows, tile_rows[t]);
                assert_true(order.lead >= 1 && order.group >= 1);
                assert_int_equal(order.unit,
                                 order.schedule == XST_SCHEDULE_WAVE ? 1 : xst_moe_unit_of(&step.setup.shape));
                assert_true(order.slices == 1 || (order.store == XST_MOE_STORE_PACED &&
                                                  (order.slices == 2 || order.slices == 4 || order.slices == 8)));
                double best = INFINITY, told = INFINITY;
                for (int64_t i = 0; i < step.choice.count; i++) {
                    const struct xst_moe_candidate *const c = &step.choice.candidates[i];
                    const int same =
                        c->schedule == order.schedule &&
                        (c->method == XST_METHOD_BULK) == (order.store == XST_MOE_STORE_PACED) &&
                        (c->schedule == XST_SCHEDULE_WAVE ||
                         (c->lead_tiles + (order.unit > 1 ? order.unit : 0) * step.setup.l1_per_block == order.lead &&
                          c->group_tiles == order.group));
                    if (c->gap != XST_MOE_GAP_NONE || c->wave_blocks > 0)
                        continue;
                    best = fmin(best, c->predicted_us);
                    if (same)
                        told = fmin(told, c->predicted_us);
                }
                xt_near(told, best, 0);
                walk_agrees(&step, &order);
                xst_profile_free(&step.profile);
            }
}

static void units_where_weights_do_not_stay(void **state)
{
    (void)state;
    const struct xst_moe_shape narrow = {2048, 768, 128, 8, 4096, 8, 2}, wide = {4096, 2048, 256, 6, 8192, 8, 2};
    assert_int_equal(xst_moe_unit_of(&narrow), 1);
    assert_int_equal(xst_moe_unit_of(&wide), 8);
}

static void slices_keep_loads_free(void **state)
{
    (void)state;
    struct step step;
    choose(&step, "qwen3-30b", 8, &moe_tiles, XST_ROUTING_UNIFORM);
    const struct xst_path *const bulk = step.setup.paths[XST_METHOD_BULK];
    assert_non_null(bulk);
    struct xst_path free_path = *bulk;
    free_path.free_capacity_bytes = (struct xst_measure){1e6, 1e6, 1e6, 1, 1};
    step.setup.paths[XST_METHOD_BULK] = &free_path;
    void *const workspace = malloc(xst_moe_workspace_bytes(&step.setup));
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_moe_choose(&step.setup, step.rows, step.experts, workspace, xst_moe_workspace_bytes(&step.setup),
                         &step.choice, &diag),
          &diag);
    for (int64_t i = 0; i < step.choice.count; i++) {
        const struct xst_moe_candidate *const c = &step.choice.candidates[i];
        const double burst = 132.0 * 128 * 256 * 2 * 7 / 8;
        if (c->method != XST_METHOD_BULK)
            assert_int_equal(c->slices, 1);
        else
            assert_true(burst / (double)c->slices <= 1e6 && burst / (double)c->slices > 0.5e6);
    }
    free(workspace);
    xst_profile_free(&step.profile);
}

static void what_differs_is_named(void **state)
{
    (void)state;
    struct step step;
    struct xst_moe_order order;
    struct xst_diag diag = {XST_OK, 0, ""};
    choose(&step, "qwen3-30b", 8, &moe_tiles, XST_ROUTING_UNIFORM);
    const struct xst_moe_layer good = layer_of(&step.setup);
    struct xst_moe_layer layer = good;
    layer.ctas = 64;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &layer, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "ctas is 64 in the layer, but was planned as 132");
    layer = good;
    layer.inter += 64;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &layer, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "inter");
    layer = good;
    layer.dtype = XST_MOE_E4M3;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &layer, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "planned for operands of 0 bytes, the layer's dtype is e4m3");
    step.setup.plan.tile_cols = 128;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &good, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "tile_cols 128");
    step.setup.plan.tile_cols = 256;
    step.setup.plan.tile_rows = 192;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &good, &order, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "tile_rows 192");
    step.setup.plan.tile_rows = 128;
    for (int64_t i = 0; i < step.choice.count; i++)
        step.choice.candidates[i].gap = XST_MOE_GAP_FENCE;
    xt_status(xst_moe_order_of(&step.setup, &step.choice, &good, &order, &diag), XST_ERR_NO_DATA, &diag);
    xst_profile_free(&step.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_the_best_that_runs),
        cmocka_unit_test(units_where_weights_do_not_stay),
        cmocka_unit_test(slices_keep_loads_free),
        cmocka_unit_test(what_differs_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
