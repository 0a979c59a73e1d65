/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/moe_list.h"

#include <math.h>

int64_t xsti_plan_least_lead(int64_t l1_per_block, int64_t l2_per_block, int64_t group_tiles)
{
    return l1_per_block + ((group_tiles - 1) * l1_per_block + l2_per_block - 1) / l2_per_block;
}

/* Places of a ring: a power of two that holds every CTA and the mark behind the last one. */
static size_t ring_places(int64_t producers)
{
    size_t places = 4;
    while (places < (size_t)producers + 2)
        places *= 2;
    return places;
}

size_t xsti_moe_list_bytes(int64_t blocks, int64_t producers)
{
    return ((size_t)blocks + 2 * ring_places(producers)) * sizeof(double);
}

/* End times in rising order, INFINITY behind the last one. */
struct queue {
    double *ends;
    size_t mask;
    size_t first;
    size_t end;
};

static inline void push(struct queue *queue, double end_us)
{
    queue->ends[queue->end & queue->mask] = end_us;
    queue->end++;
    queue->ends[queue->end & queue->mask] = INFINITY;
}

/* When the CTA that is free first is free. */
static inline double first_free(struct queue *l1, struct queue *l2)
{
    const double l1_us = l1->ends[l1->first & l1->mask], l2_us = l2->ends[l2->first & l2->mask];
    if (l1_us <= l2_us) {
        l1->first++;
        return l1_us;
    }
    l2->first++;
    return l2_us;
}

/* Where the list stands. */
struct position {
    int64_t l1, l1_block, l1_in_block; /* tiles taken; block and place in it of the next one */
    int64_t l2, l2_block, l2_in_block;
    int64_t wave;
};

/* The next turn: Linear-1 tiles up to *l1_until, then Linear-2 tiles up to *l2_until. */
static void next_turn(const struct xsti_moe_list *list, int64_t lead, struct position *at, int64_t *l1_until,
                      int64_t *l2_until)
{
    const int64_t l1_tiles = list->blocks * list->l1_per_block, l2_tiles = list->blocks * list->l2_per_block;
    if (list->wave_ends) {
        *l1_until = list->wave_ends[at->wave] * list->l1_per_block;
        *l2_until = list->wave_ends[at->wave] * list->l2_per_block;
        at->wave++;
        return;
    }
    *l1_until = lead + at->l2 * list->l1_per_block / list->l2_per_block;
    *l2_until = at->l2 + list->group_tiles;
    *l1_until = *l1_until < l1_tiles ? *l1_until : l1_tiles;
    *l2_until = *l2_until < l2_tiles ? *l2_until : l2_tiles;
}

struct xsti_moe_run xsti_moe_list_run(const struct xsti_moe_list *list, void *workspace)
{
    double *const ready_us = workspace;
    const size_t places = ring_places(list->producers);
    struct queue l1 = {ready_us + list->blocks, places - 1, 0, 0},
                 l2 = {ready_us + list->blocks + places, places - 1, 0, 0};
    const int64_t l1_tiles = list->blocks * list->l1_per_block, l2_tiles = list->blocks * list->l2_per_block;
    const int64_t least = xsti_plan_least_lead(list->l1_per_block, list->l2_per_block, list->group_tiles);
    const int64_t lead = list->lead_tiles > least ? list->lead_tiles : least;
    struct position at = {0, 0, 0, 0, 0, 0, 0};
    struct xsti_moe_run run = {0, 0, 0, 0};
    int64_t l1_until = 0, l2_until = 0;
    l2.ends[0] = INFINITY;
    for (int64_t cta = 0; cta < list->producers; cta++)
        push(&l1, 0);
    while (at.l2 < l2_tiles) {
        const double before_us = run.wait_us;
        const int64_t first = at.l2;
        next_turn(list, lead, &at, &l1_until, &l2_until);
        for (; at.l1 < l1_until; at.l1++) {
            const double end_us = first_free(&l1, &l2) + list->l1_us;
            push(&l1, end_us);
            run.makespan_us = end_us > run.makespan_us ? end_us : run.makespan_us;
            if (++at.l1_in_block == list->l1_per_block) {
                ready_us[at.l1_block++] = end_us + list->act_us;
                at.l1_in_block = 0;
            }
        }
        for (; at.l2 < l2_until; at.l2++) {
            const double free_us = first_free(&l1, &l2), block_us = ready_us[at.l2_block];
            const double start_us = block_us > free_us ? block_us : free_us, end_us = start_us + list->l2_us;
            push(&l2, end_us);
            run.wait_us += start_us - free_us;
            run.makespan_us = end_us > run.makespan_us ? end_us : run.makespan_us;
            if (++at.l2_in_block == list->l2_per_block) {
                at.l2_block++;
                at.l2_in_block = 0;
            }
        }
        if (first >= 2 * list->producers && at.l1 < l1_tiles) {
            run.steady_wait_us += run.wait_us - before_us;
            run.steady_tiles += at.l2 - first;
        }
    }
    return run;
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t xsti_moe_list_shorten(const struct xsti_moe_list *list, int64_t enough)
{
    const int64_t step = list->producers / divisor(list->producers, list->l1_per_block + list->l2_per_block);
    if (list->blocks <= enough)
        return list->blocks;
    return list->blocks - (list->blocks - enough) / step * step;
}
