/* SPDX-License-Identifier: Apache-2.0
 *
 * What a fused mixture-of-experts layer stores from its second linear layer, and when, under balanced routing.
 */
#include <xstage/moe.h>

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/whole.h"

static enum xst_status check(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

#define X(NAME, text, meaning)                                                                                         \
    case XST_SCHEDULE_##NAME:                                                                                          \
        return text;
const char *xst_schedule_text(enum xst_schedule schedule)
{
    switch (schedule) {
        XST_SCHEDULE_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *schedule_out = XST_SCHEDULE_##NAME;                                                                           \
        return 0;                                                                                                      \
    }
int xst_schedule_parse(const char *text, enum xst_schedule *schedule_out)
{
    XST_SCHEDULE_MAP(X)
    return -1;
}
#undef X

enum xst_status xst_moe_check(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan, struct xst_diag *diag)
{
    XSTI_TRY(check("hidden", shape->hidden, 1, 1 << 20, diag));
    XSTI_TRY(check("inter", shape->inter, 1, 1 << 20, diag));
    XSTI_TRY(check("experts", shape->experts, 1, 65536, diag));
    XSTI_TRY(check("topk", shape->topk, 1, 1024, diag));
    if (shape->topk > shape->experts)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: topk is %lld, above experts (%lld)", (long long)shape->topk,
                         (long long)shape->experts);
    XSTI_TRY(check("tokens", shape->tokens, 1, 1 << 24, diag));
    if (shape->ranks < 2)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: ranks is %lld; with fewer than 2 nothing leaves the device",
                         (long long)shape->ranks);
    XSTI_TRY(check("ranks", shape->ranks, 2, 65536, diag));
    if (shape->experts < shape->ranks)
        return xsti_fail(diag, XST_ERR_RANGE, "moe: experts is %lld, at least one per rank (%lld) is needed",
                         (long long)shape->experts, (long long)shape->ranks);
    XSTI_TRY(check("element_bytes", shape->element_bytes, 1, 16, diag));
    XSTI_TRY(check("tile_rows", plan->tile_rows, 1, 65536, diag));
    XSTI_TRY(check("tile_cols", plan->tile_cols, 1, 65536, diag));
    XSTI_TRY(check("tile_depth", plan->tile_depth, 1, 65536, diag));
    XSTI_TRY(check("producers", plan->producers, 1, 65536, diag));
    XSTI_TRY(check("stages", plan->stages, 1, 64, diag));
    XSTI_TRY(check("staging_slots", plan->staging_slots, 1, 1024, diag));
    if (!(plan->act_frac >= 0 && plan->act_frac <= 100))
        return xsti_fail(diag, XST_ERR_RANGE, "moe: act_frac is %g, outside 0..100", plan->act_frac);
    if (!(plan->sm_flop_per_us > 0 && isfinite(plan->sm_flop_per_us)))
        return xsti_fail(diag, XST_ERR_RANGE, "moe: sm_flop_per_us is %g, a positive rate is needed",
                         plan->sm_flop_per_us);
    return XST_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The other topk - 1 choices lie among the experts - 1 others; C(experts - 1 - expert, topk - 1) ways miss those before. */
double xst_moe_first_frac(const struct xst_moe_shape *shape, int64_t expert)
{
    double frac = 1;
    for (int64_t i = 0; i < shape->topk - 1; i++) {
        const double left = (double)(shape->experts - 1 - expert - i);
        frac *= left > 0 ? left / (double)(shape->experts - 1 - i) : 0;
    }
    return frac;
}

double xst_moe_operand_bytes(const struct xst_moe_shape *shape, int64_t operand_bytes)
{
    enum { SCALE_BYTES = 4, SCALED_VALUES = 128 };
    if (operand_bytes == 1)
        return 1 + (double)SCALE_BYTES / SCALED_VALUES;
    return (double)(operand_bytes > 0 ? operand_bytes : shape->element_bytes);
}

/* Tokens of all ranks that chose one of a rank's `local` experts: T (1 - C(E - local, k) / C(E, k)). */
static double fetched_rows_of(const struct xst_moe_shape *shape, int64_t local)
{
    double none = 1;
    for (int64_t i = 0; i < shape->topk; i++) {
        const double left = (double)(shape->experts - local - i);
        none *= left > 0 ? left / (double)(shape->experts - i) : 0;
    }
    return (double)(shape->ranks * shape->tokens) * (1 - none);
}

enum xst_status xst_moe_count(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                              struct xst_moe_counts *counts_out, struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_check(shape, plan, diag));
    struct xst_moe_counts counts;
    const double tile_flop = 2.0 * (double)plan->tile_rows * (double)plan->tile_cols;
    counts.rows = shape->tokens * shape->topk;
    counts.local_experts = smaller(xsti_ceil_div(shape->experts, shape->ranks), counts.rows);
    counts.fetched_rows = fetched_rows_of(shape, xsti_ceil_div(shape->experts, shape->ranks));
    counts.rows_per_expert = xsti_ceil_div(counts.rows, counts.local_experts);
    counts.blocks_per_expert = xsti_ceil_div(counts.rows_per_expert, plan->tile_rows);
    counts.blocks = counts.local_experts * counts.blocks_per_expert;
    counts.l1_per_block = xsti_ceil_div(2 * shape->inter, plan->tile_cols);
    counts.l2_per_block = xsti_ceil_div(shape->hidden, plan->tile_cols);
    const int64_t l1_per_expert = counts.blocks_per_expert * counts.l1_per_block;
    counts.wave_experts = smaller(xsti_ceil_div(2 * plan->producers, l1_per_expert), counts.local_experts);
    counts.producers = smaller(plan->producers, counts.wave_experts * counts.blocks_per_expert * counts.l2_per_block);
    counts.rho = (double)counts.l1_per_block / (double)counts.l2_per_block;
    counts.tile_bytes = (double)smaller(plan->tile_rows, counts.rows_per_expert) *
                        (double)smaller(plan->tile_cols, shape->hidden) * (double)shape->element_bytes;
    counts.l1_us = tile_flop * (double)shape->hidden / plan->sm_flop_per_us;
    counts.l2_us = tile_flop * (double)shape->inter / plan->sm_flop_per_us;
    counts.act_us = plan->act_frac * counts.l1_us;
    *counts_out = counts;
    return XST_OK;
}

enum xst_status xst_moe_traffic(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                                struct xst_traffic *traffic_out, struct xst_diag *diag)
{
    struct xst_moe_counts counts;
    XSTI_TRY(xst_moe_count(shape, plan, &counts, diag));
    const int interleaved = plan->schedule == XST_SCHEDULE_INTERLEAVED;
    struct xst_traffic traffic = {.path = {.target = XST_TARGET_PEER, .method = plan->method}};
    strcpy(traffic.kernel, interleaved ? "moe (interleaved)" : "moe (wave)");
    traffic.producers = counts.producers;
    traffic.bytes_per_producer = counts.tile_bytes;
    traffic.remote_frac = (double)(shape->ranks - 1) / (double)shape->ranks;
    traffic.burst_remote_frac = traffic.remote_frac;
    traffic.gap_us = counts.l2_us + (interleaved ? counts.rho * counts.l1_us : 0);
    /* In a wave equal tiles end together. Interleaved, neighbouring CTAs hold tiles of different lengths. */
    traffic.phase = interleaved ? XST_PHASE_SHIFTED : XST_PHASE_UNKNOWN;
    traffic.staging_slots = plan->staging_slots;
    traffic.prefetch_us = (double)plan->stages * 2.0 * (double)plan->tile_rows * (double)plan->tile_cols *
                          (double)plan->tile_depth / plan->sm_flop_per_us;
    traffic.bursts_per_producer = ceil((double)(counts.blocks * counts.l2_per_block) / (double)counts.producers);
    XSTI_TRY(xst_traffic_check(&traffic, diag));
    *traffic_out = traffic;
    return XST_OK;
}
