/* SPDX-License-Identifier: Apache-2.0
 *
 * params.h - what the host tells the kernels, and the block of device memory they keep between calls. C and CUDA.
 *
 * The host decides everything: the walk over the output tiles is laid out here step by step (one step per destination, peers
 * first), and where each rank's rows go. Device addresses are 64-bit numbers.
 */
#ifndef XST_FA_A2A_PARAMS_H
#define XST_FA_A2A_PARAMS_H

#include <stdint.h>

#include "device/fault.h"
#include "device/trace.h"

enum { XSTI_FA_MOST_RANKS = 72 };

/* Roles and phases in a fault. */
enum { XSTI_FA_ROLE_LOAD = 1, XSTI_FA_ROLE_MATH = 2, XSTI_FA_ROLE_WAIT = 3, XSTI_FA_ROLE_SEND = 4 };
enum {
    XSTI_FA_PHASE_K_FULL = 1,
    XSTI_FA_PHASE_V_FULL = 2,
    XSTI_FA_PHASE_Q_FULL = 3,
    XSTI_FA_PHASE_K_EMPTY = 4,
    XSTI_FA_PHASE_V_EMPTY = 5,
    XSTI_FA_PHASE_Q_EMPTY = 6,
    XSTI_FA_PHASE_PEER = 7,
    XSTI_FA_PHASE_STAGED = 8,
    XSTI_FA_PHASE_SENT = 9
};

/* How a finished tile leaves its staging memory. */
enum {
    XSTI_FA_STORE_16 = 0, /* 16-byte stores by all threads */
    XSTI_FA_BULK = 1,     /* one bulk store a row, at the tile boundary */
    XSTI_FA_PACED = 2     /* 16-byte stores by a warp of their own, piece by piece while the next tile is computed */
};

/* One rank's control block: zero before the first call, then kept. */
struct xsti_fa_control {
    uint64_t epoch;    /* calls this rank has finished */
    uint32_t finished; /* CTAs of the running call that have finished; wraps to 0 by itself */
    uint32_t pad;
    struct xsti_fault fault;
    uint64_t arrived[XSTI_FA_MOST_RANKS]; /* [s]: epoch up to which rank s has delivered here; written by s */
};

/* An opaque CUtensorMap; the device reads it at a multiple of 64 bytes. */
struct __attribute__((aligned(64))) xsti_fa_tensor_map {
    uint64_t words[16];
};

struct xsti_fa_params {
    struct xsti_fa_tensor_map q; /* (64, M, d / 64, h, B), box (64, 64, d / 64, 1, 1) */
    struct xsti_fa_tensor_map k; /* the same with k_len rows, box (64, b_n, d / 64, 1, 1), pairs (64, b_n, 1, 1, 1) */
    struct xsti_fa_tensor_map v;

    uint64_t out[XSTI_FA_MOST_RANKS];     /* [p]: rank p's output (B, M_p, H, d) bf16, buffer 0, as mapped here */
    uint64_t arrived[XSTI_FA_MOST_RANKS]; /* [p]: where this rank reports to p; 0 for itself and where nobody asks */
    uint64_t out_flip_bytes;              /* from buffer 0 to buffer 1 of every output; 0: one buffer */
    uint64_t control;                     /* struct xsti_fa_control of this rank */
    uint64_t lse;                         /* (B, h, M) float; 0: not wanted */
    uint64_t fixed_epoch;                 /* 0: the control block's epoch + 1 */
    uint64_t key_lens;                    /* (B) int32: keys of each batch, at most key_len; 0: key_len for all */
    uint64_t source;                      /* push only: (B, M, h, d) bf16, contiguous */

    int32_t row_first[XSTI_FA_MOST_RANKS + 1];  /* off[p]: first row of rank p; [ranks] = M */
    int32_t tile_first[XSTI_FA_MOST_RANKS + 1]; /* [s]: first tile of walk step s; [ranks] = tiles */
    int32_t block_first[XSTI_FA_MOST_RANKS];    /* [s]: first row block of walk step s */
    int32_t rank;
    int32_t ranks;
    int32_t batch;
    int32_t heads;       /* of this rank: h */
    int32_t heads_total; /* H */
    int32_t head_first;  /* of this rank, in an output row */
    int32_t head_bytes;  /* d * 2 */
    int32_t seq;         /* M */
    int32_t key_len;
    int32_t handed_tiles;      /* paced: tiles below this number are handed to the sending warp */
    int32_t slice_rows;        /* paced: rows that leave together, of 16 */
    uint32_t slice_share;      /* paced: the next rows leave slice_share / 2^32 of a tile's time later */
    uint32_t slice_least;      /* paced: but no earlier than so many cycles; 0: as above */
    uint32_t slice_least_last; /* the same from tile full_wave_tiles on, where only some CTAs have one to hand over */
    int32_t full_wave_tiles;
    uint32_t delay_ns; /* tests: each warpgroup sleeps up to so long before each tile; 0: never */
    float scale;       /* of the scores */
    float scale_log2;  /* scale * log2(e) */
    uint64_t wait_ns;  /* the launch ends when all peers have delivered, or after so long; 0: it does not wait */
    struct xsti_trace_ring trace; /* of traced kernels */
};

struct xsti_fa_wait_params {
    uint64_t control;     /* struct xsti_fa_control of this rank */
    uint64_t fixed_epoch; /* 0: the control block's epoch */
    uint64_t limit_ns;
    int32_t rank;
    int32_t ranks;
};

#endif
