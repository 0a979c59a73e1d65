/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_list.h - Linear-1 and Linear-2 tiles as a list that CTAs work off in order, run exactly and without allocation.
 *
 * A free CTA takes the next entry. A block's Linear-2 tiles wait until act_us after all its Linear-1 tiles. Tiles of
 * one kind take equally long and start in list order, so they end in list order: two queues hold the busy CTAs, and a
 * tile costs O(1).
 */
#ifndef XSTI_PLANNER_MOE_LIST_H
#define XSTI_PLANNER_MOE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct xsti_moe_list {
    int64_t blocks;
    int64_t l1_per_block;
    int64_t l2_per_block;
    int64_t producers;
    double l1_us;
    double l2_us;
    double act_us;
    /* wave: blocks before the end of each wave, rising, the last one = blocks; else NULL */
    const int64_t *wave_ends;
    int64_t wave_count;
    /* interleaved */
    int64_t lead_tiles;
    int64_t group_tiles;
};

struct xsti_moe_run {
    double makespan_us;
    double wait_us; /* all CTAs */
    /* Interleaved: waits from the third round of Linear-2 tiles to the last Linear-1 tile, and the tiles they fell
     * on. */
    double steady_wait_us;
    int64_t steady_tiles;
};

/* The smallest lead that never waits for itself: (q0 + group - 1) / n2 blocks must be under way when a turn begins. */
int64_t xsti_plan_least_lead(int64_t l1_per_block, int64_t l2_per_block, int64_t group_tiles);

/* Bytes for a list of so many blocks and producers. */
size_t xsti_moe_list_bytes(int64_t blocks, int64_t producers);

/* A lead below the least is raised to it. */
struct xsti_moe_run xsti_moe_list_run(const struct xsti_moe_list *list, void *workspace);

/* Blocks after which a long interleaved call repeats: at least `enough` and as many tiles over a full round as
 * `blocks` has. */
int64_t xsti_moe_list_shorten(const struct xsti_moe_list *list, int64_t enough);

#endif
