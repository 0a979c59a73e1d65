/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_rows.h"

#include <stdlib.h>

#include <xstage/gpu.h>

#include "options.h"

#define ROW(row) ((const struct cli_bench_row *)(row))

static struct cli_cell get_preset(const void *row)
{
    return cli_text_cell(ROW(row)->preset);
}

static struct cli_cell get_target(const void *row)
{
    return cli_text_cell(xst_target_text(ROW(row)->bench.target));
}

static struct cli_cell get_variant(const void *row)
{
    return cli_text_cell(xst_fa_a2a_variant_text(ROW(row)->row.variant));
}

static struct cli_cell get_checked(const void *row)
{
    (void)row; /* nothing is timed that was not checked before */
    return cli_bool_cell(1);
}

#define INTEGERS(X)                                                                                                    \
    X(p, bench.ranks)                                                                                                  \
    X(batch, bench.batch)                                                                                              \
    X(heads, bench.heads_total)                                                                                        \
    X(head_dim, bench.head_dim)                                                                                        \
    X(seq, bench.seq)                                                                                                  \
    X(groups, row.groups)                                                                                              \
    X(pairs, row.pairs)                                                                                                \
    X(n, bench.rounds)                                                                                                 \
    X(calls, row.calls)
#define REALS(X)                                                                                                       \
    X(median_us)                                                                                                       \
    X(min_us)                                                                                                          \
    X(max_us)                                                                                                          \
    X(sender_us)                                                                                                       \
    X(visible_us)                                                                                                      \
    X(tflops)                                                                                                          \
    X(drain_bytes_per_us)                                                                                              \
    X(residual_us)                                                                                                     \
    X(residual_frac)                                                                                                   \
    X(hiding_ratio)                                                                                                    \
    X(speedup)

#define X(name, field)                                                                                                 \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        return cli_int_cell(ROW(row)->field);                                                                          \
    }
INTEGERS(X)
#undef X
#define X(name)                                                                                                        \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        return cli_real_cell(ROW(row)->row.name);                                                                      \
    }
REALS(X)
#undef X

static const struct cli_column columns[] = {
    {"preset", NULL, CLI_SHOW_PLAIN, 1, get_preset},
    {"target", NULL, CLI_SHOW_PLAIN, 1, get_target},
    {"p", NULL, CLI_SHOW_PLAIN, 0, get_p},
    {"batch", NULL, CLI_SHOW_PLAIN, 1, get_batch},
    {"heads", NULL, CLI_SHOW_PLAIN, 0, get_heads},
    {"head_dim", NULL, CLI_SHOW_PLAIN, 0, get_head_dim},
    {"seq", NULL, CLI_SHOW_PLAIN, 0, get_seq},
    {"variant", NULL, CLI_SHOW_PLAIN, 0, get_variant},
    {"groups", NULL, CLI_SHOW_PLAIN, 0, get_groups},
    {"pairs", NULL, CLI_SHOW_PLAIN, 0, get_pairs},
    {"median_us", NULL, CLI_SHOW_US, 0, get_median_us},
    {"min_us", NULL, CLI_SHOW_US, 1, get_min_us},
    {"max_us", NULL, CLI_SHOW_US, 1, get_max_us},
    {"sender_us", NULL, CLI_SHOW_US, 0, get_sender_us},
    {"visible_us", NULL, CLI_SHOW_US, 0, get_visible_us},
    {"tflops", NULL, CLI_SHOW_PLAIN, 0, get_tflops},
    {"drain_bytes_per_us", "drain", CLI_SHOW_RATE, 0, get_drain_bytes_per_us},
    {"residual_us", NULL, CLI_SHOW_US, 0, get_residual_us},
    {"residual_frac", "residual", CLI_SHOW_PERCENT, 0, get_residual_frac},
    {"hiding_ratio", NULL, CLI_SHOW_PLAIN, 0, get_hiding_ratio},
    {"speedup", NULL, CLI_SHOW_PLAIN, 0, get_speedup},
    {"n", NULL, CLI_SHOW_PLAIN, 1, get_n},
    {"calls", NULL, CLI_SHOW_PLAIN, 1, get_calls},
    {"checked", NULL, CLI_SHOW_PLAIN, 1, get_checked},
};

double cli_bench_drain(const struct xst_profile *profile, enum xst_target target)
{
    const struct xst_path_key key = {.target = target, .method = XST_METHOD_ST16};
    const struct xst_path *const path = target == XST_TARGET_LOCAL ? NULL : xst_profile_path(profile, &key);
    return path && path->drain_bytes_per_us.known ? path->drain_bytes_per_us.value : 0;
}

enum xst_status cli_bench_add(struct cli *cli, struct cli_bench_list *list, const char *preset,
                              const struct xst_fa_a2a_bench *bench, const struct xst_fa_a2a_bench_row *row)
{
    struct cli_bench_row *const rows = realloc(list->rows, (list->count + 1) * sizeof *rows);
    if (!rows)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    rows[list->count++] = (struct cli_bench_row){preset, *bench, *row};
    list->rows = rows;
    return XST_OK;
}

struct cli_table cli_bench_table(const struct cli_bench_list *list)
{
    return (struct cli_table){columns, sizeof columns / sizeof *columns, list->rows, list->count, sizeof *list->rows};
}

static json_t *facts_of_devices(void)
{
    struct xst_gpu_info info;
    json_t *const facts = json_object(), *const devices = json_array();
    if (xst_gpu_info_read(&info, NULL) == XST_OK) {
        for (size_t i = 0; i < info.device_count; i++) {
            const struct xst_gpu_device *const device = &info.devices[i];
            json_array_append_new(devices,
                                  json_pack("{s:I, s:s, s:o, s:o, s:o, s:s}", "ordinal", (json_int_t)device->ordinal,
                                            "name", device->name, "sm_clock_ghz", cli_number(device->sm_clock_ghz),
                                            "power_w", cli_number(device->power_w), "temperature_c",
                                            cli_number(device->temperature_c), "throttle", device->throttle));
        }
        json_object_set_new(facts, "driver", cli_string(info.driver));
        xst_gpu_info_free(&info);
    }
    json_object_set_new(facts, "nvcc", cli_string(xst_gpu_nvcc_version()));
    json_object_set_new(facts, "devices", devices);
    return facts;
}

int cli_bench_emit(struct cli *cli, const char *kernel, const struct cli_table *table)
{
    if (cli_wants_text(cli))
        cli_table_print(cli, stdout, table);
    json_t *const document = cli_document(cli, "bench", 1);
    json_object_set_new(document, "kernel", json_string(kernel));
    json_object_set_new(document, "facts", facts_of_devices());
    json_object_set_new(document, "rows", cli_table_json(table));
    return cli_emit(cli, document, table, CLI_GOOD);
}
