/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice for one layer as a plan: every candidate with its parts and the reason it lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "planner/candidates.h"

#define X(NAME, sentence)                                                                                              \
    case XST_MOE_GAP_##NAME:                                                                                           \
        return sentence;
static const char *gap_sentence(enum xst_moe_gap gap)
{
    switch (gap) {
        XST_MOE_GAP_MAP(X)
    }
    return "?";
}
#undef X

static void copy(const struct xst_moe_candidate *from, struct xst_plan_candidate *to)
{
    to->method = from->method;
    to->schedule = from->schedule;
    to->extrapolated = from->extrapolated;
    to->slices = xsti_plan_known((double)from->slices);
    if (from->schedule == XST_SCHEDULE_WAVE) {
        to->waves = xsti_plan_known((double)from->waves);
        if (from->wave_blocks > 0)
            to->wave_blocks = xsti_plan_known((double)from->wave_blocks);
    } else {
        to->lead_tiles = xsti_plan_known((double)from->lead_tiles);
        to->group_tiles = xsti_plan_known((double)from->group_tiles);
    }
    to->compute_us = xsti_plan_known(from->compute_us);
    to->starve_us = xsti_plan_known(from->starve_us);
    to->locality_us = xsti_plan_known(from->locality_us);
    to->weights_us = xsti_plan_known(from->weights_us);
    to->order_us = xsti_plan_known(from->order_us);
    to->working_set_bytes = xsti_plan_known(from->working_set_bytes);
    if (from->gap != XST_MOE_GAP_NONE) {
        snprintf(to->reason, sizeof to->reason, "%s", gap_sentence(from->gap));
        return;
    }
    to->exposed_issue_us = xsti_plan_known(from->exposed_issue_us);
    to->pull_us = xsti_plan_known(from->pull_us);
    to->tail_us = xsti_plan_known(from->tail_us);
    to->predicted_us = xsti_plan_known(xsti_round9(from->predicted_us));
}

static void fill_question(const struct xst_moe_setup *setup, struct xst_plan *plan)
{
#define PUT(name, number) plan->question.name = xsti_plan_known((double)(number))
    PUT(hidden, setup->shape.hidden);
    PUT(inter, setup->shape.inter);
    PUT(experts, setup->shape.experts);
    PUT(topk, setup->shape.topk);
    PUT(tokens, setup->shape.tokens);
    PUT(ranks, setup->shape.ranks);
    PUT(element_bytes, setup->shape.element_bytes);
    PUT(block_rows, setup->plan.tile_rows);
    PUT(tile_cols, setup->plan.tile_cols);
    PUT(ctas, setup->plan.producers);
    PUT(tflops, setup->tflops);
#undef PUT
}

/* The best candidate of a schedule, NULL when none is predicted. */
static const struct xst_plan_candidate *best_of(const struct xst_plan *plan, enum xst_schedule schedule)
{
    const struct xst_plan_candidate *best = NULL;
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const candidate = &plan->considered[i];
        if (candidate->schedule == schedule && candidate->predicted_us.known &&
            (!best || candidate->predicted_us.value < best->predicted_us.value))
            best = candidate;
    }
    return best;
}

static double waits(const struct xst_plan_candidate *candidate)
{
    return candidate->exposed_issue_us.value + candidate->starve_us.value + candidate->pull_us.value +
           candidate->tail_us.value;
}

/* What a plan costs without any exchange, beyond the work. */
static double own_cost(const struct xst_plan_candidate *candidate)
{
    return candidate->locality_us.value + candidate->weights_us.value + candidate->order_us.value;
}

static void fill_answers(const struct xst_moe_setup *setup, const struct xst_moe_choice *choice, int64_t rank,
                         struct xst_plan *plan)
{
    const struct xst_plan_candidate *const wave = best_of(plan, XST_SCHEDULE_WAVE),
                                           *const interleaved = best_of(plan, XST_SCHEDULE_INTERLEAVED);
#define PUT(name, number) plan->answers.name = xsti_plan_known((double)(number))
    PUT(rank, rank);
    PUT(rows, choice->rows);
    PUT(blocks, choice->blocks);
    PUT(l1_tiles, choice->l1_tiles);
    PUT(l2_tiles, choice->l2_tiles);
    PUT(lead_first_tiles, setup->lead_first);
    PUT(l2_bytes, setup->l2_bytes);
    PUT(reread_bytes_per_us, setup->reread_bytes_per_us);
    if (setup->lead_knee > 0)
        PUT(lead_knee_tiles, setup->lead_knee);
    if (setup->lead_startup > 0)
        PUT(lead_startup_tiles, setup->lead_startup);
    if (setup->lead_tail > 0)
        PUT(lead_tail_tiles, setup->lead_tail);
    if (plan->chosen >= 0)
        PUT(drain_bytes_per_us, setup->paths[plan->considered[plan->chosen].method]->drain_bytes_per_us.value);
    if (wave && interleaved) {
        PUT(stall_saved_us, waits(wave) - waits(interleaved));
        PUT(locality_cost_us, own_cost(interleaved) - own_cost(wave));
    }
#undef PUT
}

/* The best that the fused kernel can run, where that is not what was chosen. */
static void note_kernel(struct xst_plan *plan)
{
    const struct xst_plan_candidate *best = NULL;
    if (plan->chosen < 0 || !plan->considered[plan->chosen].wave_blocks.known)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const candidate = &plan->considered[i];
        if (candidate->predicted_us.known && !candidate->wave_blocks.known &&
            (!best || candidate->predicted_us.value < best->predicted_us.value))
            best = candidate;
    }
    const size_t used = strlen(plan->note);
    if (best)
        snprintf(plan->note + used, sizeof plan->note - used,
                 "%sThe fused kernel cuts no waves; the best it can run is %s with %s stores, %.4g us.",
                 used ? " " : "", xst_schedule_text(best->schedule), xst_method_text(best->method),
                 best->predicted_us.value);
}

static void fill_note(struct xst_plan *plan)
{
    char saved[XSTI_PLAN_AMOUNT_BYTES], cost[XSTI_PLAN_AMOUNT_BYTES];
    const struct xst_plan_number *const stall = &plan->answers.stall_saved_us, *const locality =
                                                                                   &plan->answers.locality_cost_us;
    if (!stall->known)
        return;
    snprintf(plan->note, sizeof plan->note, "Interleaving %s %s of waiting and %s %s by itself.",
             stall->value >= 0 ? "saves" : "adds",
             xsti_plan_us_text(stall->value < 0 ? -stall->value : stall->value, saved),
             locality->value >= 0 ? "costs" : "saves",
             xsti_plan_us_text(locality->value < 0 ? -locality->value : locality->value, cost));
}

static enum xst_status build(const struct xst_moe_setup *setup, const int64_t *rows_per_expert, int64_t experts,
                             void *workspace, struct xst_moe_choice *choice, struct xsti_candidates *candidates,
                             struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_choose(setup, rows_per_expert, experts, workspace, xst_moe_workspace_bytes(setup), choice, diag));
    for (int64_t i = 0; i < choice->count; i++) {
        struct xst_plan_candidate *candidate = NULL;
        XSTI_TRY(xsti_candidates_add(candidates, &candidate, diag));
        copy(&choice->candidates[i], candidate);
    }
    return XST_OK;
}

enum xst_status xst_plan_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                             const struct xst_moe_plan *plan, const struct xst_plan_moe_options *options, int64_t rank,
                             const int64_t *rows_per_expert, int64_t experts, struct xst_plan *plan_out,
                             struct xst_diag *diag)
{
    struct xst_plan result = {.kind = XST_PLAN_MOE, .chosen = -1, .runner_up = -1};
    struct xsti_candidates candidates = {NULL, 0, 0};
    struct xst_moe_setup setup;
    XSTI_TRY(xst_moe_setup_make(profile, shape, plan, options, &setup, diag));
    struct xst_moe_choice *const choice = malloc(sizeof *choice);
    void *const workspace = malloc(xst_moe_workspace_bytes(&setup));
    const enum xst_status status = choice && workspace
                                       ? build(&setup, rows_per_expert, experts, workspace, choice, &candidates, diag)
                                       : xsti_fail_memory(diag);
    if (status == XST_OK) {
        xsti_plan_head(profile, &result);
        fill_question(&setup, &result);
        xsti_plan_finish(&candidates, &result);
        fill_answers(&setup, choice, rank, &result);
        fill_note(&result);
        note_kernel(&result);
        *plan_out = result;
    } else {
        free(candidates.list);
    }
    free(choice);
    free(workspace);
    return status;
}
