/* SPDX-License-Identifier: Apache-2.0
 *
 * fatbin.h - the device code that was embedded into the library when it was built.
 *
 * The build compiles every cuda/probes/NAME.cu and every cuda/KERNEL/kernel*.cu into one fatbin each and embeds it
 * (cmake/Fatbins.cmake). The table has one entry a source file, named "probes/burst" or "moe/kernel", in order of name. A
 * build without nvcc has the same entries with byte_count 0: "not built in" is told from "no such kernel".
 */
#ifndef XSTI_GPU_FATBIN_H
#define XSTI_GPU_FATBIN_H

#include <stddef.h>

struct xsti_fatbin {
    const char *name;           /* "folder/file", as under cuda/, without ".cu" */
    const unsigned char *bytes; /* aligned to 64; never NULL */
    size_t byte_count;          /* 0: this build had no nvcc */
};

extern const struct xsti_fatbin xsti_fatbins[];
extern const size_t xsti_fatbin_count;

/* Release of the nvcc that compiled them ("13.0.88"); "" when there was none. */
extern const char xsti_nvcc_version[];

#endif
