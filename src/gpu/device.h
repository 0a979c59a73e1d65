/* SPDX-License-Identifier: Apache-2.0
 *
 * device.h - a device held for work: its context, one stream, memory, modules and launches.
 *
 * A device uses its primary context, which the CUDA run time (and so PyTorch) of the same process shares. Every function makes
 * that context current on the calling thread first.
 */
#ifndef XSTI_GPU_DEVICE_H
#define XSTI_GPU_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#include "gpu/driver.h"

struct xsti_device {
    const struct xsti_driver *driver;
    int ordinal;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    int sm_count;
    int compute_major;
    int compute_minor;
    int shared_bytes_block; /* largest dynamic shared memory of a block */
    int l2_bytes;
    size_t memory_bytes;
    char name[128];
    char uuid[48]; /* "GPU-xxxxxxxx-..." */
};

/* Retains the primary context of device `ordinal` and creates a stream. */
enum xst_status xsti_device_open(const struct xsti_driver *driver, int ordinal, struct xsti_device *device_out,
                                 struct xst_diag *diag);
/* One that never was opened, zeros, is fine. */
void xsti_device_close(struct xsti_device *device);

/* Makes the device's context current. */
enum xst_status xsti_device_use(const struct xsti_device *device, struct xst_diag *diag);

/* "GPU-01234567-89ab-...", from the 16 bytes. */
void xsti_uuid_text(const CUuuid *uuid, char text_out[48]);

/* Lets `device` read and write the memory of `peer`; fine when it already may. */
enum xst_status xsti_device_enable_peer(const struct xsti_device *device, const struct xsti_device *peer,
                                        struct xst_diag *diag);

/* Device memory; refused with both sizes when less is free. */
enum xst_status xsti_device_alloc(const struct xsti_device *device, size_t bytes, CUdeviceptr *pointer_out,
                                  struct xst_diag *diag);
void xsti_device_free(const struct xsti_device *device, CUdeviceptr pointer);

/* Pinned host memory that devices can write: both addresses. */
struct xsti_pinned {
    void *host;
    CUdeviceptr device;
    size_t bytes;
};
enum xst_status xsti_pinned_alloc(const struct xsti_device *device, size_t bytes, struct xsti_pinned *pinned_out,
                                  struct xst_diag *diag);
void xsti_pinned_free(const struct xsti_device *device, struct xsti_pinned *pinned);

/* Copies through the device's stream; `read` returns when the bytes are there. */
enum xst_status xsti_device_write(const struct xsti_device *device, CUdeviceptr to, const void *from, size_t bytes,
                                  struct xst_diag *diag);
enum xst_status xsti_device_read(const struct xsti_device *device, void *to, CUdeviceptr from, size_t bytes,
                                 struct xst_diag *diag);
enum xst_status xsti_device_fill(const struct xsti_device *device, CUdeviceptr pointer, int byte, size_t bytes,
                                 struct xst_diag *diag);

/* Loads the embedded fatbin `name` ("probes/burst"). XST_ERR_UNAVAILABLE when this build has no device code. */
enum xst_status xsti_module_load(const struct xsti_device *device, const char *name, CUmodule *module_out,
                                 struct xst_diag *diag);
void xsti_module_unload(const struct xsti_device *device, CUmodule module);

/* A kernel of a module, allowed `shared_bytes` of dynamic shared memory (0: what every block may have). */
struct xsti_kernel {
    const char *name;
    CUfunction function;
    int registers;
    int local_bytes; /* per thread; more than 0 means spills or indexed arrays */
};
enum xst_status xsti_kernel_find(const struct xsti_device *device, CUmodule module, const char *name, int shared_bytes,
                                 struct xsti_kernel *kernel_out, struct xst_diag *diag);

/* How many blocks of this size run on the device at the same time. */
enum xst_status xsti_kernel_resident_blocks(const struct xsti_device *device, const struct xsti_kernel *kernel,
                                            int threads, size_t shared_bytes, int *blocks_out, struct xst_diag *diag);

/* Launches on `stream` (NULL: the legacy default stream); `parameters` is the kernel's one parameter struct. */
enum xst_status xsti_kernel_enqueue(const struct xsti_device *device, const struct xsti_kernel *kernel, int64_t blocks,
                                    int threads, size_t shared_bytes, void *parameters, CUstream stream,
                                    struct xst_diag *diag);
/* The same on the device's own stream. */
enum xst_status xsti_kernel_launch(const struct xsti_device *device, const struct xsti_kernel *kernel, int blocks,
                                   int threads, size_t shared_bytes, void *parameters, struct xst_diag *diag);

/* Waits for the device's stream, at most `limit_us` (polling; no limit at 0). */
enum xst_status xsti_device_wait(const struct xsti_device *device, double limit_us, const char *what,
                                 struct xst_diag *diag);

/* Host clock, us. */
double xsti_now_us(void);

#endif
