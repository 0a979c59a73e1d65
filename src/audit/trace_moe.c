/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of the mixture-of-experts layer, call by call and rank by rank.
 */
#include <xstage/audit_trace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/moe_kernel.h>
#include <xstage/plan.h>

#include "audit/judge.h"
#include "audit/trace_checks.h"
#include "base/diag.h"

enum { GROUP_ROWS = 64, STEP_BYTES = 128 };
static const double act_frac = 0.1;

struct promise {
    struct xst_moe_shape shape;
    struct xst_moe_plan plan;
    struct xst_moe_counts counts;
    int64_t lead, group, unit, wave_unit, dtype, target, routing;
    double skew;
    int timed;     /* the profile knows the device's rate: counts have times */
    int predicted; /* and the path */
    struct xst_audit audit;
    struct xst_number starved_us;
};

/* One tile: what the walk says, and what was seen. */
struct tile {
    struct xst_moe_tile is;
    int64_t units; /* warpgroups that computed it */
    int64_t cta;   /* of the first */
    int other_cta;
    int other_layer; /* it ended as a tile of the other layer */
    double bytes;    /* that left */
    double math_start_us, math_end_us;
    double wait_us; /* for its first operands; longest of its units */
    double late_us; /* for further ones */
    double issue_us;
    int64_t issues;
    double issue_start_us, issue_end_us;
};

struct rank {
    struct tile *tiles;
    int64_t count;
    double bytes;
};

static const struct xst_number unknown = {0, 0, 0};

static enum xst_status read_facts(const struct xst_trace *trace, struct promise *promise, struct xst_diag *diag)
{
    int64_t skew = 0;
    const struct {
        const char *name;
        int64_t *to;
        int64_t low, high;
    } facts[] = {
        {"hidden", &promise->shape.hidden, 1, 1 << 20},
        {"inter", &promise->shape.inter, 1, 1 << 20},
        {"experts", &promise->shape.experts, 1, 1 << 16},
        {"topk", &promise->shape.topk, 1, 1 << 10},
        {"tokens", &promise->shape.tokens, 1, 1 << 24},
        {"ranks", &promise->shape.ranks, 1, 1 << 16},
        {"element_bytes", &promise->shape.element_bytes, 1, 16},
        {"tile_rows", &promise->plan.tile_rows, GROUP_ROWS, 1 << 16},
        {"tile_cols", &promise->plan.tile_cols, 1, 1 << 16},
        {"producers", &promise->plan.producers, 1, 1 << 16},
        {"stages", &promise->plan.stages, 1, 64},
        {"lead", &promise->lead, 0, INT32_MAX},
        {"group", &promise->group, 0, 1 << 15},
        {"unit", &promise->unit, 0, 1 << 10},
        {"wave_unit", &promise->wave_unit, 1, 1 << 10},
        {"dtype", &promise->dtype, XST_MOE_BF16, XST_MOE_E4M3},
        {"target", &promise->target, XST_TARGET_PEER, XST_TARGET_LOCAL},
        {"routing", &promise->routing, XST_ROUTING_UNIFORM, XST_ROUTING_HOT_RANK},
        {"skew_millionths", &skew, 0, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        XSTI_TRY(xst_trace_fact(trace, facts[i].name, facts[i].to, diag));
        if (*facts[i].to < facts[i].low || *facts[i].to > facts[i].high)
            return xsti_fail(diag, XST_ERR_RANGE, "trace: %s is %lld, outside %lld..%lld", facts[i].name,
                             (long long)*facts[i].to, (long long)facts[i].low, (long long)facts[i].high);
    }
    promise->skew = (double)skew / 1e6;
    promise->plan.tile_depth = STEP_BYTES / (promise->dtype == XST_MOE_E4M3 ? 1 : 2);
    promise->plan.staging_slots = 1;
    promise->plan.act_frac = act_frac;
    return XST_OK;
}

/* Which order and store a call's name says (xst_moe_trace_variant). */
static enum xst_status read_variant(const char *variant, struct promise *promise, struct xst_diag *diag)
{
    static const char *const names[2][2] = {{"wave_at_once", "wave_paced"},
                                            {"interleaved_at_once", "interleaved_paced"}};
    for (int schedule = 0; schedule < 2; schedule++)
        for (int paced = 0; paced < 2; paced++)
            if (strcmp(variant, names[schedule][paced]) == 0) {
                promise->plan.schedule = (enum xst_schedule)schedule;
                promise->plan.method = paced ? XST_METHOD_BULK : XST_METHOD_ST16;
                return XST_OK;
            }
    return xsti_fail(diag, XST_ERR_RANGE, "trace: call %.24s is none of %s, %s, %s, %s", variant, names[0][0],
                     names[0][1], names[1][0], names[1][1]);
}

static enum xst_status remote_rows(const struct xst_trace *trace, int64_t rank, int64_t *rows_out,
                                   struct xst_diag *diag)
{
    char name[32];
    snprintf(name, sizeof name, "remote_rows_%d", (int)rank);
    XSTI_TRY(xst_trace_fact(trace, name, rows_out, diag));
    if (*rows_out < 0 || *rows_out > INT32_MAX)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: %s is %lld, outside 0..%d", name, (long long)*rows_out,
                         INT32_MAX);
    return XST_OK;
}

/* Tiles at the device's peak, and the list of the lead. */
static enum xst_status time_tiles(const struct xst_profile *profile, const struct xst_audit_options *options,
                                  struct promise *promise, struct xst_diag *diag)
{
    double peak_tflops;
    promise->timed = 0;
    promise->starved_us = unknown;
    promise->plan.sm_flop_per_us = 1; /* counts do not depend on it */
    XSTI_TRY(xst_moe_count(&promise->shape, &promise->plan, &promise->counts, diag));
    if (!profile)
        return XST_OK;
    double rate = 0;
    const enum xst_status status =
        xsti_machine_rate(profile, options, &promise->plan.producers, &rate, &peak_tflops, diag);
    if (status != XST_OK)
        return status == XST_ERR_NO_DATA ? XST_OK : status;
    promise->timed = 1;
    promise->plan.sm_flop_per_us = rate * (promise->dtype == XST_MOE_E4M3 ? 2 : 1);
    XSTI_TRY(xst_moe_count(&promise->shape, &promise->plan, &promise->counts, diag));
    if (promise->plan.schedule == XST_SCHEDULE_WAVE)
        return XST_OK;
    const struct xst_lead_problem problem = {promise->counts.blocks,       promise->counts.l1_per_block,
                                             promise->counts.l2_per_block, promise->plan.producers,
                                             promise->counts.l1_us,        promise->counts.l2_us,
                                             promise->counts.act_us};
    struct xst_lead_waits waits;
    XSTI_TRY(xst_lead_run(&problem, promise->lead, &waits, diag));
    promise->starved_us = xsti_number_of(waits.wait_us / (double)problem.producers);
    return XST_OK;
}

/* The traffic of the plan with the share that did leave, judged on the profile. */
static enum xst_status predict(const struct xst_profile *profile, const struct xst_audit_options *options,
                               int64_t leaving, struct promise *promise, struct xst_diag *diag)
{
    struct xst_traffic traffic;
    promise->predicted = 0;
    XSTI_TRY(time_tiles(profile, options, promise, diag));
    if (!promise->timed || promise->target > XST_TARGET_HOST || leaving == 0)
        return XST_OK;
    XSTI_TRY(xst_moe_traffic(&promise->shape, &promise->plan, &traffic, diag));
    traffic.path.target = (enum xst_target)promise->target;
    traffic.remote_frac = traffic.burst_remote_frac = fmin((double)leaving / (double)promise->counts.rows, 1);
    const enum xst_status status = xst_audit_traffic(profile, &traffic, options, &promise->audit, diag);
    promise->predicted = status == XST_OK;
    return status == XST_ERR_NO_DATA ? XST_OK : status;
}

/* Rows of the rank's experts. */
static enum xst_status rows_of(const struct promise *promise, int64_t rank, int64_t *counts, int64_t *first_out,
                               int64_t *experts_out, struct xst_diag *diag)
{
    int64_t end;
    XSTI_TRY(xst_routing_make((enum xst_routing)promise->routing, promise->skew, &promise->shape, counts, diag));
    xst_moe_experts_of(&promise->shape, rank, first_out, &end);
    *experts_out = end - *first_out;
    return XST_OK;
}

/* All tiles of a rank in the order of the walk. */
static enum xst_status walk(const struct promise *promise, const int64_t *rows, int64_t experts, struct rank *rank,
                            struct xst_diag *diag)
{
    const int wave = promise->plan.schedule == XST_SCHEDULE_WAVE;
    const int64_t lead = wave || promise->lead < 1 ? 1 : promise->lead, group = wave ? 1 : promise->group;
    struct xst_moe_walk walk;
    struct xst_moe_tile is;
    XSTI_TRY(
        xst_moe_walk_begin(&promise->shape, &promise->plan, rows, experts, lead, group > 0 ? group : 1, &walk, diag));
    walk.unit = wave ? promise->wave_unit : promise->unit > 1 ? promise->unit : 1;
    const int64_t most = walk.blocks * (walk.l1_per_block + walk.l2_per_block);
    XSTI_TRY(xsti_trace_check_tiles(most, diag));
    rank->tiles = calloc((size_t)(most + 1), sizeof *rank->tiles);
    if (!rank->tiles)
        return xsti_fail_memory(diag);
    while (rank->count < most && xst_moe_walk_next(&walk, &is))
        rank->tiles[rank->count++].is = is;
    return XST_OK;
}

static void see_math(const struct xst_trace_span *span, struct tile *tile)
{
    tile->math_start_us = tile->units == 0 ? span->start_us : fmin(tile->math_start_us, span->start_us);
    tile->math_end_us = fmax(tile->math_end_us, span->end_us);
    tile->late_us = fmax(tile->late_us, span->stall_us);
    tile->units++;
}

static void see_issue(const struct xst_trace_span *span, struct tile *tile)
{
    tile->issue_start_us = tile->issues == 0 ? span->start_us : fmin(tile->issue_start_us, span->start_us);
    tile->issue_end_us = fmax(tile->issue_end_us, span->end_us);
    tile->issue_us += span->end_us - span->start_us;
    tile->issues++;
}

static enum xst_status look(const struct xst_trace *trace, const struct xsti_trace_output *out,
                            const struct promise *promise, struct rank *rank, struct xst_diag *diag)
{
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        if (span->call != out->call || span->rank != out->rank)
            continue;
        rank->bytes += span->bytes;
        if (span->tile == XST_TRACE_NO_TILE)
            continue;
        if (span->tile >= rank->count || span->cta >= promise->plan.producers)
            return xsti_fail(diag, XST_ERR_RANGE,
                             "trace: %s, rank %d: tile %lld of CTA %d; there are %lld tiles and "
                             "%lld CTAs",
                             trace->calls[span->call].variant, span->rank, (long long)span->tile, span->cta,
                             (long long)rank->count, (long long)promise->plan.producers);
        struct tile *const tile = &rank->tiles[span->tile];
        if (tile->units == 0 && tile->wait_us == 0 && tile->issues == 0)
            tile->cta = span->cta;
        tile->other_cta |= tile->cta != span->cta;
        tile->bytes += span->bytes;
        if (span->what == XST_TRACE_LOAD)
            tile->wait_us = fmax(tile->wait_us, span->end_us - span->start_us);
        if (span->what == XST_TRACE_MATH)
            see_math(span, tile);
        if (span->what == XST_TRACE_ISSUE)
            see_issue(span, tile);
        tile->other_layer |= (span->what == XST_TRACE_ACT && tile->is.linear != 1) ||
                             (span->what == XST_TRACE_ISSUE && tile->is.linear != 2);
    }
    return XST_OK;
}

/* A tile of few rows is one warpgroup's. */
static int64_t units_of(const struct tile *tile)
{
    return tile->is.rows > GROUP_ROWS ? 2 : 1;
}

/* Bytes of a column of a block are whole rows, and as many rows in each column. */
static int64_t other_bytes(const struct promise *promise, const struct rank *rank, int64_t *block_rows)
{
    int64_t other = 0;
    for (int64_t i = 0; i < rank->count; i++) {
        const struct tile *const tile = &rank->tiles[i];
        const int64_t first = tile->is.column * promise->plan.tile_cols, left = promise->shape.hidden - first;
        const int64_t columns = left < promise->plan.tile_cols ? left : promise->plan.tile_cols;
        const double rows = tile->bytes / (double)(columns * promise->shape.element_bytes);
        if (tile->is.linear == 1) {
            other += tile->bytes != 0;
            continue;
        }
        if (tile->is.column == 0 && rows == floor(rows) && rows <= (double)tile->is.rows)
            block_rows[tile->is.block] = (int64_t)rows;
        other += rows != (double)block_rows[tile->is.block];
    }
    return other;
}

/* What shape, plan and routing alone say. */
static enum xst_status check_walk(struct xsti_trace_output *out, const struct promise *promise, const struct rank *rank,
                                  int64_t leaving, struct xst_diag *diag)
{
    const int64_t ctas = promise->plan.producers, producers = rank->count < ctas ? rank->count : ctas;
    int64_t computed = 0, out_of_walk = 0, used = 0;
    double *const last_us = calloc((size_t)ctas, sizeof *last_us);
    int64_t *const block_rows = malloc((size_t)(rank->count + 1) * sizeof *block_rows);
    if (!last_us || !block_rows) {
        free(last_us);
        free(block_rows);
        return xsti_fail_memory(diag);
    }
    for (int64_t i = 0; i < rank->count; i++)
        block_rows[i] = -1;
    for (int64_t i = 0; i < rank->count; i++) {
        const struct tile *const tile = &rank->tiles[i];
        computed += tile->units > 0;
        if (tile->units == 0)
            continue;
        used += last_us[tile->cta] == 0;
        /* claims of a CTA only rise; its first is its own number */
        out_of_walk += tile->other_cta || tile->other_layer || tile->units != units_of(tile) ||
                       (i < ctas && tile->cta != i) || tile->math_end_us < last_us[tile->cta];
        last_us[tile->cta] = tile->math_end_us;
    }
    const double bytes = (double)(leaving * promise->shape.hidden * promise->shape.element_bytes);
    xsti_trace_put(out, XST_TRACE_CHECK_tiles, xsti_number_of((double)rank->count), xsti_number_of((double)computed));
    xsti_trace_put(out, XST_TRACE_CHECK_producers, xsti_number_of((double)producers), xsti_number_of((double)used));
    xsti_trace_put(out, XST_TRACE_CHECK_tiles_out_of_walk, xsti_number_of(0), xsti_number_of((double)out_of_walk));
    xsti_trace_put(out, XST_TRACE_CHECK_remote_bytes, xsti_number_of(bytes), xsti_number_of(rank->bytes));
    xsti_trace_put(out, XST_TRACE_CHECK_tiles_with_other_bytes, xsti_number_of(0),
                   xsti_number_of((double)other_bytes(promise, rank, block_rows)));
    free(last_us);
    free(block_rows);
    return XST_OK;
}

/* Sums over the tiles of a rank. */
struct times {
    double shortest_us[3]; /* by layer */
    struct xsti_trace_mean first, later, between, behind, calm;
    double starved_us;
};

/* The tiles in the walk's order, each beside the one its CTA had before. */
static void add_tile(const struct promise *promise, const struct tile *tile, const struct tile *before, int64_t burst,
                     struct times *times)
{
    const double stall_us = tile->wait_us + tile->late_us;
    if (tile->units == 2)
        times->shortest_us[tile->is.linear] =
            fmin(times->shortest_us[tile->is.linear], tile->math_end_us - tile->math_start_us);
    if (before)
        xsti_trace_add(before->is.linear == 2 ? &times->behind : &times->calm, stall_us);
    if (tile->is.linear == 1)
        return;
    times->starved_us += tile->wait_us;
    struct xsti_trace_mean *const issue = burst < promise->counts.producers ? &times->first : &times->later;
    issue->sum += tile->issue_us;
    issue->count += tile->issues;
}

static enum xst_status sum_times(const struct promise *promise, const struct rank *rank, struct times *times,
                                 struct xst_diag *diag)
{
    const int wave = promise->plan.schedule == XST_SCHEDULE_WAVE;
    const size_t ctas = (size_t)promise->plan.producers;
    const struct tile **const last = calloc(2 * ctas, sizeof(const struct tile *)); /* of any layer; of Linear 2 */
    int64_t burst = 0;
    if (!last)
        return xsti_fail_memory(diag);
    *times = (struct times){.shortest_us = {INFINITY, INFINITY, INFINITY}};
    for (int64_t i = 0; i < rank->count; i++) {
        const struct tile *const tile = &rank->tiles[i];
        if (tile->units == 0)
            continue;
        const struct tile *const before = last[tile->cta], *const burst_before = last[ctas + (size_t)tile->cta];
        add_tile(promise, tile, before, burst, times);
        last[tile->cta] = tile;
        if (tile->is.linear == 1)
            continue;
        burst++;
        if (burst_before && tile->issues > 0 && burst_before->issues > 0 && (!wave || before == burst_before))
            xsti_trace_add(&times->between, tile->issue_start_us - burst_before->issue_end_us);
        last[ctas + (size_t)tile->cta] = tile;
    }
    free(last);
    return XST_OK;
}

static int by_issue_end(const void *left, const void *right)
{
    const struct tile *const a = *(const struct tile *const *)left, *const b = *(const struct tile *const *)right;
    return (a->issue_end_us > b->issue_end_us) - (a->issue_end_us < b->issue_end_us);
}

/* Most that was issued and not drained at `rate`. */
static enum xst_status backlog_of(const struct rank *rank, double rate, double *bytes_out, struct xst_diag *diag)
{
    const struct tile **const order = malloc((size_t)(rank->count + 1) * sizeof(const struct tile *));
    size_t count = 0;
    double backlog = 0, now_us = 0;
    if (!order)
        return xsti_fail_memory(diag);
    for (int64_t i = 0; i < rank->count; i++)
        if (rank->tiles[i].bytes > 0)
            order[count++] = &rank->tiles[i];
    if (count)
        qsort(order, count, sizeof(const struct tile *), by_issue_end);
    *bytes_out = 0;
    for (size_t i = 0; i < count; i++) {
        backlog = fmax(backlog - rate * (order[i]->issue_end_us - now_us), 0) + order[i]->bytes;
        now_us = order[i]->issue_end_us;
        *bytes_out = fmax(*bytes_out, backlog);
    }
    free(order);
    return XST_OK;
}

/* Times. Paced stores spread their issue on purpose: no law speaks of its length. */
static enum xst_status check_times(struct xsti_trace_output *out, const struct promise *promise,
                                   const struct rank *rank, struct xst_diag *diag)
{
    const struct xst_audit_numbers *const numbers = &promise->audit.numbers;
    const struct xst_number *const delay = &numbers->bystander_delay_us;
    const int known = promise->predicted, at_once = promise->plan.method == XST_METHOD_ST16;
    struct times times;
    struct xst_number backlog = unknown;
    XSTI_TRY(sum_times(promise, rank, &times, diag));
    if (known && numbers->drain_bytes_per_us.known) {
        XSTI_TRY(backlog_of(rank, numbers->drain_bytes_per_us.value, &backlog.value, diag));
        backlog.known = 1;
    }
    const double *const shortest = times.shortest_us;
    xsti_trace_put(out, XST_TRACE_CHECK_gap_us, promise->timed ? xsti_number_of(promise->counts.l2_us) : unknown,
                   isfinite(shortest[2]) ? xsti_number_of(shortest[2]) : unknown);
    xsti_trace_put(out, XST_TRACE_CHECK_gap_l1_us, promise->timed ? xsti_number_of(promise->counts.l1_us) : unknown,
                   isfinite(shortest[1]) ? xsti_number_of(shortest[1]) : unknown);
    xsti_trace_put(out, XST_TRACE_CHECK_between_us, known ? numbers->gap_us : unknown,
                   at_once ? xsti_trace_mean_of(&times.between) : unknown);
    xsti_trace_put(out, XST_TRACE_CHECK_issue_first_us, known && at_once ? numbers->isolated_issue_us : unknown,
                   xsti_trace_mean_of(&times.first));
    xsti_trace_put(out, XST_TRACE_CHECK_issue_later_us, known && at_once ? numbers->issue_us : unknown,
                   xsti_trace_mean_of(&times.later));
    xsti_trace_put(out, XST_TRACE_CHECK_stall_us,
                   known && delay->known ? xsti_number_of(fmax(delay->value - numbers->prefetch_us.value, 0)) : unknown,
                   times.behind.count && times.calm.count
                       ? xsti_number_of(xsti_trace_mean_of(&times.behind).value - xsti_trace_mean_of(&times.calm).value)
                       : unknown);
    xsti_trace_put(out, XST_TRACE_CHECK_starved_us, promise->starved_us,
                   xsti_number_of(times.starved_us / (double)promise->plan.producers));
    xsti_trace_put(out, XST_TRACE_CHECK_backlog_bytes, known ? numbers->backlog_bytes : unknown, backlog);
    return XST_OK;
}

static enum xst_status check_rank(const struct xst_trace *trace, struct xsti_trace_output *out,
                                  const struct promise *promise, int64_t leaving, struct xst_diag *diag)
{
    struct rank rank = {0};
    int64_t first = 0, experts = 0;
    int64_t *const counts = calloc((size_t)promise->shape.experts, sizeof *counts);
    enum xst_status status =
        counts ? rows_of(promise, out->rank, counts, &first, &experts, diag) : xsti_fail_memory(diag);
    if (status == XST_OK)
        status = walk(promise, counts + first, experts, &rank, diag);
    if (status == XST_OK)
        status = look(trace, out, promise, &rank, diag);
    if (status == XST_OK)
        status = check_walk(out, promise, &rank, leaving, diag);
    if (status == XST_OK)
        status = check_times(out, promise, &rank, diag);
    free(rank.tiles);
    free(counts);
    return status;
}

enum xst_status xst_audit_moe_trace(const struct xst_trace *trace, const struct xst_profile *profile,
                                    const struct xst_audit_options *options, struct xst_trace_check *checks_out,
                                    size_t room, size_t *count_out, struct xst_diag *diag)
{
    static const struct xst_audit_options none = {0};
    struct promise promise = {0};
    struct xsti_trace_output out = {.checks = checks_out, .room = room};
    if (strcmp(trace->kernel, "moe") != 0)
        return xsti_fail(diag, XST_ERR_USAGE, "trace: it is of kernel %.24s, not of moe", trace->kernel);
    XSTI_TRY(read_facts(trace, &promise, diag));
    XSTI_TRY(xsti_trace_check_spans(trace, promise.shape.ranks, diag));
    for (out.call = 0; out.call < trace->call_count; out.call++) {
        const struct xst_trace_call *const call = &trace->calls[out.call];
        XSTI_TRY(read_variant(call->variant, &promise, diag));
        for (out.rank = 0; out.rank < call->ranks; out.rank++) {
            int64_t leaving;
            XSTI_TRY(remote_rows(trace, out.rank, &leaving, diag));
            XSTI_TRY(predict(profile, options ? options : &none, leaving, &promise, diag));
            XSTI_TRY(check_rank(trace, &out, &promise, leaving, diag));
        }
    }
    if (out.full)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: more than the %zu checks there is room for", room);
    *count_out = out.count;
    return XST_OK;
}
