/* SPDX-License-Identifier: Apache-2.0
 *
 * What to change. Every proposal is judged again on the same profile, and only those that pass are kept.
 */
#include "audit/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double kib = 1024;

/* Share of the drain rate that pacing may use: the recorded slices ran at this. */
static const double pacing_utilisation = 0.87;

struct search {
    const struct xst_profile *profile;
    const struct xst_path *path;
    int extrapolate;
    struct xst_audit *audit;
    double issue_before_us; /* of the case the verdict is about; NAN when not known */
};

void xsti_action_add(struct xst_audit *audit, const struct xst_action *action)
{
    if (audit->action_count < XST_MOST_ACTIONS)
        audit->actions[audit->action_count++] = *action;
}

static void words(struct xst_action *action, const char *from, const char *to)
{
    snprintf(action->from_word, sizeof action->from_word, "%s", from);
    snprintf(action->to_word, sizeof action->to_word, "%s", to);
}

/* " instead of 4.9", or nothing when that is not known. */
static const char *instead(const struct search *search, char text[XSTI_AMOUNT_BYTES + 16])
{
    char us[XSTI_AMOUNT_BYTES];
    text[0] = '\0';
    if (isfinite(search->issue_before_us))
        snprintf(text, XSTI_AMOUNT_BYTES + 16, " instead of %s", xsti_us_text(search->issue_before_us, us));
    return text;
}

static struct xst_action action_of(enum xst_change what, const struct xst_audit_case *after, double bursts_per_tile)
{
    struct xst_action action = {.what = what, .predicted_issue_us = after->issue_us};
    action.issue_per_tile_us = after->issue_us;
    action.issue_per_tile_us.value *= bursts_per_tile;
    return action;
}

/* A measured capacity has an interval; a change that is meant to stay below it must do so at the interval's low end. */
static int fits_low_capacity(const struct xst_path *path, const struct xst_audit_numbers *numbers)
{
    const struct xst_capacity_point *nearest = NULL;
    double nearest_distance = INFINITY;
    for (size_t i = 0; i < path->capacity.count; i++) {
        const double distance = fabs((double)path->capacity.points[i].producers - numbers->producers.value);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = &path->capacity.points[i];
        }
    }
    const double share = nearest && nearest->bytes > 0 ? nearest->low / nearest->bytes : 1;
    return numbers->backlog_bytes.value <= share * numbers->capacity_bytes.value;
}

static int passes(const struct search *search, const struct xsti_judgement *judgement)
{
    return judgement->aligned.verdict == XST_VERDICT_PIGGYBACK &&
           (search->audit->traffic.path.method == XST_METHOD_BULK ||
            fits_low_capacity(search->path, &judgement->numbers));
}

/* The largest n in [1, most] for which the design passes, bursts starting together; 0: none. Passing is monotone in n. */
static int64_t largest_passing(const struct search *search, int64_t most,
                               struct xst_traffic (*variant)(const struct search *search, int64_t n),
                               struct xsti_judgement *judgement)
{
    int64_t low = 0, high = most + 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const struct xst_traffic traffic = variant(search, middle);
        xsti_judge(search->path, &traffic, search->extrapolate, judgement);
        if (passes(search, judgement))
            low = middle;
        else
            high = middle;
    }
    if (low > 0) {
        const struct xst_traffic traffic = variant(search, low);
        xsti_judge(search->path, &traffic, search->extrapolate, judgement);
    }
    return low;
}

/* n KiB per producer; the work between bursts is cut in proportion. */
static struct xst_traffic cut_variant(const struct search *search, int64_t n)
{
    struct xst_traffic traffic = search->audit->traffic;
    traffic.gap_us *= (double)n * kib / traffic.bytes_per_producer;
    traffic.bytes_per_producer = (double)n * kib;
    return traffic;
}

static void try_cut(const struct search *search)
{
    const double bytes = search->audit->traffic.bytes_per_producer;
    char from[XSTI_AMOUNT_BYTES], to[XSTI_AMOUNT_BYTES], us[XSTI_AMOUNT_BYTES], before[XSTI_AMOUNT_BYTES + 16];
    struct xsti_judgement after;
    const int64_t n = largest_passing(search, (int64_t)(ceil(bytes / kib) - 1), cut_variant, &after);
    if (n == 0)
        return;
    struct xst_action action = action_of(XST_CHANGE_BYTES, &after.aligned, ceil(bytes / ((double)n * kib)));
    action.numeric = 1;
    action.from = bytes;
    action.to = (double)n * kib;
    if (search->audit->traffic.path.method == XST_METHOD_BULK)
        action.predicted_release_us = after.aligned.release_us;
    snprintf(action.text, sizeof action.text, "cut the burst from %s to %s per producer: predicted issue %s%s",
             xsti_bytes_text(bytes, from), xsti_bytes_text(action.to, to),
             xsti_us_text(action.predicted_issue_us.value, us), instead(search, before));
    xsti_action_add(search->audit, &action);
}

static const struct xst_path *bulk_path(const struct search *search)
{
    struct xst_path_key key = search->audit->traffic.path;
    key.method = XST_METHOD_BULK;
    const struct xst_path *path = xst_profile_path(search->profile, &key);
    if (path)
        return path;
    key.threads = key.piece_bytes = key.pitch_bytes = 0;
    return xst_profile_path(search->profile, &key);
}

static void try_bulk(const struct search *search, double gap_us)
{
    const struct xst_traffic *const now = &search->audit->traffic;
    const struct xst_path *const path = bulk_path(search);
    char us[3][XSTI_AMOUNT_BYTES], widen[64] = "";
    struct xst_traffic traffic = *now;
    struct xsti_judgement after;
    if (!path || now->path.method == XST_METHOD_BULK)
        return;
    traffic.path.method = XST_METHOD_BULK;
    traffic.gap_us = gap_us;
    xsti_judge(path, &traffic, search->extrapolate, &after);
    if (after.verdict != XST_VERDICT_PIGGYBACK)
        return;
    const struct xst_audit_case *const its = traffic.phase == XST_PHASE_SHIFTED ? &after.drifting : &after.aligned;
    struct xst_action action = action_of(XST_CHANGE_METHOD, its, 1);
    words(&action, xst_method_text(now->path.method), "bulk");
    action.predicted_release_us = its->release_us;
    if (gap_us > now->gap_us)
        snprintf(widen, sizeof widen, " and widen the gap to %s", xsti_us_text(gap_us, us[2]));
    snprintf(action.text, sizeof action.text, "use bulk stores%s: issue %s, staging busy %s of a %s gap", widen,
             xsti_us_text(action.predicted_issue_us.value, us[0]), xsti_us_text(its->release_us.value, us[1]),
             xsti_us_text(gap_us, us[2]));
    xsti_action_add(search->audit, &action);
}

static void try_shift(const struct search *search, double gap_us)
{
    const struct xst_traffic *const now = &search->audit->traffic;
    char us[3][XSTI_AMOUNT_BYTES], before[XSTI_AMOUNT_BYTES + 16], widen[64] = "";
    struct xst_traffic traffic = *now;
    struct xsti_judgement after;
    if (now->phase == XST_PHASE_SHIFTED)
        return;
    traffic.phase = XST_PHASE_SHIFTED;
    traffic.gap_us = gap_us;
    xsti_judge(search->path, &traffic, search->extrapolate, &after);
    if (after.verdict != XST_VERDICT_PIGGYBACK)
        return;
    struct xst_action action = action_of(XST_CHANGE_PHASE, &after.drifting, 1);
    words(&action, xst_phase_text(now->phase), "shifted");
    if (gap_us > now->gap_us)
        snprintf(widen, sizeof widen, ", and widen the gap to %s", xsti_us_text(gap_us, us[2]));
    snprintf(action.text, sizeof action.text,
             "spread the producers over the period, one start every %s%s: predicted issue %s%s",
             xsti_us_text(after.drifting.period_us.value / (double)now->producers, us[0]), widen,
             xsti_us_text(action.predicted_issue_us.value, us[1]), instead(search, before));
    xsti_action_add(search->audit, &action);
}

/* n producers at once, the groups following each other within one period. */
static struct xst_traffic group_variant(const struct search *search, int64_t n)
{
    struct xst_traffic traffic = search->audit->traffic;
    const double floor_us = search->audit->numbers.issue_floor_us.value;
    const double groups = ceil((double)traffic.producers / (double)n);
    traffic.gap_us = fmax((floor_us + traffic.gap_us) / groups - floor_us, 0);
    traffic.producers = n;
    return traffic;
}

static void try_groups(const struct search *search)
{
    const struct xst_traffic *const now = &search->audit->traffic;
    char us[2][XSTI_AMOUNT_BYTES], before[XSTI_AMOUNT_BYTES + 16];
    struct xsti_judgement after;
    const int64_t n = largest_passing(search, now->producers - 1, group_variant, &after);
    if (n == 0)
        return;
    const double groups = ceil((double)now->producers / (double)n);
    struct xst_action action = action_of(XST_CHANGE_PRODUCERS, &after.aligned, 1);
    action.numeric = 1;
    action.from = (double)now->producers;
    action.to = (double)n;
    snprintf(action.text, sizeof action.text,
             "let at most %lld of %lld producers burst at once, %.0f groups, one every %s: predicted issue %s%s",
             (long long)n, (long long)now->producers, groups,
             xsti_us_text((search->audit->numbers.issue_floor_us.value + now->gap_us) / groups, us[0]),
             xsti_us_text(action.predicted_issue_us.value, us[1]), instead(search, before));
    xsti_action_add(search->audit, &action);
}

/* The rate bound fails: the gap at which it holds, alone if that is enough, else with the other remedies. */
static void try_gap(const struct search *search)
{
    const struct xst_traffic *const now = &search->audit->traffic;
    const double gap_us = ceil(search->audit->numbers.recovery_gap_remote_us.value * 100) / 100;
    char us[3][XSTI_AMOUNT_BYTES], before[XSTI_AMOUNT_BYTES + 16];
    struct xst_traffic traffic = *now;
    struct xsti_judgement after;
    traffic.gap_us = gap_us;
    xsti_judge(search->path, &traffic, search->extrapolate, &after);
    if (after.verdict != XST_VERDICT_PIGGYBACK) {
        try_shift(search, gap_us);
        try_bulk(search, gap_us);
        return;
    }
    const struct xst_audit_case *const its = now->phase == XST_PHASE_SHIFTED ? &after.drifting : &after.aligned;
    struct xst_action action = action_of(XST_CHANGE_GAP, its, 1);
    action.numeric = 1;
    action.from = now->gap_us;
    action.to = gap_us;
    snprintf(action.text, sizeof action.text, "put %s more work between bursts, %s in all: predicted issue %s%s",
             xsti_us_text(gap_us - now->gap_us, us[0]), xsti_us_text(gap_us, us[1]),
             xsti_us_text(action.predicted_issue_us.value, us[2]), instead(search, before));
    xsti_action_add(search->audit, &action);
}

/* (17): the tile stays in staging and leaves in slices over the next gap, so that the backlog never exceeds Q_free. */
static void try_pacing(const struct search *search)
{
    const struct xst_traffic *const now = &search->audit->traffic;
    const struct xst_audit_numbers *const numbers = &search->audit->numbers;
    const double leaving = (double)now->producers * now->burst_remote_frac;
    const double slice = floor(numbers->free_capacity_bytes.value / leaving / 128) * 128;
    char text[3][XSTI_AMOUNT_BYTES];
    if (slice < 128)
        return;
    const double slices = ceil(now->bytes_per_producer / slice), every_us = now->gap_us / slices;
    if (leaving * slice > pacing_utilisation * numbers->drain_bytes_per_us.value * every_us)
        return;
    struct xst_traffic traffic = *now;
    struct xsti_judgement after;
    traffic.bytes_per_producer = slice;
    traffic.gap_us = every_us;
    xsti_judge(search->path, &traffic, search->extrapolate, &after);
    if (after.verdict == XST_VERDICT_RESHAPE || after.bystander_holds == XST_ANSWER_NO)
        return;
    struct xst_action action = action_of(XST_CHANGE_SLICES, &after.aligned, slices);
    action.numeric = 1;
    action.from = 1;
    action.to = slices;
    snprintf(action.text, sizeof action.text,
             "issue the tile in %.0f slices of %s, one every %s: local loads no longer wait %s behind a burst", slices,
             xsti_bytes_text(slice, text[0]), xsti_us_text(every_us, text[1]),
             xsti_us_text(numbers->bystander_delay_us.value, text[2]));
    xsti_action_add(search->audit, &action);
}

/* Least issue time for what was one burst comes first; an unknown one last. */
static int compare(const void *left, const void *right)
{
    const struct xst_action *const a = left, *const b = right;
    const double x = a->issue_per_tile_us.known ? a->issue_per_tile_us.value : INFINITY;
    const double y = b->issue_per_tile_us.known ? b->issue_per_tile_us.value : INFINITY;
    if (x != y)
        return x < y ? -1 : 1;
    return (int)a->what - (int)b->what;
}

void xsti_actions_find(const struct xst_profile *profile, const struct xst_path *path, int extrapolate,
                       struct xst_audit *audit)
{
    const struct xst_audit_case *const its =
        audit->traffic.phase == XST_PHASE_SHIFTED ? &audit->drifting : &audit->aligned;
    const struct search search = {profile, path, extrapolate, audit, its->issue_us.known ? its->issue_us.value : NAN};
    const size_t kept = audit->action_count; /* the kernel's own proposals stay in front */
    if (audit->verdict == XST_VERDICT_RESHAPE && audit->rate.holds == XST_ANSWER_YES) {
        try_bulk(&search, audit->traffic.gap_us);
        try_cut(&search);
        try_shift(&search, audit->traffic.gap_us);
        try_groups(&search);
    } else if (audit->verdict == XST_VERDICT_RESHAPE && audit->rate.holds == XST_ANSWER_NO) {
        try_gap(&search);
    }
    if (audit->bystander_holds == XST_ANSWER_NO)
        try_pacing(&search);
    qsort(audit->actions + kept, audit->action_count - kept, sizeof *audit->actions, compare);
}
