/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for what when nobody can go on; and the sums.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "timeline/engine.h"

int64_t xsti_timeline_events(const struct xsti_timeline *timeline)
{
    int64_t events = 0;
    for (int64_t r = 0; r < timeline->config->ranks; r++)
        events += timeline->ranks[r].events;
    return events;
}

static void describe(const struct xst_timeline_config *config, int64_t rank, const struct xst_tile *tile, char *text,
                     size_t bytes)
{
    if (config->describe)
        config->describe(config->context, rank, tile, text, bytes);
    else
        snprintf(text, bytes, "tile %lld", (long long)tile->id);
}

static void name_counter(const struct xst_timeline_config *config, int64_t rank, int64_t counter, char *text,
                         size_t bytes)
{
    if (config->counter_name)
        config->counter_name(config->context, rank, counter, text, bytes);
    else
        snprintf(text, bytes, "counter %lld", (long long)counter);
}

enum xst_status xsti_say_waiting(const struct xsti_timeline *timeline, const struct xsti_rank *rank,
                                 struct xst_diag *diag)
{
    const struct xst_timeline_config *const config = timeline->config;
    char tile[160], counter[160];
    int64_t waiting = 0;
    const struct xsti_sm *first = NULL;
    for (int64_t i = 0; i < config->sms; i++) {
        const struct xsti_sm *const sm = &rank->sms[i];
        waiting += sm->state == XSTI_SM_WAIT;
        if (sm->state == XSTI_SM_WAIT && (!first || sm->tile.id < first->tile.id))
            first = sm;
    }
    if (first) {
        const int64_t which = first->tile.need_counter[first->need];
        describe(config, rank->index, &first->tile, tile, sizeof tile);
        name_counter(config, rank->index, which, counter, sizeof counter);
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "no progress after %g us: rank %lld, SM %lld: %s waits for %s: %lld of %lld; %lld of %lld SMs "
                         "wait",
                         rank->now_us, (long long)rank->index, (long long)(first - rank->sms), tile, counter,
                         (long long)rank->counters[which].value, (long long)first->tile.need_value[first->need],
                         (long long)waiting, (long long)config->sms);
    }
    if (rank->pull_state == XSTI_PULL_WAIT) {
        name_counter(config, rank->index, rank->pull.need_counter, counter, sizeof counter);
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "no progress after %g us: rank %lld: piece %lld of the pull waits for %s: "
                         "%lld of %lld",
                         rank->now_us, (long long)rank->index, (long long)(rank->pull_index - 1), counter,
                         (long long)rank->counters[rank->pull.need_counter].value, (long long)rank->pull.need_value);
    }
    return xsti_fail(diag, XST_ERR_TIMEOUT, "no progress after %g us: rank %lld is not done", rank->now_us,
                     (long long)rank->index);
}

static void sum_rank(const struct xst_timeline_config *config, struct xsti_rank *rank)
{
    struct xst_rank_account *const account = &rank->account;
    const double sms = (double)config->sms;
    double empty_us = 0;
    for (int64_t i = 0; i < config->sms; i++) {
        const struct xsti_sm *const sm = &rank->sms[i];
        account->math.busy_us += (sm->work_us + sm->own_floor_us) / sms;
        account->math.stall_us += (sm->slot_us + sm->own_stall_us) / sms;
        account->math.wait_us += sm->wait_us / sms;
        if (config->issuer == XST_ISSUER_ROLE || config->machine.method == XST_METHOD_BULK) {
            account->store.busy_us += sm->store_floor_us / sms;
            account->store.stall_us += sm->store_stall_us / sms;
        }
        account->end_us = fmax(account->end_us, sm->end_us);
        empty_us = fmax(empty_us, sm->empty_us);
    }
    account->pull.busy_us = rank->pull_busy_us;
    account->pull.wait_us = rank->pull_wait_us;
    account->pulled_bytes = rank->pulled;
    account->visible_us =
        fmax(account->end_us, account->sent_bytes > 0 ? empty_us + config->machine.visible_us : account->end_us);
    account->issue_us = account->bursts ? rank->issue_sum_us / (double)account->bursts : 0;
}

static void count_received(const struct xsti_timeline *timeline, struct xst_rank_account *accounts)
{
    const int64_t ranks = timeline->config->ranks;
    int64_t first, end;
    for (int64_t r = 0; r < ranks; r++) {
        const struct xsti_rank *const rank = &timeline->ranks[r];
        xsti_group_of(timeline->group_ranks, r, &first, &end);
        for (int64_t d = first; d < end; d++)
            if (d != r)
                accounts[d].received_bytes += rank->sent_even / (double)(end - first - 1);
        for (int64_t d = 0; rank->sent_to && d < ranks; d++)
            accounts[d].received_bytes += rank->sent_to[d];
    }
}

enum xst_status xsti_sum_up(struct xsti_timeline *timeline, const struct xsti_recorder *recorder,
                            struct xst_timeline_result *result, struct xst_diag *diag)
{
    const struct xst_timeline_config *const config = timeline->config;
    double issue_us = 0;
    *result = (struct xst_timeline_result){.free_us = -1,
                                           .rank_count = config->ranks,
                                           .events = xsti_timeline_events(timeline)};
    result->ranks = calloc((uint32_t)config->ranks, sizeof *result->ranks);
    if (!result->ranks)
        return xsti_fail_memory(diag);
    for (int64_t r = 0; r < config->ranks; r++) {
        sum_rank(config, &timeline->ranks[r]);
        result->ranks[r] = timeline->ranks[r].account;
    }
    count_received(timeline, result->ranks);
    for (int64_t r = 0; r < config->ranks; r++) {
        const struct xst_rank_account *const account = &result->ranks[r];
        result->makespan_us = fmax(result->makespan_us, account->visible_us);
        result->sender_us = fmax(result->sender_us, account->end_us);
        result->sent_bytes += account->sent_bytes;
        result->received_bytes += account->received_bytes;
        result->pulled_bytes += account->pulled_bytes;
        result->tiles += account->tiles;
        result->bursts += account->bursts;
        issue_us += timeline->ranks[r].issue_sum_us;
        result->issue_max_us = fmax(result->issue_max_us, account->issue_max_us);
        result->backlog_peak_bytes = fmax(result->backlog_peak_bytes, account->backlog_peak_bytes);
        for (int i = 0; i < XST_TIMELINE_PARTS; i++)
            result->waited[i] += account->waited[i];
    }
    result->issue_us = result->bursts ? issue_us / (double)result->bursts : 0;
    result->series = recorder->points;
    result->series_count = recorder->count;
    return XST_OK;
}

void xst_timeline_result_free(struct xst_timeline_result *result)
{
    free(result->ranks);
    free(result->series);
    result->ranks = NULL;
    result->series = NULL;
}
