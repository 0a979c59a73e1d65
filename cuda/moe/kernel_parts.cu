/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_parts.cu - what surrounds the two layers of the unfused call, and the absent rank.
 *
 *   dispatch     the fused kernel's head and its pulling warps, twelve a CTA
 *   activate     gate and up of Linear 1 to the input of Linear 2
 *   combine      result rows to the slots of their owners, then the fused kernel's tail
 *   absent       head and tail alone
 */
#include "moe/activation.cuh"
#include "moe/role_head.cuh"
#include "moe/role_pull.cuh"
#include "moe/role_tail.cuh"

namespace xst {

/* Whether pool row `row` holds a row. */
__device__ __forceinline__ bool row_exists(const xsti_moe_stream &stream, const uint32_t *table, uint32_t row)
{
    const uint32_t block = row / stream.tile_rows;
    const uint32_t expert = xsti_moe_expert_of(&stream, table, block);
    return row % stream.tile_rows < xsti_moe_rows_of(&stream, table, expert, block);
}

__device__ __forceinline__ const xsti_moe_meta &meta_of(const xsti_moe_params &p, uint32_t row)
{
    return reinterpret_cast<const xsti_moe_meta *>(p.meta)[row];
}

/* Gate and up of the 8 columns from `column` on of a row. */
struct GateUp {
    uint4 gate, up;
};
__device__ __forceinline__ GateUp load_eight(const xsti_moe_params &p, uint32_t row, uint32_t column)
{
    const uint64_t from = p.mid + (static_cast<uint64_t>(row) * p.inter + column) * 4;
    return {load_16(from), load_16(from + 16)};
}

/* Eight columns of an activated row. */
__device__ __forceinline__ void activate_eight(const xsti_moe_params &p, uint32_t row, uint32_t column, float weight)
{
    const auto [gate, up] = load_eight(p, row, column);
    store_16(p.pool_act + (static_cast<uint64_t>(row) * p.inter + column) * 2,
             {gated_pair<true>(gate.x, up.x, weight, p.clamp), gated_pair<true>(gate.y, up.y, weight, p.clamp),
              gated_pair<true>(gate.z, up.z, weight, p.clamp), gated_pair<true>(gate.w, up.w, weight, p.clamp)});
}

/* The same to e4m3: 16 lanes do 128 columns, which share a scale. */
__device__ __forceinline__ void quantise_eight(const xsti_moe_params &p, uint32_t row, uint32_t column, float weight)
{
    const uint32_t inter = p.inter;
    const auto [gate, up] =
        load_eight(p, row, min(column, inter - 8)); /* lanes without columns are no others' neighbours */
    const float2 two[4] = {gated_floats<true>(gate.x, up.x, weight, p.clamp),
                           gated_floats<true>(gate.y, up.y, weight, p.clamp),
                           gated_floats<true>(gate.z, up.z, weight, p.clamp),
                           gated_floats<true>(gate.w, up.w, weight, p.clamp)};
    float most = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        most = fmaxf(most, fmaxf(fabsf(two[i].x), fabsf(two[i].y)));
#pragma unroll
    for (int step = 1; step < 16; step *= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step, 16));
    const Scale scale = scale_for(most);
    uint32_t pair[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        pair[i] = pack_e4m3(two[i].x * scale.inverse, two[i].y * scale.inverse);
    if (column >= inter)
        return;
    *reinterpret_cast<uint2 *>(p.pool_act + static_cast<uint64_t>(row) * inter + column) = {pair[0] | pair[1] << 16,
                                                                                            pair[2] | pair[3] << 16};
    if (column % XSTI_MOE_SCALED == 0)
        store_4(p.act_scales + (static_cast<uint64_t>(column / XSTI_MOE_SCALED) * p.pool_rows + row) * 4,
                __float_as_uint(scale.value));
}

__device__ __forceinline__ void send_row(const xsti_moe_params &p, uint32_t row, uint32_t lane)
{
    constexpr uint32_t AHEAD = 4;
    const uint32_t origin = meta_of(p, row).origin, row_bytes = p.hidden * 2;
    const uint64_t from = p.pool_x + static_cast<uint64_t>(row) * row_bytes;
    const uint64_t to = p.combine[origin >> XSTI_MOE_ORIGIN_BITS] +
                        static_cast<uint64_t>(origin & ((1u << XSTI_MOE_ORIGIN_BITS) - 1)) * row_bytes;
    for (uint32_t at = lane * 16; at < row_bytes; at += 512 * AHEAD) {
        uint4 value[AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < AHEAD; i++)
            if (at + 512 * i < row_bytes)
                value[i] = load_16(from + at + 512 * i);
#pragma unroll
        for (uint32_t i = 0; i < AHEAD; i++)
            if (at + 512 * i < row_bytes)
                store_16(to + at + 512 * i, value[i]);
    }
}

/* The table, in a kernel behind the one that waited for the counts. */
__device__ __forceinline__ xsti_moe_stream known_stream(const xsti_moe_params &p, PartStorage &smem)
{
    head_receive(p, smem.scratch, smem.table, 0, false);
    xsti_moe_stream stream = p.stream;
    stream.blocks = xsti_moe_first_block(smem.table, p.experts_here);
    return stream;
}

static_assert(sizeof(PartStorage) == 117120, "launch.c has another size");

} // namespace xst

extern "C" __global__ void __launch_bounds__(384, 1) xst_moe_dispatch(const __grid_constant__ xsti_moe_params p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    xst::PartStorage &smem = *reinterpret_cast<xst::PartStorage *>(raw);
    const uint64_t epoch = xst::call_epoch(p);
    if (threadIdx.x < xst::PART_PULL_WARPS * 2)
        xst::barrier_init(xst::shared_address(&smem.pull.landed[0][0] + threadIdx.x), 1);
    xst::head_send(p, smem.scratch, &smem.table[0], epoch);
    xst::head_receive(p, smem.scratch, smem.table, epoch, true);
    xsti_moe_stream stream = p.stream;
    stream.blocks = xsti_moe_first_block(smem.table, p.experts_here);
    xst::role_pull<true, xst::PART_PULL_WARPS, xst::PART_PULL_BYTES>(p, stream, smem.table, smem.pull, threadIdx.x / 32,
                                                                     &reinterpret_cast<xsti_moe_control *>(p.control)
                                                                          ->fault);
}

extern "C" __global__ void __launch_bounds__(384, 1) xst_moe_activate(const __grid_constant__ xsti_moe_params p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    xst::PartStorage &smem = *reinterpret_cast<xst::PartStorage *>(raw);
    const xsti_moe_stream stream = xst::known_stream(p, smem);
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * xst::PART_PULL_WARPS;
    const uint32_t rows = stream.blocks * stream.tile_rows;
    for (uint32_t at = blockIdx.x * xst::PART_PULL_WARPS + threadIdx.x / 32; at < rows; at += warps) {
        if (!xst::row_exists(stream, smem.table, at))
            continue;
        const float weight = xst::meta_of(p, at).weight;
        for (uint32_t first = 0; first < static_cast<uint32_t>(p.inter); first += 256) {
            const uint32_t column = first + lane * 8;
            if (p.dtype == XSTI_MOE_E4M3)
                xst::quantise_eight(p, at, column, weight);
            else if (column < static_cast<uint32_t>(p.inter))
                xst::activate_eight(p, at, column, weight);
        }
    }
}

extern "C" __global__ void __launch_bounds__(384, 1) xst_moe_combine(const __grid_constant__ xsti_moe_params p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    xst::PartStorage &smem = *reinterpret_cast<xst::PartStorage *>(raw);
    const uint64_t epoch = xst::call_epoch(p);
    const xsti_moe_stream stream = xst::known_stream(p, smem);
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * xst::PART_PULL_WARPS;
    const uint32_t rows = stream.blocks * stream.tile_rows;
    for (uint32_t at = blockIdx.x * xst::PART_PULL_WARPS + threadIdx.x / 32; at < rows; at += warps)
        if (xst::row_exists(stream, smem.table, at))
            xst::send_row(p, at, lane);
    xst::role_tail<xst::NoMarks>(p, epoch, stream.blocks, true);
}

extern "C" __global__ void __launch_bounds__(384, 1) xst_moe_absent(const __grid_constant__ xsti_moe_params p)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    xst::PartStorage &smem = *reinterpret_cast<xst::PartStorage *>(raw);
    const uint64_t epoch = xst::call_epoch(p);
    xst::head_send(p, smem.scratch, &smem.table[0], epoch);
    xst::role_tail<xst::NoMarks>(p, epoch, 0, false);
}
