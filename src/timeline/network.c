/* SPDX-License-Identifier: Apache-2.0
 *
 * Who gets how much of the links. Two kinds of streams: what a rank stores (uses its own way out and the ways in of those it
 * sends to) and what it pulls (uses its own way in and the ways out of its peers). Every stream starts with what it could use;
 * all are scaled to fit the links, what is then left over is handed out, and the last step scales down, so no link is ever
 * given more than it has.
 */
#include <math.h>
#include <string.h>

#include "timeline/engine.h"

enum { ROUNDS = 4 };

/* In steps: how much the last one counts in a rank's demand, and what a rank that stores asks for at least. */
static const double SMOOTHING = 0.25, LEAST_DEMAND = 0.0625;

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
    const struct xst_timeline_machine *const machine = &timeline->config->machine;
    sum_loads(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        timeline->room_out[r] =
            timeline->load_out[r] > 0 ? machine->drain_bytes_per_us / timeline->load_out[r] : INFINITY;
        timeline->room_in[r] =
            timeline->load_in[r] > 0 ? machine->ingress_bytes_per_us / timeline->load_in[r] : INFINITY;
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

/* What each stream could use now. In steps a rank's storing is what it was on average, so that pulls leave room for it. */
static void want(struct xsti_timeline *timeline)
{
    const struct xst_timeline_machine *const machine = &timeline->config->machine;
    const double drain = machine->drain_bytes_per_us;
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        struct xsti_rank *const rank = &timeline->ranks[r];
        timeline->store_want[r] = rank->active > 0 ? drain : 0;
        if (timeline->rate_step_us > 0) {
            const double busy = fmin(rank->busy_store_us / timeline->rate_step_us, 1) * drain;
            rank->store_demand += SMOOTHING * (busy - rank->store_demand);
            rank->busy_store_us = 0;
            timeline->store_want[r] = fmax(rank->store_demand, rank->active > 0 ? LEAST_DEMAND * drain : 0);
        }
        timeline->pull_want[r] = rank->pull_state == XSTI_PULL_RUN ? machine->ingress_bytes_per_us : 0;
        timeline->store[r] = timeline->store_want[r];
        timeline->pull[r] = timeline->pull_want[r];
    }
}

/* In steps a rank may start and stop storing until the next settlement: it gets all that its way out has left, unless its
 * destinations have less. */
static void grant(struct xsti_timeline *timeline)
{
    const double drain = timeline->config->machine.drain_bytes_per_us;
    if (timeline->rate_step_us > 0)
        sum_loads(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        struct xsti_rank *const rank = &timeline->ranks[r];
        const int squeezed = timeline->store[r] < timeline->store_want[r] * (1 - 1e-6);
        rank->store_rate = timeline->store[r];
        if (timeline->rate_step_us > 0 && !squeezed)
            rank->store_rate = drain - (timeline->load_out[r] - timeline->store[r]);
        rank->pull_rate = timeline->pull[r];
        rank->dirty = 0;
    }
}

void xsti_network_settle(struct xsti_timeline *timeline)
{
    want(timeline);
    for (int round = 0; round < ROUNDS; round++) {
        scale(timeline, 0);
        scale(timeline, 1);
    }
    scale(timeline, 0);
    grant(timeline);
}
