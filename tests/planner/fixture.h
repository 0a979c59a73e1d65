/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - the machines plans are tested on, and what holds for every plan.
 */
#ifndef XST_TESTS_PLANNER_FIXTURE_H
#define XST_TESTS_PLANNER_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/plan.h>
#include <xstage/shapes.h>

#include "support/support.h"

static inline struct xst_profile stored_profile(const char *name)
{
    struct xst_profile profile = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const path = xt_join(XST_SOURCE_DIR "/profiles", name);
    xt_ok(xst_profile_read(path, &profile, NULL, &diag), &diag);
    free(path);
    return profile;
}

/* The recorded pair, without a word on bystanders: a test that wants them states Q_free itself. */
static inline struct xst_profile pair_profile(void)
{
    struct xst_profile profile = stored_profile("h200x2-nvlink.json");
    for (size_t i = 0; i < profile.path_count; i++)
        profile.paths[i].free_capacity_bytes.known = 0;
    return profile;
}

/* Sum of the parts, written apart from the planner's own. */
static inline double sum_of(const struct xst_plan_candidate *c)
{
    const struct xst_plan_number *const parts[] = {&c->compute_us, &c->exposed_issue_us, &c->bystander_us,
                                                   &c->starve_us,  &c->pull_us,          &c->locality_us,
                                                   &c->weights_us, &c->order_us,         &c->tail_us};
    double sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum += parts[i]->known ? parts[i]->value : 0;
    return sum;
}

/* The choice is the least by brute force, the runner-up the least of the others, every loser has a reason, sums are
 * sums. */
static inline void plan_holds(const struct xst_plan *plan)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    int64_t best = -1, second = -1;
    xt_ok(xst_plan_check(plan, &diag), &diag);
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const c = &plan->considered[i];
        assert_true(c->reason[0] != '\0');
        if (!c->predicted_us.known)
            continue;
        xt_near(c->predicted_us.value, sum_of(c), 1e-4 + 1e-8 * c->predicted_us.value);
        if (best < 0 || c->predicted_us.value < plan->considered[best].predicted_us.value) {
            second = best;
            best = (int64_t)i;
        } else if (second < 0 || c->predicted_us.value < plan->considered[second].predicted_us.value) {
            second = (int64_t)i;
        }
    }
    assert_int_equal(plan->chosen, best);
    if (second >= 0)
        xt_near(plan->considered[plan->runner_up].predicted_us.value, plan->considered[second].predicted_us.value, 0);
    else
        assert_int_equal(plan->runner_up, -1);
    assert_true(plan->sentence[0] != '\0');
    assert_true(plan->chosen < 0 || plan->runner_up_sentence[0] != '\0');
}

static inline const struct xst_plan_candidate *chosen_of(const struct xst_plan *plan)
{
    assert_true(plan->chosen >= 0);
    return &plan->considered[plan->chosen];
}

/* Both plans print the same bytes. */
static inline void plans_equal(const struct xst_plan *a, const struct xst_plan *b)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    char *text[2] = {NULL, NULL};
    xt_ok(xst_plan_print(a, &text[0], &diag), &diag);
    xt_ok(xst_plan_print(b, &text[1], &diag), &diag);
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static inline struct xst_moe_shape moe_shape_of(const char *name, int64_t ranks)
{
    const struct xst_moe_preset *preset = NULL;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_moe_preset_find(name, &preset, &diag), &diag);
    return (
        struct xst_moe_shape){preset->hidden, preset->inter, preset->experts, preset->topk, preset->tokens, ranks, 2};
}

static const struct xst_moe_plan moe_tiles =
    {.tile_rows = 128, .tile_cols = 256, .tile_depth = 64, .stages = 4, .staging_slots = 1, .act_frac = 0.1};

#endif
