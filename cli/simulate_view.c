/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_view.h"

#include <stdlib.h>

#include "options.h"

enum { ROWS_SHOWN = 16 };

struct row {
    int64_t rank;
    struct xst_rank_account account;
};

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct row *const r = row;                                                                               \
        return expression;                                                                                             \
    }
GETTER(rank, cli_int_cell(r->rank))
GETTER(end_us, cli_real_cell(r->account.end_us))
GETTER(visible_us, cli_real_cell(r->account.visible_us))
GETTER(math_busy_us, cli_real_cell(r->account.math.busy_us))
GETTER(math_stall_us, cli_real_cell(r->account.math.stall_us))
GETTER(math_wait_us, cli_real_cell(r->account.math.wait_us))
GETTER(store_busy_us, cli_real_cell(r->account.store.busy_us))
GETTER(store_stall_us, cli_real_cell(r->account.store.stall_us))
GETTER(pull_busy_us, cli_real_cell(r->account.pull.busy_us))
GETTER(pull_wait_us, cli_real_cell(r->account.pull.wait_us))
GETTER(tiles, cli_int_cell(r->account.tiles))
GETTER(bursts, cli_int_cell(r->account.bursts))
GETTER(issue_us, cli_real_cell(r->account.issue_us))
GETTER(issue_max_us, cli_real_cell(r->account.issue_max_us))
GETTER(sent_bytes, cli_real_cell(r->account.sent_bytes))
GETTER(received_bytes, cli_real_cell(r->account.received_bytes))
GETTER(pulled_bytes, cli_real_cell(r->account.pulled_bytes))
GETTER(backlog_peak_bytes, cli_real_cell(r->account.backlog_peak_bytes))

static const struct cli_column columns[] = {
    {"rank", NULL, CLI_SHOW_PLAIN, 0, get_rank},
    {"end_us", "issued", CLI_SHOW_US, 0, get_end_us},
    {"visible_us", "visible", CLI_SHOW_US, 0, get_visible_us},
    {"math_busy_us", "busy", CLI_SHOW_US, 0, get_math_busy_us},
    {"math_stall_us", "stall", CLI_SHOW_US, 0, get_math_stall_us},
    {"math_wait_us", "wait", CLI_SHOW_US, 0, get_math_wait_us},
    {"store_busy_us", "store busy", CLI_SHOW_US, 1, get_store_busy_us},
    {"store_stall_us", "store stall", CLI_SHOW_US, 1, get_store_stall_us},
    {"pull_busy_us", "pull", CLI_SHOW_US, 0, get_pull_busy_us},
    {"pull_wait_us", "pull wait", CLI_SHOW_US, 1, get_pull_wait_us},
    {"tiles", NULL, CLI_SHOW_PLAIN, 1, get_tiles},
    {"bursts", NULL, CLI_SHOW_PLAIN, 1, get_bursts},
    {"issue_us", "issue", CLI_SHOW_US, 0, get_issue_us},
    {"issue_max_us", "longest", CLI_SHOW_US, 0, get_issue_max_us},
    {"sent_bytes", "sent", CLI_SHOW_BYTES, 0, get_sent_bytes},
    {"received_bytes", "received", CLI_SHOW_BYTES, 1, get_received_bytes},
    {"pulled_bytes", "pulled", CLI_SHOW_BYTES, 1, get_pulled_bytes},
    {"backlog_peak_bytes", "backlog", CLI_SHOW_BYTES, 0, get_backlog_peak_bytes},
};

enum xst_status cli_simulation_table(struct cli *cli, const struct simulation *simulation, void **rows_out,
                                     struct cli_table *table_out)
{
    const size_t count = (size_t)simulation->result.rank_count;
    struct row *const rows = calloc(count ? count : 1, sizeof *rows);
    if (!rows)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct row){(int64_t)i, simulation->result.ranks[i]};
    *rows_out = rows;
    *table_out = (struct cli_table){columns, sizeof columns / sizeof *columns, rows, count, sizeof *rows};
    return XST_OK;
}

static const char *us(double value, char *text, size_t bytes)
{
    return cli_show_number(value, CLI_SHOW_US, text, bytes);
}

static void print_head(const struct cli *cli, FILE *out, const struct xst_profile *profile,
                       const struct simulation *simulation)
{
    const struct xst_timeline_result *const result = &simulation->result;
    char a[32], b[32], c[32];
    (void)cli;
    fprintf(out, "%s%s%s on %lld rank%s of %s: %s%s us%s\n", cli_simulation_kernel(simulation),
            simulation->name[0] ? " " : "", simulation->name, (long long)result->rank_count,
            result->rank_count == 1 ? "" : "s", profile->name[0] ? profile->name : profile->id, cli_bold(out),
            us(result->makespan_us, a, sizeof a), cli_plain(out));
    if (simulation->options.scale_out.domain_ranks > 0)
        fprintf(out, "domains of %lld ranks, %.4g GB/s each way between them, %s us of latency\n",
                (long long)simulation->options.scale_out.domain_ranks,
                simulation->options.scale_out.nic_bytes_per_us / 1000,
                us(simulation->options.scale_out.latency_us, a, sizeof a));
    if (result->free_us >= 0)
        fprintf(out, "without its exchange %s us, exposed communication %s us (%.1f %%)\n",
                us(result->free_us, a, sizeof a), us(result->exposed_us, b, sizeof b),
                100 * result->exposed_us / result->makespan_us);
    if (simulation->kind == SIMULATION_FA_A2A)
        fprintf(out, "the last store was issued after %s us; a fence and the peers' flags take %s us behind it\n",
                us(result->sender_us, a, sizeof a), us(result->publish_us, b, sizeof b));
    if (simulation->kind == SIMULATION_MOE && simulation->moe.exchange)
        fprintf(out, "all ranks past the barrier after %s us, then %s us of combine\n",
                us(result->barrier_us, a, sizeof a), us(result->combine_us, b, sizeof b));
    if (simulation->kind == SIMULATION_MOE && simulation->moe_plan.schedule == XST_SCHEDULE_INTERLEAVED)
        fprintf(out,
                "interleaved, lead %lld tiles (%s), group %lld; Linear-2 tiles that waited: %lld in steady state, "
                "%lld at start-up, %lld in the tail\n",
                (long long)simulation->moe.lead, simulation->lead_from, (long long)simulation->moe.group,
                (long long)result->waited[XST_MOE_STEADY], (long long)result->waited[XST_MOE_STARTUP],
                (long long)result->waited[XST_MOE_TAIL]);
    fprintf(out, "%lld tiles, %lld bursts, issue %s us on average, %s at most; all issued after %s us\n",
            (long long)result->tiles, (long long)result->bursts, us(result->issue_us, a, sizeof a),
            us(result->issue_max_us, b, sizeof b), us(result->sender_us, c, sizeof c));
}

void cli_simulation_print(const struct cli *cli, FILE *out, const struct xst_profile *profile,
                          const struct simulation *simulation, const struct cli_table *table)
{
    struct cli_table shown = *table;
    print_head(cli, out, profile, simulation);
    fprintf(out, "\nus, mean over the SMs of a rank:\n");
    if (shown.row_count > ROWS_SHOWN)
        shown.row_count = ROWS_SHOWN;
    cli_table_print(cli, out, &shown);
    if (shown.row_count < table->row_count)
        fprintf(out, "... and %zu more ranks (--csv has all)\n", table->row_count - shown.row_count);
}

static json_t *role_json(const struct xst_role_time *time)
{
    return json_pack("{s:f, s:f, s:f}", "busy_us", time->busy_us, "stall_us", time->stall_us, "wait_us", time->wait_us);
}

/* Mean over all ranks of one role. */
static json_t *role_mean(const struct xst_timeline_result *result, size_t offset)
{
    struct xst_role_time mean = {0, 0, 0};
    for (int64_t r = 0; r < result->rank_count; r++) {
        const struct xst_role_time *const time = (const void *)((const char *)&result->ranks[r] + offset);
        mean.busy_us += time->busy_us / (double)result->rank_count;
        mean.stall_us += time->stall_us / (double)result->rank_count;
        mean.wait_us += time->wait_us / (double)result->rank_count;
    }
    return role_json(&mean);
}

static json_t *series_json(const struct xst_timeline_result *result)
{
    json_t *const array = json_array();
    for (int64_t i = 0; i < result->series_count; i++) {
        const struct xst_timeline_point *const point = &result->series[i];
        json_array_append_new(array, json_pack("{s:f, s:f, s:f, s:f, s:f}", "time_us", point->time_us, "backlog_bytes",
                                               point->backlog_bytes, "egress_bytes_per_us", point->egress_bytes_per_us,
                                               "backlog_first_bytes", point->backlog_first_bytes,
                                               "egress_first_bytes_per_us", point->egress_first_bytes_per_us));
    }
    return array;
}

static json_t *ranks_json(const struct xst_timeline_result *result, const struct cli_table *table)
{
    json_t *const array = cli_table_json(table);
    for (int64_t r = 0; r < result->rank_count; r++)
        json_object_set_new(json_array_get(array, (size_t)r), "roles",
                            json_pack("{s:o, s:o, s:o}", "math", role_json(&result->ranks[r].math), "store",
                                      role_json(&result->ranks[r].store), "pull", role_json(&result->ranks[r].pull)));
    return array;
}

static json_t *shape_json(const struct simulation *simulation)
{
    const struct xst_fa_a2a_shape *const fa = &simulation->fa_shape;
    const struct xst_moe_shape *const moe = &simulation->moe_shape;
    if (simulation->kind == SIMULATION_FA_A2A)
        return json_pack("{s:I, s:I, s:I, s:I, s:I}", "batch", (json_int_t)fa->batch, "heads", (json_int_t)fa->heads,
                         "head_dim", (json_int_t)fa->head_dim, "seq", (json_int_t)fa->seq, "ranks",
                         (json_int_t)fa->ranks);
    if (simulation->kind == SIMULATION_MOE)
        return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "hidden", (json_int_t)moe->hidden, "inter",
                         (json_int_t)moe->inter, "experts", (json_int_t)moe->experts, "topk", (json_int_t)moe->topk,
                         "tokens", (json_int_t)moe->tokens, "ranks", (json_int_t)moe->ranks);
    return json_null();
}

static void put_moe(json_t *document, const struct simulation *simulation)
{
    const struct xst_timeline_result *const result = &simulation->result;
    const int interleaved = simulation->moe_plan.schedule == XST_SCHEDULE_INTERLEAVED;
    json_object_set_new(document, "schedule", json_string(xst_schedule_text(simulation->moe_plan.schedule)));
    json_object_set_new(document, "routing", cli_string(simulation->routing));
    json_object_set_new(document, "lead_tiles", interleaved ? json_integer(simulation->moe.lead) : json_null());
    json_object_set_new(document, "group", interleaved ? json_integer(simulation->moe.group) : json_null());
    json_object_set_new(document, "ring_blocks",
                        simulation->moe.ring_blocks ? json_integer(simulation->moe.ring_blocks) : json_null());
    json_object_set_new(document, "barrier_us", simulation->moe.exchange ? json_real(result->barrier_us) : json_null());
    json_object_set_new(document, "combine_us", simulation->moe.exchange ? json_real(result->combine_us) : json_null());
    json_object_set_new(document, "waited_tiles",
                        json_pack("{s:I, s:I, s:I, s:I}", "steady", (json_int_t)result->waited[XST_MOE_STEADY],
                                  "startup", (json_int_t)result->waited[XST_MOE_STARTUP], "tail",
                                  (json_int_t)result->waited[XST_MOE_TAIL], "linear_1",
                                  (json_int_t)result->waited[XST_TIMELINE_PARTS - 1]));
}

void cli_simulation_put(json_t *document, const struct xst_profile *profile, const struct simulation *simulation,
                        const struct cli_table *table)
{
    const struct xst_timeline_result *const result = &simulation->result;
    json_object_set_new(document, "kernel", json_string(cli_simulation_kernel(simulation)));
    json_object_set_new(document, "name", cli_string(simulation->name));
    json_object_set_new(document, "profile", json_pack("{s:s, s:s}", "name", profile->name, "id", profile->id));
    json_object_set_new(document, "shape", shape_json(simulation));
    const struct xst_scale_out *const scale_out = &simulation->options.scale_out;
    json_object_set_new(document, "scale_out",
                        scale_out->domain_ranks > 0
                            ? json_pack("{s:I, s:f, s:f}", "domain_ranks", (json_int_t)scale_out->domain_ranks,
                                        "nic_gb_per_s", scale_out->nic_bytes_per_us / 1000, "latency_us",
                                        scale_out->latency_us)
                            : json_null());
    json_object_set_new(document, "ranks_count", json_integer(result->rank_count));
    json_object_set_new(document, "coupling", json_string(xst_coupling_text(simulation->options.coupling)));
    json_object_set_new(document, "issuer", json_string(xst_issuer_text(simulation->options.issuer)));
    json_object_set_new(document, "seed", json_integer((json_int_t)simulation->options.seed));
    if (simulation->kind == SIMULATION_MOE)
        put_moe(document, simulation);
    if (simulation->kind == SIMULATION_FA_A2A)
        json_object_set_new(document, "publish_us", cli_number(result->publish_us));
    json_object_set_new(document, "makespan_us", cli_number(result->makespan_us));
    json_object_set_new(document, "sender_us", cli_number(result->sender_us));
    json_object_set_new(document, "free_us", result->free_us >= 0 ? cli_number(result->free_us) : json_null());
    json_object_set_new(document, "exposed_us", result->free_us >= 0 ? cli_number(result->exposed_us) : json_null());
    json_object_set_new(document, "tiles", json_integer(result->tiles));
    json_object_set_new(document, "bursts", json_integer(result->bursts));
    json_object_set_new(document, "events", json_integer(result->events));
    json_object_set_new(document, "issue_us", cli_number(result->issue_us));
    json_object_set_new(document, "issue_max_us", cli_number(result->issue_max_us));
    json_object_set_new(document, "sent_bytes", cli_number(result->sent_bytes));
    json_object_set_new(document, "received_bytes", cli_number(result->received_bytes));
    json_object_set_new(document, "pulled_bytes", cli_number(result->pulled_bytes));
    json_object_set_new(document, "backlog_peak_bytes", cli_number(result->backlog_peak_bytes));
    json_object_set_new(document, "roles",
                        json_pack("{s:o, s:o, s:o}", "math", role_mean(result, offsetof(struct xst_rank_account, math)),
                                  "store", role_mean(result, offsetof(struct xst_rank_account, store)), "pull",
                                  role_mean(result, offsetof(struct xst_rank_account, pull))));
    json_object_set_new(document, "ranks", ranks_json(result, table));
    json_object_set_new(document, "backlog", series_json(result));
}
