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

/* Handed to the sending warp: tiles of the other ranks' walk steps behind which the same CTA has another tile to compute. A tile's
 * slices leave within three quarters of the time a tile takes, so that the staging is free in time when the next tile is a little
 * faster. */
static void fill_handed(const struct xst_fa_a2a_choice *choice, int block_rows, struct xsti_fa_params *params)
{
    const int64_t tiles = params->tile_first[params->ranks];
    const int64_t followed = tiles > choice->ctas ? tiles - choice->ctas : 0;
    const int64_t peers = params->tile_first[params->ranks - 1];
    const int64_t slices = block_rows / 16 * choice->slices;
    params->handed_tiles = (int32_t)(peers < followed ? peers : followed);
    params->slice_rows = (int32_t)(16 / choice->slices);
    params->slice_share = (int32_t)ceil_div(slices * 4, 3);
}

void xsti_fa_fill(const struct xst_fa_a2a_call *call, int block_rows, int block_keys,
                  const struct xst_fa_a2a_choice *choice, struct xsti_fa_params *params_out)
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
    params.fixed_epoch = call->epoch;
    params.rank = (int32_t)call->rank;
    params.ranks = (int32_t)call->ranks;
    params.batch = (int32_t)call->batch;
    params.heads = (int32_t)call->heads;
    params.heads_total = (int32_t)call->heads_total;
    params.head_first = (int32_t)call->head_first;
    params.head_bytes = (int32_t)call->head_dim * 2;
    params.seq = (int32_t)call->seq;
    params.key_blocks = (int32_t)ceil_div(call->key_len, block_keys);
    params.key_tail = (int32_t)(call->key_len - (params.key_blocks - 1) * (int64_t)block_keys);
    fill_handed(choice, block_rows, &params);
    params.delay_ns = (uint32_t)choice->delay_ns;
    params.scale = (float)call->scale;
    params.scale_log2 = (float)(call->scale * 1.4426950408889634);
    *params_out = params;
}
