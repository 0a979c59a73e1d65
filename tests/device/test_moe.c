/* SPDX-License-Identifier: Apache-2.0
 *
 * The mixture-of-experts kernels on a device, several virtual ranks with a share of its SMs each: every shape, mask and order
 * against the plain reference, and bit for bit against each other. XSTAGE_FUZZ_MOE: how many random layers (default 12).
 * Without a device, or a build that has code for it, the test is skipped.
 */
#include "support/moe_world.h"

#include <stdio.h>

static struct moe_machine machine;

/* ranks, experts, hidden, inter, topk, tokens, clamp, pattern, masked, numbers */
static void small_numbers_are_exact(void **state)
{
    static const struct moe_case cases[] = {
        {1, 1, 128, 64, 1, {1}, 0, MOE_ANY, 0, MOE_EXACT_NUMBERS},
        {1, 3, 384, 192, 2, {130}, 64, MOE_DISTINCT, 0, MOE_EXACT_NUMBERS},
        {2, 6, 256, 320, 4, {65, 129}, 0, MOE_ANY, 0.3, MOE_EXACT_NUMBERS},
        {4, 10, 640, 64, 6, {7, 0, 128, 40}, 0, MOE_DISTINCT, 0, MOE_EXACT_NUMBERS},
        {8, 16, 128, 448, 2, {64, 63, 1, 0, 129, 20, 3, 300}, 0, MOE_DISTINCT, 0.1, MOE_EXACT_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "exact case %zu", i);
        moe_every_order(&machine, &cases[i], XST_MOE_BF16, name);
    }
}

static void shapes_and_boundaries(void **state)
{
    static const struct moe_case cases[] = {
        {1, 1, 128, 64, 1, {1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {1, 8, 1152, 192, 6, {127}, 7, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 16, 128, 64, 16, {65}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {1, 1, 256, 128, 1, {700}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {2, 2, 128, 64, 1, {0, 1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {2, 6, 384, 192, 2, {63, 64}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {2, 72, 256, 64, 8, {65, 128}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {2, 5, 384, 448, 4, {129, 7}, 0.5, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {3, 7, 640, 320, 4, {64, 0, 65}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {4, 4, 256, 192, 1, {127, 128, 129, 1}, 0, MOE_ANY, 0, MOE_RANDOM_NUMBERS},
        {4, 12, 384, 320, 6, {63, 65, 0, 7}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {5, 11, 128, 64, 2, {1, 2, 3, 4, 5}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {8, 8, 256, 128, 2, {64, 64, 64, 64, 64, 64, 64, 64}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
        {8, 24, 384, 64, 9, {1, 7, 63, 64, 65, 127, 128, 129}, 0, MOE_DISTINCT, 0, MOE_RANDOM_NUMBERS},
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "shape %zu", i);
        moe_every_order(&machine, &cases[i], XST_MOE_BF16, name);
    }
}

static void masks_and_patterns(void **state)
{
    static const double masked[] = {0, 0.3, 0.7, 1};
    char name[48];
    (void)state;
    for (int pattern = MOE_DISTINCT; pattern <= MOE_MASKED_RANK; pattern++)
        for (size_t m = 0; m < 4; m++) {
            if (m > 0 && pattern != MOE_DISTINCT && pattern != MOE_ANY)
                continue;
            const struct moe_case made = {4,         12,
                                          384,       192,
                                          4,         {100, 37, 64, 129},
                                          0,         (enum moe_pattern)pattern,
                                          masked[m], MOE_RANDOM_NUMBERS};
            snprintf(name, sizeof name, "pattern %d, masked %g", pattern, masked[m]);
            moe_every_order(&machine, &made, XST_MOE_BF16, name);
        }
}

static void repeats_and_delays(void **state)
{
    const struct moe_case made = {4, 10, 640, 320, 4, {150, 90, 10, 260}, 0, MOE_DISTINCT, 0.1, MOE_RANDOM_NUMBERS};
    (void)state;
    moe_repeats(&machine, &made, XST_MOE_BF16);
}

static void fuzz(void **state)
{
    (void)state;
    moe_fuzz(&machine, XST_MOE_BF16, 12, 5, 1000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_are_exact),
        cmocka_unit_test(shapes_and_boundaries),
        cmocka_unit_test(masks_and_patterns),
        cmocka_unit_test(repeats_and_delays),
        cmocka_unit_test(fuzz),
    };
    return moe_machine_main(&machine, argc, argv, tests, sizeof tests / sizeof tests[0]);
}
