/* SPDX-License-Identifier: Apache-2.0
 *
 * One rank: its SMs take tiles, wait for counters, work; rows arrive; counters are posted and wake who waits.
 */
#include <math.h>
#include <stdlib.h>

#include "timeline/engine.h"

/* Events at one point in time before a rank counts as endless. */
enum { MOST_IDLE_EVENTS = 100000000 };

void xsti_emit(const struct xsti_rank *rank, const struct xst_span *span)
{
    if (rank->config->span && span->end_us > span->start_us)
        rank->config->span(rank->config->span_context, span);
}

/* The next event comes from one of these. */
enum source { TIMER, TAG, POST, PULL, NOTHING };

static double when(const struct xsti_rank *rank, enum source *source_out)
{
    double at_us = INFINITY;
    *source_out = NOTHING;
    if (rank->posts_count > 0) {
        at_us = rank->posts[rank->posts_first].at_us;
        *source_out = POST;
    }
    if (rank->pull_state == XSTI_PULL_HOLD && rank->pull_hold_us < at_us) {
        at_us = rank->pull_hold_us;
        *source_out = PULL;
    }
    if (rank->pull_state == XSTI_PULL_RUN) {
        const double end_us = rank->pull_rate > 0   ? rank->now_us + rank->pull_left / rank->pull_rate
                              : rank->pull_left > 0 ? INFINITY
                                                    : rank->now_us;
        if (end_us < at_us) {
            at_us = end_us;
            *source_out = PULL;
        }
    }
    if (rank->tags.count > 0) {
        const double rate = xsti_clock_rate(rank), ahead = rank->tags.key[rank->tags.item[0]] - rank->clock;
        const double end_us = ahead <= 0 ? rank->now_us : rate > 0 ? rank->now_us + ahead / rate : INFINITY;
        if (end_us < at_us) {
            at_us = end_us;
            *source_out = TAG;
        }
    }
    if (rank->timers.count > 0 && rank->timers.key[rank->timers.item[0]] < at_us) {
        at_us = rank->timers.key[rank->timers.item[0]];
        *source_out = TIMER;
    }
    return at_us;
}

double xsti_rank_next(const struct xsti_rank *rank)
{
    enum source source;
    return when(rank, &source);
}

/* Stage and pull advance at their rates; no event lies in between. */
void xsti_rank_move(struct xsti_rank *rank, double to_us)
{
    const double dt_us = to_us - rank->now_us;
    if (dt_us <= 0)
        return;
    if (rank->active > 0) {
        const double rate = xsti_clock_rate(rank), drained = fmin(rate * rank->weight * dt_us, rank->backlog);
        rank->clock += rate * dt_us;
        rank->backlog -= drained;
        rank->drained += drained;
        rank->busy_store_us += dt_us;
    }
    if (rank->pull_state == XSTI_PULL_RUN) {
        rank->pull_left = fmax(rank->pull_left - rank->pull_rate * dt_us, 0);
        rank->pull_busy_us += dt_us;
    } else if (rank->pull_state == XSTI_PULL_WAIT) {
        rank->pull_wait_us += dt_us;
    }
    rank->now_us = to_us;
}

/* 1 when the tile has all it needs; else need_out says which it lacks. */
static int has_needs(const struct xsti_rank *rank, const struct xst_tile *tile, int32_t *need_out)
{
    for (int32_t i = 0; i < 2; i++) {
        const int64_t counter = tile->need_counter[i];
        if (counter >= 0 && rank->counters[counter].value < tile->need_value[i]) {
            *need_out = i;
            return 0;
        }
    }
    return 1;
}

/* Loads that stand behind stores: the tile begins later, unless it was loaded ahead. */
static double wait_for_loads(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double delay_us = fmax(xsti_load_delay(rank, id) - rank->config->prefetch_us, 0);
    const struct xst_span span =
        {(int32_t)rank->index,    id, XST_SPAN_MATH, XST_SPAN_WAIT, (int16_t)sm->tile.kind, rank->now_us,
         rank->now_us + delay_us, 0,  sm->tile.id};
    sm->wait_us += delay_us;
    xsti_emit(rank, &span);
    return delay_us;
}

/* Does this tile go out of step: how much longer it takes. Warpgroups that wait for the same late operands are in step again. */
static double step_factor(struct xsti_rank *rank, int32_t id, int waits)
{
    const struct xst_out_of_step *const way = &rank->config->out_of_step;
    struct xsti_sm *const sm = &rank->sms[id];
    const double chance = waits ? 0 : sm->out_of_step ? way->stay : sm->stalled ? way->enter : 0;
    sm->stalled = 0;
    sm->out_of_step = chance > 0 && xsti_timeline_uniform(rank->config->seed, (uint64_t)rank->index * 2, (uint64_t)id,
                                                          (uint64_t)sm->taken) < chance;
    return sm->out_of_step ? 1 + way->extra_frac : 1;
}

static void start_work(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double spread = rank->config->work_spread;
    double work_us = sm->tile.work_us;
    if (spread > 0)
        work_us *= exp(spread * xsti_timeline_normal(rank->config->seed, (uint64_t)rank->index * 2, (uint64_t)id,
                                                     (uint64_t)sm->taken));
    const double late_us = rank->config->bystanders ? wait_for_loads(rank, id) : 0;
    if (rank->config->out_of_step.extra_frac > 0)
        work_us *= step_factor(rank, id, late_us > 0);
    sm->state = XSTI_SM_WORK;
    sm->since_us = rank->now_us + late_us;
    xsti_queue_set(&rank->timers, 2 * id, sm->since_us + work_us);
    xsti_store_pace(rank, id, work_us);
}

static void start_wait(struct xsti_rank *rank, int32_t id, int32_t need)
{
    struct xsti_sm *const sm = &rank->sms[id];
    struct xsti_counter_state *const counter = &rank->counters[sm->tile.need_counter[need]];
    sm->state = XSTI_SM_WAIT;
    sm->need = need;
    sm->next_waiter = counter->first_waiter;
    counter->first_waiter = id;
}

void xsti_sm_claim(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    int32_t need = 0;
    sm->tile = (struct xst_tile){.need_counter = {-1, -1}, .post_counter = {-1, -1}, .mix = -1};
    sm->end_us = rank->now_us;
    xsti_queue_drop(&rank->timers, 2 * id);
    if (!rank->config->next(rank->config->context, rank->index, id, sm->taken, &sm->tile)) {
        sm->state = XSTI_SM_DONE;
        xsti_store_pace(rank, id, 0);
        rank->working--;
        return;
    }
    sm->taken++;
    sm->since_us = rank->now_us;
    if (has_needs(rank, &sm->tile, &need))
        start_work(rank, id);
    else
        start_wait(rank, id, need);
}

static void end_wait(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double wait_us = rank->now_us - sm->since_us;
    const struct xst_span span =
        {(int32_t)rank->index, id, XST_SPAN_MATH, XST_SPAN_WAIT, (int16_t)sm->tile.kind, sm->since_us,
         rank->now_us,         0,  sm->tile.id};
    sm->wait_us += wait_us;
    if (wait_us > 1e-9 * fmax(sm->tile.work_us, 1e-3))
        rank->account.waited[sm->tile.part]++;
    xsti_emit(rank, &span);
    start_work(rank, id);
}

static void next_pull(struct xsti_rank *rank);

static void post(struct xsti_rank *rank, int64_t index)
{
    struct xsti_counter_state *const counter = &rank->counters[index];
    counter->value++;
    int32_t id = counter->first_waiter;
    counter->first_waiter = -1;
    while (id >= 0) {
        const int32_t following = rank->sms[id].next_waiter;
        int32_t need = 0;
        if (has_needs(rank, &rank->sms[id].tile, &need))
            end_wait(rank, id);
        else
            start_wait(rank, id, need);
        id = following;
    }
    if (rank->pull_state == XSTI_PULL_WAIT && rank->pull.need_counter == index &&
        counter->value >= rank->pull.need_value) {
        rank->pull_state = XSTI_PULL_RUN;
        rank->pull_since_us = rank->now_us;
        rank->dirty = 1;
    }
}

static int grow_posts(struct xsti_rank *rank)
{
    struct xsti_post *const larger = malloc(2 * (size_t)rank->posts_room * sizeof *larger);
    if (!larger)
        return 0;
    for (int64_t i = 0; i < rank->posts_count; i++)
        larger[i] = rank->posts[(rank->posts_first + i) % rank->posts_room];
    free(rank->posts);
    rank->posts = larger;
    rank->posts_room *= 2;
    rank->posts_first = 0;
    return 1;
}

/* Delays are all alike, so posts come due in the order they were made. */
static void post_later(struct xsti_rank *rank, int64_t counter)
{
    const double delay_us = rank->config->post_delay_us;
    if (delay_us <= 0) {
        post(rank, counter);
        return;
    }
    if (rank->posts_count == rank->posts_room && !grow_posts(rank)) {
        rank->stuck = 1;
        return;
    }
    const int64_t place = (rank->posts_first + rank->posts_count++) % rank->posts_room;
    rank->posts[place] = (struct xsti_post){rank->now_us + delay_us, counter};
}

static void end_work(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xst_span span =
        {(int32_t)rank->index, id, XST_SPAN_MATH, XST_SPAN_WORK, (int16_t)sm->tile.kind, sm->since_us,
         rank->now_us,         0,  sm->tile.id};
    sm->work_us += rank->now_us - sm->since_us;
    rank->account.tiles++;
    xsti_emit(rank, &span);
    if (sm->tile.post_counter[0] >= 0)
        post_later(rank, sm->tile.post_counter[0]);
    if (sm->tile.post_counter[1] >= 0)
        post(rank, sm->tile.post_counter[1]);
    xsti_store_begin(rank, id);
}

static void end_pull(struct xsti_rank *rank)
{
    const struct xst_span span = {(int32_t)rank->index, -1, XST_SPAN_PULL,
                                  XST_SPAN_TRANSFER,    0,  rank->pull_since_us,
                                  rank->now_us,         0,  rank->pull_index - 1};
    rank->pull_left = 0;
    rank->account.pull_end_us = rank->now_us;
    rank->pulled += rank->pull.bytes;
    if (rank->pull.mix < 0) {
        rank->pulled_even += rank->pull.bytes;
    } else {
        const struct xst_mix *const share = &rank->config->mixes[rank->pull.mix];
        for (int64_t i = 0; i < share->count; i++)
            rank->pulled_from[share->ranks[i]] += rank->pull.bytes * share->frac[i];
    }
    xsti_emit(rank, &span);
    const int64_t counter = rank->pull.post_counter;
    next_pull(rank);
    if (counter >= 0)
        post(rank, counter);
}

static void start_pull(struct xsti_rank *rank)
{
    const struct xst_pull *const pull = &rank->pull;
    rank->pull_since_us = rank->now_us;
    rank->pull_state = pull->need_counter >= 0 && rank->counters[pull->need_counter].value < pull->need_value
                           ? XSTI_PULL_WAIT
                           : XSTI_PULL_RUN;
}

static void next_pull(struct xsti_rank *rank)
{
    const int32_t mix_before = rank->pull.mix;
    const enum xsti_pull_state before = rank->pull_state;
    struct xst_pull *const pull = &rank->pull;
    *pull = (struct xst_pull){.need_counter = -1, .post_counter = -1, .mix = -1};
    if (!rank->config->pull || !rank->config->pull(rank->config->context, rank->index, rank->pull_index, pull)) {
        rank->pull_state = XSTI_PULL_DONE;
        rank->dirty = 1;
        return;
    }
    rank->pull_index++;
    if (rank->config->free_exchange)
        pull->bytes = 0;
    rank->pull_left = pull->bytes;
    rank->pull_since_us = rank->now_us;
    if (rank->now_us < rank->pull_hold_us && !rank->config->free_exchange)
        rank->pull_state = XSTI_PULL_HOLD;
    else
        start_pull(rank);
    rank->dirty |= rank->pull_state != before || pull->mix != mix_before;
}

static void end_hold(struct xsti_rank *rank)
{
    rank->pull_wait_us += rank->now_us - rank->pull_since_us;
    start_pull(rank);
    rank->dirty = 1;
}

void xsti_rank_begin(struct xsti_rank *rank)
{
    for (int32_t id = 0; id < rank->config->sms; id++) {
        rank->sms[id].state = XSTI_SM_START;
        xsti_queue_set(&rank->timers, 2 * id, rank->start_us);
    }
    next_pull(rank);
}

static void timer(struct xsti_rank *rank)
{
    const int32_t item = rank->timers.item[0], id = item / 2;
    xsti_queue_drop(&rank->timers, item);
    if (item & 1) {
        xsti_store_floor(rank, id);
        return;
    }
    switch (rank->sms[id].state) {
    case XSTI_SM_WORK:
        end_work(rank, id);
        return;
    case XSTI_SM_ISSUE:
        xsti_store_issued(rank, id);
        return;
    default:
        xsti_sm_claim(rank, id);
    }
}

void xsti_rank_step(struct xsti_rank *rank, double at_us)
{
    enum source source;
    when(rank, &source);
    xsti_rank_move(rank, at_us);
    rank->events++;
    rank->idle_events = at_us > rank->idle_at_us ? 0 : rank->idle_events + 1;
    rank->idle_at_us = at_us;
    rank->stuck |= rank->idle_events > MOST_IDLE_EVENTS;
    if (source == TIMER) {
        timer(rank);
    } else if (source == TAG) {
        const int32_t id = rank->tags.item[0];
        rank->clock = fmax(rank->clock, rank->tags.key[id]);
        xsti_store_tag(rank, id);
    } else if (source == POST) {
        const int64_t counter = rank->posts[rank->posts_first].counter;
        rank->posts_first = (rank->posts_first + 1) % rank->posts_room;
        rank->posts_count--;
        post(rank, counter);
    } else if (source == PULL) {
        if (rank->pull_state == XSTI_PULL_HOLD)
            end_hold(rank);
        else
            end_pull(rank);
    }
}
