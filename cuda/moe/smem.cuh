/* SPDX-License-Identifier: Apache-2.0
 *
 * smem.cuh - the kernels' shared memory, one struct each; launch.c has the sizes, checked where the kernels are instantiated.
 */
#ifndef XST_MOE_SMEM_CUH
#define XST_MOE_SMEM_CUH

#include "moe/config.cuh"

namespace xst {

/* Chunks of rows on their way from their rank to the pool: two a warp. */
template <int Warps, int Bytes> struct PullStorage {
    alignas(128) unsigned char chunk[Warps][2][Bytes];
    uint64_t landed[Warps][2];
};

/* Numbers of the tiles that were claimed, on their way to the roles. */
enum { TASK_SLOTS = 4 };
struct TaskRing {
    uint64_t full[TASK_SLOTS];
    uint64_t empty[TASK_SLOTS];
    uint32_t index[TASK_SLOTS];
};

/* Scales of a stage's rows. */
template <class C, bool E4m3> struct RowScales {
    alignas(1024) float rows[C::STAGES][C::CTA_ROWS];
};
template <class C> struct RowScales<C, false> {
};

/* Largest activations of a tile's rows by warpgroup, of this tile and the one before, and who has said them. */
template <bool Split> struct Largest {
    float most[2][2][64];
    uint64_t said[4]; /* to each other, by the lanes of two warps that share rows */
};
template <> struct Largest<false> {
};

/* Of a traced kernel's warps: marks they have left on each track; of the computing ones the tile they are at, cycles its operands
 * were late, and, paced, the tile that is being sent and its bytes that leave the device. */
template <bool On> struct MarkWords {
};
template <> struct MarkWords<true> {
    uint32_t written[XSTI_MOE_TRACKS];
    uint32_t tile[8], late[8], sent_tile[8], sent_bytes[8];
};

/* The head uses `a` as scratch (one word an expert of the model) before any tile is loaded. */
template <class C> struct SharedStorage : RowScales<C, C::E4M3> {
    alignas(1024) unsigned char a[C::STAGES][C::A_BYTES]; /* one panel of the CTA's rows */
    alignas(1024) unsigned char b[C::STAGES][C::B_BYTES]; /* one panel of 256 rows */
    alignas(128) unsigned char staging[C::MATH_WARPS][C::STAGE_WARP_BYTES];
    PullStorage<C::PULL_WARPS, C::PULL_BYTES> pull;
    uint64_t full[C::STAGES];
    uint64_t empty[C::STAGES];
    TaskRing tasks;
    uint32_t table[XSTI_MOE_MOST_LOCAL_EXPERTS + 1];
    /* of some kernels */
    Largest<C::SPLIT_SCALE> largest;
    MarkWords<C::TRACE> marks;
};

enum { MOST_EXPERTS = XSTI_MOE_MOST_RANKS * XSTI_MOE_MOST_LOCAL_EXPERTS };

/* The kernels around the two layers of the unfused call, and the absent rank's. */
enum { PART_PULL_WARPS = ALL_THREADS / 32, PART_PULL_BYTES = 4096 };
struct PartStorage {
    PullStorage<PART_PULL_WARPS, PART_PULL_BYTES> pull;
    uint32_t scratch[MOST_EXPERTS];
    uint32_t table[XSTI_MOE_MOST_LOCAL_EXPERTS + 1];
};

} // namespace xst

#endif
