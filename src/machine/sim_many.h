/* SPDX-License-Identifier: Apache-2.0
 *
 * sim_many.h - several devices of a synthetic machine at once.
 */
#ifndef XSTI_MACHINE_SIM_MANY_H
#define XSTI_MACHINE_SIM_MANY_H

#include <xstage/machine.h>

struct xsti_sim_links {
    int64_t devices;
    int64_t domain_devices;      /* of one NVLink domain; 0: all */
    double ingress_bytes_per_us; /* 0: R */
    double nic_bytes_per_us;     /* of a domain, each way */
};

/* One run of a request: fills the six times of every sender's sample. `issue_floor_us`: of its burst. */
enum xst_status xsti_sim_many(const struct xst_path *path, const struct xsti_sim_links *links,
                              const struct xst_measure_request *request, double issue_floor_us, uint64_t seed,
                              struct xst_sample *samples, struct xst_diag *diag);

#endif
