/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_view.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct cli_cell number(const struct xst_plan_number *value)
{
    return value->known ? cli_real_cell(value->value) : cli_null();
}

#define GETTER(name)                                                                                                   \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        return number(&((const struct xst_plan_candidate *)row)->name);                                                \
    }
#define X(name, type, plans, meaning) GETTER(name)
XST_PLAN_SETTINGS(X)
XST_PLAN_PARTS(X)
XST_PLAN_OTHERS(X)
#undef X
GETTER(predicted_us)
#undef GETTER

static struct cli_cell get_method(const void *row)
{
    return cli_text_cell(xst_method_text(((const struct xst_plan_candidate *)row)->method));
}
static struct cli_cell get_order(const void *row)
{
    return cli_text_cell(xst_tile_order_text(((const struct xst_plan_candidate *)row)->order));
}
static struct cli_cell get_schedule(const void *row)
{
    return cli_text_cell(xst_schedule_text(((const struct xst_plan_candidate *)row)->schedule));
}
static struct cli_cell get_pareto(const void *row)
{
    return cli_bool_cell(((const struct xst_plan_candidate *)row)->pareto);
}
static struct cli_cell get_extrapolated(const void *row)
{
    return cli_bool_cell(((const struct xst_plan_candidate *)row)->extrapolated);
}
static struct cli_cell get_reason(const void *row)
{
    return cli_text_cell(((const struct xst_plan_candidate *)row)->reason);
}

static const struct cli_column fa_columns[] = {
    {"tile_rows", NULL, CLI_SHOW_PLAIN, 0, get_tile_rows},
    {"method", NULL, CLI_SHOW_PLAIN, 0, get_method},
    {"order", NULL, CLI_SHOW_PLAIN, 0, get_order},
    {"slices", NULL, CLI_SHOW_PLAIN, 0, get_slices},
    {"staging_slots", "slots", CLI_SHOW_PLAIN, 0, get_staging_slots},
    {"chunk_bytes", "chunk", CLI_SHOW_BYTES, 0, get_chunk_bytes},
    {"span_us", NULL, CLI_SHOW_US, 1, get_span_us},
    {"predicted_us", NULL, CLI_SHOW_US, 0, get_predicted_us},
    {"compute_us", NULL, CLI_SHOW_US, 0, get_compute_us},
    {"exposed_issue_us", "issue_us", CLI_SHOW_US, 0, get_exposed_issue_us},
    {"bystander_us", NULL, CLI_SHOW_US, 1, get_bystander_us},
    {"tail_us", NULL, CLI_SHOW_US, 0, get_tail_us},
    {"predicted_drifting_us", "drifting_us", CLI_SHOW_US, 0, get_predicted_drifting_us},
    {"waves", NULL, CLI_SHOW_PLAIN, 1, get_waves},
    {"efficiency", NULL, CLI_SHOW_PERCENT, 1, get_efficiency},
    {"math_rate", NULL, CLI_SHOW_US, 1, get_math_rate},
    {"warpgroups", NULL, CLI_SHOW_PLAIN, 1, get_warpgroups},
    {"backlog_bytes", NULL, CLI_SHOW_BYTES, 1, get_backlog_bytes},
    {"shared_bytes", NULL, CLI_SHOW_BYTES, 1, get_shared_bytes},
    {"simulated_us", NULL, CLI_SHOW_US, 1, get_simulated_us},
    {"extrapolated", NULL, CLI_SHOW_PLAIN, 1, get_extrapolated},
    {"reason", NULL, CLI_SHOW_PLAIN, 1, get_reason},
};

static const struct cli_column moe_columns[] = {
    {"schedule", NULL, CLI_SHOW_PLAIN, 0, get_schedule},
    {"method", NULL, CLI_SHOW_PLAIN, 0, get_method},
    {"lead_tiles", "lead", CLI_SHOW_PLAIN, 0, get_lead_tiles},
    {"group_tiles", "group", CLI_SHOW_PLAIN, 0, get_group_tiles},
    {"waves", NULL, CLI_SHOW_PLAIN, 0, get_waves},
    {"wave_blocks", NULL, CLI_SHOW_PLAIN, 1, get_wave_blocks},
    {"predicted_us", NULL, CLI_SHOW_US, 0, get_predicted_us},
    {"compute_us", NULL, CLI_SHOW_US, 0, get_compute_us},
    {"exposed_issue_us", "issue_us", CLI_SHOW_US, 0, get_exposed_issue_us},
    {"starve_us", NULL, CLI_SHOW_US, 0, get_starve_us},
    {"pull_us", NULL, CLI_SHOW_US, 0, get_pull_us},
    {"locality_us", NULL, CLI_SHOW_US, 0, get_locality_us},
    {"weights_us", NULL, CLI_SHOW_US, 0, get_weights_us},
    {"order_us", NULL, CLI_SHOW_US, 0, get_order_us},
    {"tail_us", NULL, CLI_SHOW_US, 0, get_tail_us},
    {"working_set_bytes", "working set", CLI_SHOW_BYTES, 0, get_working_set_bytes},
    {"simulated_us", NULL, CLI_SHOW_US, 1, get_simulated_us},
    {"extrapolated", NULL, CLI_SHOW_PLAIN, 1, get_extrapolated},
    {"reason", NULL, CLI_SHOW_PLAIN, 1, get_reason},
};

static const struct cli_column traffic_columns[] = {
    {"method", NULL, CLI_SHOW_PLAIN, 0, get_method},
    {"producers", "issuers", CLI_SHOW_PLAIN, 0, get_producers},
    {"splits", NULL, CLI_SHOW_PLAIN, 0, get_splits},
    {"bytes_per_producer", "bytes each", CLI_SHOW_BYTES, 0, get_bytes_per_producer},
    {"gap_us", NULL, CLI_SHOW_US, 0, get_gap_us},
    {"staging_slots", "slots", CLI_SHOW_PLAIN, 0, get_staging_slots},
    {"predicted_us", NULL, CLI_SHOW_US, 0, get_predicted_us},
    {"compute_us", NULL, CLI_SHOW_US, 1, get_compute_us},
    {"exposed_issue_us", "issue_us", CLI_SHOW_US, 0, get_exposed_issue_us},
    {"bystander_us", NULL, CLI_SHOW_US, 0, get_bystander_us},
    {"tail_us", NULL, CLI_SHOW_US, 1, get_tail_us},
    {"shared_bytes", "shared", CLI_SHOW_BYTES, 0, get_shared_bytes},
    {"working_set_bytes", "in the L2", CLI_SHOW_BYTES, 0, get_working_set_bytes},
    {"backlog_bytes", NULL, CLI_SHOW_BYTES, 1, get_backlog_bytes},
    {"pareto", NULL, CLI_SHOW_PLAIN, 1, get_pareto},
    {"simulated_us", NULL, CLI_SHOW_US, 1, get_simulated_us},
    {"extrapolated", NULL, CLI_SHOW_PLAIN, 1, get_extrapolated},
    {"reason", NULL, CLI_SHOW_PLAIN, 1, get_reason},
};

static struct cli_table table_of(enum xst_plan_kind kind, const struct xst_plan_candidate *rows, size_t count)
{
    struct cli_table table = {traffic_columns, COUNT(traffic_columns), rows, count, sizeof *rows};
    if (kind == XST_PLAN_FA_A2A) {
        table.columns = fa_columns;
        table.column_count = COUNT(fa_columns);
    } else if (kind == XST_PLAN_MOE) {
        table.columns = moe_columns;
        table.column_count = COUNT(moe_columns);
    }
    return table;
}

struct cli_table cli_plan_table(const struct xst_plan *plan)
{
    return table_of(plan->kind, plan->considered, plan->count);
}

/* One setting of a candidate as a number that tells values apart. */
typedef double setting(const struct xst_plan_candidate *candidate);

#define SETTING(name, expression)                                                                                      \
    static double set_##name(const struct xst_plan_candidate *c)                                                       \
    {                                                                                                                  \
        return expression;                                                                                             \
    }
SETTING(tile_rows, c->tile_rows.value)
SETTING(method, (double)c->method)
SETTING(slices, c->slices.value)
SETTING(order, (double)c->order)
SETTING(slots, c->staging_slots.value)
SETTING(schedule, (double)c->schedule)
SETTING(lead, c->lead_tiles.value)
SETTING(group, c->group_tiles.value)
SETTING(splits, c->splits.value)
SETTING(producers, c->producers.value)
#undef SETTING

struct dimension {
    const char *name;
    int plans;
    setting *get;
};
static const struct dimension dimensions[] = {
    {"tile rows", XST_PLAN_IN_FA, set_tile_rows},
    {"schedule", XST_PLAN_IN_MOE, set_schedule},
    {"lead", XST_PLAN_IN_MOE, set_lead},
    {"group", XST_PLAN_IN_MOE, set_group},
    {"burst size", XST_PLAN_IN_TRAFFIC, set_splits},
    {"issuers", XST_PLAN_IN_TRAFFIC, set_producers},
    {"store method", XST_PLAN_IN_ALL, set_method},
    {"slices", XST_PLAN_IN_FA, set_slices},
    {"tile order", XST_PLAN_IN_FA, set_order},
    {"staging slots", XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, set_slots},
};

/* The best predicted candidate with another value of this setting; NULL: none. */
static const struct xst_plan_candidate *best_other(const struct xst_plan *plan, setting *get)
{
    const double chosen = get(&plan->considered[plan->chosen]);
    const struct xst_plan_candidate *best = NULL;
    for (size_t i = 0; i < plan->count; i++) {
        const struct xst_plan_candidate *const candidate = &plan->considered[i];
        if (candidate->predicted_us.known && get(candidate) != chosen &&
            (!best || candidate->predicted_us.value < best->predicted_us.value))
            best = candidate;
    }
    return best;
}

static void print_alternatives(FILE *out, const struct xst_plan *plan)
{
    char text[192];
    fprintf(out, "\nbest with another value of each setting, and why it lost:\n");
    for (size_t i = 0; i < COUNT(dimensions); i++) {
        if (!(dimensions[i].plans >> (int)plan->kind & 1))
            continue;
        const struct xst_plan_candidate *const other = best_other(plan, dimensions[i].get);
        if (other)
            fprintf(out, "  %-14s %s: %s\n", dimensions[i].name, xst_plan_describe(plan, other, text, sizeof text),
                    other->reason);
        else
            fprintf(out, "  %-14s no other value can be predicted\n", dimensions[i].name);
    }
}

static const char *shown(const struct xst_plan_number *value, enum cli_show show, char text[40])
{
    return value->known ? cli_show_number(value->value, show, text, 40) : "-";
}

static void print_answers(FILE *out, const struct xst_plan *plan)
{
    char t[6][40];
    if (plan->kind == XST_PLAN_FA_A2A)
        fprintf(out,
                "rate bound holds from %s tokens on when all of a burst leaves, from %s with this rank count (12)\n",
                shown(&plan->answers.m_upper_bound, CLI_SHOW_PLAIN, t[0]),
                shown(&plan->answers.m_upper_bound_remote, CLI_SHOW_PLAIN, t[1]));
    if (plan->kind != XST_PLAN_MOE)
        return;
    fprintf(out, "rank %s: %s rows in %s blocks, %s Linear-1 and %s Linear-2 tiles\n",
            shown(&plan->answers.rank, CLI_SHOW_PLAIN, t[0]), shown(&plan->answers.rows, CLI_SHOW_PLAIN, t[1]),
            shown(&plan->answers.blocks, CLI_SHOW_PLAIN, t[2]), shown(&plan->answers.l1_tiles, CLI_SHOW_PLAIN, t[3]),
            shown(&plan->answers.l2_tiles, CLI_SHOW_PLAIN, t[4]));
    fprintf(
        out,
        "lead without starvation, in Linear-1 tiles: D_knee %s in steady state, %s with start-up, %s with the tail; "
        "(15) says %s\n",
        shown(&plan->answers.lead_knee_tiles, CLI_SHOW_PLAIN, t[0]),
        shown(&plan->answers.lead_startup_tiles, CLI_SHOW_PLAIN, t[1]),
        shown(&plan->answers.lead_tail_tiles, CLI_SHOW_PLAIN, t[2]),
        shown(&plan->answers.lead_first_tiles, CLI_SHOW_PLAIN, t[3]));
}

static int by_time(const void *a, const void *b)
{
    const struct xst_plan_candidate *const x = a, *const y = b;
    return (x->predicted_us.value > y->predicted_us.value) - (x->predicted_us.value < y->predicted_us.value);
}

/* Candidates nobody beats in time, shared memory and working set at once, fastest first. */
static void print_pareto(const struct cli *cli, FILE *out, const struct xst_plan *plan)
{
    struct xst_plan_candidate *const rows = malloc(plan->count * sizeof *rows);
    size_t count = 0;
    if (!rows)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->considered[i].pareto)
            rows[count++] = plan->considered[i];
    }
    qsort(rows, count, sizeof *rows, by_time);
    const struct cli_table table = table_of(plan->kind, rows, count);
    fprintf(out, "\ntime against shared memory and L2, what nobody beats in all three:\n");
    cli_table_print(cli, out, &table);
    free(rows);
}

/* Candidates the simulator answered for, best prediction first. */
static void print_simulated(FILE *out, const struct xst_plan *plan)
{
    struct xst_plan_candidate *const rows = malloc(plan->count * sizeof *rows);
    size_t count = 0;
    char text[192];
    if (!rows)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->considered[i].simulated_us.known)
            rows[count++] = plan->considered[i];
    }
    qsort(rows, count, sizeof *rows, by_time);
    if (count)
        fprintf(out, "\nstepped through time, predicted and simulated us:\n");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %9.4g %9.4g  %s\n", rows[i].predicted_us.value, rows[i].simulated_us.value,
                xst_plan_describe(plan, &rows[i], text, sizeof text));
    free(rows);
}

static void print_chosen(const struct cli *cli, FILE *out, const struct xst_plan *plan)
{
    struct xst_plan_candidate rows[2] = {plan->considered[plan->chosen]};
    size_t count = 1;
    if (plan->runner_up >= 0)
        rows[count++] = plan->considered[plan->runner_up];
    const struct cli_table table = table_of(plan->kind, rows, count);
    cli_table_print(cli, out, &table);
    fprintf(out, "runner-up: %s\n", plan->runner_up_sentence);
}

void cli_plan_print(const struct cli *cli, FILE *out, const struct xst_plan *plan, int sweep)
{
    fprintf(out, "%s%s%s\n", plan->chosen >= 0 ? cli_good(out) : cli_bold(out), plan->sentence, cli_plain(out));
    if (plan->note[0])
        fprintf(out, "%s\n", plan->note);
    fprintf(out, "\n%s%s%s on %s (%s), %zu candidates\n", xst_plan_kind_text(plan->kind), plan->name[0] ? " " : "",
            plan->name, plan->profile_name, plan->profile_id, plan->count);
    if (plan->chosen >= 0) {
        print_chosen(cli, out, plan);
        print_alternatives(out, plan);
        if (plan->kind != XST_PLAN_TRAFFIC)
            fputc('\n', out);
        print_answers(out, plan);
    }
    print_simulated(out, plan);
    if (sweep && plan->chosen >= 0)
        print_pareto(cli, out, plan);
    if (cli->verbose) {
        const struct cli_table table = cli_plan_table(plan);
        fputc('\n', out);
        cli_table_print(cli, out, &table);
    }
}

enum xst_status cli_plan_put(struct cli *cli, json_t *document, const struct xst_plan *plan)
{
    char *text = NULL;
    const enum xst_status status = xst_plan_print(plan, &text, &cli->diag);
    if (status != XST_OK)
        return status;
    json_t *const object = json_loads(text, 0, NULL);
    free(text);
    if (!object)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    json_object_update(document, object);
    json_decref(object);
    return XST_OK;
}
