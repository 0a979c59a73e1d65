/* SPDX-License-Identifier: Apache-2.0
 *
 * role_pull.cuh - warps that fetch the rows of this rank's experts from the ranks they live on, in the order they are needed.
 *
 * Row r of the pool is warp r mod warps' (the last block of an expert has rows that do not exist). Within an expert the sources
 * take turns as long as they have rows, so that all links carry something. A warp looks up 32 of its rows at a time, one a
 * lane; then one lane moves them, through two buffers in shared memory, and counts a row for its block when it is there.
 */
#ifndef XST_MOE_ROLE_PULL_CUH
#define XST_MOE_ROLE_PULL_CUH

#include "moe/signal.cuh"
#include "moe/smem.cuh"

namespace xst {

struct Puller {
    const xsti_moe_params &p;
    Gate gate;
    uint32_t chunks; /* two in shared memory, chunk_bytes apart */
    uint32_t chunk_bytes;
    uint32_t landed; /* their barriers */
    uint32_t count;  /* chunks whose load was issued */

    /* the chunk that was loaded last and not stored yet */
    uint64_t to;
    uint32_t bytes;
    uint32_t ends; /* 1 + its block, when it is the last of a row */

    uint32_t stored; /* 1 + block of a row whose last store was issued and which nobody was told of; 0: none */

    __device__ __forceinline__ void tell()
    {
        if (gate.open)
            add_release_gpu_u32(p.arrived + (stored - 1) * 4, 1);
        stored = 0;
    }

    __device__ __forceinline__ void store()
    {
        if (bytes == 0)
            return;
        const uint32_t at = (count - 1) & 1u;
        gate.barrier(landed + at * 8, (count - 1) >> 1 & 1u, XSTI_MOE_PHASE_CHUNK);
        if (gate.open)
            bulk_store(to, chunks + at * chunk_bytes, bytes);
        bulk_commit();
        if (stored != 0) { /* the stores before this one are over, or nearly */
            bulk_wait<1>();
            tell();
        }
        stored = ends;
        bytes = 0;
    }

    __device__ __forceinline__ void load(uint64_t from, uint64_t to_, uint32_t bytes_, uint32_t ends_)
    {
        const uint32_t at = count & 1u;
        bulk_wait_read_all();
        if (gate.open) {
            barrier_arrive_expect(landed + at * 8, bytes_);
            bulk_load(chunks + at * chunk_bytes, from, bytes_, landed + at * 8);
        }
        store();
        count++;
        to = to_;
        bytes = bytes_;
        ends = ends_;
    }

    __device__ __forceinline__ void row(uint64_t from, uint64_t to_, uint32_t block)
    {
        const uint32_t row_bytes = p.row_bytes;
        for (uint32_t at = 0; at < row_bytes; at += chunk_bytes) {
            const uint32_t left = row_bytes - at;
            load(from + at, to_ + at, min(left, chunk_bytes), left <= chunk_bytes ? block + 1 : 0);
        }
    }

    __device__ __forceinline__ void flush()
    {
        store();
        bulk_wait<0>();
        if (stored != 0)
            tell();
    }
};

/* Whose row is number `in` of a local expert, and which of that rank's. */
__device__ __forceinline__ void peel(const xsti_moe_params &p, uint32_t expert, uint32_t in, uint32_t &source,
                                     uint32_t &index)
{
    uint32_t left[XSTI_MOE_MOST_RANKS]; /* [i]: rows of rank (own + 1 + i) mod ranks */
#pragma unroll
    for (int i = 0; i < XSTI_MOE_MOST_RANKS; i++) {
        const uint32_t s = (p.rank + 1 + i) % p.ranks;
        left[i] = i < p.ranks ? load_4_l2(p.counts + (expert * XSTI_MOE_MOST_RANKS + s) * 4) : 0;
    }
    index = 0;
    for (;;) {
        uint32_t active = 0, least = 0xffffffffu;
#pragma unroll
        for (int i = 0; i < XSTI_MOE_MOST_RANKS; i++) {
            active += left[i] != 0;
            least = left[i] != 0 ? min(least, left[i]) : least;
        }
        if (active == 0 || in < least * active) {
            active = max(active, 1u);
            uint32_t turn = in % active;
            index += in / active;
            source = 0;
#pragma unroll
            for (int i = XSTI_MOE_MOST_RANKS - 1; i >= 0; i--) /* from the back: its number among the active ones */
                if (left[i] != 0 && --active == turn)
                    source = (p.rank + 1 + i) % p.ranks;
            return;
        }
        in -= least * active;
        index += least;
#pragma unroll
        for (int i = 0; i < XSTI_MOE_MOST_RANKS; i++)
            left[i] -= left[i] != 0 ? least : 0;
    }
}

/* Where a pool row and its scales come from; 0, 0: it does not exist. */
struct Found {
    uint64_t x;
    uint64_t scales;
};

/* Of pool row `row`, whose meta entry is written. */
__device__ __forceinline__ Found look_up(const xsti_moe_params &p, const xsti_moe_stream &stream, const uint32_t *table,
                                         uint32_t row)
{
    if (row >= stream.blocks * stream.tile_rows)
        return {0, 0};
    const uint32_t block = row / stream.tile_rows;
    const uint32_t expert = xsti_moe_expert_of(&stream, table, block);
    if (row % stream.tile_rows >= xsti_moe_rows_of(&stream, table, expert, block))
        return {0, 0};
    uint32_t source, index;
    peel(p, expert, row - xsti_moe_first_block(table, expert) * stream.tile_rows, source, index);
    const uint64_t line = static_cast<uint64_t>(expert * p.ranks + source) * p.list_most + index;
    const uint32_t flat = load_4_l2(p.list + line * 4);
    const uint32_t weight = load_4_l2(p.buffers[source] + p.weights_at + static_cast<uint64_t>(flat) * 4);
    const uint64_t meta = p.meta + static_cast<uint64_t>(row) * sizeof(xsti_moe_meta);
    store_4(meta + offsetof(xsti_moe_meta, origin), source << XSTI_MOE_ORIGIN_BITS | flat);
    store_4(meta + offsetof(xsti_moe_meta, weight), weight);
    const uint64_t token = flat / p.topk, buffer = p.buffers[source];
    return {buffer + p.x_at + token * p.row_bytes, buffer + p.x_scales_at + token * (p.hidden / XSTI_MOE_SCALED) * 4};
}

/* Scales of the 32 rows that a warp's lanes have looked up, a few rows at a time: what is on its way covers the distance. */
__device__ __forceinline__ void pull_scales(const xsti_moe_params &p, uint64_t mine, uint32_t first, uint32_t warps)
{
    constexpr uint32_t AHEAD = 8;
    const uint32_t lane = threadIdx.x % 32, columns = p.hidden / XSTI_MOE_SCALED;
    for (uint32_t base = 0; base < columns; base += 32) {
        const uint32_t column = base + lane;
        for (uint32_t i = 0; i < 32; i += AHEAD) {
            uint32_t scale[AHEAD];
            uint64_t from[AHEAD];
#pragma unroll
            for (uint32_t j = 0; j < AHEAD; j++) {
                from[j] = __shfl_sync(0xffffffffu, mine, i + j);
                from[j] = column < columns ? from[j] : 0;
                if (from[j] != 0)
                    scale[j] = load_4_l2(from[j] + column * 4);
            }
#pragma unroll
            for (uint32_t j = 0; j < AHEAD; j++)
                if (from[j] != 0)
                    store_4(p.x_scales + (static_cast<uint64_t>(column) * p.pool_rows + first + (i + j) * warps) * 4,
                            scale[j]);
        }
    }
    fence_proxy_async_global(); /* the bulk engine of another SM will read them */
}

/* One warp of `Warps` a CTA. Scaled: rows may have scales. */
template <bool Scaled, int Warps, int ChunkBytes>
__device__ __forceinline__ void role_pull(const xsti_moe_params &p, const xsti_moe_stream &stream,
                                          const uint32_t *table, PullStorage<Warps, ChunkBytes> &storage, uint32_t warp,
                                          xsti_fault *fault)
{
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * Warps;
    Puller pull = {p,
                   {fault, XSTI_MOE_ROLE_PULL, true},
                   shared_address(storage.chunk[warp]),
                   ChunkBytes,
                   shared_address(storage.landed[warp]),
                   0,
                   0,
                   0,
                   0,
                   0};
    const uint32_t rows = stream.blocks * stream.tile_rows;
    fence_proxy_async_global(); /* rows of peers, seen by the acquiring of their flags, are read by the bulk engine */
    for (uint32_t first = warp * gridDim.x + blockIdx.x; first < rows; first += 32 * warps) {
        const Found mine = look_up(p, stream, table, first + lane * warps);
        if (Scaled && p.dtype == XSTI_MOE_E4M3)
            pull_scales(p, mine.scales, first, warps);
        __syncwarp();
        for (uint32_t i = 0; i < 32; i++) {
            const uint64_t from = __shfl_sync(0xffffffffu, mine.x, i);
            const uint32_t row = first + i * warps;
            if (lane == 0 && from != 0)
                pull.row(from, p.pool_x + static_cast<uint64_t>(row) * p.row_bytes, row / stream.tile_rows);
        }
        if (lane == 0)
            pull.flush();
        __syncwarp();
    }
}

} // namespace xst

#endif
