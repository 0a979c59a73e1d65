/* SPDX-License-Identifier: Apache-2.0
 *
 * Q_free of (16): after a burst, a local operation waits D = [q - Q_free]+ / R. Each row with a clear wait gives
 * Q_free = q - R*D with q the backlog at the moment of the operation. Bursts that stalled are left out (their producers finish
 * at different times, so q is not one number), and so are fences, which wait for their own stores by definition.
 */
#include <math.h>
#include <stdlib.h>

#include <xstage/model.h>

#include "base/diag.h"
#include "fit/context.h"

/* A wait below this is the ordinary slowdown of a busy path and identifies nothing. */
static const double clear_wait_us = 1.0;
static const double stalled_factor = 1.5;

static int same_burst_path(const struct xst_path *path, const struct xst_bystander_sample *row)
{
    return path->target == row->target && path->direction == row->direction && path->method == row->method;
}

/* The same operation with no burst before it, worst producer; negative when that was not recorded. */
static double baseline_us(const struct xst_samples *samples, const struct xst_bystander_sample *like)
{
    for (size_t i = 0; i < samples->bystander_count; i++) {
        const struct xst_bystander_sample *const row = &samples->bystanders[i];
        if (row->bytes == 0 && row->target == like->target && row->direction == like->direction &&
            row->method == like->method && row->producers == like->producers && row->op == like->op)
            return row->op_us_max;
    }
    return -1;
}

static int is_clean(const struct xst_path *path, const struct xst_bystander_sample *row)
{
    double floor_us = 0;
    return row->op != XST_BYSTANDER_OP_STORE_FENCE &&
           xst_path_floor_us(path, (double)row->producers, (double)row->bytes, 1, &floor_us, NULL) == XST_OK &&
           row->issue_us <= stalled_factor * floor_us;
}

enum xst_status xsti_fit_free_capacity(const struct xst_samples *samples, struct xst_path *path, struct xst_diag *diag)
{
    size_t count = 0;
    if (!path->drain_bytes_per_us.known || samples->bystander_count == 0)
        return XST_OK;
    double *const values = malloc(samples->bystander_count * sizeof *values);
    if (!values)
        return xsti_fail_memory(diag);
    const double drain = path->drain_bytes_per_us.value;
    for (size_t i = 0; i < samples->bystander_count; i++) {
        const struct xst_bystander_sample *const row = &samples->bystanders[i];
        if (row->bytes == 0 || !same_burst_path(path, row) || !is_clean(path, row))
            continue;
        const double before_us = baseline_us(samples, row);
        const double backlog = (double)row->producers * (double)row->bytes - drain * (row->issue_us + row->delay_us);
        /* The worst producer's wait is the one a design must survive. */
        const double wait_us = row->op_us_max - before_us;
        if (before_us >= 0 && backlog > 0 && wait_us >= clear_wait_us)
            values[count++] = fmax(0, backlog - drain * wait_us);
    }
    path->free_capacity_bytes = xsti_measure_of(values, count);
    free(values);
    return XST_OK;
}
