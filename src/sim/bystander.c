/* SPDX-License-Identifier: Apache-2.0
 *
 * A local operation behind the backlog of a burst: the recorded bystander rows, run again.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/row.h"

struct program {
    double bytes;
    double floor_us;
    double delay_us;
    double baseline_us;
};

static int bystander_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct program *const program = context;
    (void)producer;
    (void)now_us;
    if (step == 0) {
        step_out->bytes = program->bytes;
        step_out->floor_us = program->floor_us;
    } else if (step == 1) {
        step_out->work_us = program->delay_us;
    } else {
        step_out->load_us = program->baseline_us;
    }
    return step < 3;
}

enum xst_status xst_fluid_bystander_predict(const struct xst_path *path, const struct xst_bystander_sample *row,
                                            double baseline_us, uint64_t seed,
                                            struct xst_fluid_bystander *prediction_out, struct xst_diag *diag)
{
    if (!(baseline_us > 0) || !isfinite(baseline_us))
        return xsti_fail(diag, XST_ERR_RANGE, "baseline_us is %g; it must be above 0", baseline_us);
    const struct xst_sample burst = {.mode = XST_MODE_ISOLATED,
                                     .producers = row->producers,
                                     .bytes_per_producer = row->bytes,
                                     .bursts = 1};
    struct xsti_row setup;
    XSTI_TRY(xsti_row_setup(path, &burst, &setup, diag));
    const struct xsti_spread spread = xsti_spread_of(path);
    struct program program = {setup.bytes, setup.floor_us, row->delay_us, baseline_us};
    const struct xst_sim_source source = {.drain_bytes_per_us = setup.drain,
                                          .free_capacity_bytes =
                                              path->free_capacity_bytes.known ? path->free_capacity_bytes.value : 0,
                                          .groups = spread.groups};
    struct xst_sim_producer *producers;
    XSTI_TRY(xsti_row_device(&setup, spread.groups, &producers, diag));
    const struct xst_sim_config config = {.sources = &source,
                                          .source_count = 1,
                                          .producers = producers,
                                          .producer_count = setup.producers,
                                          .next = bystander_next,
                                          .context = &program,
                                          .share_spread_burst = spread.burst,
                                          .share_spread = spread.fixed,
                                          .seed = seed};
    struct xst_sim_result result;
    const enum xst_status status = xst_sim_run(&config, &result, diag);
    free(producers);
    if (status != XST_OK)
        return status;
    double waits = 0, worst = 0;
    for (int64_t i = 0; i < result.account_count; i++) {
        waits += result.accounts[i].load_wait_us;
        worst = fmax(worst, result.accounts[i].load_max_us);
    }
    *prediction_out = (struct xst_fluid_bystander){baseline_us + waits / (double)result.account_count, worst};
    xst_sim_result_free(&result);
    return XST_OK;
}
