/* SPDX-License-Identifier: Apache-2.0
 *
 * What a schedule costs on the way out of the device and in memory: rounds of the grid through the fluid, activations
 * beyond the L2, weights, tail.
 */
#include "planner/moe_layer.h"

#include <math.h>

#include "planner/moe_fluid.h"

enum { MOST_ROUNDS = 256, MOST_SLICES = 8 };

int64_t xsti_moe_blocks(const struct xst_moe_setup *setup, int64_t rows)
{
    return (rows + setup->plan.tile_rows - 1) / setup->plan.tile_rows;
}

/* Bulk stores leave in the fewest pieces of which one per CTA delays no load (16); where that is not known, at once. */
static int64_t slices_of(const struct xst_path *path, double burst_bytes)
{
    int64_t slices = 1;
    if (path->method != XST_METHOD_BULK || !path->free_capacity_bytes.known)
        return 1;
    while (slices < MOST_SLICES && burst_bytes / (double)slices > path->free_capacity_bytes.value)
        slices *= 2;
    return slices;
}

struct xsti_moe_flow xsti_moe_flow_of(const struct xsti_moe_layer *layer, enum xst_method method)
{
    const struct xst_moe_setup *const setup = layer->setup;
    const struct xst_path *const path = setup->paths[method];
    struct xsti_moe_flow flow = {.staged = method == XST_METHOD_BULK};
    const double at_once = fmax(fmin(layer->producers, (double)layer->l2_tiles), 1);
    const double mean_rows = layer->blocks ? (double)layer->rows / (double)layer->blocks : 1;
    const double tile_bytes = mean_rows * fmin((double)setup->plan.tile_cols, (double)setup->shape.hidden) *
                              (double)setup->shape.element_bytes;
    const double remote = (double)(setup->shape.ranks - 1) / (double)setup->shape.ranks;
    int beyond[2] = {0, 0};
    flow.stage.burst_bytes = layer->producers * tile_bytes * remote;
    flow.stage.drain_bytes_per_us = path->drain_bytes_per_us.value;
    flow.fence_us = path->fence_us.value;
    flow.slices = slices_of(path, flow.stage.burst_bytes);
    flow.gap = !path->drain_bytes_per_us.known ? XST_MOE_GAP_DRAIN
               : !path->fence_us.known         ? XST_MOE_GAP_FENCE
                                               : XST_MOE_GAP_NONE;
    if (flow.gap == XST_MOE_GAP_NONE &&
        xst_path_floor_us(path, at_once, tile_bytes, setup->extrapolate, &flow.stage.floor_us, &beyond[0]) != XST_OK)
        flow.gap = XST_MOE_GAP_FLOOR;
    const enum xst_status status =
        flow.staged
            ? xst_path_release_capacity_bytes(path, at_once, setup->extrapolate, &flow.capacity_bytes, &beyond[1])
            : xst_path_capacity_bytes(path, at_once, setup->extrapolate, &flow.capacity_bytes, &beyond[1]);
    if (flow.gap == XST_MOE_GAP_NONE && status != XST_OK)
        flow.gap = XST_MOE_GAP_CAPACITY;
    flow.extrapolated = beyond[0] || beyond[1];
    if (flow.staged)
        flow.capacity_bytes += (double)(setup->plan.staging_slots - 1) * flow.stage.burst_bytes;
    return flow;
}

/* Rounds of the grid through the fluid. */
struct rounds {
    const struct xsti_moe_layer *layer;
    const struct xsti_moe_flow *flow;
    struct xsti_fluid fluid;
    double round_tiles;   /* of one round */
    double pending_bytes; /* bulk: stored at the end of the round before */
    double stretch;       /* of the work, by what order and stores cost by themselves */
    double l1_done;
    double floor_us;
    struct xsti_fluid_loss loss;
};

/* Most backlog at the end of a step. Bulk stores: CTAs that finish a Linear-2 tile need their staging again, the staging of
 * the others may still be full. */
static double most_backlog(const struct rounds *rounds, double l2_tiles)
{
    const double others = 1 - fmin(l2_tiles / rounds->layer->producers, 1);
    return rounds->flow->capacity_bytes + (rounds->flow->staged ? others * rounds->flow->stage.burst_bytes : 0);
}

static void advance(struct rounds *rounds, double useful_us, double stored_bytes, double l1_tiles, double l2_tiles)
{
    rounds->l1_done += l1_tiles;
    const struct xsti_fluid_step step = {useful_us, stored_bytes, most_backlog(rounds, l2_tiles),
                                         fmin(rounds->l1_done / (double)rounds->layer->l1_tiles, 1)};
    const struct xsti_fluid_loss loss = xsti_fluid_step(&rounds->fluid, &step);
    rounds->loss.drain_us += loss.drain_us;
    rounds->loss.pull_us += loss.pull_us;
}

/* Some Linear-1 and Linear-2 tiles worked on side by side. Plain stores join the backlog while they are issued; bulk
 * stores are issued at the end of a round and drain behind the next one. */
static void mixed_round(struct rounds *rounds, double l1_tiles, double l2_tiles)
{
    const struct xst_moe_setup *const setup = rounds->layer->setup;
    const double ctas = rounds->layer->producers, floor_us = l2_tiles / ctas * rounds->flow->stage.floor_us;
    const double work_us = rounds->stretch * (l1_tiles * setup->l1_us + l2_tiles * setup->l2_us) / ctas;
    const double bytes = l2_tiles / ctas * rounds->flow->stage.burst_bytes;
    rounds->floor_us += floor_us;
    advance(rounds, work_us + floor_us, rounds->flow->staged ? rounds->pending_bytes : bytes, l1_tiles, l2_tiles);
    rounds->pending_bytes = rounds->flow->staged ? bytes : 0;
}

/* Aligned tiles: Linear-2 tiles that begin together behind Linear-1 tiles, or end together at the end of the call, so that
 * plain stores meet the path at once. */
static void together_round(struct rounds *rounds, double l2_tiles)
{
    const struct xst_moe_setup *const setup = rounds->layer->setup;
    const double ctas = rounds->layer->producers, floor_us = l2_tiles / ctas * rounds->flow->stage.floor_us;
    if (rounds->flow->staged) {
        mixed_round(rounds, 0, l2_tiles);
        return;
    }
    rounds->floor_us += floor_us;
    advance(rounds, rounds->stretch * l2_tiles / ctas * setup->l2_us, 0, 0, l2_tiles);
    advance(rounds, floor_us, l2_tiles / ctas * rounds->flow->stage.burst_bytes, 0, l2_tiles);
}

/* `l1` and `l2` tiles side by side, in rounds of one tile per CTA, fewer and larger ones in a very long call. The
 * odd tiles make the first round, so that every phase ends with a full one: what is left at the end must not hang on
 * a remainder. */
enum { FIRST_TOGETHER = 1, LAST_TOGETHER = 2 };
static void phase(struct rounds *rounds, double l1_tiles, double l2_tiles, int together)
{
    const double tiles = l1_tiles + l2_tiles, share = tiles > 0 ? l2_tiles / tiles : 0;
    const int64_t count = (int64_t)ceil(tiles / rounds->round_tiles - 1e-9);
    double now = tiles - (double)(count - 1) * rounds->round_tiles;
    for (int64_t i = 0; i < count; i++) {
        const int edge = (i == 0 && together & FIRST_TOGETHER) || (i == count - 1 && together & LAST_TOGETHER);
        if (edge && rounds->layer->setup->aligned)
            together_round(rounds, now);
        else
            mixed_round(rounds, now * (1 - share), now * share);
        now = rounds->round_tiles;
    }
}

static void run_wave(struct rounds *rounds)
{
    const struct xsti_moe_layer *const layer = rounds->layer;
    for (int64_t w = 0; w < layer->waves; w++) {
        const double blocks = (double)(layer->wave_ends[w] - (w ? layer->wave_ends[w - 1] : 0));
        phase(rounds, blocks * (double)layer->setup->l1_per_block, 0, 0);
        phase(rounds, 0, blocks * (double)layer->setup->l2_per_block,
              FIRST_TOGETHER | (w == layer->waves - 1 ? LAST_TOGETHER : 0));
    }
}

/* Lead, then turns, then the Linear-2 tiles that are left. A turn larger than the grid is a small wave. */
static void run_interleaved(struct rounds *rounds, double lead, double group)
{
    const struct xsti_moe_layer *const layer = rounds->layer;
    const double l1_tiles = (double)layer->l1_tiles, l2_tiles = (double)layer->l2_tiles;
    const double rho = l1_tiles / l2_tiles, ctas = layer->producers;
    double l2_left = l2_tiles;
    phase(rounds, fmin(lead, l1_tiles), 0, 0);
    const double body = fmax(l2_tiles - lead / rho, 0);
    if (group <= ctas) {
        phase(rounds, l1_tiles - fmin(lead, l1_tiles), body, 0);
        l2_left -= body;
    } else {
        for (double done = 0; done + group <= body; done += group) {
            phase(rounds, 0, group, FIRST_TOGETHER);
            phase(rounds, group * rho, 0, 0);
            l2_left -= group;
        }
        const double l1_left = l1_tiles - fmin(lead, l1_tiles) - rho * (l2_tiles - l2_left);
        phase(rounds, fmax(l1_left, 0), 0, 0);
    }
    phase(rounds, 0, l2_left, LAST_TOGETHER | (lead >= l1_tiles ? FIRST_TOGETHER : 0));
}

/* Largest amount of intermediate activations between their writing and their last use. */
static double working_set(const struct xsti_moe_layer *layer, const struct xst_moe_candidate *candidate)
{
    int64_t tiles = 0;
    if (candidate->schedule == XST_SCHEDULE_INTERLEAVED)
        tiles = candidate->lead_tiles < layer->l1_tiles ? candidate->lead_tiles : layer->l1_tiles;
    for (int64_t w = 0; candidate->schedule == XST_SCHEDULE_WAVE && w < layer->waves; w++) {
        const int64_t wave = (layer->wave_ends[w] - (w ? layer->wave_ends[w - 1] : 0)) * layer->setup->l1_per_block;
        tiles = wave > tiles ? wave : tiles;
    }
    return (double)tiles * layer->act_bytes;
}

/* An expert's weights are read once per batch of row blocks that pass together, rows inner: all of the expert in the
 * wave schedule, those of a turn or of a round in the interleaved one. */
static double weight_reads_us(const struct xsti_moe_layer *layer, const struct xst_moe_candidate *candidate)
{
    const struct xst_moe_setup *const setup = layer->setup;
    int64_t together = setup->plan.producers / setup->l1_per_block;
    const int64_t turn = candidate->group_tiles / setup->l2_per_block;
    double reads = 0;
    together = together > turn ? together : turn;
    together = together > 1 ? together : 1;
    if (candidate->schedule == XST_SCHEDULE_WAVE && layer->blocks > 0)
        together = layer->blocks;
    for (int64_t e = 0; e < layer->experts; e++)
        reads += (double)((xsti_moe_blocks(setup, layer->rows_per_expert[e]) + together - 1) / together);
    return reads * layer->weight_bytes / setup->reread_bytes_per_us;
}

static void memory(const struct xsti_moe_layer *layer, struct xst_moe_candidate *candidate)
{
    const struct xst_moe_setup *const setup = layer->setup;
    const double set = working_set(layer, candidate), all = (double)layer->l1_tiles * layer->act_bytes;
    candidate->working_set_bytes = set;
    candidate->locality_us =
        set > setup->l2_bytes ? (set - setup->l2_bytes) / set * all / setup->reread_bytes_per_us : 0;
    candidate->weights_us = fmax(weight_reads_us(layer, candidate) - candidate->compute_us, 0);
}

/* Everything but the list. */
void xsti_moe_predict(const struct xsti_moe_layer *layer, const struct xsti_moe_flow *flow,
                      struct xst_moe_candidate *candidate)
{
    const struct xst_moe_setup *const setup = layer->setup;
    const double remote = (double)(setup->shape.ranks - 1) / (double)setup->shape.ranks;
    candidate->gap = flow->gap;
    candidate->extrapolated = flow->extrapolated;
    candidate->slices = flow->slices;
    candidate->compute_us =
        ((double)layer->l1_tiles * setup->l1_us + (double)layer->l2_tiles * setup->l2_us) / layer->producers;
    memory(layer, candidate);
    const double own_frac = (candidate->schedule == XST_SCHEDULE_INTERLEAVED ? setup->order_cost_frac : 0) +
                            (flow->staged ? setup->staged_cost_frac : 0);
    candidate->order_us = own_frac * candidate->compute_us;
    if (flow->gap != XST_MOE_GAP_NONE)
        return;
    struct rounds rounds = {.layer = layer, .flow = flow, .stretch = 1 + own_frac};
    rounds.round_tiles =
        layer->producers * ceil(fmax((double)(layer->l1_tiles + layer->l2_tiles), 1) / layer->producers / MOST_ROUNDS);
    rounds.fluid.drain_bytes_per_us = flow->stage.drain_bytes_per_us;
    rounds.fluid.pull_bytes = remote * layer->fetched_rows * (double)setup->shape.hidden *
                              xst_moe_operand_bytes(&setup->shape, setup->operand_bytes);
    rounds.fluid.pull_left_bytes = rounds.fluid.pull_bytes;
    if (layer->blocks > 0 && candidate->schedule == XST_SCHEDULE_WAVE)
        run_wave(&rounds);
    else if (layer->blocks > 0)
        run_interleaved(&rounds, (double)candidate->lead_tiles, (double)candidate->group_tiles);
    candidate->exposed_issue_us = rounds.floor_us + rounds.loss.drain_us;
    candidate->pull_us = rounds.loss.pull_us;
    candidate->tail_us =
        (rounds.fluid.backlog_bytes + rounds.pending_bytes) / flow->stage.drain_bytes_per_us + flow->fence_us;
    const double sum_us = candidate->compute_us + candidate->exposed_issue_us + candidate->starve_us +
                          candidate->pull_us + candidate->locality_us + candidate->weights_us + candidate->order_us +
                          candidate->tail_us;
    /* A tenth of a nanosecond is enough: what differs by rounding alone is equal, and the simpler one wins. */
    candidate->predicted_us = rint(sum_us * 1e4) / 1e4;
}
