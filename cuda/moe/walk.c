/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which a rank's tiles are taken, from the rows each of its experts received. One tile at a time, in constant space.
 */
#include <xstage/moe.h>

#include "base/diag.h"
#include "base/whole.h"

enum { WAVE_ROUNDS = 2, ROUNDS_TO_SETTLE = 2 };

static int64_t blocks_of(const struct xst_moe_walk *walk, int64_t expert)
{
    return xsti_ceil_div(walk->rows[expert], walk->tile_rows);
}

/* Experts without rows have no tiles. */
static void skip_empty(const struct xst_moe_walk *walk, struct xst_moe_cursor *cursor)
{
    while (cursor->expert < walk->experts && walk->rows[cursor->expert] == 0)
        cursor->expert++;
}

enum xst_status xst_moe_walk_begin(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                                   const int64_t *rows, int64_t experts, int64_t lead, int64_t group,
                                   struct xst_moe_walk *walk_out, struct xst_diag *diag)
{
    struct xst_moe_counts counts;
    XSTI_TRY(xst_moe_count(shape, plan, &counts, diag));
    if (plan->schedule == XST_SCHEDULE_INTERLEAVED && (lead < 1 || group < 1))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe: lead is %lld and group %lld; the interleaved schedule needs 1 of each", (long long)lead,
                         (long long)group);
    struct xst_moe_walk walk = {.rows = rows, .experts = experts, .lead = lead, .group = group, .unit = 1};
    walk.tile_rows = plan->tile_rows;
    walk.l1_per_block = counts.l1_per_block;
    walk.l2_per_block = counts.l2_per_block;
    walk.producers = plan->producers;
    walk.interleaved = plan->schedule == XST_SCHEDULE_INTERLEAVED;
    for (int64_t expert = 0; expert < experts; expert++) {
        if (rows[expert] < 0)
            return xsti_fail(diag, XST_ERR_RANGE, "moe: expert %lld has %lld rows", (long long)expert,
                             (long long)rows[expert]);
        walk.blocks += blocks_of(&walk, expert);
    }
    skip_empty(&walk, &walk.l1);
    skip_empty(&walk, &walk.l2);
    *walk_out = walk;
    return XST_OK;
}

static void take(const struct xst_moe_walk *walk, struct xst_moe_cursor *cursor, int64_t columns,
                 struct xst_moe_tile *tile)
{
    const int64_t left = walk->rows[cursor->expert] - cursor->in_expert * walk->tile_rows;
    tile->expert = cursor->expert;
    tile->block = cursor->block;
    tile->column = cursor->column;
    tile->rows = left < walk->tile_rows ? left : walk->tile_rows;
    cursor->taken++;
    const int64_t blocks = blocks_of(walk, cursor->expert);
    const int64_t first = cursor->in_expert / walk->unit * walk->unit; /* of the unit */
    const int64_t end = first + walk->unit < blocks ? first + walk->unit : blocks;
    cursor->block++;
    if (++cursor->in_expert < end)
        return;
    if (++cursor->column < columns) { /* back to the unit's first block */
        cursor->block -= end - first;
        cursor->in_expert = first;
        return;
    }
    cursor->column = 0;
    if (end < blocks)
        return;
    cursor->in_expert = 0;
    cursor->expert++;
    skip_empty(walk, cursor);
}

/* Block behind the wave that starts at `at`: with the fewest experts that have two Linear-1 tiles per CTA, or where it is long enough,
 * then with a unit. */
static int64_t wave_end(const struct xst_moe_walk *walk, const struct xst_moe_cursor *at)
{
    int64_t first = at->block - at->in_expert; /* of the expert */
    for (int64_t expert = at->expert; expert < walk->experts; expert++) {
        const int64_t end = first + blocks_of(walk, expert), cut = at->block + walk->wave_most;
        if (walk->wave_most > 0 && end > cut)
            return cut - (cut - first) % walk->unit;
        if ((end - at->block) * walk->l1_per_block >= WAVE_ROUNDS * walk->producers)
            return end;
        first = end;
    }
    return first;
}

/* The cursor at block `block`, where a unit begins, at or behind `at`. */
static struct xst_moe_cursor moved_to(const struct xst_moe_walk *walk, struct xst_moe_cursor at, int64_t block)
{
    at.in_expert += block - at.block;
    at.block = block;
    while (at.expert < walk->experts && at.in_expert >= blocks_of(walk, at.expert))
        at.in_expert -= blocks_of(walk, at.expert++);
    return at;
}

static int wants_l1(struct xst_moe_walk *walk)
{
    if (walk->l1.expert >= walk->experts)
        return 0;
    if (walk->l2.expert >= walk->experts) /* a lead below one block's tiles: they come too late, but they come */
        return 1;
    if (walk->interleaved) {
        const int64_t group_start = walk->l2.taken / walk->group * walk->group;
        return walk->l1.taken < walk->lead + group_start * walk->l1_per_block / walk->l2_per_block;
    }
    if (walk->l2.block >= walk->wave_end) /* the wave is over */
        walk->wave_end = wave_end(walk, &walk->l1);
    return walk->l1.block < walk->wave_end;
}

int xst_moe_walk_next(struct xst_moe_walk *walk, struct xst_moe_tile *tile_out)
{
    if (walk->l1.expert >= walk->experts && walk->l2.expert >= walk->experts)
        return 0;
    if (wants_l1(walk)) {
        tile_out->linear = 1;
        tile_out->part = XST_MOE_STEADY;
        take(walk, &walk->l1, walk->l1_per_block, tile_out);
        return 1;
    }
    tile_out->linear = 2;
    tile_out->part = walk->l1.expert >= walk->experts                      ? XST_MOE_TAIL
                     : walk->l2.taken < ROUNDS_TO_SETTLE * walk->producers ? XST_MOE_STARTUP
                                                                           : XST_MOE_STEADY;
    take(walk, &walk->l2, walk->l2_per_block, tile_out);
    return 1;
}

int64_t xst_moe_walk_live_blocks(const struct xst_moe_walk *walk)
{
    const int64_t in_flight =
        xsti_ceil_div(walk->producers, walk->l1_per_block) + xsti_ceil_div(walk->producers, walk->l2_per_block);
    int64_t ahead = 0;
    if (walk->interleaved) {
        ahead = xsti_ceil_div(walk->lead, walk->l1_per_block) + xsti_ceil_div(walk->group, walk->l2_per_block);
    } else {
        struct xst_moe_cursor at = moved_to(walk, (struct xst_moe_cursor){0, 0, 0, 0, 0}, 0);
        while (at.expert < walk->experts) {
            const int64_t end = wave_end(walk, &at);
            ahead = end - at.block > ahead ? end - at.block : ahead;
            at = moved_to(walk, at, end);
        }
    }
    const int64_t live = ahead + 2 * in_flight + 2 * walk->unit;
    return live < walk->blocks ? live : walk->blocks > 0 ? walk->blocks : 1;
}
