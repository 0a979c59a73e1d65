/* SPDX-License-Identifier: Apache-2.0
 *
 * From a call to the kernel's parameters.
 */
#include "fa_a2a/fill.h"

#include <math.h>
#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Destinations in the order rank + 1, ..., rank (mod ranks); each takes the row blocks it owns a row of and nobody took before. */
static void fill_walk(const struct xst_fa_a2a_call *call, int block_rows, struct xsti_fa_params *params)
{
    const int64_t ranks = call->ranks;
    const int64_t columns = call->batch * call->heads;
    int64_t tiles = 0;
    for (int64_t step = 0; step < ranks; step++) {
        const int64_t owner = (call->rank + 1 + step) % ranks;
        int64_t first = call->row_first[owner] / block_rows;
        int64_t end = ceil_div(call->row_first[owner + 1], block_rows);
        if (call->row_first[owner] == call->row_first[owner + 1])
            end = first;
        for (int64_t earlier = 0; earlier < step && first < end; earlier++) {
            const int64_t taken = params->block_first[earlier];
            const int64_t taken_end = taken + (params->tile_first[earlier + 1] - params->tile_first[earlier]) / columns;
            if (taken <= first && first < taken_end)
                first = taken_end;
            if (taken < end && end <= taken_end)
                end = taken > first ? taken : first;
        }
        if (end < first)
            end = first;
        params->block_first[step] = (int32_t)first;
        params->tile_first[step] = (int32_t)tiles;
        tiles += columns * (end - first);
        params->tile_first[step + 1] = (int32_t)tiles;
    }
}

int64_t xsti_fa_grid(const struct xst_fa_a2a_choice *choice, int64_t tiles)
{
    const int64_t grid = tiles < choice->ctas ? tiles : choice->ctas;
    return choice->pairs ? grid + grid % 2 : grid;
}

int xsti_fa_pairs_split_batches(const struct xst_fa_a2a_call *call, int block_rows)
{
    struct xsti_fa_params walk;
    fill_walk(call, block_rows, &walk);
    for (int64_t step = 0; call->batch > 1 && step < call->ranks; step++)
        if ((walk.tile_first[step + 1] - walk.tile_first[step]) / call->batch % 2 != 0)
            return 1;
    return 0;
}

/* What paced stores go by. Handed to the sending warp: tiles of the other ranks' walk steps behind which the same CTA has another
 * tile to compute. A tile's slices leave within three quarters of the time a tile takes, so that the staging is free in time when
 * the next tile is a little faster; but the CTAs that send together no faster than the path drains. */
static void fill_pace(const struct xst_fa_a2a_choice *choice, int block_rows, struct xsti_fa_params *params)
{
    const double cycles_per_us = 2000; /* at most; a slower clock only spreads a little more */
    const double share = 0.9;          /* of the drain rate, u in (17) */
    const int64_t tiles = params->tile_first[params->ranks], grid = xsti_fa_grid(choice, tiles);
    const int64_t followed = tiles > grid ? tiles - grid : 0;
    const int64_t peers = params->tile_first[params->ranks - 1];
    const int64_t slices = block_rows / 16 * choice->slices;
    params->handed_tiles = (int32_t)(peers < followed ? peers : followed);
    params->full_wave_tiles = grid > 0 ? (int32_t)(params->handed_tiles / grid * grid) : 0;
    params->slice_rows = (int32_t)(16 / choice->slices);
    params->slice_share = (uint32_t)(4294967296.0 * 0.75 / (double)slices);
    if (choice->drain_bytes_per_us > 0) {
        const double slice_bytes = (double)params->slice_rows * params->head_bytes;
        const double cycles = slice_bytes / (share * choice->drain_bytes_per_us) * cycles_per_us; /* for each CTA */
        params->slice_least = (uint32_t)fmin(cycles * (double)grid, 1e9);
        params->slice_least_last =
            (uint32_t)fmin(cycles * (double)(params->handed_tiles - params->full_wave_tiles), 1e9);
    }
}

void xsti_fa_fill(const struct xst_fa_a2a_call *call, int block_rows, const struct xst_fa_a2a_choice *choice,
                  struct xsti_fa_params *params_out)
{
    struct xsti_fa_params params;
    memset(&params, 0, sizeof params);
    for (int64_t p = 0; p < call->ranks; p++) {
        params.out[p] = call->out[p];
        if (p != call->rank)
            params.arrived[p] =
                call->control[p] + offsetof(struct xsti_fa_control, arrived) + (uint64_t)call->rank * sizeof(uint64_t);
    }
    for (int64_t p = 0; p <= call->ranks; p++)
        params.row_first[p] = (int32_t)call->row_first[p];
    fill_walk(call, block_rows, &params);
    params.out_flip_bytes = call->out_flip_bytes;
    params.control = call->control[call->rank];
    params.lse = call->lse;
    params.key_lens = call->key_lens;
    params.fixed_epoch = call->epoch;
    params.rank = (int32_t)call->rank;
    params.ranks = (int32_t)call->ranks;
    params.batch = (int32_t)call->batch;
    params.heads = (int32_t)call->heads;
    params.heads_total = (int32_t)call->heads_total;
    params.head_first = (int32_t)call->head_first;
    params.head_bytes = (int32_t)call->head_dim * 2;
    params.seq = (int32_t)call->seq;
    params.key_len = (int32_t)call->key_len;
    fill_pace(choice, block_rows, &params);
    params.delay_ns = (uint32_t)choice->delay_ns;
    params.scale = (float)call->scale;
    params.scale_log2 = (float)(call->scale * 1.4426950408889634);
    *params_out = params;
}
