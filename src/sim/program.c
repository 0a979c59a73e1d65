/* SPDX-License-Identifier: Apache-2.0
 *
 * What a producer does next: a step is wait, load, work, store, fence, post, in this order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

enum part { PART_FETCH, PART_WAIT, PART_LOAD, PART_WORK, PART_STORE, PART_FENCE, PART_POST };

/* More steps than this at one time, beyond what all producers could need, are a program that repeats itself. */
enum { IDLE_STEPS = 1000000, IDLE_STEPS_PER_MEMBER = 1000 };

/* Bytes too few to matter beside a burst. */
static double crumbs(const struct xsti_member *member)
{
    return 1e-9 * member->step.bytes + 1e-9;
}

static void fail(struct xsti_engine *engine, int32_t id, const char *what, double value)
{
    engine->failed = xsti_fail(engine->diag, XST_ERR_RANGE, "step %lld of producer %d: %s is %g",
                               (long long)engine->members[id].step_index, id, what, value);
}

static int counter_valid(const struct xsti_engine *engine, int64_t counter)
{
    return counter < engine->counter_count;
}

static int step_valid(struct xsti_engine *engine, int32_t id)
{
    const struct xst_sim_step *const step = &engine->members[id].step;
    if (step->work_us >= 0 && step->work_us < INFINITY && step->load_us >= 0 && step->load_us < INFINITY &&
        step->bytes >= 0 && step->bytes < INFINITY &&
        (step->bytes == 0 || (step->floor_us > 0 && step->floor_us < INFINITY)) &&
        counter_valid(engine, step->wait_counter) && counter_valid(engine, step->post_counter))
        return 1;
    if (!(step->work_us >= 0) || !isfinite(step->work_us))
        fail(engine, id, "work_us", step->work_us);
    else if (!(step->load_us >= 0) || !isfinite(step->load_us))
        fail(engine, id, "load_us", step->load_us);
    else if (!(step->bytes >= 0) || !isfinite(step->bytes))
        fail(engine, id, "bytes", step->bytes);
    else if (step->bytes > 0 && (!(step->floor_us > 0) || !isfinite(step->floor_us)))
        fail(engine, id, "floor_us of a burst", step->floor_us);
    else if (!counter_valid(engine, step->wait_counter))
        fail(engine, id, "wait_counter", (double)step->wait_counter);
    else
        fail(engine, id, "post_counter", (double)step->post_counter);
    return 0;
}

/* The next step; 0 when the producer is done. */
static int fetch(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    const struct xst_sim_config *const config = engine->config;
    memset(&member->step, 0, sizeof member->step);
    member->step.wait_counter = member->step.post_counter = -1;
    if (++engine->idle_steps > IDLE_STEPS + (int64_t)IDLE_STEPS_PER_MEMBER * engine->member_count) {
        engine->failed =
            xsti_fail(engine->diag, XST_ERR_TIMEOUT,
                      "time stands still at %g us: the program of producer %d repeats steps that take none",
                      engine->now, id);
        return 0;
    }
    if (!config->next(config->context, id, member->step_index, engine->now, &member->step)) {
        member->activity = XSTI_ACTIVITY_DONE;
        engine->accounts[id].end_us = engine->now;
        engine->working--;
        return 0;
    }
    if (!step_valid(engine, id))
        return 0;
    member->step_index++;
    return 1;
}

static void begin(struct xsti_engine *engine, int32_t id, enum xsti_activity activity)
{
    engine->members[id].activity = activity;
    engine->members[id].since_us = engine->now;
}

static void begin_timed(struct xsti_engine *engine, int32_t id, enum xsti_activity activity, double duration)
{
    begin(engine, id, activity);
    xsti_heap_set(&engine->timers, id, engine->now + duration);
    if (engine->fired == id)
        engine->fired = -1;
}

static int begin_wait(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    if (member->step.wait_counter < 0)
        return 0;
    struct xsti_counter *const counter = &engine->counters[member->step.wait_counter];
    if (counter->value >= member->step.wait_value)
        return 0;
    begin(engine, id, XSTI_ACTIVITY_WAIT);
    member->next_waiter = -1;
    if (counter->first_waiter < 0)
        counter->first_waiter = id;
    else
        engine->members[counter->last_waiter].next_waiter = id;
    counter->last_waiter = id;
    return 1;
}

/* A local load queues behind what its device still holds beyond the free capacity. */
static void begin_load(struct xsti_engine *engine, int32_t id)
{
    const int32_t device = engine->members[id].source / engine->lanes;
    const struct xsti_source *const first = &engine->sources[device * engine->lanes];
    const struct xsti_source *const last = first + engine->lanes - 1;
    double backlog = 0;
    for (int32_t g = first->first_group; g < last->first_group + last->group_count; g++)
        for (int32_t i = 0; i < engine->groups[g].size; i++)
            backlog += xsti_backlog(engine, &engine->members[engine->roster[engine->groups[g].first + i]]);
    const double wait =
        xsti_max(0, backlog - first->free_capacity) / engine->config->sources[device].drain_bytes_per_us;
    struct xst_sim_account *const account = &engine->accounts[id];
    account->load_wait_us += wait;
    account->load_max_us = xsti_max(account->load_max_us, wait + engine->members[id].step.load_us);
    begin_timed(engine, id, XSTI_ACTIVITY_LOAD, wait + engine->members[id].step.load_us);
}

static void begin_store(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    double weight = member->weight;
    engine->events++;
    xsti_settle(engine, member);
    if (!(member->step.flags & XST_SIM_QUIET)) {
        const uint32_t draw = xsti_draw(engine->config->seed, (uint64_t)id, member->burst_index++);
        weight = member->base_weight * engine->weights[draw % XSTI_QUANTILES];
    }
    xsti_join(engine, member, weight, member->step.bytes / member->step.floor_us);
    member->left = member->step.bytes;
    member->floor_passed = 0;
    begin_timed(engine, id, XSTI_ACTIVITY_ISSUE, member->step.floor_us);
    xsti_retag(engine, member);
    xsti_balance(engine, &engine->sources[member->source]);
}

static void post(struct xsti_engine *engine, int64_t index)
{
    struct xsti_counter *const counter = &engine->counters[index];
    counter->value++;
    int32_t id = counter->first_waiter, before = -1;
    while (id >= 0) {
        struct xsti_member *const member = &engine->members[id];
        const int32_t after = member->next_waiter;
        if (counter->value >= member->step.wait_value) {
            if (before < 0)
                counter->first_waiter = after;
            else
                engine->members[before].next_waiter = after;
            if (counter->last_waiter == id)
                counter->last_waiter = before;
            const int32_t at = (engine->ready_first + engine->ready_count++) % engine->member_count;
            engine->ready[at] = id;
        } else {
            before = id;
        }
        id = after;
    }
}

/* Posts once all that was accepted so far has drained. */
static void post_later(struct xsti_engine *engine, struct xsti_member *member)
{
    if (member->release_count == member->release_capacity) {
        const uint32_t capacity = member->release_capacity ? 2 * member->release_capacity : 4;
        struct xsti_release *const releases = malloc(capacity * sizeof *releases);
        if (!releases) {
            engine->failed = xsti_fail_memory(engine->diag);
            return;
        }
        for (uint32_t i = 0; i < member->release_count; i++)
            releases[i] = member->releases[(member->release_first + i) & (member->release_capacity - 1)];
        free(member->releases);
        member->releases = releases;
        member->release_capacity = capacity;
        member->release_first = 0;
    }
    const uint32_t at = (member->release_first + member->release_count++) & (member->release_capacity - 1);
    member->releases[at] = (struct xsti_release){member->injected, member->step.post_counter};
    xsti_retag(engine, member);
    xsti_source_next(engine, &engine->sources[member->source]);
}

static void release_first(struct xsti_engine *engine, struct xsti_member *member)
{
    const int64_t counter = member->releases[member->release_first & (member->release_capacity - 1)].counter;
    member->release_first++;
    member->release_count--;
    post(engine, counter);
}

static void end_step(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    if (member->step.post_counter < 0)
        return;
    if ((member->step.flags & XST_SIM_RELEASE) && member->share != XSTI_SHARE_NONE)
        post_later(engine, member);
    else
        post(engine, member->step.post_counter);
}

#define FALL_THROUGH __attribute__((fallthrough))

/* Does the parts of steps from `part` on until one takes time. */
static void go(struct xsti_engine *engine, int32_t id, enum part part)
{
    struct xsti_member *const member = &engine->members[id];
    while (engine->failed == XST_OK) {
        switch (part) {
        case PART_FETCH:
            if (!fetch(engine, id))
                return;
            FALL_THROUGH;
        case PART_WAIT:
            if (begin_wait(engine, id))
                return;
            FALL_THROUGH;
        case PART_LOAD:
            if (member->step.load_us > 0) {
                begin_load(engine, id);
                return;
            }
            FALL_THROUGH;
        case PART_WORK:
            if (member->step.work_us > 0) {
                begin_timed(engine, id, XSTI_ACTIVITY_WORK, member->step.work_us);
                return;
            }
            FALL_THROUGH;
        case PART_STORE:
            if (member->step.bytes > 0) {
                begin_store(engine, id);
                return;
            }
            FALL_THROUGH;
        case PART_FENCE:
            if (member->step.flags & XST_SIM_FENCE) {
                if (member->share != XSTI_SHARE_NONE)
                    begin(engine, id, XSTI_ACTIVITY_DRAIN);
                else
                    begin_timed(engine, id, XSTI_ACTIVITY_FENCE, engine->sources[member->source].fence_us);
                return;
            }
            FALL_THROUGH;
        case PART_POST:
            end_step(engine, id);
            part = PART_FETCH;
        }
    }
}

void xsti_program_go(struct xsti_engine *engine, int32_t id)
{
    go(engine, id, PART_FETCH);
}

/* Nothing of this producer is left in the stage. */
static void run_empty(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    engine->events++;
    member->drained += member->backlog;
    member->backlog = 0;
    xsti_leave(engine, member);
    engine->accounts[id].drained_us = engine->now;
    while (member->release_count > 0)
        release_first(engine, member);
    if (member->activity == XSTI_ACTIVITY_DRAIN) {
        engine->accounts[id].fence_wait_us += engine->now - member->since_us;
        begin_timed(engine, id, XSTI_ACTIVITY_FENCE, engine->sources[member->source].fence_us);
    }
}

/* The settled member's burst has been accepted. */
static void end_store(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    struct xst_sim_account *const account = &engine->accounts[id];
    engine->events++;
    member->injected += member->left;
    member->backlog += member->left;
    member->left = 0;
    const double issue = engine->now - member->since_us;
    if (!(member->step.flags & XST_SIM_QUIET)) {
        account->bursts++;
        account->issue_us += issue;
        account->issue_max_us = xsti_max(account->issue_max_us, issue);
        if (member->step.flags & XST_SIM_STEADY) {
            account->steady_bursts++;
            account->steady_issue_us += issue;
        }
    }
    member->activity = XSTI_ACTIVITY_WORK; /* no longer issuing; what follows sets its own */
    if (member->backlog <= crumbs(member))
        run_empty(engine, id);
    go(engine, id, PART_FENCE);
    if (member->activity == XSTI_ACTIVITY_ISSUE)
        return; /* the next burst has begun, and put everything in order */
    if (member->share != XSTI_SHARE_NONE)
        xsti_retag(engine, member);
    xsti_balance(engine, &engine->sources[member->source]);
}

void xsti_program_timer(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    struct xst_sim_account *const account = &engine->accounts[id];
    switch (member->activity) {
    case XSTI_ACTIVITY_LOAD:
        engine->events++;
        go(engine, id, PART_WORK);
        break;
    case XSTI_ACTIVITY_WORK:
        account->work_us += member->step.work_us;
        go(engine, id, PART_STORE);
        break;
    case XSTI_ACTIVITY_FENCE:
        engine->events++;
        go(engine, id, PART_POST);
        break;
    case XSTI_ACTIVITY_ISSUE:
        xsti_settle(engine, member);
        if (member->share == XSTI_SHARE_CAPPED || member->left <= crumbs(member)) {
            end_store(engine, id);
        } else {
            engine->events++;
            member->floor_passed = 1;
            xsti_retag(engine, member);
            xsti_source_next(engine, &engine->sources[member->source]);
        }
        break;
    case XSTI_ACTIVITY_DONE:
    case XSTI_ACTIVITY_WAIT:
    case XSTI_ACTIVITY_DRAIN:
        break; /* these have no timer */
    }
}

void xsti_program_tag(struct xsti_engine *engine, int32_t id)
{
    struct xsti_member *const member = &engine->members[id];
    const enum xsti_tag tag = member->tag;
    xsti_settle(engine, member);
    switch (tag) {
    case XSTI_TAG_ISSUED:
        end_store(engine, id);
        break;
    case XSTI_TAG_RELEASED:
        release_first(engine, member);
        xsti_retag(engine, member);
        xsti_source_next(engine, &engine->sources[member->source]);
        break;
    case XSTI_TAG_EMPTY:
        run_empty(engine, id);
        xsti_balance(engine, &engine->sources[member->source]);
        break;
    case XSTI_TAG_NONE:
        break;
    }
}

/* Lets those go on whose counter came. */
void xsti_program_wake(struct xsti_engine *engine)
{
    while (engine->ready_count > 0 && engine->failed == XST_OK) {
        const int32_t id = engine->ready[engine->ready_first];
        engine->ready_first = (engine->ready_first + 1) % engine->member_count;
        engine->ready_count--;
        engine->accounts[id].wait_us += engine->now - engine->members[id].since_us;
        go(engine, id, PART_LOAD);
    }
}
