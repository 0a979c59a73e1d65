/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate_axes.h - the points of a sweep over options: --vary NAME=VALUES, several times.
 */
#ifndef XST_CLI_SIMULATE_AXES_H
#define XST_CLI_SIMULATE_AXES_H

#include "output.h"

enum { CLI_MOST_AXES = 4, CLI_MOST_POINTS = 100000, CLI_AXIS_WORDS = 64, CLI_REASON_BYTES = 240 };

/* One --vary: an option and the values it takes. */
struct sweep_axis {
    const struct cli_option *option;
    char column[48];
    struct cli_sweep numbers; /* of numbers */
    char *text;               /* of words: taken apart */
    const char *words[CLI_AXIS_WORDS];
    size_t count;
};

/* What came out at one point, as it travels between processes. */
struct sweep_outcome {
    int32_t done;   /* 1: the numbers hold */
    int32_t status; /* of the simulation */
    int32_t stuck;  /* a schedule that cannot progress: an answer, no error */
    int32_t pad;
    int64_t ranks;
    int64_t lead_tiles; /* 0: none */
    int64_t tiles;
    int64_t bursts;
    double makespan_us;
    double sender_us;
    double free_us; /* -1: not asked */
    double exposed_us;
    double issue_us;
    double issue_max_us;
    double backlog_peak_bytes;
    double sent_bytes;
    char reason[CLI_REASON_BYTES];
};

struct sweep_row {
    struct cli_cell axes[CLI_MOST_AXES];
    struct sweep_outcome outcome;
};

struct sweep {
    struct sweep_axis axes[CLI_MOST_AXES];
    size_t axis_count;
    size_t point_count;
    struct sweep_outcome *outcomes; /* [point_count] */
    struct sweep_row *rows;
};

/* Reads every --vary. Free with cli_axes_free whatever comes back. */
enum xst_status cli_axes_parse(struct cli *cli, struct sweep *sweep);
void cli_axes_free(struct sweep *sweep);

/* Which value of axis `a` belongs to a point: the last --vary runs fastest. */
size_t cli_axis_index(const struct sweep *sweep, size_t point, size_t a);

/* "lead 3, group 2" */
const char *cli_axes_text(const struct sweep *sweep, size_t point, char *text, size_t bytes);

#endif
