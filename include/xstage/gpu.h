/* SPDX-License-Identifier: Apache-2.0
 *
 * gpu.h - the GPUs of this machine: what they are, how they are linked, in which state they are.
 */
#ifndef XSTAGE_GPU_H
#define XSTAGE_GPU_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XST_GPU_TEXT_BYTES = 128, XST_GPU_MOST_LINKS = 18 };

/* One device. Numbers that only the management library (NVML) knows are -1 where it does not answer. */
struct xst_gpu_device {
    int64_t ordinal; /* the number that cuda:N takes */
    char name[XST_GPU_TEXT_BYTES];
    char uuid[XST_GPU_TEXT_BYTES];
    char pci[XST_GPU_TEXT_BYTES];
    int64_t compute_major;
    int64_t compute_minor;
    int64_t sm_count;
    int64_t memory_bytes;
    int64_t l2_bytes;
    int64_t shared_bytes_block; /* largest dynamic shared memory of a block */
    int64_t links;              /* active NVLinks */
    double link_gb_per_s;       /* raw rate of one link and direction */
    int64_t pcie_generation;
    int64_t pcie_width;
    double sm_clock_ghz; /* now */
    double sm_clock_max_ghz;
    double memory_clock_ghz;           /* now */
    double power_w;                    /* now */
    double temperature_c;              /* now */
    char throttle[XST_GPU_TEXT_BYTES]; /* why the clock is held back, "" nothing, "?" not known */
};

/* One ordered pair of devices. */
struct xst_gpu_pair {
    int64_t from;
    int64_t to;
    int32_t store_path;     /* 1: stores of `from` can reach memory of `to` */
    int32_t native_atomics; /* 1, 0, or -1 not known */
    int32_t rank;           /* the driver's performance rank, 0 is best; -1 not known */
};

struct xst_gpu_info {
    char driver[XST_GPU_TEXT_BYTES]; /* "580.159.04"; "" where NVML does not say */
    int64_t cuda_major;              /* what the driver supports */
    int64_t cuda_minor;
    char nvcc[XST_GPU_TEXT_BYTES]; /* release that compiled the device code of this build; "" none */
    struct xst_gpu_device *devices;
    size_t device_count;
    struct xst_gpu_pair *pairs; /* device_count * (device_count - 1) */
    size_t pair_count;
};

/* Reads all of it. XST_ERR_UNAVAILABLE with the reason where there is no driver or no device. Creates no context. */
enum xst_status xst_gpu_info_read(struct xst_gpu_info *info_out, struct xst_diag *diag);
void xst_gpu_info_free(struct xst_gpu_info *info);

/* The nvcc release that compiled this build's device code; "" when the build has none. */
const char *xst_gpu_nvcc_version(void);

#ifdef __cplusplus
}
#endif

#endif
