/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_args.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/audit.h>
#include <xstage/plan.h>
#include <xstage/shapes.h>

#include "options.h"
#include "plan_args.h"

enum { SERIES_POINTS = 400 };

/* Which option belongs to which kernel; those not listed belong to all of them. */
static const struct {
    const char *name;
    const char *kernels;
} belongs[] = {
    {"heads", "fa-a2a"},
    {"head-dim", "fa-a2a"},
    {"seq", "fa-a2a"},
    {"batch", "fa-a2a"},
    {"as-traced", "fa-a2a"},
    {"hidden", "moe"},
    {"inter", "moe"},
    {"experts", "moe"},
    {"topk", "moe"},
    {"tokens", "moe"},
    {"counts", "moe"},
    {"routing", "moe"},
    {"skew", "moe"},
    {"schedule", "moe"},
    {"lead", "moe"},
    {"group", "moe"},
    {"ring", "moe"},
    {"unit", "moe"},
    {"no-pull", "moe"},
    {"dedup", "moe"},
    {"dtype", "moe"},
    {"tiles-only", "moe"},
    {"memory-gb-per-s", "moe"},
    {"act-frac", "moe"},
    {"preset", "fa-a2a moe"},
    {"method", "fa-a2a moe"},
    {"tile-rows", "fa-a2a moe"},
    {"tile-cols", "fa-a2a moe"},
    {"producers", "fa-a2a moe"},
    {"staging-slots", "fa-a2a moe"},
    {"element-bytes", "fa-a2a moe"},
    {"tflops", "fa-a2a moe"},
};

static enum xst_status check_options(struct cli *cli, const char *kernel)
{
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++)
        if (cli_given(cli, belongs[i].name) && !strstr(belongs[i].kernels, kernel))
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s does not go with %s; it belongs to %s", belongs[i].name,
                           strcmp(kernel, "traffic") == 0 ? "a traffic file" : kernel,
                           strchr(belongs[i].kernels, ' ') ? "fa-a2a and moe" : belongs[i].kernels);
    return XST_OK;
}

static int64_t given_or(const struct cli *cli, const char *name, int64_t otherwise)
{
    return cli_has(cli, name) ? cli_int(cli, name) : otherwise;
}

static double real_or(const struct cli *cli, const char *name, double otherwise)
{
    return cli_has(cli, name) ? cli_real(cli, name) : otherwise;
}

static enum xst_status need(struct cli *cli, const char *name, int64_t value)
{
    if (value > 0)
        return XST_OK;
    cli_hint(cli, "give the dimensions, or --preset NAME of `xstage list shapes`");
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", name);
}

/* Rate of one SM: --tflops shared by the device's SMs, else left to the profile. */
static double sm_rate(const struct cli *cli, const struct xst_profile *profile, int64_t producers)
{
    const double sms = profile->machine.sm_count.known ? profile->machine.sm_count.value : (double)producers;
    return cli_has(cli, "tflops") && sms > 0 ? cli_real(cli, "tflops") * 1e6 / sms : 0;
}

static enum xst_method method_of(const struct cli *cli)
{
    enum xst_method method = XST_METHOD_ST16;
    xst_method_parse(cli_text(cli, "method"), &method);
    return method;
}

/* Bulk stores are issued by the computing role in no time; plain ones by it too unless a role is asked for. */
static void fill_options(struct cli *cli, struct simulation *simulation)
{
    struct xst_timeline_options *const options = &simulation->options;
    xst_issuer_parse(cli_text(cli, "issuer"), &options->issuer);
    xst_coupling_parse(cli_text(cli, "coupling"), &options->coupling);
    options->work_spread = cli_real(cli, "jitter");
    options->start_skew_us = cli_real(cli, "start-skew-us");
    options->rate_step_us = real_or(cli, "rate-step-us", 0);
    options->slices = cli_int(cli, "slices");
    options->exact_links = cli_given(cli, "exact-links");
    options->dispersion = cli_given(cli, "dispersion");
    options->bystanders = cli_given(cli, "bystanders");
    options->as_traced = cli_given(cli, "as-traced");
    options->ingress_bytes_per_us = 1000 * real_or(cli, "ingress-gb-per-s", 0);
    options->no_free_run = cli_given(cli, "no-free-run");
    options->seed = (uint64_t)cli_int(cli, "seed");
    options->event_limit = given_or(cli, "event-limit", 0);
    options->extrapolate = cli_given(cli, "extrapolate");
    options->series_count = SERIES_POINTS;
    options->series_step_us = real_or(cli, "series-step-us", 0.25); /* thinned to fit */
    if (cli_has(cli, "trace") || cli_has(cli, "svg")) {
        simulation->spans.ranks = cli_int(cli, "trace-ranks");
        options->span = xst_spans_add;
        options->span_context = &simulation->spans;
    }
}

/* Bytes a domain sends to another in the exchange that SimGrid is asked about: enough that latency does not count. */
static const double EXCHANGE_BYTES = 64e6;

static enum xst_status fill_network(struct cli *cli, struct simulation *simulation)
{
    static const char *const names[] = {"nic-gb-per-s", "nic-latency-us", "network", "platform"};
    struct xst_scale_out *const scale_out = &simulation->options.scale_out;
    const int simgrid = strcmp(cli_text(cli, "network"), "simgrid") == 0;
    for (size_t i = 0; !cli_has(cli, "domain") && i < sizeof names / sizeof *names; i++)
        if (cli_given(cli, names[i]))
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s goes with --domain", names[i]);
    if (cli_given(cli, "platform") && !simgrid)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--platform goes with --network simgrid");
    scale_out->domain_ranks = given_or(cli, "domain", 0);
    scale_out->nic_bytes_per_us = 1000 * cli_real(cli, "nic-gb-per-s");
    scale_out->latency_us = cli_real(cli, "nic-latency-us");
    if (scale_out->domain_ranks == 0 || scale_out->domain_ranks >= simulation->ranks) {
        *scale_out = (struct xst_scale_out){0, 0, 0};
        return XST_OK;
    }
    return simgrid ? xst_scale_out_simgrid(cli_text(cli, "platform"), simulation->ranks / scale_out->domain_ranks,
                                           EXCHANGE_BYTES, scale_out, &cli->diag)
                   : XST_OK;
}

static void name_it(struct simulation *simulation, const char *name)
{
    snprintf(simulation->name, sizeof simulation->name, "%s", name ? name : "");
}

static enum xst_status run_fa(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation)
{
    const struct xst_fa_preset *preset = NULL;
    const char *const name = cli_text(cli, "preset");
    struct xst_fa_a2a_shape *const shape = &simulation->fa_shape;
    struct xst_fa_a2a_plan *const plan = &simulation->fa_plan;
    enum xst_status status = name ? xst_fa_preset_find(name, &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    name_it(simulation, name);
    *shape = (struct xst_fa_a2a_shape){given_or(cli, "batch", preset ? preset->batch : 1),
                                       given_or(cli, "heads", preset ? preset->heads : 0),
                                       given_or(cli, "head-dim", preset ? preset->head_dim : 0),
                                       given_or(cli, "seq", preset ? preset->seq : 0),
                                       simulation->ranks,
                                       cli_int(cli, "element-bytes")};
    *plan = (struct xst_fa_a2a_plan){.tile_rows = cli_int(cli, "tile-rows"),
                                     .tile_cols = given_or(cli, "tile-cols", 128),
                                     .producers = given_or(cli, "producers", 0),
                                     .stages = 2,
                                     .staging_slots = cli_int(cli, "staging-slots"),
                                     .method = method_of(cli),
                                     .sm_flop_per_us = sm_rate(cli, profile, given_or(cli, "producers", 0))};
    simulation->kind_names[0] = "attention";
    status = need(cli, "heads", shape->heads);
    if (status == XST_OK)
        status = need(cli, "head-dim", shape->head_dim);
    if (status == XST_OK)
        status = need(cli, "seq", shape->seq);
    if (status == XST_OK)
        status = xst_timeline_fa_a2a(profile, shape, plan, &simulation->options, &simulation->result, &cli->diag);
    return status;
}

static enum xst_status moe_shape(struct cli *cli, struct simulation *simulation)
{
    const struct xst_moe_preset *preset = NULL;
    const char *const name = cli_text(cli, "preset");
    struct xst_moe_shape *const shape = &simulation->moe_shape;
    enum xst_status status = name ? xst_moe_preset_find(name, &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    name_it(simulation, name);
    *shape = (struct xst_moe_shape){given_or(cli, "hidden", preset ? preset->hidden : 0),
                                    given_or(cli, "inter", preset ? preset->inter : 0),
                                    given_or(cli, "experts", preset ? preset->experts : 0),
                                    given_or(cli, "topk", preset ? preset->topk : 0),
                                    given_or(cli, "tokens", preset ? preset->tokens : 0),
                                    simulation->ranks,
                                    cli_int(cli, "element-bytes")};
    static const char *const names[] = {"hidden", "inter", "experts", "topk", "tokens"};
    const int64_t values[] = {shape->hidden, shape->inter, shape->experts, shape->topk, shape->tokens};
    for (size_t i = 0; status == XST_OK && i < 5; i++)
        status = need(cli, names[i], values[i]);
    return status;
}

/* Rows per expert of one exchange group: a file, or made up. */
static enum xst_status moe_counts(struct cli *cli, struct simulation *simulation)
{
    struct xst_moe_shape group = simulation->moe_shape;
    enum xst_routing routing = XST_ROUTING_UNIFORM;
    if (group.ranks > group.experts)
        group.ranks = group.experts;
    if (cli_given(cli, "counts") && cli_given(cli, "routing"))
        return cli_say(&cli->diag, XST_ERR_USAGE, "--counts and --routing say the same thing twice; give one");
    simulation->counts = calloc((size_t)group.experts, sizeof *simulation->counts);
    if (!simulation->counts)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    simulation->moe.rows = simulation->counts;
    xst_routing_parse(cli_text(cli, "routing"), &routing);
    simulation->routing = cli_has(cli, "counts") ? "given" : xst_routing_text(routing);
    if (cli_has(cli, "counts"))
        return cli_counts_read(cli, cli_text(cli, "counts"), simulation->counts, group.experts);
    return xst_routing_make(routing, cli_real(cli, "skew"), &group, simulation->counts, &cli->diag);
}

/* --lead, or the knee of the interleaved list, or (15) where a call is too short to have one. */
static enum xst_status moe_lead(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation)
{
    struct xst_moe_shape group = simulation->moe_shape;
    struct xst_moe_plan plan = simulation->moe_plan;
    struct xst_moe_counts counts;
    struct xst_lead_knees knees;
    simulation->moe.lead = given_or(cli, "lead", 0);
    simulation->lead_from = "given";
    if (simulation->moe.lead > 0)
        return XST_OK;
    if (group.ranks > group.experts)
        group.ranks = group.experts;
    if (plan.producers == 0)
        plan.producers = profile->machine.sm_count.known ? (int64_t)profile->machine.sm_count.value : 1;
    if (plan.sm_flop_per_us <= 0)
        plan.sm_flop_per_us = 1; /* the lead depends on ratios of times alone */
    enum xst_status status = xst_moe_count(&group, &plan, &counts, &cli->diag);
    if (status != XST_OK)
        return status;
    const struct xst_lead_problem problem = {counts.blocks, counts.l1_per_block, counts.l2_per_block, plan.producers,
                                             counts.l1_us,  counts.l2_us,        counts.act_us};
    status = xst_lead_find(&problem, &knees, &cli->diag);
    if (status != XST_OK)
        return status;
    simulation->moe.lead = (knees.steady > 0 ? knees.steady : xst_lead_first_tiles(&problem)) +
                           (simulation->moe.unit > 1 ? simulation->moe.unit : 0) *
                               counts.l1_per_block; /* a unit's blocks are finished together */
    simulation->lead_from = knees.steady > 0 ? "knee" : "first guess";
    const int64_t least =
        simulation->moe.unit * counts.l1_per_block + simulation->moe.group * counts.l1_per_block / counts.l2_per_block;
    if (simulation->moe.lead < least)
        simulation->moe.lead = least;
    return XST_OK;
}

static enum xst_status run_moe(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation)
{
    struct xst_moe_plan *const plan = &simulation->moe_plan;
    enum xst_status status = moe_shape(cli, simulation);
    if (status != XST_OK)
        return status;
    *plan = (struct xst_moe_plan){.tile_rows = cli_int(cli, "tile-rows"),
                                  .tile_cols = given_or(cli, "tile-cols", 256),
                                  .tile_depth = 64,
                                  .producers = given_or(cli, "producers", 0),
                                  .stages = 4,
                                  .staging_slots = cli_int(cli, "staging-slots"),
                                  .method = method_of(cli),
                                  .act_frac = cli_real(cli, "act-frac"),
                                  .sm_flop_per_us = sm_rate(cli, profile, given_or(cli, "producers", 0))};
    xst_schedule_parse(cli_text(cli, "schedule"), &plan->schedule);
    simulation->moe.group = cli_int(cli, "group");
    simulation->moe.unit = cli_int(cli, "unit");
    simulation->moe.ring_blocks = given_or(cli, "ring", 0);
    simulation->moe.no_pull = cli_given(cli, "no-pull");
    simulation->moe.once = cli_given(cli, "dedup");
    simulation->moe.operand_bytes = strcmp(cli_text(cli, "dtype"), "e4m3") == 0;
    simulation->kind_names[0] = "Linear 1";
    simulation->kind_names[1] = "Linear 2";
    simulation->kind_names[2] = "combine";
    simulation->moe.exchange = !cli_given(cli, "tiles-only");
    simulation->moe.memory_bytes_per_us = 1000 * cli_real(cli, "memory-gb-per-s");
    if (plan->schedule == XST_SCHEDULE_INTERLEAVED)
        status = moe_lead(cli, profile, simulation);
    else if (cli_given(cli, "lead") || cli_given(cli, "group"))
        status = cli_say(&cli->diag, XST_ERR_USAGE, "--lead and --group go with --schedule interleaved");
    if (status == XST_OK)
        status = moe_counts(cli, simulation);
    if (status == XST_OK)
        status = xst_timeline_moe(profile, &simulation->moe_shape, plan, &simulation->moe, &simulation->options,
                                  &simulation->result, &cli->diag);
    return status;
}

static enum xst_status run_traffic(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation)
{
    const enum xst_status status = xst_traffic_read(cli->args[0], &simulation->traffic, &cli->diag);
    name_it(simulation, cli->args[0]);
    simulation->kind_names[0] = "work";
    if (status != XST_OK)
        return status;
    return xst_timeline_traffic(profile, &simulation->traffic, simulation->ranks, &simulation->options,
                                &simulation->result, &cli->diag);
}

enum xst_status cli_simulate(struct cli *cli, const struct xst_profile *profile, struct simulation *simulation)
{
    const int fa = strcmp(cli->args[0], "fa-a2a") == 0, moe = strcmp(cli->args[0], "moe") == 0;
    const enum xst_status status = check_options(cli, fa ? "fa-a2a" : moe ? "moe" : "traffic");
    if (status != XST_OK)
        return status;
    simulation->kind = fa ? SIMULATION_FA_A2A : moe ? SIMULATION_MOE : SIMULATION_TRAFFIC;
    simulation->ranks = cli_int(cli, "ranks");
    fill_options(cli, simulation);
    const enum xst_status network = fill_network(cli, simulation);
    if (network != XST_OK)
        return network;
    return fa    ? run_fa(cli, profile, simulation)
           : moe ? run_moe(cli, profile, simulation)
                 : run_traffic(cli, profile, simulation);
}

void cli_simulation_free(struct simulation *simulation)
{
    xst_timeline_result_free(&simulation->result);
    xst_spans_free(&simulation->spans);
    free(simulation->counts);
    simulation->counts = NULL;
}

const char *cli_simulation_kernel(const struct simulation *simulation)
{
    return simulation->kind == SIMULATION_FA_A2A ? "fa-a2a"
           : simulation->kind == SIMULATION_MOE  ? "moe"
                                                 : simulation->traffic.kernel;
}
