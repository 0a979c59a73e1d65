/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/gpu.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "gpu/fatbin.h"
#include "gpu/nvml.h"

const char *xst_gpu_nvcc_version(void)
{
    return xsti_nvcc_version;
}

static enum xst_status read_device(const struct xsti_driver *driver, const struct xsti_nvml *nvml, int ordinal,
                                   struct xst_gpu_device *out, struct xst_diag *diag)
{
    CUdevice handle = 0;
    CUuuid uuid;
    size_t memory_bytes = 0;
    char uuid_text[48];
    const struct {
        int64_t *to;
        int attribute;
    } wanted[] = {
        {&out->compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {&out->compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {&out->sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&out->l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        {&out->shared_bytes_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    };
    out->ordinal = ordinal;
    XSTI_CU(driver, cuDeviceGet(&handle, ordinal), ordinal, diag, "opening the device");
    XSTI_CU(driver, cuDeviceGetName(out->name, sizeof out->name, handle), ordinal, diag, "reading the name");
    XSTI_CU(driver, cuDeviceGetUuid(&uuid, handle), ordinal, diag, "reading the UUID");
    XSTI_CU(driver, cuDeviceGetPCIBusId(out->pci, sizeof out->pci, handle), ordinal, diag, "reading the PCI address");
    XSTI_CU(driver, cuDeviceTotalMem(&memory_bytes, handle), ordinal, diag, "reading the memory size");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int value = 0;
        XSTI_CU(driver, cuDeviceGetAttribute(&value, wanted[i].attribute, handle), ordinal, diag,
                "reading attribute %d", wanted[i].attribute);
        *wanted[i].to = value;
    }
    xsti_uuid_text(&uuid, uuid_text);
    snprintf(out->uuid, sizeof out->uuid, "%s", uuid_text);
    out->memory_bytes = (int64_t)memory_bytes;
    const xsti_nvml_device managed = xsti_nvml_find(nvml, uuid_text);
    out->links = xsti_nvml_links(nvml, managed);
    out->link_gb_per_s = xsti_nvml_link_gb_per_s(nvml, managed);
    out->pcie_generation = xsti_nvml_pcie_generation(nvml, managed);
    out->pcie_width = xsti_nvml_pcie_width(nvml, managed);
    out->sm_clock_ghz = xsti_nvml_sm_clock_ghz(nvml, managed);
    out->sm_clock_max_ghz = xsti_nvml_sm_clock_max_ghz(nvml, managed);
    out->memory_clock_ghz = xsti_nvml_memory_clock_ghz(nvml, managed);
    out->power_w = xsti_nvml_power_w(nvml, managed);
    out->temperature_c = xsti_nvml_temperature_c(nvml, managed);
    xsti_nvml_throttle(nvml, managed, out->throttle, sizeof out->throttle);
    return XST_OK;
}

static enum xst_status read_pair(const struct xsti_driver *driver, int from, int to, struct xst_gpu_pair *out,
                                 struct xst_diag *diag)
{
    CUdevice a = 0, b = 0;
    int can = 0, value = 0;
    XSTI_CU(driver, cuDeviceGet(&a, from), from, diag, "opening the device");
    XSTI_CU(driver, cuDeviceGet(&b, to), to, diag, "opening the device");
    XSTI_CU(driver, cuDeviceCanAccessPeer(&can, a, b), from, diag, "asking for access to device %d", to);
    *out = (struct xst_gpu_pair){.from = from, .to = to, .store_path = can, .native_atomics = -1, .rank = -1};
    if (driver->cuDeviceGetP2PAttribute &&
        driver->cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, a, b) == CUDA_SUCCESS)
        out->native_atomics = value;
    if (driver->cuDeviceGetP2PAttribute &&
        driver->cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, a, b) == CUDA_SUCCESS)
        out->rank = value;
    return XST_OK;
}

static enum xst_status read_all(const struct xsti_driver *driver, const struct xsti_nvml *nvml,
                                struct xst_gpu_info *info, struct xst_diag *diag)
{
    const size_t count = (size_t)driver->device_count;
    info->devices = calloc(count, sizeof *info->devices);
    info->pairs = calloc(count * count, sizeof *info->pairs);
    if (!info->devices || !info->pairs)
        return xsti_fail_memory(diag);
    xsti_nvml_driver(nvml, info->driver, sizeof info->driver);
    snprintf(info->nvcc, sizeof info->nvcc, "%s", xsti_nvcc_version);
    info->cuda_major = driver->version / 1000;
    info->cuda_minor = driver->version % 1000 / 10;
    for (size_t d = 0; d < count; d++, info->device_count++)
        XSTI_TRY(read_device(driver, nvml, (int)d, &info->devices[d], diag));
    for (size_t from = 0; from < count; from++)
        for (size_t to = 0; to < count; to++)
            if (from != to)
                XSTI_TRY(read_pair(driver, (int)from, (int)to, &info->pairs[info->pair_count++], diag));
    return XST_OK;
}

enum xst_status xst_gpu_info_read(struct xst_gpu_info *info_out, struct xst_diag *diag)
{
    struct xsti_driver driver;
    struct xsti_nvml nvml;
    struct xst_gpu_info info = {.device_count = 0};
    XSTI_TRY(xsti_driver_open(&driver, diag));
    xsti_nvml_open(&nvml);
    const enum xst_status status = read_all(&driver, &nvml, &info, diag);
    xsti_nvml_close(&nvml);
    xsti_driver_close(&driver);
    if (status != XST_OK) {
        xst_gpu_info_free(&info);
        return status;
    }
    *info_out = info;
    return XST_OK;
}

void xst_gpu_info_free(struct xst_gpu_info *info)
{
    if (!info)
        return;
    free(info->devices);
    free(info->pairs);
    memset(info, 0, sizeof *info);
}
