/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision of one step: no allocation, the same answer as the plan, the list's waits as the exact list has them.
 */
#include <xstage/audit.h>

#include "planner/fixture.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined SANITIZED
#define COUNTS_ALLOCATIONS 0
#else
#define COUNTS_ALLOCATIONS 1
#endif

static int allocations;

#if COUNTS_ALLOCATIONS
/* The library's calls come here too: the program's symbols win. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    allocations++;
    return __libc_realloc(old, bytes);
}
#endif

struct ready {
    struct xst_profile profile;
    struct xst_moe_setup setup;
    size_t bytes;
    void *workspace;
};

static struct ready ready_for(struct xst_moe_shape shape)
{
    struct ready ready = {.profile = pair_profile()};
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_moe_setup_make(&ready.profile, &shape, &moe_tiles, NULL, &ready.setup, &diag), &diag);
    ready.bytes = xst_moe_workspace_bytes(&ready.setup);
    ready.workspace = malloc(ready.bytes);
    assert_non_null(ready.workspace);
    return ready;
}

static void release(struct ready *ready)
{
    free(ready->workspace);
    xst_profile_free(&ready->profile);
}

static void nothing_is_allocated(void **state)
{
    (void)state;
    if (!COUNTS_ALLOCATIONS)
        skip();
    static int64_t counts[1024];
    static struct xst_moe_choice choice;
    size_t presets = 0;
    const struct xst_moe_preset *const preset = xst_moe_presets(&presets);
    const int64_t too_many[] = {INT64_MAX / 2};
    for (size_t i = 0; i < 6 && i < presets; i++) {
        struct ready ready = ready_for(moe_shape_of(preset[i].name, 8));
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_routing_make(XST_ROUTING_HOT_EXPERT, 6, &ready.setup.shape, counts, &diag), &diag);
        const int before = allocations;
        const enum xst_status status = xst_moe_choose(&ready.setup, counts, ready.setup.shape.experts / 8,
                                                      ready.workspace, ready.bytes, &choice, &diag);
        const enum xst_status refused =
            xst_moe_choose(&ready.setup, too_many, 1, ready.workspace, ready.bytes, &choice, &diag);
        assert_int_equal(allocations, before);
        assert_int_equal(status, XST_OK);
        assert_int_equal(refused, XST_ERR_RANGE);
        release(&ready);
    }
    assert_true(allocations > 0);
}

/* A guard behind the workspace is not touched, whatever the routing. */
static void the_workspace_is_enough(void **state)
{
    (void)state;
    enum { GUARD = 64 };
    static int64_t counts[256];
    static struct xst_moe_choice choice;
    struct ready ready = ready_for(moe_shape_of("deepseek-v3", 8));
    unsigned char *const memory = malloc(ready.bytes + GUARD);
    assert_non_null(memory);
    for (int routing = 0; routing < 4; routing++) {
        for (double skew = 0; skew < 40; skew += 6) {
            struct xst_diag diag = {XST_OK, 0, ""};
            xt_ok(xst_routing_make((enum xst_routing)routing, skew, &ready.setup.shape, counts, &diag), &diag);
            memset(memory, 0xA5, ready.bytes + GUARD);
            xt_ok(xst_moe_choose(&ready.setup, counts, 256, memory, ready.bytes, &choice, &diag), &diag);
            for (size_t i = 0; i < GUARD; i++)
                assert_int_equal(memory[ready.bytes + i], 0xA5);
            assert_true(choice.chosen >= 0);
            for (int64_t i = 0; i < choice.count; i++)
                assert_true(choice.candidates[i].predicted_us >= choice.candidates[choice.chosen].predicted_us);
        }
    }
    free(memory);
    release(&ready);
}

static void the_plan_says_the_same(void **state)
{
    (void)state;
    static int64_t counts[1024];
    static struct xst_moe_choice choice, again;
    size_t presets = 0;
    const struct xst_moe_preset *const preset = xst_moe_presets(&presets);
    for (size_t i = 0; i < presets; i++) {
        struct xst_plan plan;
        struct xst_diag diag = {XST_OK, 0, ""};
        struct ready ready = ready_for(moe_shape_of(preset[i].name, 2));
        const int64_t experts = ready.setup.shape.experts / 2;
        xt_ok(xst_routing_make(XST_ROUTING_ZIPF, 0.7, &ready.setup.shape, counts, &diag), &diag);
        xt_ok(xst_moe_choose(&ready.setup, counts, experts, ready.workspace, ready.bytes, &choice, &diag), &diag);
        memset(ready.workspace, 0xFF, ready.bytes);
        memset(&again, 0xFF, sizeof again);
        xt_ok(xst_moe_choose(&ready.setup, counts, experts, ready.workspace, ready.bytes, &again, &diag), &diag);
        assert_int_equal(choice.chosen, again.chosen);
        xt_ok(xst_plan_moe(&ready.profile, &ready.setup.shape, &moe_tiles, NULL, 0, counts, experts, &plan, &diag),
              &diag);
        plan_holds(&plan);
        assert_int_equal(plan.count, choice.count);
        assert_int_equal(plan.chosen, choice.chosen);
        for (int64_t c = 0; c < choice.count; c++) {
            xt_near(again.candidates[c].predicted_us, choice.candidates[c].predicted_us, 0);
            xt_near(plan.considered[c].predicted_us.value, choice.candidates[c].predicted_us, 1e-3);
        }
        xst_plan_free(&plan);
        release(&ready);
    }
}

/* Shortened lists inside the decision, against the whole list: within one tile where nobody starves, and a tenth
 * where leads are too small. */
static void waits_are_those_of_the_exact_list(void **state)
{
    (void)state;
    static int64_t counts[1024];
    static struct xst_moe_choice choice;
    static const char *const names[] = {"qwen3-30b", "deepseek-v3", "qwen3-235b", "gpt-oss-120b", "dit-moe-l"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ready ready = ready_for(moe_shape_of(names[i], 8));
        const struct xst_moe_setup *const setup = &ready.setup;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_routing_make(XST_ROUTING_UNIFORM, 0, &setup->shape, counts, &diag), &diag);
        xt_ok(xst_moe_choose(setup, counts, setup->shape.experts / 8, ready.workspace, ready.bytes, &choice, &diag),
              &diag);
        const struct xst_lead_problem problem = {choice.blocks,         setup->l1_per_block, setup->l2_per_block,
                                                 setup->plan.producers, setup->l1_us,        setup->l2_us,
                                                 setup->act_us};
        for (int64_t c = 0; c < choice.count; c++) {
            const struct xst_moe_candidate *const candidate = &choice.candidates[c];
            struct xst_lead_waits waits;
            if (candidate->schedule != XST_SCHEDULE_INTERLEAVED || candidate->group_tiles != 1)
                continue;
            xt_ok(xst_lead_run(&problem, candidate->lead_tiles, &waits, &diag), &diag);
            const double exact_us = fmax(waits.makespan_us - candidate->compute_us, 0);
            xt_near(candidate->starve_us, exact_us, fmax(setup->l1_us, setup->l2_us) + 0.1 * exact_us);
        }
        release(&ready);
    }
}

static void refused(void **state)
{
    (void)state;
    static struct xst_moe_choice choice;
    struct ready ready = ready_for(moe_shape_of("mixtral-8x7b", 2));
    struct xst_diag diag = {XST_OK, 0, ""};
    const int64_t negative[] = {-1}, many[] = {8193}, all[] = {8192, 8192, 8192};
    xt_status(xst_moe_choose(&ready.setup, negative, 1, ready.workspace, ready.bytes, &choice, &diag), XST_ERR_RANGE,
              &diag);
    xt_contains(diag.text, "expert 0 has -1 rows");
    xt_status(xst_moe_choose(&ready.setup, many, 1, ready.workspace, ready.bytes, &choice, &diag), XST_ERR_RANGE,
              &diag);
    xt_status(xst_moe_choose(&ready.setup, all, 3, ready.workspace, ready.bytes, &choice, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "more than topk of every token");
    xt_status(xst_moe_choose(&ready.setup, all, 0, ready.workspace, ready.bytes, &choice, &diag), XST_ERR_RANGE, &diag);
    xt_status(xst_moe_choose(&ready.setup, all, 1, ready.workspace, ready.bytes - 1, &choice, &diag), XST_ERR_RANGE,
              &diag);
    release(&ready);
}

/* A rank that received nothing has nothing to wait for. */
static void no_rows(void **state)
{
    (void)state;
    static struct xst_moe_choice choice;
    struct ready ready = ready_for(moe_shape_of("mixtral-8x7b", 2));
    struct xst_diag diag = {XST_OK, 0, ""};
    const int64_t none[] = {0, 0, 0, 0};
    xt_ok(xst_moe_choose(&ready.setup, none, 4, ready.workspace, ready.bytes, &choice, &diag), &diag);
    assert_int_equal(choice.blocks, 0);
    assert_true(choice.chosen >= 0 || choice.candidates[0].gap != XST_MOE_GAP_NONE);
    if (choice.chosen >= 0)
        assert_true(choice.candidates[choice.chosen].predicted_us < 5);
    release(&ready);
}

/* Where the links decide, bytes over rate is the least a layer can take, and bulk stores in waves come close: staging that
 * drains behind the next wave's Linear-1 tiles holds nobody up. */
static void a_wave_bound_by_its_links_takes_their_time(void **state)
{
    (void)state;
    struct xst_moe_shape shape = moe_shape_of("qwen3-30b", 8);
    struct ready ready = ready_for(shape);
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_moe_choice choice;
    int64_t counts[128];
    xt_ok(xst_routing_make(XST_ROUTING_UNIFORM, 0, &shape, counts, &diag), &diag);
    xt_ok(xst_moe_choose(&ready.setup, counts, 16, ready.workspace, ready.bytes, &choice, &diag), &diag);
    const double bytes = 7.0 / 8 * (double)choice.rows * 2048 * 2;
    const double least_us = 2 * bytes / ready.setup.paths[XST_METHOD_BULK]->drain_bytes_per_us.value;
    int found = 0;
    for (int64_t i = 0; i < choice.count; i++) {
        const struct xst_moe_candidate *const c = &choice.candidates[i];
        if (c->schedule != XST_SCHEDULE_WAVE || c->method != XST_METHOD_BULK || c->wave_blocks > 0)
            continue;
        xt_within(c->predicted_us, least_us, 1.03 * least_us);
        found++;
    }
    assert_int_equal(found, 1);
    release(&ready);
}

/* 8-bit operands: what is fetched, kept and read halves (and a scale for 128 values), what is sent back and computed stays. */
static void e4m3_fetches_half(void **state)
{
    (void)state;
    static struct xst_moe_choice choices[2];
    int64_t counts[256];
    struct ready ready = ready_for(moe_shape_of("qwen3-30b", 8));
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_routing_make(XST_ROUTING_UNIFORM, 0, &ready.setup.shape, counts, &diag), &diag);
    for (int e4m3 = 0; e4m3 < 2; e4m3++) {
        ready.setup.operand_bytes = e4m3;
        xt_ok(xst_moe_choose(&ready.setup, counts, 16, ready.workspace, ready.bytes, &choices[e4m3], &diag), &diag);
    }
    size_t alike = 0;
    for (int64_t i = 0; i < choices[0].count; i++)
        for (int64_t j = 0; j < choices[1].count; j++) {
            const struct xst_moe_candidate *const a = &choices[0].candidates[i], *const b = &choices[1].candidates[j];
            if (a->schedule != b->schedule || a->method != b->method || a->lead_tiles != b->lead_tiles ||
                a->group_tiles != b->group_tiles || a->wave_blocks != b->wave_blocks || a->gap != XST_MOE_GAP_NONE)
                continue;
            alike++;
            assert_true(b->predicted_us <= a->predicted_us && b->pull_us <= a->pull_us);
            xt_near(b->working_set_bytes, (1 + 4.0 / 128) / 2 * a->working_set_bytes, 1e-6 * a->working_set_bytes);
            xt_near(b->compute_us, a->compute_us, 1e-9 * a->compute_us);
        }
    assert_true(alike > 4);
    const struct xst_moe_shape *const shape = &ready.setup.shape;
    xt_near(xst_moe_operand_bytes(shape, 0), 2, 0);
    xt_near(xst_moe_operand_bytes(shape, 1), 1.03125, 0);
    xt_near(xst_moe_operand_bytes(shape, 4), 4, 0);
    release(&ready);
}

/* A token's row once for all experts of a rank: less is waited for, and nothing else changes. */
static void rows_fetched_once_are_waited_for_less(void **state)
{
    (void)state;
    static struct xst_moe_choice choices[2];
    int64_t counts[256];
    struct ready ready = ready_for(moe_shape_of("qwen3-30b", 8));
    struct xst_diag diag = {XST_OK, 0, ""};
    double saved_us = 0;
    xt_ok(xst_routing_make(XST_ROUTING_UNIFORM, 0, &ready.setup.shape, counts, &diag), &diag);
    for (int once = 0; once < 2; once++) {
        ready.setup.once = once;
        xt_ok(xst_moe_choose(&ready.setup, counts, 16, ready.workspace, ready.bytes, &choices[once], &diag), &diag);
    }
    for (int64_t i = 0; i < choices[0].count; i++)
        for (int64_t j = 0; j < choices[1].count; j++) {
            const struct xst_moe_candidate *const a = &choices[0].candidates[i], *const b = &choices[1].candidates[j];
            if (a->schedule != b->schedule || a->method != b->method || a->lead_tiles != b->lead_tiles ||
                a->group_tiles != b->group_tiles || a->wave_blocks != b->wave_blocks || a->gap != XST_MOE_GAP_NONE)
                continue;
            assert_true(b->pull_us <= a->pull_us && b->predicted_us <= a->predicted_us);
            xt_near(b->working_set_bytes, a->working_set_bytes, 1e-9 * a->working_set_bytes);
            saved_us = fmax(saved_us, a->predicted_us - b->predicted_us);
        }
    assert_true(saved_us > 1);
    release(&ready);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_allocated),
        cmocka_unit_test(the_workspace_is_enough),
        cmocka_unit_test(the_plan_says_the_same),
        cmocka_unit_test(waits_are_those_of_the_exact_list),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(a_wave_bound_by_its_links_takes_their_time),
        cmocka_unit_test(e4m3_fetches_half),
        cmocka_unit_test(rows_fetched_once_are_waited_for_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
