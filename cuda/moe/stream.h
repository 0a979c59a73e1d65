/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h - the order of a rank's tiles as a function of a tile's number: what walk.c hands out one by one, in closed form, so
 * that CTA c can take tiles c, c + ctas, ... without walking past the others. C and CUDA: the device and the tests share it.
 *
 * Block b has n1 Linear-1 and n2 Linear-2 tiles. A table with one entry an expert and one at the end says where an expert's
 * blocks begin and how many rows its last block has.
 */
#ifndef XST_MOE_STREAM_H
#define XST_MOE_STREAM_H

#include <stdint.h>

#ifdef __CUDACC__
#define XSTI_MOE_FN static __host__ __device__ __forceinline__
#else
#define XSTI_MOE_FN static inline
#endif

enum { XSTI_MOE_WAVE_ROUNDS = 2, XSTI_MOE_ROW_BITS = 9 }; /* rows of a block: at most 256 */

/* interleaved: the first n1 * blocks + n2 * blocks tiles; a kernel for one of the two layers has no tiles of the other. */
struct xsti_moe_stream {
    uint32_t n1, n2;
    uint32_t lead, group;
    uint32_t unit;        /* blocks of one expert whose tiles of a column follow each other */
    uint32_t wave_blocks; /* Linear-1 tiles for two rounds of all CTAs: blocks a wave has at least */
    uint32_t wave_most;   /* blocks a wave has at most, a unit or more: an expert is cut there; 0: whole experts */
    uint32_t ring;        /* blocks the pool holds, one after the other; 0: all */
    uint32_t interleaved;
    uint32_t tile_rows;
    uint32_t blocks; /* from the table */
    uint32_t experts;
};

struct xsti_moe_task {
    uint32_t linear; /* 1 or 2 */
    uint32_t block;
    uint32_t column;
};

/* Where a role stands in the waves; all 0 at the start. */
struct xsti_moe_cursor {
    uint32_t wave_base;  /* number of the wave's first tile */
    uint32_t wave_begin; /* its first block */
    uint32_t wave_end;
};

XSTI_MOE_FN uint32_t xsti_moe_table_entry(uint32_t first_block, uint32_t last_rows)
{
    return first_block << XSTI_MOE_ROW_BITS | last_rows;
}

XSTI_MOE_FN uint32_t xsti_moe_first_block(const uint32_t *table, uint32_t expert)
{
    return table[expert] >> XSTI_MOE_ROW_BITS;
}

/* The first expert whose blocks begin at `block` or later; `experts` when none does. */
XSTI_MOE_FN uint32_t xsti_moe_expert_from(const struct xsti_moe_stream *s, const uint32_t *table, uint32_t block)
{
    uint32_t low = 0, high = s->experts;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (xsti_moe_first_block(table, middle) >= block)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The expert that block belongs to: the last one that begins at or before it. */
XSTI_MOE_FN uint32_t xsti_moe_expert_of(const struct xsti_moe_stream *s, const uint32_t *table, uint32_t block)
{
    return xsti_moe_expert_from(s, table, block + 1) - 1;
}

XSTI_MOE_FN uint32_t xsti_moe_rows_of(const struct xsti_moe_stream *s, const uint32_t *table, uint32_t expert,
                                      uint32_t block)
{
    return block + 1 == xsti_moe_first_block(table, expert + 1) ? table[expert] & ((1u << XSTI_MOE_ROW_BITS) - 1)
                                                                : s->tile_rows;
}

/* Where in the pool a block lies. */
XSTI_MOE_FN uint32_t xsti_moe_slot(const struct xsti_moe_stream *s, uint32_t block)
{
    return s->ring != 0 ? block % s->ring : block;
}

/* The same of a row, numbered as if the pool held all blocks. */
XSTI_MOE_FN uint32_t xsti_moe_pool_row(const struct xsti_moe_stream *s, uint32_t row)
{
    return s->ring != 0 ? row % (s->ring * s->tile_rows) : row;
}

XSTI_MOE_FN uint32_t xsti_moe_tiles(const struct xsti_moe_stream *s)
{
    return s->blocks * (s->n1 + s->n2);
}

XSTI_MOE_FN uint32_t xsti_moe_least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Tile `tile` of a linear layer, counted from block `begin` on, where a unit begins: units in order, in a unit columns, in a
 * column its blocks. */
XSTI_MOE_FN struct xsti_moe_task xsti_moe_in_unit(const struct xsti_moe_stream *s, const uint32_t *table,
                                                  uint32_t linear, uint32_t begin, uint32_t tile, uint32_t columns)
{
    struct xsti_moe_task task = {linear, begin + tile / columns, 0};
    uint32_t first = task.block, count = 1; /* of the unit */
    if (s->unit > 1) {
        const uint32_t expert = xsti_moe_expert_of(s, table, task.block);
        const uint32_t expert_first = xsti_moe_first_block(table, expert);
        first = task.block - (task.block - expert_first) % s->unit;
        count = xsti_moe_least_of(s->unit, xsti_moe_first_block(table, expert + 1) - first);
    }
    tile -= (first - begin) * columns;
    task.column = tile / count;
    task.block = first + tile - task.column * count;
    return task;
}

/* Linear-1 tiles in front of group `g` of Linear-2 tiles. */
XSTI_MOE_FN uint32_t xsti_moe_ahead(const struct xsti_moe_stream *s, uint32_t g)
{
    return xsti_moe_least_of(s->blocks * s->n1, s->lead + g * s->group * s->n1 / s->n2);
}

/* Linear-2 tiles come in groups; group g begins behind g * group of them and ahead(g) Linear-1 tiles, ahead being the smaller
 * of a rising line and a constant: the last group that begins at or before `index` is the larger of what each of the two
 * alone would give. */
XSTI_MOE_FN struct xsti_moe_task xsti_moe_interleaved_at(const struct xsti_moe_stream *s, const uint32_t *table,
                                                         uint32_t index)
{
    uint32_t linear = 1;
    const uint32_t l1 = s->blocks * s->n1, l2 = s->blocks * s->n2;
    uint32_t tile = index;
    if (s->n2 != 0 && index >= xsti_moe_least_of(s->lead, l1)) {
        uint32_t g = 0;
        if (index >= s->lead)
            g = ((index - s->lead + 1) * s->n2 - 1) / (s->group * (s->n1 + s->n2));
        if (index >= l1 && (index - l1) / s->group > g)
            g = (index - l1) / s->group;
        const uint32_t in_group = index - (g * s->group + xsti_moe_ahead(s, g));
        const uint32_t before = xsti_moe_least_of((g + 1) * s->group, l2);
        if (g * s->group + in_group < before) {
            linear = 2;
            tile = g * s->group + in_group;
        } else {
            tile = index - before;
        }
    }
    return xsti_moe_in_unit(s, table, linear, 0, tile, linear == 1 ? s->n1 : s->n2);
}

/* End of the wave that begins with block `begin`: with an expert, or where it is long enough, then with a unit. */
XSTI_MOE_FN uint32_t xsti_moe_wave_end(const struct xsti_moe_stream *s, const uint32_t *table, uint32_t begin)
{
    const uint32_t least = xsti_moe_least_of(begin + s->wave_blocks, s->blocks);
    const uint32_t end = xsti_moe_first_block(table, xsti_moe_expert_from(s, table, least));
    if (s->wave_most == 0 || end - begin <= s->wave_most)
        return end;
    const uint32_t cut = begin + s->wave_most;
    const uint32_t first = xsti_moe_first_block(table, xsti_moe_expert_of(s, table, cut));
    return cut - (cut - first) % (s->unit > 1 ? s->unit : 1);
}

XSTI_MOE_FN struct xsti_moe_task xsti_moe_wave_at(const struct xsti_moe_stream *s, const uint32_t *table,
                                                  struct xsti_moe_cursor *cursor, uint32_t index)
{
    while (index >= cursor->wave_base + (cursor->wave_end - cursor->wave_begin) * (s->n1 + s->n2)) {
        cursor->wave_base += (cursor->wave_end - cursor->wave_begin) * (s->n1 + s->n2);
        cursor->wave_begin = cursor->wave_end;
        cursor->wave_end = xsti_moe_wave_end(s, table, cursor->wave_begin);
    }
    const uint32_t l1 = (cursor->wave_end - cursor->wave_begin) * s->n1, tile = index - cursor->wave_base;
    if (tile < l1)
        return xsti_moe_in_unit(s, table, 1, cursor->wave_begin, tile, s->n1);
    return xsti_moe_in_unit(s, table, 2, cursor->wave_begin, tile - l1, s->n2);
}

/* Tile `index` of the stream, below xsti_moe_tiles. A cursor's indices only rise. */
XSTI_MOE_FN struct xsti_moe_task xsti_moe_task_at(const struct xsti_moe_stream *s, const uint32_t *table,
                                                  struct xsti_moe_cursor *cursor, uint32_t index)
{
    return s->interleaved ? xsti_moe_interleaved_at(s, table, index) : xsti_moe_wave_at(s, table, cursor, index);
}

#endif
