/* SPDX-License-Identifier: Apache-2.0
 *
 * The way out as a fluid: nothing is lost, nothing is faster than R, a step is as long as it has to be.
 */
#include "planner/moe_fluid.h"

#include "planner/fixture.h"

static const double drain = 1000;

static void stores_alone_follow_the_law(void **state)
{
    (void)state;
    /* V = 30000 every 20 us at R = 1000/us: (1) says 10 us more than the gap, once the stage is full. */
    struct xsti_fluid fluid = {.drain_bytes_per_us = drain};
    const struct xsti_fluid_step step = {20, 30000, 15000, 0};
    double lost_us = 0;
    for (int i = 0; i < 100; i++) {
        const struct xsti_fluid_loss loss = xsti_fluid_step(&fluid, &step);
        lost_us += loss.drain_us;
        xt_near(loss.pull_us, 0, 0);
    }
    xt_near(lost_us, 100 * 10.0 - 15, 1e-9);
    xt_near(fluid.backlog_bytes, 15000, 1e-9);
}

static void bytes_are_kept(void **state)
{
    (void)state;
    struct xsti_fluid fluid = {.drain_bytes_per_us = drain, .pull_left_bytes = 200000, .pull_bytes = 200000};
    double stored = 0, time_us = 0;
    for (int i = 0; i < 40; i++) {
        const struct xsti_fluid_step step = {5 + i % 7, 1000.0 * (i % 5), 9000, i / 40.0};
        const struct xsti_fluid_loss loss = xsti_fluid_step(&fluid, &step);
        stored += step.stored_bytes;
        time_us += step.useful_us + loss.drain_us + loss.pull_us;
        assert_true(loss.drain_us >= 0 && loss.pull_us >= 0);
        assert_true(fluid.backlog_bytes <= step.capacity_bytes + 1e-6);
        assert_true(fluid.pull_left_bytes <= (1 - step.pulled_frac) * 200000 + 1e-6);
        const double moved = stored - fluid.backlog_bytes + 200000 - fluid.pull_left_bytes;
        assert_true(moved <= drain * time_us + 1e-6);
    }
}

/* Both ways want half; whoever is alone gets all. */
static void halves(void **state)
{
    (void)state;
    struct xsti_fluid fluid = {.drain_bytes_per_us = drain,
                               .backlog_bytes = 4000,
                               .pull_left_bytes = 50000,
                               .pull_bytes = 50000};
    const struct xsti_fluid_step all_out = {0, 0, 0, 0}, all_in = {0, 0, 0, 1};
    xt_near(xsti_fluid_step(&fluid, &all_out).drain_us, 8, 1e-9);
    xt_near(fluid.pull_left_bytes, 46000, 1e-9);
    xt_near(xsti_fluid_step(&fluid, &all_in).pull_us, 46, 1e-9);
    xt_near(fluid.pull_left_bytes, 0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_alone_follow_the_law),
        cmocka_unit_test(bytes_are_kept),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
