/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_machine.h - a machine of real devices. The first device sends; in both
 * directions the second sends as well.
 */
#ifndef XSTI_MACHINE_CUDA_MACHINE_H
#define XSTI_MACHINE_CUDA_MACHINE_H

#include "gpu/device.h"
#include "gpu/nvml.h"
#include "machine/machine.h"
#include "probes/params.h"

enum {
    XSTI_CUDA_MOST_DEVICES = XSTI_PROBE_MOST_TARGETS,
    XSTI_CUDA_CHUNK_BYTES = 8192,      /* most bytes of one bulk copy; pieces are never joined */
    XSTI_CUDA_MOST_STAGING = 128 << 10 /* larger bursts are sent from it over and over */
};

/* What every launch shares, at the head of the records buffer: zeroed before,
 * read back after, in one copy each. */
struct xsti_cuda_state {
    struct xsti_start start;
    struct xsti_fault fault;
    struct xsti_verify_result verify;
    struct xsti_clock_result clock;
    unsigned char pad[256 - sizeof(struct xsti_start) - sizeof(struct xsti_fault) - sizeof(struct xsti_verify_result) -
                      sizeof(struct xsti_clock_result)];
};

/* One device with the probes loaded and the memory they use. Buffers grow when
 * a request needs more. */
struct xsti_cuda_side {
    struct xsti_device device;
    int lock;
    CUmodule modules[5];
    struct xsti_kernel burst[3]; /* by enum xst_method */
    struct xsti_kernel verify;
    struct xsti_kernel bystander;
    struct xsti_kernel loop;
    struct xsti_kernel clock;
    CUdeviceptr records; /* struct xsti_cuda_state, then the records of a run */
    size_t records_bytes;
    unsigned char *records_host;
    CUdeviceptr memory; /* where stores land: of this device for target local, and
                         for its peers */
    size_t memory_bytes;
    CUdeviceptr local; /* what bystanders load */
    size_t local_bytes;
    size_t local_at;
    double clock_ghz;
};

struct xsti_cuda_machine {
    struct xst_machine base;
    struct xsti_driver driver;
    struct xsti_nvml nvml;
    struct xsti_cuda_side sides[XSTI_CUDA_MOST_DEVICES];
    size_t side_count;
    struct xsti_pinned host; /* target host */
    struct xsti_pinned gate; /* opens a run on several devices at once */
    uint32_t seed;
};

/* cuda_side.c */
enum xst_status xsti_cuda_side_open(struct xsti_cuda_machine *machine, int ordinal, struct xsti_cuda_side *side_out,
                                    struct xst_diag *diag);
void xsti_cuda_side_close(struct xsti_cuda_side *side);
/* Wakes the device and reads its clock until two readings agree. */
enum xst_status xsti_cuda_side_settle(struct xsti_cuda_side *side, struct xst_diag *diag);
/* Room for `bytes` of records behind the state; for stores; for bystanders'
 * loads. */
enum xst_status xsti_cuda_side_need_records(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag);
enum xst_status xsti_cuda_side_need_memory(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag);
enum xst_status xsti_cuda_side_need_local(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag);
/* Zeroes the state before a launch; waits for it afterwards, reads state and
 * `bytes` of records, reports a fault. */
enum xst_status xsti_cuda_side_clear(struct xsti_cuda_side *side, struct xst_diag *diag);
enum xst_status xsti_cuda_side_collect(struct xsti_cuda_side *side, size_t bytes, const char *what,
                                       struct xst_diag *diag);
static inline const struct xsti_cuda_state *xsti_cuda_side_state(const struct xsti_cuda_side *side)
{
    return (const struct xsti_cuda_state *)side->records_host;
}
static inline const unsigned char *xsti_cuda_side_records(const struct xsti_cuda_side *side)
{
    return side->records_host + sizeof(struct xsti_cuda_state);
}
struct xsti_start_params xsti_cuda_side_start(const struct xsti_cuda_side *side);

/* cuda_layout.c */
/* Shared memory of one CTA, and the bulk staging inside it. */
struct xsti_cuda_shape {
    uint32_t staging_bytes;
    uint32_t copies; /* bulk: of one burst */
    size_t shared_bytes;
};
struct xsti_cuda_shape xsti_cuda_burst_shape(const struct xst_measure_request *request);
/* Where a side's bursts go; grows the destination as needed. */
enum xst_status xsti_cuda_layout(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, struct xsti_layout *layout_out,
                                 struct xst_diag *diag);

/* cuda_verify.c */
/* Overwrites the last burst's place (before), or checks every word of it
 * (after). */
enum xst_status xsti_cuda_poison(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, const struct xsti_layout *layout,
                                 struct xst_diag *diag);
enum xst_status xsti_cuda_verify(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, const struct xsti_layout *layout,
                                 double *bytes_out, struct xst_diag *diag);

/* cuda_burst.c, cuda_bystander.c */
enum xst_status xsti_cuda_run_burst(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                    struct xsti_run *run, struct xst_diag *diag);
enum xst_status xsti_cuda_run_bystander(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                        struct xsti_run *run, struct xst_diag *diag);
enum xst_status xsti_cuda_run_loop(struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                                   struct xsti_run *run, struct xst_diag *diag);

#endif
