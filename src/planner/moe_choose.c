/* SPDX-License-Identifier: Apache-2.0
 *
 * One layer's schedule from its routing counts, within a step's time budget: no allocation, a bounded number of
 * list runs.
 *
 * predicted = compute   work / CTAs
 *           + starve    makespan of the list - work / CTAs; long interleaved calls shortened
 *           + issue     floors and waits for the path: rounds of the grid through the fluid of moe_fluid.h
 *           + pull      waits for rows still pulled, by the same fluid
 *           + locality  activations beyond the L2, read again
 *           + weights   read slower than used
 *           + tail      backlog left at the end, and the fence
 */
#include <math.h>
#include <string.h>

#include <xstage/plan.h>

#include "base/diag.h"
#include "planner/moe_layer.h"
#include "planner/moe_list.h"

enum { MOST_LEADS = 7, MOST_GROUPS = 3, WAVE_TILES = 8192, SETTLED_ROUNDS = 3 };

static enum xst_status count(const struct xst_moe_setup *setup, struct xsti_moe_layer *layer, struct xst_diag *diag)
{
    const int64_t most = setup->shape.ranks * setup->shape.tokens;
    for (int64_t e = 0; e < layer->experts; e++) {
        const int64_t rows = layer->rows_per_expert[e];
        if (rows < 0 || rows > most)
            return xsti_fail(diag, XST_ERR_RANGE, "expert %lld has %lld rows, outside 0..%lld (every token once)",
                             (long long)e, (long long)rows, (long long)most);
        layer->rows += rows;
        layer->fetched_rows += (double)rows * (setup->once ? xst_moe_first_frac(&setup->shape, e) : 1);
        layer->blocks += xsti_moe_blocks(setup, rows);
    }
    if (layer->rows > most * setup->shape.topk)
        return xsti_fail(diag, XST_ERR_RANGE, "%lld rows in all, more than topk of every token (%lld)",
                         (long long)layer->rows, (long long)(most * setup->shape.topk));
    const double operand_bytes = xst_moe_operand_bytes(&setup->shape, setup->operand_bytes);
    layer->l1_tiles = layer->blocks * setup->l1_per_block;
    layer->l2_tiles = layer->blocks * setup->l2_per_block;
    layer->producers = (double)setup->plan.producers;
    layer->act_bytes = (double)setup->plan.tile_rows * (double)setup->plan.tile_cols / 2 * operand_bytes;
    layer->weight_bytes =
        3.0 * (double)setup->shape.hidden * (double)setup->shape.inter *
        (setup->operand_bytes > 0 ? (double)setup->operand_bytes : operand_bytes); /* scales: a block of 128 x 128 */
    return XST_OK;
}

/* A wave: the fewest experts with two Linear-1 tiles per CTA; what is left joins the last one. wave_blocks > 0:
 * experts are cut where a wave would have more blocks than that. Returns the blocks of the largest wave. */
static int64_t make_waves(struct xsti_moe_layer *layer, int64_t wave_blocks)
{
    const struct xst_moe_setup *const setup = layer->setup;
    int64_t done = 0, in_wave = 0, largest = 0;
    layer->waves = 0;
    for (int64_t e = 0; e < layer->experts; e++) {
        for (int64_t left = xsti_moe_blocks(setup, layer->rows_per_expert[e]); left > 0;) {
            const int64_t room = wave_blocks > 0 ? wave_blocks - in_wave : left, taken = left < room ? left : room;
            in_wave += taken;
            done += taken;
            left -= taken;
            largest = in_wave > largest ? in_wave : largest;
            if (in_wave == wave_blocks || (left == 0 && in_wave * setup->l1_per_block >= 2 * setup->plan.producers)) {
                layer->wave_ends[layer->waves++] = done;
                in_wave = 0;
            }
        }
    }
    if (in_wave > 0)
        layer->wave_ends[layer->waves++] = done;
    return largest;
}

static struct xsti_moe_list list_of(const struct xsti_moe_layer *layer)
{
    const struct xst_moe_setup *const setup = layer->setup;
    return (struct xsti_moe_list){.blocks = layer->blocks,
                                  .l1_per_block = setup->l1_per_block,
                                  .l2_per_block = setup->l2_per_block,
                                  .producers = setup->plan.producers,
                                  .l1_us = setup->l1_us,
                                  .l2_us = setup->l2_us,
                                  .act_us = setup->act_us};
}

/* What the list takes beyond work / CTAs. */
static double beyond_work_us(const struct xsti_moe_list *list, const struct xsti_moe_run *run)
{
    const double work_us = ((double)(list->blocks * list->l1_per_block) * list->l1_us +
                            (double)(list->blocks * list->l2_per_block) * list->l2_us) /
                           (double)list->producers;
    return fmax(run->makespan_us - work_us, 0);
}

/* Whole waves up to a budget of tiles; the others wait as those did, and end once. */
static double starve_wave(const struct xsti_moe_layer *layer)
{
    struct xsti_moe_list list = list_of(layer);
    const int64_t most = WAVE_TILES / (list.l1_per_block + list.l2_per_block);
    list.wave_ends = layer->wave_ends;
    list.wave_count = layer->waves;
    while (list.wave_count > 1 && layer->wave_ends[list.wave_count - 1] > most)
        list.wave_count--;
    if (list.wave_count == 0)
        return 0;
    list.blocks = layer->wave_ends[list.wave_count - 1];
    const struct xsti_moe_run run = xsti_moe_list_run(&list, layer->list_workspace);
    const double more = (double)layer->waves / (double)list.wave_count - 1;
    return beyond_work_us(&list, &run) + more * run.wait_us / layer->producers;
}

/* Start-up and tail of a long call are those of a shorter one, and in between every tile waits as it does there; a
 * lead of everything stays a lead of everything. */
static double starve_interleaved(const struct xsti_moe_layer *layer, int64_t lead, int64_t group)
{
    struct xsti_moe_list list = list_of(layer);
    const int all = lead >= layer->l1_tiles;
    const int fed = layer->setup->lead_startup > 0 && lead >= layer->setup->lead_startup;
    const int64_t rounds = fed ? 1 : SETTLED_ROUNDS;
    const int64_t settle = (rounds * list.producers + 2 * group) / list.l2_per_block + 1;
    list.lead_tiles = lead;
    list.group_tiles = group;
    list.blocks = xsti_moe_list_shorten(&list, settle + (all ? 0 : lead / list.l1_per_block + 1));
    if (all)
        list.lead_tiles = list.blocks * list.l1_per_block;
    const struct xsti_moe_run run = xsti_moe_list_run(&list, layer->list_workspace);
    const double left = (double)((layer->blocks - list.blocks) * list.l2_per_block);
    const double each_us = run.steady_tiles > 0 ? run.steady_wait_us / (double)run.steady_tiles : 0;
    return beyond_work_us(&list, &run) + left * each_us / layer->producers;
}

/* Leads worth a look, rising and not too close, for turns of one tile; larger turns shift them. */
static int64_t leads_of(const struct xsti_moe_layer *layer, double drain_bytes_per_us, int64_t leads[MOST_LEADS])
{
    static const double near = 1.05;
    const struct xst_moe_setup *const setup = layer->setup;
    const double remote = (double)(setup->shape.ranks - 1) / (double)setup->shape.ranks;
    const double pull_us = remote * layer->fetched_rows * (double)setup->shape.hidden *
                           xst_moe_operand_bytes(&setup->shape, setup->operand_bytes) / fmax(drain_bytes_per_us, 1);
    const double pull_tiles = fmin(ceil(pull_us * layer->producers / setup->l1_us), (double)layer->l1_tiles);
    const int64_t wanted[MOST_LEADS] = {setup->l1_per_block, setup->lead_knee,    setup->lead_startup, setup->lead_tail,
                                        setup->lead_first,   (int64_t)pull_tiles, layer->l1_tiles};
    int64_t used = 0;
    for (int i = 0; i < MOST_LEADS; i++) {
        int64_t lead = wanted[i] < layer->l1_tiles ? wanted[i] : layer->l1_tiles, at = used;
        if (lead < setup->l1_per_block)
            continue;
        while (at > 0 && leads[at - 1] > lead)
            at--;
        if (at > 0 && (double)lead < near * (double)leads[at - 1])
            continue;
        memmove(&leads[at + 1], &leads[at], (size_t)(used - at) * sizeof *leads);
        leads[at] = lead;
        used++;
    }
    return used;
}

static int64_t groups_of(const struct xsti_moe_layer *layer, int64_t groups[MOST_GROUPS])
{
    const int64_t n2 = layer->setup->l2_per_block, wanted[MOST_GROUPS] = {1, n2, 8 * n2};
    int64_t used = 0;
    for (int i = 0; i < MOST_GROUPS; i++) {
        if (wanted[i] <= layer->l2_tiles && (used == 0 || groups[used - 1] < wanted[i]))
            groups[used++] = wanted[i];
    }
    return used;
}

static void add(const struct xsti_moe_layer *layer, const struct xsti_moe_flow flows[3],
                const struct xst_moe_candidate *settings, struct xst_moe_choice *choice)
{
    for (int method = 0; method < 3; method++) {
        if (!layer->setup->paths[method] || choice->count == XST_MOE_MOST_CANDIDATES)
            continue;
        struct xst_moe_candidate *const candidate = &choice->candidates[choice->count];
        *candidate = *settings;
        candidate->method = (enum xst_method)method;
        xsti_moe_predict(layer, &flows[method], candidate);
        if (candidate->gap == XST_MOE_GAP_NONE &&
            (choice->chosen < 0 || candidate->predicted_us < choice->candidates[choice->chosen].predicted_us))
            choice->chosen = choice->count;
        choice->count++;
    }
}

/* Waves of whole experts, then cut to what the L2 holds, then as small as fills the grid twice; only those that
 * differ. */
static void add_waves(struct xsti_moe_layer *layer, const struct xsti_moe_flow flows[3], struct xst_moe_choice *choice)
{
    const struct xst_moe_setup *const setup = layer->setup;
    const double kept = floor(setup->l2_bytes / (layer->act_bytes * (double)setup->l1_per_block));
    const int64_t filled = (2 * setup->plan.producers + setup->l1_per_block - 1) / setup->l1_per_block;
    const int64_t held = kept < (double)filled ? filled : kept > 1e9 ? INT64_MAX : (int64_t)kept;
    const int64_t limits[3] = {0, held, filled};
    int64_t largest = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && limits[i] >= largest)
            continue;
        largest = make_waves(layer, limits[i]);
        struct xst_moe_candidate settings = {.schedule = XST_SCHEDULE_WAVE, .waves = layer->waves};
        settings.wave_blocks = limits[i];
        settings.starve_us = starve_wave(layer);
        add(layer, flows, &settings, choice);
    }
}

static void add_all(struct xsti_moe_layer *layer, struct xst_moe_choice *choice)
{
    struct xsti_moe_flow flows[3] = {{.gap = XST_MOE_GAP_DRAIN},
                                     {.gap = XST_MOE_GAP_DRAIN},
                                     {.gap = XST_MOE_GAP_DRAIN}};
    int64_t leads[MOST_LEADS], groups[MOST_GROUPS];
    double drain = 0;
    for (int method = 0; method < 3; method++) {
        if (!layer->setup->paths[method])
            continue;
        flows[method] = xsti_moe_flow_of(layer, (enum xst_method)method);
        drain = drain > 0 ? drain : flows[method].stage.drain_bytes_per_us;
    }
    add_waves(layer, flows, choice);
    if (layer->blocks == 0)
        return;
    const int64_t lead_count = leads_of(layer, drain, leads), group_count = groups_of(layer, groups);
    for (int64_t i = 0; i < lead_count; i++) {
        for (int64_t j = 0; j < group_count; j++) {
            const int64_t shift =
                xsti_plan_least_lead(layer->setup->l1_per_block, layer->setup->l2_per_block, groups[j]) -
                layer->setup->l1_per_block;
            if (j > 0 && leads[i] + shift > layer->l1_tiles)
                continue;
            struct xst_moe_candidate settings = {.schedule = XST_SCHEDULE_INTERLEAVED,
                                                 .lead_tiles = leads[i] + shift,
                                                 .group_tiles = groups[j]};
            settings.starve_us = starve_interleaved(layer, settings.lead_tiles, groups[j]);
            add(layer, flows, &settings, choice);
        }
    }
}

size_t xst_moe_workspace_bytes(const struct xst_moe_setup *setup)
{
    return xsti_moe_list_bytes(setup->most_blocks, setup->plan.producers) +
           (size_t)setup->most_blocks * sizeof(int64_t);
}

enum xst_status xst_moe_choose(const struct xst_moe_setup *setup, const int64_t *rows_per_expert, int64_t experts,
                               void *workspace, size_t workspace_bytes, struct xst_moe_choice *choice_out,
                               struct xst_diag *diag)
{
    struct xsti_moe_layer layer = {.setup = setup, .rows_per_expert = rows_per_expert, .experts = experts};
    if (experts < 1 || experts > setup->shape.experts)
        return xsti_fail(diag, XST_ERR_RANGE, "counts of %lld experts, outside 1..%lld", (long long)experts,
                         (long long)setup->shape.experts);
    if (workspace_bytes < xst_moe_workspace_bytes(setup))
        return xsti_fail(diag, XST_ERR_RANGE, "the workspace has %zu bytes, %zu are needed", workspace_bytes,
                         xst_moe_workspace_bytes(setup));
    layer.list_workspace = workspace;
    layer.wave_ends = (int64_t *)((char *)workspace + xsti_moe_list_bytes(setup->most_blocks, setup->plan.producers));
    XSTI_TRY(count(setup, &layer, diag));
    choice_out->rows = layer.rows;
    choice_out->blocks = layer.blocks;
    choice_out->l1_tiles = layer.l1_tiles;
    choice_out->l2_tiles = layer.l2_tiles;
    choice_out->count = 0;
    choice_out->chosen = -1;
    add_all(&layer, choice_out);
    return XST_OK;
}
