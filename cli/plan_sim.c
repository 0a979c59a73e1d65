/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_sim.h"

#include <math.h>

#include <xstage/timeline.h>

#include "options.h"

/* Attention as its kernel runs it; only candidates that kernel has a description of. */
static enum xst_status fa_a2a(const struct cli_plan_subject *subject, const struct xst_plan *plan,
                              const struct xst_plan_candidate *candidate, const struct xst_timeline_options *options,
                              struct xst_timeline_result *result, struct xst_diag *diag)
{
    if (candidate->slices.value > 1 || candidate->order != XST_TILE_ORDER_PEERS_FIRST)
        return XST_ERR_UNAVAILABLE;
    const struct xst_fa_a2a_plan fa = {.tile_rows = (int64_t)candidate->tile_rows.value,
                                       .tile_cols = (int64_t)plan->question.tile_cols.value,
                                       .producers = (int64_t)plan->question.ctas.value,
                                       .stages = 2,
                                       .staging_slots = (int64_t)candidate->staging_slots.value,
                                       .method = candidate->method,
                                       .phase = plan->phase,
                                       .sm_flop_per_us = candidate->math_rate.value * plan->question.tflops.value *
                                                         1e6 / plan->question.ctas.value};
    return xst_timeline_fa_a2a(subject->profile, subject->fa_shape, &fa, options, result, diag);
}

static enum xst_status moe(const struct cli_plan_subject *subject, const struct xst_plan *plan,
                           const struct xst_plan_candidate *candidate, const struct xst_timeline_options *options,
                           struct xst_timeline_result *result, struct xst_diag *diag)
{
    struct xst_moe_plan tiles = *subject->moe_plan;
    const int interleaved = candidate->schedule == XST_SCHEDULE_INTERLEAVED;
    const struct xst_timeline_moe order = {.lead = interleaved ? (int64_t)candidate->lead_tiles.value : 1,
                                           .group = interleaved ? (int64_t)candidate->group_tiles.value : 1,
                                           .rows = subject->counts};
    if (candidate->wave_blocks.known)
        return XST_ERR_UNAVAILABLE;
    tiles.method = candidate->method;
    tiles.schedule = candidate->schedule;
    tiles.producers = (int64_t)plan->question.ctas.value;
    tiles.sm_flop_per_us = plan->question.tflops.value * 1e6 / plan->question.ctas.value;
    return xst_timeline_moe(subject->profile, subject->moe_shape, &tiles, &order, options, result, diag);
}

/* Two devices that send each other the described traffic, cut as the candidate says. */
static enum xst_status traffic(const struct cli_plan_subject *subject, const struct xst_plan_candidate *candidate,
                               struct xst_timeline_options *options, struct xst_timeline_result *result,
                               struct xst_diag *diag)
{
    struct xst_traffic cut = *subject->traffic;
    cut.bursts_per_producer = floor(cut.bursts_per_producer * candidate->splits.value);
    if (cut.bursts_per_producer < 1)
        return XST_ERR_UNAVAILABLE;
    cut.path.method = candidate->method;
    cut.producers = (int64_t)candidate->producers.value;
    cut.bytes_per_producer = candidate->bytes_per_producer.value;
    cut.gap_us = candidate->gap_us.value;
    cut.staging_slots = (int64_t)candidate->staging_slots.value;
    if (cut.staging_slots > 1 && candidate->method != XST_METHOD_BULK)
        options->issuer = XST_ISSUER_ROLE;
    return xst_timeline_traffic(subject->profile, &cut, 2, options, result, diag);
}

static enum xst_status simulate(void *context, const struct xst_plan *plan, const struct xst_plan_candidate *candidate,
                                double *simulated_us_out, struct xst_diag *diag)
{
    const struct cli_plan_subject *const subject = context;
    struct xst_timeline_options options = {.no_free_run = 1, .seed = 1, .extrapolate = subject->extrapolate};
    struct xst_timeline_result result = {0};
    const enum xst_status status = subject->fa_shape    ? fa_a2a(subject, plan, candidate, &options, &result, diag)
                                   : subject->moe_shape ? moe(subject, plan, candidate, &options, &result, diag)
                                                        : traffic(subject, candidate, &options, &result, diag);
    if (status != XST_OK)
        return status;
    *simulated_us_out = result.makespan_us;
    xst_timeline_result_free(&result);
    return XST_OK;
}

enum xst_status cli_plan_simulate(struct cli *cli, const struct cli_plan_subject *subject, struct xst_plan *plan)
{
    if (!cli_has(cli, "simulate") || plan->chosen < 0)
        return XST_OK;
    struct cli_plan_subject copy = *subject;
    return xst_plan_simulate(plan, simulate, &copy, (size_t)cli_int(cli, "simulate"), &cli->diag);
}
