/* SPDX-License-Identifier: Apache-2.0
 *
 * Any kernel: burst size, staging depth and number of issuers together. Bytes and useful time are those of the
 * description; what changes is into how many bursts they are cut, how many bursts a producer can hold back, and how
 * many CTAs issue.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>

#include "base/diag.h"
#include "planner/candidates.h"

static const double hopper_shared_bytes = 232448;

struct task {
    const struct xst_profile *profile;
    struct xst_traffic traffic;
    struct xst_plan_traffic_options options;
    struct xsti_candidates candidates;
};

static enum xst_status check_steps(const char *what, size_t count, struct xst_diag *diag)
{
    if (count <= XST_PLAN_MOST_STEPS)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%zu values of %s, at most %d", count, what, XST_PLAN_MOST_STEPS);
}

static enum xst_status fill_options(struct task *task, struct xst_diag *diag)
{
    static const double splits[] = {1, 2, 4, 8, 16, 32, 0.5, 0.25};
    struct xst_plan_traffic_options *const options = &task->options;
    XSTI_TRY(check_steps("splits", options->splits_count, diag));
    XSTI_TRY(check_steps("slots", options->slots_count, diag));
    XSTI_TRY(check_steps("producers", options->producers_count, diag));
    options->methods = options->methods ? options->methods : xsti_plan_methods(0) | 1 << (int)task->traffic.path.method;
    options->shared_bytes = options->shared_bytes > 0 ? options->shared_bytes : hopper_shared_bytes;
    if (options->splits_count == 0) {
        options->splits_count = sizeof splits / sizeof *splits;
        memcpy(options->splits, splits, sizeof splits);
    }
    if (options->slots_count == 0) {
        for (int64_t slots = 1; slots <= 4; slots++)
            options->slots[options->slots_count++] = slots;
    }
    if (options->producers_count == 0) {
        for (int64_t part = 1; part <= 8; part *= 2) {
            const int64_t producers = task->traffic.producers / part;
            if (producers >= 1)
                options->producers[options->producers_count++] = producers;
        }
    }
    for (size_t i = 0; i < options->splits_count; i++) {
        if (!(options->splits[i] >= 1e-3 && options->splits[i] <= 1e3))
            return xsti_fail(diag, XST_ERR_RANGE, "splits is %g, outside 0.001..1000", options->splits[i]);
    }
    for (size_t i = 0; i < options->slots_count; i++) {
        if (options->slots[i] < 1 || options->slots[i] > 1024)
            return xsti_fail(diag, XST_ERR_RANGE, "staging_slots is %lld, outside 1..1024",
                             (long long)options->slots[i]);
    }
    for (size_t i = 0; i < options->producers_count; i++) {
        if (options->producers[i] < 1 || options->producers[i] > task->traffic.producers)
            return xsti_fail(diag, XST_ERR_RANGE, "producers is %lld, outside 1..%lld, those of the description",
                             (long long)options->producers[i], (long long)task->traffic.producers);
    }
    return XST_OK;
}

/* One candidate's burst and what the profile says of it. */
struct burst {
    double producers, bytes, gap_us, slots;
    struct xst_stage lasting; /* f*V */
    struct xst_stage largest; /* what can leave at once */
    double release_floor_us, release_capacity_bytes;
    int staged;
    int extrapolated;
    const char *missing;
};

static void look_up(const struct task *task, const struct xst_path *path, struct burst *burst)
{
    const int x = task->options.extrapolate;
    const double volume = burst->producers * burst->bytes;
    struct xst_stage stage = {0, path->drain_bytes_per_us.value, INFINITY, 0};
    int beyond[4] = {0, 0, 0, 0};
    if (!path->drain_bytes_per_us.known)
        burst->missing = "drain rate";
    else if (xst_path_floor_us(path, burst->producers, burst->bytes, x, &stage.floor_us, &beyond[0]) != XST_OK)
        burst->missing = "issue floor for this many producers and bytes";
    else if (xst_path_capacity_bytes(path, burst->producers, x, &stage.capacity_bytes, &beyond[1]) != XST_OK)
        burst->missing = "capacity for this many producers";
    else if (burst->staged && xst_path_release_floor_us(path, burst->producers, burst->bytes, x,
                                                        &burst->release_floor_us, &beyond[2]) != XST_OK)
        burst->missing = "staging release floor for this many producers and bytes";
    else if (burst->staged && xst_path_release_capacity_bytes(path, burst->producers, x, &burst->release_capacity_bytes,
                                                              &beyond[3]) != XST_OK)
        burst->missing = "staging release capacity for this many producers";
    else if (task->traffic.bursts_per_producer > 0 && !path->fence_us.known)
        burst->missing = "fence time";
    burst->extrapolated = beyond[0] || beyond[1] || beyond[2] || beyond[3];
    burst->lasting = burst->largest = stage;
    burst->lasting.burst_bytes = task->traffic.remote_frac * volume;
    burst->largest.burst_bytes = task->traffic.burst_remote_frac * volume;
}

/* Issue of plain stores. One slot: the role that computes issues. More: another role issues, and only a full staging
 * or a path that is too slow lengthens the period. */
static double plain_period_us(const struct burst *burst, int drifting)
{
    const double drain_us = burst->lasting.burst_bytes / burst->lasting.drain_bytes_per_us;
    const double isolated_us = drifting ? burst->lasting.floor_us : xst_law_isolated_issue_us(&burst->largest);
    if (burst->slots > 1)
        return fmax(fmax(burst->gap_us, drain_us), isolated_us);
    return burst->gap_us + (drifting ? xst_law_issue_us(&burst->lasting, burst->gap_us)
                                     : xst_law_aligned_issue_us(&burst->largest, burst->gap_us));
}

/* Bulk stores: the staging has to be free when it is needed again, `slots` bursts later. */
static double bulk_period_us(const struct burst *burst, int drifting)
{
    struct xst_stage release = drifting ? burst->lasting : burst->largest;
    const double floor_us = burst->lasting.floor_us, own_us = floor_us + burst->gap_us;
    release.floor_us = burst->release_floor_us;
    release.capacity_bytes = burst->release_capacity_bytes;
    const double release_us =
        drifting ? xst_law_issue_us(&release, burst->gap_us) : xst_law_isolated_issue_us(&release);
    const double late_us = fmax(release_us - burst->slots * own_us, 0);
    const double drain_us = burst->lasting.burst_bytes / burst->lasting.drain_bytes_per_us;
    return fmax(own_us + late_us / burst->slots, drain_us);
}

static void predict(const struct task *task, const struct xst_path *path, const struct burst *burst, double splits,
                    struct xst_plan_candidate *candidate)
{
    const struct xst_traffic *const traffic = &task->traffic;
    const int drifting = traffic->phase == XST_PHASE_SHIFTED;
    const double bursts = traffic->bursts_per_producer > 0 ? traffic->bursts_per_producer : 1, pieces = splits * bursts;
    const double period_us = burst->staged ? bulk_period_us(burst, drifting) : plain_period_us(burst, drifting);
    const double left = xst_law_backlog_bytes(&burst->largest),
                 backlog = burst->staged ? left : fmin(left, burst->largest.capacity_bytes);
    candidate->compute_us = xsti_plan_known(bursts * traffic->gap_us);
    /* The last burst of an issuing role has no work to hide behind. */
    const double last_us = burst->staged || burst->slots <= 1 || !(traffic->bursts_per_producer > 0) ? 0
                           : drifting ? burst->largest.floor_us
                                      : xst_law_isolated_issue_us(&burst->largest);
    candidate->exposed_issue_us = xsti_plan_known(pieces * (period_us - burst->gap_us) + last_us);
    candidate->backlog_bytes = xsti_plan_known(backlog);
    candidate->extrapolated = burst->extrapolated;
    if (path->free_capacity_bytes.known && traffic->prefetch_us >= 0) {
        const double delay_us =
            xst_law_bystander_delay_us(backlog, path->free_capacity_bytes.value, path->drain_bytes_per_us.value);
        candidate->bystander_us = xsti_plan_known(pieces * fmax(delay_us - traffic->prefetch_us, 0));
    }
    if (traffic->bursts_per_producer > 0)
        candidate->tail_us = xsti_plan_known(backlog / path->drain_bytes_per_us.value + path->fence_us.value);
    xsti_candidate_sum(candidate);
}

static enum xst_status add(struct task *task, const struct xst_path *path, double splits, int64_t slots,
                           int64_t producers, struct xst_diag *diag)
{
    const struct xst_traffic *const traffic = &task->traffic;
    const double all = (double)traffic->producers;
    struct burst burst = {.producers = (double)producers,
                          .bytes = traffic->bytes_per_producer * all / (double)producers / splits,
                          .gap_us = traffic->gap_us / splits,
                          .slots = (double)slots,
                          .staged = path->method == XST_METHOD_BULK};
    struct xst_plan_candidate *candidate = NULL;
    XSTI_TRY(xsti_candidates_add(&task->candidates, &candidate, diag));
    candidate->method = path->method;
    candidate->splits = xsti_plan_known(splits);
    candidate->producers = xsti_plan_known(burst.producers);
    candidate->bytes_per_producer = xsti_plan_known(burst.bytes);
    candidate->gap_us = xsti_plan_known(burst.gap_us);
    candidate->staging_slots = xsti_plan_known(burst.slots);
    candidate->shared_bytes = xsti_plan_known(burst.slots * burst.bytes);
    /* CTAs that do not issue hand their output over through the L2. */
    candidate->working_set_bytes =
        xsti_plan_known(burst.slots * burst.producers * burst.bytes * (1 - burst.producers / all));
    look_up(task, path, &burst);
    if (candidate->shared_bytes.value > task->options.shared_bytes)
        xsti_candidate_too_large(candidate, task->options.shared_bytes);
    else if (traffic->bursts_per_producer > 0 && traffic->bursts_per_producer * splits < 1)
        snprintf(candidate->reason, sizeof candidate->reason, "a call has %g bursts, fewer than are joined into one",
                 traffic->bursts_per_producer);
    else if (burst.missing)
        snprintf(candidate->reason, sizeof candidate->reason, "the profile has no %s", burst.missing);
    else
        predict(task, path, &burst, splits, candidate);
    return XST_OK;
}

static enum xst_status add_method(struct task *task, enum xst_method method, struct xst_diag *diag)
{
    struct xst_path_key key = task->traffic.path;
    key.method = method;
    const struct xst_path *const path = xst_profile_path(task->profile, &key);
    const struct xst_plan_traffic_options *const options = &task->options;
    if (!(options->methods >> (int)method & 1) || !path)
        return XST_OK;
    for (size_t k = 0; k < options->producers_count; k++) {
        for (size_t i = 0; i < options->splits_count; i++) {
            for (size_t s = 0; s < options->slots_count; s++)
                XSTI_TRY(add(task, path, options->splits[i], options->slots[s], options->producers[k], diag));
        }
    }
    return XST_OK;
}

/* The description's own method first. */
static enum xst_status add_all(struct task *task, struct xst_diag *diag)
{
    const enum xst_method own = task->traffic.path.method;
    XSTI_TRY(add_method(task, own, diag));
    for (int method = 0; method <= (int)XST_METHOD_BULK; method++) {
        if (method != (int)own)
            XSTI_TRY(add_method(task, (enum xst_method)method, diag));
    }
    if (task->candidates.count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s has no path to %s with the store methods asked for",
                         task->profile->name, xst_target_text(task->traffic.path.target));
    return XST_OK;
}

static int dominates(const struct xst_plan_candidate *a, const struct xst_plan_candidate *b)
{
    const int no_worse = a->predicted_us.value <= b->predicted_us.value &&
                         a->shared_bytes.value <= b->shared_bytes.value &&
                         a->working_set_bytes.value <= b->working_set_bytes.value;
    return no_worse &&
           (a->predicted_us.value < b->predicted_us.value || a->shared_bytes.value < b->shared_bytes.value ||
            a->working_set_bytes.value < b->working_set_bytes.value);
}

static int equals(const struct xst_plan_candidate *a, const struct xst_plan_candidate *b)
{
    return a->predicted_us.value == b->predicted_us.value && a->shared_bytes.value == b->shared_bytes.value &&
           a->working_set_bytes.value == b->working_set_bytes.value;
}

/* Of equals the first stands for all. */
static void mark_pareto(struct xsti_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        struct xst_plan_candidate *const mine = &candidates->list[i];
        mine->pareto = mine->predicted_us.known;
        for (size_t j = 0; mine->pareto && j < candidates->count; j++) {
            const struct xst_plan_candidate *const other = &candidates->list[j];
            if (other->predicted_us.known && (dominates(other, mine) || (j < i && equals(other, mine))))
                mine->pareto = 0;
        }
    }
}

static void fill_question(const struct task *task, struct xst_plan *plan)
{
    const struct xst_traffic *const traffic = &task->traffic;
    plan->question.ctas = xsti_plan_known((double)traffic->producers);
    plan->question.burst_bytes_each = xsti_plan_known(traffic->bytes_per_producer);
    plan->question.burst_gap_us = xsti_plan_known(traffic->gap_us);
    plan->question.bursts = xsti_plan_known(traffic->bursts_per_producer > 0 ? traffic->bursts_per_producer : 1);
    plan->question.shared_limit_bytes = xsti_plan_known(task->options.shared_bytes);
}

static void fill_answers(const struct task *task, struct xst_plan *plan)
{
    if (plan->chosen < 0)
        return;
    struct xst_path_key key = task->traffic.path;
    key.method = plan->considered[plan->chosen].method;
    const struct xst_path *const path = xst_profile_path(task->profile, &key);
    if (!path)
        return;
    plan->answers.drain_bytes_per_us = xsti_plan_known(path->drain_bytes_per_us.value);
    if (path->free_capacity_bytes.known)
        plan->answers.free_capacity_bytes = xsti_plan_known(path->free_capacity_bytes.value);
    if (!path->free_capacity_bytes.known)
        snprintf(
            plan->note, sizeof plan->note,
            "The backlog that delays no local load (16) is not measured on this path, so no delay of loads is in the "
            "times.");
    else if (task->traffic.prefetch_us < 0)
        snprintf(plan->note, sizeof plan->note,
                 "The description states no prefetch_us, so the delay of local loads (16) is not in the times.");
}

enum xst_status xst_plan_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                 const struct xst_plan_traffic_options *options, struct xst_plan *plan_out,
                                 struct xst_diag *diag)
{
    struct task task = {.profile = profile, .traffic = *traffic};
    struct xst_plan plan = {.kind = XST_PLAN_TRAFFIC,
                            .target = traffic->path.target,
                            .phase = traffic->phase,
                            .chosen = -1,
                            .runner_up = -1};
    if (options)
        task.options = *options;
    XSTI_TRY(xst_traffic_check(traffic, diag));
    XSTI_TRY(fill_options(&task, diag));
    const enum xst_status status = add_all(&task, diag);
    if (status != XST_OK) {
        free(task.candidates.list);
        return status;
    }
    mark_pareto(&task.candidates);
    memcpy(plan.name, traffic->kernel, sizeof plan.name);
    xsti_plan_head(profile, &plan);
    fill_question(&task, &plan);
    xsti_plan_finish(&task.candidates, &plan);
    fill_answers(&task, &plan);
    *plan_out = plan;
    return XST_OK;
}
