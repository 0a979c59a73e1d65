/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <xstage/gpu.h>

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

/* Megabytes per second of one link (its number is the scope), and the older field that is common to all links. */
enum { FIELD_NVLINK_GET_SPEED = 164, FIELD_NVLINK_SPEED_COMMON = 90 };

void xsti_nvml_open(struct xsti_nvml *nvml_out)
{
    struct xsti_nvml nvml = {.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (nvml.library) {
#define X(name, symbol, parameters)                                                                                    \
    {                                                                                                                  \
        void *const found = dlsym(nvml.library, symbol);                                                               \
        memcpy(&nvml.name, &found, sizeof found);                                                                      \
    }
        XSTI_NVML_FUNCTIONS(X)
#undef X
        if (!nvml.init || nvml.init() != 0) {
            dlclose(nvml.library);
            memset(&nvml, 0, sizeof nvml);
        }
    }
    *nvml_out = nvml;
}

void xsti_nvml_close(struct xsti_nvml *nvml)
{
    if (nvml->library) {
        if (nvml->shutdown)
            nvml->shutdown();
        dlclose(nvml->library);
    }
    memset(nvml, 0, sizeof *nvml);
}

xsti_nvml_device xsti_nvml_find(const struct xsti_nvml *nvml, const char *uuid)
{
    xsti_nvml_device device = NULL;
    return nvml->device_by_uuid && nvml->device_by_uuid(uuid, &device) == 0 ? device : NULL;
}

static double clock_ghz(int (*read)(xsti_nvml_device, unsigned, unsigned *), xsti_nvml_device device, unsigned type)
{
    unsigned mhz = 0;
    return device && read && read(device, type, &mhz) == 0 ? mhz * 1e-3 : -1;
}

double xsti_nvml_sm_clock_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    return clock_ghz(nvml->clock_now, device, CLOCK_SM);
}

double xsti_nvml_sm_clock_max_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    return clock_ghz(nvml->clock_max, device, CLOCK_SM);
}

double xsti_nvml_memory_clock_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    return clock_ghz(nvml->clock_now, device, CLOCK_MEMORY);
}

double xsti_nvml_power_w(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    unsigned milliwatt = 0;
    return device && nvml->power && nvml->power(device, &milliwatt) == 0 ? milliwatt * 1e-3 : -1;
}

double xsti_nvml_temperature_c(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    unsigned celsius = 0;
    return device && nvml->temperature && nvml->temperature(device, 0, &celsius) == 0 ? (double)celsius : -1;
}

int64_t xsti_nvml_links(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    int64_t links = 0;
    if (!device || !nvml->link_state)
        return -1;
    for (unsigned link = 0; link < XST_GPU_MOST_LINKS; link++) {
        unsigned active = 0;
        if (nvml->link_state(device, link, &active) == 0 && active)
            links++;
    }
    return links;
}

static double field_of(const struct xsti_nvml *nvml, xsti_nvml_device device, unsigned field, unsigned scope)
{
    struct xsti_nvml_field value = {.field = field, .scope = scope};
    if (nvml->field_values(device, 1, &value) != 0 || value.result != 0)
        return 0;
    return value.value.integer;
}

double xsti_nvml_link_gb_per_s(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    if (!device || !nvml->field_values)
        return -1;
    double megabytes = 0;
    for (unsigned link = 0; link < XST_GPU_MOST_LINKS && megabytes == 0; link++)
        megabytes = field_of(nvml, device, FIELD_NVLINK_GET_SPEED, link);
    if (megabytes == 0)
        megabytes = field_of(nvml, device, FIELD_NVLINK_SPEED_COMMON, 0);
    return megabytes > 0 ? megabytes * 1e-3 : -1;
}

int64_t xsti_nvml_pcie_generation(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    unsigned value = 0;
    return device && nvml->pcie_generation && nvml->pcie_generation(device, &value) == 0 ? (int64_t)value : -1;
}

int64_t xsti_nvml_pcie_width(const struct xsti_nvml *nvml, xsti_nvml_device device)
{
    unsigned value = 0;
    return device && nvml->pcie_width && nvml->pcie_width(device, &value) == 0 ? (int64_t)value : -1;
}

void xsti_nvml_driver(const struct xsti_nvml *nvml, char *text_out, size_t bytes)
{
    if (!nvml->driver_version || nvml->driver_version(text_out, (unsigned)bytes) != 0)
        text_out[0] = '\0';
}

void xsti_nvml_throttle(const struct xsti_nvml *nvml, xsti_nvml_device device, char *text_out, size_t bytes)
{
    static const struct {
        unsigned long long bit;
        const char *text;
    } reasons[] = {
        {0x02, "clock setting"}, {0x04, "power cap"},        {0x08, "hardware slowdown"}, {0x10, "sync boost"},
        {0x20, "thermal"},       {0x40, "hardware thermal"}, {0x80, "power brake"},       {0x100, "display clock"},
    };
    unsigned long long bits = 0;
    if (!device || !nvml->throttle || nvml->throttle(device, &bits) != 0) {
        snprintf(text_out, bytes, "?");
        return;
    }
    text_out[0] = '\0';
    for (size_t i = 0, at = 0; i < sizeof reasons / sizeof *reasons && at < bytes; i++)
        if (bits & reasons[i].bit)
            at += (size_t)snprintf(text_out + at, bytes - at, "%s%s", at ? ", " : "", reasons[i].text);
}
