/* SPDX-License-Identifier: Apache-2.0
 *
 * Before the run: the checks at the door, one allocation cut into arrays, everybody in place. After it: the release.
 */
#include <math.h>
#include <stdlib.h>

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
    int32_t *const sharing = take(block, &used, groups, sizeof *sharing);
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
    engine->sources[0].sharing_groups = sharing;
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
    int32_t *const sharing = engine->sources[0].sharing_groups;
    for (int32_t s = 0; s < engine->source_count; s++) {
        struct xsti_source *const source = &engine->sources[s];
        source->groups = (struct xsti_heap){order + source->first_group, order_position, 0};
        source->sharing_groups = sharing + source->first_group;
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

enum xst_status xsti_set_up(struct xsti_engine *engine, struct xst_diag *diag)
{
    const struct xst_sim_config *const config = engine->config;
    XSTI_TRY(check_config(config, diag));
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

void xsti_tear_down(struct xsti_engine *engine, int keep_results)
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
