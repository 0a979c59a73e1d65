/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention with its exchange: tile rows by wave quantisation, store method, slices and their span, tile order,
 * staging depth.
 * predicted = compute of all waves + what the stores take from the producers and bystanders + tail.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>

#include "base/diag.h"
#include "planner/attention_walk.h"
#include "planner/candidates.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { GROUP_ROWS = 64, BARRIER_BYTES = 1024 };
static const double hopper_shared_bytes = 232448, drain_share = 0.87, most_steps = 2e7;
static const int64_t slice_counts[] = {1, 2, 4, 8, 16};

double xst_plan_math_rate(int64_t head_dim, int64_t tile_rows)
{
    static const double rate_d128[3] = {0.53, 1.00, 0.93}, rate_d64[3] = {0.50, 0.80, 1.00};
    const int64_t groups = (tile_rows + GROUP_ROWS - 1) / GROUP_ROWS;
    const double *const rates = head_dim > 64 ? rate_d128 : rate_d64;
    return rates[groups < 1 ? 0 : groups > 3 ? 2 : groups - 1];
}

/* The question with its defaults filled in. */
struct task {
    const struct xst_profile *profile;
    struct xst_fa_a2a_shape shape;
    struct xst_fa_a2a_plan base;
    struct xst_plan_fa_options options;
    double peak_flop_per_us; /* of one SM */
    double tflops;
    struct xsti_candidates candidates;
    struct xsti_wave *waves;
    double *destinations;
};

static enum xst_status fill_options(struct task *task, struct xst_diag *diag)
{
    struct xst_plan_fa_options *const options = &task->options;
    options->methods = xsti_plan_methods(options->methods);
    options->tile_cols = options->tile_cols ? options->tile_cols : 128;
    options->stages = options->stages ? options->stages : 2;
    options->shared_bytes = options->shared_bytes > 0 ? options->shared_bytes : hopper_shared_bytes;
    options->most_slots = options->most_slots ? options->most_slots : 2;
    if (options->most_slots < 1 || options->most_slots > 16)
        return xsti_fail(diag, XST_ERR_RANGE, "most_slots is %lld, outside 1..16", (long long)options->most_slots);
    if (options->tile_rows_count == 0) {
        options->tile_rows_count = 3;
        for (size_t i = 0; i < 3; i++)
            options->tile_rows[i] = (int64_t)(i + 1) * GROUP_ROWS;
    }
    if (options->tile_rows_count > XST_PLAN_MOST_TILE_ROWS)
        return xsti_fail(diag, XST_ERR_RANGE, "%zu tile sizes, at most %d", options->tile_rows_count,
                         XST_PLAN_MOST_TILE_ROWS);
    for (size_t i = 0; i < options->tile_rows_count; i++) {
        double *const rate = &options->math_rate[i];
        if (*rate == 0)
            *rate = xst_plan_math_rate(task->shape.head_dim, options->tile_rows[i]);
        if (!(*rate > 0 && *rate <= 10))
            return xsti_fail(diag, XST_ERR_RANGE, "math_rate is %g, outside 0..10", *rate);
    }
    return XST_OK;
}

static enum xst_status task_make(struct task *task, struct xst_diag *diag)
{
    double peak_tflops = 0;
    int64_t least_rows = INT64_MAX;
    struct xst_fa_a2a_counts counts;
    XSTI_TRY(fill_options(task, diag));
    XSTI_TRY(xsti_plan_rate(task->profile, task->options.peak_tflops, task->options.given_tflops,
                            &task->options.producers, &peak_tflops, &task->tflops, diag));
    const double sms = (double)task->options.producers;
    task->peak_flop_per_us = peak_tflops * 1e6 / sms;
    task->base = (struct xst_fa_a2a_plan){.tile_cols = task->options.tile_cols,
                                          .producers = task->options.producers,
                                          .stages = task->options.stages,
                                          .staging_slots = 1,
                                          .phase = task->options.phase,
                                          .sm_flop_per_us = task->tflops * 1e6 / sms};
    for (size_t i = 0; i < task->options.tile_rows_count; i++) {
        task->base.tile_rows = task->options.tile_rows[i];
        XSTI_TRY(xst_fa_a2a_count(&task->shape, &task->base, &counts, diag));
        if ((double)counts.tiles * (double)task->shape.ranks > most_steps)
            return xsti_fail(diag, XST_ERR_RANGE, "%lld tiles on %lld ranks are more than a plan walks (%g steps)",
                             (long long)counts.tiles, (long long)task->shape.ranks, most_steps);
        least_rows = task->base.tile_rows < least_rows ? task->base.tile_rows : least_rows;
    }
    task->base.tile_rows = least_rows;
    XSTI_TRY(xst_fa_a2a_count(&task->shape, &task->base, &counts, diag));
    /* A smaller tile has more waves, but never more than tiles. */
    task->waves = calloc((size_t)counts.tiles, sizeof *task->waves);
    task->destinations = calloc((size_t)task->shape.ranks, sizeof *task->destinations);
    return task->waves && task->destinations ? XST_OK : xsti_fail_memory(diag);
}

/* Q of the tile, two rings of `stages` K and V tiles, output staging, barriers. */
static double shared_bytes(const struct task *task, int64_t tile_rows, int64_t slots)
{
    const double row_bytes = (double)(task->shape.head_dim * task->shape.element_bytes);
    return row_bytes * ((double)tile_rows * (double)(1 + slots) +
                        2.0 * (double)task->base.stages * (double)task->base.tile_cols) +
           BARRIER_BYTES;
}

/* What one tile size and order have in common. */
struct variant {
    struct xst_fa_a2a_plan plan;
    struct xst_fa_a2a_counts counts;
    enum xst_tile_order order;
    double math_rate;
    double tile_us; /* at the rate taken and this tile size's own */
};

static void settings(const struct task *task, const struct variant *variant, const struct xst_path *path,
                     int64_t slices, int64_t slots, struct xst_plan_candidate *candidate)
{
    const struct xst_fa_a2a_counts *const counts = &variant->counts;
    candidate->method = path->method;
    candidate->order = variant->order;
    candidate->tile_rows = xsti_plan_known((double)variant->plan.tile_rows);
    candidate->warpgroups = xsti_plan_known(ceil((double)variant->plan.tile_rows / GROUP_ROWS));
    candidate->slices = xsti_plan_known((double)slices);
    candidate->chunk_bytes = xsti_plan_known(counts->tile_bytes / (double)slices);
    candidate->span_us = xsti_plan_known(slices > 1 ? variant->tile_us : 0);
    candidate->staging_slots = xsti_plan_known((double)slots);
    candidate->waves = xsti_plan_known((double)counts->waves);
    candidate->math_rate = xsti_plan_known(variant->math_rate);
    candidate->efficiency =
        xsti_plan_known((double)(task->shape.batch * counts->heads_per_rank) * (double)task->shape.seq /
                        (double)variant->plan.tile_rows / (double)task->base.producers / (double)counts->waves);
    candidate->shared_bytes = xsti_plan_known(shared_bytes(task, variant->plan.tile_rows, slots));
}

static void predict(const struct task *task, const struct variant *variant, const struct xst_path *path, int64_t slices,
                    int64_t slots, struct xst_plan_candidate *candidate)
{
    struct xsti_walk_question question = {.path = path,
                                          .waves = task->waves,
                                          .wave_count = variant->counts.waves,
                                          .tile_bytes = variant->counts.tile_bytes,
                                          .slices = slices,
                                          .slots = slots,
                                          .gap_us = variant->tile_us,
                                          .prefetch_us =
                                              (double)task->base.stages * variant->counts.kv_us / variant->math_rate,
                                          .drifting = 1,
                                          .extrapolate = task->options.extrapolate};
    const struct xsti_walk drifting = xsti_attention_walk(&question);
    question.drifting = task->options.phase == XST_PHASE_SHIFTED;
    const struct xsti_walk walk = xsti_attention_walk(&question);
    const double compute_us = (double)variant->counts.waves * variant->tile_us;
    candidate->compute_us = xsti_plan_known(compute_us);
    if (walk.missing) {
        snprintf(candidate->reason, sizeof candidate->reason, "the profile has no %s", walk.missing);
        return;
    }
    candidate->extrapolated = walk.extrapolated;
    candidate->exposed_issue_us = xsti_plan_known(walk.issue_us);
    candidate->tail_us = xsti_plan_known(walk.tail_us);
    if (path->free_capacity_bytes.known)
        candidate->bystander_us = xsti_plan_known(walk.bystander_us);
    candidate->backlog_bytes = xsti_plan_known(walk.backlog_bytes);
    candidate->predicted_drifting_us =
        xsti_plan_known(compute_us + drifting.issue_us + drifting.bystander_us + drifting.tail_us);
    xsti_candidate_sum(candidate);
}

/* Paced stores hold u*R at most: a tile that does not drain within the next one's compute is not paced by slicing
 * it. */
static int span_holds(const struct task *task, const struct variant *variant, const struct xst_path *path)
{
    const double volume = (double)variant->counts.producers * variant->counts.tile_bytes;
    (void)task;
    return !path->drain_bytes_per_us.known || volume <= drain_share * path->drain_bytes_per_us.value * variant->tile_us;
}

static enum xst_status add_method(struct task *task, const struct variant *variant, enum xst_method method,
                                  struct xst_diag *diag)
{
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = method};
    const struct xst_path *const path = xst_profile_path(task->profile, &key);
    const int bulk = method == XST_METHOD_BULK;
    for (size_t s = 0; path && s < COUNT(slice_counts); s++) {
        for (int64_t slots = 1; slots <= (bulk ? task->options.most_slots : 1); slots++) {
            struct xst_plan_candidate *candidate = NULL;
            XSTI_TRY(xsti_candidates_add(&task->candidates, &candidate, diag));
            settings(task, variant, path, slice_counts[s], slots, candidate);
            if (candidate->shared_bytes.value > task->options.shared_bytes)
                xsti_candidate_too_large(candidate, task->options.shared_bytes);
            else if (slice_counts[s] > 1 && !span_holds(task, variant, path))
                snprintf(candidate->reason, sizeof candidate->reason,
                         "(17) fails: over one tile's %.3g us the slices need more than %.0f %% of the drain rate",
                         variant->tile_us, 100 * drain_share);
            else
                predict(task, variant, path, slice_counts[s], slots, candidate);
        }
    }
    return XST_OK;
}

static enum xst_status add_tile_rows(struct task *task, size_t index, enum xst_tile_order order, struct xst_diag *diag)
{
    struct variant variant = {.plan = task->base, .order = order, .math_rate = task->options.math_rate[index]};
    variant.plan.tile_rows = task->options.tile_rows[index];
    XSTI_TRY(xst_fa_a2a_count(&task->shape, &variant.plan, &variant.counts, diag));
    variant.tile_us = variant.counts.tile_us / variant.math_rate;
    xsti_attention_waves(&task->shape, &variant.plan, &variant.counts, order, task->destinations, task->waves);
    for (int method = 0; method <= (int)XST_METHOD_BULK; method++) {
        if (task->options.methods >> method & 1)
            XSTI_TRY(add_method(task, &variant, (enum xst_method)method, diag));
    }
    return XST_OK;
}

static enum xst_status add_all(struct task *task, struct xst_diag *diag)
{
    for (size_t i = 0; i < task->options.tile_rows_count; i++) {
        XSTI_TRY(add_tile_rows(task, i, XST_TILE_ORDER_PEERS_FIRST, diag));
        XSTI_TRY(add_tile_rows(task, i, XST_TILE_ORDER_ROWS, diag));
    }
    if (task->candidates.count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s has no path to a peer with the store methods asked for",
                         task->profile->name);
    return XST_OK;
}

static void fill_question(const struct task *task, struct xst_plan *plan)
{
#define PUT(name, number) plan->question.name = xsti_plan_known((double)(number))
    PUT(batch, task->shape.batch);
    PUT(heads, task->shape.heads);
    PUT(head_dim, task->shape.head_dim);
    PUT(seq, task->shape.seq);
    PUT(ranks, task->shape.ranks);
    PUT(element_bytes, task->shape.element_bytes);
    PUT(tile_cols, task->base.tile_cols);
    PUT(ctas, task->base.producers);
    PUT(tflops, task->tflops);
    PUT(shared_limit_bytes, task->options.shared_bytes);
#undef PUT
}

/* (12) for the chosen tile: M_ub = b_n * ceil(G* / t_kv), t_kv at peak. */
static struct xst_plan_number upper_bound(const struct task *task, struct xst_stage stage, double kv_us)
{
    const double steps = ceil(xst_law_recovery_gap_us(&stage) / kv_us);
    return xsti_plan_known((double)task->base.tile_cols * fmax(steps, 1));
}

static void fill_answers(const struct task *task, struct xst_plan *plan)
{
    if (plan->chosen < 0)
        return;
    const struct xst_plan_candidate *const chosen = &plan->considered[plan->chosen];
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = chosen->method};
    const struct xst_path *const path = xst_profile_path(task->profile, &key);
    struct xst_fa_a2a_plan fa = task->base;
    struct xst_fa_a2a_counts counts;
    fa.tile_rows = (int64_t)chosen->tile_rows.value;
    fa.sm_flop_per_us = task->peak_flop_per_us;
    if (!path || xst_fa_a2a_count(&task->shape, &fa, &counts, NULL) != XST_OK)
        return;
    struct xst_stage stage = {0, path->drain_bytes_per_us.value, INFINITY,
                              (double)counts.producers * counts.tile_bytes};
    plan->answers.kv_us = xsti_plan_known(counts.kv_us);
    plan->answers.drain_bytes_per_us = xsti_plan_known(stage.drain_bytes_per_us);
    if (path->free_capacity_bytes.known)
        plan->answers.free_capacity_bytes = xsti_plan_known(path->free_capacity_bytes.value);
    if (xst_path_floor_us(path, (double)counts.producers, counts.tile_bytes, task->options.extrapolate, &stage.floor_us,
                          NULL) != XST_OK)
        return;
    plan->answers.recovery_gap_us = xsti_plan_known(xst_law_recovery_gap_us(&stage));
    plan->answers.m_upper_bound = upper_bound(task, stage, counts.kv_us);
    const int64_t own_rows = task->shape.seq / task->shape.ranks;
    stage.burst_bytes *= (double)(task->shape.seq - own_rows) / (double)task->shape.seq;
    plan->answers.m_upper_bound_remote = upper_bound(task, stage, counts.kv_us);
}

static void fill_note(struct xst_plan *plan)
{
    if (plan->chosen >= 0 && !plan->answers.free_capacity_bytes.known)
        snprintf(plan->note, sizeof plan->note,
                 "The backlog that delays no local load (16) is not measured on this path, so no delay of loads is in "
                 "the times and slices are judged on the producers' time alone.");
}

enum xst_status xst_plan_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                const struct xst_plan_fa_options *options, struct xst_plan *plan_out,
                                struct xst_diag *diag)
{
    struct task task = {.profile = profile, .shape = *shape};
    struct xst_plan plan = {.kind = XST_PLAN_FA_A2A, .chosen = -1, .runner_up = -1};
    if (options)
        task.options = *options;
    plan.phase = task.options.phase;
    enum xst_status status = task_make(&task, diag);
    if (status == XST_OK)
        status = add_all(&task, diag);
    free(task.waves);
    free(task.destinations);
    if (status != XST_OK) {
        free(task.candidates.list);
        return status;
    }
    xsti_plan_head(profile, &plan);
    fill_question(&task, &plan);
    xsti_plan_finish(&task.candidates, &plan);
    fill_answers(&task, &plan);
    fill_note(&plan);
    *plan_out = plan;
    return XST_OK;
}
