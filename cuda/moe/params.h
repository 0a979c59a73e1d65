/* SPDX-License-Identifier: Apache-2.0
 *
 * params.h - what the host tells the kernels, and the words they keep between calls. C and CUDA.
 *
 * Device addresses are 64-bit numbers. `flat` is a choice's number on its rank: token * topk + slot.
 */
#ifndef XST_MOE_PARAMS_H
#define XST_MOE_PARAMS_H

#include <stdint.h>

#include "device/fault.h"
#include "device/trace.h"
#include "moe/stream.h"

enum { XSTI_MOE_MOST_RANKS = 8, XSTI_MOE_MOST_TOPK = 16, XSTI_MOE_MOST_LOCAL_EXPERTS = 512 };

/* Type of rows, weights and activations: the values of enum xst_moe_dtype. */
enum { XSTI_MOE_BF16 = 0, XSTI_MOE_E4M3 = 1 };

/* Columns of a tile; depth of an inner step, 128 bytes in either type. */
enum { XSTI_MOE_TILE_COLS = 256, XSTI_MOE_STEP_BYTES = 128, XSTI_MOE_DEPTH_BF16 = 64, XSTI_MOE_DEPTH_E4M3 = 128 };

/* Values of a row, and rows and columns of a weight matrix, that share a scale. */
enum { XSTI_MOE_SCALED = 128 };

/* Least scale of activations: 2^-40. */
#define XSTI_MOE_LEAST_SCALE 9.094947017729282e-13f

/* Roles and phases in a fault. */
enum {
    XSTI_MOE_ROLE_HEAD = 1,
    XSTI_MOE_ROLE_PULL = 2,
    XSTI_MOE_ROLE_LOAD_A = 3,
    XSTI_MOE_ROLE_LOAD_B = 4,
    XSTI_MOE_ROLE_MATH = 5,
    XSTI_MOE_ROLE_TAIL = 6
};
enum {
    XSTI_MOE_PHASE_COUNTS = 1,   /* a rank's counts of this call */
    XSTI_MOE_PHASE_LAYER = 2,    /* a rank came with another layer */
    XSTI_MOE_PHASE_CHUNK = 3,    /* a chunk of a row on its way into shared memory */
    XSTI_MOE_PHASE_ROWS = 4,     /* the rows of a block */
    XSTI_MOE_PHASE_TILES = 5,    /* the Linear-1 tiles of a block */
    XSTI_MOE_PHASE_EMPTY = 6,    /* a free stage */
    XSTI_MOE_PHASE_FULL = 7,     /* an operand tile */
    XSTI_MOE_PHASE_FINISHED = 8, /* a rank's end of this call */
    XSTI_MOE_PHASE_TASK = 9,     /* a tile's number, or room for one */
    XSTI_MOE_PHASE_LARGEST = 10, /* the other warpgroup's largest activations */
    XSTI_MOE_PHASE_RING = 11     /* the end of the block whose place in the ring a block takes */
};

/* How a finished Linear-2 tile leaves: the values of enum xst_moe_store. */
enum { XSTI_MOE_AT_ONCE = 0, XSTI_MOE_PACED = 1 };

/* What a rank's flag says: the number of a call, and bits of a hash of its layer. */
enum { XSTI_MOE_HASH_BITS = 24 };

/* Head of a symmetric buffer. Written by its own rank but for the two arrays of flags, [s] written by rank s. Everything but
 * the flags and the epoch is 0 between calls. */
struct xsti_moe_control {
    uint64_t epoch;    /* calls this rank has finished */
    uint32_t headed;   /* CTAs that have listed their tokens */
    uint32_t finished; /* CTAs that have computed and stored their tiles */
    uint32_t left;     /* CTAs that have ended */
    /* tiles claimed beside each CTA's first: of both layers, of Linear 1 alone, of Linear 2 alone */
    uint32_t ticket[3];
    struct xsti_fault fault;
    struct xsti_fault bad_id; /* first id that is not below experts: expected = experts, seen = id, phase = flat */
    uint64_t counted[XSTI_MOE_MOST_RANKS];
    uint64_t done[XSTI_MOE_MOST_RANKS];
};

/* Of a pool row. */
struct xsti_moe_meta {
    uint32_t origin; /* rank << 28 | flat */
    float weight;
};
enum { XSTI_MOE_ORIGIN_BITS = 28 };

/* An entry of a list: flat, and above it how many choices of the token name experts of this rank; 0: another one of these comes
 * first in the pool. */
enum { XSTI_MOE_TOKEN_BITS = 20, XSTI_MOE_FLAT_BITS = 24 };

/* A choice that is not the first of its token on this rank. The first one's warp puts the pool row in the place of `slot`. */
struct xsti_moe_copy {
    uint32_t slot;   /* in the list of the expert */
    uint32_t choice; /* local expert << 8 | choice of the token */
};

/* Tracks a traced CTA writes. */
enum { XSTI_MOE_TRACKS = 20 };

/* An opaque CUtensorMap; the device reads it at a multiple of 64 bytes. */
struct __attribute__((aligned(64))) xsti_moe_tensor_map {
    uint64_t words[16];
};

struct xsti_moe_params {
    struct xsti_moe_tensor_map x;   /* (H, pool rows), box (a step, the rows a CTA loads at once) */
    struct xsti_moe_tensor_map act; /* (I, pool rows), the same box */
    struct xsti_moe_tensor_map w1;  /* (H, 2 I, experts here), box (a step, 256 or 128, 1); rows behind 2 I are zeros */
    struct xsti_moe_tensor_map w2;  /* (I, H, experts here), the same box */

    uint64_t buffers[XSTI_MOE_MOST_RANKS]; /* [p]: symmetric buffer of rank p as mapped here */
    uint64_t combine[XSTI_MOE_MOST_RANKS]; /* [p]: its combine buffer */

    /* of this rank's buffer */
    uint64_t control;
    uint64_t ticket; /* of the tiles this kernel walks */
    uint64_t ids;
    uint64_t send;    /* uint32 [experts]: choices of this rank counted so far */
    uint64_t counts;  /* uint32 [experts of a rank, at most][8]: rows of each local expert by the rank they come from */
    uint64_t list;    /* uint32 [as many][ranks][list_most]: flat, choices of the token here */
    uint64_t copies;  /* struct xsti_moe_copy [ranks][list_most]: of token t from place t * topk + 1 on */
    uint64_t arrived; /* uint32 [blocks]: rows that are in the pool */
    uint64_t ready;   /* uint32 [blocks]: warps that have stored their part of a Linear-1 tile */
    uint64_t spent;   /* uint32 [blocks], with a ring: warps that have read their part of a Linear-2 tile */
    uint64_t meta;    /* struct xsti_moe_meta [rows]: of all blocks, also with a ring */
    uint64_t pool_x;
    uint64_t pool_act;
    uint64_t mid; /* (pool rows, 2 I) bf16, unfused only */
    uint64_t y;

    /* e4m3: float scales; of the pools [columns / 128][pool rows], so that a tile's rows of one step are neighbours */
    uint64_t x_scales;
    uint64_t act_scales;
    uint64_t w1_scales; /* [experts here][2: gate, up][I / 128][H / 128] */
    uint64_t w2_scales; /* [experts here][H / 128][I / 128] */

    /* where the parts of every buffer begin */
    uint64_t x_at, x_scales_at, weights_at, counts_at, list_at, copies_at;

    uint64_t limit_ns; /* of a wait for another rank */
    int32_t rank;
    int32_t ranks;
    int32_t dtype;
    int32_t row_bytes; /* of x */
    int32_t hidden;
    int32_t inter;
    int32_t pool_rows;
    int32_t topk;
    int32_t tokens;
    int32_t experts;      /* of the model */
    int32_t experts_each; /* floor(experts / ranks); the first experts_more ranks hold one more */
    int32_t experts_more;
    int32_t experts_here;
    int32_t list_most; /* tokens_most * topk */
    int32_t dedup;     /* a row is fetched once for all experts of this rank that its token chose */
    uint32_t hash;
    int32_t slices;    /* paced: pieces a tile leaves in */
    uint32_t delay_ns; /* tests: roles sleep up to so long before each task; 0: never */
    uint32_t seed;
    float clamp;                   /* infinity: none */
    struct xsti_moe_stream stream; /* all but what the counts decide */
    struct xsti_trace_ring trace;  /* of traced kernels */
};

#endif
