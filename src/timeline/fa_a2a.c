/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + all-to-all tile by tile: CTA c of a rank takes tiles c, c + K, ... of the rank's walk.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "timeline/kernel.h"

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
        config.mixes = fa.mixes;
        config.mix_count = fa.mix_count;
        config.kind_names[0] = "attention";
        config.context = &fa;
        config.next = next;
        status = xsti_kernel_run(&config, options, NULL, result_out, diag);
    }
    free(fa.mixes);
    free(fa.ranks);
    free(fa.frac);
    free(fa.span_mix);
    return status;
}
