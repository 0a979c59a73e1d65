/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention + all-to-all on a profile: the design test, the sequence length (12) from which the rate bound holds, and what the
 * exchange adds to the attention by the recursion over the waves of the persistent grid.
 */
#include <xstage/audit.h>

#include <math.h>

#include "audit/judge.h"
#include "base/diag.h"

/* Above this many steps the walk is not taken: nothing that long is run, and the audit stays quick. */
static const double most_steps = 2e7;

/* (12) M_ub = b_n * ceil(G* / t_kv) */
static struct xst_number upper_bound(const struct xst_number *recovery_gap_us, int64_t tile_cols, double kv_us)
{
    if (!recovery_gap_us->known)
        return (struct xst_number){0, 0, 0};
    struct xst_number bound = xsti_number_of((double)tile_cols * fmax(ceil(recovery_gap_us->value / kv_us), 1));
    bound.extrapolated = recovery_gap_us->extrapolated;
    return bound;
}

static double wave_bytes(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                         const struct xst_fa_a2a_counts *counts, int64_t wave)
{
    int64_t rows = 0;
    const int64_t first = wave * counts->producers;
    for (int64_t i = first; i < first + counts->producers && i < counts->tiles; i++)
        rows += xst_fa_a2a_tile_at(shape, plan, shape->ranks - 1, i).remote_rows;
    return (double)rows * (double)(shape->head_dim * shape->element_bytes);
}

/* Waves one after the other, every burst aligned. The tail starts with the last issue's end and ends with remote visibility. */
static void walk(const struct xst_path *path, const struct xst_fa_a2a_counts *counts, struct xst_audit *audit)
{
    const struct xst_audit_numbers *const numbers = &audit->numbers;
    const struct xst_fa_a2a_shape *const shape = &audit->fa_shape;
    const double steps = (double)counts->tiles * (double)shape->ranks;
    if (steps > most_steps || !numbers->drain_bytes_per_us.known || !numbers->issue_floor_us.known ||
        !numbers->capacity_bytes.known)
        return;
    struct xst_stage stage = {numbers->issue_floor_us.value, numbers->drain_bytes_per_us.value,
                              numbers->capacity_bytes.value, 0};
    struct xst_step step = {0, 0, 0};
    double issue_us = 0;
    for (int64_t wave = 0; wave < counts->waves; wave++) {
        stage.burst_bytes = wave_bytes(shape, &audit->fa_plan, counts, wave);
        step = xst_law_step(&stage, step.backlog_after_gap_bytes, counts->tile_us);
        issue_us += step.issue_us;
    }
    audit->fa.exposed_issue_us = xsti_number_of(issue_us);
    if (!path->fence_us.known)
        return;
    const double tail_us = step.backlog_after_issue_bytes / stage.drain_bytes_per_us + path->fence_us.value;
    audit->fa.tail_us = xsti_number_of(tail_us);
    audit->fa.exposed_us = xsti_number_of(issue_us + tail_us);
}

static void fill(const struct xst_fa_a2a_counts *counts, struct xst_audit *audit)
{
    struct xst_audit_fa *const fa = &audit->fa;
    const int64_t tile_cols = audit->fa_plan.tile_cols;
    fa->tiles = xsti_number_of((double)counts->tiles);
    fa->waves = xsti_number_of((double)counts->waves);
    fa->last_wave_tiles = xsti_number_of((double)(counts->tiles - (counts->waves - 1) * counts->producers));
    fa->kv_blocks = xsti_number_of((double)counts->kv_blocks);
    fa->t_kv_min_us = xsti_number_of(counts->kv_us);
    fa->compute_us = xsti_number_of((double)counts->waves * counts->tile_us);
    fa->m_upper_bound = upper_bound(&audit->numbers.recovery_gap_us, tile_cols, counts->kv_us);
    fa->m_upper_bound_remote = upper_bound(&audit->numbers.recovery_gap_remote_us, tile_cols, counts->kv_us);
}

enum xst_status xst_audit_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                 const struct xst_fa_a2a_plan *plan, const struct xst_audit_options *options,
                                 struct xst_audit *audit_out, struct xst_diag *diag)
{
    static const struct xst_audit_options none = {0};
    const struct xst_path *path = NULL;
    struct xst_fa_a2a_counts counts;
    struct xst_traffic traffic;
    double peak_tflops = 0;
    struct xst_audit audit = {.kind = XST_AUDIT_FA_A2A, .fa_shape = *shape, .fa_plan = *plan};
    if (!options)
        options = &none;
    XSTI_TRY(xsti_machine_rate(profile, options, &audit.fa_plan.producers, &audit.fa_plan.sm_flop_per_us, &peak_tflops,
                               diag));
    XSTI_TRY(xst_fa_a2a_count(shape, &audit.fa_plan, &counts, diag));
    XSTI_TRY(xst_fa_a2a_traffic(shape, &audit.fa_plan, &traffic, diag));
    XSTI_TRY(xsti_audit_begin(profile, &traffic, options, &audit, &path, diag));
    fill(&counts, &audit);
    walk(path, &counts, &audit);
    xsti_audit_finish(profile, path, options, &audit);
    *audit_out = audit;
    return XST_OK;
}
