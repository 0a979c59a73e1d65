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

/* Reads the tables: which of R, T0, Q are known for this burst. */
static struct xst_stage stage_of(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                                 struct xst_timing *timing)
{
    struct xst_stage stage = {0, 1, INFINITY, burst->producers * burst->bytes_per_producer};
    int extrapolated = 0;
    if (path->drain_bytes_per_us.known) {
        stage.drain_bytes_per_us = path->drain_bytes_per_us.value;
        timing->known |= XST_TIMING_DRAIN;
    }
    if (xst_path_floor_us(path, burst->producers, burst->bytes_per_producer, extrapolate, &stage.floor_us,
                          &extrapolated) == XST_OK) {
        timing->known |= XST_TIMING_FLOOR;
        timing->extrapolated |= extrapolated ? XST_TIMING_FLOOR : 0;
    }
    if (xst_path_capacity_bytes(path, burst->producers, extrapolate, &stage.capacity_bytes, &extrapolated) == XST_OK) {
        timing->known |= XST_TIMING_CAPACITY;
        timing->extrapolated |= extrapolated ? XST_TIMING_CAPACITY : 0;
    }
    if (!(timing->known & XST_TIMING_DRAIN))
        timing->reason = XST_REASON_NO_DRAIN;
    else if (!(timing->known & XST_TIMING_FLOOR))
        timing->reason = XST_REASON_NO_FLOOR;
    else if (!(timing->known & XST_TIMING_CAPACITY))
        timing->reason = XST_REASON_NO_CAPACITY;
    return stage;
}

/* Staging release follows the same law as issue with its own floor; where the path has no release table (plain stores) it is
 * the issue itself. */
static void predict_release(const struct xst_path *path, const struct xst_burst *burst, int extrapolate,
                            const struct xst_stage *stage, struct xst_timing *timing)
{
    struct xst_stage release = *stage;
    int extrapolated = 0;
    if (path->release_floor.count == 0) {
        if (timing->known & XST_TIMING_FLOOR)
            timing->known |= XST_TIMING_RELEASE;
        timing->release_us = timing->issue_us;
        return;
    }
    if (xst_path_release_floor_us(path, burst->producers, burst->bytes_per_producer, extrapolate, &release.floor_us,
                                  &extrapolated) != XST_OK)
        return;
    timing->known |= XST_TIMING_RELEASE;
    timing->extrapolated |= extrapolated ? XST_TIMING_RELEASE : 0;
    timing->release_us = xst_law_issue_us(&release, burst->gap_us);
}

static void predict(const struct xst_path *path, const struct xst_burst *burst, int extrapolate, struct xst_timing *timing)
{
    memset(timing, 0, sizeof *timing);
    const struct xst_stage stage = stage_of(path, burst, extrapolate, timing);
    const double gap_us = burst->gap_us;
    timing->producers = burst->producers;
    timing->bytes_per_producer = burst->bytes_per_producer;
    timing->gap_us = gap_us;
    timing->burst_bytes = stage.burst_bytes;
    timing->drain_us = stage.burst_bytes / stage.drain_bytes_per_us;
    timing->issue_floor_us = stage.floor_us;
    timing->issue_us = xst_law_issue_us(&stage, gap_us);
    timing->issue_aligned_us = xst_law_aligned_issue_us(&stage, gap_us);
    timing->overhead_us = xst_law_overhead_us(&stage, gap_us);
    timing->period_us = xst_law_period_us(&stage, gap_us);
    timing->period_aligned_us = xst_law_aligned_period_us(&stage, gap_us);
    timing->recovery_gap_us = xst_law_recovery_gap_us(&stage);
    timing->isolated_issue_us = xst_law_isolated_issue_us(&stage);
    timing->backlog_bytes = xst_law_backlog_bytes(&stage);
    timing->capacity_bytes = stage.capacity_bytes;
    timing->margin_rate_bytes = xst_law_margin_rate_bytes(&stage, gap_us);
    timing->margin_capacity_bytes = xst_law_margin_capacity_bytes(&stage);
    timing->completion_coupled_period_us = xst_law_completion_coupled_us(&stage, gap_us);
    timing->ideal_period_us = timing->drain_us > gap_us ? timing->drain_us : gap_us;
    predict_release(path, burst, extrapolate, &stage, timing);
    const double overhead_us = path->issue_floor.count ? path->issue_floor.points[0].us : 0;
    timing->loggp_period_us = loggp_period_us(overhead_us, timing->drain_us, gap_us);
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
