/* SPDX-License-Identifier: Apache-2.0 */
#include "audit_args.h"

#include <stdlib.h>
#include <string.h>

#include <xstage/shapes.h>

#include "options.h"

enum { MOST_AUDITS = 100000, MOST_PRESETS = 64, PRESETS_TEXT_BYTES = 2048 };

/* Which option belongs to which kernel; those not listed belong to all of them. */
struct belongs {
    const char *name;
    const char *kernels;
};
static const struct belongs options_of_kernels[] = {
    {"heads", "fa-a2a"},
    {"head-dim", "fa-a2a"},
    {"seq", "fa-a2a"},
    {"batch", "fa-a2a"},
    {"attention-tflops", "fa-a2a"},
    {"phase", "fa-a2a"},
    {"trace", "fa-a2a moe"},
    {"target", "fa-a2a"},
    {"hidden", "moe"},
    {"inter", "moe"},
    {"experts", "moe"},
    {"topk", "moe"},
    {"tokens", "moe"},
    {"lead", "moe"},
    {"schedule", "moe"},
    {"gemm-tflops", "moe"},
    {"act-frac", "moe"},
    {"preset", "fa-a2a moe"},
    {"ranks", "fa-a2a moe"},
    {"tile-rows", "fa-a2a moe"},
    {"method", "fa-a2a moe"},
    {"tile-cols", "fa-a2a moe"},
    {"producers", "fa-a2a moe"},
    {"stages", "fa-a2a moe"},
    {"staging-slots", "fa-a2a moe"},
    {"element-bytes", "fa-a2a moe"},
    {"peak-tflops", "fa-a2a moe"},
};

enum xst_status cli_audit_check(struct cli *cli, const char *kernel)
{
    for (size_t i = 0; i < sizeof options_of_kernels / sizeof *options_of_kernels; i++) {
        const struct belongs *const option = &options_of_kernels[i];
        if (cli_given(cli, option->name) && !strstr(option->kernels, kernel))
            return cli_say(&cli->diag, XST_ERR_USAGE, "--%s does not go with %s; it belongs to %s", option->name,
                           strcmp(kernel, "traffic") == 0 ? "a traffic file" : kernel,
                           strchr(option->kernels, ' ') ? "fa-a2a and moe" : option->kernels);
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

static enum xst_method method_of(const struct cli *cli)
{
    enum xst_method method = XST_METHOD_ST16;
    xst_method_parse(cli_text(cli, "method"), &method);
    return method;
}

/* A place for one more audit. */
static enum xst_status next(struct cli *cli, struct audit_list *list, struct xst_audit **audit_out)
{
    if (list->count == MOST_AUDITS)
        return cli_say(&cli->diag, XST_ERR_USAGE, "more than %d shapes", MOST_AUDITS);
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct xst_audit *const larger = realloc(list->audits, room * sizeof *larger);
        if (!larger)
            return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
        list->audits = larger;
        list->room = room;
    }
    *audit_out = &list->audits[list->count];
    return XST_OK;
}

static void name_audit(struct xst_audit *audit, const char *name)
{
    snprintf(audit->name, sizeof audit->name, "%s", name ? name : "");
}

/* A dimension must come from an option or a preset. */
static enum xst_status need(struct cli *cli, const char *name, int64_t value)
{
    if (value > 0)
        return XST_OK;
    cli_hint(cli, "give the dimensions, or --preset NAME of `xstage list shapes`");
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", name);
}

/* The presets named, split at commas; one empty name when there are none. */
struct names {
    char text[PRESETS_TEXT_BYTES];
    const char *words[MOST_PRESETS];
    size_t count;
};

static enum xst_status preset_names(struct cli *cli, struct names *names)
{
    const char *const list = cli_text(cli, "preset");
    names->count = 0;
    if (!list) {
        names->words[names->count++] = NULL;
        return XST_OK;
    }
    if (strlen(list) >= sizeof names->text)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--preset is longer than %d bytes", PRESETS_TEXT_BYTES - 1);
    strcpy(names->text, list);
    for (char *save = NULL, *word = strtok_r(names->text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (names->count == MOST_PRESETS)
            return cli_say(&cli->diag, XST_ERR_USAGE, "--preset names more than %d shapes", MOST_PRESETS);
        names->words[names->count++] = word;
    }
    return names->count ? XST_OK : cli_say(&cli->diag, XST_ERR_USAGE, "--preset names no shape");
}

/* Values of a sweep, or the one of the preset. */
static const double *values_of(const struct cli *cli, const char *name, const double *preset, size_t *count_out)
{
    const struct cli_sweep *const sweep = cli_sweep_of(cli, name);
    *count_out = sweep->count ? sweep->count : 1;
    return sweep->count ? sweep->values : preset;
}

static struct xst_audit_options audit_options(const struct cli *cli, const char *given_rate)
{
    return (struct xst_audit_options){.extrapolate = cli_given(cli, "extrapolate"),
                                      .peak_tflops = real_or(cli, "peak-tflops", 0),
                                      .given_tflops = real_or(cli, given_rate, 0),
                                      .lead = given_or(cli, "lead", 0)};
}

static enum xst_status fa_shape(struct cli *cli, const char *preset_name, struct xst_fa_a2a_shape *shape)
{
    const struct xst_fa_preset *preset = NULL;
    enum xst_status status = preset_name ? xst_fa_preset_find(preset_name, &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    *shape = (struct xst_fa_a2a_shape){.batch = given_or(cli, "batch", preset ? preset->batch : 1),
                                       .heads = given_or(cli, "heads", preset ? preset->heads : 0),
                                       .head_dim = given_or(cli, "head-dim", preset ? preset->head_dim : 0),
                                       .seq = preset ? preset->seq : 0,
                                       .element_bytes = cli_int(cli, "element-bytes")};
    status = need(cli, "heads", shape->heads);
    if (status == XST_OK)
        status = need(cli, "head-dim", shape->head_dim);
    if (status == XST_OK && !cli_sweep_of(cli, "seq")->count)
        status = need(cli, "seq", shape->seq);
    return status;
}

enum xst_status cli_audit_fa_a2a(struct cli *cli, const struct xst_profile *profile, struct audit_list *list)
{
    struct names names;
    struct xst_fa_a2a_shape shape = {0};
    struct xst_audit *audit = NULL;
    struct xst_fa_a2a_plan plan = {.tile_rows = cli_int(cli, "tile-rows"),
                                   .tile_cols = given_or(cli, "tile-cols", 128),
                                   .producers = given_or(cli, "producers", 0),
                                   .stages = given_or(cli, "stages", 2),
                                   .staging_slots = cli_int(cli, "staging-slots"),
                                   .method = method_of(cli)};
    const struct xst_audit_options options = audit_options(cli, "attention-tflops");
    const struct cli_sweep *const ranks = cli_sweep_of(cli, "ranks");
    xst_phase_parse(cli_text(cli, "phase"), &plan.phase);
    xst_target_parse(cli_text(cli, "target"), &plan.target);
    enum xst_status status = preset_names(cli, &names);
    for (size_t i = 0; status == XST_OK && i < names.count; i++) {
        status = fa_shape(cli, names.words[i], &shape);
        const double own = (double)shape.seq;
        size_t count = 0;
        const double *const seq = values_of(cli, "seq", &own, &count);
        for (size_t point = 0; status == XST_OK && point < count * ranks->count; point++) {
            shape.seq = (int64_t)seq[point / ranks->count];
            shape.ranks = (int64_t)ranks->values[point % ranks->count];
            status = next(cli, list, &audit);
            if (status == XST_OK)
                status = xst_audit_fa_a2a(profile, &shape, &plan, &options, audit, &cli->diag);
            if (status == XST_OK) {
                name_audit(audit, names.words[i]);
                list->count++;
            }
        }
    }
    return status;
}

static enum xst_status moe_shape(struct cli *cli, const char *preset_name, struct xst_moe_shape *shape)
{
    const struct xst_moe_preset *preset = NULL;
    enum xst_status status = preset_name ? xst_moe_preset_find(preset_name, &preset, &cli->diag) : XST_OK;
    if (status != XST_OK)
        return status;
    *shape = (struct xst_moe_shape){.hidden = given_or(cli, "hidden", preset ? preset->hidden : 0),
                                    .inter = given_or(cli, "inter", preset ? preset->inter : 0),
                                    .experts = given_or(cli, "experts", preset ? preset->experts : 0),
                                    .topk = given_or(cli, "topk", preset ? preset->topk : 0),
                                    .tokens = preset ? preset->tokens : 0,
                                    .element_bytes = cli_int(cli, "element-bytes")};
    status = need(cli, "hidden", shape->hidden);
    if (status == XST_OK)
        status = need(cli, "inter", shape->inter);
    if (status == XST_OK)
        status = need(cli, "experts", shape->experts);
    if (status == XST_OK)
        status = need(cli, "topk", shape->topk);
    if (status == XST_OK && !cli_sweep_of(cli, "tokens")->count)
        status = need(cli, "tokens", shape->tokens);
    return status;
}

enum xst_status cli_audit_moe(struct cli *cli, const struct xst_profile *profile, struct audit_list *list)
{
    struct names names;
    struct xst_moe_shape shape = {0};
    struct xst_audit *audit = NULL;
    struct xst_moe_plan plan = {.tile_rows = cli_int(cli, "tile-rows"),
                                .tile_cols = given_or(cli, "tile-cols", 256),
                                .tile_depth = 64,
                                .producers = given_or(cli, "producers", 0),
                                .stages = given_or(cli, "stages", 4),
                                .staging_slots = cli_int(cli, "staging-slots"),
                                .method = method_of(cli),
                                .act_frac = cli_real(cli, "act-frac")};
    const struct xst_audit_options options = audit_options(cli, "gemm-tflops");
    const struct cli_sweep *const ranks = cli_sweep_of(cli, "ranks");
    xst_schedule_parse(cli_text(cli, "schedule"), &plan.schedule);
    enum xst_status status = preset_names(cli, &names);
    for (size_t i = 0; status == XST_OK && i < names.count; i++) {
        status = moe_shape(cli, names.words[i], &shape);
        const double own = (double)shape.tokens;
        size_t count = 0;
        const double *const tokens = values_of(cli, "tokens", &own, &count);
        for (size_t point = 0; status == XST_OK && point < count * ranks->count; point++) {
            shape.tokens = (int64_t)tokens[point / ranks->count];
            shape.ranks = (int64_t)ranks->values[point % ranks->count];
            status = next(cli, list, &audit);
            if (status == XST_OK)
                status = xst_audit_moe(profile, &shape, &plan, &options, audit, &cli->diag);
            if (status == XST_OK) {
                name_audit(audit, names.words[i]);
                list->count++;
            }
        }
    }
    return status;
}

enum xst_status cli_audit_files(struct cli *cli, const struct xst_profile *profile, struct audit_list *list)
{
    const struct xst_audit_options options = {.extrapolate = cli_given(cli, "extrapolate")};
    enum xst_status status = XST_OK;
    for (int i = 0; status == XST_OK && i < cli->arg_count; i++) {
        struct xst_audit *audit = NULL;
        struct xst_traffic traffic;
        status = xst_traffic_read(cli->args[i], &traffic, &cli->diag);
        if (status == XST_OK)
            status = next(cli, list, &audit);
        if (status == XST_OK)
            status = xst_audit_traffic(profile, &traffic, &options, audit, &cli->diag);
        if (status == XST_OK) {
            name_audit(audit, cli->args[i]);
            list->count++;
        }
    }
    return status;
}
