/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_layer.h - one step's layer, and what a candidate costs on it apart from the list.
 */
#ifndef XSTI_PLANNER_MOE_LAYER_H
#define XSTI_PLANNER_MOE_LAYER_H

#include <xstage/model.h>
#include <xstage/plan.h>

/* The layer of this step. */
struct xsti_moe_layer {
    const struct xst_moe_setup *setup;
    int64_t rows, blocks, l1_tiles, l2_tiles;
    double fetched_rows; /* a token's once, where the setup says so */
    double producers;    /* CTAs */
    double act_bytes;    /* of the intermediate activations of one Linear-1 tile */
    double weight_bytes; /* of one expert */
    const int64_t *rows_per_expert;
    int64_t experts;
    int64_t *wave_ends;
    int64_t waves;
    void *list_workspace;
};

/* A method's numbers for this layer's tiles. */
struct xsti_moe_flow {
    struct xst_stage stage; /* burst_bytes: of one round of all CTAs, remote share */
    double capacity_bytes;  /* backlog at which a producer waits */
    double fence_us;
    int64_t slices; /* bulk: pieces a tile leaves in */
    int staged;
    int extrapolated;
    enum xst_moe_gap gap;
};

int64_t xsti_moe_blocks(const struct xst_moe_setup *setup, int64_t rows);

struct xsti_moe_flow xsti_moe_flow_of(const struct xsti_moe_layer *layer, enum xst_method method);

/* Every part but starve_us, which is there already, and the sum; gap where the profile is silent. */
void xsti_moe_predict(const struct xsti_moe_layer *layer, const struct xsti_moe_flow *flow,
                      struct xst_moe_candidate *candidate);

#endif
