/* SPDX-License-Identifier: Apache-2.0
 *
 * A fused mixture-of-experts layer on a profile: both schedules judged, (13) and (14), the lead of the interleaved one, and
 * which schedule to take.
 */
#include <xstage/audit.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/judge.h"
#include "base/diag.h"

static enum xst_status judge_schedule(const struct xst_profile *profile, const struct xst_audit *audit,
                                      enum xst_schedule schedule, const struct xst_audit_options *options,
                                      struct xst_audit_schedule *schedule_out, struct xst_diag *diag)
{
    struct xst_moe_plan plan = audit->moe_plan;
    struct xst_traffic traffic;
    struct xsti_judgement judgement;
    plan.schedule = schedule;
    XSTI_TRY(xst_moe_traffic(&audit->moe_shape, &plan, &traffic, diag));
    const struct xst_path *const path = xst_profile_path(profile, &traffic.path);
    if (!path)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile has no path for this schedule");
    xsti_judge(path, &traffic, options->extrapolate, &judgement);
    *schedule_out =
        (struct xst_audit_schedule){schedule,           judgement.verdict, judgement.numbers.gap_us, judgement.rate,
                                    judgement.capacity, judgement.aligned, judgement.drifting};
    return XST_OK;
}

/* The wave needs no lead and no working set, so it is taken whenever it holds; else the schedule that holds; when neither does,
 * the one with more rate margin. */
static void recommend(struct xst_audit *audit)
{
    const struct xst_audit_schedule *const wave = &audit->schedules[XST_SCHEDULE_WAVE];
    const struct xst_audit_schedule *const interleaved = &audit->schedules[XST_SCHEDULE_INTERLEAVED];
    if (wave->verdict == XST_VERDICT_UNKNOWN || interleaved->verdict == XST_VERDICT_UNKNOWN)
        return;
    audit->moe.recommended_known = 1;
    audit->moe.recommended = wave->verdict == XST_VERDICT_PIGGYBACK ? XST_SCHEDULE_WAVE : XST_SCHEDULE_INTERLEAVED;
}

/* The wave fails, the interleaved schedule holds: that is the first thing to do. */
static void propose_interleaving(struct xst_audit *audit)
{
    const struct xst_audit_schedule *const other = &audit->schedules[XST_SCHEDULE_INTERLEAVED];
    char us[4][XSTI_AMOUNT_BYTES];
    if (audit->moe_plan.schedule != XST_SCHEDULE_WAVE || audit->verdict != XST_VERDICT_RESHAPE ||
        other->verdict != XST_VERDICT_PIGGYBACK)
        return;
    struct xst_action action = {.what = XST_CHANGE_SCHEDULE, .from_word = "wave", .to_word = "interleaved"};
    action.predicted_issue_us = action.issue_per_tile_us = other->drifting.issue_us;
    if (audit->moe_plan.method == XST_METHOD_BULK)
        action.predicted_release_us = other->drifting.release_us;
    snprintf(action.text, sizeof action.text,
             "interleave %.3g Linear-1 tiles between Linear-2 tiles: the gap grows from %s to %s, predicted issue %s "
             "instead of %s",
             audit->moe.rho.value, xsti_us_text(audit->moe.gap_wave_us.value, us[0]),
             xsti_us_text(audit->moe.gap_interleaved_us.value, us[1]),
             xsti_us_text(action.predicted_issue_us.value, us[2]),
             audit->aligned.issue_us.known ? xsti_us_text(audit->aligned.issue_us.value, us[3]) : "an unknown one");
    xsti_action_add(audit, &action);
}

static void fill(const struct xst_moe_counts *counts, struct xst_audit_moe *moe)
{
    moe->rows = xsti_number_of((double)counts->rows);
    moe->blocks = xsti_number_of((double)counts->blocks);
    moe->l1_tiles = xsti_number_of((double)(counts->blocks * counts->l1_per_block));
    moe->l2_tiles = xsti_number_of((double)(counts->blocks * counts->l2_per_block));
    moe->l1_per_block = xsti_number_of((double)counts->l1_per_block);
    moe->l2_per_block = xsti_number_of((double)counts->l2_per_block);
    moe->rho = xsti_number_of(counts->rho);
    moe->t_l1_us = xsti_number_of(counts->l1_us);
    moe->t_l2_us = xsti_number_of(counts->l2_us);
    moe->t_act_us = xsti_number_of(counts->act_us);
    moe->gap_wave_us = xsti_number_of(counts->l2_us);
    moe->gap_interleaved_us = xsti_number_of(counts->l2_us + counts->rho * counts->l1_us);
}

static struct xst_number lead_number(int64_t lead)
{
    return lead > 0 ? xsti_number_of((double)lead) : (struct xst_number){0, 0, 0};
}

static enum xst_status leads(const struct xst_moe_counts *counts, const struct xst_audit_options *options,
                             struct xst_audit *audit, struct xst_diag *diag)
{
    const struct xst_lead_problem problem = {counts->blocks,       counts->l1_per_block,
                                             counts->l2_per_block, audit->moe_plan.producers,
                                             counts->l1_us,        counts->l2_us,
                                             counts->act_us};
    struct xst_audit_moe *const moe = &audit->moe;
    struct xst_lead_knees knees;
    struct xst_lead_waits waits;
    XSTI_TRY(xst_lead_find(&problem, &knees, diag));
    moe->lead_first_tiles = xsti_number_of((double)xst_lead_first_tiles(&problem));
    moe->lead_knee_tiles = lead_number(knees.steady);
    moe->lead_startup_tiles = lead_number(knees.startup);
    moe->lead_tail_tiles = lead_number(knees.tail);
    /* A Linear-1 tile leaves b_m x b_n / 2 values behind its gated activation. */
    if (knees.steady > 0)
        moe->lead_working_set_bytes =
            xsti_number_of((double)knees.steady * (double)audit->moe_plan.tile_rows *
                           (double)audit->moe_plan.tile_cols / 2 * (double)audit->moe_shape.element_bytes);
    if (options->lead == 0)
        return XST_OK;
    XSTI_TRY(xst_lead_run(&problem, options->lead, &waits, diag));
    moe->lead_tiles = xsti_number_of((double)options->lead);
    moe->lead_stall_us = xsti_number_of(waits.wait_us / (double)problem.producers);
    moe->lead_starved_tiles = xsti_number_of((double)waits.steady_starved);
    return XST_OK;
}

enum xst_status xst_audit_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                              const struct xst_moe_plan *plan, const struct xst_audit_options *options,
                              struct xst_audit *audit_out, struct xst_diag *diag)
{
    static const struct xst_audit_options none = {0};
    const struct xst_path *path = NULL;
    struct xst_moe_counts counts;
    struct xst_traffic traffic;
    double peak_tflops = 0;
    struct xst_audit audit = {.kind = XST_AUDIT_MOE, .moe_shape = *shape, .moe_plan = *plan};
    if (!options)
        options = &none;
    XSTI_TRY(xsti_machine_rate(profile, options, &audit.moe_plan.producers, &audit.moe_plan.sm_flop_per_us,
                               &peak_tflops, diag));
    XSTI_TRY(xst_moe_count(shape, &audit.moe_plan, &counts, diag));
    XSTI_TRY(xst_moe_traffic(shape, &audit.moe_plan, &traffic, diag));
    XSTI_TRY(xsti_audit_begin(profile, &traffic, options, &audit, &path, diag));
    fill(&counts, &audit.moe);
    XSTI_TRY(leads(&counts, options, &audit, diag));
    for (int i = 0; i < 2; i++)
        XSTI_TRY(judge_schedule(profile, &audit, (enum xst_schedule)i, options, &audit.schedules[i], diag));
    recommend(&audit);
    propose_interleaving(&audit);
    xsti_audit_finish(profile, path, options, &audit);
    *audit_out = audit;
    return XST_OK;
}
