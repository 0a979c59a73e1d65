/* SPDX-License-Identifier: Apache-2.0
 *
 * role_pull.cuh - warps that fetch the rows of this rank's experts from the ranks they live on, in the order they are needed.
 *
 * Row r of the pool is warp r mod warps' (the last block of an expert has rows that do not exist). A warp looks up 32 of its
 * rows at a time, one a lane; then it moves them one by one through two buffers in shared memory. With dedup a row is fetched
 * for the first of its token's choices here and stored to the places of all of them, lane c storing to the c-th; their warps
 * pass them over. Each place is counted for its block when the row is there.
 */
#ifndef XST_MOE_ROLE_PULL_CUH
#define XST_MOE_ROLE_PULL_CUH

#include "moe/pool.h"
#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

/* A row to fetch: of which token, and how many places it has in the pool; none: no row. In one word: the warp passes it round. */
struct Found {
    static constexpr int TOKEN_BITS = XSTI_MOE_TOKEN_BITS, RANK_BITS = 4;
    uint32_t word;

    __device__ __forceinline__ uint32_t token() const
    {
        return word & ((1u << TOKEN_BITS) - 1);
    }
    __device__ __forceinline__ uint32_t source() const
    {
        return word >> TOKEN_BITS & ((1u << RANK_BITS) - 1);
    }
    __device__ __forceinline__ uint32_t places() const
    {
        return word >> (TOKEN_BITS + RANK_BITS);
    }
    __device__ __forceinline__ uint64_t x(const xsti_moe_params &p) const
    {
        return p.buffers[source()] + p.x_at + static_cast<uint64_t>(token()) * p.row_bytes;
    }
    __device__ __forceinline__ uint64_t scales(const xsti_moe_params &p) const
    {
        return p.buffers[source()] + p.x_scales_at + static_cast<uint64_t>(token()) * (p.hidden / XSTI_MOE_SCALED) * 4;
    }
    /* Where the c-th place but the first is known. */
    __device__ __forceinline__ uint64_t copy(const xsti_moe_params &p, uint32_t c) const
    {
        const uint32_t line = source() * p.list_most + token() * p.topk + c;
        return p.copies + static_cast<uint64_t>(line) * sizeof(xsti_moe_copy);
    }
};
constexpr uint32_t NO_ROW = 0xffffffffu;

/* Of a warp. A lane's stores, their groups and their news are its own. */
struct Puller {
    const xsti_moe_params &p;
    Gate gate;
    uint32_t chunks; /* two in shared memory, chunk_bytes apart */
    uint32_t chunk_bytes;
    uint32_t landed; /* their barriers */
    uint32_t count;  /* chunks whose load was issued */

    /* the chunk that was loaded last and not stored yet: this lane's row, first byte of it; the row's end: no chunk */
    uint32_t place;
    uint32_t at;

    uint32_t stored; /* row whose last store was issued and which nobody was told of */
    bool untold;     /* there is one */

    __device__ __forceinline__ uint32_t bytes_at(uint32_t from) const
    {
        return min(p.row_bytes - from, chunk_bytes);
    }

    __device__ __forceinline__ void tell()
    {
        if (gate.open && stored != NO_ROW)
            add_release_gpu_u32(p.arrived + stored / p.stream.tile_rows * 4, 1);
        untold = false;
    }

    __device__ __forceinline__ void store()
    {
        const uint32_t row_bytes = p.row_bytes, slot = (count - 1) & 1u;
        if (at == row_bytes)
            return;
        gate.barrier(landed + slot * 8, (count - 1) >> 1 & 1u, XSTI_MOE_PHASE_CHUNK);
        if (gate.open && place != NO_ROW)
            bulk_store(p.pool_x + static_cast<uint64_t>(xsti_moe_pool_row(&p.stream, place)) * row_bytes + at,
                       chunks + slot * chunk_bytes, bytes_at(at));
        bulk_commit();
        if (untold) { /* the stores before this one are over, or nearly */
            bulk_wait<1>();
            tell();
        }
        stored = place;
        untold = at + bytes_at(at) == row_bytes;
        at = row_bytes;
    }

    __device__ __forceinline__ void row(Found found, uint32_t place_)
    {
        for (uint32_t from = 0; from < static_cast<uint32_t>(p.row_bytes); from += chunk_bytes) {
            const uint32_t slot = count & 1u;
            bulk_wait_read_all();
            __syncwarp(); /* all lanes' */
            if (gate.open && threadIdx.x % 32 == 0) {
                barrier_arrive_expect(landed + slot * 8, bytes_at(from));
                bulk_load(chunks + slot * chunk_bytes, found.x(p) + from, bytes_at(from), landed + slot * 8);
            }
            store();
            count++;
            place = place_;
            at = from;
        }
    }

    __device__ __forceinline__ void flush()
    {
        store();
        bulk_wait<0>();
        if (untold)
            tell();
    }
};

/* Rows of an expert of this rank by the rank they come from. */
struct Counts {
    uint32_t of[XSTI_MOE_MOST_RANKS];
};
__device__ __forceinline__ Counts counts_of(const xsti_moe_params &p, uint32_t expert)
{
    const uint64_t at = p.counts + expert * (XSTI_MOE_MOST_RANKS * 4);
    const uint4 low = load_16_l2(at), high = load_16_l2(at + 16);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ __forceinline__ uint32_t weight_of(const xsti_moe_params &p, uint32_t source, uint32_t flat)
{
    return load_4_l2(p.buffers[source] + p.weights_at + static_cast<uint64_t>(flat) * 4);
}

__device__ __forceinline__ void write_meta(const xsti_moe_params &p, uint32_t row, uint32_t source, uint32_t flat,
                                           uint32_t weight)
{
    store_8(p.meta + static_cast<uint64_t>(row) * sizeof(xsti_moe_meta),
            {source << XSTI_MOE_ORIGIN_BITS | flat, weight});
}

/* The pool rows of a token's other choices here, into `copies`, where the warp will look for them. */
__device__ __forceinline__ void place_copies(const xsti_moe_params &p, const xsti_moe_stream &stream,
                                             const uint32_t *table, Found found)
{
    for (uint32_t c = 1; c < found.places(); c++) {
        const uint2 copy = load_8_l2(found.copy(p, c));
        const uint32_t expert = copy.y >> 8, flat = found.token() * p.topk + (copy.y & 255);
        const uint32_t weight = weight_of(p, found.source(), flat);
        const uint32_t row = xsti_moe_first_block(table, expert) * stream.tile_rows +
                             xsti_moe_row_of(counts_of(p, expert).of, p.rank, {found.source(), copy.x});
        store_4(found.copy(p, c), row);
        write_meta(p, row, found.source(), flat, weight);
    }
}

/* Of pool row `row`, whose meta entry is written, and those of its token's other choices. */
__device__ __forceinline__ Found look_up(const xsti_moe_params &p, const xsti_moe_stream &stream, const uint32_t *table,
                                         uint32_t row)
{
    if (row >= stream.blocks * stream.tile_rows)
        return {0};
    const uint32_t block = row / stream.tile_rows;
    const uint32_t expert = xsti_moe_expert_of(&stream, table, block);
    if (row % stream.tile_rows >= xsti_moe_rows_of(&stream, table, expert, block))
        return {0};
    const xsti_moe_row its =
        xsti_moe_row_at(counts_of(p, expert).of, p.rank, row - xsti_moe_first_block(table, expert) * stream.tile_rows);
    const uint64_t line = static_cast<uint64_t>(expert * p.ranks + its.source) * p.list_most + its.index;
    const uint32_t entry = load_4_l2(p.list + line * 4), flat = entry & ((1u << XSTI_MOE_FLAT_BITS) - 1);
    const uint32_t places = p.dedup ? entry >> XSTI_MOE_FLAT_BITS : 1;
    if (places == 0)
        return {0};
    const Found found = {(places << Found::RANK_BITS | its.source) << Found::TOKEN_BITS | flat / p.topk};
    write_meta(p, row, its.source, flat, weight_of(p, its.source, flat));
    place_copies(p, stream, table, found);
    return found;
}

/* The pool row that this lane takes care of, of what was found as pool row `row`. */
__device__ __forceinline__ uint32_t place_of(const xsti_moe_params &p, Found found, uint32_t row)
{
    const uint32_t lane = threadIdx.x % 32;
    if (lane >= found.places())
        return NO_ROW;
    return lane == 0 ? row : load_4_l2(found.copy(p, lane));
}

__device__ __forceinline__ Found found_by(Found mine, uint32_t lane)
{
    return {__shfl_sync(0xffffffffu, mine.word, lane)};
}

/* Scales of those of the 32 rows that a warp's lanes have looked up that are in `mask`, a few rows at a time: what is on its way covers
 * the distance. */
__device__ __forceinline__ void pull_scales(const xsti_moe_params &p, Found mine, uint32_t first, uint32_t warps,
                                            uint32_t mask)
{
    constexpr uint32_t AHEAD = 4;
    const uint32_t lane = threadIdx.x % 32, columns = p.hidden / XSTI_MOE_SCALED;
    mine.word = mask >> lane & 1u ? mine.word : 0;
    for (uint32_t i = 0; i < 32; i += AHEAD) {
        if ((mask >> i & ((1u << AHEAD) - 1)) == 0)
            continue;
        uint32_t place[AHEAD];
#pragma unroll
        for (uint32_t j = 0; j < AHEAD; j++)
            place[j] = place_of(p, found_by(mine, i + j), first + (i + j) * warps);
        for (uint32_t column = lane; column - lane < columns; column += 32) {
            uint32_t scale[AHEAD];
#pragma unroll
            for (uint32_t j = 0; j < AHEAD; j++) {
                const Found found = found_by(mine, i + j);
                if (found.places() != 0 && column < columns)
                    scale[j] = load_4_l2(found.scales(p) + column * 4);
            }
#pragma unroll
            for (uint32_t j = 0; j < AHEAD; j++) {
                const uint32_t places = found_by(mine, i + j).places();
                for (uint32_t c = 0; c < places; c++) {
                    const uint32_t row = xsti_moe_pool_row(&p.stream, __shfl_sync(0xffffffffu, place[j], c));
                    if (column < columns)
                        store_4(p.x_scales + (static_cast<uint64_t>(column) * p.pool_rows + row) * 4, scale[j]);
                }
            }
        }
    }
    fence_proxy_async_global(); /* the bulk engine of another SM will read them */
}

/* Those of the 32 rows that are in `mask`; where a row goes is asked for while the one before it moves. */
__device__ __forceinline__ void move_rows(const xsti_moe_params &p, Puller &pull, Found mine, uint32_t first,
                                          uint32_t warps, uint32_t mask)
{
    Found found = {0};
    uint32_t place = NO_ROW;
    for (bool more = true; more;) {
        const Found moved = found;
        const uint32_t to = place, i = __ffs(mask) - 1;
        more = mask != 0;
        if (more) {
            found = found_by(mine, i);
            place = place_of(p, found, first + i * warps);
            mask &= mask - 1;
        }
        if (moved.places() != 0)
            pull.row(moved, to);
    }
}

/* Ring: what `spent` of a block comes to in the end. Two CTAs share the columns of a block that one of them has the rows of. */
__device__ __forceinline__ uint32_t spent_of(const xsti_moe_stream &stream, const uint32_t *table, uint32_t block)
{
    constexpr uint32_t MATH_WARPS = 8;
    if (stream.tile_rows != 256)
        return stream.n2 * MATH_WARPS;
    const uint32_t rows = xsti_moe_rows_of(&stream, table, xsti_moe_expert_of(&stream, table, block), block);
    return (rows <= 128 ? (stream.n2 + 1) / 2 : stream.n2) * (2 * MATH_WARPS);
}

/* Of the rows `left`, this lane's being row `row`, the first ones whose place in the ring is free; waits for the first of all where none
 * is, with nothing untold: what the place waits for may be waiting for that. */
__device__ __forceinline__ uint32_t free_rows(const xsti_moe_params &p, const xsti_moe_stream &stream,
                                              const uint32_t *table, Puller &pull, uint32_t left, uint32_t row)
{
    const uint32_t block = row / stream.tile_rows, before = block - stream.ring, first = __ffs(left) - 1;
    const bool waits = left >> threadIdx.x % 32 & 1u && block >= stream.ring;
    const uint32_t target = waits ? spent_of(stream, table, before) : 0;
    const bool busy = waits && load_acquire_gpu_u32(p.spent + before * 4) < target;
    const uint32_t taken = __ballot_sync(0xffffffffu, busy);
    uint32_t now = left;
    if (taken >> first & 1u) {
        pull.flush();
        if (threadIdx.x % 32 == first)
            pull.gate.counter(p.spent + before * 4, target, XSTI_MOE_PHASE_RING, block);
        now = 1u << first;
    } else if (taken != 0) {
        now = left & ((taken & ~(taken - 1)) - 1);
    }
    __syncwarp();
    fence_proxy_async_global();
    return now;
}

/* One warp of `Warps` a CTA. Scaled: rows may have scales. */
template <bool Scaled, int Warps, int ChunkBytes>
__device__ __forceinline__ void role_pull(const xsti_moe_params &p, const xsti_moe_stream &stream,
                                          const uint32_t *table, PullStorage<Warps, ChunkBytes> &storage, uint32_t warp,
                                          xsti_fault *fault)
{
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * Warps;
    Puller pull = {p,          {fault, XSTI_MOE_ROLE_PULL, true},    shared_address(storage.chunk[warp]),
                   ChunkBytes, shared_address(storage.landed[warp]), 0,
                   NO_ROW,     static_cast<uint32_t>(p.row_bytes),   NO_ROW,
                   false};
    const uint32_t rows = stream.blocks * stream.tile_rows;
    fence_proxy_async_global(); /* rows of peers, seen by the acquiring of their flags, are read by the bulk engine */
    for (uint32_t first = warp * gridDim.x + blockIdx.x; first < rows; first += 32 * warps) {
        const Found mine = look_up(p, stream, table, first + lane * warps);
        __syncwarp();
        uint32_t left = __ballot_sync(0xffffffffu, mine.places() != 0);
        while (left != 0) {
            const uint32_t now =
                p.stream.ring != 0 ? free_rows(p, stream, table, pull, left, first + lane * warps) : left;
            if (Scaled && p.dtype == XSTI_MOE_E4M3) {
                pull_scales(p, mine, first, warps, now);
                __syncwarp();
            }
            move_rows(p, pull, mine, first, warps, now);
            left &= ~now;
        }
        pull.flush();
        __syncwarp();
    }
}

} // namespace xst

#endif
