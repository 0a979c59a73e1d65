/* SPDX-License-Identifier: Apache-2.0
 *
 * The lead of the interleaved schedule, found by running its list. List order: `lead` Linear-1 tiles, then before Linear-2 tile
 * j as many that floor(rho * j) + lead stand in front of it. A CTA that becomes free takes the next entry; a Linear-2 tile waits
 * until all Linear-1 tiles of its block are published.
 */
#include <xstage/audit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { MOST_TILES = 1 << 22, MOST_CTAS = 65536, SEARCH_TILES = 8192, ROUNDS_TO_SETTLE = 2 };

/* A wait shorter than this share of a tile is rounding. */
static const double least_wait = 1e-9;

int64_t xst_lead_first_tiles(const struct xst_lead_problem *problem)
{
    return problem->l1_per_block + problem->producers - 1 +
           (int64_t)ceil((double)problem->producers * problem->act_us / problem->l1_us - 1e-9);
}

static enum xst_status check(const struct xst_lead_problem *problem, struct xst_diag *diag)
{
    const int sizes = problem->blocks >= 1 && problem->l1_per_block >= 1 && problem->l2_per_block >= 1 &&
                      problem->producers >= 1 && problem->producers <= MOST_CTAS && problem->blocks <= MOST_TILES &&
                      problem->l1_per_block <= MOST_TILES && problem->l2_per_block <= MOST_TILES;
    const int times = problem->l1_us > 0 && problem->l2_us > 0 && problem->act_us >= 0 && isfinite(problem->l1_us) &&
                      isfinite(problem->l2_us) && isfinite(problem->act_us);
    if (!sizes || !times)
        return xsti_fail(diag, XST_ERR_RANGE, "lead: blocks, tiles per block, producers and times must be positive");
    return XST_OK;
}

/* Free times of the CTAs as a binary heap, and when each block is ready. */
struct machine {
    double *free_us;
    size_t count;
    double *ready_us;
};

static enum xst_status machine_make(const struct xst_lead_problem *problem, struct machine *machine,
                                    struct xst_diag *diag)
{
    machine->count = (size_t)problem->producers;
    machine->free_us = calloc(machine->count, sizeof *machine->free_us);
    machine->ready_us = calloc((size_t)problem->blocks, sizeof *machine->ready_us);
    if (machine->free_us && machine->ready_us)
        return XST_OK;
    free(machine->free_us);
    free(machine->ready_us);
    return xsti_fail_memory(diag);
}

static void machine_free(struct machine *machine)
{
    free(machine->free_us);
    free(machine->ready_us);
}

/* The earliest free CTA stays busy until `end_us`. */
static void occupy(struct machine *machine, double end_us)
{
    double *const heap = machine->free_us;
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= machine->count)
            break;
        child += child + 1 < machine->count && heap[child + 1] < heap[child];
        if (heap[child] >= end_us)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = end_us;
}

static double run_l1(struct machine *machine, const struct xst_lead_problem *problem, int64_t tile)
{
    const double end_us = machine->free_us[0] + problem->l1_us;
    double *const ready = &machine->ready_us[tile / problem->l1_per_block];
    if (end_us + problem->act_us > *ready)
        *ready = end_us + problem->act_us;
    occupy(machine, end_us);
    return end_us;
}

/* Which part of the run a wait belongs to, as bits: a search stops at the first wait that matters to it. */
enum { STEADY = 1, STARTUP = 2, TAIL = 4 };

static void note_wait(struct xst_lead_waits *waits, int part, double wait_us)
{
    waits->wait_us += wait_us;
    waits->steady_starved += part == STEADY;
    waits->startup_starved += part == STARTUP;
    waits->tail_starved += part == TAIL;
}

/* Runs the list; returns 0 as soon as a tile of one of the parts in `stop` waits, else 1. */
static int run(struct machine *machine, const struct xst_lead_problem *problem, int64_t lead, int stop,
               struct xst_lead_waits *waits)
{
    const int64_t l1_tiles = problem->blocks * problem->l1_per_block,
                  l2_tiles = problem->blocks * problem->l2_per_block;
    int64_t issued = 0;
    memset(machine->free_us, 0, machine->count * sizeof *machine->free_us);
    memset(machine->ready_us, 0, (size_t)problem->blocks * sizeof *machine->ready_us);
    memset(waits, 0, sizeof *waits);
    for (int64_t tile = 0; tile < l2_tiles; tile++) {
        const int64_t wanted = lead + tile * problem->l1_per_block / problem->l2_per_block;
        for (; issued < l1_tiles && issued < wanted; issued++)
            waits->makespan_us = fmax(waits->makespan_us, run_l1(machine, problem, issued));
        const int part = issued == l1_tiles ? TAIL : tile < ROUNDS_TO_SETTLE * problem->producers ? STARTUP : STEADY;
        const double from_us = machine->free_us[0], ready_us = machine->ready_us[tile / problem->l2_per_block];
        const double start_us = fmax(from_us, ready_us);
        waits->steady_tiles += part == STEADY;
        if (start_us - from_us > least_wait * problem->l1_us) {
            note_wait(waits, part, start_us - from_us);
            if (part & stop)
                return 0;
        }
        waits->makespan_us = fmax(waits->makespan_us, start_us + problem->l2_us);
        occupy(machine, start_us + problem->l2_us);
    }
    return 1;
}

enum xst_status xst_lead_run(const struct xst_lead_problem *problem, int64_t lead, struct xst_lead_waits *waits_out,
                             struct xst_diag *diag)
{
    struct machine machine;
    XSTI_TRY(check(problem, diag));
    if ((double)problem->blocks * (double)(problem->l1_per_block + problem->l2_per_block) > MOST_TILES)
        return xsti_fail(diag, XST_ERR_RANGE, "lead: %lld blocks of %lld + %lld tiles, the most is %d tiles in all",
                         (long long)problem->blocks, (long long)problem->l1_per_block, (long long)problem->l2_per_block,
                         MOST_TILES);
    XSTI_TRY(machine_make(problem, &machine, diag));
    run(&machine, problem, lead > problem->l1_per_block ? lead : problem->l1_per_block, 0, waits_out);
    machine_free(&machine);
    return XST_OK;
}

/* The smallest lead from `from` on at which no tile of `parts` waits; -1: none. A lead that leaves no tile in steady state
 * says nothing about it. */
static int64_t search(struct machine *machine, const struct xst_lead_problem *problem, int64_t from, int parts)
{
    const int64_t l1_tiles = problem->blocks * problem->l1_per_block;
    struct xst_lead_waits waits;
    for (int64_t lead = from; lead <= l1_tiles; lead++) {
        if (run(machine, problem, lead, parts, &waits))
            return waits.steady_tiles > 0 ? lead : -1;
    }
    return -1;
}

/* Steady state repeats, so a long call need not be searched whole; its tail is then that of the shorter call. */
static struct xst_lead_problem shortened(const struct xst_lead_problem *problem)
{
    struct xst_lead_problem shorter = *problem;
    const int64_t rounds = 8 * problem->producers / problem->l2_per_block + 1;
    int64_t enough = SEARCH_TILES / (problem->l1_per_block + problem->l2_per_block) + 1;
    enough = enough > rounds ? enough : rounds;
    if (shorter.blocks > enough)
        shorter.blocks = enough;
    return shorter;
}

enum xst_status xst_lead_find(const struct xst_lead_problem *problem, struct xst_lead_knees *knees_out,
                              struct xst_diag *diag)
{
    struct machine machine;
    struct xst_lead_knees knees = {-1, -1, -1};
    XSTI_TRY(check(problem, diag));
    const struct xst_lead_problem shorter = shortened(problem);
    XSTI_TRY(machine_make(&shorter, &machine, diag));
    knees.steady = search(&machine, &shorter, shorter.l1_per_block, STEADY);
    if (knees.steady > 0)
        knees.startup = search(&machine, &shorter, knees.steady, STEADY | STARTUP);
    if (knees.startup > 0)
        knees.tail = search(&machine, &shorter, knees.startup, STEADY | STARTUP | TAIL);
    machine_free(&machine);
    *knees_out = knees;
    return XST_OK;
}
