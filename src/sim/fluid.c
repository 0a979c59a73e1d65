/* SPDX-License-Identifier: Apache-2.0
 *
 * The run: checks, one allocation, the event loop, the sum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

static int positive(double value)
{
    return value > 0 && isfinite(value);
}

static int not_negative(double value)
{
    return value >= 0 && isfinite(value);
}

static enum xst_status check_source(const struct xst_sim_config *config, int64_t i, struct xst_diag *diag)
{
    const struct xst_sim_source *const source = &config->sources[i];
    if (!positive(source->drain_bytes_per_us))
        return xsti_fail(diag, XST_ERR_RANGE, "sources[%lld].drain_bytes_per_us is %g; it must be above 0",
                         (long long)i, source->drain_bytes_per_us);
    if (!not_negative(source->capacity_total_bytes) || !not_negative(source->free_capacity_bytes) ||
        !not_negative(source->fence_us))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "sources[%lld]: capacity %g, free capacity %g and fence %g must be 0 or more", (long long)i,
                         source->capacity_total_bytes, source->free_capacity_bytes, source->fence_us);
    if (config->destination_count > 0 && source->groups != config->destination_count)
        return xsti_fail(diag, XST_ERR_RANGE, "sources[%lld].groups is %lld; with %lld destinations it must be as many",
                         (long long)i, (long long)source->groups, (long long)config->destination_count);
    if (source->groups < 1 || source->groups > 65536)
        return xsti_fail(diag, XST_ERR_RANGE, "sources[%lld].groups is %lld; it must lie in 1..65536", (long long)i,
                         (long long)source->groups);
    return XST_OK;
}

static enum xst_status check_producer(const struct xst_sim_config *config, int64_t i, struct xst_diag *diag)
{
    const struct xst_sim_producer *const producer = &config->producers[i];
    if (producer->source < 0 || producer->source >= config->source_count)
        return xsti_fail(diag, XST_ERR_RANGE, "producers[%lld].source is %lld of %lld sources", (long long)i,
                         (long long)producer->source, (long long)config->source_count);
    if (producer->group < 0 || producer->group >= config->sources[producer->source].groups)
        return xsti_fail(diag, XST_ERR_RANGE, "producers[%lld].group is %lld; source %lld has %lld groups",
                         (long long)i, (long long)producer->group, (long long)producer->source,
                         (long long)config->sources[producer->source].groups);
    if (!(producer->capacity_bytes >= 0))
        return xsti_fail(diag, XST_ERR_RANGE, "producers[%lld].capacity_bytes is %g; it must be 0 or more",
                         (long long)i, producer->capacity_bytes);
    if (!positive(producer->weight))
        return xsti_fail(diag, XST_ERR_RANGE, "producers[%lld].weight is %g; it must be above 0", (long long)i,
                         producer->weight);
    return XST_OK;
}

static enum xst_status check_config(const struct xst_sim_config *config, struct xst_diag *diag)
{
    if (config->source_count < 1 || config->source_count > 1000000)
        return xsti_fail(diag, XST_ERR_RANGE, "source_count is %lld; it must lie in 1..1000000",
                         (long long)config->source_count);
    if (config->producer_count < 1 || config->producer_count > 100000000)
        return xsti_fail(diag, XST_ERR_RANGE, "producer_count is %lld; it must lie in 1..100000000",
                         (long long)config->producer_count);
    if (config->counter_count < 0)
        return xsti_fail(diag, XST_ERR_RANGE, "counter_count is %lld; it must be 0 or more",
                         (long long)config->counter_count);
    if (config->destination_count < 0 || (config->destination_count > 0 && !config->destinations))
        return xsti_fail(diag, XST_ERR_RANGE, "destination_count is %lld and destinations are %s",
                         (long long)config->destination_count, config->destinations ? "given" : "missing");
    for (int64_t i = 0; i < config->destination_count; i++)
        if (!positive(config->destinations[i].ingress_bytes_per_us))
            return xsti_fail(diag, XST_ERR_RANGE, "destinations[%lld].ingress_bytes_per_us is %g; it must be above 0",
                             (long long)i, config->destinations[i].ingress_bytes_per_us);
    if (!config->next)
        return xsti_fail(diag, XST_ERR_USAGE, "the configuration has no program (next)");
    if (!(config->share_spread_burst >= 0 && config->share_spread_burst <= 3) ||
        !(config->share_spread >= 0 && config->share_spread <= 3))
        return xsti_fail(diag, XST_ERR_RANGE, "share_spread_burst %g and share_spread %g must lie in 0..3",
                         config->share_spread_burst, config->share_spread);
    if (!not_negative(config->series_step_us) || config->event_limit < 0)
        return xsti_fail(diag, XST_ERR_RANGE, "series_step_us %g and event_limit %lld must be 0 or more",
                         config->series_step_us, (long long)config->event_limit);
    for (int64_t i = 0; i < config->source_count; i++)
        XSTI_TRY(check_source(config, i, diag));
    for (int64_t i = 0; i < config->producer_count; i++)
        XSTI_TRY(check_producer(config, i, diag));
    return XST_OK;
}

/* Cuts one zeroed block into arrays: called with block NULL to learn the size, then to place them. */
static void *take(char *block, size_t *used, size_t count, size_t size)
{
    void *const at = block ? block + *used : NULL;
    *used += (count * size + 63) & ~(size_t)63;
    return at;
}

static size_t place(struct xsti_engine *engine, char *block)
{
    const size_t members = (size_t)engine->member_count, groups = (size_t)engine->group_count;
    const size_t sources = (size_t)engine->source_count;
    size_t used = 0;
    engine->members = take(block, &used, members, sizeof *engine->members);
    engine->groups = take(block, &used, groups, sizeof *engine->groups);
    engine->sources = take(block, &used, sources, sizeof *engine->sources);
    engine->counters = take(block, &used, (size_t)engine->counter_count, sizeof *engine->counters);
    engine->roster = take(block, &used, members, sizeof *engine->roster);
    engine->ready = take(block, &used, members, sizeof *engine->ready);
    engine->room = take(block, &used, (size_t)engine->ends, sizeof *engine->room);
    engine->open = take(block, &used, (size_t)engine->ends, sizeof *engine->open);
    engine->rates = take(block, &used, engine->ends ? sources : 0, sizeof *engine->rates);
    engine->producers_of = take(block, &used, sources, sizeof *engine->producers_of);
    engine->weights = take(block, &used, XSTI_QUANTILES, sizeof *engine->weights);
    engine->timers.entries = take(block, &used, members, sizeof *engine->timers.entries);
    engine->timers.position = take(block, &used, members, sizeof *engine->timers.position);
    engine->next.entries = take(block, &used, sources, sizeof *engine->next.entries);
    engine->next.position = take(block, &used, sources, sizeof *engine->next.position);
    /* Shared by all groups, all sources: each heap gets its slice. */
    struct xsti_heap_entry *const tags = take(block, &used, members, sizeof *tags);
    int32_t *const tag_position = take(block, &used, members, sizeof *tag_position);
    struct xsti_heap_entry *const order = take(block, &used, groups, sizeof *order);
    int32_t *const order_position = take(block, &used, groups, sizeof *order_position);
    int32_t *const capped = take(block, &used, members, sizeof *capped);
    if (!block)
        return used;
    for (size_t i = 0; i < members; i++)
        engine->timers.position[i] = tag_position[i] = -1;
    for (size_t i = 0; i < sources; i++)
        engine->next.position[i] = -1;
    for (size_t i = 0; i < groups; i++)
        order_position[i] = -1;
    /* entries are handed out in lay_out(), when sizes are known */
    engine->groups[0].tags = (struct xsti_heap){tags, tag_position, 0};
    engine->sources[0].groups = (struct xsti_heap){order, order_position, 0};
    engine->sources[0].capped_members = capped;
    return used;
}

/* Members into groups, groups into sources, and every heap its slice of the shared arrays. With destinations every flow
 * is a source of one group. */
static void lay_out(struct xsti_engine *engine)
{
    const struct xst_sim_config *const config = engine->config;
    int32_t first = 0;
    for (int32_t s = 0; s < engine->source_count; s++) {
        struct xsti_source *const source = &engine->sources[s];
        const struct xst_sim_source *const given = &config->sources[s / engine->lanes];
        source->drain = given->drain_bytes_per_us;
        source->free_capacity = given->free_capacity_bytes;
        source->fence_us = given->fence_us;
        source->first_group = first;
        source->group_count = engine->ends ? 1 : (int32_t)given->groups;
        source->cap_level = INFINITY;
        for (int32_t g = 0; g < source->group_count; g++)
            engine->groups[first + g].source = s;
        first += source->group_count;
    }
    for (int32_t i = 0; i < engine->member_count; i++) {
        const struct xst_sim_producer *const producer = &config->producers[i];
        struct xsti_member *const member = &engine->members[i];
        const int32_t source = (int32_t)producer->source * engine->lanes, group = (int32_t)producer->group;
        member->source = engine->ends ? source + group : source;
        member->group = engine->sources[member->source].first_group + (engine->ends ? 0 : group);
        engine->groups[member->group].size++;
    }
    for (int32_t g = 0, at = 0; g < engine->group_count; g++) {
        struct xsti_group *const group = &engine->groups[g];
        group->first = at;
        group->tags = (struct xsti_heap){engine->groups[0].tags.entries + at, engine->groups[0].tags.position, 0};
        at += group->size;
        group->size = 0; /* counted again as the roster fills */
    }
    for (int32_t i = 0; i < engine->member_count; i++) {
        struct xsti_group *const group = &engine->groups[engine->members[i].group];
        engine->roster[group->first + group->size++] = i;
    }
    struct xsti_heap_entry *const order = engine->sources[0].groups.entries;
    int32_t *const order_position = engine->sources[0].groups.position;
    int32_t *const capped = engine->sources[0].capped_members;
    for (int32_t s = 0; s < engine->source_count; s++) {
        struct xsti_source *const source = &engine->sources[s];
        source->groups = (struct xsti_heap){order + source->first_group, order_position, 0};
        source->capped_members = capped + engine->groups[source->first_group].first;
    }
}

static void set_members(struct xsti_engine *engine)
{
    const struct xst_sim_config *const config = engine->config;
    for (int i = 0; i < XSTI_QUANTILES; i++)
        engine->weights[i] = config->share_spread_burst > 0
                                 ? exp(config->share_spread_burst * xsti_normal_quantile((i + 0.5) / XSTI_QUANTILES))
                                 : 1;
    for (int32_t i = 0; i < engine->member_count; i++)
        engine->producers_of[config->producers[i].source]++;
    for (int32_t i = 0; i < engine->member_count; i++) {
        struct xsti_member *const member = &engine->members[i];
        const int64_t device = config->producers[i].source;
        const double total = config->sources[device].capacity_total_bytes;
        member->capacity = config->producers[i].capacity_bytes;
        if (total > 0)
            member->capacity = xsti_min(member->capacity, total / engine->producers_of[device]);
        const uint32_t draw = xsti_draw(config->seed, (uint64_t)i, UINT64_MAX);
        member->base_weight = config->producers[i].weight;
        if (config->share_spread > 0)
            member->base_weight *=
                exp(config->share_spread * xsti_normal_quantile((draw % XSTI_QUANTILES + 0.5) / XSTI_QUANTILES));
        member->weight = member->base_weight;
        member->next_waiter = -1;
    }
    for (int64_t i = 0; i < engine->counter_count; i++)
        engine->counters[i].first_waiter = engine->counters[i].last_waiter = -1;
}

static enum xst_status set_up(struct xsti_engine *engine, struct xst_diag *diag)
{
    const struct xst_sim_config *const config = engine->config;
    int64_t groups = 0;
    for (int64_t s = 0; s < config->source_count; s++)
        groups += config->sources[s].groups;
    if (groups > 100000000)
        return xsti_fail(diag, XST_ERR_RANGE, "%lld groups in all; at most 100000000", (long long)groups);
    engine->lanes = config->destination_count > 0 ? (int32_t)config->destination_count : 1;
    engine->ends = config->destination_count > 0 ? (int32_t)(config->source_count + config->destination_count) : 0;
    engine->source_count = (int32_t)config->source_count * engine->lanes;
    engine->group_count = (int32_t)groups;
    engine->member_count = (int32_t)config->producer_count;
    engine->counter_count = config->counter_count;
    engine->diag = diag;
    engine->memory = calloc(1, place(engine, NULL));
    if (!engine->memory)
        return xsti_fail_memory(diag);
    place(engine, engine->memory);
    lay_out(engine);
    set_members(engine);
    engine->accounts = calloc((size_t)engine->member_count, sizeof *engine->accounts);
    if (config->series_step_us > 0 && config->series_count > 0)
        engine->series = calloc(config->series_count, sizeof *engine->series);
    if (!engine->accounts || (config->series_step_us > 0 && config->series_count > 0 && !engine->series))
        return xsti_fail_memory(diag);
    return XST_OK;
}

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

static void tear_down(struct xsti_engine *engine, int keep_results)
{
    if (engine->memory)
        for (int32_t i = 0; i < engine->member_count; i++)
            free(engine->members[i].releases);
    free(engine->memory);
    if (!keep_results) {
        free(engine->accounts);
        free(engine->series);
    }
}

enum xst_status xst_sim_run(const struct xst_sim_config *config, struct xst_sim_result *result_out,
                            struct xst_diag *diag)
{
    XSTI_TRY(check_config(config, diag));
    struct xsti_engine engine = {.config = config, .fired = -1};
    enum xst_status status = set_up(&engine, diag);
    if (status == XST_OK)
        status = run(&engine, diag);
    if (status == XST_OK) {
        struct xst_sim_result result = {0};
        sum_up(&engine, &result);
        *result_out = result;
    }
    tear_down(&engine, status == XST_OK);
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
    const int split = pattern->unseen_bytes > 0 && pattern->unseen_bytes < pattern->bytes;
    const double unseen_bytes = split ? pattern->unseen_bytes : 0;
    const double unseen_floor_us = pattern->floor_us * unseen_bytes / pattern->bytes;
    const int64_t burst = split ? step / 2 : step;
    if (burst >= pattern->bursts)
        return 0;
    if (split && step % 2 == 1) {
        step_out->bytes = unseen_bytes;
        step_out->floor_us = unseen_floor_us;
        step_out->flags = XST_SIM_QUIET;
        return 1;
    }
    step_out->work_us = burst > 0 ? xsti_max(0, pattern->gap_us - unseen_floor_us) : 0;
    step_out->bytes = pattern->bytes - unseen_bytes;
    step_out->floor_us = pattern->floor_us;
    step_out->flags = burst >= pattern->bursts / 2 ? XST_SIM_STEADY : 0;
    return 1;
}
