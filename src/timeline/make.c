/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run needs: its ranges checked, its memory made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/sim.h>

#include "timeline/engine.h"

enum { EXACT_RANKS = 8, FINE_RANKS = 64, MOST_RANKS = 65536, MOST_SMS = 4096 };
static const double FINE_STEP_US = 1, COARSE_STEP_US = 5;

static enum xst_status range(struct xst_diag *diag, const char *field, double value, double low, double high)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "timeline: %s is %g, outside %g..%g", field, value, low, high);
}

enum xst_status xsti_timeline_check(const struct xst_timeline_config *config, struct xst_diag *diag)
{
    const struct xst_timeline_machine *const machine = &config->machine;
    XSTI_TRY(range(diag, "ranks", (double)config->ranks, 1, MOST_RANKS));
    XSTI_TRY(range(diag, "sms", (double)config->sms, 1, MOST_SMS));
    XSTI_TRY(range(diag, "staging_slots", (double)config->staging_slots, 1, 1024));
    XSTI_TRY(range(diag, "drain_bytes_per_us", machine->drain_bytes_per_us, 1e-6, 1e18));
    XSTI_TRY(range(diag, "ingress_bytes_per_us", machine->ingress_bytes_per_us, 1e-6, 1e18));
    XSTI_TRY(range(diag, "capacity_bytes", machine->capacity_bytes, 0, 1e18));
    XSTI_TRY(range(diag, "visible_us", machine->visible_us, 0, 1e9));
    XSTI_TRY(range(diag, "groups", (double)machine->groups, 0, MOST_SMS));
    XSTI_TRY(range(diag, "slices", (double)config->slices, 0, 1024));
    if (config->slices > 1 && ((machine->method != XST_METHOD_BULK && config->issuer != XST_ISSUER_ROLE) ||
                               config->coupling == XST_COUPLING_COMPLETION))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "timeline: %lld slices need bulk stores or a role of their own, and nobody who waits",
                         (long long)config->slices);
    if (config->slices > 1 && config->queue_full && config->issuer != XST_ISSUER_ROLE)
        return xsti_fail(
            diag, XST_ERR_RANGE,
            "timeline: %lld slices, but a full queue (as traced) makes the issuer wait for each; give them a "
            "role of their own",
            (long long)config->slices);
    XSTI_TRY(range(diag, "pull_hold_us", config->pull_hold_us, 0, 1e9));
    XSTI_TRY(range(diag, "prefetch_us", config->prefetch_us, 0, 1e9));
    if (config->bystanders)
        XSTI_TRY(range(diag, "free_capacity_bytes", machine->free_capacity_bytes, 0, 1e18));
    XSTI_TRY(range(diag, "out_of_step.extra_frac", config->out_of_step.extra_frac, 0, 10));
    XSTI_TRY(range(diag, "out_of_step.enter", config->out_of_step.enter, 0, 1));
    XSTI_TRY(range(diag, "out_of_step.stay", config->out_of_step.stay, 0, 1));
    XSTI_TRY(range(diag, "share_spread", machine->share_spread, 0, 10));
    XSTI_TRY(range(diag, "work_spread", config->work_spread, 0, 10));
    XSTI_TRY(range(diag, "start_skew_us", config->start_skew_us, 0, 1e12));
    XSTI_TRY(range(diag, "rate_step_us", config->rate_step_us, 0, 1e9));
    XSTI_TRY(range(diag, "post_delay_us", config->post_delay_us, 0, 1e12));
    XSTI_TRY(range(diag, "series_count", (double)config->series_count, 0, 1e7));
    XSTI_TRY(range(diag, "counters", (double)config->counters, 0, 1e9));
    if (config->group_ranks < 0 || (config->group_ranks > 0 && config->ranks % config->group_ranks != 0))
        return xsti_fail(diag, XST_ERR_RANGE, "timeline: ranks is %lld, not a multiple of group_ranks (%lld)",
                         (long long)config->ranks, (long long)config->group_ranks);
    const int64_t domain = config->scale_out.domain_ranks,
                  group = config->group_ranks ? config->group_ranks : config->ranks;
    if (domain < 0 || (domain > 0 && domain < group && group % domain != 0))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "timeline: domain_ranks is %lld; %lld ranks that exchange must be a multiple",
                         (long long)domain, (long long)group);
    if (domain > 0 && domain < group)
        XSTI_TRY(range(diag, "nic_bytes_per_us", config->scale_out.nic_bytes_per_us, 1e-6, 1e18));
    for (const struct xst_floor_curve *curve = &machine->issue_floor; curve <= &machine->accept_floor; curve++)
        for (int64_t i = 0; i < curve->count; i++)
            if (!(curve->us[i] >= 0 && isfinite(curve->us[i]) && curve->bytes[i] > (i ? curve->bytes[i - 1] : 0)))
                return xsti_fail(diag, XST_ERR_RANGE, "timeline: point %lld of a floor curve is out of order",
                                 (long long)i);
    return XST_OK;
}

static int make_queue(struct xsti_queue *queue, int64_t items)
{
    queue->item = malloc((size_t)items * sizeof *queue->item);
    queue->place = malloc((size_t)items * sizeof *queue->place);
    queue->key = calloc((size_t)items, sizeof *queue->key);
    if (queue->place)
        memset(queue->place, 0xff, (size_t)items * sizeof *queue->place);
    return queue->item && queue->place && queue->key;
}

static void free_queue(struct xsti_queue *queue)
{
    free(queue->item);
    free(queue->place);
    free(queue->key);
}

/* Which SMs share a port, port by port. */
static int make_ports(const struct xst_timeline_config *config, struct xsti_ports *ports)
{
    const int64_t count = config->machine.groups, sms = config->sms;
    ports->count = count;
    ports->port = malloc((size_t)sms * sizeof *ports->port);
    ports->first = calloc((size_t)count + 2, sizeof *ports->first);
    ports->member = malloc((size_t)sms * sizeof *ports->member);
    if (!ports->port || !ports->first || !ports->member)
        return 0;
    xst_sim_deal_groups(count, config->machine.full_sms > sms ? config->machine.full_sms : sms, sms, ports->port);
    for (int64_t i = 0; i < sms; i++)
        ports->first[ports->port[i] + 2]++;
    for (int64_t p = 0; p < count; p++)
        ports->first[p + 2] += ports->first[p + 1];
    for (int64_t i = 0; i < sms; i++) /* first[p + 1] walks from the start of port p to its end */
        ports->member[ports->first[ports->port[i] + 1]++] = (int32_t)i;
    return 1;
}

static int make_rank(const struct xst_timeline_config *config, int64_t index, struct xsti_rank *rank)
{
    const size_t sms = (size_t)config->sms, ranks = (size_t)config->ranks;
    rank->config = config;
    rank->index = index;
    rank->start_us = (double)index * config->start_skew_us;
    rank->working = (int32_t)config->sms;
    rank->sms = calloc(sms, sizeof *rank->sms);
    rank->fifos = calloc(sms * (size_t)config->staging_slots, sizeof *rank->fifos);
    rank->counters = calloc((size_t)config->counters + 1, sizeof *rank->counters);
    rank->posts_room = config->sms + 1;
    rank->posts = calloc((size_t)rank->posts_room, sizeof *rank->posts);
    int good = rank->sms && rank->fifos && rank->counters && rank->posts;
    good &= make_queue(&rank->timers, 2 * config->sms);
    good &= make_queue(&rank->tags, config->sms);
    if (config->machine.groups > 1)
        good &= (rank->port_share = calloc((size_t)config->machine.groups, sizeof *rank->port_share)) != NULL;
    if (config->mix_count > 0) {
        rank->to = calloc(ranks, sizeof *rank->to);
        rank->sent_to = calloc(ranks, sizeof *rank->sent_to);
        rank->pulled_from = calloc(ranks, sizeof *rank->pulled_from);
        good &= rank->to && rank->sent_to && rank->pulled_from;
    }
    if (!good)
        return 0;
    for (int64_t i = 0; i < config->counters; i++)
        rank->counters[i].first_waiter = -1;
    for (size_t i = 0; i < sms; i++)
        rank->sms[i].fifo = rank->fifos + i * (size_t)config->staging_slots;
    const struct xst_floor_curve *const floor = &config->machine.accept_floor;
    const int64_t last = floor->count - 1;
    rank->accept_rate = last >= 0 && floor->us[last] > 0 ? floor->bytes[last] / floor->us[last] : INFINITY;
    return 1;
}

void xsti_timeline_free(struct xsti_timeline *timeline)
{
    for (int64_t r = 0; timeline->ranks && r < timeline->config->ranks; r++) {
        struct xsti_rank *const rank = &timeline->ranks[r];
        free(rank->sms);
        free(rank->fifos);
        free(rank->counters);
        free(rank->posts);
        free_queue(&rank->timers);
        free_queue(&rank->tags);
        free(rank->port_share);
        free(rank->to);
        free(rank->sent_to);
        free(rank->pulled_from);
    }
    free(timeline->ranks);
    free(timeline->ports.port);
    free(timeline->ports.first);
    free(timeline->ports.member);
    free(timeline->load_out);
}

enum xst_status xsti_timeline_make(const struct xst_timeline_config *config, struct xsti_timeline *timeline,
                                   struct xst_diag *diag)
{
    const size_t ranks = (uint32_t)config->ranks;
    *timeline = (struct xsti_timeline){.config = config};
    timeline->group_ranks = config->group_ranks > 0 ? config->group_ranks : config->ranks;
    timeline->domain_ranks =
        config->scale_out.domain_ranks > 0 && config->scale_out.domain_ranks < timeline->group_ranks
            ? config->scale_out.domain_ranks
            : timeline->group_ranks;
    timeline->each_peer = timeline->group_ranks > 1 ? 1 / (double)(timeline->group_ranks - 1) : 0;
    timeline->domains = config->ranks / timeline->domain_ranks;
    timeline->rate_step_us = config->exact_links                   ? 0
                             : config->rate_step_us > 0            ? config->rate_step_us
                             : config->ranks <= EXACT_RANKS        ? 0
                             : timeline->group_ranks <= FINE_RANKS ? FINE_STEP_US
                                                                   : COARSE_STEP_US;
    timeline->ranks = calloc(ranks, sizeof *timeline->ranks);
    double *const by_rank = calloc(10 * ranks + 5 * (size_t)timeline->domains, sizeof *by_rank);
    timeline->load_out = by_rank;
    int good = timeline->ranks && by_rank;
    if (config->machine.groups > 1)
        good &= make_ports(config, &timeline->ports);
    for (size_t r = 0; good && r < ranks; r++) {
        const int64_t last = ((int64_t)r / timeline->group_ranks + 1) * timeline->group_ranks - 1;
        good = make_rank(config, (int64_t)r, &timeline->ranks[r]);
        timeline->ranks[r].domain = (int64_t)r / timeline->domain_ranks;
        timeline->ranks[r].ports = config->machine.groups > 1 ? &timeline->ports : NULL;
        timeline->ranks[r].pull_hold_us =
            config->pull_hold_us > 0 ? (double)last * config->start_skew_us + config->pull_hold_us : 0;
    }
    if (!good) {
        xsti_timeline_free(timeline);
        return xsti_fail_memory(diag);
    }
    double *at = by_rank;
    double **const rank_arrays[] = {&timeline->load_out,   &timeline->load_in,   &timeline->room_out,
                                    &timeline->room_in,    &timeline->store,     &timeline->pull,
                                    &timeline->store_want, &timeline->pull_want, &timeline->limit_out,
                                    &timeline->limit_in};
    double **const domain_arrays[] = {&timeline->nic_out, &timeline->nic_in, &timeline->nic_limit_out,
                                      &timeline->nic_limit_in, &timeline->even};
    for (size_t i = 0; i < sizeof rank_arrays / sizeof *rank_arrays; i++, at += ranks)
        *rank_arrays[i] = at;
    for (size_t i = 0; i < sizeof domain_arrays / sizeof *domain_arrays; i++, at += timeline->domains)
        *domain_arrays[i] = at;
    return XST_OK;
}
