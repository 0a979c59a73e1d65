/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of an expert's rows in the pool: ranks take turns as long as they have rows, beginning behind the owner; both
 * directions agree.
 */
#include "support/support.h"

#include "moe/pool.h"

static uint64_t state_of_numbers = 7;

static uint32_t number(uint32_t below)
{
    state_of_numbers = state_of_numbers * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state_of_numbers >> 33) % below;
}

/* Row by row as it is told: round after round, in each the ranks behind `own`, then the others. */
static void check(const uint32_t counts[XSTI_MOE_MOST_RANKS], uint32_t own)
{
    uint32_t row = 0, more = 1;
    for (uint32_t round = 0; more; round++) {
        more = 0;
        for (uint32_t turn = 1; turn <= XSTI_MOE_MOST_RANKS; turn++) {
            const uint32_t source = (own + turn) % XSTI_MOE_MOST_RANKS;
            if (counts[source] <= round)
                continue;
            const struct xsti_moe_row at = xsti_moe_row_at(counts, own, row);
            assert_int_equal(at.source, source);
            assert_int_equal(at.index, round);
            assert_int_equal(xsti_moe_row_of(counts, own, at), row);
            row++;
            more = 1;
        }
    }
}

static void ranks_take_turns(void **state)
{
    static const uint32_t counts[XSTI_MOE_MOST_RANKS] = {2, 0, 3, 1};
    (void)state;
    check(counts, 0);
    check(counts, 3);
    const struct xsti_moe_row fourth = xsti_moe_row_at(counts, 2, 3);
    assert_int_equal(fourth.source, 0); /* 3, 0, 2, then 0 again */
    assert_int_equal(fourth.index, 1);
}

static void random_counts(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        uint32_t counts[XSTI_MOE_MOST_RANKS] = {0};
        const uint32_t ranks = 1 + number(XSTI_MOE_MOST_RANKS), most = 1 + number(trial % 2 ? 4 : 60);
        for (uint32_t s = 0; s < ranks; s++)
            counts[s] = number(3) == 0 ? 0 : number(most);
        check(counts, number(ranks));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_take_turns),
        cmocka_unit_test(random_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
