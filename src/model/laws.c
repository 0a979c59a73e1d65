/* SPDX-License-Identifier: Apache-2.0
 *
 * The laws (1)-(7), (10), (11), (16) and the recursion they are fixed points of. One expression each; docs/model.md derives
 * them.
 */
#include <xstage/model.h>

#include <assert.h>
#include <math.h>

static double positive(double value)
{
    return value > 0 ? value : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* V/R: the time the burst needs on the drain. */
static double drain_us(const struct xst_stage *stage)
{
    assert(stage->drain_bytes_per_us > 0);
    return stage->burst_bytes / stage->drain_bytes_per_us;
}

double xst_law_issue_us(const struct xst_stage *stage, double gap_us)
{
    return larger(stage->floor_us, drain_us(stage) - gap_us);
}

double xst_law_overhead_us(const struct xst_stage *stage, double gap_us)
{
    return positive(drain_us(stage) - gap_us - stage->floor_us);
}

double xst_law_recovery_gap_us(const struct xst_stage *stage)
{
    return positive(drain_us(stage) - stage->floor_us);
}

double xst_law_period_us(const struct xst_stage *stage, double gap_us)
{
    return larger(drain_us(stage), stage->floor_us + gap_us);
}

double xst_law_completion_coupled_us(const struct xst_stage *stage, double gap_us)
{
    return drain_us(stage) + gap_us;
}

double xst_law_backlog_bytes(const struct xst_stage *stage)
{
    return positive(stage->burst_bytes - stage->drain_bytes_per_us * stage->floor_us);
}

double xst_law_isolated_issue_us(const struct xst_stage *stage)
{
    return larger(stage->floor_us, (stage->burst_bytes - stage->capacity_bytes) / stage->drain_bytes_per_us);
}

double xst_law_margin_rate_bytes(const struct xst_stage *stage, double gap_us)
{
    return stage->drain_bytes_per_us * (stage->floor_us + gap_us) - stage->burst_bytes;
}

double xst_law_margin_capacity_bytes(const struct xst_stage *stage)
{
    return stage->capacity_bytes - xst_law_backlog_bytes(stage);
}

double xst_law_aligned_issue_us(const struct xst_stage *stage, double gap_us)
{
    const double usable_gap_us = smaller(gap_us, stage->capacity_bytes / stage->drain_bytes_per_us);
    return larger(stage->floor_us, drain_us(stage) - usable_gap_us);
}

double xst_law_aligned_period_us(const struct xst_stage *stage, double gap_us)
{
    return xst_law_aligned_issue_us(stage, gap_us) + gap_us;
}

struct xst_step xst_law_step(const struct xst_stage *stage, double backlog_bytes, double gap_us)
{
    const double met_bytes = stage->burst_bytes + backlog_bytes;
    struct xst_step step;
    step.issue_us = larger(stage->floor_us, (met_bytes - stage->capacity_bytes) / stage->drain_bytes_per_us);
    step.backlog_after_issue_bytes =
        smaller(stage->capacity_bytes, positive(met_bytes - stage->drain_bytes_per_us * step.issue_us));
    step.backlog_after_gap_bytes = positive(step.backlog_after_issue_bytes - stage->drain_bytes_per_us * gap_us);
    return step;
}

double xst_law_bystander_delay_us(double backlog_bytes, double free_capacity_bytes, double drain_bytes_per_us)
{
    assert(drain_bytes_per_us > 0);
    return positive(backlog_bytes - free_capacity_bytes) / drain_bytes_per_us;
}
