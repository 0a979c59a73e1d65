/* SPDX-License-Identifier: Apache-2.0
 *
 * The main loop: ranks one event at a time, or each on its own until the next settlement of the network.
 */
#include <math.h>
#include <stdlib.h>

#include "timeline/engine.h"

static int rank_busy(const struct xsti_rank *rank)
{
    return rank->working > 0 || rank->active > 0 || rank->pull_state == XSTI_PULL_HOLD ||
           rank->pull_state == XSTI_PULL_RUN || rank->pull_state == XSTI_PULL_WAIT || rank->timers.count > 0;
}

static void move_all(struct xsti_timeline *timeline, double to_us)
{
    for (int64_t r = 0; r < timeline->config->ranks; r++)
        xsti_rank_move(&timeline->ranks[r], to_us);
}

/* Earliest event of all ranks; INFINITY: none. */
static double earliest(const struct xsti_timeline *timeline, int64_t *rank_out)
{
    double at_us = INFINITY;
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        const double next_us = xsti_rank_next(&timeline->ranks[r]);
        if (next_us < at_us) {
            at_us = next_us;
            *rank_out = r;
        }
    }
    return at_us;
}

static enum xst_status too_many(const struct xsti_timeline *timeline, struct xst_diag *diag)
{
    return xsti_fail(diag, XST_ERR_TIMEOUT, "timeline: %lld events at %g us and no end; the limit is %lld",
                     (long long)xsti_timeline_events(timeline), timeline->ranks[0].now_us,
                     (long long)timeline->config->event_limit);
}

static enum xst_status loop_exact(struct xsti_timeline *timeline, struct xsti_recorder *recorder, struct xst_diag *diag)
{
    int64_t rank = 0, events = 0;
    xsti_network_settle(timeline);
    for (;;) {
        const double at_us = earliest(timeline, &rank);
        if (!isfinite(at_us))
            return XST_OK;
        while (recorder->next_us <= at_us) {
            move_all(timeline, recorder->next_us);
            xsti_record(timeline, recorder);
        }
        move_all(timeline, at_us);
        xsti_rank_step(&timeline->ranks[rank], at_us);
        if (timeline->ranks[rank].dirty)
            xsti_network_settle(timeline);
        if ((timeline->config->event_limit > 0 && ++events > timeline->config->event_limit) ||
            timeline->ranks[rank].stuck)
            return too_many(timeline, diag);
    }
}

/* One rank on its own until `end_us`. */
static void run_rank(struct xsti_rank *rank, double end_us)
{
    while (!rank->stuck) {
        const double at_us = xsti_rank_next(rank);
        if (!(at_us < end_us))
            break;
        xsti_rank_step(rank, at_us);
    }
    xsti_rank_move(rank, end_us);
}

static int any_stuck(const struct xsti_timeline *timeline)
{
    for (int64_t r = 0; r < timeline->config->ranks; r++)
        if (timeline->ranks[r].stuck)
            return 1;
    return 0;
}

static enum xst_status loop_steps(struct xsti_timeline *timeline, struct xsti_recorder *recorder, struct xst_diag *diag)
{
    const int64_t ranks = timeline->config->ranks;
    double now_us = 0;
    int64_t first = 0;
    for (;;) {
        xsti_network_settle(timeline);
        const double at_us = earliest(timeline, &first);
        if (!isfinite(at_us))
            return XST_OK;
        double end_us = fmax(now_us, at_us) + timeline->rate_step_us;
        end_us = fmin(end_us, fmax(recorder->next_us, now_us));
        for (int64_t r = 0; r < ranks; r++)
            run_rank(&timeline->ranks[r], end_us);
        now_us = end_us;
        if (recorder->next_us <= now_us)
            xsti_record(timeline, recorder);
        if ((timeline->config->event_limit > 0 && xsti_timeline_events(timeline) > timeline->config->event_limit) ||
            any_stuck(timeline))
            return too_many(timeline, diag);
    }
}

enum xst_status xst_timeline_run(const struct xst_timeline_config *config, struct xst_timeline_result *result_out,
                                 struct xst_diag *diag)
{
    struct xsti_timeline timeline;
    struct xsti_recorder recorder;
    struct xst_timeline_result result;
    XSTI_TRY(xsti_timeline_check(config, diag));
    XSTI_TRY(xsti_record_start(config, &recorder, diag));
    enum xst_status status = xsti_timeline_make(config, &timeline, diag);
    if (status != XST_OK) {
        free(recorder.points);
        return status;
    }
    for (int64_t r = 0; r < config->ranks; r++)
        xsti_rank_begin(&timeline.ranks[r]);
    status =
        timeline.rate_step_us > 0 ? loop_steps(&timeline, &recorder, diag) : loop_exact(&timeline, &recorder, diag);
    for (int64_t r = 0; status == XST_OK && r < config->ranks; r++)
        if (rank_busy(&timeline.ranks[r]))
            status = xsti_say_waiting(&timeline, &timeline.ranks[r], diag);
    if (status == XST_OK)
        status = xsti_sum_up(&timeline, &recorder, &result, diag);
    if (status == XST_OK)
        *result_out = result;
    else
        free(recorder.points);
    xsti_timeline_free(&timeline);
    return status;
}
