/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.h - the CUDA driver, found at run time.
 *
 * xsti_driver_open loads libcuda.so.1, fills the function table and initialises the driver; where that is not possible it
 * answers XST_ERR_UNAVAILABLE with the reason, so one binary runs everywhere. Every call goes through XSTI_CU, which turns a
 * failure into one sentence: which device, what was asked, CUDA's name for the error, what to try.
 */
#ifndef XSTI_GPU_DRIVER_H
#define XSTI_GPU_DRIVER_H

#include <xstage/status.h>

#include "base/diag.h"
#include "gpu/driver_api.h"

struct xsti_driver {
    void *library;
    int version; /* 1000 * major + 10 * minor, what the driver supports */
    int device_count;
#define X(need, asked_version, name, parameters) CUresult(*name) parameters;
    XSTI_DRIVER_FUNCTIONS(X)
#undef X
};

/* XST_ERR_UNAVAILABLE: no driver, no device, or a driver that lacks a required function. */
enum xst_status xsti_driver_open(struct xsti_driver *driver_out, struct xst_diag *diag);

/* The same with another library name, for tests. */
enum xst_status xsti_driver_open_library(const char *library, struct xsti_driver *driver_out, struct xst_diag *diag);
void xsti_driver_close(struct xsti_driver *driver);

/* Writes the sentence for a failed call. `device` is an ordinal or -1. Answers the status that fits the error. */
__attribute__((format(printf, 5, 6))) enum xst_status xsti_cu_fail(const struct xsti_driver *driver, CUresult result,
                                                                   int device, struct xst_diag *diag,
                                                                   const char *format, ...);

/* XSTI_CU(driver, call(arguments), device, diag, "what was asked", ...): returns from the function when the call fails. */
#define XSTI_CU(driver, call, device, diag, ...)                                                                       \
    do {                                                                                                               \
        const CUresult xsti_cu_result_ = (driver)->call;                                                               \
        if (xsti_cu_result_ != CUDA_SUCCESS)                                                                           \
            return xsti_cu_fail((driver), xsti_cu_result_, (device), (diag), __VA_ARGS__);                             \
    } while (0)

#endif
