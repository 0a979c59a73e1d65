/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: their words, check and printed form (docs/plan.md has the keys). What is not known is null.
 */
#include <xstage/plan.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

#define X(NAME, text, meaning)                                                                                         \
    case XST_PLAN_##NAME:                                                                                              \
        return text;
const char *xst_plan_kind_text(enum xst_plan_kind kind)
{
    switch (kind) {
        XST_PLAN_KIND_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *kind_out = XST_PLAN_##NAME;                                                                                   \
        return 0;                                                                                                      \
    }
int xst_plan_kind_parse(const char *text, enum xst_plan_kind *kind_out)
{
    XST_PLAN_KIND_MAP(X)
    return -1;
}
#undef X

#define X(NAME, text, meaning)                                                                                         \
    case XST_TILE_ORDER_##NAME:                                                                                        \
        return text;
const char *xst_tile_order_text(enum xst_tile_order order)
{
    switch (order) {
        XST_TILE_ORDER_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *order_out = XST_TILE_ORDER_##NAME;                                                                            \
        return 0;                                                                                                      \
    }
int xst_tile_order_parse(const char *text, enum xst_tile_order *order_out)
{
    XST_TILE_ORDER_MAP(X)
    return -1;
}
#undef X

void xst_plan_free(struct xst_plan *plan)
{
    if (!plan)
        return;
    free(plan->considered);
    plan->considered = NULL;
    plan->count = 0;
}

static enum xst_status check_index(const struct xst_plan *plan, const char *what, int64_t index, struct xst_diag *diag)
{
    if (index < -1 || index >= (int64_t)plan->count)
        return xsti_fail(diag, XST_ERR_RANGE, "%s is %lld, there are %zu candidates", what, (long long)index,
                         plan->count);
    if (index >= 0 && !plan->considered[index].predicted_us.known)
        return xsti_fail(diag, XST_ERR_RANGE, "%s is candidate %lld, which has no predicted_us", what,
                         (long long)index);
    return XST_OK;
}

enum xst_status xst_plan_check(const struct xst_plan *plan, struct xst_diag *diag)
{
    XSTI_TRY(check_index(plan, "chosen_index", plan->chosen, diag));
    XSTI_TRY(check_index(plan, "runner_up_index", plan->runner_up, diag));
    if (plan->chosen >= 0 && plan->chosen == plan->runner_up)
        return xsti_fail(diag, XST_ERR_RANGE, "runner_up_index is %lld, the chosen one", (long long)plan->runner_up);
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_number *const time = &plan->considered[i].predicted_us;
        if (!time->known)
            continue;
        if (plan->chosen < 0)
            return xsti_fail(diag, XST_ERR_RANGE, "nothing is chosen, but candidate %zu is predicted", i);
        if (time->value < plan->considered[plan->chosen].predicted_us.value)
            return xsti_fail(diag, XST_ERR_RANGE, "candidate %lld is chosen, but candidate %zu takes less: %g us",
                             (long long)plan->chosen, i, time->value);
    }
    return XST_OK;
}

enum { INT = 0, REAL = 1 };

static json_t *number(const struct xst_plan_number *value, int type)
{
    if (!value->known || !isfinite(value->value))
        return json_null();
    if (type == INT)
        return json_integer((json_int_t)value->value);
    return json_real(xsti_round9(value->value));
}

static json_t *text(const char *value)
{
    return value[0] ? json_string(value) : json_null();
}

static int plans_of(enum xst_plan_kind kind)
{
    return 1 << (int)kind;
}

static json_t *candidate(enum xst_plan_kind kind, const struct xst_plan_candidate *value)
{
    const int bit = plans_of(kind);
    json_t *const object = json_object();
    json_object_set_new(object, "method", json_string(xst_method_text(value->method)));
    if (kind == XST_PLAN_FA_A2A)
        json_object_set_new(object, "order", json_string(xst_tile_order_text(value->order)));
    if (kind == XST_PLAN_MOE)
        json_object_set_new(object, "schedule", json_string(xst_schedule_text(value->schedule)));
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        json_object_set_new(object, #name, number(&value->name, type));
    XST_PLAN_SETTINGS(X)
    json_object_set_new(object, "predicted_us", number(&value->predicted_us, REAL));
    XST_PLAN_PARTS(X)
    XST_PLAN_OTHERS(X)
#undef X
    if (kind == XST_PLAN_TRAFFIC)
        json_object_set_new(object, "pareto", json_boolean(value->pareto));
    json_object_set_new(object, "extrapolated", json_boolean(value->extrapolated));
    json_object_set_new(object, "reason", text(value->reason));
    return object;
}

static json_t *indexed(const struct xst_plan *plan, int64_t index)
{
    return index >= 0 && index < (int64_t)plan->count ? candidate(plan->kind, &plan->considered[index]) : json_null();
}

static void put_numbers(json_t *root, const struct xst_plan *plan)
{
    const int bit = plans_of(plan->kind);
    json_t *const question = json_object(), *const answers = json_object();
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        json_object_set_new(question, #name, number(&plan->question.name, type));
    XST_PLAN_QUESTION(X)
#undef X
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        json_object_set_new(answers, #name, number(&plan->answers.name, type));
    XST_PLAN_ANSWERS(X)
#undef X
    json_object_set_new(root, "question", question);
    json_object_set_new(root, "answers", answers);
}

enum xst_status xst_plan_print(const struct xst_plan *plan, char **text_out, struct xst_diag *diag)
{
    json_t *const root = json_object(), *const profile = json_object(), *const considered = json_array();
    json_object_set_new(profile, "name", json_string(plan->profile_name));
    json_object_set_new(profile, "id", json_string(plan->profile_id));
    json_object_set_new(root, "schema", json_string("xstage.plan/1"));
    json_object_set_new(root, "kernel", json_string(xst_plan_kind_text(plan->kind)));
    json_object_set_new(root, "name", text(plan->name));
    json_object_set_new(root, "profile", profile);
    json_object_set_new(root, "target", json_string(xst_target_text(plan->target)));
    json_object_set_new(root, "phase", json_string(xst_phase_text(plan->phase)));
    put_numbers(root, plan);
    json_object_set_new(root, "chosen", indexed(plan, plan->chosen));
    json_object_set_new(root, "runner_up", indexed(plan, plan->runner_up));
    json_object_set_new(root, "chosen_index", plan->chosen >= 0 ? json_integer(plan->chosen) : json_null());
    json_object_set_new(root, "runner_up_index", plan->runner_up >= 0 ? json_integer(plan->runner_up) : json_null());
    json_object_set_new(root, "sentence", text(plan->sentence));
    json_object_set_new(root, "runner_up_sentence", text(plan->runner_up_sentence));
    json_object_set_new(root, "note", text(plan->note));
    for (size_t i = 0; i < plan->count; i++)
        json_array_append_new(considered, candidate(plan->kind, &plan->considered[i]));
    json_object_set_new(root, "considered", considered);
    char *const printed = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (!printed)
        return xsti_fail_memory(diag);
    *text_out = printed;
    return XST_OK;
}
