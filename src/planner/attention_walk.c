/* SPDX-License-Identifier: Apache-2.0
 *
 * One wave after the other. A tile leaves at once or in slices spread over the next tile's compute (17); the last wave
 * has no next tile, so it leaves at once. Plain stores follow the recursion of docs/model.md: the producer waits when
 * the stage is full. Bulk stores leave the producer on their floor; it waits when the staging is needed again before
 * it is released.
 */
#include "planner/attention_walk.h"

#include <math.h>
#include <stddef.h>

/* What the tables say for one burst size. */
struct tables {
    struct xst_stage issue;   /* burst_bytes is set per slice */
    struct xst_stage release; /* bulk stores */
};

static const char *look_up(const struct xsti_walk_question *question, double producers, double bytes, int staged,
                           struct tables *tables, int *extrapolated)
{
    const struct xst_path *const path = question->path;
    const int x = question->extrapolate;
    int beyond[4] = {0, 0, 0, 0};
    tables->issue.drain_bytes_per_us = tables->release.drain_bytes_per_us = path->drain_bytes_per_us.value;
    if (!path->drain_bytes_per_us.known)
        return "drain rate";
    if (xst_path_floor_us(path, producers, bytes, x, &tables->issue.floor_us, &beyond[0]) != XST_OK)
        return "issue floor at this size";
    if (xst_path_capacity_bytes(path, producers, x, &tables->issue.capacity_bytes, &beyond[1]) != XST_OK)
        return "capacity for this many producers";
    if (staged && xst_path_release_floor_us(path, producers, bytes, x, &tables->release.floor_us, &beyond[2]) != XST_OK)
        return "staging release floor at this size";
    if (staged &&
        xst_path_release_capacity_bytes(path, producers, x, &tables->release.capacity_bytes, &beyond[3]) != XST_OK)
        return "staging release capacity for this many producers";
    *extrapolated |= beyond[0] || beyond[1] || beyond[2] || beyond[3];
    return path->fence_us.known ? NULL : "fence time";
}

/* One burst of all producers and the work behind it. */
struct moment {
    double lost_us;
    double backlog_bytes; /* right after the issue */
};

static struct moment plain_burst(const struct tables *tables, double bytes, double gap_us, int drifting,
                                 double *backlog_bytes)
{
    struct xst_stage stage = tables->issue;
    stage.burst_bytes = bytes;
    if (drifting) {
        const double issue_us = xst_law_issue_us(&stage, gap_us);
        *backlog_bytes = fmin(stage.capacity_bytes, fmax(bytes - stage.drain_bytes_per_us * issue_us, 0));
        return (struct moment){issue_us, *backlog_bytes};
    }
    const struct xst_step step = xst_law_step(&stage, *backlog_bytes, gap_us);
    *backlog_bytes = step.backlog_after_gap_bytes;
    return (struct moment){step.issue_us, step.backlog_after_issue_bytes};
}

/* `budget_us` after the issue the staging is needed again. The backlog counts what waits in staging as well. */
static struct moment bulk_burst(const struct tables *tables, double bytes, double gap_us, double budget_us,
                                int drifting, double *backlog_bytes)
{
    struct xst_stage issue = tables->issue, release = tables->release;
    const double drain = issue.drain_bytes_per_us;
    issue.burst_bytes = release.burst_bytes = bytes;
    const double met_bytes = drifting ? 0 : *backlog_bytes;
    release.burst_bytes += met_bytes;
    const double issue_us =
        drifting ? issue.floor_us : fmax(issue.floor_us, (bytes + met_bytes - issue.capacity_bytes) / drain);
    const double release_us = drifting ? xst_law_issue_us(&release, gap_us) : xst_law_isolated_issue_us(&release);
    const double late_us = fmax(release_us - issue_us - budget_us, 0);
    const double after = fmax(bytes + met_bytes - drain * issue_us, 0);
    *backlog_bytes = fmax(after - drain * (gap_us + late_us), 0);
    return (struct moment){issue_us + late_us, after};
}

struct run {
    const struct xsti_walk_question *question;
    struct xsti_walk walk;
    double backlog_bytes;
    double delay_us; /* longest delay of a local load behind this wave */
    int staged;
};

static void burst(struct run *run, const struct tables *tables, double bytes, double gap_us, double budget_us)
{
    const struct xst_path *const path = run->question->path;
    const int drifting = run->question->drifting;
    const struct moment moment = run->staged
                                     ? bulk_burst(tables, bytes, gap_us, budget_us, drifting, &run->backlog_bytes)
                                     : plain_burst(tables, bytes, gap_us, drifting, &run->backlog_bytes);
    run->walk.issue_us += moment.lost_us;
    run->walk.backlog_bytes = fmax(run->walk.backlog_bytes, moment.backlog_bytes);
    run->walk.tail_us = moment.backlog_bytes / path->drain_bytes_per_us.value;
    if (path->free_capacity_bytes.known)
        run->delay_us =
            fmax(run->delay_us, xst_law_bystander_delay_us(moment.backlog_bytes, path->free_capacity_bytes.value,
                                                           path->drain_bytes_per_us.value));
}

struct xsti_walk xsti_attention_walk(const struct xsti_walk_question *question)
{
    struct run run = {.question = question, .staged = question->path->method == XST_METHOD_BULK};
    static const struct tables none = {{0, 1, 0, 0}, {0, 1, 0, 0}};
    struct tables sliced = none, last = none;
    const double slices = (double)question->slices;
    const int64_t count = question->wave_count;
    const double slice_gap_us = question->gap_us / slices;
    run.walk.missing = look_up(question, (double)question->waves[0].tiles, question->tile_bytes / slices, run.staged,
                               &sliced, &run.walk.extrapolated);
    if (!run.walk.missing)
        run.walk.missing = look_up(question, (double)question->waves[count - 1].tiles, question->tile_bytes, run.staged,
                                   &last, &run.walk.extrapolated);
    if (run.walk.missing)
        return run.walk;
    /* More slots: the staging of this tile is needed again that many tiles later. */
    const double later_us = (double)(question->slots - 1) * (question->gap_us + slices * sliced.issue.floor_us);
    for (int64_t w = 0; w + 1 < count; w++) {
        run.delay_us = 0;
        for (int64_t i = 0; i < question->slices; i++)
            burst(&run, &sliced, question->waves[w].drain_bytes / slices, slice_gap_us, slice_gap_us + later_us);
        run.walk.bystander_us += fmax(run.delay_us - question->prefetch_us, 0);
    }
    burst(&run, &last, question->waves[count - 1].drain_bytes, 0, INFINITY);
    run.walk.tail_us += question->path->fence_us.value;
    return run.walk;
}
