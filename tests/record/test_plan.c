/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans printed and read back byte for byte, and what is refused of a file somebody edited.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/plan.h>

#include "support/support.h"

static struct xst_plan_number known(double value)
{
    return (struct xst_plan_number){value, 1};
}

static struct xst_plan small_plan(enum xst_plan_kind kind)
{
    struct xst_plan plan = {.kind = kind, .chosen = 1, .runner_up = 2, .count = 3};
    strcpy(plan.name, "flux1");
    strcpy(plan.profile_id, "0123456789abcdef");
    strcpy(plan.profile_name, "box");
    strcpy(plan.sentence, "a choice");
    plan.question.ctas = known(132);
    plan.answers.drain_bytes_per_us = known(372787.323);
    plan.considered = calloc(3, sizeof *plan.considered);
    assert_non_null(plan.considered);
    for (int i = 0; i < 3; i++) {
        struct xst_plan_candidate *const c = &plan.considered[i];
        c->method = XST_METHOD_BULK;
        c->order = XST_TILE_ORDER_ROWS;
        c->schedule = XST_SCHEDULE_INTERLEAVED;
        c->predicted_us = known(164.123456789 + (i == 2));
        c->compute_us = known(161.0 / 3);
        c->staging_slots = known(2);
        c->lead_tiles = known(264);
        c->splits = known(0.25);
        c->pareto = i == 1 && kind == XST_PLAN_TRAFFIC;
        strcpy(c->reason, "because");
    }
    plan.considered[0].predicted_us.known = 0;
    plan.considered[0].extrapolated = 1;
    return plan;
}

static char *text_of(const struct xst_plan *plan)
{
    char *text = NULL;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_plan_print(plan, &text, &diag), &diag);
    return text;
}

static void printed_and_read_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct xst_plan plan = small_plan((enum xst_plan_kind)kind), again;
        char *const text = text_of(&plan);
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_plan_parse("plan.json", text, strlen(text), &again, &diag), &diag);
        char *const second = text_of(&again);
        assert_string_equal(text, second);
        assert_int_equal(again.kind, kind);
        assert_int_equal(again.chosen, 1);
        assert_int_equal(again.count, 3);
        assert_false(again.considered[0].predicted_us.known);
        assert_true(again.considered[0].extrapolated);
        xt_near(again.considered[1].predicted_us.value, 164.123457, 0);
        assert_int_equal(again.considered[1].method, XST_METHOD_BULK);
        assert_string_equal(again.considered[2].reason, "because");
        xst_plan_free(&plan);
        xst_plan_free(&again);
        free(text);
        free(second);
    }
}

static void from_a_file(void **state)
{
    (void)state;
    struct xst_plan plan = small_plan(XST_PLAN_MOE), again;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const text = text_of(&plan), *const folder = xt_folder_make(), *const path = xt_join(folder, "plan.json");
    xt_file_make(path, text, strlen(text));
    xt_ok(xst_plan_read(path, &again, &diag), &diag);
    assert_int_equal(again.considered[1].schedule, XST_SCHEDULE_INTERLEAVED);
    xst_plan_free(&again);
    char *const missing = xt_join(folder, "none.json");
    xt_status(xst_plan_read(missing, &again, &diag), XST_ERR_IO, &diag);
    xst_plan_free(&plan);
    free(text);
    free(path);
    free(missing);
    xt_folder_remove(folder);
}

/* The text with the first `from` replaced. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *const at = strstr(text, from);
    assert_non_null(at);
    char *const result = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(result);
    memcpy(result, text, (size_t)(at - text));
    strcpy(result + (at - text), to);
    strcat(result, at + strlen(from));
    return result;
}

static void edited_plans_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        enum xst_status status;
        const char *words;
    } cases[] = {
        {"xstage.plan/1", "xstage.plan/2", XST_ERR_SCHEMA, "xstage.plan"},
        {"\"chosen_index\": 1", "\"chosen_index\": 2", XST_ERR_RANGE, "runner_up_index is 2, the chosen one"},
        {"\"chosen_index\": 1", "\"chosen_index\": 7", XST_ERR_RANGE, "chosen_index is 7, there are 3 candidates"},
        {"\"chosen_index\": 1", "\"chosen_index\": 0", XST_ERR_RANGE, "which has no predicted_us"},
        {"\"chosen_index\": 1", "\"chosen_index\": null", XST_ERR_RANGE, "nothing is chosen"},
        {"\"chosen_index\": 1", "\"chosen_index\": -3", XST_ERR_RANGE, "chosen_index"},
        {"\"chosen_index\": 1", "\"chosen_index\": \"x\"", XST_ERR_PARSE, "chosen_index"},
        {"\"runner_up_index\": 2", "\"runner_up_index\": 0", XST_ERR_RANGE, "runner_up_index is candidate 0"},
        {"\"kernel\": \"moe\"", "\"kernel\": \"moo\"", XST_ERR_PARSE, "fa-a2a, moe, traffic"},
        {"\"target\": \"peer\"", "\"target\": \"pear\"", XST_ERR_PARSE, "peer, host, local"},
        {"\"phase\": \"unknown\"", "\"phase\": 3", XST_ERR_PARSE, "phase"},
        {"\"considered\": [", "\"considered\": [1, ", XST_ERR_PARSE, "considered[0] is not an object"},
        {"\"question\": {", "\"question\": 4, \"q\": {", XST_ERR_PARSE, "question"},
        {"\"lead_knee_tiles\": null", "\"lead_knee_tiles\": 1e300", XST_ERR_PARSE, "lead_knee_tiles"},
    };
    struct xst_plan plan = small_plan(XST_PLAN_MOE), again;
    char *const text = text_of(&plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {XST_OK, 0, ""};
        char *const bad = edited(text, cases[i].from, cases[i].to);
        xt_status(xst_plan_parse("bad.json", bad, strlen(bad), &again, &diag), cases[i].status, &diag);
        xt_contains(diag.text, "bad.json");
        xt_contains(diag.text, cases[i].words);
        free(bad);
    }
    free(text);
    xst_plan_free(&plan);
}

/* Inside an array the second candidate's words and numbers are checked as the first one's, and unknown keys are left
 * alone. */
static void candidates_are_checked(void **state)
{
    (void)state;
    struct xst_plan plan = small_plan(XST_PLAN_FA_A2A), again;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const text = text_of(&plan);
    char *const more = edited(text, "\"considered\": [", "\"later\": {\"a\": [1]}, \"considered\": [");
    xt_ok(xst_plan_parse("plan.json", more, strlen(more), &again, &diag), &diag);
    xst_plan_free(&again);
    char *const considered = strstr(text, "\"considered\"");
    char *const word = strstr(considered, "\"rows\"");
    assert_non_null(word);
    memcpy(word, "\"raws\"", 6);
    xt_status(xst_plan_parse("plan.json", text, strlen(text), &again, &diag), XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "considered[0].order");
    memcpy(word, "\"rows\"", 6);
    char *const faster = strstr(considered, "\"predicted_us\": 165.123457");
    assert_non_null(faster);
    memcpy(faster, "\"predicted_us\": 100.000000", 26);
    xt_status(xst_plan_parse("plan.json", text, strlen(text), &again, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "candidate 1 is chosen, but candidate 2 takes less");
    free(more);
    free(text);
    xst_plan_free(&plan);
}

static void words(void **state)
{
    (void)state;
    enum xst_plan_kind kind = XST_PLAN_FA_A2A;
    enum xst_tile_order order = XST_TILE_ORDER_PEERS_FIRST;
    assert_string_equal(xst_plan_kind_text(XST_PLAN_MOE), "moe");
    assert_string_equal(xst_plan_kind_text((enum xst_plan_kind)9), "?");
    assert_int_equal(xst_plan_kind_parse("traffic", &kind), 0);
    assert_int_equal(kind, XST_PLAN_TRAFFIC);
    assert_int_equal(xst_plan_kind_parse("fa", &kind), -1);
    assert_string_equal(xst_tile_order_text(XST_TILE_ORDER_ROWS), "rows");
    assert_string_equal(xst_tile_order_text((enum xst_tile_order)9), "?");
    assert_int_equal(xst_tile_order_parse("rows", &order), 0);
    assert_int_equal(order, XST_TILE_ORDER_ROWS);
    assert_int_equal(xst_tile_order_parse("", &order), -1);
    xst_plan_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_and_read_back),
        cmocka_unit_test(from_a_file),
        cmocka_unit_test(edited_plans_are_refused),
        cmocka_unit_test(candidates_are_checked),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
