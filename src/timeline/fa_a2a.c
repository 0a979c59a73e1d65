/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + all-to-all tile by tile: CTA c of a rank takes tiles c, c + K, ... of the rank's walk.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "timeline/kernel.h"

/* What traces of the kernel between two H200 say (data/h200x2-fa-a2a-steps.csv, bench/fa_a2a_steps.py), with T the mean issue of the
 * first wave: Q as plain stores of two warpgroups meet it, V - R T, as a share of Q(K); R of bulk copies of one row, (V - Q)/T, as
 * a share of R; and warpgroups out of step. */
static const double TRACED_CAPACITY_FRAC = 0.66, TRACED_ROW_COPIES_FRAC = 0.66;
static const struct xst_out_of_step TRACED_PLAIN = {.extra_frac = 0.16, .enter = 0.34, .stay = 0.34},
                                    TRACED_BULK = {.extra_frac = 0.17, .enter = 0.26, .stay = 0.27};

/* Idle time of one bulk load on every SM at once, of memory that the L2 serves: what a pipeline needs to fill again once its loads
 * have been late. 4 KiB 0.83 us, 64 KiB 2.47 us on 132 SMs (data/h200x2-bystander.csv). */
static const double LOAD_FIRST_US = 0.72, LOAD_BYTES_PER_US = 4.94e6;

/* Copies of one burst that the bulk engine takes without making the issuer wait: 12 of 4 KiB it does, 16 not
 * (data/h200-host-variants.csv). */
enum { QUEUE_COPIES = 12 };

/* Where a tile's remote rows go. Most tiles have one owner: mix d. A tile that spans owners has a mix of its own for every
 * sender that owns part of it, since own rows stay at home. */
struct fa {
    const struct xst_fa_a2a_shape *shape;
    const struct xst_fa_a2a_plan *plan;
    struct xst_fa_a2a_counts counts;
    struct xst_mix *mixes;
    int64_t *ranks;
    double *frac;
    int64_t mix_count;
    int32_t *span_mix; /* [row tile][rank], -1: not a spanning tile */
};

static int64_t first_row_of(const struct xst_fa_a2a_shape *shape, int64_t rank)
{
    const int64_t base = shape->seq / shape->ranks, more = shape->seq % shape->ranks;
    return rank * base + (rank < more ? rank : more);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of [first, end) that rank `owner` owns. */
static int64_t owned(const struct xst_fa_a2a_shape *shape, int64_t first, int64_t end, int64_t owner)
{
    const int64_t from = first_row_of(shape, owner), to = first_row_of(shape, owner + 1);
    const int64_t low = first > from ? first : from, high = least(end, to);
    return high > low ? high - low : 0;
}

static int64_t owner_at(const struct xst_fa_a2a_shape *shape, int64_t row)
{
    int64_t low = 0, high = shape->ranks - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (first_row_of(shape, middle) <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Adds the mix of [first, end) as rank `sender` sends it; returns its number. */
static int32_t add_mix(struct fa *fa, int64_t first, int64_t end, int64_t sender, int64_t *used)
{
    const int64_t low = owner_at(fa->shape, first), high = owner_at(fa->shape, end - 1);
    const int64_t remote = end - first - owned(fa->shape, first, end, sender);
    struct xst_mix *const mix = &fa->mixes[fa->mix_count];
    *mix = (struct xst_mix){0, fa->ranks + *used, fa->frac + *used};
    for (int64_t owner = low; owner <= high; owner++) {
        const int64_t rows = owned(fa->shape, first, end, owner);
        if (owner == sender || rows == 0)
            continue;
        fa->ranks[*used] = owner;
        fa->frac[(*used)++] = (double)rows / (double)remote;
        mix->count++;
    }
    return (int32_t)fa->mix_count++;
}

/* Owners of a row tile and its neighbours overlap in few places, so the room is found by counting first. */
static enum xst_status make_mixes(struct fa *fa, struct xst_diag *diag)
{
    const int64_t ranks = fa->shape->ranks, tiles = fa->counts.row_tiles, rows = fa->plan->tile_rows;
    int64_t mixes = ranks, room = ranks, used = 0;
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t end = least((tile + 1) * rows, fa->shape->seq);
        const int64_t owners = owner_at(fa->shape, end - 1) - owner_at(fa->shape, tile * rows) + 1;
        mixes += owners > 1 ? owners + 1 : 0;
        room += owners > 1 ? (owners + 1) * owners : 0;
    }
    fa->mixes = calloc((size_t)mixes, sizeof *fa->mixes);
    fa->ranks = calloc((size_t)room, sizeof *fa->ranks);
    fa->frac = calloc((size_t)room, sizeof *fa->frac);
    fa->span_mix = calloc((size_t)tiles, sizeof *fa->span_mix);
    if (!fa->mixes || !fa->ranks || !fa->frac || !fa->span_mix)
        return xsti_fail_memory(diag);
    for (int64_t rank = 0; rank < ranks; rank++) {
        fa->ranks[used] = rank;
        fa->frac[used] = 1;
        fa->mixes[fa->mix_count++] = (struct xst_mix){1, fa->ranks + used, fa->frac + used};
        used++;
    }
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t first = tile * rows, end = least(first + rows, fa->shape->seq);
        const int64_t low = owner_at(fa->shape, first), high = owner_at(fa->shape, end - 1);
        fa->span_mix[tile] = -1;
        if (low == high)
            continue;
        fa->span_mix[tile] = (int32_t)fa->mix_count; /* of a sender that owns none of it, */
        add_mix(fa, first, end, -1, &used);
        for (int64_t owner = low; owner <= high; owner++) /* then of its owners in order */
            add_mix(fa, first, end, owner, &used);
    }
    return XST_OK;
}

static int32_t mix_of(const struct fa *fa, int64_t rank, const struct xst_fa_a2a_tile *tile)
{
    const int32_t spanning = fa->span_mix[tile->first_row / fa->plan->tile_rows];
    const int64_t low = owner_at(fa->shape, tile->first_row);
    if (spanning < 0)
        return (int32_t)low;
    const int64_t high = owner_at(fa->shape, tile->first_row + tile->rows - 1);
    return rank < low || rank > high ? spanning : spanning + 1 + (int32_t)(rank - low);
}

static int next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct fa *const fa = context;
    const int64_t index = sm + taken * fa->counts.producers;
    const double row_bytes = (double)(fa->shape->head_dim * fa->shape->element_bytes);
    if (index >= fa->counts.tiles)
        return 0;
    const struct xst_fa_a2a_tile tile = xst_fa_a2a_tile_at(fa->shape, fa->plan, rank, index);
    tile_out->work_us = fa->counts.tile_us;
    tile_out->remote_bytes = (double)tile.remote_rows * row_bytes;
    tile_out->local_bytes = (double)(tile.rows - tile.remote_rows) * row_bytes;
    tile_out->mix = tile.remote_rows > 0 ? mix_of(fa, rank, &tile) : 0;
    tile_out->id = index;
    return 1;
}

/* Keys and values of one inner step, loaded by every SM. */
static double refill_us(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                        const struct xst_fa_a2a_counts *counts)
{
    const double bytes = 2.0 * (double)(plan->tile_cols * shape->head_dim * shape->element_bytes);
    return LOAD_FIRST_US + bytes * (double)counts->producers / LOAD_BYTES_PER_US;
}

/* Behind its last store every rank fences, sets a flag at every other and waits for theirs. */
static void publish(const struct xst_timeline_config *config, struct xst_timeline_result *result)
{
    result->publish_us = config->machine.visible_us + config->machine.signal_us;
    result->makespan_us = fmax(result->makespan_us, result->sender_us + result->publish_us);
    if (result->free_us >= 0)
        result->exposed_us = result->makespan_us - result->free_us;
}

enum xst_status xst_timeline_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                    const struct xst_fa_a2a_plan *plan, const struct xst_timeline_options *options,
                                    struct xst_timeline_result *result_out, struct xst_diag *diag)
{
    struct xst_fa_a2a_plan whole = *plan;
    struct fa fa = {.shape = shape, .plan = &whole};
    struct xst_timeline_config config = {.ranks = shape->ranks};
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = plan->method};
    XSTI_TRY(xsti_kernel_rate(profile, &whole.producers, &whole.sm_flop_per_us, diag));
    XSTI_TRY(xst_fa_a2a_count(shape, &whole, &fa.counts, diag));
    XSTI_TRY(xsti_kernel_config(profile, &key, fa.counts.producers, fa.counts.tile_bytes, options, &config, diag));
    enum xst_status status = make_mixes(&fa, diag);
    if (status == XST_OK) {
        config.staging_slots = whole.staging_slots;
        config.prefetch_us =
            (double)whole.stages * fa.counts.tile_us / (double)fa.counts.kv_blocks; /* K/V tiles loaded ahead */
        config.prefetch_us = fmax(config.prefetch_us - refill_us(shape, &whole, &fa.counts), 0);
        if (options->as_traced) {
            config.queue_full = plan->method == XST_METHOD_BULK && whole.tile_rows > QUEUE_COPIES; /* a copy a row */
            if (shape->head_dim == 128 && whole.tile_rows == 128) /* the others take turns */
                config.out_of_step = config.queue_full ? TRACED_BULK : TRACED_PLAIN;
            if (config.queue_full)
                config.machine.drain_bytes_per_us *= TRACED_ROW_COPIES_FRAC;
            else
                config.machine.capacity_bytes *= TRACED_CAPACITY_FRAC;
        }
        config.mixes = fa.mixes;
        config.mix_count = fa.mix_count;
        config.kind_names[0] = "attention";
        config.context = &fa;
        config.next = next;
        status = xsti_kernel_run(&config, options, NULL, result_out, diag);
        if (status == XST_OK)
            publish(&config, result_out);
    }
    free(fa.mixes);
    free(fa.ranks);
    free(fa.frac);
    free(fa.span_mix);
    return status;
}
