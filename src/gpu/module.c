/* SPDX-License-Identifier: Apache-2.0
 *
 * Device code: modules from the embedded fatbins, kernels, launches.
 */
#include <string.h>

#include "gpu/device.h"
#include "gpu/fatbin.h"

static const struct xsti_fatbin *find_fatbin(const char *name)
{
    for (size_t i = 0; i < xsti_fatbin_count; i++)
        if (strcmp(xsti_fatbins[i].name, name) == 0)
            return &xsti_fatbins[i];
    return NULL;
}

enum xst_status xsti_module_load(const struct xsti_device *device, const char *name, CUmodule *module_out,
                                 struct xst_diag *diag)
{
    const struct xsti_fatbin *const fatbin = find_fatbin(name);
    if (!fatbin)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "this build has no device code named \"%s\"", name);
    if (fatbin->byte_count == 0)
        return xsti_fail(
            diag, XST_ERR_UNAVAILABLE,
            "this build has no device code (nvcc was not found when it was built): install the CUDA toolkit and "
            "build again");
    if (device->compute_major < 9)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                         "device %d (%s) has compute capability %d.%d; 9.0 or later is needed", device->ordinal,
                         device->name, device->compute_major, device->compute_minor);
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuModuleLoadData(module_out, fatbin->bytes), device->ordinal, diag,
            "loading device code \"%s\" (built with nvcc %s, driver for CUDA %d.%d)", name, xsti_nvcc_version,
            device->driver->version / 1000, device->driver->version % 1000 / 10);
    return XST_OK;
}

void xsti_module_unload(const struct xsti_device *device, CUmodule module)
{
    if (module && xsti_device_use(device, NULL) == XST_OK)
        device->driver->cuModuleUnload(module);
}

enum xst_status xsti_kernel_find(const struct xsti_device *device, CUmodule module, const char *name, int shared_bytes,
                                 struct xsti_kernel *kernel_out, struct xst_diag *diag)
{
    struct xsti_kernel kernel = {.name = name};
    const struct xsti_driver *const driver = device->driver;
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(driver, cuModuleGetFunction(&kernel.function, module, name), device->ordinal, diag, "finding kernel %s",
            name);
    if (shared_bytes > 0)
        XSTI_CU(driver,
                cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
                device->ordinal, diag, "allowing kernel %s %d bytes of shared memory", name, shared_bytes);
    XSTI_CU(driver, cuFuncGetAttribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.function), device->ordinal,
            diag, "reading the registers of kernel %s", name);
    XSTI_CU(driver, cuFuncGetAttribute(&kernel.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel.function),
            device->ordinal, diag, "reading the local memory of kernel %s", name);
    *kernel_out = kernel;
    return XST_OK;
}

enum xst_status xsti_kernel_resident_blocks(const struct xsti_device *device, const struct xsti_kernel *kernel,
                                            int threads, size_t shared_bytes, int *blocks_out, struct xst_diag *diag)
{
    int per_sm = 0;
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel->function, threads, shared_bytes),
            device->ordinal, diag, "asking how many blocks of kernel %s fit (%d threads, %zu bytes of shared memory)",
            kernel->name, threads, shared_bytes);
    *blocks_out = per_sm * device->sm_count;
    return XST_OK;
}

enum xst_status xsti_kernel_enqueue(const struct xsti_device *device, const struct xsti_kernel *kernel, int64_t blocks,
                                    int threads, size_t shared_bytes, void *parameters, CUstream stream,
                                    struct xst_diag *diag)
{
    void *list[] = {parameters};
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver,
            cuLaunchKernel(kernel->function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, (unsigned)shared_bytes,
                           stream, list, NULL),
            device->ordinal, diag, "launching kernel %s (%lld blocks of %d threads, %zu bytes of shared memory)",
            kernel->name, (long long)blocks, threads, shared_bytes);
    return XST_OK;
}

enum xst_status xsti_kernel_launch(const struct xsti_device *device, const struct xsti_kernel *kernel, int blocks,
                                   int threads, size_t shared_bytes, void *parameters, struct xst_diag *diag)
{
    return xsti_kernel_enqueue(device, kernel, blocks, threads, shared_bytes, parameters, device->stream, diag);
}
