/* SPDX-License-Identifier: Apache-2.0
 *
 * What attention + all-to-all stores, to whom and when. Integer arithmetic on the tile order; no device is asked.
 */
#include <xstage/fa_a2a.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"

enum { MOST_ROWS = 1 << 28, MOST_RANKS = 65536 };

static enum xst_status check(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

enum xst_status xst_fa_a2a_check(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                 struct xst_diag *diag)
{
    XSTI_TRY(check("batch", shape->batch, 1, 65536, diag));
    XSTI_TRY(check("heads", shape->heads, 1, 65536, diag));
    XSTI_TRY(check("head_dim", shape->head_dim, 1, 4096, diag));
    XSTI_TRY(check("seq", shape->seq, 1, MOST_ROWS, diag));
    if (shape->ranks < 2)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a: ranks is %lld; with fewer than 2 nothing leaves the device",
                         (long long)shape->ranks);
    XSTI_TRY(check("ranks", shape->ranks, 2, MOST_RANKS, diag));
    if (shape->heads < shape->ranks)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a: heads is %lld, at least one per rank (%lld) is needed",
                         (long long)shape->heads, (long long)shape->ranks);
    if (shape->seq < shape->ranks)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a: seq is %lld, at least one row per rank (%lld) is needed",
                         (long long)shape->seq, (long long)shape->ranks);
    XSTI_TRY(check("element_bytes", shape->element_bytes, 1, 16, diag));
    XSTI_TRY(check("tile_rows", plan->tile_rows, 1, 65536, diag));
    XSTI_TRY(check("tile_cols", plan->tile_cols, 1, 65536, diag));
    XSTI_TRY(check("producers", plan->producers, 1, 65536, diag));
    XSTI_TRY(check("stages", plan->stages, 1, 64, diag));
    XSTI_TRY(check("staging_slots", plan->staging_slots, 1, 1024, diag));
    XSTI_TRY(check("target", plan->target, XST_TARGET_PEER, XST_TARGET_LOCAL, diag));
    if (!(plan->sm_flop_per_us > 0 && isfinite(plan->sm_flop_per_us)))
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a: sm_flop_per_us is %g, a positive rate is needed",
                         plan->sm_flop_per_us);
    return XST_OK;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* First row of a rank, and the rank of a row: the first seq % ranks ranks own one row more. */
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

/* The rank whose group a row tile belongs to in the walk of `rank`: of its owners the one that comes first, counting from the
 * neighbour of `rank`. Owners of a tile are consecutive, so that is the neighbour if it is one of them, else the lowest. */
static int64_t group_of(const struct xst_fa_a2a_shape *shape, int64_t tile_rows, int64_t rank, int64_t row_tile)
{
    const int64_t first_row = row_tile * tile_rows;
    const int64_t end = first_row + tile_rows < shape->seq ? first_row + tile_rows : shape->seq;
    const int64_t low = owner_of(shape, first_row), high = owner_of(shape, end - 1);
    const int64_t neighbour = (rank + 1) % shape->ranks;
    return low <= neighbour && neighbour <= high ? neighbour : low;
}

/* The row tiles of one destination's group: consecutive, perhaps none. */
struct group {
    int64_t first;
    int64_t count;
};

static struct group group_tiles(const struct xst_fa_a2a_shape *shape, int64_t tile_rows, int64_t rank,
                                int64_t destination)
{
    struct group group = {offset_of(shape, destination) / tile_rows, 0};
    const int64_t last = (offset_of(shape, destination + 1) - 1) / tile_rows;
    if (group_of(shape, tile_rows, rank, group.first) != destination)
        group.first++;
    if (group.first <= last)
        group.count = last - group.first + (group_of(shape, tile_rows, rank, last) == destination);
    return group;
}

static int64_t overlap(int64_t a_first, int64_t a_end, int64_t b_first, int64_t b_end)
{
    const int64_t first = a_first > b_first ? a_first : b_first, end = a_end < b_end ? a_end : b_end;
    return end > first ? end - first : 0;
}

struct xst_fa_a2a_tile xst_fa_a2a_tile_at(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                          int64_t rank, int64_t index)
{
    const int64_t heads = ceil_div(shape->heads, shape->ranks);
    struct xst_fa_a2a_tile tile = {rank, 0, 0, 0, 0, 0};
    struct group group = {0, 0};
    for (int64_t step = 1; step <= shape->ranks; step++) {
        tile.destination = (rank + step) % shape->ranks;
        group = group_tiles(shape, plan->tile_rows, rank, tile.destination);
        const int64_t tiles = shape->batch * heads * group.count;
        if (index < tiles)
            break;
        index -= tiles;
    }
    assert(group.count > 0); /* index is a tile of this rank */
    tile.batch = index / (heads * group.count);
    tile.head = index / group.count % heads;
    tile.first_row = (group.first + index % group.count) * plan->tile_rows;
    const int64_t end = tile.first_row + plan->tile_rows < shape->seq ? tile.first_row + plan->tile_rows : shape->seq;
    tile.rows = end - tile.first_row;
    tile.remote_rows = tile.rows - overlap(tile.first_row, end, offset_of(shape, rank), offset_of(shape, rank + 1));
    return tile;
}

enum xst_status xst_fa_a2a_count(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                 struct xst_fa_a2a_counts *counts_out, struct xst_diag *diag)
{
    XSTI_TRY(xst_fa_a2a_check(shape, plan, diag));
    struct xst_fa_a2a_counts counts;
    const double row_bytes = (double)(shape->head_dim * shape->element_bytes);
    const int64_t own_rows = shape->seq / shape->ranks;
    counts.heads_per_rank = ceil_div(shape->heads, shape->ranks);
    counts.row_tiles = ceil_div(shape->seq, plan->tile_rows);
    counts.tiles = shape->batch * counts.heads_per_rank * counts.row_tiles;
    counts.producers = plan->producers < counts.tiles ? plan->producers : counts.tiles;
    counts.waves = ceil_div(counts.tiles, counts.producers);
    counts.kv_blocks = ceil_div(shape->seq, plan->tile_cols);
    counts.tile_bytes = (double)plan->tile_rows * row_bytes;
    counts.remote_bytes = (double)(shape->batch * counts.heads_per_rank) * (double)(shape->seq - own_rows) * row_bytes;
    counts.kv_us =
        4.0 * (double)plan->tile_rows * (double)plan->tile_cols * (double)shape->head_dim / plan->sm_flop_per_us;
    counts.tile_us = (double)counts.kv_blocks * counts.kv_us;
    *counts_out = counts;
    return XST_OK;
}

/* Peers first, so the first bursts are the largest: how many of the first K tiles' rows leave. The last rank owns the fewest. */
static double first_burst_remote_frac(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                      const struct xst_fa_a2a_counts *counts)
{
    int64_t remote_rows = 0;
    for (int64_t i = 0; i < counts->producers; i++)
        remote_rows += xst_fa_a2a_tile_at(shape, plan, shape->ranks - 1, i).remote_rows;
    return (double)remote_rows / ((double)counts->producers * (double)plan->tile_rows);
}

enum xst_status xst_fa_a2a_traffic(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                   struct xst_traffic *traffic_out, struct xst_diag *diag)
{
    struct xst_fa_a2a_counts counts;
    XSTI_TRY(xst_fa_a2a_count(shape, plan, &counts, diag));
    struct xst_traffic traffic = {.path = {.target = plan->target, .method = plan->method}};
    strcpy(traffic.kernel, "fa-a2a");
    traffic.producers = counts.producers;
    traffic.bytes_per_producer = counts.tile_bytes;
    const int64_t own_rows = shape->seq / shape->ranks;
    traffic.remote_frac = (double)(shape->seq - own_rows) / (double)shape->seq;
    traffic.burst_remote_frac = first_burst_remote_frac(shape, plan, &counts);
    if (traffic.burst_remote_frac < traffic.remote_frac)
        traffic.burst_remote_frac = traffic.remote_frac;
    traffic.gap_us = counts.tile_us;
    traffic.phase = plan->phase;
    traffic.staging_slots = plan->staging_slots;
    traffic.prefetch_us = (double)plan->stages * counts.kv_us;
    traffic.bursts_per_producer = (double)counts.waves;
    XSTI_TRY(xst_traffic_check(&traffic, diag));
    *traffic_out = traffic;
    return XST_OK;
}
