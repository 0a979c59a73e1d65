/* SPDX-License-Identifier: Apache-2.0
 *
 * An audit as a JSON object (docs/audit.md has the keys). What is not known is null.
 */
#include <xstage/audit.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

static json_t *number(const struct xst_number *value)
{
    return value->known ? json_real(xsti_round9(value->value)) : json_null();
}

static json_t *real(double value)
{
    return json_real(xsti_round9(value));
}

static json_t *answer(enum xst_answer value)
{
    return value == XST_ANSWER_UNKNOWN ? json_null() : json_boolean(value == XST_ANSWER_YES);
}

static json_t *verdict(enum xst_verdict value)
{
    return value == XST_VERDICT_UNKNOWN ? json_null() : json_string(xst_verdict_text(value));
}

static json_t *text(const char *value)
{
    return value[0] ? json_string(value) : json_null();
}

static json_t *bound(const struct xst_bound *value)
{
    json_t *const object = json_object();
    json_object_set_new(object, "holds", answer(value->holds));
    json_object_set_new(object, "margin_bytes", number(&value->margin_bytes));
    return object;
}

static json_t *one_case(const struct xst_audit_case *value)
{
    json_t *const object = json_object();
    json_object_set_new(object, "verdict", verdict(value->verdict));
    json_object_set_new(object, "issue_us", number(&value->issue_us));
    json_object_set_new(object, "period_us", number(&value->period_us));
    json_object_set_new(object, "release_us", number(&value->release_us));
    return object;
}

static json_t *traffic(const struct xst_traffic *value)
{
    json_t *const object = json_object();
    json_object_set_new(object, "kernel", json_string(value->kernel));
    json_object_set_new(object, "target", json_string(xst_target_text(value->path.target)));
    json_object_set_new(object, "direction", json_string(xst_direction_text(value->path.direction)));
    json_object_set_new(object, "method", json_string(xst_method_text(value->path.method)));
    json_object_set_new(object, "threads", value->path.threads ? json_integer(value->path.threads) : json_null());
    json_object_set_new(object, "piece_bytes", json_integer(value->path.piece_bytes));
    json_object_set_new(object, "pitch_bytes", json_integer(value->path.pitch_bytes));
    json_object_set_new(object, "producers", json_integer(value->producers));
    json_object_set_new(object, "bytes_per_producer", real(value->bytes_per_producer));
    json_object_set_new(object, "remote_frac", real(value->remote_frac));
    json_object_set_new(object, "burst_remote_frac", real(value->burst_remote_frac));
    json_object_set_new(object, "gap_us", real(value->gap_us));
    json_object_set_new(object, "phase", json_string(xst_phase_text(value->phase)));
    json_object_set_new(object, "staging_slots", json_integer(value->staging_slots));
    json_object_set_new(object, "prefetch_us", value->prefetch_us >= 0 ? real(value->prefetch_us) : json_null());
    json_object_set_new(object, "bursts_per_producer",
                        value->bursts_per_producer > 0 ? real(value->bursts_per_producer) : json_null());
    return object;
}

static void put_shape(json_t *root, const struct xst_audit *audit)
{
    json_t *const shape = json_object(), *const plan = json_object();
#define PUT(object, source, key) json_object_set_new(object, #key, json_integer(audit->source.key))
    if (audit->kind == XST_AUDIT_FA_A2A) {
        PUT(shape, fa_shape, batch);
        PUT(shape, fa_shape, heads);
        PUT(shape, fa_shape, head_dim);
        PUT(shape, fa_shape, seq);
        PUT(shape, fa_shape, ranks);
        PUT(shape, fa_shape, element_bytes);
        PUT(plan, fa_plan, tile_rows);
        PUT(plan, fa_plan, tile_cols);
        PUT(plan, fa_plan, producers);
        PUT(plan, fa_plan, stages);
        PUT(plan, fa_plan, staging_slots);
        json_object_set_new(plan, "method", json_string(xst_method_text(audit->fa_plan.method)));
        json_object_set_new(plan, "sm_flop_per_us", real(audit->fa_plan.sm_flop_per_us));
    } else if (audit->kind == XST_AUDIT_MOE) {
        PUT(shape, moe_shape, hidden);
        PUT(shape, moe_shape, inter);
        PUT(shape, moe_shape, experts);
        PUT(shape, moe_shape, topk);
        PUT(shape, moe_shape, tokens);
        PUT(shape, moe_shape, ranks);
        PUT(shape, moe_shape, element_bytes);
        PUT(plan, moe_plan, tile_rows);
        PUT(plan, moe_plan, tile_cols);
        PUT(plan, moe_plan, tile_depth);
        PUT(plan, moe_plan, producers);
        PUT(plan, moe_plan, stages);
        PUT(plan, moe_plan, staging_slots);
        json_object_set_new(plan, "method", json_string(xst_method_text(audit->moe_plan.method)));
        json_object_set_new(plan, "schedule", json_string(xst_schedule_text(audit->moe_plan.schedule)));
        json_object_set_new(plan, "act_frac", real(audit->moe_plan.act_frac));
        json_object_set_new(plan, "sm_flop_per_us", real(audit->moe_plan.sm_flop_per_us));
    }
#undef PUT
    json_object_set_new(root, "shape", audit->kind == XST_AUDIT_TRAFFIC ? json_null() : json_incref(shape));
    json_object_set_new(root, "plan", audit->kind == XST_AUDIT_TRAFFIC ? json_null() : json_incref(plan));
    json_decref(shape);
    json_decref(plan);
}

static json_t *numbers(const struct xst_audit *audit)
{
    json_t *const object = json_object();
#define X(name, meaning) json_object_set_new(object, #name, number(&audit->numbers.name));
    XST_AUDIT_NUMBERS(X)
#undef X
#define X(name, meaning) json_object_set_new(object, #name, number(&audit->fa.name));
    if (audit->kind == XST_AUDIT_FA_A2A) {
        XST_AUDIT_FA_NUMBERS(X)
    }
#undef X
#define X(name, meaning) json_object_set_new(object, #name, number(&audit->moe.name));
    if (audit->kind == XST_AUDIT_MOE) {
        XST_AUDIT_MOE_NUMBERS(X)
    }
#undef X
    return object;
}

static json_t *schedules(const struct xst_audit *audit)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < 2; i++) {
        const struct xst_audit_schedule *const schedule = &audit->schedules[i];
        json_t *const object = json_object();
        json_object_set_new(object, "schedule", json_string(xst_schedule_text(schedule->schedule)));
        json_object_set_new(object, "verdict", verdict(schedule->verdict));
        json_object_set_new(object, "gap_us", number(&schedule->gap_us));
        json_object_set_new(object, "rate", bound(&schedule->rate));
        json_object_set_new(object, "capacity", bound(&schedule->capacity));
        json_object_set_new(object, "aligned", one_case(&schedule->aligned));
        json_object_set_new(object, "drifting", one_case(&schedule->drifting));
        json_array_append_new(array, object);
    }
    return array;
}

static void put_kernel_answers(json_t *root, const struct xst_audit *audit)
{
    if (audit->kind == XST_AUDIT_FA_A2A)
        json_object_set_new(root, "m_upper_bound", number(&audit->fa.m_upper_bound));
    if (audit->kind != XST_AUDIT_MOE)
        return;
    json_object_set_new(root, "lead_knee_tiles", number(&audit->moe.lead_knee_tiles));
    json_object_set_new(root, "schedules", schedules(audit));
    json_object_set_new(root, "recommended_schedule",
                        audit->moe.recommended_known ? json_string(xst_schedule_text(audit->moe.recommended))
                                                     : json_null());
}

static json_t *actions(const struct xst_audit *audit)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < audit->action_count; i++) {
        const struct xst_action *const action = &audit->actions[i];
        json_t *const object = json_object();
        json_object_set_new(object, "what", json_string(xst_change_text(action->what)));
        json_object_set_new(object, "from", action->numeric ? real(action->from) : text(action->from_word));
        json_object_set_new(object, "to", action->numeric ? real(action->to) : text(action->to_word));
        json_object_set_new(object, "predicted_issue_us", number(&action->predicted_issue_us));
        json_object_set_new(object, "predicted_release_us", number(&action->predicted_release_us));
        json_object_set_new(object, "issue_per_tile_us", number(&action->issue_per_tile_us));
        json_object_set_new(object, "text", json_string(action->text));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *profile(const struct xst_audit *audit)
{
    json_t *const object = json_object();
    json_object_set_new(object, "name", json_string(audit->profile_name));
    json_object_set_new(object, "id", json_string(audit->profile_id));
    return object;
}

static json_t *bystander(const struct xst_audit *audit)
{
    json_t *const object = json_object();
    json_object_set_new(object, "holds", answer(audit->bystander_holds));
    json_object_set_new(object, "delay_us", number(&audit->numbers.bystander_delay_us));
    return object;
}

enum xst_status xst_audit_print(const struct xst_audit *audit, char **text_out, struct xst_diag *diag)
{
    static const char *const kernels[] = {"traffic", "fa-a2a", "moe"};
    const int bulk = audit->traffic.path.method == XST_METHOD_BULK;
    json_t *const root = json_object();
    json_object_set_new(root, "kernel",
                        json_string(audit->kind == XST_AUDIT_TRAFFIC ? audit->traffic.kernel : kernels[audit->kind]));
    json_object_set_new(root, "name", text(audit->name));
    json_object_set_new(root, "profile", profile(audit));
    put_shape(root, audit);
    json_object_set_new(root, "traffic", traffic(&audit->traffic));
    json_object_set_new(root, "verdict", verdict(audit->verdict));
    json_object_set_new(root, "rate", bound(&audit->rate));
    json_object_set_new(root, "capacity", bound(&audit->capacity));
    json_object_set_new(root, "staging", bulk ? bound(&audit->staging) : json_null());
    json_object_set_new(root, "bystander", bystander(audit));
    json_object_set_new(root, "aligned", one_case(&audit->aligned));
    json_object_set_new(root, "drifting", one_case(&audit->drifting));
    put_kernel_answers(root, audit);
    json_object_set_new(root, "numbers", numbers(audit));
    json_object_set_new(root, "actions", actions(audit));
    json_object_set_new(root, "extrapolated", json_boolean(audit->extrapolated));
    json_object_set_new(root, "sentence", json_string(audit->sentence));
    json_object_set_new(root, "reason", text(audit->reason));
    json_object_set_new(root, "note", text(audit->note));
    char *const printed = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (!printed)
        return xsti_fail_memory(diag);
    *text_out = printed;
    return XST_OK;
}
