/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of attention + all-to-all, call by call and rank by rank.
 */
#include <xstage/audit_trace.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "audit/trace_checks.h"
#include "base/diag.h"

/* Marks are placed to within a few cycles; a bound on time is held by what misses it by less. */
static const double clock_error = 1e-3;

enum { MOST_TILES = 1 << 22 };

struct promise {
    struct xst_fa_a2a_shape shape;
    struct xst_fa_a2a_plan plan;
    struct xst_fa_a2a_counts counts;
    int predicted; /* the profile knows the device's rate */
    struct xst_audit audit;
};

/* What was seen of one tile. */
struct seen {
    int64_t units;      /* that computed it */
    int64_t cta;        /* of the first */
    int other_cta;      /* another CTA had a hand in it */
    double bytes;       /* that left */
    double math_us;     /* longest of its units, waiting for the first operands included */
    double math_end_us; /* latest */
    double issue_us;    /* summed over the spans of its issue */
    int64_t issues;
    double issue_start_us;
};

const char *xst_trace_check_text(enum xst_trace_check_name name)
{
    static const char *const texts[] = {
#define X(name, kind, meaning) #name,
        XST_TRACE_CHECKS(X)
#undef X
    };
    return texts[name];
}

const char *xst_trace_check_meaning(enum xst_trace_check_name name)
{
    static const char *const texts[] = {
#define X(name, kind, meaning) meaning,
        XST_TRACE_CHECKS(X)
#undef X
    };
    return texts[name];
}

enum xst_trace_check_kind xst_trace_check_kind(enum xst_trace_check_name name)
{
    static const enum xst_trace_check_kind kinds[] = {
#define X(name, kind, meaning) XST_TRACE_CHECK_##kind,
        XST_TRACE_CHECKS(X)
#undef X
    };
    return kinds[name];
}

static const struct xst_number unknown = {0, 0, 0};

struct xst_number xsti_trace_mean_of(const struct xsti_trace_mean *mean)
{
    return mean->count ? xsti_number_of(mean->sum / (double)mean->count) : unknown;
}

void xsti_trace_put(struct xsti_trace_output *out, enum xst_trace_check_name name, struct xst_number promised,
                    struct xst_number observed)
{
    if (out->count == out->room) {
        out->full = 1;
        return;
    }
    struct xst_trace_check check = {out->call, out->rank, name, promised, observed, XST_ANSWER_UNKNOWN};
    if (promised.known && observed.known) {
        if (xst_trace_check_kind(name) == XST_TRACE_CHECK_EQUAL)
            check.holds = promised.value == observed.value ? XST_ANSWER_YES : XST_ANSWER_NO;
        if (xst_trace_check_kind(name) == XST_TRACE_CHECK_LEAST)
            check.holds = observed.value >= promised.value * (1 - clock_error) ? XST_ANSWER_YES : XST_ANSWER_NO;
    }
    out->checks[out->count++] = check;
}

enum xst_status xsti_trace_check_tiles(int64_t tiles, struct xst_diag *diag)
{
    if (tiles <= MOST_TILES)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "trace: its facts promise %lld tiles a call, at most %d are looked at",
                     (long long)tiles, MOST_TILES);
}

/* What the trace says ran. */
static enum xst_status read_facts(const struct xst_trace *trace, struct promise *promise, struct xst_diag *diag)
{
    int64_t target = 0;
    XSTI_TRY(xst_trace_fact(trace, "batch", &promise->shape.batch, diag));
    XSTI_TRY(xst_trace_fact(trace, "heads", &promise->shape.heads, diag));
    XSTI_TRY(xst_trace_fact(trace, "head_dim", &promise->shape.head_dim, diag));
    XSTI_TRY(xst_trace_fact(trace, "seq", &promise->shape.seq, diag));
    XSTI_TRY(xst_trace_fact(trace, "ranks", &promise->shape.ranks, diag));
    XSTI_TRY(xst_trace_fact(trace, "element_bytes", &promise->shape.element_bytes, diag));
    XSTI_TRY(xst_trace_fact(trace, "tile_rows", &promise->plan.tile_rows, diag));
    XSTI_TRY(xst_trace_fact(trace, "tile_cols", &promise->plan.tile_cols, diag));
    XSTI_TRY(xst_trace_fact(trace, "producers", &promise->plan.producers, diag));
    XSTI_TRY(xst_trace_fact(trace, "stages", &promise->plan.stages, diag));
    XSTI_TRY(xst_trace_fact(trace, "target", &target, diag));
    if (target < XST_TARGET_PEER || target > XST_TARGET_LOCAL)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: target is %lld, outside %d..%d", (long long)target,
                         XST_TARGET_PEER, XST_TARGET_LOCAL);
    promise->plan.staging_slots = 1;
    promise->plan.target = target == XST_TARGET_HOST ? XST_TARGET_HOST : XST_TARGET_PEER;
    promise->predicted = target == XST_TARGET_PEER || target == XST_TARGET_HOST;
    return XST_OK;
}

/* The audit of the same shape and plan; without a profile, or with a local target, only the counts. */
static enum xst_status predict(const struct xst_profile *profile, const struct xst_audit_options *options,
                               enum xst_method method, struct promise *promise, struct xst_diag *diag)
{
    promise->plan.method = method;
    promise->plan.sm_flop_per_us = 1; /* counts do not depend on it */
    promise->predicted = promise->predicted && profile;
    XSTI_TRY(xst_fa_a2a_count(&promise->shape, &promise->plan, &promise->counts, diag));
    XSTI_TRY(xsti_trace_check_tiles(promise->counts.tiles, diag));
    if (!promise->predicted)
        return XST_OK;
    promise->plan.sm_flop_per_us = 0;
    const enum xst_status status =
        xst_audit_fa_a2a(profile, &promise->shape, &promise->plan, options, &promise->audit, diag);
    promise->predicted = status == XST_OK;
    promise->plan.sm_flop_per_us = 1;
    return status == XST_ERR_NO_DATA ? XST_OK : status;
}

static double tile_bytes(const struct promise *promise, int64_t rank, int64_t tile)
{
    return (double)(xst_fa_a2a_tile_at(&promise->shape, &promise->plan, rank, tile).remote_rows *
                    promise->shape.head_dim * promise->shape.element_bytes);
}

static enum xst_status look(const struct xst_trace *trace, const struct xsti_trace_output *out,
                            const struct promise *promise, struct seen *tiles, double *bytes_out, struct xst_diag *diag)
{
    *bytes_out = 0;
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        if (span->call != out->call || span->rank != out->rank)
            continue;
        *bytes_out += span->bytes;
        if (span->tile == XST_TRACE_NO_TILE)
            continue;
        if (span->tile >= promise->counts.tiles)
            return xsti_fail(diag, XST_ERR_RANGE, "trace: %s, rank %d: tile %lld of a walk of %lld",
                             trace->calls[span->call].variant, span->rank, (long long)span->tile,
                             (long long)promise->counts.tiles);
        struct seen *const tile = &tiles[span->tile];
        if (tile->units == 0)
            tile->cta = span->cta;
        tile->other_cta |= tile->cta != span->cta;
        tile->bytes += span->bytes;
        if (span->what == XST_TRACE_MATH) {
            tile->units++;
            tile->math_us = fmax(tile->math_us, span->end_us - span->start_us);
            tile->math_end_us = fmax(tile->math_end_us, span->end_us);
        }
        if (span->what == XST_TRACE_ISSUE) {
            tile->issue_start_us = tile->issues == 0 ? span->start_us : fmin(tile->issue_start_us, span->start_us);
            tile->issue_us += span->end_us - span->start_us;
            tile->issues++;
        }
    }
    return XST_OK;
}

/* Tiles and bytes: what shape and plan alone say. */
static void check_walk(struct xsti_trace_output *out, const struct promise *promise, const struct seen *tiles)
{
    const struct xst_fa_a2a_counts *const counts = &promise->counts;
    int64_t computed = 0, producers = 0, out_of_walk = 0, other_bytes = 0;
    double first = 0, promised_first = 0, early = 0, promised_early = 0;
    for (int64_t i = 0; i < counts->tiles; i++) {
        const double bytes = tile_bytes(promise, out->rank, i);
        const int64_t last = i + (counts->tiles - 1 - i) / counts->producers * counts->producers;
        computed += tiles[i].units > 0;
        producers += i < counts->producers && tiles[i].units > 0;
        out_of_walk += tiles[i].units > 0 && (tiles[i].other_cta || tiles[i].units != tiles[0].units ||
                                              tiles[i].cta != tiles[i % counts->producers].cta);
        other_bytes += tiles[i].bytes != bytes;
        first += i < counts->producers ? tiles[i].bytes : 0;
        promised_first += i < counts->producers ? bytes : 0;
        promised_early += i != last ? bytes : 0;
        early +=
            tiles[i].issues > 0 && i != last && tiles[i].issue_start_us < tiles[last].math_end_us ? tiles[i].bytes : 0;
    }
    xsti_trace_put(out, XST_TRACE_CHECK_tiles, xsti_number_of((double)counts->tiles), xsti_number_of((double)computed));
    xsti_trace_put(out, XST_TRACE_CHECK_producers, xsti_number_of((double)counts->producers),
                   xsti_number_of((double)producers));
    xsti_trace_put(out, XST_TRACE_CHECK_tiles_out_of_walk, xsti_number_of(0), xsti_number_of((double)out_of_walk));
    xsti_trace_put(out, XST_TRACE_CHECK_tiles_with_other_bytes, xsti_number_of(0), xsti_number_of((double)other_bytes));
    xsti_trace_put(out, XST_TRACE_CHECK_first_burst_bytes, xsti_number_of(promised_first), xsti_number_of(first));
    xsti_trace_put(out, XST_TRACE_CHECK_bytes_before_last_tile, xsti_number_of(promised_early), xsti_number_of(early));
}

static void add_issues(struct xsti_trace_mean *mean, const struct seen *tile)
{
    mean->sum += tile->issue_us;
    mean->count += tile->issues;
}

/* Times. A sending role spreads its issue on purpose: no law speaks of its length. */
static void check_times(struct xsti_trace_output *out, const struct promise *promise, const struct seen *tiles,
                        int paced)
{
    const struct xst_fa_a2a_counts *const counts = &promise->counts;
    const struct xst_audit_numbers *const numbers = &promise->audit.numbers;
    struct xsti_trace_mean first = {0, 0}, later = {0, 0}, behind = {0, 0}, calm = {0, 0};
    double shortest = INFINITY;
    for (int64_t i = 0; i < counts->tiles; i++) {
        const double remote = tile_bytes(promise, out->rank, i);
        const double before = i >= counts->producers ? tile_bytes(promise, out->rank, i - counts->producers) : 0;
        shortest = tiles[i].units ? fmin(shortest, tiles[i].math_us) : shortest;
        if (remote > 0)
            add_issues(i < counts->producers ? &first : &later, &tiles[i]);
        if (i >= counts->producers && i < 2 * counts->producers && before > 0)
            xsti_trace_add(&behind, tiles[i].math_us);
        if (i >= counts->producers && before == 0)
            xsti_trace_add(&calm, tiles[i].math_us);
    }
    const int known = promise->predicted;
    xsti_trace_put(out, XST_TRACE_CHECK_gap_us, known ? numbers->gap_us : unknown,
                   isfinite(shortest) ? xsti_number_of(shortest) : unknown);
    xsti_trace_put(out, XST_TRACE_CHECK_issue_first_us, known && !paced ? numbers->isolated_issue_us : unknown,
                   xsti_trace_mean_of(&first));
    xsti_trace_put(out, XST_TRACE_CHECK_issue_later_us, known && !paced ? numbers->issue_us : unknown,
                   xsti_trace_mean_of(&later));
    const struct xst_number *const delay = &numbers->bystander_delay_us;
    xsti_trace_put(out, XST_TRACE_CHECK_late_us,
                   known && !paced && delay->known ? xsti_number_of(fmax(delay->value - numbers->prefetch_us.value, 0))
                                                   : unknown,
                   behind.count && calm.count
                       ? xsti_number_of(behind.sum / (double)behind.count - calm.sum / (double)calm.count)
                       : unknown);
}

static int has_store_role(const struct xst_trace *trace, int64_t call)
{
    for (size_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].call == call && trace->spans[i].role == XST_TRACE_ROLE_STORE && trace->spans[i].tile >= 0)
            return 1;
    return 0;
}

static enum xst_status check_rank(const struct xst_trace *trace, struct xsti_trace_output *out,
                                  const struct promise *promise, struct xst_diag *diag)
{
    double bytes = 0, promised = 0;
    const int64_t tiles = promise->counts.tiles;
    struct seen *const seen = calloc((size_t)tiles, sizeof *seen);
    if (!seen)
        return xsti_fail_memory(diag);
    const enum xst_status status = look(trace, out, promise, seen, &bytes, diag);
    for (int64_t i = 0; i < tiles; i++)
        promised += tile_bytes(promise, out->rank, i);
    if (status == XST_OK) {
        const int exchange = strcmp(trace->calls[out->call].variant, "a2a_only") == 0; /* no tiles */
        xsti_trace_put(out, XST_TRACE_CHECK_remote_bytes, xsti_number_of(promised), xsti_number_of(bytes));
        if (!exchange) {
            check_walk(out, promise, seen);
            check_times(out, promise, seen, has_store_role(trace, out->call));
        }
    }
    free(seen);
    return status;
}

enum xst_status xsti_trace_check_spans(const struct xst_trace *trace, int64_t ranks, struct xst_diag *diag)
{
    if (trace->call_count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "trace: it has no calls");
    for (int64_t i = 0; i < trace->call_count; i++) {
        const struct xst_trace_call *const call = &trace->calls[i];
        if (call->ranks == 0)
            return xsti_fail(diag, XST_ERR_NO_DATA, "trace: call %s has no spans", call->variant);
        if (call->lost > 0)
            return xsti_fail(diag, XST_ERR_NO_DATA, "trace: call %s has lost %lld marks: the ring was too small",
                             call->variant, (long long)call->lost);
    }
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        const struct xst_trace_call *const call = &trace->calls[span->call];
        const int64_t count = call->ranks < ranks ? call->ranks : ranks;
        if (span->rank < 0 || span->rank >= count)
            return xsti_fail(diag, XST_ERR_RANGE, "trace: call %s: a span of rank %d, outside 0..%lld", call->variant,
                             span->rank, (long long)count - 1);
    }
    return XST_OK;
}

enum xst_status xst_audit_fa_a2a_trace(const struct xst_trace *trace, const struct xst_profile *profile,
                                       const struct xst_audit_options *options, struct xst_trace_check *checks_out,
                                       size_t room, size_t *count_out, struct xst_diag *diag)
{
    struct promise promise = {{0}, {0}, {0}, 0, {0}};
    struct xsti_trace_output out = {.checks = checks_out, .room = room};
    if (strcmp(trace->kernel, "fa-a2a") != 0)
        return xsti_fail(diag, XST_ERR_USAGE, "trace: it is of kernel %.24s, not of fa-a2a", trace->kernel);
    XSTI_TRY(read_facts(trace, &promise, diag));
    XSTI_TRY(xsti_trace_check_spans(trace, promise.shape.ranks, diag));
    const int leaves = promise.predicted;
    for (out.call = 0; out.call < trace->call_count; out.call++) {
        const struct xst_trace_call *const call = &trace->calls[out.call];
        promise.predicted = leaves;
        XSTI_TRY(predict(profile, options, strstr(call->variant, "bulk") ? XST_METHOD_BULK : XST_METHOD_ST16, &promise,
                         diag));
        for (out.rank = 0; out.rank < call->ranks; out.rank++)
            XSTI_TRY(check_rank(trace, &out, &promise, diag));
    }
    if (out.full)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: more than the %zu checks there is room for", room);
    *count_out = out.count;
    return XST_OK;
}
