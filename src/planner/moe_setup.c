/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a layer's plan does not depend on its routing: rates, tile times, paths, and the exact knees of the list.
 */
#include <math.h>

#include <xstage/audit.h>
#include <xstage/plan.h>

#include "base/diag.h"
#include "planner/candidates.h"

enum { MOST_BLOCKS = 1 << 24, MOST_COST_FRAC = 10 };
/* H200 data sheet: 4.8 TB/s of HBM3e. */
static const double memory_bytes_per_us = 4.8e6;

static enum xst_status fill_paths(const struct xst_profile *profile, int methods, struct xst_moe_setup *setup,
                                  struct xst_diag *diag)
{
    int found = 0;
    methods = xsti_plan_methods(methods);
    for (int method = 0; method <= (int)XST_METHOD_BULK; method++) {
        const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = (enum xst_method)method};
        setup->paths[method] = methods >> method & 1 ? xst_profile_path(profile, &key) : NULL;
        found += setup->paths[method] != NULL;
    }
    if (!found)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s has no path to a peer with the store methods asked for",
                         profile->name);
    return XST_OK;
}

static enum xst_status fill_memory(const struct xst_profile *profile, const struct xst_plan_moe_options *options,
                                   struct xst_moe_setup *setup, struct xst_diag *diag)
{
    setup->l2_bytes = options->l2_bytes;
    if (setup->l2_bytes == 0 && profile->machine.l2_bytes.known)
        setup->l2_bytes = profile->machine.l2_bytes.value;
    if (setup->l2_bytes == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "profile %s does not know the L2 size, so the lead's memory cost is unknown; give --l2-bytes",
                         profile->name);
    setup->reread_bytes_per_us = options->reread_bytes_per_us > 0 ? options->reread_bytes_per_us : memory_bytes_per_us;
    if (!(setup->l2_bytes > 0 && isfinite(setup->l2_bytes)) || !isfinite(setup->reread_bytes_per_us))
        return xsti_fail(diag, XST_ERR_RANGE, "l2_bytes is %g and reread_bytes_per_us %g, positive numbers are needed",
                         setup->l2_bytes, setup->reread_bytes_per_us);
    return XST_OK;
}

/* The knees are those of a long call with balanced routing: steady state knows no counts. */
static enum xst_status fill_leads(const struct xst_moe_counts *counts, struct xst_moe_setup *setup,
                                  struct xst_diag *diag)
{
    const struct xst_lead_problem problem = {counts->blocks,        counts->l1_per_block, counts->l2_per_block,
                                             setup->plan.producers, counts->l1_us,        counts->l2_us,
                                             counts->act_us};
    struct xst_lead_knees knees;
    XSTI_TRY(xst_lead_find(&problem, &knees, diag));
    setup->lead_first = xst_lead_first_tiles(&problem);
    setup->lead_knee = knees.steady;
    setup->lead_startup = knees.startup;
    setup->lead_tail = knees.tail;
    return XST_OK;
}

/* 0: the default, negative: none. */
static double cost_or(double given, double fallback)
{
    return given < 0 ? 0 : given == 0 ? fallback : given;
}

enum xst_status xst_moe_setup_make(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                                   const struct xst_moe_plan *plan, const struct xst_plan_moe_options *options,
                                   struct xst_moe_setup *setup_out, struct xst_diag *diag)
{
    static const struct xst_plan_moe_options none = {0};
    struct xst_moe_setup setup = {.shape = *shape, .plan = *plan};
    struct xst_moe_counts counts;
    double peak_tflops = 0;
    if (!options)
        options = &none;
    setup.extrapolate = options->extrapolate;
    setup.aligned = options->aligned;
    setup.once = options->once;
    setup.operand_bytes = options->operand_bytes;
    if (setup.operand_bytes < 0 || setup.operand_bytes > 16)
        return xsti_fail(diag, XST_ERR_RANGE, "operand_bytes is %lld, outside 0..16", (long long)setup.operand_bytes);
    setup.order_cost_frac = cost_or(options->order_cost_frac,
                                    xst_moe_unit_of(shape) > 1 ? XST_MOE_ORDER_COST_FRAC : XST_MOE_BLOCKS_COST_FRAC);
    setup.staged_cost_frac = cost_or(options->staged_cost_frac, XST_MOE_STAGED_COST_FRAC);
    if (!(setup.order_cost_frac <= MOST_COST_FRAC && setup.staged_cost_frac <= MOST_COST_FRAC))
        return xsti_fail(diag, XST_ERR_RANGE, "order_cost_frac is %g and staged_cost_frac %g, at most %d each",
                         setup.order_cost_frac, setup.staged_cost_frac, MOST_COST_FRAC);
    XSTI_TRY(xsti_plan_rate(profile, options->peak_tflops, options->given_tflops, &setup.plan.producers, &peak_tflops,
                            &setup.tflops, diag));
    setup.plan.sm_flop_per_us = setup.tflops * 1e6 / (double)setup.plan.producers;
    XSTI_TRY(xst_moe_count(shape, &setup.plan, &counts, diag));
    XSTI_TRY(fill_paths(profile, options->methods, &setup, diag));
    XSTI_TRY(fill_memory(profile, options, &setup, diag));
    setup.l1_us = counts.l1_us;
    setup.l2_us = counts.l2_us;
    setup.act_us = counts.act_us;
    setup.l1_per_block = counts.l1_per_block;
    setup.l2_per_block = counts.l2_per_block;
    const double rows = (double)shape->ranks * (double)shape->tokens * (double)shape->topk;
    if (rows / (double)plan->tile_rows + (double)shape->experts > MOST_BLOCKS)
        return xsti_fail(diag, XST_ERR_RANGE, "%g rows could meet on one rank, at most %d blocks of %lld are planned",
                         rows, MOST_BLOCKS, (long long)plan->tile_rows);
    setup.most_blocks = (int64_t)(rows / (double)plan->tile_rows) + shape->experts;
    XSTI_TRY(fill_leads(&counts, &setup, diag));
    *setup_out = setup;
    return XST_OK;
}
