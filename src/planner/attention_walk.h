/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_walk.h - the waves' stores on a path: what producers and bystanders lose, and what is left at the end.
 */
#ifndef XSTI_PLANNER_ATTENTION_WALK_H
#define XSTI_PLANNER_ATTENTION_WALK_H

#include <xstage/model.h>

#include "planner/attention_waves.h"

struct xsti_walk_question {
    const struct xst_path *path;
    const struct xsti_wave *waves;
    int64_t wave_count;
    double tile_bytes;
    int64_t slices;
    int64_t slots;
    double gap_us;      /* compute of one tile */
    double prefetch_us; /* loads in flight ahead of their use */
    int drifting;       /* bursts spread over the period (1) instead of starting together */
    int extrapolate;
};

struct xsti_walk {
    double issue_us;      /* issuing, and waiting for the path or for staging; all waves */
    double bystander_us;  /* (16) beyond the prefetch; 0 when Q_free is not known */
    double backlog_bytes; /* largest */
    double tail_us;
    int extrapolated;
    const char *missing; /* what the profile does not know; NULL: nothing, the rest is valid */
};

struct xsti_walk xsti_attention_walk(const struct xsti_walk_question *question);

#endif
