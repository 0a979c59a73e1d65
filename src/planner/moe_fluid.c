/* SPDX-License-Identifier: Apache-2.0
 *
 * While both stores and pulled rows want to leave, each gets half of R; alone, either gets all of it.
 */
#include "planner/moe_fluid.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Time until `wanted` bytes of one kind are out while `other` bytes of the other kind want to leave as well. */
static double until_us(double wanted, double other, double drain)
{
    return wanted <= 0 ? 0 : (other >= wanted ? 2 * wanted : other + wanted) / drain;
}

struct xsti_fluid_loss xsti_fluid_step(struct xsti_fluid *fluid, const struct xsti_fluid_step *step)
{
    const double drain = fluid->drain_bytes_per_us, stores = fluid->backlog_bytes + step->stored_bytes,
                 pulls = fluid->pull_left_bytes;
    const double drain_us = until_us(stores - step->capacity_bytes, pulls, drain);
    const double pull_us = until_us(pulls - (1 - step->pulled_frac) * fluid->pull_bytes, stores, drain);
    const double stored_us = larger(step->useful_us, drain_us), all_us = larger(stored_us, pull_us);
    const double moved = drain * all_us;
    const double pulled = smaller(pulls, larger(moved / 2, moved - stores));
    fluid->pull_left_bytes = larger(pulls - pulled, 0);
    fluid->backlog_bytes = larger(stores - (moved - pulled), 0);
    return (struct xsti_fluid_loss){stored_us - step->useful_us, all_us - stored_us};
}
