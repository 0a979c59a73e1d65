/* SPDX-License-Identifier: Apache-2.0
 *
 * nvml.h - the management library, found at run time: links, clocks, power, why a clock is held back.
 *
 * Everything here is a reading; no function changes the device. Where the library or one of its functions is missing the
 * answer is "not known" and nothing fails.
 */
#ifndef XSTI_GPU_NVML_H
#define XSTI_GPU_NVML_H

#include <stddef.h>
#include <stdint.h>

/* nvmlFieldValue_t */
struct xsti_nvml_field {
    unsigned field;
    unsigned scope;
    long long timestamp;
    long long latency_us;
    int value_type;
    int result;
    union {
        double real;
        unsigned integer;
        unsigned long long wide;
    } value;
};

typedef struct nvmlDevice_st *xsti_nvml_device;

/* X(name, symbol, parameters) */
#define XSTI_NVML_FUNCTIONS(X)                                                                                         \
    X(init, "nvmlInit_v2", (void))                                                                                     \
    X(shutdown, "nvmlShutdown", (void))                                                                                \
    X(driver_version, "nvmlSystemGetDriverVersion", (char *text, unsigned bytes))                                      \
    X(device_by_uuid, "nvmlDeviceGetHandleByUUID", (const char *uuid, xsti_nvml_device *device))                       \
    X(link_state, "nvmlDeviceGetNvLinkState", (xsti_nvml_device device, unsigned link, unsigned *active))              \
    X(field_values, "nvmlDeviceGetFieldValues", (xsti_nvml_device device, int count, struct xsti_nvml_field *values))  \
    X(clock_now, "nvmlDeviceGetClockInfo", (xsti_nvml_device device, unsigned type, unsigned *mhz))                    \
    X(clock_max, "nvmlDeviceGetMaxClockInfo", (xsti_nvml_device device, unsigned type, unsigned *mhz))                 \
    X(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons", (xsti_nvml_device device, unsigned long long *reasons))   \
    X(power, "nvmlDeviceGetPowerUsage", (xsti_nvml_device device, unsigned *milliwatt))                                \
    X(temperature, "nvmlDeviceGetTemperature", (xsti_nvml_device device, unsigned sensor, unsigned *celsius))          \
    X(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration", (xsti_nvml_device device, unsigned *generation))         \
    X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", (xsti_nvml_device device, unsigned *width))

struct xsti_nvml {
    void *library; /* NULL: not there */
#define X(name, symbol, parameters) int(*name) parameters;
    XSTI_NVML_FUNCTIONS(X)
#undef X
};

/* Never fails: without the library every reading below is "not known". */
void xsti_nvml_open(struct xsti_nvml *nvml_out);
void xsti_nvml_close(struct xsti_nvml *nvml);

/* Device of a UUID; NULL when not known. */
xsti_nvml_device xsti_nvml_find(const struct xsti_nvml *nvml, const char *uuid);

/* Readings; -1 where not known. */
double xsti_nvml_sm_clock_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device);
double xsti_nvml_sm_clock_max_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device);
double xsti_nvml_memory_clock_ghz(const struct xsti_nvml *nvml, xsti_nvml_device device);
double xsti_nvml_power_w(const struct xsti_nvml *nvml, xsti_nvml_device device);
double xsti_nvml_temperature_c(const struct xsti_nvml *nvml, xsti_nvml_device device);
int64_t xsti_nvml_links(const struct xsti_nvml *nvml, xsti_nvml_device device);
double xsti_nvml_link_gb_per_s(const struct xsti_nvml *nvml, xsti_nvml_device device);
int64_t xsti_nvml_pcie_generation(const struct xsti_nvml *nvml, xsti_nvml_device device);
int64_t xsti_nvml_pcie_width(const struct xsti_nvml *nvml, xsti_nvml_device device);

/* Driver release ("580.159.04"), "" where not known. */
void xsti_nvml_driver(const struct xsti_nvml *nvml, char *text_out, size_t bytes);

/* Why the clock is held back: "power cap, thermal", "" nothing (idle is no reason), "?" not known. */
void xsti_nvml_throttle(const struct xsti_nvml *nvml, xsti_nvml_device device, char *text_out, size_t bytes);

#endif
