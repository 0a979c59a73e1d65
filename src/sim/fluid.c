/* SPDX-License-Identifier: Apache-2.0
 *
 * The run: the event loop and what it adds up to; and the program of a plain burst pattern.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/engine.h"

/* Series points that lie before `until`. */
static void record_series(struct xsti_engine *engine, double until)
{
    const struct xst_sim_config *const config = engine->config;
    const double now = engine->now;
    while (engine->series && engine->series_count < config->series_count) {
        const double at = (double)engine->series_count * config->series_step_us;
        if (at >= until)
            break;
        engine->now = at;
        double backlog = 0;
        for (int32_t i = 0; i < engine->member_count; i++)
            backlog += xsti_backlog(engine, &engine->members[i]);
        engine->series[engine->series_count++] = (struct xst_sim_point){at, backlog};
        engine->backlog_peak = xsti_max(engine->backlog_peak, backlog);
    }
    engine->now = now;
}

static enum xst_status stuck(const struct xsti_engine *engine, struct xst_diag *diag)
{
    int32_t waiting = 0, first = -1;
    for (int32_t i = engine->member_count - 1; i >= 0; i--)
        if (engine->members[i].activity == XSTI_ACTIVITY_WAIT) {
            waiting++;
            first = i;
        }
    if (first < 0)
        return xsti_fail(diag, XST_ERR_TIMEOUT, "at %g us nothing can happen and %d producers are not done",
                         engine->now, engine->working);
    const struct xsti_member *const member = &engine->members[first];
    return xsti_fail(
        diag, XST_ERR_TIMEOUT,
        "at %g us nobody can go on: producer %d (step %lld) waits for counter %lld to reach %lld, it is at %lld; "
        "%d producers wait",
        engine->now, first, (long long)member->step_index - 1, (long long)member->step.wait_counter,
        (long long)member->step.wait_value, (long long)engine->counters[member->step.wait_counter].value, waiting);
}

/* Those whose timers may be next: their members are on their way while this event is handled. */
static void look_ahead(const struct xsti_engine *engine)
{
    for (int32_t i = 1; i <= XSTI_HEAP_WAYS && i < engine->timers.count; i++) {
        const char *const member = (const char *)&engine->members[engine->timers.entries[i].id];
        __builtin_prefetch(member);
        __builtin_prefetch(member + 64);
        __builtin_prefetch(member + 128);
    }
}

static enum xst_status run(struct xsti_engine *engine, struct xst_diag *diag)
{
    const int64_t limit = engine->config->event_limit ? engine->config->event_limit : INT64_MAX;
    engine->working = engine->member_count;
    for (int32_t i = 0; i < engine->member_count && engine->failed == XST_OK; i++) {
        xsti_program_go(engine, i);
        xsti_program_wake(engine);
    }
    while (engine->failed == XST_OK) {
        const double timer = engine->timers.count ? engine->timers.entries[0].key : INFINITY;
        const double tag = engine->next.count ? engine->next.entries[0].key : INFINITY;
        const double at = xsti_max(engine->now, xsti_min(timer, tag));
        if (at == INFINITY)
            break;
        if (at > engine->now)
            engine->idle_steps = 0;
        if (engine->series)
            record_series(engine, at);
        engine->now = at;
        if (engine->events > limit)
            return xsti_fail(diag, XST_ERR_TIMEOUT, "%lld events and still running at %g us", (long long)limit,
                             engine->now);
        if (timer <= tag) {
            const int32_t id = engine->timers.entries[0].id;
            engine->fired = id;
            look_ahead(engine);
            xsti_program_timer(engine, id);
            if (engine->fired == id)
                xsti_heap_remove(&engine->timers, id);
        } else {
            xsti_program_tag(engine, xsti_source_due(engine, &engine->sources[engine->next.entries[0].id]));
        }
        if (engine->ready_count > 0)
            xsti_program_wake(engine);
    }
    if (engine->failed != XST_OK)
        return (enum xst_status)engine->failed;
    return engine->working > 0 ? stuck(engine, diag) : XST_OK;
}

static void sum_up(struct xsti_engine *engine, struct xst_sim_result *result)
{
    double issue = 0, steady = 0;
    int64_t bursts = 0, steady_bursts = 0;
    for (int32_t i = 0; i < engine->member_count; i++) {
        struct xst_sim_account *const account = &engine->accounts[i];
        account->injected_bytes = engine->members[i].injected;
        account->drained_bytes = engine->members[i].drained;
        result->injected_bytes += account->injected_bytes;
        result->drained_bytes += account->drained_bytes;
        result->makespan_us = xsti_max(result->makespan_us, xsti_max(account->end_us, account->drained_us));
        issue += account->issue_us;
        steady += account->steady_issue_us;
        bursts += account->bursts;
        steady_bursts += account->steady_bursts;
    }
    result->issue_mean_us = bursts > 0 ? issue / (double)bursts : 0;
    result->steady_issue_mean_us = steady_bursts > 0 ? steady / (double)steady_bursts : 0;
    result->backlog_peak_bytes = engine->backlog_peak;
    result->events = engine->events;
    result->accounts = engine->accounts;
    result->account_count = engine->member_count;
    result->series = engine->series;
    result->series_count = engine->series_count;
}

enum xst_status xst_sim_run(const struct xst_sim_config *config, struct xst_sim_result *result_out,
                            struct xst_diag *diag)
{
    struct xsti_engine engine = {.config = config, .fired = -1};
    enum xst_status status = xsti_set_up(&engine, diag);
    if (status == XST_OK)
        status = run(&engine, diag);
    if (status == XST_OK) {
        struct xst_sim_result result = {0};
        sum_up(&engine, &result);
        *result_out = result;
    }
    xsti_tear_down(&engine, status == XST_OK);
    return status;
}

void xst_sim_result_free(struct xst_sim_result *result)
{
    if (!result)
        return;
    free(result->accounts);
    free(result->series);
    *result = (struct xst_sim_result){0};
}

int xst_sim_pattern_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct xst_sim_pattern *const pattern = context;
    (void)producer;
    (void)now_us;
    if (step >= pattern->bursts)
        return 0;
    step_out->work_us = step > 0 ? pattern->gap_us : 0;
    step_out->bytes = pattern->bytes;
    step_out->floor_us = pattern->floor_us;
    step_out->flags = step >= pattern->bursts / 2 ? XST_SIM_STEADY : 0;
    return 1;
}
