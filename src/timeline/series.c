/* SPDX-License-Identifier: Apache-2.0
 *
 * Backlog and egress over time, in a fixed number of points.
 */
#include <math.h>
#include <stdlib.h>

#include "timeline/engine.h"

enum xst_status xsti_record_start(const struct xst_timeline_config *config, struct xsti_recorder *recorder,
                                  struct xst_diag *diag)
{
    *recorder = (struct xsti_recorder){.next_us = INFINITY};
    if (config->series_count < 2 || !(config->series_step_us > 0))
        return XST_OK;
    recorder->points = calloc((size_t)config->series_count, sizeof *recorder->points);
    if (!recorder->points)
        return xsti_fail_memory(diag);
    recorder->most = config->series_count;
    recorder->step_us = config->series_step_us;
    recorder->next_us = 0;
    return XST_OK;
}

/* Twice the step: every other point goes, what drained meanwhile is kept. */
static void thin(struct xsti_recorder *recorder)
{
    int64_t kept = 1;
    for (int64_t i = 2; i < recorder->count; i += 2) {
        struct xst_timeline_point point = recorder->points[i];
        point.egress_bytes_per_us = (point.egress_bytes_per_us + recorder->points[i - 1].egress_bytes_per_us) / 2;
        point.egress_first_bytes_per_us =
            (point.egress_first_bytes_per_us + recorder->points[i - 1].egress_first_bytes_per_us) / 2;
        recorder->points[kept++] = point;
    }
    recorder->count = kept;
    recorder->step_us *= 2;
    recorder->next_us = recorder->points[kept - 1].time_us + recorder->step_us;
}

/* All ranks stand at the recorder's next time. */
void xsti_record(const struct xsti_timeline *timeline, struct xsti_recorder *recorder)
{
    struct xst_timeline_point point = {.time_us = recorder->next_us};
    double drained = 0;
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        point.backlog_bytes += timeline->ranks[r].backlog;
        drained += timeline->ranks[r].drained;
    }
    point.backlog_first_bytes = timeline->ranks[0].backlog;
    point.egress_bytes_per_us = (drained - recorder->drained) / recorder->step_us;
    point.egress_first_bytes_per_us = (timeline->ranks[0].drained - recorder->drained_first) / recorder->step_us;
    if (recorder->count == recorder->most) {
        thin(recorder);
        if (point.time_us < recorder->next_us)
            return;
    }
    recorder->points[recorder->count++] = point;
    recorder->drained = drained;
    recorder->drained_first = timeline->ranks[0].drained;
    recorder->next_us += recorder->step_us;
}
