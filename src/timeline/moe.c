/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture-of-experts layer tile by tile: rows are pulled block by block, CTAs that become free take the next tile of the walk.
 *
 * Counters of a rank: 0 counts blocks that have arrived; then one per pool slot for finished Linear-1 tiles and one for finished
 * Linear-2 tiles. A slot serves block after block and its counters only grow, so pass g of a slot is over at (g + 1) times the
 * tiles of a block. With a ring, block p's rows wait until Linear 1 has read block p - ring, and its Linear-1 tiles until
 * Linear 2 has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "timeline/kernel.h"

enum { ARRIVED = 0, LINEAR_1 = 0, LINEAR_2 = 1, COMBINE = 2 };

static const double MEMORY_BYTES_PER_US = 4.8e6; /* H200 data sheet */

struct moe_rank {
    struct xst_moe_walk walk;
    struct xst_moe_cursor pull; /* of the blocks that arrive */
};

struct moe {
    const struct xst_moe_shape *shape; /* of one group */
    const struct xst_moe_plan *plan;
    const struct xst_timeline_moe *asked;
    struct xst_moe_counts counts;
    struct moe_rank *ranks;
    int64_t rank_count;
    int64_t slots;
    double remote_frac;
};

/* Experts are dealt in order, the first experts % ranks ranks hold one more. */
static int64_t first_expert(const struct xst_moe_shape *shape, int64_t rank)
{
    const int64_t base = shape->experts / shape->ranks, more = shape->experts % shape->ranks;
    return rank * base + (rank < more ? rank : more);
}

static int64_t l1_counter(const struct moe *moe, int64_t block)
{
    return 1 + block % moe->slots;
}

static int64_t l2_counter(const struct moe *moe, int64_t block)
{
    return 1 + moe->slots + block % moe->slots;
}

static int next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    struct moe *const moe = context;
    struct xst_moe_tile tile;
    (void)sm;
    (void)taken;
    if (!xst_moe_walk_next(&moe->ranks[rank].walk, &tile))
        return 0;
    const int64_t pass = tile.block / moe->slots;
    if (tile.linear == 1) {
        tile_out->kind = LINEAR_1;
        tile_out->work_us = moe->counts.l1_us;
        tile_out->id = tile.block * moe->counts.l1_per_block + tile.column;
        tile_out->part = XST_TIMELINE_PARTS - 1;
        tile_out->need_counter[0] = moe->asked->no_pull ? -1 : ARRIVED;
        tile_out->need_value[0] = tile.block + 1;
        tile_out->need_counter[1] = moe->asked->ring_blocks > 0 && pass > 0 ? l2_counter(moe, tile.block) : -1;
        tile_out->need_value[1] = pass * moe->counts.l2_per_block;
        tile_out->post_counter[0] = l1_counter(moe, tile.block);
        return 1;
    }
    const int64_t first_column = tile.column * moe->plan->tile_cols;
    const int64_t columns = moe->shape->hidden - first_column < moe->plan->tile_cols ? moe->shape->hidden - first_column
                                                                                     : moe->plan->tile_cols;
    const double bytes = (double)(tile.rows * columns * moe->shape->element_bytes);
    tile_out->kind = LINEAR_2;
    tile_out->work_us = moe->counts.l2_us;
    tile_out->id = tile.block * moe->counts.l2_per_block + tile.column;
    tile_out->part = (int32_t)tile.part;
    tile_out->need_counter[0] = l1_counter(moe, tile.block);
    tile_out->need_value[0] = (pass + 1) * moe->counts.l1_per_block;
    tile_out->post_counter[1] = l2_counter(moe, tile.block);
    tile_out->remote_bytes = bytes * moe->remote_frac;
    tile_out->local_bytes = bytes - tile_out->remote_bytes;
    return 1;
}

/* The next block's rows, expert by expert. */
static int pull(void *context, int64_t rank, int64_t index, struct xst_pull *pull_out)
{
    struct moe *const moe = context;
    struct xst_moe_cursor *const at = &moe->ranks[rank].pull;
    const struct xst_moe_walk *const walk = &moe->ranks[rank].walk;
    while (at->expert < walk->experts && at->in_expert * walk->tile_rows >= walk->rows[at->expert]) {
        at->expert++;
        at->in_expert = 0;
    }
    if (at->expert == walk->experts)
        return 0;
    const int64_t left = walk->rows[at->expert] - at->in_expert++ * walk->tile_rows;
    const int64_t rows = left < walk->tile_rows ? left : walk->tile_rows;
    const double fetched = moe->asked->once ? xst_moe_first_frac(moe->shape, at->expert) : 1;
    pull_out->bytes = (double)(rows * moe->shape->hidden) *
                      xst_moe_operand_bytes(moe->shape, moe->asked->operand_bytes) * moe->remote_frac * fetched;
    pull_out->post_counter = ARRIVED;
    if (moe->asked->ring_blocks > 0 && index >= moe->slots) {
        pull_out->need_counter = l1_counter(moe, index);
        pull_out->need_value = index / moe->slots * moe->counts.l1_per_block;
    }
    return 1;
}

static void describe(void *context, int64_t rank, const struct xst_tile *tile, char *text, size_t bytes)
{
    const struct moe *const moe = context;
    const int64_t per_block = tile->kind == LINEAR_1 ? moe->counts.l1_per_block : moe->counts.l2_per_block;
    (void)rank;
    snprintf(text, bytes, "Linear-%d tile %lld of block %lld", tile->kind == LINEAR_1 ? 1 : 2,
             (long long)(tile->id % per_block), (long long)(tile->id / per_block));
}

static void counter_name(void *context, int64_t rank, int64_t counter, char *text, size_t bytes)
{
    const struct moe *const moe = context;
    (void)rank;
    if (counter == ARRIVED)
        snprintf(text, bytes, "the rows of its block (blocks that arrived)");
    else if (counter <= moe->slots)
        snprintf(text, bytes, "Linear-1 tiles of pool slot %lld", (long long)(counter - 1));
    else
        snprintf(text, bytes, "Linear-2 tiles to leave pool slot %lld", (long long)(counter - 1 - moe->slots));
}

static void set_unit(struct xst_moe_walk *walk, const struct moe *moe)
{
    walk->unit = moe->asked->unit > 1 ? moe->asked->unit : 1;
}

static void rewind_walks(void *context)
{
    struct moe *const moe = context;
    for (int64_t r = 0; r < moe->rank_count; r++) {
        struct moe_rank *const rank = &moe->ranks[r];
        xst_moe_walk_begin(moe->shape, moe->plan, rank->walk.rows, rank->walk.experts, moe->asked->lead,
                           moe->asked->group, &rank->walk, NULL); /* it was checked when it was first begun */
        set_unit(&rank->walk, moe);
        rank->pull = (struct xst_moe_cursor){0, 0, 0, 0, 0};
    }
}

static void emit_combine(const struct xst_timeline_config *config, const struct xst_rank_account *account, int64_t rank,
                         double barrier_us, double combine_us)
{
    for (int32_t sm = 0; config->span && sm < config->sms; sm++) {
        const struct xst_span spans[2] = {{(int32_t)rank, sm, XST_SPAN_MATH, XST_SPAN_WAIT, COMBINE, account->end_us,
                                           barrier_us, 0, 0},
                                          {(int32_t)rank, sm, XST_SPAN_MATH, XST_SPAN_WORK, COMBINE, barrier_us,
                                           barrier_us + combine_us, 0, 0}};
        config->span(config->span_context, &spans[0]);
        config->span(config->span_context, &spans[1]);
    }
}

/* Behind the last store: all of a group wait until everything is visible and everybody has said so, then each rank sums the
 * topk result rows of its tokens, at the rate of its memory. */
static void combine(const struct moe *moe, const struct xst_timeline_config *config, struct xst_timeline_result *result)
{
    const struct xst_moe_shape *const shape = moe->shape;
    const double rate = moe->asked->memory_bytes_per_us > 0 ? moe->asked->memory_bytes_per_us : MEMORY_BYTES_PER_US;
    const double bytes = (double)(shape->tokens * (shape->topk + 1) * shape->hidden * shape->element_bytes);
    result->combine_us = bytes / rate;
    for (int64_t first = 0; first < moe->rank_count; first += shape->ranks) {
        double barrier_us = 0;
        for (int64_t r = first; r < first + shape->ranks; r++)
            barrier_us = fmax(barrier_us, result->ranks[r].visible_us);
        barrier_us += config->machine.signal_us;
        result->barrier_us = fmax(result->barrier_us, barrier_us);
        for (int64_t r = first; r < first + shape->ranks; r++)
            emit_combine(config, &result->ranks[r], r, barrier_us, result->combine_us);
    }
    result->makespan_us = result->barrier_us + result->combine_us;
    if (result->free_us < 0)
        return;
    result->free_us += result->combine_us;
    result->exposed_us = result->makespan_us - result->free_us;
}

static enum xst_status begin(struct moe *moe, struct xst_diag *diag)
{
    moe->ranks = calloc((size_t)moe->rank_count, sizeof *moe->ranks);
    if (!moe->ranks)
        return xsti_fail_memory(diag);
    for (int64_t r = 0; r < moe->rank_count; r++) {
        const int64_t member = r % moe->shape->ranks;
        const int64_t first = first_expert(moe->shape, member);
        struct xst_moe_walk *const walk = &moe->ranks[r].walk;
        XSTI_TRY(xst_moe_walk_begin(moe->shape, moe->plan, moe->asked->rows + first,
                                    first_expert(moe->shape, member + 1) - first, moe->asked->lead, moe->asked->group,
                                    walk, diag));
        set_unit(walk, moe);
        const int64_t live = xst_moe_walk_live_blocks(walk);
        moe->slots = live > moe->slots ? live : moe->slots;
    }
    if (moe->asked->ring_blocks > 0)
        moe->slots = moe->asked->ring_blocks;
    return XST_OK;
}

enum xst_status xst_timeline_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                                 const struct xst_moe_plan *plan, const struct xst_timeline_moe *asked,
                                 const struct xst_timeline_options *options, struct xst_timeline_result *result_out,
                                 struct xst_diag *diag)
{
    struct xst_moe_plan whole = *plan;
    struct xst_moe_shape group = *shape;
    struct moe moe = {.shape = &group, .plan = &whole, .asked = asked, .rank_count = shape->ranks};
    struct xst_timeline_config config = {.ranks = shape->ranks};
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = plan->method};
    if (shape->ranks > shape->experts && shape->experts > 0 && shape->ranks % shape->experts != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: ranks is %lld, neither at most experts (%lld) nor a multiple",
                         (long long)shape->ranks, (long long)shape->experts);
    if (!(asked->memory_bytes_per_us >= 0 && asked->memory_bytes_per_us <= 1e18))
        return xsti_fail(diag, XST_ERR_RANGE, "moe: memory_bytes_per_us is %g, outside 0..1e18",
                         asked->memory_bytes_per_us);
    if (asked->unit < 0 || asked->unit > 1024)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: unit is %lld, outside 0..1024", (long long)asked->unit);
    if (asked->ring_blocks < 0 || asked->ring_blocks > 1 << 24)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: ring_blocks is %lld, outside 0..%d", (long long)asked->ring_blocks,
                         1 << 24);
    if (group.ranks > group.experts)
        group.ranks = group.experts;
    XSTI_TRY(xsti_kernel_rate(profile, &whole.producers, &whole.sm_flop_per_us, diag));
    XSTI_TRY(xst_moe_count(&group, &whole, &moe.counts, diag));
    moe.remote_frac = (double)(group.ranks - 1) / (double)group.ranks;
    XSTI_TRY(xsti_kernel_config(profile, &key, whole.producers, moe.counts.tile_bytes, options, &config, diag));
    enum xst_status status = begin(&moe, diag);
    if (status == XST_OK) {
        config.group_ranks = group.ranks;
        config.staging_slots = whole.staging_slots;
        config.counters = 1 + 2 * moe.slots;
        config.post_delay_us = moe.counts.act_us;
        config.kind_names[LINEAR_1] = "Linear 1";
        config.kind_names[LINEAR_2] = "Linear 2";
        config.kind_names[COMBINE] = "combine";
        config.prefetch_us =
            (double)whole.stages * moe.counts.l2_us / ceil((double)group.inter / (double)whole.tile_depth);
        if (asked->exchange) /* counts and a fence, then a flag to every peer */
            config.pull_hold_us = config.machine.visible_us + config.machine.signal_us;
        config.context = &moe;
        config.next = next;
        config.pull = asked->no_pull ? NULL : pull;
        config.describe = describe;
        config.counter_name = counter_name;
        status = xsti_kernel_run(&config, options, rewind_walks, result_out, diag);
        if (status == XST_OK && asked->exchange)
            combine(&moe, &config, result_out);
    }
    free(moe.ranks);
    return status;
}
