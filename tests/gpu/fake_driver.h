/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_driver.h - a CUDA driver made of ordinary memory, for tests of what is built on one. Device memory is a shared file
 * without a name, a handle says whose, so that processes can really map each other's. Counts what is held.
 */
#ifndef XST_TESTS_GPU_FAKE_DRIVER_H
#define XST_TESTS_GPU_FAKE_DRIVER_H

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/driver.h"

enum { FAKE_MOST_BLOCKS = 32, FAKE_MOST_DEVICES = 4 };

/* One per process. */
static struct fake {
    pthread_mutex_t lock;
    int devices;
    int first;     /* visible device 0 is this one, and so on around: what CUDA_VISIBLE_DEVICES does */
    int no_access; /* no device can reach another */
    int bad_map;   /* handles cannot be mapped */
    size_t free_bytes;
    struct {
        char *at;
        size_t bytes;
        int file; /* -1: another process's */
    } blocks[FAKE_MOST_BLOCKS];
    int allocated, mapped, contexts, streams, enabled;
    size_t wrong; /* calls that make no sense */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .devices = 2, .free_bytes = (size_t)1 << 30};

static _Thread_local CUcontext fake_current;

static CUcontext fake_context(CUdevice device)
{
    static char contexts[FAKE_MOST_DEVICES];
    return (CUcontext)(void *)&contexts[device];
}

static CUresult fake_error_name(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR";
    return CUDA_SUCCESS;
}

static CUresult fake_get(CUdevice *device, int ordinal)
{
    *device = (ordinal + fake.first) % fake.devices;
    return ordinal < fake.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult fake_name(char *name, int bytes, CUdevice device)
{
    snprintf(name, (size_t)bytes, "fake %d", device);
    return CUDA_SUCCESS;
}

static CUresult fake_total(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

static CUresult fake_attribute(int *value, int attribute, CUdevice device)
{
    (void)attribute, (void)device;
    *value = 9;
    return CUDA_SUCCESS;
}

static CUresult fake_uuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid, 0x40 + device, sizeof *uuid);
    return CUDA_SUCCESS;
}

static CUresult fake_can(int *can, CUdevice device, CUdevice peer)
{
    fake.wrong += device == peer;
    *can = !fake.no_access;
    return CUDA_SUCCESS;
}

static CUresult fake_retain(CUcontext *context, CUdevice device)
{
    pthread_mutex_lock(&fake.lock);
    fake.contexts++;
    pthread_mutex_unlock(&fake.lock);
    *context = fake_context(device);
    return CUDA_SUCCESS;
}

static CUresult fake_release(CUdevice device)
{
    (void)device;
    pthread_mutex_lock(&fake.lock);
    fake.contexts--;
    pthread_mutex_unlock(&fake.lock);
    return CUDA_SUCCESS;
}

static CUresult fake_set(CUcontext context)
{
    fake_current = context;
    return CUDA_SUCCESS;
}

static CUresult fake_get_current(CUcontext *context)
{
    *context = fake_current;
    return CUDA_SUCCESS;
}

static CUresult fake_enable(CUcontext peer, unsigned flags)
{
    pthread_mutex_lock(&fake.lock);
    fake.wrong += peer == fake_current || flags != 0;
    const int again = fake.enabled++ > 0;
    pthread_mutex_unlock(&fake.lock);
    return again ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

static CUresult fake_free_bytes(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = fake.free_bytes;
    *total_bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

static CUresult fake_map(int file, size_t bytes, int keep, CUdeviceptr *pointer)
{
    char *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < FAKE_MOST_BLOCKS; i++) {
        if (fake.blocks[i].at)
            continue;
        fake.blocks[i].at = at;
        fake.blocks[i].bytes = bytes;
        fake.blocks[i].file = keep ? file : -1;
        break;
    }
    *(keep ? &fake.allocated : &fake.mapped) += 1;
    pthread_mutex_unlock(&fake.lock);
    *pointer = (CUdeviceptr)(uintptr_t)at;
    return CUDA_SUCCESS;
}

static CUresult fake_alloc(CUdeviceptr *pointer, size_t bytes)
{
    const int file = memfd_create("fake device memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = fake_map(file, bytes, 1, pointer);
    if (result == CUDA_SUCCESS)
        memset((char *)(uintptr_t)*pointer, 0xcd, bytes); /* what is not zeroed shows */
    return result;
}

static CUresult fake_unmap(CUdeviceptr pointer, int own)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < FAKE_MOST_BLOCKS; i++) {
        if (fake.blocks[i].at != (char *)(uintptr_t)pointer || !pointer || (fake.blocks[i].file >= 0) != own)
            continue;
        munmap(fake.blocks[i].at, fake.blocks[i].bytes);
        if (own)
            close(fake.blocks[i].file);
        *(own ? &fake.allocated : &fake.mapped) -= 1;
        fake.blocks[i].at = NULL;
        result = CUDA_SUCCESS;
        break;
    }
    fake.wrong += result != CUDA_SUCCESS;
    pthread_mutex_unlock(&fake.lock);
    return result;
}

static CUresult fake_free(CUdeviceptr pointer)
{
    return fake_unmap(pointer, 1);
}

static CUresult fake_fill(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream)
{
    (void)stream;
    memset((char *)(uintptr_t)pointer, value, count);
    return CUDA_SUCCESS;
}

static CUresult fake_stream(CUstream *stream, unsigned flags)
{
    static char one;
    (void)flags;
    pthread_mutex_lock(&fake.lock);
    fake.streams++;
    pthread_mutex_unlock(&fake.lock);
    *stream = (CUstream)(void *)&one;
    return CUDA_SUCCESS;
}

static CUresult fake_stream_end(CUstream stream)
{
    (void)stream;
    pthread_mutex_lock(&fake.lock);
    fake.streams--;
    pthread_mutex_unlock(&fake.lock);
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult fake_export(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < FAKE_MOST_BLOCKS; i++) {
        if (fake.blocks[i].at != (char *)(uintptr_t)pointer || fake.blocks[i].file < 0)
            continue;
        snprintf(handle->reserved, sizeof handle->reserved, "%zu /proc/%ld/fd/%d", fake.blocks[i].bytes, (long)getpid(),
                 fake.blocks[i].file);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&fake.lock);
    return result;
}

static CUresult fake_open(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags)
{
    char path[64] = "", own[32];
    size_t bytes = 0;
    snprintf(own, sizeof own, "/proc/%ld/", (long)getpid());
    if (sscanf(handle.reserved, "%zu %63s", &bytes, path) != 2 || strncmp(path, own, strlen(own)) == 0)
        fake.wrong++; /* a process must not open its own */
    const int file = fake.bad_map ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = fake_map(file, bytes, 0, pointer);
    close(file);
    return result;
}

static CUresult fake_close(CUdeviceptr pointer)
{
    return fake_unmap(pointer, 0);
}

static struct xsti_driver fake_driver(void)
{
    return (struct xsti_driver){.version = 13000,
                                .device_count = fake.devices,
                                .cuGetErrorName = fake_error_name,
                                .cuGetErrorString = fake_error_name,
                                .cuDeviceGet = fake_get,
                                .cuDeviceGetName = fake_name,
                                .cuDeviceTotalMem = fake_total,
                                .cuDeviceGetAttribute = fake_attribute,
                                .cuDeviceGetUuid = fake_uuid,
                                .cuDeviceCanAccessPeer = fake_can,
                                .cuDevicePrimaryCtxRetain = fake_retain,
                                .cuDevicePrimaryCtxRelease = fake_release,
                                .cuCtxSetCurrent = fake_set,
                                .cuCtxGetCurrent = fake_get_current,
                                .cuCtxEnablePeerAccess = fake_enable,
                                .cuMemGetInfo = fake_free_bytes,
                                .cuMemAlloc = fake_alloc,
                                .cuMemFree = fake_free,
                                .cuMemsetD8Async = fake_fill,
                                .cuStreamCreate = fake_stream,
                                .cuStreamDestroy = fake_stream_end,
                                .cuStreamQuery = fake_query,
                                .cuIpcGetMemHandle = fake_export,
                                .cuIpcOpenMemHandle = fake_open,
                                .cuIpcCloseMemHandle = fake_close};
}

/* Nothing is held any more. */
static int fake_is_empty(void)
{
    return fake.allocated == 0 && fake.mapped == 0 && fake.contexts == 0 && fake.streams == 0 && fake.wrong == 0;
}

#endif
