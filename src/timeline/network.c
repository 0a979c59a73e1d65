/* SPDX-License-Identifier: Apache-2.0
 *
 * Who gets how much of the links. Two kinds of streams: what a rank stores (uses its own way out and the ways in of those it
 * sends to) and what it pulls (uses its own way in and the ways out of its peers). Every stream starts with what it could use;
 * all are scaled to fit the links, what is then left over is handed out, and the last step scales down, so no link is ever
 * given more than it has. In steps (settle_step) that holds on average.
 *
 * What stays in a domain uses the ranks' links, what leaves it the interfaces of both domains. A stream is one: its parts go on
 * together, at the rate of the tightest way.
 */
#include <math.h>
#include <string.h>

#include "timeline/engine.h"

enum { ROUNDS = 4 };

/* In steps: how much the last one counts in what a rank is taken to need. */
static const double SMOOTHING = 0.25;

static int64_t domain_of(const struct xsti_timeline *timeline, int64_t rank)
{
    return timeline->ranks[rank].domain;
}

static int crosses(const struct xsti_timeline *timeline)
{
    return timeline->domain_ranks < timeline->group_ranks;
}

/* Adds the even streams of all ranks, `even` of which are summed by domain, to the far ends: a member of the domain has all of
 * them but its own, a domain's interface those of the group's other domains. */
static void spread_even(const struct xsti_timeline *timeline, double *load, double *nic)
{
    const double each = timeline->each_peer;
    const int64_t per_group = timeline->group_ranks / timeline->domain_ranks;
    for (int64_t r = 0; r < timeline->config->ranks; r++)
        load[r] += each * timeline->even[domain_of(timeline, r)];
    for (int64_t first = 0; crosses(timeline) && first < timeline->domains; first += per_group) {
        double sum = 0;
        for (int64_t n = first; n < first + per_group; n++)
            sum += timeline->even[n];
        for (int64_t n = first; n < first + per_group; n++)
            nic[n] += each * (double)timeline->domain_ranks * (sum - timeline->even[n]);
    }
}

/* An even stream at its near end, and its own part taken off the far one. */
static void add_even(const struct xsti_timeline *timeline, int64_t rank, double rate, double *near, double *nic,
                     double *far)
{
    const double each = timeline->each_peer;
    if (rate == 0)
        return;
    const double inside = each * (double)(timeline->domain_ranks - 1);
    timeline->even[domain_of(timeline, rank)] += rate;
    near[rank] += timeline->group_ranks > 1 ? rate * inside : rate;
    far[rank] -= rate * each;
    if (crosses(timeline))
        nic[domain_of(timeline, rank)] += rate * (1 - inside);
}

/* One peer's part of a stream. */
static void add_part(const struct xsti_timeline *timeline, int64_t rank, int64_t peer, double rate, double *near,
                     double *nic_near, double *far, double *nic_far)
{
    if (domain_of(timeline, rank) == domain_of(timeline, peer)) {
        near[rank] += rate;
        far[peer] += rate;
    } else {
        nic_near[domain_of(timeline, rank)] += rate;
        nic_far[domain_of(timeline, peer)] += rate;
    }
}

static void add_stores(struct xsti_timeline *timeline)
{
    const int64_t ranks = timeline->config->ranks;
    memset(timeline->even, 0, (size_t)timeline->domains * sizeof *timeline->even);
    for (int64_t r = 0; r < ranks; r++) {
        const struct xsti_rank *const rank = &timeline->ranks[r];
        const double store = timeline->store[r];
        const double even = rank->weight > 0 ? store * rank->even_weight / rank->weight : rank->to ? 0 : store;
        add_even(timeline, r, even, timeline->load_out, timeline->nic_out, timeline->load_in);
        if (rank->to && rank->weight > 0)
            for (int64_t d = 0; store > 0 && d < ranks; d++)
                add_part(timeline, r, d, store * rank->to[d] / rank->weight, timeline->load_out, timeline->nic_out,
                         timeline->load_in, timeline->nic_in);
        else if (rank->to) /* remembered as a demand alone: where to is not known any more */
            timeline->load_out[r] += store;
    }
    spread_even(timeline, timeline->load_in, timeline->nic_in);
}

static void add_pulls(struct xsti_timeline *timeline)
{
    int pulls = 0;
    memset(timeline->even, 0, (size_t)timeline->domains * sizeof *timeline->even);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        const struct xsti_rank *const rank = &timeline->ranks[r];
        const double pull = timeline->pull[r];
        if (rank->pull.mix < 0) {
            add_even(timeline, r, pull, timeline->load_in, timeline->nic_in, timeline->load_out);
            pulls |= pull > 0;
            continue;
        }
        const struct xst_mix *const share = &timeline->config->mixes[rank->pull.mix];
        for (int64_t i = 0; i < share->count; i++)
            add_part(timeline, r, share->ranks[i], pull * share->frac[i], timeline->load_in, timeline->nic_in,
                     timeline->load_out, timeline->nic_out);
    }
    if (pulls)
        spread_even(timeline, timeline->load_out, timeline->nic_out);
}

/* Loads of all ways out and in at the current rates. */
static void sum_loads(struct xsti_timeline *timeline)
{
    const size_t ranks = (size_t)timeline->config->ranks * sizeof(double),
                 domains = (size_t)timeline->domains * sizeof(double);
    memset(timeline->load_in, 0, ranks);
    memset(timeline->load_out, 0, ranks);
    memset(timeline->nic_in, 0, domains);
    memset(timeline->nic_out, 0, domains);
    add_stores(timeline);
    add_pulls(timeline);
}

static double room_of(double limit, double load)
{
    return load > 1e-9 * limit ? limit / load : INFINITY;
}

/* How far each way could be scaled: limit / load. Rooms of interfaces take the place of their loads. */
static void sum_rooms(struct xsti_timeline *timeline)
{
    sum_loads(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        timeline->room_out[r] = room_of(timeline->limit_out[r], timeline->load_out[r]);
        timeline->room_in[r] = room_of(timeline->limit_in[r], timeline->load_in[r]);
    }
    for (int64_t n = 0; n < timeline->domains; n++) {
        timeline->nic_out[n] = room_of(timeline->nic_limit_out[n], timeline->nic_out[n]);
        timeline->nic_in[n] = room_of(timeline->nic_limit_in[n], timeline->nic_in[n]);
    }
}

/* The two smallest of a range, so that one can be left out. */
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

static double without(const struct least *least, int64_t one)
{
    return one == least->where ? least->second : least->first;
}

/* Tightest far ends of even streams: ranks of the own domain, interfaces of the group's other domains. */
struct far_ends {
    int64_t domain_end, group_end; /* they hold for ranks below */
    struct least ranks, nics;
};

static void look_far(const struct xsti_timeline *timeline, int64_t rank, const double *room, const double *nic,
                     struct far_ends *far)
{
    int64_t first, end;
    if (rank >= far->domain_end) {
        xsti_group_of(timeline->domain_ranks, rank, &first, &far->domain_end);
        far->ranks = least_of(room, first, far->domain_end);
    }
    if (rank >= far->group_end) {
        xsti_group_of(timeline->group_ranks, rank, &first, &end);
        far->group_end = end;
        far->nics = least_of(nic, first / timeline->domain_ranks, end / timeline->domain_ranks);
    }
}

static double even_room(const struct xsti_timeline *timeline, int64_t rank, const double *nic_near,
                        const struct far_ends *far)
{
    const int64_t domain = domain_of(timeline, rank);
    const double inside = without(&far->ranks, rank);
    return crosses(timeline) ? fmin(inside, fmin(nic_near[domain], without(&far->nics, domain))) : inside;
}

static double part_room(const struct xsti_timeline *timeline, int64_t rank, int64_t peer, const double *far,
                        const double *nic_near, const double *nic_far)
{
    const int64_t own = domain_of(timeline, rank), other = domain_of(timeline, peer);
    return own == other ? far[peer] : fmin(nic_near[own], nic_far[other]);
}

static double store_room(const struct xsti_timeline *timeline, int64_t r, const struct far_ends *in)
{
    const struct xsti_rank *const rank = &timeline->ranks[r];
    double room = timeline->room_out[r];
    if (!rank->to || rank->even_weight > 1e-9 * rank->weight)
        room = fmin(room, even_room(timeline, r, timeline->nic_out, in));
    if (rank->to && rank->weight > 0)
        for (int64_t d = 0; d < timeline->config->ranks; d++)
            if (rank->to[d] > 1e-9 * rank->weight)
                room = fmin(room, part_room(timeline, r, d, timeline->room_in, timeline->nic_out, timeline->nic_in));
    return room;
}

static double pull_room(const struct xsti_timeline *timeline, int64_t r, const struct far_ends *out)
{
    const struct xsti_rank *const rank = &timeline->ranks[r];
    double room = timeline->room_in[r];
    if (rank->pull.mix < 0)
        return fmin(room, even_room(timeline, r, timeline->nic_in, out));
    const struct xst_mix *const share = &timeline->config->mixes[rank->pull.mix];
    for (int64_t i = 0; i < share->count; i++)
        if (share->frac[i] > 0)
            room = fmin(room, part_room(timeline, r, share->ranks[i], timeline->room_out, timeline->nic_in,
                                        timeline->nic_out));
    return room;
}

/* Scales every stream by the room of its tightest way; `grow`: up as well, to at most what it wants. */
static void scale(struct xsti_timeline *timeline, int grow)
{
    struct far_ends in = {0}, out = {0};
    sum_rooms(timeline);
    for (int64_t r = 0; r < timeline->config->ranks; r++) {
        const double most = grow ? INFINITY : 1;
        if (timeline->store[r] > 0) {
            look_far(timeline, r, timeline->room_in, timeline->nic_in, &in);
            timeline->store[r] =
                fmin(timeline->store[r] * fmin(store_room(timeline, r, &in), most), timeline->store_want[r]);
        }
        if (timeline->pull[r] > 0) {
            look_far(timeline, r, timeline->room_out, timeline->nic_out, &out);
            timeline->pull[r] =
                fmin(timeline->pull[r] * fmin(pull_room(timeline, r, &out), most), timeline->pull_want[r]);
        }
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
    for (int64_t n = 0; n < timeline->domains; n++)
        timeline->nic_limit_out[n] = timeline->nic_limit_in[n] = timeline->config->scale_out.nic_bytes_per_us;
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
static void settle_pulls(struct xsti_timeline *timeline, double out, double in, double nic)
{
    const int64_t ranks = timeline->config->ranks;
    for (int64_t r = 0; r < ranks; r++) {
        look_back(timeline, &timeline->ranks[r]);
        timeline->store[r] = timeline->ranks[r].store_demand;
        timeline->pull[r] = 0;
    }
    sum_loads(timeline);
    for (int64_t n = 0; n < timeline->domains; n++) {
        timeline->nic_limit_out[n] = nic - fmin(timeline->nic_out[n], nic / 2);
        timeline->nic_limit_in[n] = nic - fmin(timeline->nic_in[n], nic / 2);
    }
    for (int64_t r = 0; r < ranks; r++) {
        timeline->limit_out[r] = out - fmin(fmax(timeline->load_out[r], 0), out / 2);
        timeline->limit_in[r] = in - fmin(fmax(timeline->load_in[r], 0), in / 2);
        timeline->store[r] = timeline->store_want[r] = 0;
        timeline->pull[r] = timeline->pull_want[r] = timeline->ranks[r].pull_state == XSTI_PULL_RUN ? in : 0;
    }
    fit(timeline);
    sum_loads(timeline);
}

/* What pulls leave of a way, half of it at least. */
static double left_of(double limit, double load)
{
    return fmax(limit - fmax(load, 0), limit / 2);
}

/* Rates for a step, in which ranks start and stop storing. While a rank stores it gets what pulls leave of its way out, half of
 * it at least: over time that is what sharing at every moment gives, since pulls were left the rest. Where a destination or
 * an interface is asked for more than it has, all who send there slow down. */
static void settle_step(struct xsti_timeline *timeline)
{
    const struct xst_timeline_machine *const machine = &timeline->config->machine;
    const double out = machine->drain_bytes_per_us, in = machine->ingress_bytes_per_us;
    const double nic = timeline->config->scale_out.nic_bytes_per_us;
    const int64_t ranks = timeline->config->ranks;
    struct far_ends far = {0};
    settle_pulls(timeline, out, in, nic);
    for (int64_t r = 0; r < ranks; r++) {
        struct xsti_rank *const rank = &timeline->ranks[r];
        rank->pull_rate = timeline->pull[r];
        rank->store_rate = left_of(out, timeline->load_out[r]);
        timeline->limit_in[r] = left_of(in, timeline->load_in[r]);
        timeline->store[r] = rank->store_busy * rank->store_rate;
    }
    for (int64_t n = 0; n < timeline->domains; n++) {
        timeline->nic_limit_out[n] = left_of(nic, timeline->nic_out[n]);
        timeline->nic_limit_in[n] = left_of(nic, timeline->nic_in[n]);
    }
    memset(timeline->pull, 0, (size_t)ranks * sizeof *timeline->pull);
    sum_loads(timeline);
    for (int64_t r = 0; r < ranks; r++) {
        timeline->room_in[r] = fmin(room_of(timeline->limit_in[r], timeline->load_in[r]), 1);
        timeline->room_out[r] = 1;
    }
    for (int64_t n = 0; n < timeline->domains; n++) {
        timeline->nic_out[n] = fmin(room_of(timeline->nic_limit_out[n], timeline->nic_out[n]), 1);
        timeline->nic_in[n] = fmin(room_of(timeline->nic_limit_in[n], timeline->nic_in[n]), 1);
    }
    for (int64_t r = 0; r < ranks; r++) {
        look_far(timeline, r, timeline->room_in, timeline->nic_in, &far);
        timeline->ranks[r].store_rate *= fmin(store_room(timeline, r, &far), 1);
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
