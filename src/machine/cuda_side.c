/* SPDX-License-Identifier: Apache-2.0
 *
 * One device of a measuring machine: probes, buffers, clock.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "gpu/lock.h"
#include "machine/cuda_machine.h"

static enum xst_status load_probes(struct xsti_cuda_side *side, struct xst_diag *diag)
{
    struct xsti_device *const device = &side->device;
    const int shared = device->shared_bytes_block;
    const struct {
        int module;
        const char *file;
        const char *kernel;
        struct xsti_kernel *to;
        int shared_bytes;
    } wanted[] = {
        {0, "probes/burst", "xst_burst_st16", &side->burst[XST_METHOD_ST16], shared - 1024},
        {0, "probes/burst", "xst_burst_st4", &side->burst[XST_METHOD_ST4], shared - 1024},
        {0, "probes/burst", "xst_burst_bulk", &side->burst[XST_METHOD_BULK], shared - 1024},
        {1, "probes/verify", "xst_verify", &side->verify, 0},
        {2, "probes/bystander", "xst_bystander", &side->bystander, shared - 1024},
        {3, "probes/loop", "xst_loop", &side->loop, shared - 1024},
        {4, "probes/clock", "xst_clock", &side->clock, 0},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CUmodule *const module = &side->modules[wanted[i].module];
        if (!*module)
            XSTI_TRY(xsti_module_load(device, wanted[i].file, module, diag));
        XSTI_TRY(xsti_kernel_find(device, *module, wanted[i].kernel, wanted[i].shared_bytes, wanted[i].to, diag));
    }
    return XST_OK;
}

enum xst_status xsti_cuda_side_open(struct xsti_cuda_machine *machine, int ordinal, struct xsti_cuda_side *side_out,
                                    struct xst_diag *diag)
{
    struct xsti_cuda_side side = {.lock = -1};
    XSTI_TRY(xsti_device_open(&machine->driver, ordinal, &side.device, diag));
    enum xst_status status = xsti_lock_take(side.device.uuid, &side.lock, diag);
    if (status == XST_OK)
        status = load_probes(&side, diag);
    if (status == XST_OK)
        status = xsti_cuda_side_need_records(&side, (size_t)1 << 20, diag);
    if (status != XST_OK) {
        xsti_cuda_side_close(&side);
        return status;
    }
    *side_out = side;
    return XST_OK;
}

void xsti_cuda_side_close(struct xsti_cuda_side *side)
{
    const struct xsti_device *const device = &side->device;
    if (!device->driver)
        return;
    xsti_device_free(device, side->records);
    xsti_device_free(device, side->memory);
    xsti_device_free(device, side->local);
    for (size_t i = 0; i < sizeof side->modules / sizeof *side->modules; i++)
        xsti_module_unload(device, side->modules[i]);
    free(side->records_host);
    xsti_device_close(&side->device);
    xsti_lock_release(side->lock);
    memset(side, 0, sizeof *side);
    side->lock = -1;
}

static enum xst_status grow(struct xsti_cuda_side *side, size_t bytes, size_t fewest, CUdeviceptr *pointer,
                            size_t *have, struct xst_diag *diag)
{
    if (bytes <= *have)
        return XST_OK;
    bytes = bytes < fewest ? fewest : bytes;
    xsti_device_free(&side->device, *pointer);
    *pointer = 0;
    *have = 0;
    XSTI_TRY(xsti_device_alloc(&side->device, bytes, pointer, diag));
    *have = bytes;
    return xsti_device_fill(&side->device, *pointer, 0, bytes, diag);
}

enum xst_status xsti_cuda_side_need_records(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag)
{
    bytes += sizeof(struct xsti_cuda_state);
    if (bytes <= side->records_bytes)
        return XST_OK;
    unsigned char *const larger = realloc(side->records_host, bytes);
    if (!larger)
        return xsti_fail_memory(diag);
    side->records_host = larger;
    return grow(side, bytes, 0, &side->records, &side->records_bytes, diag);
}

enum xst_status xsti_cuda_side_need_memory(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag)
{
    return grow(side, bytes, (size_t)256 << 20, &side->memory, &side->memory_bytes, diag);
}

enum xst_status xsti_cuda_side_need_local(struct xsti_cuda_side *side, size_t bytes, struct xst_diag *diag)
{
    /* Several times the L2, so that lines come from device memory when they are
   * meant to. */
    return grow(side, bytes, (size_t)512 << 20, &side->local, &side->local_bytes, diag);
}

enum xst_status xsti_cuda_side_clear(struct xsti_cuda_side *side, struct xst_diag *diag)
{
    return xsti_device_fill(&side->device, side->records, 0, sizeof(struct xsti_cuda_state), diag);
}

static enum xst_status fail_fault(const struct xsti_cuda_side *side, const char *what, struct xst_diag *diag)
{
    static const char *const roles[] = {"?", "producer", "loader"};
    static const char *const phases[] = {"?", "common start", "gate", "bulk load"};
    const struct xsti_fault *const fault = &xsti_cuda_side_state(side)->fault;
    return xsti_fail(diag, XST_ERR_TIMEOUT,
                     "device %d: %s: a bounded wait ran out: %s of CTA %u in phase \"%s\" "
                     "expected %llu and saw %llu",
                     side->device.ordinal, what, roles[fault->role <= XSTI_PROBE_ROLE_LOADER ? fault->role : 0],
                     fault->cta, phases[fault->phase <= XSTI_PROBE_PHASE_LOAD ? fault->phase : 0],
                     (unsigned long long)fault->expected, (unsigned long long)fault->seen);
}

enum xst_status xsti_cuda_side_collect(struct xsti_cuda_side *side, size_t bytes, const char *what,
                                       struct xst_diag *diag)
{
    const double limit_us = 20e6; /* far above what the probes' own bounds allow */
    XSTI_TRY(xsti_device_wait(&side->device, limit_us, what, diag));
    XSTI_TRY(xsti_device_read(&side->device, side->records_host, side->records, sizeof(struct xsti_cuda_state) + bytes,
                              diag));
    return xsti_cuda_side_state(side)->fault.set ? fail_fault(side, what, diag) : XST_OK;
}

struct xsti_start_params xsti_cuda_side_start(const struct xsti_cuda_side *side)
{
    return (struct xsti_start_params){
        .start = side->records + offsetof(struct xsti_cuda_state, start),
        .fault = side->records + offsetof(struct xsti_cuda_state, fault),
        .limit_cycles = (uint64_t)(side->clock_ghz * 1e9), /* one second */
        .delay_ns = 3000,
    };
}

enum xst_status xsti_cuda_side_settle(struct xsti_cuda_side *side, struct xst_diag *diag)
{
    enum { SPAN_NS = 2000000, FEWEST = 8, MOST = 200 };
    struct xsti_clock_params params = {.result = side->records + offsetof(struct xsti_cuda_state, clock),
                                       .span_ns = SPAN_NS};
    double before_ghz = 0;
    for (int i = 0; i < MOST; i++) {
        XSTI_TRY(xsti_cuda_side_clear(side, diag));
        XSTI_TRY(xsti_kernel_launch(&side->device, &side->clock, side->device.sm_count, 32, 0, &params, diag));
        XSTI_TRY(xsti_cuda_side_collect(side, 0, "reading the clock", diag));
        const struct xsti_clock_result *const result = &xsti_cuda_side_state(side)->clock;
        side->clock_ghz = result->ns > 0 ? (double)result->cycles / (double)result->ns : 0;
        if (i >= FEWEST && side->clock_ghz > 0 && fabs(side->clock_ghz - before_ghz) < 1e-3 * side->clock_ghz)
            return XST_OK;
        before_ghz = side->clock_ghz;
    }
    return xsti_fail(diag, XST_ERR_DEVICE,
                     "device %d: the SM clock does not settle (last readings "
                     "%.3f and %.3f GHz): something else is using the device",
                     side->device.ordinal, before_ghz, side->clock_ghz);
}
