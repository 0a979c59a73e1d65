/* SPDX-License-Identifier: Apache-2.0
 *
 * info_gpu.h - the part of xstage info about devices.
 */
#ifndef XST_CLI_INFO_GPU_H
#define XST_CLI_INFO_GPU_H

#include "output.h"

/* {available, reason, driver, cuda, nvcc, devices[], pairs[]}: reason is null when available. */
json_t *cli_info_gpu_json(void);

/* The same for a person. */
void cli_info_gpu_print(const struct cli *cli, const json_t *gpu);

#endif
