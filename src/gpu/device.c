/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double xsti_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

void xsti_uuid_text(const CUuuid *uuid, char text_out[48])
{
    int at = snprintf(text_out, 48, "GPU-");
    for (int i = 0; i < 16; i++)
        at += snprintf(text_out + at, (size_t)(48 - at), "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)uuid->bytes[i]);
}

static enum xst_status read_facts(struct xsti_device *device, struct xst_diag *diag)
{
    const struct xsti_driver *const driver = device->driver;
    const int ordinal = device->ordinal;
    const struct {
        int *to;
        int attribute;
    } wanted[] = {
        {&device->sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&device->compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {&device->compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {&device->shared_bytes_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        {&device->l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    };
    CUuuid uuid;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        XSTI_CU(driver, cuDeviceGetAttribute(wanted[i].to, wanted[i].attribute, device->handle), ordinal, diag,
                "reading attribute %d", wanted[i].attribute);
    XSTI_CU(driver, cuDeviceTotalMem(&device->memory_bytes, device->handle), ordinal, diag, "reading the memory size");
    XSTI_CU(driver, cuDeviceGetName(device->name, sizeof device->name, device->handle), ordinal, diag,
            "reading the name");
    XSTI_CU(driver, cuDeviceGetUuid(&uuid, device->handle), ordinal, diag, "reading the UUID");
    xsti_uuid_text(&uuid, device->uuid);
    return XST_OK;
}

enum xst_status xsti_device_open(const struct xsti_driver *driver, int ordinal, struct xsti_device *device_out,
                                 struct xst_diag *diag)
{
    struct xsti_device device = {.driver = driver, .ordinal = ordinal};
    if (ordinal < 0 || ordinal >= driver->device_count)
        return xsti_fail(
            diag, XST_ERR_UNAVAILABLE,
            "device %d does not exist: the driver shows %d, numbered from 0 (CUDA_VISIBLE_DEVICES may hide some)",
            ordinal, driver->device_count);
    XSTI_CU(driver, cuDeviceGet(&device.handle, ordinal), ordinal, diag, "opening the device");
    XSTI_TRY(read_facts(&device, diag));
    XSTI_CU(driver, cuDevicePrimaryCtxRetain(&device.context, device.handle), ordinal, diag, "creating a context");
    enum xst_status status = xsti_device_use(&device, diag);
    if (status == XST_OK) {
        const CUresult result = driver->cuStreamCreate(&device.stream, CU_STREAM_NON_BLOCKING);
        if (result != CUDA_SUCCESS)
            status = xsti_cu_fail(driver, result, ordinal, diag, "creating a stream");
    }
    if (status != XST_OK) {
        driver->cuDevicePrimaryCtxRelease(device.handle);
        return status;
    }
    *device_out = device;
    return XST_OK;
}

void xsti_device_close(struct xsti_device *device)
{
    if (device->driver && device->context) {
        if (xsti_device_use(device, NULL) == XST_OK && device->stream)
            device->driver->cuStreamDestroy(device->stream);
        device->driver->cuDevicePrimaryCtxRelease(device->handle);
    }
    memset(device, 0, sizeof *device);
}

enum xst_status xsti_device_use(const struct xsti_device *device, struct xst_diag *diag)
{
    XSTI_CU(device->driver, cuCtxSetCurrent(device->context), device->ordinal, diag, "making the context current");
    return XST_OK;
}

enum xst_status xsti_device_enable_peer(const struct xsti_device *device, const struct xsti_device *peer,
                                        struct xst_diag *diag)
{
    int can = 0;
    XSTI_CU(device->driver, cuDeviceCanAccessPeer(&can, device->handle, peer->handle), device->ordinal, diag,
            "asking for access to device %d", peer->ordinal);
    if (!can)
        return xsti_fail(
            diag, XST_ERR_UNAVAILABLE,
            "device %d cannot write the memory of device %d: no peer access between them (xstage info shows the "
            "peer matrix)",
            device->ordinal, peer->ordinal);
    XSTI_TRY(xsti_device_use(device, diag));
    const CUresult result = device->driver->cuCtxEnablePeerAccess(peer->context, 0);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        return xsti_cu_fail(device->driver, result, device->ordinal, diag, "enabling access to device %d",
                            peer->ordinal);
    return XST_OK;
}

enum xst_status xsti_device_alloc(const struct xsti_device *device, size_t bytes, CUdeviceptr *pointer_out,
                                  struct xst_diag *diag)
{
    size_t free_bytes = 0, total_bytes = 0;
    CUdeviceptr pointer = 0;
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuMemGetInfo(&free_bytes, &total_bytes), device->ordinal, diag, "reading the free memory");
    if (bytes > free_bytes)
        return xsti_fail(diag, XST_ERR_MEMORY, "device %d: %zu MiB are needed and %zu MiB of %zu MiB are free",
                         device->ordinal, bytes >> 20, free_bytes >> 20, total_bytes >> 20);
    XSTI_CU(device->driver, cuMemAlloc(&pointer, bytes), device->ordinal, diag, "allocating %zu bytes (%zu MiB free)",
            bytes, free_bytes >> 20);
    *pointer_out = pointer;
    return XST_OK;
}

void xsti_device_free(const struct xsti_device *device, CUdeviceptr pointer)
{
    if (pointer && xsti_device_use(device, NULL) == XST_OK)
        device->driver->cuMemFree(pointer);
}

enum xst_status xsti_pinned_alloc(const struct xsti_device *device, size_t bytes, struct xsti_pinned *pinned_out,
                                  struct xst_diag *diag)
{
    struct xsti_pinned pinned = {.bytes = bytes};
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuMemHostAlloc(&pinned.host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
            device->ordinal, diag, "pinning %zu MiB of host memory", bytes >> 20);
    const CUresult result = device->driver->cuMemHostGetDevicePointer(&pinned.device, pinned.host, 0);
    if (result != CUDA_SUCCESS) {
        device->driver->cuMemFreeHost(pinned.host);
        return xsti_cu_fail(device->driver, result, device->ordinal, diag, "mapping %zu MiB of host memory",
                            bytes >> 20);
    }
    *pinned_out = pinned;
    return XST_OK;
}

void xsti_pinned_free(const struct xsti_device *device, struct xsti_pinned *pinned)
{
    if (pinned->host && xsti_device_use(device, NULL) == XST_OK)
        device->driver->cuMemFreeHost(pinned->host);
    memset(pinned, 0, sizeof *pinned);
}

enum xst_status xsti_device_write(const struct xsti_device *device, CUdeviceptr to, const void *from, size_t bytes,
                                  struct xst_diag *diag)
{
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuMemcpyHtoDAsync(to, from, bytes, device->stream), device->ordinal, diag,
            "copying %zu bytes to the device", bytes);
    return XST_OK;
}

enum xst_status xsti_device_read(const struct xsti_device *device, void *to, CUdeviceptr from, size_t bytes,
                                 struct xst_diag *diag)
{
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuMemcpyDtoHAsync(to, from, bytes, device->stream), device->ordinal, diag,
            "copying %zu bytes from the device", bytes);
    XSTI_CU(device->driver, cuStreamSynchronize(device->stream), device->ordinal, diag,
            "copying %zu bytes from the device", bytes);
    return XST_OK;
}

enum xst_status xsti_device_fill(const struct xsti_device *device, CUdeviceptr pointer, int byte, size_t bytes,
                                 struct xst_diag *diag)
{
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuMemsetD8Async(pointer, (unsigned char)byte, bytes, device->stream), device->ordinal, diag,
            "filling %zu bytes", bytes);
    return XST_OK;
}

enum xst_status xsti_device_wait(const struct xsti_device *device, double limit_us, const char *what,
                                 struct xst_diag *diag)
{
    const double start_us = xsti_now_us();
    XSTI_TRY(xsti_device_use(device, diag));
    for (;;) {
        const CUresult result = device->driver->cuStreamQuery(device->stream);
        if (result == CUDA_SUCCESS)
            return XST_OK;
        if (result != CUDA_ERROR_NOT_READY)
            return xsti_cu_fail(device->driver, result, device->ordinal, diag, "%s", what);
        if (limit_us > 0 && xsti_now_us() - start_us > limit_us)
            return xsti_fail(diag, XST_ERR_TIMEOUT, "device %d: %s did not end within %.0f ms", device->ordinal, what,
                             limit_us * 1e-3);
        sched_yield();
    }
}
