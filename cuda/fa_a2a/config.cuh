/* SPDX-License-Identifier: Apache-2.0
 *
 * config.cuh - the compile-time shape of one kernel: head dimension, warpgroups, key block, schedule, store method.
 */
#ifndef XST_FA_A2A_CONFIG_CUH
#define XST_FA_A2A_CONFIG_CUH

#include "fa_a2a/params.h"

namespace xst {

/* D: head dimension. Groups: warpgroups that compute, 64 rows each. BlockN: keys of one inner step.
 * Overlap: the scores of a block are computed while the previous block's output product runs.
 * PingPong: warpgroups take turns at the tensor cores, so that one's softmax runs beside the other's products.
 * Settle: all exponentials of a block end before the wait for the product that runs beside them.
 * Cluster: CTAs that take neighbouring tiles and load keys and values for each other, 1 or 2.
 * Trace: the roles leave marks of what they did. */
template <int D_, int Groups_, int BlockN_, bool Overlap_, bool PingPong_, bool Settle_, int Cluster_, int Method_,
          bool Trace_>
struct Config {
    static constexpr int D = D_;
    static constexpr int GROUPS = Groups_;
    static constexpr int BLOCK_N = BlockN_;
    static constexpr bool OVERLAP = Overlap_;
    static constexpr bool PING_PONG = PingPong_;
    static constexpr bool SETTLE = Settle_;
    static constexpr int CLUSTER = Cluster_;
    static constexpr int METHOD = Method_;
    static constexpr bool TRACE = Trace_;

    static constexpr int GROUP_ROWS = 64;
    static constexpr int BLOCK_M = GROUP_ROWS * GROUPS;
    static constexpr int STAGES = 2;
    static constexpr int MATH_THREADS = 128 * GROUPS;
    static constexpr int THREADS = 128 + MATH_THREADS;
    static constexpr int WARPS = 4 * GROUPS; /* that compute */
    static constexpr int END_THREADS = MATH_THREADS + (METHOD == XSTI_FA_PACED ? 32 : 0);

    /* In steps of 8 a thread, out of what the launch gave: a budget that does not fit waits for registers for good. */
    static constexpr bool MARKS_SEND = TRACE && METHOD == XSTI_FA_PACED; /* its marks need registers */
    static constexpr int LOAD_REGISTERS = GROUPS == 2 ? (MARKS_SEND ? 40 : 24) : 32;
    static constexpr int MATH_REGISTERS = GROUPS == 2 ? (MARKS_SEND ? 232 : 240) : 160;
    static_assert(LOAD_REGISTERS + GROUPS * MATH_REGISTERS <= 65536 / THREADS / 8 * 8 * (1 + GROUPS),
                  "registers of the roles are more than the block has");

    static constexpr int Q_GROUP_BYTES = GROUP_ROWS * D * 2;
    static constexpr int KV_BYTES = BLOCK_N * D * 2;

    /* Staging rows are contiguous for the bulk engine and skewed by 16 bytes within 8 rows against bank conflicts. */
    static constexpr int STAGE_ROW_BYTES = D * 2 + 16;
    static constexpr int STAGE_8_ROWS_BYTES = 8 * STAGE_ROW_BYTES - 16;
    static constexpr int STAGE_GROUP_BYTES = GROUP_ROWS / 8 * STAGE_8_ROWS_BYTES;

    static_assert(CLUSTER == 1 || (CLUSTER == 2 && D == 128), "a pair shares keys and values panel by panel");
    static_assert(D == 64 || D == 128, "head dimensions of this kernel are 64 and 128");
    static_assert(GROUPS == 2 || GROUPS == 3, "two or three warpgroups compute");
    static_assert(BLOCK_N % 16 == 0 && BLOCK_N <= 256, "a key block is a multiple of 16 and one tensor load");
};

/* Hardware barriers; 0 is __syncthreads. TURN + g: warpgroup g's turn at the tensor cores. */
enum { NAMED_TURN = 1, NAMED_END = 4 };

} // namespace xst

#endif
