/* SPDX-License-Identifier: Apache-2.0
 *
 * fa_a2a.h - attention fused with the exchange behind it: what is stored, to whom and when, from (shape, plan) alone.
 *
 * Ulysses: a rank holds all rows of its own heads and computes attention for them; row g of the output belongs to the rank that
 * owns row g of the sequence. A persistent grid walks the output tiles *peers first*: for destination rank+1, rank+2, ..., rank
 * (mod ranks), for batch, for head, for row tile of that destination. A tile that spans owners goes with the one that comes
 * first in that order. So the first bursts leave the device whole, and the last ones do not leave at all.
 *
 * Rows are split evenly (the first seq % ranks ranks own one more), heads too; with an uneven head count the description is
 * that of a rank with the most heads and the fewest rows.
 */
#ifndef XSTAGE_FA_A2A_H
#define XSTAGE_FA_A2A_H

#include <stdint.h>

#include <xstage/status.h>
#include <xstage/traffic.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xst_fa_a2a_shape {
    int64_t batch;
    int64_t heads;    /* of the model, all ranks together */
    int64_t head_dim; /* d */
    int64_t seq;      /* M: rows of the whole sequence */
    int64_t ranks;
    int64_t element_bytes; /* of the output: 2 for bf16 */
};

/* What the launcher chooses. */
struct xst_fa_a2a_plan {
    int64_t tile_rows;     /* b_m */
    int64_t tile_cols;     /* b_n: keys of one inner step */
    int64_t producers;     /* CTAs of the persistent grid, one per SM */
    int64_t stages;        /* K/V tiles loaded ahead of their use */
    int64_t staging_slots; /* output tiles a CTA can hold back */
    enum xst_method method;
    enum xst_phase phase;
    double sm_flop_per_us;  /* rate at which one SM computes attention */
    enum xst_target target; /* where the other ranks' outputs are */
};

/* What follows from both. */
struct xst_fa_a2a_counts {
    int64_t heads_per_rank;
    int64_t row_tiles;   /* per head: ceil(seq / tile_rows) */
    int64_t tiles;       /* per rank */
    int64_t producers;   /* K = min(plan->producers, tiles) */
    int64_t waves;       /* ceil(tiles / K) */
    int64_t kv_blocks;   /* ceil(seq / tile_cols) */
    double tile_bytes;   /* b_m * d * element_bytes */
    double remote_bytes; /* of the whole call, one rank */
    double kv_us;        /* one inner step: 4 * b_m * b_n * d / rate */
    double tile_us;      /* kv_blocks * kv_us */
};

/* One output tile in the order of the walk. */
struct xst_fa_a2a_tile {
    int64_t destination; /* the rank its group belongs to */
    int64_t batch;
    int64_t head;
    int64_t first_row;
    int64_t rows;
    int64_t remote_rows; /* rows owned by other ranks */
};

/* XST_ERR_RANGE with the field, its value and its bound. */
enum xst_status xst_fa_a2a_check(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                 struct xst_diag *diag);

enum xst_status xst_fa_a2a_count(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                 struct xst_fa_a2a_counts *counts_out, struct xst_diag *diag);

/* The index-th tile of `rank`'s walk. Valid when shape and plan are checked, rank < ranks, index < tiles. */
struct xst_fa_a2a_tile xst_fa_a2a_tile_at(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                          int64_t rank, int64_t index);

enum xst_status xst_fa_a2a_traffic(const struct xst_fa_a2a_shape *shape, const struct xst_fa_a2a_plan *plan,
                                   struct xst_traffic *traffic_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
