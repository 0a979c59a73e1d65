/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_fluid.h - a layer's rounds against the way out: stores drain, rows are pulled, both share R.
 */
#ifndef XSTI_PLANNER_MOE_FLUID_H
#define XSTI_PLANNER_MOE_FLUID_H

/* One direction out of a device. Bytes and us. */
struct xsti_fluid {
    double drain_bytes_per_us;
    double backlog_bytes;   /* accepted, not drained */
    double pull_left_bytes; /* rows that other devices still have to fetch, or this one: both ways are alike */
    double pull_bytes;      /* all of them */
};

struct xsti_fluid_step {
    double useful_us;      /* at least this long */
    double stored_bytes;   /* join the backlog at the start */
    double capacity_bytes; /* most backlog at the end */
    double pulled_frac;    /* share of all rows that has to be here at the end */
};

/* How much longer than useful_us the step takes, and for what. */
struct xsti_fluid_loss {
    double drain_us;
    double pull_us;
};

struct xsti_fluid_loss xsti_fluid_step(struct xsti_fluid *fluid, const struct xsti_fluid_step *step);

#endif
