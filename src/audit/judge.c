/* SPDX-License-Identifier: Apache-2.0
 *
 * The design test (10), (16) on one path. Three volumes matter: V = K*B as issued, f*V that leaves per period in the long run
 * (rate bound), and the largest burst that leaves at once (capacity bound).
 */
#include "audit/judge.h"

#include <math.h>
#include <string.h>

struct xst_number xsti_number_of(double value)
{
    return (struct xst_number){value, 1, 0};
}

/* A number that follows from known ones. */
static struct xst_number derived(double value, int known)
{
    return known && isfinite(value) ? xsti_number_of(value) : (struct xst_number){0, 0, 0};
}

static struct xst_number looked_up(enum xst_status status, double value, int beyond)
{
    return status == XST_OK ? (struct xst_number){value, 1, beyond} : (struct xst_number){0, 0, 0};
}

struct xsti_tables xsti_tables_read(const struct xst_path *path, double producers, double bytes_per_producer,
                                    int extrapolate)
{
    struct xsti_tables tables = {0};
    double value = 0;
    int beyond = 0;
    tables.drain = derived(path->drain_bytes_per_us.value, path->drain_bytes_per_us.known);
    enum xst_status status = xst_path_floor_us(path, producers, bytes_per_producer, extrapolate, &value, &beyond);
    tables.floor = looked_up(status, value, beyond);
    status = xst_path_capacity_bytes(path, producers, extrapolate, &value, &beyond);
    tables.capacity = looked_up(status, value, beyond);
    if (path->release_floor.count == 0) /* plain stores: staging is free when the issue is over */
        return tables;
    status = xst_path_release_floor_us(path, producers, bytes_per_producer, extrapolate, &value, &beyond);
    tables.release_floor = looked_up(status, value, beyond);
    status = xst_path_release_capacity_bytes(path, producers, extrapolate, &value, &beyond);
    tables.release_capacity = looked_up(status, value, beyond);
    return tables;
}

static enum xst_answer answer(const struct xst_number *margin)
{
    if (!margin->known)
        return XST_ANSWER_UNKNOWN;
    return margin->value >= 0 ? XST_ANSWER_YES : XST_ANSWER_NO;
}

static struct xst_bound bound(double margin, int known)
{
    const struct xst_number number = derived(margin, known);
    return (struct xst_bound){answer(&number), number};
}

static enum xst_verdict both(enum xst_answer a, enum xst_answer b)
{
    if (a == XST_ANSWER_NO || b == XST_ANSWER_NO)
        return XST_VERDICT_RESHAPE;
    return a == XST_ANSWER_YES && b == XST_ANSWER_YES ? XST_VERDICT_PIGGYBACK : XST_VERDICT_UNKNOWN;
}

/* The stages of one design: the same T0, R, Q with the three volumes; `release` is the staging's of bulk stores. */
struct stages {
    struct xst_stage all;
    struct xst_stage lasting;
    struct xst_stage largest;
    struct xst_stage release_lasting;
    struct xst_stage release_largest;
    int drain;  /* known: R */
    int issue;  /* known: R, T0 */
    int hold;   /* known: R, T0, Q */
    int staged; /* bulk stores */
};

static struct stages stages_of(const struct xsti_tables *tables, const struct xst_traffic *traffic)
{
    const double volume = (double)traffic->producers * traffic->bytes_per_producer;
    struct stages stages = {.staged = traffic->path.method == XST_METHOD_BULK};
    stages.drain = tables->drain.known;
    stages.issue = stages.drain && tables->floor.known;
    stages.hold = stages.issue && tables->capacity.known;
    stages.all = (struct xst_stage){tables->floor.value, stages.drain ? tables->drain.value : 1,
                                    tables->capacity.known ? tables->capacity.value : INFINITY, volume};
    stages.lasting = stages.largest = stages.all;
    stages.lasting.burst_bytes = traffic->remote_frac * volume;
    stages.largest.burst_bytes = traffic->burst_remote_frac * volume;
    stages.release_lasting = stages.lasting;
    stages.release_largest = stages.largest;
    stages.release_lasting.floor_us = stages.release_largest.floor_us = tables->release_floor.value;
    stages.release_lasting.capacity_bytes = stages.release_largest.capacity_bytes =
        tables->release_capacity.known ? tables->release_capacity.value : INFINITY;
    return stages;
}

static void issue_numbers(const struct stages *stages, const struct xst_traffic *traffic,
                          const struct xsti_tables *tables, struct xst_audit_numbers *numbers)
{
    const double gap_us = traffic->gap_us;
    numbers->producers = xsti_number_of((double)traffic->producers);
    numbers->bytes_per_producer = xsti_number_of(traffic->bytes_per_producer);
    numbers->burst_bytes = xsti_number_of(stages->all.burst_bytes);
    numbers->remote_bytes = xsti_number_of(stages->lasting.burst_bytes);
    numbers->largest_burst_bytes = xsti_number_of(stages->largest.burst_bytes);
    numbers->gap_us = xsti_number_of(gap_us);
    numbers->drain_bytes_per_us = tables->drain;
    numbers->drain_us = derived(stages->all.burst_bytes / stages->all.drain_bytes_per_us, stages->drain);
    numbers->issue_floor_us = tables->floor;
    numbers->recovery_gap_us = derived(xst_law_recovery_gap_us(&stages->all), stages->issue);
    numbers->recovery_gap_remote_us = derived(xst_law_recovery_gap_us(&stages->lasting), stages->issue);
    numbers->issue_us = derived(xst_law_issue_us(&stages->lasting, gap_us), stages->issue);
    numbers->issue_peak_us = derived(xst_law_issue_us(&stages->largest, gap_us), stages->issue);
    numbers->issue_aligned_us = derived(xst_law_aligned_issue_us(&stages->largest, gap_us), stages->hold);
    numbers->isolated_issue_us = derived(xst_law_isolated_issue_us(&stages->largest), stages->hold);
    numbers->period_us = derived(xst_law_period_us(&stages->lasting, gap_us), stages->issue);
    numbers->completion_coupled_period_us =
        derived(xst_law_completion_coupled_us(&stages->lasting, gap_us), stages->drain);
    numbers->backlog_bytes = derived(xst_law_backlog_bytes(&stages->largest), stages->issue);
    numbers->capacity_bytes = tables->capacity;
    if (!stages->staged)
        return;
    /* The backpressure of bulk stores shows in the release: the issue stays on its floor until the stage is full. */
    numbers->issue_us = numbers->issue_peak_us = tables->floor;
    numbers->issue_aligned_us = numbers->isolated_issue_us;
}

/* Staging of bulk stores: how long it is busy, and when it is needed again. */
static void release_numbers(const struct stages *stages, const struct xst_traffic *traffic,
                            const struct xsti_tables *tables, struct xst_audit_numbers *numbers)
{
    const double slots = traffic->staging_slots > 1 ? (double)traffic->staging_slots : 1;
    const int known = stages->drain && tables->release_floor.known;
    numbers->release_floor_us = tables->release_floor;
    numbers->release_us = derived(xst_law_issue_us(&stages->release_lasting, traffic->gap_us), known);
    numbers->release_aligned_us =
        derived(xst_law_isolated_issue_us(&stages->release_largest), known && tables->release_capacity.known);
    numbers->release_budget_us =
        derived(traffic->gap_us + (slots - 1) * (tables->floor.value + traffic->gap_us), tables->floor.known);
}

/* (16) right after the largest burst. Plain stores leave at most Q behind; what bulk stores leave waits in staging as well. */
static void bystanders(const struct xst_path *path, const struct stages *stages, const struct xst_traffic *traffic,
                       struct xsti_judgement *judgement)
{
    struct xst_audit_numbers *const numbers = &judgement->numbers;
    const struct xst_measure *const free_bytes = &path->free_capacity_bytes;
    numbers->prefetch_us = derived(traffic->prefetch_us, traffic->prefetch_us >= 0);
    numbers->free_capacity_bytes = derived(free_bytes->value, free_bytes->known);
    if (!free_bytes->known || !stages->issue)
        return;
    const double backlog = stages->staged ? numbers->backlog_bytes.value
                                          : fmin(numbers->backlog_bytes.value, stages->largest.capacity_bytes);
    const double delay = xst_law_bystander_delay_us(backlog, free_bytes->value, stages->all.drain_bytes_per_us);
    numbers->bystander_delay_us = xsti_number_of(delay);
    const int holds = delay <= 0 || (numbers->prefetch_us.known && delay <= numbers->prefetch_us.value);
    judgement->bystander_holds = holds ? XST_ANSWER_YES : XST_ANSWER_NO;
}

static void plain_cases(const struct xst_traffic *traffic, struct xsti_judgement *judgement)
{
    const struct xst_audit_numbers *const numbers = &judgement->numbers;
    const struct xst_number aligned = numbers->issue_aligned_us;
    judgement->aligned = (struct xst_audit_case){both(judgement->rate.holds, judgement->capacity.holds), aligned,
                                                 derived(aligned.value + traffic->gap_us, aligned.known), aligned};
    judgement->drifting = (struct xst_audit_case){both(judgement->rate.holds, judgement->rate.holds), numbers->issue_us,
                                                  numbers->period_us, numbers->issue_us};
}

/* One period: issue and gap, longer when the staging comes back late or the path does not drain fast enough. */
static struct xst_number staged_period(const struct xst_audit_numbers *numbers, const struct xst_number *release,
                                       double slots)
{
    const double late = release->value - numbers->release_budget_us.value;
    const double own = numbers->issue_floor_us.value + numbers->gap_us.value + (late > 0 ? late / slots : 0);
    return derived(fmax(own, numbers->period_us.value),
                   release->known && numbers->release_budget_us.known && numbers->period_us.known);
}

static void bulk_cases(const struct stages *stages, const struct xst_traffic *traffic, struct xsti_judgement *judgement)
{
    const struct xst_audit_numbers *const numbers = &judgement->numbers;
    const double slots = traffic->staging_slots > 1 ? (double)traffic->staging_slots : 1;
    const double budget = numbers->release_budget_us.value, drain = stages->all.drain_bytes_per_us;
    judgement->staging = bound(drain * (budget - numbers->release_aligned_us.value),
                               numbers->release_aligned_us.known && numbers->release_budget_us.known);
    const struct xst_bound drifting = bound(drain * (budget - numbers->release_us.value),
                                            numbers->release_us.known && numbers->release_budget_us.known);
    judgement->aligned =
        (struct xst_audit_case){both(judgement->rate.holds, judgement->staging.holds), numbers->issue_aligned_us,
                                staged_period(numbers, &numbers->release_aligned_us, slots),
                                numbers->release_aligned_us};
    judgement->drifting =
        (struct xst_audit_case){both(judgement->rate.holds, drifting.holds), numbers->issue_us,
                                staged_period(numbers, &numbers->release_us, slots), numbers->release_us};
}

static const char *first_missing(const struct stages *stages, const struct xsti_tables *tables)
{
    if (!tables->drain.known)
        return "drain rate";
    if (!tables->floor.known)
        return "issue floor";
    if (stages->staged)
        return !tables->release_floor.known      ? "staging release floor"
               : !tables->release_capacity.known ? "staging release capacity"
                                                 : NULL;
    return tables->capacity.known ? NULL : "capacity";
}

void xsti_judge(const struct xst_path *path, const struct xst_traffic *traffic, int extrapolate,
                struct xsti_judgement *judgement_out)
{
    const struct xsti_tables tables =
        xsti_tables_read(path, (double)traffic->producers, traffic->bytes_per_producer, extrapolate);
    const struct stages stages = stages_of(&tables, traffic);
    struct xsti_judgement *const judgement = judgement_out;
    memset(judgement, 0, sizeof *judgement);
    issue_numbers(&stages, traffic, &tables, &judgement->numbers);
    judgement->rate = bound(xst_law_margin_rate_bytes(&stages.lasting, traffic->gap_us), stages.issue);
    judgement->capacity = bound(xst_law_margin_capacity_bytes(&stages.largest), stages.hold);
    bystanders(path, &stages, traffic, judgement);
    if (stages.staged) {
        release_numbers(&stages, traffic, &tables, &judgement->numbers);
        bulk_cases(&stages, traffic, judgement);
    } else {
        plain_cases(traffic, judgement);
    }
    judgement->verdict = traffic->phase == XST_PHASE_SHIFTED ? judgement->drifting.verdict : judgement->aligned.verdict;
    judgement->missing = first_missing(&stages, &tables);
    judgement->extrapolated = tables.floor.extrapolated || tables.capacity.extrapolated ||
                              tables.release_floor.extrapolated || tables.release_capacity.extrapolated;
}
