/* SPDX-License-Identifier: Apache-2.0
 *
 * xstage list: stored profiles, kernels that can be audited by name, shapes of real models.
 */
#include <stdlib.h>
#include <string.h>

#include <xstage/shapes.h>

#include "data_dir.h"
#include "options.h"
#include "output.h"

static const struct cli_option options[] = {{.name = NULL}};

static const struct cli_example examples[] = {
    {"xstage list profiles", "Machines that can be named with --profile, and where their files are."},
    {"xstage list shapes --json", "Presets of attention and mixture-of-experts layers."},
    {NULL, NULL},
};

struct kernel_row {
    const char *name;
    const char *description;
};

static const struct kernel_row kernels[] = {
    {"fa-a2a", "FlashAttention whose output tiles go to their ranks while it runs (Ulysses attention)"},
    {"moe", "fused expert-parallel mixture of experts: dispatch, grouped GEMMs, combine"},
};

#define GETTER(type, name, expression)                                                                                 \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct type *const r = row;                                                                              \
        return expression;                                                                                             \
    }
GETTER(kernel_row, kernel_name, cli_text_cell(r->name))
GETTER(kernel_row, kernel_description, cli_text_cell(r->description))

static const struct cli_column kernel_columns[] = {
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_kernel_name},
    {"description", NULL, CLI_SHOW_PLAIN, 0, get_kernel_description},
};

/* One stored profile as it can be listed; `problem` when it cannot be read. */
struct profile_row {
    const char *name;
    const char *path;
    char machine[XST_NAME_BYTES];
    char origin[XST_NAME_BYTES];
    char id[XST_ID_BYTES];
    char problem[256];
    int64_t paths;
    double drain_bytes_per_us;
};

GETTER(profile_row, profile_name, cli_text_cell(r->name))
GETTER(profile_row, profile_machine, cli_text_cell(r->problem[0] ? r->problem : r->machine))
GETTER(profile_row, profile_origin, cli_text_cell(r->origin))
GETTER(profile_row, profile_paths, r->problem[0] ? cli_null() : cli_int_cell(r->paths))
GETTER(profile_row, profile_drain, r->drain_bytes_per_us > 0 ? cli_real_cell(r->drain_bytes_per_us) : cli_null())
GETTER(profile_row, profile_id, cli_text_cell(r->id))
GETTER(profile_row, profile_file, cli_text_cell(r->path))

static const struct cli_column profile_columns[] = {
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_profile_name},
    {"machine", NULL, CLI_SHOW_PLAIN, 0, get_profile_machine},
    {"origin", NULL, CLI_SHOW_PLAIN, 0, get_profile_origin},
    {"paths", NULL, CLI_SHOW_PLAIN, 0, get_profile_paths},
    {"drain_bytes_per_us", "R", CLI_SHOW_RATE, 0, get_profile_drain},
    {"id", NULL, CLI_SHOW_PLAIN, 0, get_profile_id},
    {"file", NULL, CLI_SHOW_PLAIN, 1, get_profile_file},
};

GETTER(xst_fa_preset, fa_name, cli_text_cell(r->name))
GETTER(xst_fa_preset, fa_model, cli_text_cell(r->model))
GETTER(xst_fa_preset, fa_batch, cli_int_cell(r->batch))
GETTER(xst_fa_preset, fa_heads, cli_int_cell(r->heads))
GETTER(xst_fa_preset, fa_head_dim, cli_int_cell(r->head_dim))
GETTER(xst_fa_preset, fa_seq, cli_int_cell(r->seq))
GETTER(xst_fa_preset, fa_note, cli_text_cell(r->note))
GETTER(xst_moe_preset, moe_name, cli_text_cell(r->name))
GETTER(xst_moe_preset, moe_model, cli_text_cell(r->model))
GETTER(xst_moe_preset, moe_hidden, cli_int_cell(r->hidden))
GETTER(xst_moe_preset, moe_inter, cli_int_cell(r->inter))
GETTER(xst_moe_preset, moe_experts, cli_int_cell(r->experts))
GETTER(xst_moe_preset, moe_topk, cli_int_cell(r->topk))
GETTER(xst_moe_preset, moe_tokens, cli_int_cell(r->tokens))
GETTER(xst_moe_preset, moe_note, cli_text_cell(r->note))
#undef GETTER

static const struct cli_column fa_columns[] = {
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_fa_name},         {"model", NULL, CLI_SHOW_PLAIN, 0, get_fa_model},
    {"batch", NULL, CLI_SHOW_PLAIN, 0, get_fa_batch},       {"heads", NULL, CLI_SHOW_PLAIN, 0, get_fa_heads},
    {"head_dim", NULL, CLI_SHOW_PLAIN, 0, get_fa_head_dim}, {"seq", NULL, CLI_SHOW_PLAIN, 0, get_fa_seq},
    {"note", NULL, CLI_SHOW_PLAIN, 0, get_fa_note},
};

static const struct cli_column moe_columns[] = {
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_moe_name},       {"model", NULL, CLI_SHOW_PLAIN, 0, get_moe_model},
    {"hidden", NULL, CLI_SHOW_PLAIN, 0, get_moe_hidden},   {"inter", NULL, CLI_SHOW_PLAIN, 0, get_moe_inter},
    {"experts", NULL, CLI_SHOW_PLAIN, 0, get_moe_experts}, {"topk", NULL, CLI_SHOW_PLAIN, 0, get_moe_topk},
    {"tokens", NULL, CLI_SHOW_PLAIN, 0, get_moe_tokens},   {"note", NULL, CLI_SHOW_PLAIN, 0, get_moe_note},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void fill_profile_row(const struct cli_stored *stored, struct profile_row *row)
{
    struct xst_profile profile = {0};
    struct xst_diag diag = {0};
    *row = (struct profile_row){.name = stored->name, .path = stored->path};
    if (xst_profile_read(stored->path, &profile, NULL, &diag) != XST_OK) {
        snprintf(row->problem, sizeof row->problem, "unreadable: %.200s", diag.text);
        return;
    }
    snprintf(row->machine, sizeof row->machine, "%s", profile.machine.machine);
    snprintf(row->origin, sizeof row->origin, "%s", profile.machine.origin);
    snprintf(row->id, sizeof row->id, "%s", profile.id);
    row->paths = (int64_t)profile.path_count;
    if (profile.path_count && profile.paths[0].drain_bytes_per_us.known)
        row->drain_bytes_per_us = profile.paths[0].drain_bytes_per_us.value;
    xst_profile_free(&profile);
}

static int list_one(struct cli *cli, const char *key, const struct cli_table *table)
{
    if (cli_wants_text(cli))
        cli_table_print(cli, stdout, table);
    json_t *const document = cli_document(cli, "list", 1);
    json_object_set_new(document, key, cli_table_json(table));
    return cli_emit(cli, document, table, CLI_GOOD);
}

static int list_profiles(struct cli *cli)
{
    struct cli_stored *stored;
    const size_t count = cli_profiles_list(&stored);
    struct profile_row *const rows = calloc(count + 1, sizeof *rows);
    if (!rows) {
        free(stored);
        return cli_complain(cli, XST_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++)
        fill_profile_row(&stored[i], &rows[i]);
    if (!count)
        cli_note(cli, "no stored profile was found; set XSTAGE_DATA_DIR to the folder that holds profiles/");
    const struct cli_table table = {profile_columns, COUNT(profile_columns), rows, count, sizeof *rows};
    const int code = list_one(cli, "profiles", &table);
    free(rows);
    free(stored);
    return code;
}

static int list_shapes(struct cli *cli)
{
    struct cli_table attention = {fa_columns, COUNT(fa_columns), NULL, 0, sizeof(struct xst_fa_preset)};
    struct cli_table experts = {moe_columns, COUNT(moe_columns), NULL, 0, sizeof(struct xst_moe_preset)};
    attention.rows = xst_fa_presets(&attention.row_count);
    experts.rows = xst_moe_presets(&experts.row_count);
    const enum xst_status status = cli_check_outputs(cli, 0); /* two tables are no CSV */
    if (status != XST_OK)
        return cli_fail(cli, status);
    if (cli_wants_text(cli)) {
        printf("%sAttention%s (xstage audit fa-a2a --preset NAME)\n", cli_bold(stdout), cli_plain(stdout));
        cli_table_print(cli, stdout, &attention);
        printf("\n%sMixture of experts%s (xstage audit moe --preset NAME)\n", cli_bold(stdout), cli_plain(stdout));
        cli_table_print(cli, stdout, &experts);
    }
    json_t *const document = cli_document(cli, "list", 1);
    json_object_set_new(document, "attention", cli_table_json(&attention));
    json_object_set_new(document, "moe", cli_table_json(&experts));
    return cli_emit(cli, document, NULL, CLI_GOOD);
}

static int run(struct cli *cli)
{
    static const char *const words[] = {"profiles", "kernels", "shapes"};
    const char *const what = cli->args[0];
    if (strcmp(what, "profiles") == 0)
        return list_profiles(cli);
    if (strcmp(what, "shapes") == 0)
        return list_shapes(cli);
    if (strcmp(what, "kernels") == 0) {
        const struct cli_table table = {kernel_columns, COUNT(kernel_columns), kernels, COUNT(kernels),
                                        sizeof *kernels};
        return list_one(cli, "kernels", &table);
    }
    const char *const nearest = cli_nearest(what, words, COUNT(words));
    return cli_complain(cli, XST_ERR_USAGE, "'%.60s' is not one of profiles, kernels, shapes%s%s%s", what,
                        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

const struct cli_command cli_command_list = {
    .name = "list",
    .group = CLI_GROUP_ABOUT,
    .purpose = "Known machine profiles, kernels and model shapes",
    .needs = "no GPU",
    .usage = "profiles|kernels|shapes",
    .least_args = 1,
    .most_args = 1,
    .options = options,
    .examples = examples,
    .run = run,
    .output_is_text = 1,
    .arg_words = "profiles|kernels|shapes",
};
