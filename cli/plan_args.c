/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_args.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/shapes.h>

#include "options.h"
#include "plan_sim.h"

/* Which option belongs to which question; those not listed belong to all of them. */
struct belongs {
    const char *name;
    const char *kernels;
};
static const struct belongs options_of_kernels[] = {
    {"preset", "fa-a2a moe"},
    {"ranks", "fa-a2a moe"},
    {"heads", "fa-a2a"},
    {"head-dim", "fa-a2a"},
    {"seq", "fa-a2a"},
    {"batch", "fa-a2a"},
    {"phase", "fa-a2a"},
    {"attention-tflops", "fa-a2a"},
    {"math-rate", "fa-a2a"},
    {"tile-rows", "fa-a2a moe"},
    {"tile-cols", "fa-a2a moe"},
    {"stages", "fa-a2a moe"},
    {"hidden", "moe"},
    {"inter", "moe"},
    {"experts", "moe"},
    {"topk", "moe"},
    {"tokens", "moe"},
    {"routing", "moe"},
    {"skew", "moe"},
    {"counts", "moe"},
    {"rank", "moe"},
    {"act-frac", "moe"},
    {"gemm-tflops", "moe"},
    {"l2-bytes", "moe"},
    {"reread-gb-per-s", "moe"},
    {"order-cost-frac", "moe"},
    {"staged-cost-frac", "moe"},
    {"aligned", "moe"},
    {"dedup", "moe"},
    {"dtype", "moe"},
    {"element-bytes", "fa-a2a moe"},
    {"peak-tflops", "fa-a2a moe"},
    {"sweep", "traffic"},
    {"splits", "traffic"},
    {"issuers", "traffic"},
    {"staging-slots", "traffic"},
    {"producers", "fa-a2a moe"},
    {"shared-bytes", "fa-a2a traffic"},
};

enum xst_status cli_plan_check(struct cli *cli, const char *kernel)
{
    for (size_t i = 0; i < sizeof options_of_kernels / sizeof *options_of_kernels; i++) {
        const struct belongs *const option = &options_of_kernels[i];
        char owners[32];
        if (!cli_given(cli, option->name) || strstr(option->kernels, kernel))
            continue;
        const char *const space = strchr(option->kernels, ' ');
        snprintf(owners, sizeof owners, "%.*s%s%s", space ? (int)(space - option->kernels) : 16, option->kernels,
                 space ? " and " : "", space ? space + 1 : "");
        return cli_say(&cli->diag, XST_ERR_USAGE, "--%s does not go with %s; it belongs to %s", option->name,
                       strcmp(kernel, "traffic") == 0 ? "a traffic file" : kernel,
                       strcmp(owners, "traffic") == 0 ? "a traffic file" : owners);
    }
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

/* Not given: the library's default, which is 0; 0 itself is said as a negative number. */
static double cost_of(const struct cli *cli, const char *name)
{
    const double given = real_or(cli, name, 0);
    return cli_has(cli, name) && given == 0 ? -1 : given;
}

/* --method: one bit, or 0 for the default set. */
static int methods_of(const struct cli *cli)
{
    enum xst_method method = XST_METHOD_ST16;
    if (!cli_has(cli, "method") || xst_method_parse(cli_text(cli, "method"), &method) != 0)
        return 0;
    return 1 << (int)method;
}

/* A dimension must come from an option or a preset. */
static enum xst_status need(struct cli *cli, const char *name, int64_t value)
{
    if (value > 0)
        return XST_OK;
    cli_hint(cli, "give the dimensions, or --preset NAME of `xstage list shapes`");
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", name);
}

static enum xst_status too_many(struct cli *cli, const char *name, size_t count, size_t most)
{
    if (count <= most)
        return XST_OK;
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s has %zu values, the most is %zu", name, count, most);
}

static enum xst_status fa_shape(struct cli *cli, struct xst_fa_a2a_shape *shape)
{
    const struct xst_fa_preset *preset = NULL;
    enum xst_status status =
        cli_has(cli, "preset") ? xst_fa_preset_find(cli_text(cli, "preset"), &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    *shape = (struct xst_fa_a2a_shape){.batch = given_or(cli, "batch", preset ? preset->batch : 1),
                                       .heads = given_or(cli, "heads", preset ? preset->heads : 0),
                                       .head_dim = given_or(cli, "head-dim", preset ? preset->head_dim : 0),
                                       .seq = given_or(cli, "seq", preset ? preset->seq : 0),
                                       .ranks = cli_int(cli, "ranks"),
                                       .element_bytes = cli_int(cli, "element-bytes")};
    status = need(cli, "heads", shape->heads);
    if (status == XST_OK)
        status = need(cli, "head-dim", shape->head_dim);
    return status == XST_OK ? need(cli, "seq", shape->seq) : status;
}

/* --tile-rows 64,128,192 and --math-rate 0.5,1,0.9 go together. */
static enum xst_status fa_tiles(struct cli *cli, struct xst_plan_fa_options *options)
{
    const struct cli_sweep *const rows = cli_sweep_of(cli, "tile-rows"), *const rates = cli_sweep_of(cli, "math-rate");
    const size_t wanted = rows->count ? rows->count : 3;
    enum xst_status status = too_many(cli, "tile-rows", rows->count, XST_PLAN_MOST_TILE_ROWS);
    if (status == XST_OK && rates->count && rates->count != wanted)
        status = cli_say(&cli->diag, XST_ERR_USAGE,
                         "--math-rate has %zu values, one for each of %zu tile sizes is needed", rates->count, wanted);
    if (status != XST_OK)
        return status;
    options->tile_rows_count = wanted;
    for (size_t i = 0; i < wanted; i++) {
        options->tile_rows[i] = rows->count ? (int64_t)rows->values[i] : 64 * (int64_t)(i + 1);
        options->math_rate[i] = rates->count ? rates->values[i] : 0;
    }
    return XST_OK;
}

enum xst_status cli_plan_fa_a2a(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan)
{
    struct xst_fa_a2a_shape shape;
    struct xst_plan_fa_options options = {.extrapolate = cli_given(cli, "extrapolate"),
                                          .peak_tflops = real_or(cli, "peak-tflops", 0),
                                          .given_tflops = real_or(cli, "attention-tflops", 0),
                                          .producers = given_or(cli, "producers", 0),
                                          .tile_cols = given_or(cli, "tile-cols", 0),
                                          .stages = given_or(cli, "stages", 0),
                                          .shared_bytes = (double)given_or(cli, "shared-bytes", 0),
                                          .methods = methods_of(cli)};
    xst_phase_parse(cli_text(cli, "phase"), &options.phase);
    enum xst_status status = fa_shape(cli, &shape);
    if (status == XST_OK)
        status = fa_tiles(cli, &options);
    if (status == XST_OK)
        status = xst_plan_fa_a2a(profile, &shape, &options, plan, &cli->diag);
    const struct cli_plan_subject subject = {.profile = profile,
                                             .fa_shape = &shape,
                                             .extrapolate = options.extrapolate};
    if (status == XST_OK)
        status = cli_plan_simulate(cli, &subject, plan);
    if (status == XST_OK && cli_has(cli, "preset"))
        snprintf(plan->name, sizeof plan->name, "%s", cli_text(cli, "preset"));
    return status;
}

static enum xst_status moe_shape(struct cli *cli, struct xst_moe_shape *shape)
{
    const struct xst_moe_preset *preset = NULL;
    enum xst_status status =
        cli_has(cli, "preset") ? xst_moe_preset_find(cli_text(cli, "preset"), &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    *shape = (struct xst_moe_shape){.hidden = given_or(cli, "hidden", preset ? preset->hidden : 0),
                                    .inter = given_or(cli, "inter", preset ? preset->inter : 0),
                                    .experts = given_or(cli, "experts", preset ? preset->experts : 0),
                                    .topk = given_or(cli, "topk", preset ? preset->topk : 0),
                                    .tokens = given_or(cli, "tokens", preset ? preset->tokens : 0),
                                    .ranks = cli_int(cli, "ranks"),
                                    .element_bytes = cli_int(cli, "element-bytes")};
    const struct belongs dims[] = {{"hidden", ""}, {"inter", ""}, {"experts", ""}, {"topk", ""}, {"tokens", ""}};
    const int64_t values[] = {shape->hidden, shape->inter, shape->experts, shape->topk, shape->tokens};
    for (size_t i = 0; status == XST_OK && i < 5; i++)
        status = need(cli, dims[i].name, values[i]);
    return status;
}

static int64_t rows_of(const struct xst_moe_shape *shape, const int64_t *counts, int64_t rank)
{
    int64_t first = 0, end = 0, rows = 0;
    xst_moe_experts_of(shape, rank, &first, &end);
    for (int64_t e = first; e < end; e++)
        rows += counts[e];
    return rows;
}

/* --rank, or the rank with most rows: the layer is over when it is. */
static enum xst_status rank_of(struct cli *cli, const struct xst_moe_shape *shape, const int64_t *counts, int64_t *rank)
{
    *rank = given_or(cli, "rank", 0);
    if (*rank >= shape->ranks)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--rank is %lld, outside 0..%lld", (long long)*rank,
                       (long long)shape->ranks - 1);
    for (int64_t r = 1; !cli_given(cli, "rank") && r < shape->ranks; r++) {
        if (rows_of(shape, counts, r) > rows_of(shape, counts, *rank))
            *rank = r;
    }
    return XST_OK;
}

static enum xst_status plan_counts(struct cli *cli, const struct xst_profile *profile,
                                   const struct xst_moe_shape *shape, int64_t *counts, struct xst_plan *plan)
{
    const int64_t cols = cli_has(cli, "tile-cols") ? cli_int(cli, "tile-cols") : 256;
    const struct cli_sweep *const rows = cli_sweep_of(cli, "tile-rows");
    const struct xst_moe_plan moe = {.tile_rows = rows->count ? (int64_t)rows->values[0] : 128,
                                     .tile_cols = cols,
                                     .tile_depth = 64,
                                     .producers = given_or(cli, "producers", 0),
                                     .stages = given_or(cli, "stages", 4),
                                     .staging_slots = 1,
                                     .act_frac = cli_real(cli, "act-frac")};
    const struct xst_plan_moe_options options = {.extrapolate = cli_given(cli, "extrapolate"),
                                                 .peak_tflops = real_or(cli, "peak-tflops", 0),
                                                 .given_tflops = real_or(cli, "gemm-tflops", 0),
                                                 .l2_bytes = (double)given_or(cli, "l2-bytes", 0),
                                                 .reread_bytes_per_us = 1000 * real_or(cli, "reread-gb-per-s", 0),
                                                 .methods = methods_of(cli),
                                                 .order_cost_frac = cost_of(cli, "order-cost-frac"),
                                                 .staged_cost_frac = cost_of(cli, "staged-cost-frac"),
                                                 .aligned = cli_given(cli, "aligned"),
                                                 .operand_bytes = strcmp(cli_text(cli, "dtype"), "e4m3") == 0,
                                                 .once = cli_given(cli, "dedup")};
    enum xst_routing routing = XST_ROUTING_UNIFORM;
    int64_t rank = 0, first = 0, end = 0;
    xst_routing_parse(cli_text(cli, "routing"), &routing);
    enum xst_status status =
        rows->count > 1 ? cli_say(&cli->diag, XST_ERR_USAGE, "--tile-rows of moe is one value") : XST_OK;
    if (status == XST_OK)
        status = cli_has(cli, "counts") ? cli_counts_read(cli, cli_text(cli, "counts"), counts, shape->experts)
                                        : xst_routing_make(routing, cli_real(cli, "skew"), shape, counts, &cli->diag);
    if (status == XST_OK)
        status = rank_of(cli, shape, counts, &rank);
    if (status != XST_OK)
        return status;
    xst_moe_experts_of(shape, rank, &first, &end);
    status = xst_plan_moe(profile, shape, &moe, &options, rank, counts + first, end - first, plan, &cli->diag);
    const struct cli_plan_subject subject = {.profile = profile,
                                             .moe_shape = shape,
                                             .moe_plan = &moe,
                                             .counts = counts,
                                             .extrapolate = options.extrapolate};
    return status == XST_OK ? cli_plan_simulate(cli, &subject, plan) : status;
}

enum xst_status cli_plan_moe(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan)
{
    struct xst_moe_shape shape;
    enum xst_status status = moe_shape(cli, &shape);
    if (status == XST_OK && shape.experts < shape.ranks)
        status = cli_say(&cli->diag, XST_ERR_USAGE, "%lld experts, at least one for each of %lld ranks is needed",
                         (long long)shape.experts, (long long)shape.ranks);
    if (status == XST_OK && cli_given(cli, "counts") && cli_given(cli, "routing"))
        status = cli_say(&cli->diag, XST_ERR_USAGE, "--counts and --routing say the same thing twice; give one");
    if (status != XST_OK)
        return status;
    int64_t *const counts = calloc((size_t)shape.experts, sizeof *counts);
    if (!counts)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    status = plan_counts(cli, profile, &shape, counts, plan);
    free(counts);
    if (status == XST_OK && cli_has(cli, "preset"))
        snprintf(plan->name, sizeof plan->name, "%s", cli_text(cli, "preset"));
    return status;
}

enum xst_status cli_plan_traffic(struct cli *cli, const struct xst_profile *profile, struct xst_plan *plan)
{
    struct xst_traffic traffic;
    struct xst_plan_traffic_options options = {.extrapolate = cli_given(cli, "extrapolate"),
                                               .shared_bytes = (double)given_or(cli, "shared-bytes", 0),
                                               .methods = methods_of(cli)};
    const struct cli_sweep *const splits = cli_sweep_of(cli, "splits"),
                                  *const slots = cli_sweep_of(cli, "staging-slots"),
                                  *const issuers = cli_sweep_of(cli, "issuers");
    enum xst_status status = too_many(cli, "splits", splits->count, XST_PLAN_MOST_STEPS);
    if (status == XST_OK)
        status = too_many(cli, "staging-slots", slots->count, XST_PLAN_MOST_STEPS);
    if (status == XST_OK)
        status = too_many(cli, "issuers", issuers->count, XST_PLAN_MOST_STEPS);
    if (status == XST_OK)
        status = xst_traffic_read(cli->args[0], &traffic, &cli->diag);
    if (status != XST_OK)
        return status;
    options.splits_count = splits->count;
    options.slots_count = slots->count;
    options.producers_count = issuers->count;
    for (size_t i = 0; i < splits->count; i++)
        options.splits[i] = splits->values[i];
    for (size_t i = 0; i < slots->count; i++)
        options.slots[i] = (int64_t)slots->values[i];
    for (size_t i = 0; i < issuers->count; i++)
        options.producers[i] = (int64_t)issuers->values[i];
    status = xst_plan_traffic(profile, &traffic, &options, plan, &cli->diag);
    const struct cli_plan_subject subject = {.profile = profile,
                                             .traffic = &traffic,
                                             .extrapolate = options.extrapolate};
    return status == XST_OK ? cli_plan_simulate(cli, &subject, plan) : status;
}
