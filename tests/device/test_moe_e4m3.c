/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernels with e4m3 operands on a device: against the plain reference, and bit for bit against each other.
 * XSTAGE_FUZZ_MOE: how many random layers (default 6). Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <stdio.h>

static struct moe_machine machine;

/* ranks, experts, hidden, inter, topk, tokens, clamp, pattern, masked, numbers */
static void shapes_and_boundaries(void **state)
{
    static const struct moe_case cases[] = {
        {1, 1, 128, 128, 1, {1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {1, 1, 256, 128, 1, {700}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {1, 3, 384, 256, 2, {130}, 7, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 8, 1152, 384, 6, {127}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 2, 4224, 1408, 2, {140}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {2, 2, 128, 128, 1, {0, 1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {2, 6, 256, 384, 4, {65, 129}, 0.5, MOE_ANY, 0.3, MOE_RANDOM_NUMBERS},
        {2, 5, 384, 640, 4, {129, 7}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {3, 7, 640, 256, 4, {64, 0, 65}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {4, 10, 640, 128, 6, {7, 0, 128, 40}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {8, 16, 128, 512, 2, {64, 63, 1, 0, 129, 20, 3, 300}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "shape %zu", i);
        moe_every_order(&machine, &cases[i], XST_MOE_E4M3, name);
    }
}

static void patterns(void **state)
{
    char name[48];
    (void)state;
    for (int pattern = MOE_DISTINCT; pattern <= MOE_MASKED_RANK; pattern++) {
        const struct moe_case made = {4,   12,
                                      384, 256,
                                      4,   {100, 37, 64, 129},
                                      0,   (enum moe_pattern)pattern,
                                      0.3, MOE_RANDOM_NUMBERS};
        snprintf(name, sizeof name, "pattern %d", pattern);
        moe_every_order(&machine, &made, XST_MOE_E4M3, name);
    }
}

static void repeats_and_delays(void **state)
{
    const struct moe_case made = {4, 10, 640, 384, 4, {150, 90, 10, 260}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS};
    (void)state;
    moe_repeats(&machine, &made, XST_MOE_E4M3);
}

static void fuzz(void **state)
{
    (void)state;
    moe_fuzz(&machine, XST_MOE_E4M3, 6, 4, 2000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_boundaries),
        cmocka_unit_test(patterns),
        cmocka_unit_test(repeats_and_delays),
        cmocka_unit_test(fuzz),
    };
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
