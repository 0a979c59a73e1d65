/* SPDX-License-Identifier: Apache-2.0
 *
 * row.h - a recorded row as numbers, so that the fit of the dispersion can run it many times.
 */
#ifndef XSTI_SIM_ROW_H
#define XSTI_SIM_ROW_H

#include <xstage/sim.h>

#include "base/diag.h"

struct xsti_row {
    int64_t producers;
    int64_t full_producers; /* that fill the device */
    double drain;
    double capacity;
    double bytes;
    double floor_us;
    double gap_us; /* loop time included */
    double fence_us;
    int64_t bursts;
    int aligned;
    double queued_bytes; /* end of a burst, behind its clock: the next one waits for it, the gap runs meanwhile */
    int free_running;
};

/* What is fitted. record_bytes: end of a burst, behind its clock, that the probe's record waits for before the gap begins. */
struct xsti_spread {
    int64_t groups;
    double burst;
    double fixed;
    double record_bytes;
};

enum xst_status xsti_row_setup(const struct xst_path *path, const struct xst_sample *row, struct xsti_row *setup_out,
                               struct xst_diag *diag);
struct xsti_spread xsti_spread_of(const struct xst_path *path);
/* malloc'd, the caller frees. */
enum xst_status xsti_row_device(const struct xsti_row *row, int64_t groups, struct xst_sim_producer **producers_out,
                                struct xst_diag *diag);
enum xst_status xsti_row_run(const struct xsti_row *row, const struct xsti_spread *spread, uint64_t seed,
                             struct xst_fluid_prediction *prediction_out, struct xst_diag *diag);

#endif
