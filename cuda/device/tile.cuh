/* SPDX-License-Identifier: Apache-2.0
 *
 * tile.cuh - operand tiles in shared memory: panels of 64 bf16 columns, 128-byte swizzle, and the descriptors wgmma reads them by.
 *
 * A tile of R rows and D columns is D / 64 panels of R rows x 128 bytes, each at a multiple of 1024 bytes; 16-byte chunk c of row
 * r in a panel lies at r * 128 + ((c xor (r mod 8)) * 16). One 5-D tensor load (64, R, D / 64, 1, 1) writes exactly this.
 */
#ifndef XST_DEVICE_TILE_CUH
#define XST_DEVICE_TILE_CUH

#include <stdint.h>

namespace xst {

constexpr int PANEL_COLS = 64;
constexpr int PANEL_ROW_BYTES = 128;

/* Bits 62-63: 128-byte swizzle; 32-45: distance of 8-row groups (1024 bytes); 16-29: distance of panels; all in 16-byte units. */
__device__ __forceinline__ constexpr uint64_t descriptor_bits(int panel_bytes)
{
    return (1ull << 62) | (static_cast<uint64_t>(1024 >> 4) << 32) | (static_cast<uint64_t>(panel_bytes >> 4) << 16);
}

/* K-major operand (Q as A, K as B): rows are M or N, the 64 columns of a panel are the depth. `row_count`: rows of a panel. */
__device__ __forceinline__ uint64_t descriptor_k_major(uint32_t address)
{
    return descriptor_bits(16) | (address >> 4);
}

/* Step `k` (16 columns) of a K-major tile, to be added to its descriptor. */
template <int Rows> __device__ __forceinline__ constexpr uint64_t step_k_major(int k)
{
    return static_cast<uint64_t>((k / 4) * (Rows * PANEL_ROW_BYTES >> 4) + (k % 4) * (32 >> 4));
}

/* MN-major operand (V as B): rows are the depth, columns are N; the next 64 columns are in the next panel. */
template <int Rows> __device__ __forceinline__ uint64_t descriptor_mn_major(uint32_t address)
{
    return descriptor_bits(Rows * PANEL_ROW_BYTES) | (address >> 4);
}

/* Step `k` (16 rows) of an MN-major tile. */
__device__ __forceinline__ constexpr uint64_t step_mn_major(int k)
{
    return static_cast<uint64_t>(k * (16 * PANEL_ROW_BYTES >> 4));
}

} // namespace xst

#endif
