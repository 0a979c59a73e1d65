/* SPDX-License-Identifier: Apache-2.0 */
#include "audit_view.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct cli_cell number(const struct xst_number *value)
{
    return value->known ? cli_real_cell(value->value) : cli_null();
}

static struct cli_cell answer(enum xst_answer value)
{
    return value == XST_ANSWER_UNKNOWN ? cli_null() : cli_bool_cell(value == XST_ANSWER_YES);
}

static struct cli_cell verdict(enum xst_verdict value)
{
    return value == XST_VERDICT_UNKNOWN ? cli_null() : cli_text_cell(xst_verdict_text(value));
}

/* Rows: one per audit. */
static const char *kernel_of(const struct xst_audit *audit)
{
    return audit->kind == XST_AUDIT_FA_A2A ? "fa-a2a" : audit->kind == XST_AUDIT_MOE ? "moe" : audit->traffic.kernel;
}

static const char *first_action(const struct xst_audit *audit)
{
    return audit->action_count ? audit->actions[0].text : NULL;
}

static struct cli_cell size_of(const struct xst_audit *audit)
{
    return audit->kind == XST_AUDIT_FA_A2A ? cli_int_cell(audit->fa_shape.seq)
           : audit->kind == XST_AUDIT_MOE  ? cli_int_cell(audit->moe_shape.tokens)
                                           : cli_null();
}

static struct cli_cell ranks_of(const struct xst_audit *audit)
{
    return audit->kind == XST_AUDIT_FA_A2A ? cli_int_cell(audit->fa_shape.ranks)
           : audit->kind == XST_AUDIT_MOE  ? cli_int_cell(audit->moe_shape.ranks)
                                           : cli_null();
}

#define GETTER(name, expression)                                                                                       \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct xst_audit *const a = row;                                                                         \
        return expression;                                                                                             \
    }
GETTER(kernel, cli_text_cell(kernel_of(a)))
GETTER(name, cli_text_cell(a->name))
GETTER(profile, cli_text_cell(a->profile_name[0] ? a->profile_name : a->profile_id))
GETTER(profile_id, cli_text_cell(a->profile_id))
GETTER(size, size_of(a))
GETTER(ranks, ranks_of(a))
GETTER(method, cli_text_cell(xst_method_text(a->traffic.path.method)))
GETTER(verdict, verdict(a->verdict))
GETTER(producers, cli_int_cell(a->traffic.producers))
GETTER(bytes, cli_real_cell(a->traffic.bytes_per_producer))
GETTER(gap, number(&a->numbers.gap_us))
GETTER(recovery, number(&a->numbers.recovery_gap_us))
GETTER(floor, number(&a->numbers.issue_floor_us))
GETTER(aligned, number(&a->aligned.issue_us))
GETTER(drifting, number(&a->drifting.issue_us))
GETTER(release, number(&a->numbers.release_aligned_us))
GETTER(rate, number(&a->rate.margin_bytes))
GETTER(capacity, number(&a->capacity.margin_bytes))
GETTER(bystander, number(&a->numbers.bystander_delay_us))
GETTER(m_upper_bound, number(&a->fa.m_upper_bound))
GETTER(lead, number(&a->moe.lead_knee_tiles))
GETTER(schedule, a->moe.recommended_known ? cli_text_cell(xst_schedule_text(a->moe.recommended)) : cli_null())
GETTER(action, cli_text_cell(first_action(a)))
#undef GETTER

static const struct cli_column columns[] = {
    {"kernel", NULL, CLI_SHOW_PLAIN, 0, get_kernel},
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_name},
    {"profile", NULL, CLI_SHOW_PLAIN, 1, get_profile},
    {"profile_id", NULL, CLI_SHOW_PLAIN, 1, get_profile_id},
    {"tokens", NULL, CLI_SHOW_PLAIN, 0, get_size},
    {"ranks", NULL, CLI_SHOW_PLAIN, 0, get_ranks},
    {"method", NULL, CLI_SHOW_PLAIN, 0, get_method},
    {"verdict", NULL, CLI_SHOW_PLAIN, 0, get_verdict},
    {"producers", "K", CLI_SHOW_PLAIN, 0, get_producers},
    {"bytes_per_producer", "bytes each", CLI_SHOW_BYTES, 0, get_bytes},
    {"gap_us", NULL, CLI_SHOW_US, 0, get_gap},
    {"recovery_gap_us", NULL, CLI_SHOW_US, 0, get_recovery},
    {"issue_floor_us", NULL, CLI_SHOW_US, 1, get_floor},
    {"issue_aligned_us", "aligned_us", CLI_SHOW_US, 0, get_aligned},
    {"issue_drifting_us", "drifting_us", CLI_SHOW_US, 0, get_drifting},
    {"release_aligned_us", NULL, CLI_SHOW_US, 1, get_release},
    {"margin_rate_bytes", "rate margin", CLI_SHOW_BYTES, 0, get_rate},
    {"margin_capacity_bytes", "capacity margin", CLI_SHOW_BYTES, 0, get_capacity},
    {"bystander_delay_us", NULL, CLI_SHOW_US, 1, get_bystander},
    {"m_upper_bound", NULL, CLI_SHOW_PLAIN, 1, get_m_upper_bound},
    {"lead_knee_tiles", NULL, CLI_SHOW_PLAIN, 1, get_lead},
    {"recommended_schedule", NULL, CLI_SHOW_PLAIN, 1, get_schedule},
    {"action", NULL, CLI_SHOW_PLAIN, 1, get_action},
};

struct cli_table cli_audit_table(const struct xst_audit *audits, size_t count)
{
    return (struct cli_table){columns, COUNT(columns), audits, count, sizeof *audits};
}

/* The bounds as a table: what is asked, what there is, what is left. */
struct bound_row {
    const char *bound;
    const char *asked;
    const char *room;
    struct xst_number need;
    struct xst_number have;
    struct xst_number margin;
    enum xst_answer holds;
    int in_us;
    char need_text[48];
    char have_text[48];
    char margin_text[48];
};

static struct cli_cell get_bound(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->bound);
}
static struct cli_cell get_asked(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->asked);
}
static struct cli_cell get_need(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->need_text);
}
static struct cli_cell get_room(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->room);
}
static struct cli_cell get_have(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->have_text);
}
static struct cli_cell get_margin(const void *row)
{
    return cli_text_cell(((const struct bound_row *)row)->margin_text);
}
static struct cli_cell get_holds(const void *row)
{
    return answer(((const struct bound_row *)row)->holds);
}

static const struct cli_column bound_columns[] = {
    {"bound", NULL, CLI_SHOW_PLAIN, 0, get_bound},  {"needs", NULL, CLI_SHOW_PLAIN, 0, get_need},
    {"of what", " ", CLI_SHOW_PLAIN, 0, get_asked}, {"has", NULL, CLI_SHOW_PLAIN, 0, get_have},
    {"where", " ", CLI_SHOW_PLAIN, 0, get_room},    {"margin", NULL, CLI_SHOW_PLAIN, 0, get_margin},
    {"holds", NULL, CLI_SHOW_PLAIN, 0, get_holds},
};

static void amount(const struct xst_number *value, int in_us, char text[48])
{
    char plain[40];
    if (!value->known) {
        text[0] = '\0';
        return;
    }
    cli_show_number(value->value, in_us ? CLI_SHOW_US : CLI_SHOW_BYTES, plain, sizeof plain);
    snprintf(text, 48, "%s%s", plain, in_us ? " us" : "");
}

static struct xst_number minus(const struct xst_number *a, const struct xst_number *b)
{
    return (struct xst_number){a->value - b->value, a->known && b->known, 0};
}

static size_t fill_bounds(const struct xst_audit *audit, struct bound_row rows[4])
{
    const struct xst_audit_numbers *const n = &audit->numbers;
    const int bulk = audit->traffic.path.method == XST_METHOD_BULK;
    struct xst_number room = {n->remote_bytes.value + audit->rate.margin_bytes.value, audit->rate.margin_bytes.known,
                              0};
    size_t count = 0;
    rows[count++] = (struct bound_row){.bound = "rate",
                                       .asked = "leave per period",
                                       .room = "drain meanwhile",
                                       .need = n->remote_bytes,
                                       .have = room,
                                       .margin = audit->rate.margin_bytes,
                                       .holds = audit->rate.holds};
    rows[count++] = (struct bound_row){.bound = bulk ? "capacity (not judged)" : "capacity",
                                       .asked = "left by the largest burst",
                                       .room = "fit in the stage",
                                       .need = n->backlog_bytes,
                                       .have = n->capacity_bytes,
                                       .margin = audit->capacity.margin_bytes,
                                       .holds = audit->capacity.holds};
    if (bulk)
        rows[count++] = (struct bound_row){.bound = "staging",
                                           .asked = "busy",
                                           .room = "until needed again",
                                           .need = n->release_aligned_us,
                                           .have = n->release_budget_us,
                                           .margin = minus(&n->release_budget_us, &n->release_aligned_us),
                                           .holds = audit->staging.holds,
                                           .in_us = 1};
    rows[count++] = (struct bound_row){.bound = "bystanders",
                                       .asked = "local loads wait",
                                       .room = "prefetched",
                                       .need = n->bystander_delay_us,
                                       .have = n->prefetch_us,
                                       .margin = minus(&n->prefetch_us, &n->bystander_delay_us),
                                       .holds = audit->bystander_holds,
                                       .in_us = 1};
    if (!n->bystander_delay_us.known)
        rows[count - 1].asked = "not measured on this path";
    for (size_t i = 0; i < count; i++) {
        amount(&rows[i].need, rows[i].in_us, rows[i].need_text);
        amount(&rows[i].have, rows[i].in_us, rows[i].have_text);
        amount(&rows[i].margin, rows[i].in_us, rows[i].margin_text);
    }
    return count;
}

/* Cases: bursts that start together, and bursts that drift. For moe, of both schedules. */
struct case_row {
    const char *schedule;
    const char *name;
    struct xst_number gap_us;
    struct xst_audit_case value;
};

#define GETTER(field, expression)                                                                                      \
    static struct cli_cell get_case_##field(const void *row)                                                           \
    {                                                                                                                  \
        const struct case_row *const r = row;                                                                          \
        return expression;                                                                                             \
    }
GETTER(schedule, cli_text_cell(r->schedule))
GETTER(name, cli_text_cell(r->name))
GETTER(gap, number(&r->gap_us))
GETTER(verdict, verdict(r->value.verdict))
GETTER(issue, number(&r->value.issue_us))
GETTER(period, number(&r->value.period_us))
GETTER(release, number(&r->value.release_us))
#undef GETTER

static const struct cli_column case_columns[] = {
    {"schedule", NULL, CLI_SHOW_PLAIN, 0, get_case_schedule}, {"bursts", NULL, CLI_SHOW_PLAIN, 0, get_case_name},
    {"gap_us", NULL, CLI_SHOW_US, 0, get_case_gap},           {"issue_us", NULL, CLI_SHOW_US, 0, get_case_issue},
    {"period_us", NULL, CLI_SHOW_US, 0, get_case_period},     {"staging_us", NULL, CLI_SHOW_US, 0, get_case_release},
    {"verdict", NULL, CLI_SHOW_PLAIN, 0, get_case_verdict},
};

static void print_cases(const struct cli *cli, FILE *out, const struct xst_audit *audit)
{
    struct case_row rows[4];
    size_t count = 0;
    if (audit->kind == XST_AUDIT_MOE) {
        for (size_t i = 0; i < 2; i++) {
            const struct xst_audit_schedule *const s = &audit->schedules[i];
            rows[count++] = (struct case_row){xst_schedule_text(s->schedule), "start together", s->gap_us, s->aligned};
            rows[count++] = (struct case_row){xst_schedule_text(s->schedule), "drift apart", s->gap_us, s->drifting};
        }
    } else {
        rows[count++] = (struct case_row){NULL, "start together", audit->numbers.gap_us, audit->aligned};
        rows[count++] = (struct case_row){NULL, "drift apart", audit->numbers.gap_us, audit->drifting};
    }
    const size_t skip = audit->kind == XST_AUDIT_MOE ? 0 : 1;
    const struct cli_table table = {case_columns + skip, COUNT(case_columns) - skip, rows, count, sizeof *rows};
    cli_table_print(cli, out, &table);
}

/* "%s" of a number, "-" when it is not known. */
static const char *shown(const struct xst_number *value, enum cli_show show, char text[40])
{
    if (!value->known)
        return "-";
    return cli_show_number(value->value, show, text, 40);
}

static void print_fa(FILE *out, const struct xst_audit *audit)
{
    const struct xst_audit_fa *const fa = &audit->fa;
    char t[8][40];
    fprintf(out, "tiles: %s of %lld x %lld in %s waves, %s us per key block, %s key blocks\n",
            shown(&fa->tiles, CLI_SHOW_PLAIN, t[0]), (long long)audit->fa_plan.tile_rows,
            (long long)audit->fa_shape.head_dim, shown(&fa->waves, CLI_SHOW_PLAIN, t[1]),
            shown(&fa->t_kv_min_us, CLI_SHOW_US, t[2]), shown(&fa->kv_blocks, CLI_SHOW_PLAIN, t[3]));
    fprintf(out, "rate bound holds from %s tokens on when all of a burst leaves, from %s with this rank count (12)\n",
            shown(&fa->m_upper_bound, CLI_SHOW_PLAIN, t[4]), shown(&fa->m_upper_bound_remote, CLI_SHOW_PLAIN, t[5]));
    fprintf(out, "exposed, aligned: issue %s us + tail %s us beside %s us of attention at peak\n",
            shown(&fa->exposed_issue_us, CLI_SHOW_US, t[0]), shown(&fa->tail_us, CLI_SHOW_US, t[1]),
            shown(&fa->compute_us, CLI_SHOW_US, t[2]));
}

static void print_moe(FILE *out, const struct xst_audit *audit)
{
    const struct xst_audit_moe *const moe = &audit->moe;
    char t[8][40];
    fprintf(out, "tiles: %s Linear-1 of %s us, %s Linear-2 of %s us, %s Linear-1 per Linear-2\n",
            shown(&moe->l1_tiles, CLI_SHOW_PLAIN, t[0]), shown(&moe->t_l1_us, CLI_SHOW_US, t[1]),
            shown(&moe->l2_tiles, CLI_SHOW_PLAIN, t[2]), shown(&moe->t_l2_us, CLI_SHOW_US, t[3]),
            shown(&moe->rho, CLI_SHOW_US, t[4]));
    fprintf(out,
            "lead without starvation, in Linear-1 tiles: %s in steady state, %s with start-up, %s with the tail; (15) "
            "says %s\n",
            shown(&moe->lead_knee_tiles, CLI_SHOW_PLAIN, t[0]), shown(&moe->lead_startup_tiles, CLI_SHOW_PLAIN, t[1]),
            shown(&moe->lead_tail_tiles, CLI_SHOW_PLAIN, t[2]), shown(&moe->lead_first_tiles, CLI_SHOW_PLAIN, t[3]));
    if (moe->lead_tiles.known)
        fprintf(out,
                "at a lead of %s tiles an SM waits %s us in the whole call; %s Linear-2 tiles starve in steady state\n",
                shown(&moe->lead_tiles, CLI_SHOW_PLAIN, t[0]), shown(&moe->lead_stall_us, CLI_SHOW_US, t[1]),
                shown(&moe->lead_starved_tiles, CLI_SHOW_PLAIN, t[2]));
    if (moe->recommended_known)
        fprintf(out, "recommended schedule: %s\n", xst_schedule_text(moe->recommended));
}

static const char *verdict_colour(FILE *out, enum xst_verdict value)
{
    return value == XST_VERDICT_PIGGYBACK ? cli_good(out) : value == XST_VERDICT_RESHAPE ? cli_bad(out) : cli_bold(out);
}

static void print_actions(FILE *out, const struct xst_audit *audit)
{
    if (audit->action_count)
        fprintf(out, "\nwhat to change, best first:\n");
    for (size_t i = 0; i < audit->action_count; i++)
        fprintf(out, "  %zu. %s\n", i + 1, audit->actions[i].text);
    if (audit->verdict == XST_VERDICT_RESHAPE && audit->action_count == 0)
        fprintf(out, "\nno single change that this profile can predict makes the design hold\n");
}

void cli_audit_print(const struct cli *cli, FILE *out, const struct xst_profile *profile, const struct xst_audit *audit)
{
    struct bound_row rows[4];
    const struct xst_path *const path = xst_profile_path(profile, &audit->traffic.path);
    const struct cli_table bounds = {bound_columns, COUNT(bound_columns), rows, fill_bounds(audit, rows), sizeof *rows};
    char text[64];
    fprintf(out, "%s%s%s\n", verdict_colour(out, audit->verdict), audit->sentence, cli_plain(out));
    if (audit->note[0])
        fprintf(out, "%s\n", audit->note);
    fprintf(out, "\n%s%s%s on %s (%s), path %s\n", kernel_of(audit), audit->name[0] ? " " : "", audit->name,
            audit->profile_name, audit->profile_id, path ? xst_path_text(path, text, sizeof text) : "-");
    cli_table_print(cli, out, &bounds);
    fputc('\n', out);
    print_cases(cli, out, audit);
    if (audit->kind != XST_AUDIT_TRAFFIC)
        fputc('\n', out);
    if (audit->kind == XST_AUDIT_FA_A2A)
        print_fa(out, audit);
    if (audit->kind == XST_AUDIT_MOE)
        print_moe(out, audit);
    print_actions(out, audit);
}

void cli_audits_print(const struct cli *cli, FILE *out, const struct xst_audit *audits, size_t count)
{
    const struct cli_table table = cli_audit_table(audits, count);
    cli_table_print(cli, out, &table);
    for (size_t i = 0; i < count; i++) {
        const struct xst_audit *const audit = &audits[i];
        if (audit->verdict == XST_VERDICT_UNKNOWN)
            fprintf(out, "%s%s: %s\n", i ? "" : "\n", audit->name[0] ? audit->name : kernel_of(audit), audit->sentence);
    }
}

void cli_audits_brief(FILE *out, const struct xst_audit *audits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct xst_audit *const audit = &audits[i];
        fprintf(out, "%s%s%s: %s%s%s\n", kernel_of(audit), audit->name[0] ? " " : "", audit->name,
                verdict_colour(out, audit->verdict), audit->sentence, cli_plain(out));
        if (audit->action_count)
            fprintf(out, "  first: %s\n", audit->actions[0].text);
    }
}

enum xst_status cli_audit_put(struct cli *cli, json_t *document, const struct xst_audit *audit)
{
    char *text = NULL;
    const enum xst_status status = xst_audit_print(audit, &text, &cli->diag);
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
