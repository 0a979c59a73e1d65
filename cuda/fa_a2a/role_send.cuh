/* SPDX-License-Identifier: Apache-2.0
 *
 * role_send.cuh - paced stores: one warp that computes nothing sends a finished tile's rows while the next tile is computed.
 *
 * What an SM has stored and the link has not drained yet stands in front of the SM's own loads (docs/notes/0006), so a tile that
 * leaves at once makes the next tile's keys late, and the warps that computed it wait for their stores besides. Here a few rows
 * leave at a time. How far apart is nobody's guess: the warp takes the time from one staged tile to the next as the time a tile has,
 * and where the plan knows what the path drains, slices do not leave faster than that: what is sent too early stands in front of
 * everybody's loads, what is sent late only keeps the next tile from its staging.
 *
 * The computing warps leave each row's destination beside the staged rows: the registers of a warp that computes nothing are few.
 * Tiles whose rows all stay on the device, and each CTA's last one, are not handed over: role_math stores them itself.
 */
#ifndef XST_FA_A2A_ROLE_SEND_CUH
#define XST_FA_A2A_ROLE_SEND_CUH

#include "device/pipe.cuh"
#include "device/trace.cuh"
#include "fa_a2a/role_store.cuh"

namespace xst {

/* The low half of the clock wraps after two seconds, longer than any tile takes. */
__device__ __forceinline__ uint32_t short_clock()
{
    return static_cast<uint32_t>(clock_cycles());
}

/* Until `due` cycles after `begin`. A sleep of n ns takes up to twice as long, and a cycle is half a nanosecond. */
__device__ __forceinline__ void sleep_until(uint32_t begin, uint32_t due)
{
    int32_t left;
    while ((left = static_cast<int32_t>(due - (short_clock() - begin))) > 0)
        __nanosleep(left / 2);
}

/* Rows first .. last - 1 of the staged tile. */
template <class C>
__device__ __forceinline__ void send_rows(uint32_t staging, uint32_t destinations, uint32_t first, uint32_t last)
{
    constexpr uint32_t LANES = C::D * 2 / 16;
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t chunk = lane % LANES * 16;
    for (uint32_t row = first + lane / LANES; row < last; row += ROWS_AT_ONCE<C>) {
        const uint64_t to = shared_load_8(destinations + row * 8);
        const uint4 value = shared_load_16(staging_row<C>(staging, row) + chunk);
        if (to != 0)
            store_16(to + chunk, value);
    }
}

/* Bytes of a whole tile that leave the device. */
template <class C> __device__ __forceinline__ uint32_t remote_tile_bytes(const xsti_fa_params &p, int index)
{
    uint32_t bytes = 0;
    const int row = tile_at(p, index, C::BLOCK_M).row + static_cast<int>(threadIdx.x % 32);
    for (int unit = 0; unit < C::WARPS; unit++)
        bytes += remote_bytes<C>(p, row + unit * 16, threadIdx.x % 32);
    return bytes;
}

template <class C> __device__ __forceinline__ void role_send(SharedStorage<C> &smem, const xsti_fa_params &p)
{
    uint32_t parity = 0;
    uint32_t begin = short_clock();
    Trace<C::TRACE> trace;
    trace.open(p.trace, C::WARPS, XST_TRACE_ROLE_STORE, 0);
#pragma unroll 1
    for (int index = blockIdx.x; index < p.handed_tiles; index += grid_ctas()) {
        barrier_wait(shared_address(&smem.staged), parity, &reinterpret_cast<xsti_fa_control *>(p.control)->fault,
                     XSTI_FA_ROLE_SEND, XSTI_FA_PHASE_STAGED);
        parity ^= 1u;
        trace.mark(p.trace, XST_TRACE_IDLE, index);
        const uint32_t now = short_clock();
        const uint32_t interval =
            max(__umulhi(now - begin, p.slice_share), index < p.full_wave_tiles ? p.slice_least : p.slice_least_last);
        uint32_t due = 0;
        begin = now;
#pragma unroll 1
        for (uint32_t row = 0; row < C::BLOCK_M; row += p.slice_rows) {
            sleep_until(begin, due);
            send_rows<C>(shared_address(smem.staging), shared_address(smem.destinations), row, row + p.slice_rows);
            due += interval;
        }
        if constexpr (C::TRACE)
            trace.mark(p.trace, XST_TRACE_ISSUE, index, remote_tile_bytes<C>(p, index));
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            barrier_arrive(shared_address(&smem.sent));
    }
    trace.close(p.trace);
}

} // namespace xst

#endif
