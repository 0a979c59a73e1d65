/* SPDX-License-Identifier: Apache-2.0
 *
 * role_store.cuh - a finished tile on its way: sums to bf16 in staging, staging to the owners' final layout.
 *
 * Everything happens inside one warp: its 16 rows of sums are its 16 rows of staging, lane l (l < 16) knows where row l goes,
 * and the warp waits for nobody else.
 */
#ifndef XST_FA_A2A_ROLE_STORE_CUH
#define XST_FA_A2A_ROLE_STORE_CUH

#include "device/mma.cuh"
#include "fa_a2a/smem.cuh"
#include "fa_a2a/walk.cuh"

namespace xst {

/* Bytes of a warp's 16 rows, lane l (l < 16) asking for row l, that leave the device. */
template <class C> __device__ __forceinline__ uint32_t remote_bytes(const xsti_fa_params &p, int row, uint32_t lane)
{
    const bool own = row >= p.row_first[p.rank] && row < p.row_first[p.rank + 1];
    return __popc(__ballot_sync(0xffffffffu, lane < 16 && row < p.seq && !own)) * (C::D * 2);
}

/* Address in the owner's output of row `row` of the tile's head; 0 when the sequence has no such row. */
template <class C>
__device__ __forceinline__ uint64_t row_address(const xsti_fa_params &p, const Tile &tile, int row, uint64_t flip)
{
    if (row >= p.seq)
        return 0;
    int owner = 0;
    while (row >= p.row_first[owner + 1])
        owner++;
    const int first = p.row_first[owner];
    const int64_t line = static_cast<int64_t>(tile.batch) * (p.row_first[owner + 1] - first) + (row - first);
    return p.out[owner] + flip + (line * p.heads_total + p.head_first + tile.head) * (C::D * 2);
}

/* The warp's 16 rows of sums, as bf16, into its part of staging. */
template <class C>
__device__ __forceinline__ void stage_tile(uint32_t staging, const float (&o)[C::D / 2], uint32_t lane)
{
    /* lane i addresses row i % 16 of column group i / 16, see matrix_store_4 */
    const uint32_t row = lane % 16;
    const uint32_t at = staging + row / 8 * C::STAGE_8_ROWS_BYTES + row % 8 * C::STAGE_ROW_BYTES + lane / 16 * 16;
#pragma unroll
    for (int i = 0; i < C::D / 2; i += 8)
        matrix_store_4(at + i * 4, pack_bf16(o[i], o[i + 1]), pack_bf16(o[i + 2], o[i + 3]),
                       pack_bf16(o[i + 4], o[i + 5]), pack_bf16(o[i + 6], o[i + 7]));
}

template <class C> __device__ __forceinline__ uint32_t staging_row(uint32_t staging, uint32_t row)
{
    return staging + row / 8 * C::STAGE_8_ROWS_BYTES + row % 8 * C::STAGE_ROW_BYTES;
}

/* Rows that one instruction of a warp writes whole, 16 bytes a lane. */
template <class C> constexpr uint32_t ROWS_AT_ONCE = 32 * 16 / (C::D * 2);

/* Rows first .. first + ROWS_AT_ONCE - 1 of the warp's 16, but none from `last` on. */
template <class C>
__device__ __forceinline__ void store_some_rows(uint32_t staging, uint64_t address, uint32_t lane, uint32_t first,
                                                uint32_t last)
{
    constexpr uint32_t LANES = C::D * 2 / 16;
    const uint32_t row = first + lane / LANES;
    const uint32_t chunk = lane % LANES * 16;
    const uint4 value = shared_load_16(staging_row<C>(staging, row) + chunk);
    const uint64_t to = __shfl_sync(0xffffffffu, address, row);
    if (to != 0 && row < last)
        store_16(to + chunk, value);
}

/* 16-byte stores of all 16 rows. */
template <class C> __device__ __forceinline__ void store_rows_16(uint32_t staging, uint64_t address, uint32_t lane)
{
#pragma unroll
    for (uint32_t i = 0; i < 16; i += ROWS_AT_ONCE<C>)
        store_some_rows<C>(staging, address, lane, i, 16);
}

/* One bulk store a row. bulk_commit closes the group. */
template <class C> __device__ __forceinline__ void store_rows_bulk(uint32_t staging, uint64_t address, uint32_t lane)
{
    if (lane < 16 && address != 0)
        bulk_store(address, staging_row<C>(staging, lane), C::D * 2);
}

} // namespace xst

#endif
