/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_moe_rows.h"

#define ROW(row) ((const struct cli_bench_moe_row *)(row))

static struct cli_cell get_preset(const void *row)
{
    return cli_text_cell(ROW(row)->preset);
}

static struct cli_cell get_target(const void *row)
{
    return cli_text_cell(xst_target_text(ROW(row)->bench.target));
}

static struct cli_cell get_dtype(const void *row)
{
    return cli_text_cell(xst_moe_dtype_text(ROW(row)->bench.dtype));
}

static struct cli_cell get_routing(const void *row)
{
    return cli_text_cell(xst_routing_text(ROW(row)->bench.routing));
}

static struct cli_cell get_skew(const void *row)
{
    return ROW(row)->bench.routing == XST_ROUTING_UNIFORM ? cli_null() : cli_real_cell(ROW(row)->bench.skew);
}

static struct cli_cell get_remote_frac(const void *row)
{
    return ROW(row)->bench.target == XST_TARGET_HOST ? cli_real_cell(ROW(row)->bench.remote_frac) : cli_null();
}

static int is_interleaved(const void *row)
{
    return ROW(row)->row.entry.order.schedule == XST_SCHEDULE_INTERLEAVED;
}

static struct cli_cell get_variant(const void *row)
{
    switch (ROW(row)->row.entry.form) {
    case XST_MOE_FORM_UNFUSED:
        return cli_text_cell("moe_unfused");
    case XST_MOE_FORM_ALONE:
        return cli_text_cell(is_interleaved(row) ? "alone_interleaved" : "alone_wave");
    default:
        return cli_text_cell(is_interleaved(row) ? "moe_interleaved" : "moe_wave");
    }
}

static struct cli_cell get_store(const void *row)
{
    return cli_text_cell(ROW(row)->row.entry.order.store == XST_MOE_STORE_PACED ? "paced" : "at_once");
}

static struct cli_cell get_slices(const void *row)
{
    const struct xst_moe_order *const order = &ROW(row)->row.entry.order;
    return order->store == XST_MOE_STORE_PACED ? cli_int_cell(order->slices) : cli_null();
}

static struct cli_cell get_lead(const void *row)
{
    return is_interleaved(row) ? cli_int_cell(ROW(row)->row.entry.order.lead) : cli_null();
}

static struct cli_cell get_group(const void *row)
{
    return is_interleaved(row) ? cli_int_cell(ROW(row)->row.entry.order.group) : cli_null();
}

static struct cli_cell get_ring(const void *row)
{
    return ROW(row)->bench.ring > 0 ? cli_int_cell(ROW(row)->bench.ring / ROW(row)->row.entry.order.tile_rows)
                                    : cli_null();
}

static struct cli_cell get_dedup(const void *row)
{
    return cli_text_cell(xst_moe_dedup_text(ROW(row)->row.entry.order.dedup));
}

static struct cli_cell get_planned(const void *row)
{
    return cli_bool_cell(ROW(row)->planned);
}

static struct cli_cell get_checked(const void *row)
{
    (void)row; /* nothing is timed that was not checked before */
    return cli_bool_cell(1);
}

#define INTEGERS(X)                                                                                                    \
    X(p, bench.ranks)                                                                                                  \
    X(hidden, bench.hidden)                                                                                            \
    X(inter, bench.inter)                                                                                              \
    X(experts, bench.experts)                                                                                          \
    X(topk, bench.topk)                                                                                                \
    X(tokens, bench.tokens)                                                                                            \
    X(unit, row.entry.order.unit)                                                                                      \
    X(tile_rows, row.entry.order.tile_rows)                                                                            \
    X(rows, row.rows)                                                                                                  \
    X(ctas, row.ctas)                                                                                                  \
    X(n, bench.rounds)                                                                                                 \
    X(calls, row.calls)
#define REALS(X)                                                                                                       \
    X(median_us, row.median_us)                                                                                        \
    X(min_us, row.min_us)                                                                                              \
    X(max_us, row.max_us)                                                                                              \
    X(tflops, row.tflops)                                                                                              \
    X(memory_bytes_per_us, row.memory_bytes_per_us)                                                                    \
    X(buffer_bytes, row.buffer_bytes)                                                                                  \
    X(pulled_bytes, row.pulled_bytes)                                                                                  \
    X(remote_bytes, row.remote_bytes)                                                                                  \
    X(remote_bytes_per_us, row.remote_bytes_per_us)                                                                    \
    X(floor_us, row.floor_us)                                                                                          \
    X(floor_ratio, row.floor_ratio)                                                                                    \
    X(residual_us, row.residual_us)                                                                                    \
    X(residual_frac, row.residual_frac)                                                                                \
    X(speedup, row.speedup)                                                                                            \
    X(predicted_us, predicted_us)                                                                                      \
    X(regret_frac, regret_frac)                                                                                        \
    X(stall_us, stall_us)                                                                                              \
    X(issue_us, issue_us)

#define X(name, field)                                                                                                 \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        return cli_int_cell(ROW(row)->field);                                                                          \
    }
INTEGERS(X)
#undef X
#define X(name, field)                                                                                                 \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        return cli_real_cell(ROW(row)->field);                                                                         \
    }
REALS(X)
#undef X

static const struct cli_column columns[] = {
    {"preset", NULL, CLI_SHOW_PLAIN, 1, get_preset},
    {"target", NULL, CLI_SHOW_PLAIN, 1, get_target},
    {"p", NULL, CLI_SHOW_PLAIN, 1, get_p},
    {"dtype", NULL, CLI_SHOW_PLAIN, 1, get_dtype},
    {"hidden", NULL, CLI_SHOW_PLAIN, 0, get_hidden},
    {"inter", NULL, CLI_SHOW_PLAIN, 0, get_inter},
    {"experts", NULL, CLI_SHOW_PLAIN, 1, get_experts},
    {"topk", NULL, CLI_SHOW_PLAIN, 1, get_topk},
    {"tokens", NULL, CLI_SHOW_PLAIN, 0, get_tokens},
    {"routing", NULL, CLI_SHOW_PLAIN, 1, get_routing},
    {"skew", NULL, CLI_SHOW_PLAIN, 1, get_skew},
    {"remote_frac", "remote", CLI_SHOW_PERCENT, 0, get_remote_frac},
    {"variant", NULL, CLI_SHOW_PLAIN, 0, get_variant},
    {"store", NULL, CLI_SHOW_PLAIN, 0, get_store},
    {"lead", NULL, CLI_SHOW_PLAIN, 0, get_lead},
    {"group", NULL, CLI_SHOW_PLAIN, 1, get_group},
    {"unit", NULL, CLI_SHOW_PLAIN, 1, get_unit},
    {"tile_rows", NULL, CLI_SHOW_PLAIN, 1, get_tile_rows},
    {"slices", NULL, CLI_SHOW_PLAIN, 1, get_slices},
    {"dedup", NULL, CLI_SHOW_PLAIN, 1, get_dedup},
    {"ring", NULL, CLI_SHOW_PLAIN, 1, get_ring},
    {"buffer_bytes", NULL, CLI_SHOW_BYTES, 1, get_buffer_bytes},
    {"rows", NULL, CLI_SHOW_PLAIN, 1, get_rows},
    {"ctas", NULL, CLI_SHOW_PLAIN, 1, get_ctas},
    {"median_us", NULL, CLI_SHOW_US, 0, get_median_us},
    {"min_us", NULL, CLI_SHOW_US, 1, get_min_us},
    {"max_us", NULL, CLI_SHOW_US, 1, get_max_us},
    {"tflops", NULL, CLI_SHOW_PLAIN, 0, get_tflops},
    {"memory_bytes_per_us", "memory", CLI_SHOW_RATE, 0, get_memory_bytes_per_us},
    {"pulled_bytes", NULL, CLI_SHOW_BYTES, 1, get_pulled_bytes},
    {"remote_bytes", NULL, CLI_SHOW_BYTES, 1, get_remote_bytes},
    {"remote_bytes_per_us", "egress", CLI_SHOW_RATE, 0, get_remote_bytes_per_us},
    {"floor_us", NULL, CLI_SHOW_US, 1, get_floor_us},
    {"floor_ratio", "of floor", CLI_SHOW_PERCENT, 0, get_floor_ratio},
    {"residual_us", NULL, CLI_SHOW_US, 0, get_residual_us},
    {"residual_frac", NULL, CLI_SHOW_PERCENT, 1, get_residual_frac},
    {"speedup", NULL, CLI_SHOW_PLAIN, 0, get_speedup},
    {"planned", NULL, CLI_SHOW_PLAIN, 1, get_planned},
    {"predicted_us", NULL, CLI_SHOW_US, 1, get_predicted_us},
    {"regret_frac", "regret", CLI_SHOW_PERCENT, 0, get_regret_frac},
    {"stall_us", "stall", CLI_SHOW_US, 1, get_stall_us},
    {"issue_us", "issue", CLI_SHOW_US, 1, get_issue_us},
    {"n", NULL, CLI_SHOW_PLAIN, 1, get_n},
    {"calls", NULL, CLI_SHOW_PLAIN, 1, get_calls},
    {"checked", NULL, CLI_SHOW_PLAIN, 1, get_checked},
};

struct cli_table cli_bench_moe_table(const struct cli_bench_moe_list *list)
{
    return (struct cli_table){columns, sizeof columns / sizeof *columns, list->rows, list->count, sizeof *list->rows};
}
