/* SPDX-License-Identifier: Apache-2.0
 *
 * role_store.cuh - a finished tile on its way: sums to bf16 in staging, staging to rows of memory.
 *
 * Everything happens inside one warp: its 16 rows of sums, its staging, and lane l (l < 16) knows where row l goes; 0: nowhere.
 */
#ifndef XST_MOE_ROLE_STORE_CUH
#define XST_MOE_ROLE_STORE_CUH

#include "device/mma.cuh"
#include "moe/activation.cuh"
#include "moe/smem.cuh"

namespace xst {

/* Eight rows of 8 * Chunks columns in staging, 16-byte chunk c of row r at c xor r: both ways without bank conflicts. */
template <int Chunks> __device__ __forceinline__ void stage_four(uint32_t staging, int chunk, uint32_t lane, uint4 w)
{
    const uint32_t row = lane % 8;
    matrix_store_4(staging + row * (Chunks * 16) + ((chunk + lane / 8) ^ row) * 16, w.x, w.y, w.z, w.w);
}

/* 16-byte stores of what was staged: rows first .. first + 7, their chunks below `valid`, from column byte `at` on. */
template <int Chunks>
__device__ __forceinline__ void send_eight(uint32_t staging, uint64_t address, uint32_t first, uint32_t at,
                                           uint32_t valid, uint32_t lane)
{
#pragma unroll
    for (int i = 0; i < Chunks / 4; i++) {
        const uint32_t row = (i * 32 + lane) / Chunks, chunk = lane % Chunks;
        const uint32_t skew = Chunks >= 8 ? row : row / 2; /* four chunks: two rows share the banks' full width */
        const uint4 value = shared_load_16(staging + row * (Chunks * 16) + (chunk ^ skew) * 16);
        const uint64_t to = __shfl_sync(0xffffffffu, address, first + row);
        if (to != 0 && chunk < valid)
            store_16(to + at + chunk * 16, value);
    }
}

/* A Linear-2 tile, or a Linear-1 tile without activation. valid: columns that exist, a multiple of 8. */
template <int N>
__device__ __forceinline__ void send_plain(uint32_t staging, const float (&sum)[N], uint64_t address, uint32_t valid,
                                           uint32_t lane)
{
    constexpr int PARTS = N / 64; /* of 128 columns */
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
#pragma unroll
            for (int chunk = 0; chunk < 16; chunk += 4) {
                const float *const s = &sum[(part * 16 + chunk) * 4 + 2 * half];
                stage_four<16>(staging, chunk, lane,
                               {pack_bf16(s[0], s[1]), pack_bf16(s[4], s[5]), pack_bf16(s[8], s[9]),
                                pack_bf16(s[12], s[13])});
            }
            __syncwarp();
            send_eight<16>(staging, address, 8 * half, part * 256, valid > part * 128u ? (valid - part * 128u) / 8 : 0,
                           lane);
            __syncwarp();
        }
    }
}

/* A Linear-1 tile through the activation: half as many columns, gate and up of a column in the same thread. */
template <bool Clamped, int N>
__device__ __forceinline__ void send_gated(uint32_t staging, const float (&sum)[N], const float (&weight)[2],
                                           float clamp, uint64_t address, uint32_t valid, uint32_t lane)
{
    constexpr int CHUNKS = N / 8;
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk += 4) {
            uint32_t w[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float *const s = &sum[(chunk + i) * 8 + 2 * half];
                w[i] = gated_pair<Clamped>(pack_bf16(s[0], s[1]), pack_bf16(s[4], s[5]), weight[half], clamp);
            }
            stage_four<CHUNKS>(staging, chunk, lane, {w[0], w[1], w[2], w[3]});
        }
        __syncwarp();
        send_eight<CHUNKS>(staging, address, 8 * half, 0, valid / 8, lane);
        __syncwarp();
    }
}

/* Gates one of the thread's two rows, in place: of each eight sums the first, second and, for the other row, third and fourth.
 * The largest of the warp's columns of that row. */
template <bool Clamped, int N>
__device__ __forceinline__ float gate_half(float (&sum)[N], float weight, float clamp, int half)
{
    float most = 0;
#pragma unroll
    for (int i = 2 * half; i < N; i += 8) {
        const float2 two =
            gated_floats<Clamped>(pack_bf16(sum[i], sum[i + 1]), pack_bf16(sum[i + 4], sum[i + 5]), weight, clamp);
        sum[i] = two.x;
        sum[i + 1] = two.y;
        most = fmaxf(most, fmaxf(fabsf(two.x), fabsf(two.y)));
    }
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
    return fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
}

/* e4m3: the gated rows 8 * half .. + 7, quantised. `scales`: where the scale of the thread's first row goes; from there on `rows`
 * rows exist. */
template <int N>
__device__ __forceinline__ void send_half(uint32_t staging, const float (&sum)[N], Scale scale, int half,
                                          uint64_t address, uint64_t scales, uint32_t rows, uint32_t lane)
{
    constexpr int CHUNKS = N / 16; /* of 16 columns */
    const uint32_t row = lane / 4,
                   skew = CHUNKS >= 8 ? row : row / 2; /* against bank conflicts, as send_eight has it */
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        const float *const s = &sum[i * 8 + 2 * half];
        shared_store_2(staging + row * (CHUNKS * 16) + ((i / 2) ^ skew) * 16 + i % 2 * 8 + lane % 4 * 2,
                       pack_e4m3(s[0] * scale.inverse, s[1] * scale.inverse));
    }
    if (lane % 4 == 0 && rows > 8u * half)
        store_4(scales + 32 * half, __float_as_uint(scale.value));
    __syncwarp();
    send_eight<CHUNKS>(staging, address, 8 * half, 0, CHUNKS, lane);
    __syncwarp();
}

/* Paced: all 16 rows in staging, a row contiguous. */
template <class C, int N>
__device__ __forceinline__ void stage_paced(uint32_t staging, const float (&sum)[N], uint32_t lane)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const uint32_t at = staging + (8 * half + lane % 8) * C::PACED_ROW_BYTES + lane / 8 * 16;
#pragma unroll
        for (int chunk = 0; chunk < N / 4; chunk += 4) {
            const float *const s = &sum[chunk * 4 + 2 * half];
            matrix_store_4(at + chunk * 16, pack_bf16(s[0], s[1]), pack_bf16(s[4], s[5]), pack_bf16(s[8], s[9]),
                           pack_bf16(s[12], s[13]));
        }
    }
}

} // namespace xst

#endif
