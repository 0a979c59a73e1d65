/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_waves.h - what leaves the device in each round of attention's persistent grid, by tile size and tile order.
 */
#ifndef XSTI_PLANNER_ATTENTION_WAVES_H
#define XSTI_PLANNER_ATTENTION_WAVES_H

#include <xstage/plan.h>

struct xsti_wave {
    int64_t tiles;
    double remote_bytes;
    /* The same, or more when all ranks store to one receiver at once, which takes in no more than one sender's drain
     * rate. */
    double drain_bytes;
};

/* Fills waves_out[0 .. counts->waves) for the rank with the fewest rows of its own. destinations: ranks numbers to
 * work with. */
void xsti_attention_waves(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                          const struct xst_fa_a2a_counts *counts, enum xst_tile_order order, double *destinations,
                          struct xsti_wave *waves_out);

#endif
