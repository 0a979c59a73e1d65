/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice and its reasons: the least predicted time wins, and every loser says which part of its time is to blame.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "planner/candidates.h"

/* What makes a candidate's part larger than the chosen one's, as a clause. */
typedef void clause(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner, double part_us,
                    double winner_us, char *text, size_t bytes);

static void two_times(const char *format, double part_us, double winner_us, char *text, size_t bytes)
{
    char us[2][XSTI_PLAN_AMOUNT_BYTES];
    const int used = snprintf(text, bytes, format, xsti_plan_us_text(part_us, us[0]));
    if (used > 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, " instead of %s", xsti_plan_us_text(winner_us, us[1]));
}

static void say_compute_us(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner,
                           double part_us, double winner_us, char *text, size_t bytes)
{
    if (loser->efficiency.known && winner->efficiency.known)
        snprintf(text, bytes,
                 "%.0f waves of %.0f rows at rate %.2f use %.0f %% of the grid, %.0f of %.0f rows at %.2f use %.0f %%",
                 loser->waves.value, loser->tile_rows.value, loser->math_rate.value, 100 * loser->efficiency.value,
                 winner->waves.value, winner->tile_rows.value, winner->math_rate.value, 100 * winner->efficiency.value);
    else
        two_times("useful work takes %s", part_us, winner_us, text, bytes);
}

#define SAY(part, format)                                                                                              \
    static void say_##part(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner,            \
                           double part_us, double winner_us, char *text, size_t bytes)                                 \
    {                                                                                                                  \
        (void)loser;                                                                                                   \
        (void)winner;                                                                                                  \
        two_times(format, part_us, winner_us, text, bytes);                                                            \
    }
SAY(exposed_issue_us, "producers issue or wait for room %s")
SAY(bystander_us, "local loads wait behind the backlog %s")
SAY(starve_us, "CTAs wait for Linear-1 tiles, or at the end, %s")
SAY(pull_us, "stores and the pull of rows hinder each other for %s")
SAY(weights_us, "reading weights takes longer than using them by %s")
SAY(order_us, "the order and its stores cost %s by themselves")
SAY(tail_us, "from the last issue to remote visibility pass %s")
#undef SAY

static void say_locality_us(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner,
                            double part_us, double winner_us, char *text, size_t bytes)
{
    char size[XSTI_PLAN_AMOUNT_BYTES], us[XSTI_PLAN_AMOUNT_BYTES];
    (void)winner;
    (void)winner_us;
    snprintf(text, bytes, "%s of activations do not stay in the L2, reading them again takes %s",
             xsti_plan_bytes_text(loser->working_set_bytes.value, size), xsti_plan_us_text(part_us, us));
}

struct part {
    double us;
    double winner_us;
    clause *say;
};

static struct part worst_part(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner)
{
    struct part worst = {0, 0, NULL};
#define X(name, type, plans, meaning)                                                                                  \
    {                                                                                                                  \
        const double us = loser->name.known ? loser->name.value : 0,                                                   \
                     winner_us = winner->name.known ? winner->name.value : 0;                                          \
        if (us - winner_us > worst.us - worst.winner_us)                                                               \
            worst = (struct part){us, winner_us, say_##name};                                                          \
    }
    XST_PLAN_PARTS(X)
#undef X
    return worst;
}

static void say_equal(const struct xst_plan_candidate *loser, const struct xst_plan_candidate *winner, char *text,
                      size_t bytes)
{
    char amount[XSTI_PLAN_AMOUNT_BYTES];
    const double shared = loser->shared_bytes.value - winner->shared_bytes.value,
                 set = loser->working_set_bytes.value - winner->working_set_bytes.value;
    if (loser->shared_bytes.known && winner->shared_bytes.known && shared > 0)
        snprintf(text, bytes, "equal in time with %s more of shared memory", xsti_plan_bytes_text(shared, amount));
    else if (loser->working_set_bytes.known && winner->working_set_bytes.known && set > 0)
        snprintf(text, bytes, "equal in time with %s more in the L2", xsti_plan_bytes_text(set, amount));
    else
        snprintf(text, bytes, "equal in time and more involved");
}

static void say_lost(const struct xst_plan_candidate *winner, struct xst_plan_candidate *loser)
{
    char cause[192] = "", slower[XSTI_PLAN_AMOUNT_BYTES];
    const double more_us = loser->predicted_us.value - winner->predicted_us.value;
    if (!(more_us > 0)) {
        say_equal(loser, winner, loser->reason, sizeof loser->reason);
        return;
    }
    const struct part part = worst_part(loser, winner);
    if (part.say)
        part.say(loser, winner, part.us, part.winner_us, cause, sizeof cause);
    snprintf(loser->reason, sizeof loser->reason, "%s slower (%.2g %%): %s", xsti_plan_us_text(more_us, slower),
             100 * more_us / winner->predicted_us.value, cause);
}

/* Index of the least predicted time, not `but`; the first of equals; -1: none. */
static int64_t least(const struct xst_plan *plan, int64_t but)
{
    int64_t best = -1;
    for (size_t i = 0; i < plan->count; i++) {
        if ((int64_t)i == but || !plan->considered[i].predicted_us.known)
            continue;
        if (best < 0 || plan->considered[i].predicted_us.value < plan->considered[best].predicted_us.value)
            best = (int64_t)i;
    }
    return best;
}

static void say_plan(struct xst_plan *plan)
{
    char text[192], us[XSTI_PLAN_AMOUNT_BYTES];
    if (plan->chosen < 0) {
        snprintf(plan->sentence, sizeof plan->sentence, "no candidate can be predicted: %s",
                 plan->count ? plan->considered[0].reason : "there is none");
        return;
    }
    const struct xst_plan_candidate *const chosen = &plan->considered[plan->chosen];
    xst_plan_describe(plan, chosen, text, sizeof text);
    snprintf(plan->sentence, sizeof plan->sentence, "%s: %s predicted", text,
             xsti_plan_us_text(chosen->predicted_us.value, us));
    if (plan->runner_up < 0) {
        snprintf(plan->runner_up_sentence, sizeof plan->runner_up_sentence, "no other candidate can be predicted");
        return;
    }
    const struct xst_plan_candidate *const other = &plan->considered[plan->runner_up];
    xst_plan_describe(plan, other, text, sizeof text);
    snprintf(plan->runner_up_sentence, sizeof plan->runner_up_sentence, "%.180s: %.200s", text, other->reason);
}

void xsti_plan_finish(struct xsti_candidates *candidates, struct xst_plan *plan)
{
    plan->considered = candidates->list;
    plan->count = candidates->count;
    plan->chosen = least(plan, -1);
    plan->runner_up = plan->chosen < 0 ? -1 : least(plan, plan->chosen);
    for (size_t i = 0; i < plan->count; i++) {
        struct xst_plan_candidate *const candidate = &plan->considered[i];
        if ((int64_t)i == plan->chosen)
            snprintf(candidate->reason, sizeof candidate->reason, "least predicted time");
        else if (candidate->predicted_us.known)
            say_lost(&plan->considered[plan->chosen], candidate);
    }
    say_plan(plan);
}

static void describe_fa(const struct xst_plan_candidate *c, char *text, size_t bytes)
{
    char chunk[XSTI_PLAN_AMOUNT_BYTES], slots[40] = "", slices[64] = "", span[XSTI_PLAN_AMOUNT_BYTES];
    if (c->slices.value > 1)
        snprintf(slices, sizeof slices, " in %.0f slices over %s", c->slices.value,
                 xsti_plan_us_text(c->span_us.value, span));
    if (c->staging_slots.value > 1)
        snprintf(slots, sizeof slots, ", %.0f staging slots", c->staging_slots.value);
    snprintf(text, bytes, "%.0f-row tiles, %s stores of %s%s, %s%s", c->tile_rows.value, xst_method_text(c->method),
             xsti_plan_bytes_text(c->chunk_bytes.value, chunk), slices,
             c->order == XST_TILE_ORDER_PEERS_FIRST ? "peers first" : "rows in order", slots);
}

static void describe_moe(const struct xst_plan_candidate *c, char *text, size_t bytes)
{
    char most[48] = "", slices[32] = "";
    if (c->slices.value > 1)
        snprintf(slices, sizeof slices, " in %.0f slices", c->slices.value);
    if (c->wave_blocks.known)
        snprintf(most, sizeof most, " of %.0f blocks at most", c->wave_blocks.value);
    if (c->schedule == XST_SCHEDULE_WAVE)
        snprintf(text, bytes, "wave schedule, %.0f wave%s%s, %s stores%s", c->waves.value,
                 c->waves.value == 1 ? "" : "s", most, xst_method_text(c->method), slices);
    else
        snprintf(text, bytes, "interleaved, lead of %.0f Linear-1 tiles, %.0f Linear-2 tile%s a turn, %s stores%s",
                 c->lead_tiles.value, c->group_tiles.value, c->group_tiles.value == 1 ? "" : "s",
                 xst_method_text(c->method), slices);
}

static void describe_traffic(const struct xst_plan_candidate *c, char *text, size_t bytes)
{
    char size[XSTI_PLAN_AMOUNT_BYTES], us[XSTI_PLAN_AMOUNT_BYTES];
    snprintf(text, bytes, "%.0f issuers x %s (%s) every %s of work, %.0f staging slot%s", c->producers.value,
             xsti_plan_bytes_text(c->bytes_per_producer.value, size), xst_method_text(c->method),
             xsti_plan_us_text(c->gap_us.value, us), c->staging_slots.value, c->staging_slots.value == 1 ? "" : "s");
}

const char *xst_plan_describe(const struct xst_plan *plan, const struct xst_plan_candidate *candidate, char *text,
                              size_t bytes)
{
    if (plan->kind == XST_PLAN_FA_A2A)
        describe_fa(candidate, text, bytes);
    else if (plan->kind == XST_PLAN_MOE)
        describe_moe(candidate, text, bytes);
    else
        describe_traffic(candidate, text, bytes);
    return text;
}
