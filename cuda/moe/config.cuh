/* SPDX-License-Identifier: Apache-2.0
 *
 * config.cuh - the compile-time shape of one kernel: type of the operands, rows of a tile, how Linear-2 tiles leave, fused or one
 * layer alone.
 */
#ifndef XST_MOE_CONFIG_CUH
#define XST_MOE_CONFIG_CUH

#include "moe/params.h"

namespace xst {

/* FUSED: everything. ONE: the tiles of one linear layer (the stream's n1 or n2 is 0), results to pool rows on this device. */
enum { MODE_FUSED = 0, MODE_ONE = 1 };

/* Threads of a CTA, in every kernel. */
enum { ALL_THREADS = 384 };

/* Trace: the warps leave marks of what they did. */
template <int TileRows_, int Method_, int Mode_, int Type_ = XSTI_MOE_BF16, bool Trace_ = false> struct Config {
    static constexpr int TILE_ROWS = TileRows_;
    static constexpr int METHOD = Method_;
    static constexpr int MODE = Mode_;
    static constexpr bool E4M3 = Type_ == XSTI_MOE_E4M3;
    static constexpr bool TRACE = Trace_;

    static constexpr int GROUPS = 2; /* warpgroups that compute */
    static constexpr int THREADS = 128 + 128 * GROUPS;
    static_assert(THREADS == ALL_THREADS, "the tail counts on it");
    static constexpr int MATH_WARPS = 4 * GROUPS;

    /* 256 rows are split over two CTAs, which share the weights they load. */
    static constexpr int CLUSTER = TILE_ROWS == 256 ? 2 : 1;
    static constexpr int CTA_ROWS = TILE_ROWS / CLUSTER;

    /* 128 rows are split over the warpgroups by rows, 64 by columns. */
    static constexpr bool SPLIT_ROWS = CTA_ROWS == 128;
    static constexpr int GROUP_COLS = SPLIT_ROWS ? XSTI_MOE_TILE_COLS : XSTI_MOE_TILE_COLS / 2;

    /* e4m3: 128 activations of a row share a scale, and are halves of two warpgroups where these split the columns. */
    static constexpr bool SPLIT_SCALE = E4M3 && !SPLIT_ROWS;

    /* An inner step is one panel deep: 128 bytes of a row. */
    static constexpr int DEPTH = E4M3 ? XSTI_MOE_DEPTH_E4M3 : XSTI_MOE_DEPTH_BF16;
    static constexpr int A_BYTES = CTA_ROWS * XSTI_MOE_STEP_BYTES;
    static constexpr int B_BYTES = XSTI_MOE_TILE_COLS * XSTI_MOE_STEP_BYTES;
    static constexpr int SCALE_BYTES = E4M3 ? CTA_ROWS * 4 : 0; /* of the rows, a step */
    static constexpr int STAGES = METHOD == XSTI_MOE_PACED && SPLIT_ROWS ? 3 : 4;

    /* Staging belongs to a warp: 8 rows of 128 columns at a time, or, paced, its 16 rows of a Linear-2 tile, skewed by 16
     * bytes a row against bank conflicts. */
    static constexpr int PASS_BYTES = 8 * 128 * 2;
    static constexpr int PACED_ROW_BYTES = GROUP_COLS * 2 + 16;
    static constexpr int STAGE_WARP_BYTES = METHOD == XSTI_MOE_PACED ? 16 * PACED_ROW_BYTES : PASS_BYTES;

    static constexpr int PULL_WARPS = 2;
    static constexpr int PULL_BYTES = METHOD == XSTI_MOE_PACED ? 2048 : E4M3 ? 3584 : 4096;

    /* 64,512 registers in all (168 a thread at launch), in steps of 8 a thread. Which split spills nothing was found by trying. */
    static constexpr bool MATH_HEAVY =
        E4M3 ? SPLIT_ROWS : TILE_ROWS == 64 || (TILE_ROWS == 128 && METHOD == XSTI_MOE_PACED);
    static constexpr int SERVE_REGISTERS = MATH_HEAVY ? 72 : 88;
    static constexpr int MATH_REGISTERS = MATH_HEAVY ? 216 : 208;
    static_assert(SERVE_REGISTERS + GROUPS * MATH_REGISTERS == 504, "168 registers for each of three warpgroups");

    static_assert(TILE_ROWS == 64 || TILE_ROWS == 128 || TILE_ROWS == 256, "a tile has 64, 128 or 256 rows");
};

/* Hardware barriers; 0 is __syncthreads. */
enum { NAMED_TAIL = 1, NAMED_TILE = 2 }; /* NAMED_TILE + g: warpgroup g between two tiles */

} // namespace xst

#endif
