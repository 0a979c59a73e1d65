/* SPDX-License-Identifier: Apache-2.0
 *
 * Who has which tokens and which experts they choose: from rows per expert to ids, nothing drawn but the order.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/whole.h"
#include "moe/bench_state.h"
#include "moe/params.h"

static uint64_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32;
}

static void shuffle(int64_t *values, int64_t count, uint64_t *state)
{
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)(next_bits(state) % (uint64_t)(i + 1)), value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

double xsti_moe_bench_row_bytes(const struct xst_moe_bench *request)
{
    return (double)request->hidden * (request->dtype == XST_MOE_E4M3 ? 1 + 4.0 / XSTI_MOE_SCALED : 2);
}

static struct xst_moe_shape shape_of(const struct xst_moe_bench *request)
{
    return (struct xst_moe_shape){.hidden = request->hidden,
                                  .inter = request->inter,
                                  .experts = request->experts,
                                  .topk = request->topk,
                                  .tokens = request->tokens,
                                  .ranks = request->ranks,
                                  .element_bytes = 2};
}

enum xst_status xst_moe_bench_counts(const struct xst_moe_bench *bench, int64_t *counts_out, struct xst_diag *diag)
{
    const struct xst_moe_shape shape = shape_of(bench);
    return xst_routing_make(bench->routing, bench->skew, &shape, counts_out, diag);
}

static int chooses(const int64_t *choices, int64_t topk, int64_t expert)
{
    for (int64_t s = 0; s < topk; s++)
        if (choices[s] == expert)
            return 1;
    return 0;
}

/* Tokens exchange choices at random, where neither meets an expert twice by it. */
static void mix(int64_t *ids, int64_t tokens, int64_t topk, uint64_t *state)
{
    const uint64_t count = (uint64_t)(tokens * topk);
    for (uint64_t i = 0; i < 2 * count; i++) {
        int64_t *const a = &ids[i % count], *const b = &ids[next_bits(state) % count], expert = *a;
        const int64_t *const a_token = ids + (a - ids) / topk * topk, *const b_token = ids + (b - ids) / topk * topk;
        if (*a < 0 || *b < 0 || chooses(a_token, topk, *b) || chooses(b_token, topk, *a))
            continue;
        *a = *b;
        *b = expert;
    }
}

/* ids (tokens, topk) with counts[e] rows of expert e. Experts are laid out one after the other, column by column of the table:
 * one with no more rows than there are tokens meets every token at most once. Tokens and choices are then shuffled. */
static int64_t *make_ids(const int64_t *counts, int64_t experts, int64_t tokens, int64_t topk, uint64_t seed)
{
    int64_t *const ids = calloc((size_t)(tokens * topk + 1), sizeof *ids);
    int64_t *const place = calloc((size_t)(tokens + 1), sizeof *place);
    if (!ids || !place) {
        free(ids);
        free(place);
        return NULL;
    }
    for (int64_t t = 0; t < tokens; t++)
        place[t] = t;
    shuffle(place, tokens, &seed);
    for (int64_t i = 0; i < tokens * topk; i++)
        ids[i] = -1;
    int64_t at = 0;
    for (int64_t e = 0; e < experts; e++)
        for (int64_t row = 0; row < counts[e]; row++, at++) {
            assert(at < tokens * topk);
            ids[place[at % tokens] * topk + at / tokens] = e;
        }
    mix(ids, tokens, topk, &seed);
    for (int64_t t = 0; t < tokens; t++)
        shuffle(ids + t * topk, topk, &seed);
    free(place);
    return ids;
}

static float *make_weights(int64_t count, uint64_t seed)
{
    float *const weights = malloc((size_t)(count + 1) * sizeof *weights);
    for (int64_t i = 0; weights && i < count; i++)
        weights[i] = 0.05f + (float)(next_bits(&seed) % 1000) / 2000;
    return weights;
}

/* Tokens of `group` are set: their choices, so that expert e of the group's gets counts[e] rows. */
static enum xst_status fill_group(const struct xsti_moe_bench_state *b, struct xsti_moe_bench_group *group,
                                  const int64_t *counts, struct xst_diag *diag)
{
    const struct xst_moe_layer *const layer = &group->layer;
    int64_t tokens = 0;
    /* Before anything is made of them: hot experts bring more tokens than a buffer may hold. */
    XSTI_TRY(xst_moe_layout(layer, &group->at, diag));
    for (int64_t r = 0; r < layer->ranks; r++) {
        group->first_token[r] = tokens;
        tokens += group->tokens[r];
    }
    group->ids[0] = make_ids(counts, layer->experts, tokens, layer->topk, b->request->seed);
    group->weights[0] = make_weights(tokens * layer->topk, b->request->seed + 1);
    if (!group->ids[0] || !group->weights[0])
        return xsti_fail_memory(diag);
    for (int64_t r = 1; r < layer->ranks; r++) {
        group->ids[r] = group->ids[0] + group->first_token[r] * layer->topk;
        group->weights[r] = group->weights[0] + group->first_token[r] * layer->topk;
    }
    return XST_OK;
}

static void experts_of(const struct xst_moe_bench *request, int64_t rank, int64_t *first_out, int64_t *count_out)
{
    const struct xst_moe_shape shape = shape_of(request);
    int64_t end;
    xst_moe_experts_of(&shape, rank, first_out, &end);
    *count_out = end - *first_out;
}

static int64_t sum_of(const int64_t *counts, int64_t first, int64_t count)
{
    int64_t rows = 0;
    for (int64_t e = first; e < first + count; e++)
        rows += counts[e];
    return rows;
}

static struct xst_moe_layer layer_of(const struct xst_moe_bench *request, int64_t experts, int64_t tokens_most,
                                     int64_t ranks)
{
    return (struct xst_moe_layer){.hidden = request->hidden,
                                  .inter = request->inter,
                                  .experts = experts,
                                  .topk = request->topk,
                                  .tokens_most = tokens_most,
                                  .ranks = ranks,
                                  .ctas = request->ctas > 0 ? request->ctas : 1,
                                  .dtype = request->dtype,
                                  .ring = request->ring};
}

/* All rows of rank `rank` its own. */
static enum xst_status plan_one_rank(struct xsti_moe_bench_state *b, struct xsti_moe_bench_group *group, int64_t rank,
                                     struct xst_diag *diag)
{
    int64_t first, experts;
    experts_of(b->request, rank, &first, &experts);
    const int64_t tokens = xsti_ceil_div(sum_of(b->counts, first, experts), b->request->topk);
    group->layer = layer_of(b->request, experts, tokens > 0 ? tokens : 1, 1);
    group->active = 1;
    group->first_expert[0] = first;
    group->tokens[0] = tokens;
    return fill_group(b, group, b->counts + first, diag);
}

/* Rank 0's rows, a share of which belongs to tokens of an absent rank 1 with as many experts nobody chooses. */
static enum xst_status plan_host(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    struct xsti_moe_bench_group *const group = &b->main;
    int64_t first, experts;
    experts_of(b->request, 0, &first, &experts);
    const int64_t tokens = xsti_ceil_div(sum_of(b->counts, 0, experts), b->request->topk);
    const int64_t away = (int64_t)((double)tokens * b->request->remote_frac + 0.5);
    group->layer = layer_of(b->request, 2 * experts, tokens > 0 ? tokens : 1, 2);
    group->active = 1;
    group->tokens[0] = tokens - away;
    group->tokens[1] = away;
    int64_t *const counts = calloc((size_t)(2 * experts), sizeof *counts);
    if (!counts)
        return xsti_fail_memory(diag);
    memcpy(counts, b->counts, (size_t)experts * sizeof *counts);
    const enum xst_status status = fill_group(b, group, counts, diag);
    free(counts);
    return status;
}

static enum xst_status plan_peer(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    struct xsti_moe_bench_group *const group = &b->main;
    const struct xst_moe_bench *const request = b->request;
    group->layer = layer_of(request, request->experts, request->tokens, request->ranks);
    group->active = request->ranks;
    for (int64_t r = 0; r < request->ranks; r++) {
        int64_t experts;
        experts_of(request, r, &group->first_expert[r], &experts);
        group->tokens[r] = request->tokens;
    }
    return fill_group(b, group, b->counts, diag);
}

/* Tokens of rank `from` fetched for experts first .. end - 1 of the group, each for every choice or once. */
static int64_t fetched_rows(const struct xsti_moe_bench_group *group, int64_t from, int64_t first, int64_t end,
                            int once)
{
    const int64_t topk = group->layer.topk;
    int64_t rows = 0;
    for (int64_t t = 0; t < group->tokens[from]; t++) {
        int64_t chosen = 0;
        for (int64_t s = 0; s < topk; s++) {
            const int64_t id = group->ids[from][t * topk + s];
            chosen += id >= first && id < end;
        }
        rows += once && chosen > 1 ? 1 : chosen;
    }
    return rows;
}

int64_t xsti_moe_bench_sent_rows(const struct xsti_moe_bench_state *b, int64_t rank)
{
    const struct xsti_moe_bench_group *const group = &b->main;
    int64_t first, experts, sent = 0;
    experts_of(b->request, rank, &first, &experts);
    for (int64_t r = 0; r < group->layer.ranks; r++)
        sent += r != rank ? fetched_rows(group, r, first, first + experts, 0) : 0;
    return sent;
}

double xsti_moe_bench_remote_bytes(const struct xsti_moe_bench_state *b, int once)
{
    const struct xsti_moe_bench_group *const group = &b->main;
    int64_t first, experts, fetched = 0;
    experts_of(b->request, 0, &first, &experts);
    for (int64_t r = 1; r < group->active; r++) {
        experts_of(b->request, r, &first, &experts);
        fetched += fetched_rows(group, 0, first, first + experts, once);
    }
    return (double)xsti_moe_bench_sent_rows(b, 0) * (double)group->layer.hidden * 2 +
           (double)fetched * xsti_moe_bench_row_bytes(b->request);
}

double xsti_moe_bench_pulled_bytes(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                   int once)
{
    int64_t first, experts, rows = 0;
    experts_of(b->request, 0, &first, &experts);
    for (int64_t r = 0; r < group->layer.ranks; r++)
        rows += fetched_rows(group, r, 0, experts, once);
    return (double)rows * xsti_moe_bench_row_bytes(b->request);
}

static int wants(const struct xsti_moe_bench_state *b, enum xst_moe_form form)
{
    for (size_t i = 0; i < b->entry_count; i++)
        if (b->entries[i].form == form)
            return 1;
    return 0;
}

enum xst_status xsti_moe_bench_plan(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    const struct xst_moe_bench *const request = b->request;
    b->devices = request->target == XST_TARGET_PEER ? request->ranks : 1;
    b->has_alone = wants(b, XST_MOE_FORM_ALONE);
    b->counts = calloc((size_t)request->experts, sizeof *b->counts);
    if (!b->counts)
        return xsti_fail_memory(diag);
    XSTI_TRY(xst_moe_bench_counts(request, b->counts, diag));
    if (request->target == XST_TARGET_PEER)
        XSTI_TRY(plan_peer(b, diag));
    else if (request->target == XST_TARGET_HOST)
        XSTI_TRY(plan_host(b, diag));
    else
        XSTI_TRY(plan_one_rank(b, &b->main, 0, diag));
    for (int64_t r = 0; b->has_alone && r < b->devices; r++) {
        b->alone[r].first_device = (int)r;
        XSTI_TRY(plan_one_rank(b, &b->alone[r], r, diag));
    }
    return XST_OK;
}
