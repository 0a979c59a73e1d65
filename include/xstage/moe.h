/* SPDX-License-Identifier: Apache-2.0
 *
 * moe.h - a fused mixture-of-experts layer: what its second linear layer stores, to whom and when, from (shape, plan) alone.
 *
 * Expert-parallel: a rank holds experts / ranks experts and receives the rows that chose them. Tiles of Linear 1 (hidden to
 * 2 * inter, then the gated activation) feed tiles of Linear 2 (inter to hidden), whose rows are stored straight to the ranks
 * the tokens came from. Routing is taken as balanced: every rank receives tokens * topk rows, and a tile's rows come from all
 * ranks alike, so (ranks - 1) / ranks of every burst leaves the device.
 *
 * Two schedules: *wave* runs all Linear-1 tiles of some experts, then all their Linear-2 tiles; *interleaved* runs rho Linear-1
 * tiles between consecutive Linear-2 tiles, `lead` Linear-1 tiles ahead.
 */
#ifndef XSTAGE_MOE_H
#define XSTAGE_MOE_H

#include <stdint.h>

#include <xstage/status.h>
#include <xstage/traffic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XST_SCHEDULE_MAP(X)                                                                                            \
    X(WAVE, "wave", "all Linear-1 tiles of some experts, then all their Linear-2 tiles")                               \
    X(INTERLEAVED, "interleaved", "rho Linear-1 tiles between consecutive Linear-2 tiles")
enum xst_schedule {
#define X(NAME, text, meaning) XST_SCHEDULE_##NAME,
    XST_SCHEDULE_MAP(X)
#undef X
};
const char *xst_schedule_text(enum xst_schedule schedule);
int xst_schedule_parse(const char *text, enum xst_schedule *schedule_out);

struct xst_moe_shape {
    int64_t hidden;  /* H */
    int64_t inter;   /* I: width after the gated activation */
    int64_t experts; /* of the model, all ranks together */
    int64_t topk;
    int64_t tokens; /* per rank */
    int64_t ranks;
    int64_t element_bytes; /* of the stored rows: 2 for bf16 */
};

struct xst_moe_plan {
    int64_t tile_rows;  /* b_m */
    int64_t tile_cols;  /* b_n */
    int64_t tile_depth; /* depth of one inner step */
    int64_t producers;  /* CTAs, one per SM */
    int64_t stages;     /* operand tiles loaded ahead of their use */
    int64_t staging_slots;
    enum xst_method method;
    enum xst_schedule schedule;
    double act_frac;       /* activation, cast and publish of a Linear-1 tile, as a share of its matrix time */
    double sm_flop_per_us; /* rate at which one SM computes */
};

struct xst_moe_counts {
    int64_t rows;          /* received by one rank: tokens * topk */
    int64_t local_experts; /* with at least one row */
    int64_t rows_per_expert;
    int64_t blocks_per_expert;
    int64_t blocks;       /* row blocks of one rank */
    double fetched_rows;  /* of those received, when a token's row comes once for all its experts here */
    int64_t l1_per_block; /* n1 = ceil(2 * inter / tile_cols) */
    int64_t l2_per_block; /* n2 = ceil(hidden / tile_cols) */
    int64_t wave_experts; /* experts of one wave: the fewest with two Linear-1 tiles per CTA */
    int64_t producers;    /* K: Linear-2 tiles that run at once */
    double rho;           /* Linear-1 tiles per Linear-2 tile: n1 / n2 */
    double tile_bytes;    /* of one Linear-2 tile, local rows included */
    double l1_us;         /* matrix time of one tile */
    double l2_us;
    double act_us;
};

/* XST_ERR_RANGE with the field, its value and its bound. */
enum xst_status xst_moe_check(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                              struct xst_diag *diag);

enum xst_status xst_moe_count(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                              struct xst_moe_counts *counts_out, struct xst_diag *diag);

/* Share of the rows of a rank's expert number `expert` whose tokens chose none of the rank's experts before it, experts of a token
 * distinct and all alike: what is fetched for it when a token's row comes once. */
double xst_moe_first_frac(const struct xst_moe_shape *shape, int64_t expert);

/* Bytes of a value of the rows that are fetched, of weights and of activations, when the products take 8-bit operands: 1 for e4m3, and a
 * float of scale for every 128 values. What comes back is element_bytes in any case. 0: like element_bytes. */
double xst_moe_operand_bytes(const struct xst_moe_shape *shape, int64_t operand_bytes);

/* Gap of the schedule: T_L2 for the wave (13), T_L2 + rho * T_L1 interleaved (14). */
enum xst_status xst_moe_traffic(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                                struct xst_traffic *traffic_out, struct xst_diag *diag);

/* One tile of the walk. */
enum xst_moe_part { XST_MOE_STEADY, XST_MOE_STARTUP, XST_MOE_TAIL }; /* as xst_lead_waits counts Linear-2 tiles */
struct xst_moe_tile {
    int linear; /* 1 or 2 */
    enum xst_moe_part part;
    int64_t expert; /* of the rank */
    int64_t block;  /* counted over the rank */
    int64_t column;
    int64_t rows; /* of the block that are there */
};

/* Where one linear layer stands. */
struct xst_moe_cursor {
    int64_t expert, in_expert, block, column;
    int64_t taken;
};

/* The order in which a rank's CTAs take tiles: *wave* all Linear-1 tiles of the fewest experts with two of them per CTA, then
 * their Linear-2 tiles; *interleaved* Linear-1 tiles until `lead` + floor(rho * j) of them were taken before Linear-2 tile j,
 * j counted in groups of `group`. Unit by unit, columns inside, blocks of the unit innermost: a unit is up to `unit` consecutive
 * blocks of one expert (1, what xst_moe_walk_begin sets: block by block), so that tiles that read the same weights are taken one
 * after the other. A Linear-2 tile needs all Linear-1 tiles of its block. */
struct xst_moe_walk {
    const int64_t *rows; /* by local expert; the caller's */
    int64_t experts;
    int64_t tile_rows, l1_per_block, l2_per_block, producers;
    int64_t lead, group;
    int64_t unit; /* may be set after xst_moe_walk_begin */
    /* blocks of a wave at most, a unit or more: an expert is cut there; 0: whole experts; may be set then too */
    int64_t wave_most;
    int64_t blocks;   /* of the rank */
    int64_t wave_end; /* block behind it */
    int interleaved;
    struct xst_moe_cursor l1, l2;
};
enum xst_status xst_moe_walk_begin(const struct xst_moe_shape *shape, const struct xst_moe_plan *plan,
                                   const int64_t *rows, int64_t experts, int64_t lead, int64_t group,
                                   struct xst_moe_walk *walk_out, struct xst_diag *diag);
/* 1 with *tile_out filled, 0 at the end. */
int xst_moe_walk_next(struct xst_moe_walk *walk, struct xst_moe_tile *tile_out);
/* Blocks that can be between the first Linear-1 and the last Linear-2 tile at once, at most. */
int64_t xst_moe_walk_live_blocks(const struct xst_moe_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
