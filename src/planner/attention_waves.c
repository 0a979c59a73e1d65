/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/attention_waves.h"

#include <string.h>

/* First row of a rank: the first seq % ranks ranks own one row more. */
static int64_t offset_of(const struct xst_fa_a2a_shape *shape, int64_t rank)
{
    const int64_t base = shape->seq / shape->ranks, more = shape->seq % shape->ranks;
    return rank * base + (rank < more ? rank : more);
}

static int64_t owner_of(const struct xst_fa_a2a_shape *shape, int64_t row)
{
    const int64_t base = shape->seq / shape->ranks, more = shape->seq % shape->ranks;
    const int64_t longer = more * (base + 1);
    return row < longer ? row / (base + 1) : more + (row - longer) / base;
}

/* Peers first: each receiver has one sender at a time, because every rank starts with its own neighbour. */
static void peers_first(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                        const struct xst_fa_a2a_counts *counts, struct xsti_wave *waves)
{
    const double row_bytes = (double)(shape->head_dim * shape->element_bytes);
    for (int64_t i = 0; i < counts->tiles; i++) {
        struct xsti_wave *const wave = &waves[i / counts->producers];
        const struct xst_fa_a2a_tile tile = xst_fa_a2a_tile_at(shape, plan, shape->ranks - 1, i);
        wave->tiles++;
        wave->remote_bytes += (double)tile.remote_rows * row_bytes;
    }
    for (int64_t w = 0; w < counts->waves; w++)
        waves[w].drain_bytes = waves[w].remote_bytes;
}

/* Adds the bytes of rows [first, end) to their owners. */
static void add_rows(const struct xst_fa_a2a_shape *shape, int64_t first, int64_t end, double row_bytes,
                     double *destinations)
{
    for (int64_t rank = owner_of(shape, first); first < end; rank++) {
        const int64_t border = offset_of(shape, rank + 1), until = border < end ? border : end;
        destinations[rank] += (double)(until - first) * row_bytes;
        first = until;
    }
}

static void close_wave(const struct xst_fa_a2a_shape *shape, double *destinations, struct xsti_wave *wave)
{
    double most = 0;
    for (int64_t rank = 0; rank < shape->ranks - 1; rank++) {
        wave->remote_bytes += destinations[rank];
        most = destinations[rank] > most ? destinations[rank] : most;
    }
    const double incast = (double)(shape->ranks - 1) * most;
    wave->drain_bytes = incast > wave->remote_bytes ? incast : wave->remote_bytes;
    memset(destinations, 0, (size_t)shape->ranks * sizeof *destinations);
}

/* Rows in order: all ranks are at the same rows at the same time, so their owner receives from all of them. */
static void rows_in_order(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                          const struct xst_fa_a2a_counts *counts, double *destinations, struct xsti_wave *waves)
{
    const double row_bytes = (double)(shape->head_dim * shape->element_bytes);
    memset(destinations, 0, (size_t)shape->ranks * sizeof *destinations);
    for (int64_t i = 0; i < counts->tiles; i++) {
        struct xsti_wave *const wave = &waves[i / counts->producers];
        const int64_t first = i % counts->row_tiles * plan->tile_rows;
        const int64_t end = first + plan->tile_rows < shape->seq ? first + plan->tile_rows : shape->seq;
        wave->tiles++;
        add_rows(shape, first, end, row_bytes, destinations);
        if ((i + 1) % counts->producers == 0 || i + 1 == counts->tiles)
            close_wave(shape, destinations, wave);
    }
}

void xsti_attention_waves(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                          const struct xst_fa_a2a_counts *counts, enum xst_tile_order order, double *destinations,
                          struct xsti_wave *waves_out)
{
    memset(waves_out, 0, (size_t)counts->waves * sizeof *waves_out);
    if (order == XST_TILE_ORDER_PEERS_FIRST)
        peers_first(shape, plan, counts, waves_out);
    else
        rows_in_order(shape, plan, counts, destinations, waves_out);
}
