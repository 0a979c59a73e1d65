/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate_args.h - what to step through time, from the command line, and what came out.
 */
#ifndef XST_CLI_SIMULATE_ARGS_H
#define XST_CLI_SIMULATE_ARGS_H

#include <xstage/timeline.h>

#include "cli.h"

enum simulation_kind { SIMULATION_FA_A2A, SIMULATION_MOE, SIMULATION_TRAFFIC };

struct simulation {
    enum simulation_kind kind;
    char name[XST_NAME_BYTES]; /* preset or file; "" */
    int64_t ranks;
    struct xst_fa_a2a_shape fa_shape;
    struct xst_fa_a2a_plan fa_plan;
    struct xst_moe_shape moe_shape;
    struct xst_moe_plan moe_plan;
    struct xst_timeline_moe moe;
    struct xst_traffic traffic;
    struct xst_timeline_options options;
    const char *routing;    /* moe */
    const char *lead_from;  /* moe, interleaved: "given", "knee", "first guess" */
    struct xst_spans spans; /* kept when a trace or a picture is asked for */
    const char *kind_names[XST_TIMELINE_KINDS];
    struct xst_timeline_result result;
    int64_t *counts; /* moe.rows */
};

/* Fills *simulation and runs it. Free with cli_simulation_free whatever comes back. */
enum xst_status cli_simulate(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation);
void cli_simulation_free(struct simulation *simulation);

/* "fa-a2a", "moe", or the described kernel's name. */
const char *cli_simulation_kernel(const struct simulation *simulation);

#endif
