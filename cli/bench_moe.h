/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_moe.h - `xstage bench moe`: its options, to be listed in the command's table, and the command itself.
 */
#ifndef XST_CLI_BENCH_MOE_H
#define XST_CLI_BENCH_MOE_H

#include "cli.h"
#include "data_dir.h"

int cli_bench_moe(struct cli *cli);

#define CLI_BENCH_MOE_OPTIONS                                                                                          \
    {.name = "hidden", .kind = CLI_INT, .arg = "H", .low = 1, .high = 65536, .help = "moe: width of a token"},         \
        {.name = "inter",                                                                                              \
         .kind = CLI_INT,                                                                                              \
         .arg = "I",                                                                                                   \
         .low = 1,                                                                                                     \
         .high = 65536,                                                                                                \
         .help = "moe: width after the gated activation"},                                                             \
        {.name = "experts",                                                                                            \
         .kind = CLI_INT,                                                                                              \
         .arg = "E",                                                                                                   \
         .low = 1,                                                                                                     \
         .high = 65536,                                                                                                \
         .help = "moe: experts of the model, all ranks together"},                                                     \
        {.name = "topk", .kind = CLI_INT, .arg = "K", .low = 1, .high = 16, .help = "moe: experts of one token"},      \
        {.name = "tokens",                                                                                             \
         .letter = 'T',                                                                                                \
         .kind = CLI_SWEEP_INT,                                                                                        \
         .arg = "TOKENS",                                                                                              \
         .low = 1,                                                                                                     \
         .high = 1048576,                                                                                              \
         .help = "moe: tokens of one rank; hides those of a preset"},                                                  \
        {.name = "routing",                                                                                            \
         .kind = CLI_WORD,                                                                                             \
         .arg = "KIND",                                                                                                \
         .words = "uniform|zipf|hot-expert|hot-rank",                                                                  \
         .fallback = "uniform",                                                                                        \
         .help = "moe: which experts tokens choose"},                                                                  \
        {.name = "skew",                                                                                               \
         .kind = CLI_REAL,                                                                                             \
         .arg = "S",                                                                                                   \
         .low = 0,                                                                                                     \
         .high = 1e6,                                                                                                  \
         .fallback = "2",                                                                                              \
         .help = "moe: exponent of zipf, or how many times the mean the hot one takes"},                               \
        {.name = "remote-frac",                                                                                        \
         .kind = CLI_SWEEP,                                                                                            \
         .arg = "FRACS",                                                                                               \
         .low = 0,                                                                                                     \
         .high = 1,                                                                                                    \
         .fallback = "0.1",                                                                                            \
         .help = "moe, --target host: share of the rows that leaves the device"},                                      \
        {.name = "schedule",                                                                                           \
         .kind = CLI_WORD,                                                                                             \
         .arg = "SCHEDULE",                                                                                            \
         .words = "all|wave|interleaved",                                                                              \
         .fallback = "all",                                                                                            \
         .help = "moe: order of the tiles"},                                                                           \
        {.name = "lead",                                                                                               \
         .kind = CLI_SWEEP_INT,                                                                                        \
         .arg = "TILES",                                                                                               \
         .low = 1,                                                                                                     \
         .high = 1000000000,                                                                                           \
         .help = "moe, interleaved: Linear-1 tiles ahead; default: the audit's knee, further in units"},               \
        {.name = "group",                                                                                              \
         .kind = CLI_SWEEP_INT,                                                                                        \
         .arg = "TILES",                                                                                               \
         .low = 1,                                                                                                     \
         .high = 32768,                                                                                                \
         .fallback = "1",                                                                                              \
         .help = "moe, interleaved: Linear-2 tiles in a row"},                                                         \
        {.name = "unit",                                                                                               \
         .kind = CLI_SWEEP_INT,                                                                                        \
         .arg = "BLOCKS",                                                                                              \
         .low = 0,                                                                                                     \
         .high = 1024,                                                                                                 \
         .fallback = "0",                                                                                              \
         .help = "moe: row blocks whose tiles of a column follow each other; 0: 1 in waves, else by weights"},         \
        {.name = "store",                                                                                              \
         .kind = CLI_WORD,                                                                                             \
         .arg = "HOW",                                                                                                 \
         .words = "all|at_once|paced",                                                                                 \
         .fallback = "all",                                                                                            \
         .help = "moe: finished tiles leave at once, or in slices over the next tile"},                                \
        {.name = "dedup",                                                                                              \
         .kind = CLI_WORD,                                                                                             \
         .arg = "WHEN",                                                                                                \
         .words = "auto|on|off|both",                                                                                  \
         .fallback = "auto",                                                                                           \
         .help = "moe: rows are fetched once for all experts of a rank that their token chose"},                       \
        {.name = "ring",                                                                                               \
         .kind = CLI_SWEEP_INT,                                                                                        \
         .arg = "BLOCKS",                                                                                              \
         .low = 0,                                                                                                     \
         .high = 16777216,                                                                                             \
         .fallback = "0",                                                                                              \
         .help = "moe: row blocks the pools hold; 0: as many as the worst routing needs"},                             \
        {.name = "tile-rows",                                                                                          \
         .kind = CLI_INT,                                                                                              \
         .arg = "ROWS",                                                                                                \
         .low = 0,                                                                                                     \
         .high = 256,                                                                                                  \
         .fallback = "0",                                                                                              \
         .help = "moe: rows of a tile, 64, 128 or 256; 0: by the rows of an expert"},                                  \
        {.name = "dtype",                                                                                              \
         .kind = CLI_WORD,                                                                                             \
         .arg = "TYPE",                                                                                                \
         .words = "bf16|e4m3",                                                                                         \
         .fallback = "bf16",                                                                                           \
         .help = "moe: of rows, weights and activations"},                                                             \
        {.name = "clamp",                                                                                              \
         .kind = CLI_REAL,                                                                                             \
         .arg = "C",                                                                                                   \
         .low = 0,                                                                                                     \
         .high = 1e6,                                                                                                  \
         .fallback = "0",                                                                                              \
         .help = "moe: bound of the activation's inputs; 0: none"},                                                    \
        {.name = "ctas",                                                                                               \
         .kind = CLI_INT,                                                                                              \
         .arg = "N",                                                                                                   \
         .low = 1,                                                                                                     \
         .high = 1024,                                                                                                 \
         .help = "moe: CTAs; default: one an SM"},                                                                     \
        {.name = "profile",                                                                                            \
         .kind = CLI_PROFILE,                                                                                          \
         .arg = "PROFILE",                                                                                             \
         .help = "moe: machine of the floor and the planner's choice; default: " CLI_DEFAULT_PROFILE                   \
                 "; fa-a2a: machine whose drain rate paced stores keep below; default: none"},                         \
        {.name = "gemm-tflops",                                                                                        \
         .kind = CLI_REAL,                                                                                             \
         .arg = "TFLOPS",                                                                                              \
         .low = 1,                                                                                                     \
         .high = 1e5,                                                                                                  \
         .help = "moe: matrix rate of the floor; default: 790, cuBLAS on an H200; e4m3: 1200, assumed"},               \
    {                                                                                                                  \
        .name = "memory-gb-per-s", .kind = CLI_REAL, .arg = "GB/S", .low = 1, .high = 1e6, .fallback = "4800",         \
        .help = "moe: memory rate of the floor; the default is an H200's data sheet"                                   \
    }

#endif
