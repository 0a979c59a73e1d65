/* SPDX-License-Identifier: Apache-2.0
 *
 * Who drains how fast. Every change of a member's share goes through here.
 */
#include <assert.h>
#include <math.h>

#include "sim/engine.h"

/* Relative slack of a comparison of rates: keeps a member from being capped and uncapped at one instant. */
static const double SLACK = 1e-9;

static void advance_source(const struct xsti_engine *engine, struct xsti_source *source)
{
    if (source->sharing > 0)
        source->clock += source->level * (engine->now - source->clock_us);
    source->clock_us = engine->now;
}

static void advance_group(struct xsti_engine *engine, struct xsti_group *group)
{
    struct xsti_source *const source = &engine->sources[group->source];
    if (source->clock_us != engine->now)
        advance_source(engine, source);
    if (group->clock_us == engine->now)
        return;
    if (group->sharing > 0) {
        double bytes = source->clock - group->clock_base;
        if (group->capped > 0)
            bytes -= group->capped * (engine->now - group->clock_us);
        group->clock += bytes / group->weight;
    }
    group->clock_base = source->clock;
    group->clock_us = engine->now;
}

static int issuing(const struct xsti_member *member)
{
    return member->activity == XSTI_ACTIVITY_ISSUE;
}

/* Bytes accepted and drained since the last touch, given the group's clock. */
static void flows(const struct xsti_engine *engine, const struct xsti_member *member, double clock,
                  double *accepted_out, double *drained_out)
{
    const double elapsed = engine->now - member->touch_us;
    double accepted = 0, drained = 0;
    if (member->share == XSTI_SHARE_CAPPED)
        drained = member->accept * elapsed;
    else if (member->share == XSTI_SHARE_SHARED)
        drained = member->weight * (clock - member->touch_clock);
    if (issuing(member)) {
        accepted = xsti_min(member->left, member->accept * elapsed);
        accepted = xsti_max(0, xsti_min(accepted, drained + member->capacity - member->backlog));
    }
    *accepted_out = accepted;
    *drained_out = xsti_min(drained, member->backlog + accepted);
}

void xsti_settle(struct xsti_engine *engine, struct xsti_member *member)
{
    if (member->share == XSTI_SHARE_NONE)
        return;
    struct xsti_group *const group = &engine->groups[member->group];
    advance_group(engine, group);
    double accepted, drained;
    flows(engine, member, group->clock, &accepted, &drained);
    member->left -= accepted;
    member->injected += accepted;
    member->backlog += accepted - drained;
    if (member->backlog < 0)
        member->backlog = 0;
    member->drained += drained;
    member->touch_us = engine->now;
    member->touch_clock = group->clock;
}

/* The backlog now, without touching anything. */
double xsti_backlog(const struct xsti_engine *engine, const struct xsti_member *member)
{
    if (member->share == XSTI_SHARE_NONE)
        return 0;
    const struct xsti_group *const group = &engine->groups[member->group];
    const struct xsti_source *const source = &engine->sources[group->source];
    double clock = group->clock;
    if (group->sharing > 0) {
        const double base = source->clock + source->level * (engine->now - source->clock_us);
        clock += (base - group->clock_base - group->capped * (engine->now - group->clock_us)) / group->weight;
    }
    double accepted, drained;
    flows(engine, member, clock, &accepted, &drained);
    return xsti_max(0, member->backlog + accepted - drained);
}

/* The group's place among the source's groups. */
static void rekey(struct xsti_engine *engine, int32_t id)
{
    struct xsti_group *const group = &engine->groups[id];
    struct xsti_source *const source = &engine->sources[group->source];
    const double rate = source->level - group->capped;
    if (group->tags.count == 0 || !(rate > 0)) {
        xsti_heap_remove(&source->groups, id);
        return;
    }
    double slack = (group->tags.entries[0].key - group->clock) * group->weight;
    if (group->capped > 0)
        slack *= source->level / rate;
    xsti_heap_set(&source->groups, id, group->clock_base + slack);
}

/* From this level of the source on, a member of the group must be capped. */
static void lower_cap_level(struct xsti_source *source, const struct xsti_group *group)
{
    if (group->sharing > 0)
        source->cap_level = xsti_min(source->cap_level, group->threshold * group->weight + group->capped);
}

/* The member drains nothing any more. */
static void stop_draining(struct xsti_source *source, struct xsti_member *member)
{
    source->wants = --source->active > 0 ? source->wants - member->accept : 0;
    member->share = XSTI_SHARE_NONE;
}

/* Adds a member with its current weight and backlog to those that share. */
static void start_sharing(struct xsti_engine *engine, struct xsti_member *member)
{
    struct xsti_group *const group = &engine->groups[member->group];
    struct xsti_source *const source = &engine->sources[member->source];
    advance_group(engine, group);
    if (group->sharing++ == 0) {
        group->weight = 0;
        group->threshold = INFINITY;
        group->shared_at = source->sharing;
        source->sharing_groups[source->sharing++] = member->group;
        source->capped -= group->capped;
    }
    source->wants += member->accept;
    source->active++;
    group->weight += member->weight;
    group->threshold = xsti_min(group->threshold, member->threshold);
    lower_cap_level(source, group);
    member->share = XSTI_SHARE_SHARED;
    member->touch_us = engine->now;
    member->touch_clock = group->clock;
}

static void stop_sharing(struct xsti_engine *engine, struct xsti_member *member)
{
    struct xsti_group *const group = &engine->groups[member->group];
    struct xsti_source *const source = &engine->sources[member->source];
    xsti_heap_remove(&group->tags, (int32_t)(member - engine->members));
    member->tag = XSTI_TAG_NONE;
    stop_draining(source, member);
    if (--group->sharing == 0) {
        group->weight = 0;
        const int32_t last = source->sharing_groups[--source->sharing];
        source->sharing_groups[group->shared_at] = last;
        engine->groups[last].shared_at = group->shared_at;
        source->capped += group->capped;
    } else {
        group->weight -= member->weight;
        lower_cap_level(source, group);
    }
}

static void start_capped(struct xsti_engine *engine, struct xsti_member *member)
{
    struct xsti_group *const group = &engine->groups[member->group];
    struct xsti_source *const source = &engine->sources[member->source];
    advance_group(engine, group);
    source->wants += member->accept;
    source->active++;
    group->capped += member->accept;
    if (group->sharing == 0)
        source->capped += member->accept;
    source->capped_members[source->capped_count++] = (int32_t)(member - engine->members);
    member->share = XSTI_SHARE_CAPPED;
    member->touch_us = engine->now;
    member->touch_clock = group->clock;
}

static void stop_capped(struct xsti_engine *engine, struct xsti_member *member)
{
    struct xsti_group *const group = &engine->groups[member->group];
    struct xsti_source *const source = &engine->sources[member->source];
    const int32_t id = (int32_t)(member - engine->members);
    int32_t at = 0, others = 0;
    while (source->capped_members[at] != id)
        at++;
    source->capped_members[at] = source->capped_members[--source->capped_count];
    for (int32_t i = 0; i < source->capped_count; i++)
        others += engine->members[source->capped_members[i]].group == member->group;
    const double rate = others ? member->accept : group->capped; /* the last one takes the rounding with it */
    group->capped -= rate;
    if (group->sharing == 0)
        source->capped -= rate;
    if (source->capped_count == 0)
        source->capped = 0;
    lower_cap_level(source, group);
    stop_draining(source, member);
}

/* A settled member starts to share, or goes on sharing with another weight. */
void xsti_join(struct xsti_engine *engine, struct xsti_member *member, double weight, double accept)
{
    if (member->share == XSTI_SHARE_CAPPED)
        xsti_leave(engine, member);
    if (member->share == XSTI_SHARE_SHARED) {
        struct xsti_group *const group = &engine->groups[member->group];
        group->weight = group->sharing == 1 ? weight : group->weight + (weight - member->weight);
        group->threshold = xsti_min(group->threshold, accept / weight);
        lower_cap_level(&engine->sources[member->source], group);
        engine->sources[member->source].wants += accept - member->accept;
    }
    member->weight = weight;
    member->accept = accept;
    member->threshold = accept / weight;
    if (member->share == XSTI_SHARE_NONE)
        start_sharing(engine, member);
}

void xsti_leave(struct xsti_engine *engine, struct xsti_member *member)
{
    if (member->share == XSTI_SHARE_NONE)
        return;
    advance_group(engine, &engine->groups[member->group]);
    if (member->share == XSTI_SHARE_SHARED)
        stop_sharing(engine, member);
    else
        stop_capped(engine, member);
    rekey(engine, member->group);
}

/* What a settled member drains towards, in bytes still to drain. */
static enum xsti_tag goal(const struct xsti_member *member, double *bytes_out)
{
    enum xsti_tag tag = XSTI_TAG_NONE;
    double bytes = INFINITY;
    if (!issuing(member)) {
        tag = XSTI_TAG_EMPTY;
        bytes = member->backlog;
    } else if (member->floor_passed) {
        tag = XSTI_TAG_ISSUED;
        bytes = xsti_max(0, member->backlog + member->left - member->capacity);
    }
    if (member->release_count > 0) {
        const uint32_t mask = member->release_capacity - 1;
        const double until = member->releases[member->release_first & mask].drained_bytes - member->drained;
        if (until < bytes) {
            tag = XSTI_TAG_RELEASED;
            bytes = xsti_max(0, until);
        }
    }
    *bytes_out = bytes;
    return tag;
}

/* Files a settled member under what it drains towards. */
void xsti_retag(struct xsti_engine *engine, struct xsti_member *member)
{
    struct xsti_group *const group = &engine->groups[member->group];
    const int32_t id = (int32_t)(member - engine->members);
    double bytes;
    member->tag = goal(member, &bytes);
    if (member->share == XSTI_SHARE_SHARED) {
        if (member->tag == XSTI_TAG_NONE)
            xsti_heap_remove(&group->tags, id);
        else
            xsti_heap_set(&group->tags, id, group->clock + bytes / member->weight);
        rekey(engine, member->group);
    }
}

static void cap(struct xsti_engine *engine, struct xsti_member *member)
{
    xsti_settle(engine, member);
    stop_sharing(engine, member);
    start_capped(engine, member);
    if (issuing(member)) { /* from now on it is accepted at its full rate */
        member->floor_passed = 0;
        xsti_heap_set(&engine->timers, (int32_t)(member - engine->members),
                      engine->now + member->left / member->accept);
    }
    xsti_retag(engine, member);
    rekey(engine, member->group);
}

static void uncap(struct xsti_engine *engine, struct xsti_member *member)
{
    xsti_settle(engine, member);
    stop_capped(engine, member);
    start_sharing(engine, member);
    xsti_retag(engine, member);
}

static void set_level(struct xsti_source *source)
{
    source->level = source->sharing > 0 ? xsti_max(0, source->drain - source->capped) / source->sharing : 0;
}

/* The capped member that drains more than its share and exceeds it most; NULL: none. */
static struct xsti_member *overdrawn(const struct xsti_engine *engine, const struct xsti_source *source)
{
    struct xsti_member *worst = NULL;
    double worst_demand = 0;
    for (int32_t i = 0; i < source->capped_count; i++) {
        struct xsti_member *const member = &engine->members[source->capped_members[i]];
        const struct xsti_group *const group = &engine->groups[member->group];
        int over;
        if (group->sharing > 0)
            over = member->threshold * group->weight > (source->level - group->capped) * (1 + SLACK);
        else if (source->sharing > 0)
            over = group->capped > source->level * (1 + SLACK);
        else
            over = source->capped > source->drain * (1 + SLACK);
        const int more = !worst || group->capped > worst_demand ||
                         (group->capped == worst_demand && member->threshold > worst->threshold);
        if (over && more) {
            worst = member;
            worst_demand = group->capped;
        }
    }
    return worst;
}

/* A sharing member whose share is at least what it can use; NULL: none. Tightens cap_level. */
static struct xsti_member *saturated(struct xsti_engine *engine, struct xsti_source *source)
{
    if (source->sharing == 0 || source->level < source->cap_level)
        return NULL;
    source->cap_level = INFINITY;
    struct xsti_member *found = NULL;
    double found_excess = 0;
    for (int32_t g = 0; g < source->sharing; g++) {
        struct xsti_group *const group = &engine->groups[source->sharing_groups[g]];
        if (source->level >= group->threshold * group->weight + group->capped) {
            struct xsti_member *lowest = NULL;
            for (int32_t i = 0; i < group->size; i++) {
                struct xsti_member *const member = &engine->members[engine->roster[group->first + i]];
                if (member->share == XSTI_SHARE_SHARED && (!lowest || member->threshold < lowest->threshold))
                    lowest = member;
            }
            assert(lowest != NULL); /* `sharing` counts such members */
            group->threshold = lowest->threshold;
            const double excess = source->level - group->threshold * group->weight - group->capped;
            if (excess >= 0 && (!found || excess > found_excess)) {
                found = lowest;
                found_excess = excess;
            }
        }
        lower_cap_level(source, group);
    }
    return found;
}

/* Restores "capped exactly where the share is more than can be used" and the source's rate. */
void xsti_balance_source(struct xsti_engine *engine, struct xsti_source *source)
{
    advance_source(engine, source);
    for (int32_t i = 0; i < source->capped_count; i++)
        advance_group(engine, &engine->groups[engine->members[source->capped_members[i]].group]);
    set_level(source);
    for (int32_t round = 0; round < 4 * engine->member_count; round++) {
        struct xsti_member *member = source->capped_count ? overdrawn(engine, source) : NULL;
        if (member) {
            uncap(engine, member);
        } else {
            member = saturated(engine, source);
            if (!member)
                break;
            cap(engine, member);
        }
        set_level(source);
    }
    /* Where capped members take a fixed part of a group's share, its next tag moves with the level. */
    for (int32_t i = 0; i < source->capped_count; i++)
        rekey(engine, engine->members[source->capped_members[i]].group);
    xsti_source_next(engine, source);
}

void xsti_balance(struct xsti_engine *engine, struct xsti_source *source)
{
    if (engine->ends)
        xsti_ingress_balance(engine, source);
    else
        xsti_balance_source(engine, source);
}

static double capped_due(const struct xsti_engine *engine, const struct xsti_source *source, int32_t *id_out)
{
    double earliest = INFINITY;
    for (int32_t i = 0; i < source->capped_count; i++) {
        const struct xsti_member *const member = &engine->members[source->capped_members[i]];
        double bytes;
        if (goal(member, &bytes) == XSTI_TAG_NONE)
            continue;
        const double due = member->touch_us + bytes / member->accept;
        if (due < earliest) {
            earliest = due;
            *id_out = source->capped_members[i];
        }
    }
    return earliest;
}

static double sharing_due(const struct xsti_source *source)
{
    if (source->groups.count == 0 || !(source->level > 0))
        return INFINITY;
    return source->clock_us + xsti_max(0, source->groups.entries[0].key - source->clock) / source->level;
}

/* Files the source under the real time of its next tag. */
void xsti_source_next(struct xsti_engine *engine, struct xsti_source *source)
{
    int32_t id;
    const int32_t index = (int32_t)(source - engine->sources);
    const double due = xsti_min(sharing_due(source), source->capped_count ? capped_due(engine, source, &id) : INFINITY);
    if (due < INFINITY)
        xsti_heap_set(&engine->next, index, due);
    else
        xsti_heap_remove(&engine->next, index);
}

/* The member whose tag is due. */
int32_t xsti_source_due(struct xsti_engine *engine, struct xsti_source *source)
{
    int32_t id = -1;
    const double capped = source->capped_count ? capped_due(engine, source, &id) : INFINITY;
    if (capped <= sharing_due(source))
        return id;
    return engine->groups[source->groups.entries[0].id].tags.entries[0].id;
}
