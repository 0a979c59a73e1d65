/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cuGetProcAddress as of 12.0, and its first form of 11.3. */
typedef CUresult (*get_address)(const char *name, void **function, int version, uint64_t flags, int *found);
typedef CUresult (*get_address_11)(const char *name, void **function, int version, uint64_t flags);

struct finder {
    void *library;
    get_address find;
    get_address_11 find_11;
};

static void *find_function(const struct finder *finder, const char *name, int version)
{
    void *function = NULL;
    if (finder->find) {
        int found = 0;
        return finder->find(name, &function, version, 0, &found) == CUDA_SUCCESS ? function : NULL;
    }
    return finder->find_11(name, &function, version, 0) == CUDA_SUCCESS ? function : NULL;
}

enum need { OPTIONAL, REQUIRED };

static enum xst_status fill_table(const struct finder *finder, struct xsti_driver *driver, const char *library,
                                  struct xst_diag *diag)
{
    /* POSIX lets a function pointer travel through void *; ISO C only through its bytes. */
#define X(need, asked_version, name, parameters)                                                                       \
    {                                                                                                                  \
        void *const found = find_function(finder, #name, asked_version);                                               \
        memcpy(&driver->name, &found, sizeof found);                                                                   \
        if (!found && need == REQUIRED)                                                                                \
            return xsti_fail(diag, XST_ERR_UNAVAILABLE,                                                                \
                             "%s lacks %s (driver API %d.%d), so it is too old for xstage: install a newer driver",    \
                             library, #name, (asked_version) / 1000, (asked_version) % 1000 / 10);                     \
    }
    XSTI_DRIVER_FUNCTIONS(X)
#undef X
    return XST_OK;
}

static enum xst_status start_driver(struct xsti_driver *driver, struct xst_diag *diag)
{
    const char *const visible = getenv("CUDA_VISIBLE_DEVICES");
    const CUresult result = driver->cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE ||
        (result == CUDA_SUCCESS && driver->cuDeviceGetCount(&driver->device_count) == 0 && driver->device_count == 0))
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "the CUDA driver shows no device (CUDA_VISIBLE_DEVICES is %s%s%s)",
                         visible ? "\"" : "", visible ? visible : "not set", visible ? "\"" : "");
    if (result != CUDA_SUCCESS) {
        xsti_cu_fail(driver, result, -1, diag, "starting the driver (cuInit)");
        return diag ? (diag->status = XST_ERR_UNAVAILABLE) : XST_ERR_UNAVAILABLE;
    }
    XSTI_CU(driver, cuDriverGetVersion(&driver->version), -1, diag, "reading the driver's version");
    return XST_OK;
}

enum xst_status xsti_driver_open_library(const char *library, struct xsti_driver *driver_out, struct xst_diag *diag)
{
    struct xsti_driver driver = {.library = dlopen(library, RTLD_NOW | RTLD_LOCAL)};
    if (!driver.library)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "no CUDA driver on this machine (%s)", dlerror());
    struct finder finder = {.library = driver.library};
    void *const find = dlsym(driver.library, "cuGetProcAddress_v2");
    void *const find_11 = dlsym(driver.library, "cuGetProcAddress");
    memcpy(&finder.find, &find, sizeof find);
    memcpy(&finder.find_11, &find_11, sizeof find_11);
    enum xst_status status = XST_OK;
    if (!find && !find_11)
        status = xsti_fail(diag, XST_ERR_UNAVAILABLE,
                           "%s lacks cuGetProcAddress, so it is not a CUDA driver of 11.3 or later", library);
    if (status == XST_OK)
        status = fill_table(&finder, &driver, library, diag);
    if (status == XST_OK)
        status = start_driver(&driver, diag);
    if (status != XST_OK) {
        dlclose(driver.library);
        return status;
    }
    *driver_out = driver;
    return XST_OK;
}

enum xst_status xsti_driver_open(struct xsti_driver *driver_out, struct xst_diag *diag)
{
    return xsti_driver_open_library("libcuda.so.1", driver_out, diag);
}

void xsti_driver_close(struct xsti_driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    memset(driver, 0, sizeof *driver);
}

/* What a person can do about an error; NULL where nothing general can be said. */
static const char *hint_of(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "free memory on the device, or ask for fewer producers, bytes or bursts";
    case CUDA_ERROR_STUB_LIBRARY:
        return "a stub libcuda.so.1 was found before the driver's own: check LD_LIBRARY_PATH";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "another process holds the device in exclusive mode: wait for it, or choose another device";
    case CUDA_ERROR_INVALID_DEVICE:
        return "xstage info lists the devices; CUDA_VISIBLE_DEVICES may hide some";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
        return "this build has code for compute capability 9.0; see xstage info for the device's own";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return "the driver is older than the compiler of this build: update the driver, or build with an older nvcc";
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
        return "the two devices have no path to each other's memory: xstage info shows the peer matrix";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        return "the hardware reported an uncorrectable error: the numbers of this run cannot be used";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
        return "the device state of this process is lost: run again, and with compute-sanitizer if it repeats";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return "ask for fewer threads, or for fewer bytes where they are staged in shared memory";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "a display watchdog ended the kernel: use a device without a display";
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "check that nvidia-smi works and that nvidia-fabricmanager runs where the machine has NVSwitch";
    default:
        return NULL;
    }
}

enum xst_status xsti_cu_fail(const struct xsti_driver *driver, CUresult result, int device, struct xst_diag *diag,
                             const char *format, ...)
{
    const char *name = NULL, *sentence = NULL;
    char what[512], place[32] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (driver->cuGetErrorName)
        driver->cuGetErrorName(result, &name);
    if (driver->cuGetErrorString)
        driver->cuGetErrorString(result, &sentence);
    if (device >= 0)
        snprintf(place, sizeof place, "device %d: ", device);
    const char *const hint = hint_of(result);
    return xsti_fail(diag, result == CUDA_ERROR_OUT_OF_MEMORY ? XST_ERR_MEMORY : XST_ERR_DEVICE,
                     "%s%s failed: %s (%s)%s%s", place, what, name ? name : "unknown CUDA error",
                     sentence ? sentence : "no text", hint ? "; " : "", hint ? hint : "");
}
