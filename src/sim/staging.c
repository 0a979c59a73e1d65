/* SPDX-License-Identifier: Apache-2.0
 *
 * Two levels: staging slots between compute and issuing roles, as a program of counters. Counter `pair` counts finished tiles,
 * counter `pairs + pair` freed slots.
 */
#include <math.h>

#include <xstage/sim.h>

static int compute_next(const struct xst_sim_staging *staging, int64_t pair, int64_t tile,
                        struct xst_sim_step *step_out)
{
    if (tile >= staging->tiles)
        return 0;
    step_out->wait_counter = staging->pairs + pair;
    step_out->wait_value = tile + 1 - staging->slots;
    step_out->load_us = staging->load_us;
    step_out->work_us = staging->compute_us;
    step_out->post_counter = pair;
    return 1;
}

static int issue_next(const struct xst_sim_staging *staging, int64_t pair, int64_t step, double now_us,
                      struct xst_sim_step *step_out)
{
    (void)now_us;
    const int64_t slices = staging->slices > 1 ? staging->slices : 1;
    const int64_t tile = step / slices, slice = step % slices;
    if (tile >= staging->tiles)
        return 0;
    if (slice == 0) {
        step_out->wait_counter = pair;
        step_out->wait_value = tile + 1;
        step_out->work_us = staging->epilogue_us;
    } else {
        step_out->work_us = fmax(0, (staging->span_us - staging->floor_us) / (double)slices);
    }
    step_out->bytes = staging->bytes / (double)slices;
    step_out->floor_us = staging->floor_us / (double)slices;
    if (slice == slices - 1)
        step_out->post_counter = staging->pairs + pair;
    step_out->flags = (staging->bulk ? XST_SIM_RELEASE : 0) | (tile >= staging->tiles / 2 ? XST_SIM_STEADY : 0);
    return 1;
}

int xst_sim_staging_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct xst_sim_staging *const staging = context;
    if (producer < staging->pairs)
        return compute_next(staging, producer, step, step_out);
    return issue_next(staging, producer - staging->pairs, step, now_us, step_out);
}
