/* SPDX-License-Identifier: Apache-2.0
 *
 * From a finished tile to remote visibility: staging slots, bursts in order, and the stage that the SMs of a rank share.
 */
#include <math.h>

#include "timeline/engine.h"

/* Bytes per us and unit of weight: the granted rate shared by weight, but nobody drains faster than it accepts. */
double xsti_clock_rate(const struct xsti_rank *rank)
{
    if (rank->active == 0)
        return 0;
    const double shared = rank->store_rate / rank->weight;
    const double most = rank->ports ? rank->accept_rate * rank->active / rank->weight : rank->accept_rate;
    return shared < most ? shared : most;
}

double xsti_load_delay(const struct xsti_rank *rank, int32_t id)
{
    const struct xst_timeline_machine *const machine = &rank->config->machine;
    const struct xsti_sm *const sm = &rank->sms[id];
    const double rate = xsti_clock_rate(rank), sms = (double)rank->config->sms;
    double held = 0, drain = rate * rank->weight;
    if (machine->shared_queue) {
        held = rank->backlog - machine->free_capacity_bytes;
    } else if (sm->active) {
        held = sm->backlog - sm->weight * (rank->clock - sm->touch_clock) - machine->free_capacity_bytes / sms;
        drain = rate * sm->weight;
    }
    return held > 0 && drain > 0 ? held / drain : 0;
}

static int completion(const struct xsti_rank *rank)
{
    return rank->config->coupling == XST_COUPLING_COMPLETION;
}

/* A bulk store's issue does not wait for acceptance, unless it is asked to wait for completion. */
static int issue_leaves_early(const struct xsti_rank *rank)
{
    return rank->config->machine.method == XST_METHOD_BULK && !completion(rank) && !rank->config->queue_full;
}

static void settle(struct xsti_rank *rank, struct xsti_sm *sm)
{
    if (sm->active)
        sm->backlog = fmax(sm->backlog - sm->weight * (rank->clock - sm->touch_clock), 0);
    sm->touch_clock = rank->clock;
}

/* Adds `weight` (perhaps negative) where the SM sends to. */
static void aim(struct xsti_rank *rank, int32_t mix, double weight)
{
    if (mix < 0) {
        rank->even_weight += weight;
        return;
    }
    const struct xst_mix *const share = &rank->config->mixes[mix];
    for (int64_t i = 0; i < share->count; i++)
        rank->to[share->ranks[i]] += weight * share->frac[i];
}

static void tag(struct xsti_rank *rank, int32_t id, double bytes, int is_accept)
{
    struct xsti_sm *const sm = &rank->sms[id];
    sm->tag_is_accept = is_accept;
    xsti_queue_set(&rank->tags, id, rank->clock + fmax(bytes, 0) / sm->weight);
}

static void weigh(struct xsti_rank *rank, struct xsti_sm *sm, double weight)
{
    aim(rank, sm->mix, weight - sm->weight);
    rank->weight += weight - sm->weight;
    sm->weight = weight;
}

static double capacity_of(const struct xsti_rank *rank)
{
    return completion(rank) ? 0 : rank->config->machine.capacity_bytes;
}

/* A port weighs 1, whoever stands behind it: its active SMs share that anew. `changed` files its tag itself. */
static void share_port(struct xsti_rank *rank, int32_t changed)
{
    const struct xsti_ports *const ports = rank->ports;
    const int64_t port = ports->port[changed];
    for (int32_t i = ports->first[port]; i < ports->first[port + 1]; i++) {
        const int32_t id = ports->member[i];
        struct xsti_sm *const sm = &rank->sms[id];
        if (!sm->active)
            continue;
        settle(rank, sm);
        weigh(rank, sm, sm->share / rank->port_share[port]);
        if (id != changed)
            tag(rank, id, sm->tag_is_accept ? sm->backlog - capacity_of(rank) : sm->backlog, sm->tag_is_accept);
    }
}

static void leave(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    if (!sm->active)
        return;
    xsti_queue_drop(&rank->tags, id);
    aim(rank, sm->mix, -sm->weight);
    rank->weight -= sm->weight;
    rank->active--;
    sm->active = 0;
    rank->dirty |= rank->active == 0 || sm->mix >= 0;
    if (rank->ports) {
        rank->port_share[rank->ports->port[id]] -= sm->share;
        share_port(rank, id);
    }
    if (rank->active == 0) { /* nothing left: rounding too */
        rank->weight = rank->even_weight = 0;
        rank->backlog = 0;
        for (int64_t p = 0; rank->ports && p < rank->ports->count; p++)
            rank->port_share[p] = 0;
    }
}

static void join(struct xsti_rank *rank, int32_t id, int32_t mix)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double spread = rank->config->machine.share_spread;
    const double share = spread > 0
                             ? exp(spread * xsti_timeline_normal(rank->config->seed, (uint64_t)rank->index * 2 + 1,
                                                                 (uint64_t)id, sm->burst_index))
                             : 1;
    const int known = sm->active && sm->mix == mix;
    rank->dirty |= rank->active == 0 || (!known && (mix >= 0 || sm->mix >= 0));
    if (sm->active)
        weigh(rank, sm, 0);
    if (rank->ports)
        rank->port_share[rank->ports->port[id]] += share - (sm->active ? sm->share : 0);
    rank->active += !sm->active;
    sm->active = 1;
    sm->share = share;
    sm->weight = 0;
    sm->mix = mix;
    if (rank->ports)
        share_port(rank, id);
    else
        weigh(rank, sm, share);
}

static void count_sent(struct xsti_rank *rank, const struct xsti_burst *burst)
{
    struct xst_rank_account *const account = &rank->account;
    account->sent_bytes += burst->remote_bytes;
    if (burst->mix < 0) {
        rank->sent_even += burst->remote_bytes;
        return;
    }
    const struct xst_mix *const share = &rank->config->mixes[burst->mix];
    for (int64_t i = 0; i < share->count; i++)
        rank->sent_to[share->ranks[i]] += burst->remote_bytes * share->frac[i];
}

/* Bytes of the burst being accepted reach the stage. */
static void add_backlog(struct xsti_rank *rank, int32_t id, double bytes)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double capacity = capacity_of(rank);
    settle(rank, sm);
    join(rank, id, sm->fifo[sm->fifo_first].mix);
    sm->backlog += bytes;
    rank->backlog += bytes;
    rank->account.backlog_peak_bytes = fmax(rank->account.backlog_peak_bytes, rank->backlog);
    sm->drained_enough = sm->backlog <= capacity;
    tag(rank, id, sm->drained_enough ? sm->backlog : sm->backlog - capacity, !sm->drained_enough);
}

/* The next piece of the burst; behind the last one runs its floor. Pieces wait for the next tile to begin; without one all
 * of them go. */
static void next_slice(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xsti_burst *const burst = &sm->fifo[sm->fifo_first];
    const double slices = rank->config->slices > 1 ? (double)rank->config->slices : 1;
    const int32_t now = sm->state == XSTI_SM_DONE ? sm->slices_left : 1;
    sm->slices_left -= now;
    sm->last_slice_us = rank->now_us;
    if (burst->remote_bytes > 0)
        add_backlog(rank, id, burst->remote_bytes * now / slices);
    if (sm->slices_left == 0)
        xsti_queue_set(&rank->timers, 2 * id + 1, rank->now_us + burst->accept_floor_us / slices);
    else if (sm->state == XSTI_SM_WORK)
        xsti_queue_set(&rank->timers, 2 * id + 1, rank->now_us + sm->slice_us);
}

void xsti_store_pace(struct xsti_rank *rank, int32_t id, double work_us)
{
    struct xsti_sm *const sm = &rank->sms[id];
    if (rank->config->slices <= 1)
        return;
    sm->slice_us = work_us / (double)rank->config->slices;
    if (sm->accepting && sm->slices_left > 0)
        xsti_queue_set(&rank->timers, 2 * id + 1, rank->now_us + sm->slice_us);
}

/* The first burst of the fifo meets the stage. */
static void start_accept(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xsti_burst *const burst = &sm->fifo[sm->fifo_first];
    sm->accepting = 1;
    sm->floor_passed = 0;
    sm->visible_wait = 0;
    sm->accept_us = rank->now_us;
    sm->burst_index++;
    sm->slices_left = rank->config->slices > 1 ? (int32_t)rank->config->slices : 1;
    sm->drained_enough = burst->remote_bytes <= 0;
    count_sent(rank, burst);
    next_slice(rank, id);
}

static void emit_issue(const struct xsti_rank *rank, int32_t id, const struct xsti_burst *burst, double from_us,
                       double to_us)
{
    const int own = rank->config->issuer == XST_ISSUER_OWN && !issue_leaves_early(rank);
    const struct xst_span span = {(int32_t)rank->index,
                                  id,
                                  (int16_t)(own ? XST_SPAN_MATH : XST_SPAN_STORE),
                                  XST_SPAN_ISSUE,
                                  burst->kind,
                                  from_us,
                                  to_us,
                                  burst->accept_floor_us,
                                  burst->id};
    xsti_emit(rank, &span);
}

static void push(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xst_timeline_machine *const machine = &rank->config->machine;
    const double bytes = sm->tile.remote_bytes + sm->tile.local_bytes;
    const int32_t slots = (int32_t)rank->config->staging_slots;
    int32_t place = sm->fifo_first + sm->fifo_count++;
    if (place >= slots)
        place -= slots;
    sm->fifo[place] = (struct xsti_burst){sm->tile.remote_bytes,
                                          xsti_floor_us(&machine->accept_floor, bytes),
                                          xsti_floor_us(&machine->issue_floor, bytes),
                                          rank->now_us,
                                          sm->tile.id,
                                          sm->tile.mix,
                                          (int16_t)sm->tile.kind};
    sm->slots_used++;
    if (!sm->accepting)
        start_accept(rank, id);
}

/* A slot is free: the tile goes into it, and the computing role issues or goes on. */
static void hand_over(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    push(rank, id);
    if (rank->config->issuer == XST_ISSUER_ROLE) {
        xsti_sm_claim(rank, id);
        return;
    }
    sm->state = XSTI_SM_ISSUE;
    sm->since_us = rank->now_us;
    if (issue_leaves_early(rank)) {
        const double bytes = sm->tile.remote_bytes + sm->tile.local_bytes;
        xsti_queue_set(&rank->timers, 2 * id, rank->now_us + xsti_floor_us(&rank->config->machine.issue_floor, bytes));
    }
}

void xsti_store_begin(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    if (rank->config->free_exchange || sm->tile.remote_bytes + sm->tile.local_bytes <= 0) {
        xsti_sm_claim(rank, id);
        return;
    }
    if (sm->slots_used < rank->config->staging_slots) {
        hand_over(rank, id);
        return;
    }
    sm->state = XSTI_SM_SLOT;
    sm->since_us = rank->now_us;
}

void xsti_store_issued(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    sm->own_floor_us += rank->now_us - sm->since_us;
    xsti_sm_claim(rank, id);
}

static void leave_slot_wait(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xst_span span =
        {(int32_t)rank->index, id, XST_SPAN_MATH, XST_SPAN_SLOT, (int16_t)sm->tile.kind, sm->since_us,
         rank->now_us,         0,  sm->tile.id};
    sm->slot_us += rank->now_us - sm->since_us;
    xsti_emit(rank, &span);
    hand_over(rank, id);
}

static void accepted(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const struct xsti_burst burst = sm->fifo[sm->fifo_first];
    const double issue_us = rank->now_us - sm->accept_us;
    const double slices = rank->config->slices > 1 ? (double)rank->config->slices : 1;
    const double stall_us = fmax(rank->now_us - sm->last_slice_us - burst.accept_floor_us / slices, 0);
    struct xst_rank_account *const account = &rank->account;
    account->bursts++;
    rank->issue_sum_us += issue_us;
    account->issue_max_us = fmax(account->issue_max_us, issue_us);
    sm->store_floor_us += issue_us - stall_us;
    sm->store_stall_us += stall_us;
    sm->stalled = stall_us > burst.accept_floor_us;
    sm->end_us = rank->now_us;
    emit_issue(rank, id, &burst, sm->accept_us, rank->now_us);
    sm->accepting = 0;
    sm->fifo_count--;
    if (++sm->fifo_first == rank->config->staging_slots)
        sm->fifo_first = 0;
    sm->slots_used--;
    if (sm->fifo_count > 0)
        start_accept(rank, id);
    if (sm->state == XSTI_SM_SLOT) {
        leave_slot_wait(rank, id);
    } else if (sm->state == XSTI_SM_ISSUE && !issue_leaves_early(rank)) {
        sm->own_floor_us += issue_us - stall_us;
        sm->own_stall_us += stall_us;
        xsti_sm_claim(rank, id);
    }
}

/* Floor over and drained far enough: accepted; with completion coupling, once visible. */
static void try_accept(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    if (!sm->floor_passed || !sm->drained_enough)
        return;
    if (completion(rank) && !sm->visible_wait && sm->fifo[sm->fifo_first].remote_bytes > 0 &&
        rank->config->machine.visible_us > 0) {
        sm->visible_wait = 1;
        sm->floor_passed = 0;
        xsti_queue_set(&rank->timers, 2 * id + 1, rank->now_us + rank->config->machine.visible_us);
        return;
    }
    accepted(rank, id);
}

void xsti_store_floor(struct xsti_rank *rank, int32_t id)
{
    if (rank->sms[id].slices_left > 0) {
        next_slice(rank, id);
        return;
    }
    rank->sms[id].floor_passed = 1;
    try_accept(rank, id);
}

void xsti_store_tag(struct xsti_rank *rank, int32_t id)
{
    struct xsti_sm *const sm = &rank->sms[id];
    const double capacity = capacity_of(rank);
    settle(rank, sm);
    if (sm->tag_is_accept && capacity > 0) {
        sm->backlog = capacity;
        tag(rank, id, capacity, 0);
    } else {
        sm->backlog = 0;
        sm->empty_us = rank->now_us;
        leave(rank, id);
    }
    if (sm->accepting && !sm->drained_enough) {
        sm->drained_enough = 1;
        try_accept(rank, id); /* with slices left its floor is still to pass */
    }
}
