/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorded row, run again: its producers, its bursts, its tail and fence.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/row.h"

/* A burst's clock stops when a barrier has let all its threads go on, and with plain stores the last one of every thread is then
 * still queued in the SM, in front of the thread's next store: period - issue - gap at zero gap is 4.2 to 4.7 KB at a
 * producer's share on NVLink and on the host path, with 256 threads of 16 bytes. The loop is unrolled by four, so of bursts
 * of fewer stores per thread it is a quarter (docs/notes/0005-dispersion.md). */
static double queued_bytes(const struct xst_path *path, const struct xst_sample *row)
{
    if (row->mode != XST_MODE_PERIODIC || path->method == XST_METHOD_BULK)
        return 0;
    const double store_bytes = path->method == XST_METHOD_ST4 ? 4 : 16;
    return fmin((double)path->threads * store_bytes, (double)row->bytes_per_producer / 4);
}

/* What a burst's clock does not see was issued within its floor; this share of the floor stands for no time at all. */
static const double UNSEEN_FLOOR = 0.01;

int xst_path_has_row(const struct xst_path *path, const struct xst_sample *row)
{
    return row->flow == XST_FLOW_PAIR && path->target == row->target && path->direction == row->direction &&
           path->method == row->method && path->threads == row->threads && path->piece_bytes == row->piece_bytes &&
           path->pitch_bytes == row->pitch_bytes;
}

/* Between two points of a table, or its end value. */
static double between(double x, double x0, double y0, double x1, double y1)
{
    if (x <= x0 || x1 <= x0)
        return y0;
    return x >= x1 ? y1 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/* The floor at B on the curve of one producer count; -1 where the curve does not reach B. */
static double floor_on_curve(const struct xst_floor_point *points, size_t count, double bytes)
{
    if (bytes > (double)points[count - 1].bytes_per_producer)
        return -1;
    size_t i = 0;
    while (i + 1 < count && (double)points[i + 1].bytes_per_producer < bytes)
        i++;
    if (i + 1 == count)
        return points[i].us;
    return between(bytes, (double)points[i].bytes_per_producer, points[i].us, (double)points[i + 1].bytes_per_producer,
                   points[i + 1].us);
}

/* Of the curves that reach B, the one recorded at the nearest producer count. */
static double floor_us(const struct xst_floor_table *table, double producers, double bytes)
{
    double best = -1, best_distance = INFINITY;
    for (size_t first = 0, next; first < table->count; first = next) {
        next = first + 1;
        while (next < table->count && table->points[next].producers == table->points[first].producers)
            next++;
        const double us = floor_on_curve(table->points + first, next - first, bytes);
        const double distance = fabs(log(producers / (double)table->points[first].producers));
        if (us > 0 && distance < best_distance) {
            best = us;
            best_distance = distance;
        }
    }
    return best;
}

/* Q at K; -1: not known. Below the table in proportion to K, above it the last producer's share each. */
static double capacity_bytes(const struct xst_capacity_table *table, double producers)
{
    if (table->count == 0)
        return -1;
    const struct xst_capacity_point *const first = &table->points[0], *const last = &table->points[table->count - 1];
    if (producers <= (double)first->producers)
        return first->bytes * producers / (double)first->producers;
    if (producers >= (double)last->producers)
        return last->bytes * producers / (double)last->producers;
    size_t i = 0;
    while ((double)table->points[i + 1].producers < producers)
        i++;
    return between(producers, (double)table->points[i].producers, table->points[i].bytes,
                   (double)table->points[i + 1].producers, table->points[i + 1].bytes);
}

static double known_or(const struct xst_measure *measure, double otherwise)
{
    return measure->known ? measure->value : otherwise;
}

/* Between the end of an issue and the next start. Aligned rows: whatever the measured period leaves, barrier included. Producers
 * with unequal shares wait for the slowest of them, as the simulated ones do; equal ones all end at the mean. */
static double gap_us(const struct xst_path *path, const struct xst_sample *row)
{
    const double issue_us = path->groups.known ? row->issue_max_us : row->issue_mean_us;
    if (row->mode == XST_MODE_ALIGNED && row->period_mean_us > issue_us)
        return row->period_mean_us - issue_us;
    return fmax(row->gap_us + known_or(&path->loop_us, 0), known_or(&path->turn_us, 0));
}

enum xst_status xsti_row_setup(const struct xst_path *path, const struct xst_sample *row, struct xsti_row *setup_out,
                               struct xst_diag *diag)
{
    if (!path->drain_bytes_per_us.known)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the path has no drain rate");
    const double producers = (double)row->producers, bytes = (double)row->bytes_per_producer;
    const double floor = floor_us(&path->issue_floor, producers, bytes);
    if (!(floor > 0))
        return xsti_fail(diag, XST_ERR_NO_DATA, "the path has no issue floor at %g producers, %g bytes each", producers,
                         bytes);
    const double capacity = capacity_bytes(&path->capacity, producers);
    if (!(capacity > 0))
        return xsti_fail(diag, XST_ERR_NO_DATA, "the path has no capacity at %g producers", producers);
    *setup_out = (struct xsti_row){.producers = row->producers,
                                   .full_producers = path->valid.producers_high,
                                   .drain = path->drain_bytes_per_us.value,
                                   .capacity = capacity,
                                   .bytes = bytes,
                                   .floor_us = floor,
                                   .gap_us = gap_us(path, row),
                                   .fence_us = known_or(&path->fence_us, 0),
                                   .bursts = row->mode == XST_MODE_ISOLATED ? 1 : row->bursts,
                                   .aligned = row->mode == XST_MODE_ALIGNED,
                                   .free_running = row->mode == XST_MODE_PERIODIC,
                                   .queued_bytes = queued_bytes(path, row)};
    return XST_OK;
}

/* Like producers of one device, dealt to its ports. */
enum xst_status xsti_row_device(const struct xsti_row *row, int64_t groups, struct xst_sim_producer **producers_out,
                                struct xst_diag *diag)
{
    const size_t count = (size_t)row->producers;
    struct xst_sim_producer *const producers = calloc(count, sizeof *producers);
    int64_t *const group = malloc(count * sizeof *group);
    if (!producers || !group) {
        free(producers);
        free(group);
        return xsti_fail_memory(diag);
    }
    const double own = row->capacity / (double)row->producers - row->queued_bytes; /* Q was read off the same clock */
    xst_sim_deal_groups(groups, row->full_producers, row->producers, group);
    for (size_t i = 0; i < count; i++)
        producers[i] = (struct xst_sim_producer){.group = group[i], .capacity_bytes = fmax(own, 0), .weight = 1};
    free(group);
    *producers_out = producers;
    return XST_OK;
}

struct xsti_spread xsti_spread_of(const struct xst_path *path)
{
    return (struct xsti_spread){.groups = (int64_t)known_or(&path->groups, 1),
                                .burst = known_or(&path->share_spread_burst, 0),
                                .fixed = known_or(&path->share_spread, 0),
                                .record_bytes = known_or(&path->record_bytes, 0)};
}

/* The probe: bursts with a gap from the end of one, as its clock says, to the start of the next. */
struct probe {
    struct xst_sim_pattern pattern;
    const struct xsti_row *row;
    double record_bytes;
    double *clock_us; /* per producer: its last burst was recorded, its gap began */
};

/* Bursts that everybody starts together: the next one begins when the last has issued the one before. */
static int aligned_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct probe *const probe = context;
    if (!xst_sim_pattern_next((void *)&probe->pattern, producer, step, now_us, step_out))
        return 0;
    step_out->wait_counter = 0;
    step_out->wait_value = step * probe->row->producers;
    step_out->post_counter = 0;
    return 1;
}

/* Three steps a burst: what its clock sees, what its record waits for, and the rest, which is accepted while the gap runs. */
static int free_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct probe *const probe = context;
    const struct xsti_row *const row = probe->row;
    const int64_t burst = step / 3;
    if (burst >= row->bursts)
        return 0;
    if (step % 3 == 0) {
        const double since_us = burst > 0 ? now_us - probe->clock_us[producer] : 0;
        step_out->work_us = burst > 0 ? fmax(0, row->gap_us - since_us) : 0;
        step_out->bytes = row->bytes - row->queued_bytes - probe->record_bytes;
        step_out->floor_us = row->floor_us;
        step_out->flags = burst >= row->bursts / 2 ? XST_SIM_STEADY : 0;
        return 1;
    }
    if (step % 3 == 2)
        probe->clock_us[producer] = now_us;
    step_out->bytes = step % 3 == 1 ? probe->record_bytes : row->queued_bytes;
    step_out->floor_us = UNSEEN_FLOOR * row->floor_us;
    step_out->flags = XST_SIM_QUIET;
    return 1;
}

enum xst_status xsti_row_run(const struct xsti_row *row, const struct xsti_spread *spread, uint64_t seed,
                             struct xst_fluid_prediction *prediction_out, struct xst_diag *diag)
{
    const struct xst_sim_source source = {.drain_bytes_per_us = row->drain,
                                          .fence_us = row->fence_us,
                                          .groups = spread->groups};
    struct xst_sim_producer *producers;
    XSTI_TRY(xsti_row_device(row, spread->groups, &producers, diag));
    double *const clock_us = calloc((size_t)row->producers, sizeof *clock_us);
    if (!clock_us) {
        free(producers);
        return xsti_fail_memory(diag);
    }
    struct probe program = {{row->bytes, row->floor_us, row->gap_us, row->bursts},
                            row,
                            fmin(spread->record_bytes, row->bytes / 4),
                            clock_us};
    struct xst_sim_config config = {.sources = &source,
                                    .source_count = 1,
                                    .producers = producers,
                                    .producer_count = row->producers,
                                    .counter_count = row->aligned,
                                    .next = row->aligned        ? aligned_next
                                            : row->free_running ? free_next
                                                                : xst_sim_pattern_next,
                                    .context = &program,
                                    .share_spread_burst = spread->burst,
                                    .share_spread = spread->fixed,
                                    .seed = seed};
    struct xst_sim_result result = {0};
    const enum xst_status status = xst_sim_run(&config, &result, diag);
    free(producers);
    free(clock_us);
    if (status != XST_OK)
        return status;
    double own = 0;
    for (int64_t i = 0; i < result.account_count; i++)
        own += fmax(result.accounts[i].end_us, result.accounts[i].drained_us);
    *prediction_out =
        (struct xst_fluid_prediction){.total_us = row->bursts > 1 ? result.makespan_us + row->fence_us : 0,
                                      .issue_us = result.steady_issue_mean_us,
                                      .own_total_us = own / (double)result.account_count,
                                      .events = result.events};
    xst_sim_result_free(&result);
    return XST_OK;
}

enum xst_status xst_fluid_row_predict(const struct xst_path *path, const struct xst_sample *row, uint64_t seed,
                                      struct xst_fluid_prediction *prediction_out, struct xst_diag *diag)
{
    struct xsti_row setup;
    XSTI_TRY(xsti_row_setup(path, row, &setup, diag));
    const struct xsti_spread spread = xsti_spread_of(path);
    return xsti_row_run(&setup, &spread, seed, prediction_out, diag);
}
