/* SPDX-License-Identifier: Apache-2.0
 *
 * All laws for one burst shape on one path, and the rivals beside them.
 */
#include <xstage/model.h>

#include <math.h>
#include <string.h>

#include "base/diag.h"

/* LogGP (Alexandrov et al., 1995) with parameters a profile holds: overhead o is the issue time of the smallest burst, the gap
 * per byte 1/R is shared by all producers. The sender is busy for o, the network for V/R, and the next message may follow when
 * both are over: no capacity, no backpressure on issue. */
static double loggp_period_us(double overhead_us, double drain_us, double gap_us)
{
    const double sender_us = overhead_us + gap_us, network_us = overhead_us + drain_us;
    return sender_us > network_us ? sender_us : network_us;
}

static enum xst_status check_burst(const struct xst_burst *burst, struct xst_diag *diag)
{
    if (!(burst->producers >= 1 && burst->producers <= 1e9))
        return xsti_fail(diag, XST_ERR_RANGE, "producers is %g, outside 1..1e9", burst->producers);
    if (!(burst->bytes_per_producer >= 1 && burst->bytes_per_producer <= 1e12))
        return xsti_fail(diag, XST_ERR_RANGE, "bytes_per_producer is %g, outside 1..1e12", burst->bytes_per_producer);
    if (!(burst->gap_us >= 0 && burst->gap_us <= 1e9))
        return xsti_fail(diag, XST_ERR_RANGE, "gap_us is %g, outside 0..1e9", burst->gap_us);
    return XST_OK;
}

/* Marks a table value as known, and as read outside the valid range. */
static void note(struct xst_timing *timing, uint32_t bit, int extrapolated)
{
    timing->known |= bit;
    timing->extrapolated |= extrapolated ? bit : 0;
}

/* Issue: R, T0 and Q as far as the tables know them for this burst. */
static struct xst_stage issue_stage(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                                    struct xst_timing *timing)
{
    struct xst_stage stage = {0, 1, INFINITY, burst->producers * burst->bytes_per_producer};
    int beyond = 0;
    if (path->drain_bytes_per_us.known) {
        stage.drain_bytes_per_us = path->drain_bytes_per_us.value;
        note(timing, XST_TIMING_DRAIN, 0);
    }
    if (xst_path_floor_us(path, burst->producers, burst->bytes_per_producer, extrapolate, &stage.floor_us, &beyond) ==
        XST_OK)
        note(timing, XST_TIMING_FLOOR, beyond);
    if (xst_path_capacity_bytes(path, burst->producers, extrapolate, &stage.capacity_bytes, &beyond) == XST_OK)
        note(timing, XST_TIMING_CAPACITY, beyond);
    return stage;
}

/* What keeps the producer from its next burst: the release of its staging, or the issue itself where nothing is staged. */
static struct xst_stage busy_stage(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                                   const struct xst_stage *issue, struct xst_timing *timing)
{
    struct xst_stage stage = *issue;
    int beyond = 0;
    if (path->release_floor.count == 0) {
        if (timing->known & XST_TIMING_FLOOR)
            note(timing, XST_TIMING_RELEASE, timing->extrapolated & XST_TIMING_FLOOR ? 1 : 0);
        if (timing->known & XST_TIMING_CAPACITY)
            note(timing, XST_TIMING_RELEASE_CAPACITY, timing->extrapolated & XST_TIMING_CAPACITY ? 1 : 0);
        return stage;
    }
    stage.capacity_bytes = INFINITY;
    if (xst_path_release_floor_us(path, burst->producers, burst->bytes_per_producer, extrapolate, &stage.floor_us,
                                  &beyond) == XST_OK)
        note(timing, XST_TIMING_RELEASE, beyond);
    if (xst_path_release_capacity_bytes(path, burst->producers, extrapolate, &stage.capacity_bytes, &beyond) == XST_OK)
        note(timing, XST_TIMING_RELEASE_CAPACITY, beyond);
    return stage;
}

static enum xst_reason reason_of(uint32_t known)
{
    if (!(known & XST_TIMING_DRAIN))
        return XST_REASON_NO_DRAIN;
    if (!(known & XST_TIMING_FLOOR))
        return XST_REASON_NO_FLOOR;
    return known & XST_TIMING_CAPACITY ? XST_REASON_NONE : XST_REASON_NO_CAPACITY;
}

static void predict(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                    struct xst_timing *timing)
{
    memset(timing, 0, sizeof *timing);
    const struct xst_stage issue = issue_stage(path, burst, extrapolate, timing);
    const struct xst_stage busy = busy_stage(path, burst, extrapolate, &issue, timing);
    const int staged = path->release_floor.count > 0;
    const double gap_us = burst->gap_us;
    timing->reason = reason_of(timing->known);
    timing->producers = burst->producers;
    timing->bytes_per_producer = burst->bytes_per_producer;
    timing->gap_us = gap_us;
    timing->burst_bytes = issue.burst_bytes;
    timing->drain_us = issue.burst_bytes / issue.drain_bytes_per_us;
    timing->issue_floor_us = issue.floor_us;
    timing->issue_us = staged ? issue.floor_us : xst_law_issue_us(&issue, gap_us);
    timing->issue_aligned_us = staged ? xst_law_isolated_issue_us(&issue) : xst_law_aligned_issue_us(&issue, gap_us);
    timing->isolated_issue_us = xst_law_isolated_issue_us(&issue);
    timing->backlog_bytes = xst_law_backlog_bytes(&issue);
    timing->capacity_bytes = issue.capacity_bytes;
    timing->margin_capacity_bytes = xst_law_margin_capacity_bytes(&issue);
    timing->overhead_us = xst_law_overhead_us(&busy, gap_us);
    timing->period_us = xst_law_period_us(&busy, gap_us);
    timing->period_aligned_us = xst_law_aligned_period_us(&busy, gap_us);
    timing->recovery_gap_us = xst_law_recovery_gap_us(&busy);
    timing->margin_rate_bytes = xst_law_margin_rate_bytes(&busy, gap_us);
    timing->release_floor_us = busy.floor_us;
    timing->release_us = xst_law_issue_us(&busy, gap_us);
    timing->release_isolated_us = xst_law_isolated_issue_us(&busy);
    timing->completion_coupled_period_us = xst_law_completion_coupled_us(&busy, gap_us);
    timing->ideal_period_us = timing->drain_us > gap_us ? timing->drain_us : gap_us;
    timing->loggp_period_us =
        loggp_period_us(path->issue_floor.count ? path->issue_floor.points[0].us : 0, timing->drain_us, gap_us);
}

enum xst_status xst_timing_predict_many(const struct xst_path *path, const struct xst_burst *bursts, size_t count,
                                        int extrapolate, struct xst_timing *timings_out, struct xst_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        XSTI_TRY(check_burst(&bursts[i], diag));
        predict(path, &bursts[i], extrapolate, &timings_out[i]);
    }
    return XST_OK;
}

enum xst_status xst_timing_predict(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                                   struct xst_timing *timing_out, struct xst_diag *diag)
{
    return xst_timing_predict_many(path, burst, 1, extrapolate, timing_out, diag);
}
