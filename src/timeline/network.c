/* SPDX-License-Identifier: Apache-2.0
 *
 * Who gets how much of the links. Two kinds of streams: what a rank stores (uses its own way out and the ways in of those it
 * sends to) and what it pulls (uses its own way in and the ways out of its peers). Every stream starts with what it could use;
 * all are scaled to fit the links, what is then left over is handed out, and the last step scales down, so no link is ever
 * given more than it has. In steps (settle_step) that holds on average.
 */
#include <math.h>
#include <string.h>

#include "timeline/engine.h"

enum { ROUNDS = 4 };

/* In steps: how much the last one counts in what a rank is taken to need. */
static const double SMOOTHING = 0.25;

/* Adds `rate` of a stream of `rank`, spread evenly over its peers. Kept per group: all members get it, the rank itself is taken out
 * by the caller. */
static void spread_even(const struct xsti_timeline *timeline, int64_t rank, double rate, double *even)
{
    if (timeline->group_ranks > 1)
        even[rank / timeline->group_ranks] += rate / (double)(timeline->group_ranks - 1);
}

/* Loads of all ways out and in at the current rates. Even streams are summed per group, behind the loads. */
static void sum_loads(struct xsti_timeline *timeline)
{
    const int64_t ranks = timeline->config->ranks, groups = ranks / timeline->group_ranks;
    const double others = timeline->group_ranks > 1 ? (double)(timeline->group_ranks - 1) : INFINITY;
    double *const even_in = timeline->load_in + ranks, *const even_out = timeline->load_out + ranks;
    memset(timeline->load_in, 0, (size_t)(ranks + groups) * sizeof(double));
    memset(timeline->load_out, 0, (size_t)(ranks + groups) * sizeof(double));
    for (int64_t r = 0; r < ranks; r++) {
        const struct xsti_rank *const rank = &timeline->ranks[r];
        const double store = timeline->store[r], pull = timeline->pull[r];
        const double even = rank->weight > 0 ? store * rank->even_weight / rank->weight : rank->to ? 0 : store;
        timeline->load_out[r] += store;
        timeline->load_in[r] += pull;
        spread_even(timeline, r, even, even_in);
        timeline->load_in[r] -= even / others;
        if (rank->to && rank->weight > 0)
            for (int64_t d = 0; d < ranks; d++)
                timeline->load_in[d] += store * rank->to[d] / rank->weight;
        if (rank->pull.mix < 0) {
            spread_even(timeline, r, pull, even_out);
            timeline->load_out[r] -= pull / others;
        } else {
            const struct xst_mix *const share = &timeline->config->mixes[rank->pull.mix];
            for (int64_t i = 0; i < share->count; i++)
                timeline->load_out[share->ranks[i]] += pull * share->frac[i];
        }
    }
    for (int64_t r = 0; r < ranks; r++) {
        timeline->load_in[r] += even_in[r / timeline->group_ranks];
        timeline->load_out[r] += even_out[r / timeline->group_ranks];
    }
}

/* How far each way could be scaled: limit / load. */
static void sum_rooms(struct xsti_timeline *timeline)
{
    sum_loads(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        timeline->room_out[r] = timeline->load_out[r] > 0 ? timeline->limit_out[r] / timeline->load_out[r] : INFINITY;
        timeline->room_in[r] = timeline->load_in[r] > 0 ? timeline->limit_in[r] / timeline->load_in[r] : INFINITY;
    }
}

/* The two smallest of a group, so that a rank can be left out of its own peers. */
struct least {
    double first, second;
    int64_t where;
};

static struct least least_of(const double *room, int64_t first, int64_t end)
{
    struct least least = {INFINITY, INFINITY, -1};
    for (int64_t r = first; r < end; r++) {
        if (room[r] < least.first) {
            least.second = least.first;
            least.first = room[r];
            least.where = r;
        } else if (room[r] < least.second) {
            least.second = room[r];
        }
    }
    return least;
}

static double without(const struct least *least, int64_t rank)
{
    return rank == least->where ? least->second : least->first;
}

static double store_room(const struct xsti_timeline *timeline, int64_t r, const struct least *in)
{
    const struct xsti_rank *const rank = &timeline->ranks[r];
    double room = timeline->room_out[r];
    if (!rank->to || rank->even_weight > 1e-9 * rank->weight)
        room = fmin(room, without(in, r));
    if (rank->to && rank->weight > 0)
        for (int64_t d = 0; d < timeline->config->ranks; d++)
            if (rank->to[d] > 1e-9 * rank->weight)
                room = fmin(room, timeline->room_in[d]);
    return room;
}

static double pull_room(const struct xsti_timeline *timeline, int64_t r, const struct least *out)
{
    const struct xsti_rank *const rank = &timeline->ranks[r];
    double room = timeline->room_in[r];
    if (rank->pull.mix < 0)
        return fmin(room, without(out, r));
    const struct xst_mix *const share = &timeline->config->mixes[rank->pull.mix];
    for (int64_t i = 0; i < share->count; i++)
        if (share->frac[i] > 0)
            room = fmin(room, timeline->room_out[share->ranks[i]]);
    return room;
}

/* Scales every stream by the room of its tightest way; `grow`: up as well, to at most what it wants. */
static void scale(struct xsti_timeline *timeline, int grow)
{
    struct least in = {0, 0, 0}, out = {0, 0, 0};
    int64_t first = -1, end = -1;
    sum_rooms(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        if (r >= end) {
            xsti_group_of(timeline->group_ranks, r, &first, &end);
            in = least_of(timeline->room_in, first, end);
            out = least_of(timeline->room_out, first, end);
        }
        const double most = grow ? INFINITY : 1;
        if (timeline->store[r] > 0)
            timeline->store[r] =
                fmin(timeline->store[r] * fmin(store_room(timeline, r, &in), most), timeline->store_want[r]);
        if (timeline->pull[r] > 0)
            timeline->pull[r] =
                fmin(timeline->pull[r] * fmin(pull_room(timeline, r, &out), most), timeline->pull_want[r]);
    }
}

static void fit(struct xsti_timeline *timeline)
{
    for (int round = 0; round < ROUNDS; round++) {
        scale(timeline, 0);
        scale(timeline, 1);
    }
    scale(timeline, 0);
}

/* Rates that hold until the next change: all streams alike, whole links. */
static void settle_exact(struct xsti_timeline *timeline)
{
    const struct xst_timeline_machine *const machine = &timeline->config->machine;
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        const struct xsti_rank *const rank = &timeline->ranks[r];
        timeline->limit_out[r] = machine->drain_bytes_per_us;
        timeline->limit_in[r] = machine->ingress_bytes_per_us;
        timeline->store[r] = timeline->store_want[r] = rank->active > 0 ? machine->drain_bytes_per_us : 0;
        timeline->pull[r] = timeline->pull_want[r] =
            rank->pull_state == XSTI_PULL_RUN ? machine->ingress_bytes_per_us : 0;
    }
    fit(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        timeline->ranks[r].store_rate = timeline->store[r];
        timeline->ranks[r].pull_rate = timeline->pull[r];
        timeline->ranks[r].dirty = 0;
    }
}

/* What a rank stored on average until now, and how much of the time it had something to store. */
static void look_back(const struct xsti_timeline *timeline, struct xsti_rank *rank)
{
    const double step_us = timeline->rate_step_us, used = (rank->drained - rank->drained_before) / step_us;
    rank->store_demand += SMOOTHING * (used - rank->store_demand);
    rank->store_busy += SMOOTHING * (fmin(rank->busy_store_us / step_us, 1) - rank->store_busy);
    rank->drained_before = rank->drained;
    rank->busy_store_us = 0;
}

/* Pulls leave room for what is stored on average, up to half of every way. */
static void settle_pulls(struct xsti_timeline *timeline, double out, double in)
{
    const int64_t ranks = timeline->config->ranks;
    for (int64_t r = 0; r < ranks; r++) {
        look_back(timeline, &timeline->ranks[r]);
        timeline->store[r] = timeline->ranks[r].store_demand;
        timeline->pull[r] = 0;
    }
    sum_loads(timeline);
    for (int64_t r = 0; r < ranks; r++) {
        timeline->limit_out[r] = out - fmin(timeline->store[r], out / 2);
        timeline->limit_in[r] = in - fmin(fmax(timeline->load_in[r], 0), in / 2);
        timeline->store[r] = timeline->store_want[r] = 0;
        timeline->pull[r] = timeline->pull_want[r] = timeline->ranks[r].pull_state == XSTI_PULL_RUN ? in : 0;
    }
    fit(timeline);
    sum_loads(timeline);
}

/* Rates for a step, in which ranks start and stop storing. While a rank stores it gets what pulls leave of its way out, half of
 * it at least: over time that is what sharing at every moment gives, since pulls were left the rest. Where a destination
 * is asked for more than it has, all who send there slow down. */
static void settle_step(struct xsti_timeline *timeline)
{
    const struct xst_timeline_machine *const machine = &timeline->config->machine;
    const double out = machine->drain_bytes_per_us, in = machine->ingress_bytes_per_us;
    const int64_t ranks = timeline->config->ranks;
    struct least least = {1, 1, -1};
    settle_pulls(timeline, out, in);
    for (int64_t r = 0; r < ranks; r++) {
        struct xsti_rank *const rank = &timeline->ranks[r];
        rank->pull_rate = timeline->pull[r];
        rank->store_rate = fmax(out - fmax(timeline->load_out[r], 0), out / 2);
        timeline->store[r] = rank->store_busy * rank->store_rate;
    }
    memset(timeline->pull, 0, (size_t)ranks * sizeof *timeline->pull);
    sum_loads(timeline);
    for (int64_t r = 0; r < ranks; r++) {
        const double left = fmax(in - timeline->ranks[r].pull_rate, in / 2);
        timeline->room_in[r] = timeline->load_in[r] > left ? left / timeline->load_in[r] : 1;
        timeline->room_out[r] = 1;
    }
    for (int64_t r = 0, first = 0, end = 0; r < ranks; r++) {
        if (r >= end) {
            xsti_group_of(timeline->group_ranks, r, &first, &end);
            least = least_of(timeline->room_in, first, end);
        }
        timeline->ranks[r].store_rate *= fmin(store_room(timeline, r, &least), 1);
        timeline->ranks[r].dirty = 0;
    }
}

void xsti_network_settle(struct xsti_timeline *timeline)
{
    if (timeline->rate_step_us > 0)
        settle_step(timeline);
    else
        settle_exact(timeline);
}
