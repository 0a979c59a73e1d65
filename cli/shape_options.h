/* SPDX-License-Identifier: Apache-2.0
 *
 * shape_options.h - options that audit, plan and simulate share: the dimensions of the two kernels, and the kinds they are made of.
 */
#ifndef XST_CLI_SHAPE_OPTIONS_H
#define XST_CLI_SHAPE_OPTIONS_H

#include "options.h"

#define COUNT_OPTION(option, value, most, text)                                                                        \
    {                                                                                                                  \
        .name = option, .kind = CLI_INT, .arg = value, .low = 1, .high = most, .help = text                            \
    }
#define COUNT_DEFAULT(option, value, most, otherwise, text)                                                            \
    {                                                                                                                  \
        .name = option, .kind = CLI_INT, .arg = value, .low = 1, .high = most, .fallback = otherwise, .help = text     \
    }
#define RATE_OPTION(option, text)                                                                                      \
    {                                                                                                                  \
        .name = option, .kind = CLI_REAL, .arg = "TFLOPS", .low = 0.001, .high = 1e9, .help = text                     \
    }

#define FA_HEAD_OPTIONS                                                                                                \
    COUNT_OPTION("heads", "H", 65536, "fa-a2a: attention heads of the model"),                                         \
        COUNT_OPTION("head-dim", "D", 4096, "fa-a2a: head dimension")
#define FA_BATCH_OPTION COUNT_OPTION("batch", "B", 65536, "fa-a2a: sequences in one call; default 1")
#define MOE_LAYER_OPTIONS                                                                                              \
    COUNT_OPTION("hidden", "H", 1048576, "moe: hidden size"),                                                          \
        COUNT_OPTION("inter", "I", 1048576, "moe: intermediate size of an expert"),                                    \
        COUNT_OPTION("experts", "E", 65536, "moe: experts of the model"),                                              \
        COUNT_OPTION("topk", "K", 1024, "moe: experts of one token")
#define MOE_DTYPE_OPTION                                                                                               \
    {                                                                                                                  \
        .name = "dtype", .kind = CLI_WORD, .arg = "TYPE", .words = "bf16|e4m3", .fallback = "bf16",                    \
        .help = "moe: operands of the products; e4m3: fetched rows, weights and activations are 8-bit with scales"     \
    }

#endif
