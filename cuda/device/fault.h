/* SPDX-License-Identifier: Apache-2.0
 *
 * fault.h - what a device wait that ran out leaves behind. Every wait of the device code is bounded; the first expiry of a
 * launch fills one of these in device memory and the host makes a sentence of it. C and CUDA.
 */
#ifndef XST_DEVICE_FAULT_H
#define XST_DEVICE_FAULT_H

#include <stdint.h>

struct xsti_fault {
    uint32_t set;  /* 0: no fault */
    uint32_t role; /* kernel's own enumeration */
    uint32_t cta;
    uint32_t peer;
    uint32_t phase; /* kernel's own enumeration, or a counter */
    uint32_t pad;
    uint64_t expected;
    uint64_t seen;
};

#endif
