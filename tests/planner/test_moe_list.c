/* SPDX-License-Identifier: Apache-2.0
 *
 * The list in two queues against the audit's heap, and waves against a list run the slow way.
 */
#include "planner/moe_list.h"

#include <xstage/audit.h>

#include "planner/fixture.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static int64_t between(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(next_random(seed) % (uint64_t)(high - low + 1));
}

static struct xsti_moe_list random_list(uint64_t *seed)
{
    return (struct xsti_moe_list){.blocks = between(seed, 1, 60),
                                  .l1_per_block = between(seed, 1, 40),
                                  .l2_per_block = between(seed, 1, 40),
                                  .producers = between(seed, 1, 140),
                                  .l1_us = 0.5 * (double)between(seed, 1, 40),
                                  .l2_us = 0.5 * (double)between(seed, 1, 40),
                                  .act_us = 0.25 * (double)between(seed, 0, 20),
                                  .group_tiles = 1};
}

static struct xsti_moe_run run_of(const struct xsti_moe_list *list)
{
    void *const workspace = malloc(xsti_moe_list_bytes(list->blocks, list->producers));
    assert_non_null(workspace);
    const struct xsti_moe_run run = xsti_moe_list_run(list, workspace);
    free(workspace);
    return run;
}

static void equals_the_exact_list(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 400; i++) {
        struct xsti_moe_list list = random_list(&seed);
        list.lead_tiles = between(&seed, 0, list.blocks * list.l1_per_block + 5);
        const struct xst_lead_problem problem = {list.blocks, list.l1_per_block, list.l2_per_block, list.producers,
                                                 list.l1_us,  list.l2_us,        list.act_us};
        struct xst_lead_waits waits;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_lead_run(&problem, list.lead_tiles, &waits, &diag), &diag);
        const struct xsti_moe_run run = run_of(&list);
        xt_near(run.makespan_us, waits.makespan_us, 1e-9);
        xt_near(run.wait_us, waits.wait_us, 1e-6);
    }
}

/* Earliest free CTA by looking at all of them. */
static double slow_take(double *free_us, int64_t count, double ready_us, double tile_us)
{
    int64_t first = 0;
    for (int64_t i = 1; i < count; i++)
        first = free_us[i] < free_us[first] ? i : first;
    free_us[first] = fmax(free_us[first], ready_us) + tile_us;
    return free_us[first];
}

static double slow_waves(const struct xsti_moe_list *list)
{
    double free_us[256] = {0}, ready_us[64] = {0}, makespan_us = 0;
    int64_t block = 0;
    for (int64_t w = 0; w < list->wave_count; w++) {
        for (int64_t b = block; b < list->wave_ends[w]; b++) {
            for (int64_t i = 0; i < list->l1_per_block; i++)
                ready_us[b] = fmax(ready_us[b], slow_take(free_us, list->producers, 0, list->l1_us) + list->act_us);
        }
        for (; block < list->wave_ends[w]; block++) {
            for (int64_t i = 0; i < list->l2_per_block; i++)
                makespan_us = fmax(makespan_us, slow_take(free_us, list->producers, ready_us[block], list->l2_us));
        }
    }
    return makespan_us;
}

static void waves_in_order(void **state)
{
    (void)state;
    uint64_t seed = 362436069362436069u;
    for (int i = 0; i < 100; i++) {
        int64_t ends[64], blocks = 0;
        struct xsti_moe_list list = random_list(&seed);
        for (list.wave_count = 0; blocks < list.blocks; list.wave_count++) {
            blocks += between(&seed, 1, 20);
            blocks = blocks < list.blocks ? blocks : list.blocks;
            ends[list.wave_count] = blocks;
        }
        list.wave_ends = ends;
        xt_near(run_of(&list).makespan_us, slow_waves(&list), 1e-9);
    }
}

/* At and above the least lead every turn has its Linear-1 tiles in front of it: nobody waits for ever, whatever the
 * turn. */
static void the_least_lead_is_enough(void **state)
{
    (void)state;
    uint64_t seed = 5783321u;
    for (int i = 0; i < 300; i++) {
        struct xsti_moe_list list = random_list(&seed);
        list.group_tiles = between(&seed, 1, 3 * list.l2_per_block);
        list.lead_tiles = 0; /* raised */
        const int64_t least = xsti_plan_least_lead(list.l1_per_block, list.l2_per_block, list.group_tiles);
        for (int64_t tile = 0; tile < list.blocks * list.l2_per_block; tile++) {
            const int64_t turn = tile / list.group_tiles * list.group_tiles;
            const int64_t l1_tiles = list.blocks * list.l1_per_block,
                          issued = least + turn * list.l1_per_block / list.l2_per_block;
            assert_true((tile / list.l2_per_block + 1) * list.l1_per_block <= (issued < l1_tiles ? issued : l1_tiles));
        }
        const double work_us = ((double)(list.blocks * list.l1_per_block) * list.l1_us +
                                (double)(list.blocks * list.l2_per_block) * list.l2_us) /
                               (double)list.producers;
        assert_true(run_of(&list).makespan_us >= work_us - 1e-9);
    }
}

/* A shorter list has the waits of the longer one: start-up, tail, and the same remainder of the last round. */
static void shorter_lists_wait_alike(void **state)
{
    (void)state;
    static const int64_t tiles[][2] = {{6, 8}, {16, 28}, {16, 16}, {24, 28}, {112, 16}, {36, 5}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct xsti_moe_list list = {.blocks = 400,
                                     .l1_per_block = tiles[i][0],
                                     .l2_per_block = tiles[i][1],
                                     .producers = 132,
                                     .l1_us = 17.9,
                                     .l2_us = 6.7,
                                     .act_us = 1.8,
                                     .lead_tiles = 300,
                                     .group_tiles = 1};
        const double per_block_us =
            ((double)list.l1_per_block * list.l1_us + (double)list.l2_per_block * list.l2_us) / 132;
        const double whole_us = run_of(&list).makespan_us - 400 * per_block_us;
        const int64_t enough = 2 * 132 / list.l2_per_block + 1 + list.lead_tiles / list.l1_per_block + 1;
        list.blocks = xsti_moe_list_shorten(&list, enough);
        assert_in_range(list.blocks, enough, enough + 131);
        assert_int_equal((400 - list.blocks) * (list.l1_per_block + list.l2_per_block) % 132, 0);
        xt_near(run_of(&list).makespan_us - (double)list.blocks * per_block_us, whole_us, 17.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_exact_list),
        cmocka_unit_test(waves_in_order),
        cmocka_unit_test(the_least_lead_is_enough),
        cmocka_unit_test(shorter_lists_wait_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
