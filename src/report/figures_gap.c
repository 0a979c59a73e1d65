/* SPDX-License-Identifier: Apache-2.0
 *
 * Issue and period against the gap, at the largest producer count.
 */
#include <math.h>
#include <stdio.h>

#include "base/stats.h"
#include "report/figures.h"

enum { LINE_POINTS = 40, LEAST_GAPS = 4 };

/* Byte counts with a gap sweep; without samples those of the floor table at these producers. */
static struct xsti_choice bytes_of(const struct xsti_subject *subject)
{
    if (subject->samples)
        return xsti_choose_bytes(subject->samples, subject->path, XST_MODE_PERIODIC, subject->producers, LEAST_GAPS);
    struct xsti_choice choice = {{0}, 0};
    const struct xst_floor_table *const table = &subject->path->issue_floor;
    for (size_t i = 0; i < table->count && choice.count < XSTI_MOST_CHOSEN; i++)
        if (table->points[i].producers == subject->producers)
            choice.values[choice.count++] = table->points[i].bytes_per_producer;
    return choice;
}

/* What the sweep of one B covers: its largest gap, and its bursts; twice G* where there are no rows. */
static double sweep_end(const struct xsti_subject *subject, int64_t bytes, double *bursts_out)
{
    double end = 0;
    size_t at = 0;
    struct xst_timing timing;
    *bursts_out = INFINITY;
    for (const struct xst_sample *row; (row = xsti_next_row(subject->samples, subject->path, XST_MODE_PERIODIC, &at));)
        if (row->producers == subject->producers && row->bytes_per_producer == bytes && row->gap_us > end) {
            end = row->gap_us;
            *bursts_out = (double)row->bursts;
        }
    if (end == 0 && xsti_law_at(subject->path, (double)subject->producers, (double)bytes, 0,
                                XST_TIMING_DRAIN | XST_TIMING_FLOOR, &timing))
        end = 2 * timing.recovery_gap_us;
    return end;
}

/* Issue by law (1) from gap 0 to `end`: even steps of the logarithm down to the floor, then the floor. The loop's own
 * time adds to the gap. */
static void issue_line(const struct xsti_subject *subject, struct xsti_figure *figure, size_t group, size_t role,
                       int64_t bytes, double end)
{
    const double loop_us = xsti_known_or(&subject->path->loop_us, 0), producers = (double)subject->producers;
    const uint32_t needs = XST_TIMING_DRAIN | XST_TIMING_FLOOR;
    struct xst_timing start, timing;
    if (!xsti_law_at(subject->path, producers, (double)bytes, loop_us, needs, &start))
        return;
    const double recovered = start.recovery_gap_us - loop_us, fall = start.issue_floor_us / start.issue_us;
    for (int i = 0; i <= LINE_POINTS + 1; i++) {
        const double step = start.issue_us * pow(fall, (double)i / LINE_POINTS);
        const double gap_us = i > LINE_POINTS ? end : fmin(fmax(start.issue_us - step, 0), fmax(recovered, 0));
        if (gap_us <= end && xsti_law_at(subject->path, producers, (double)bytes, gap_us + loop_us, needs, &timing))
            xsti_figure_point(figure, group, role, gap_us, timing.issue_us);
    }
}

static void issue_rows(const struct xsti_subject *subject, const struct xst_path *path, struct xsti_figure *figure,
                       size_t group, size_t role, int64_t bytes)
{
    size_t at = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(subject->samples, path, XST_MODE_PERIODIC, &at));)
        if (row->producers == subject->producers && row->bytes_per_producer == bytes)
            xsti_figure_point(figure, group, role, row->gap_us, row->issue_mean_us);
}

/* Issue of a series at its first and last point. */
static int ends_of(struct xsti_figure *figure, size_t group, size_t role, double *first, double *last)
{
    const struct xsti_series *const series = xsti_figure_series(figure, group, role);
    if (!series || series->count == 0)
        return 0;
    size_t low = 0, high = 0;
    for (size_t i = 1; i < series->count; i++) {
        low = series->x[i] < series->x[low] ? i : low;
        high = series->x[i] > series->x[high] ? i : high;
    }
    *first = series->y[low];
    *last = series->y[high];
    return 1;
}

/* How far the rows of one series lie below law (1) at most. */
static double most_below(const struct xsti_subject *subject, struct xsti_figure *figure, size_t group, size_t role,
                         int64_t bytes)
{
    const struct xsti_series *const series = xsti_figure_series(figure, group, role);
    const double loop_us = xsti_known_or(&subject->path->loop_us, 0);
    struct xst_timing timing;
    double most = 0;
    for (size_t i = 0; series && i < series->count; i++)
        if (xsti_law_at(subject->path, (double)subject->producers, (double)bytes, series->x[i] + loop_us,
                        XST_TIMING_DRAIN | XST_TIMING_FLOOR, &timing))
            most = fmax(most, timing.issue_us - series->y[i]);
    return most;
}

static void issue_caption(const struct xsti_subject *subject, struct xsti_figure *figure, size_t group, int64_t bytes,
                          size_t measured, size_t control)
{
    char size[XSTI_NUMBER_BYTES], a[XSTI_NUMBER_BYTES], b[XSTI_NUMBER_BYTES], c[XSTI_NUMBER_BYTES];
    struct xst_timing timing;
    double first = 0, last = 0;
    size_t at = 0;
    char *const text = figure->caption;
    const size_t room = sizeof figure->caption;
    xsti_bytes_words((double)bytes, size);
    if (!xsti_law_at(subject->path, (double)subject->producers, (double)bytes, 0, XST_TIMING_DRAIN | XST_TIMING_FLOOR,
                     &timing))
        return;
    if (ends_of(figure, group, measured, &first, &last))
        at = (size_t)snprintf(text, room,
                              "%lld producers \xC3\x97 %s take %s \xC2\xB5s to issue without a gap and %s \xC2\xB5s"
                              " once recovered; the law puts the recovery gap G* at %s \xC2\xB5s",
                              (long long)subject->producers, size, xsti_number_words(first, a),
                              xsti_number_words(last, b), xsti_number_words(timing.recovery_gap_us, c));
    else
        at = (size_t)snprintf(text, room,
                              "For %lld producers \xC3\x97 %s the law puts the recovery gap G* at %s \xC2\xB5s",
                              (long long)subject->producers, size, xsti_number_words(timing.recovery_gap_us, c));
    if (ends_of(figure, group, control, &first, &last) && at < room)
        at += (size_t)snprintf(text + at, room - at, ", while stores to local memory go from %s to %s \xC2\xB5s",
                               xsti_number_words(first, a), xsti_number_words(last, b));
    const double below = most_below(subject, figure, group, measured, bytes);
    if (below > 0.1 * timing.drain_us && at < room)
        at += (size_t)snprintf(text + at, room - at,
                               ". Between the two, the mean over unequal producers lies up to %s \xC2\xB5s below"
                               " the law",
                               xsti_number_words(below, a));
    if (at < room)
        snprintf(text + at, room - at, ".");
}

/* The B the caption speaks of: the typical one where it is drawn, else the largest. */
static size_t spoken_of(const struct xsti_subject *subject, const struct xsti_choice *bytes)
{
    for (size_t i = 0; i < bytes->count; i++)
        if (bytes->values[i] == subject->typical_bytes)
            return i;
    return bytes->count - 1;
}

static void words(const struct xsti_subject *subject, struct xsti_figure *figure, const char *what, const char *title)
{
    snprintf(figure->id, sizeof figure->id, "%s-%s", xst_target_text(subject->path->target), what);
    snprintf(figure->title, sizeof figure->title, "%s, %lld producers, %s", title, (long long)subject->producers,
             xsti_target_words(subject->path->target));
    snprintf(figure->x.label, sizeof figure->x.label, "gap between bursts (\xC2\xB5s)");
}

int xsti_figure_issue_gap(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xsti_choice bytes = bytes_of(subject);
    char size[XSTI_NUMBER_BYTES];
    double end = 0, bursts = 0;
    if (bytes.count == 0)
        return 0;
    words(subject, figure, "issue-gap", "Issue time against gap");
    snprintf(figure->y.label, sizeof figure->y.label, "issue time per burst (\xC2\xB5s)");
    figure->y.scale = XSTI_SCALE_LOG10;
    figure->labels = XSTI_LABELS_MARGIN;
    const size_t measured = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_LINE, "model: issue = max(T0, V/R \xE2\x88\x92 G) (1)");
    const size_t control = xsti_figure_role(figure, XSTI_ROLE_HOLLOW, "measured, local memory (control)");
    const struct xst_path *const local = xsti_main_path(subject->profile, XST_TARGET_LOCAL);
    for (size_t i = 0; i < bytes.count; i++)
        end = fmax(end, sweep_end(subject, bytes.values[i], &bursts));
    for (size_t i = 0; i < bytes.count; i++) {
        const size_t group = xsti_figure_group(figure, "%s", xsti_bytes_words((double)bytes.values[i], size));
        issue_rows(subject, subject->path, figure, group, measured, bytes.values[i]);
        issue_line(subject, figure, group, law, bytes.values[i], end);
        if (local && local != subject->path)
            issue_rows(subject, local, figure, group, control, bytes.values[i]);
    }
    const size_t group = spoken_of(subject, &bytes);
    issue_caption(subject, figure, group, bytes.values[group], measured, control);
    return 1;
}

/* Law (4) and the rival (5) for a run of `bursts` bursts, from gap 0 to `end`, with a point at the kink. A run has one
 * gap less than bursts. */
static void period_lines(const struct xsti_subject *subject, struct xsti_figure *figure, size_t group, size_t law,
                         size_t rival, int64_t bytes, double end, double bursts)
{
    const double loop_us = xsti_known_or(&subject->path->loop_us, 0), share = 1 - 1 / bursts;
    struct xst_timing timing;
    double kink = 0;
    for (int i = 0; i <= LINE_POINTS + 1; i++) {
        const double gap_us = i > LINE_POINTS ? kink : end * i / LINE_POINTS;
        if (gap_us < 0 || gap_us > end ||
            !xsti_law_at(subject->path, (double)subject->producers, (double)bytes, (gap_us + loop_us) * share,
                         XST_TIMING_DRAIN | XST_TIMING_FLOOR, &timing))
            continue;
        kink = timing.recovery_gap_us / share - loop_us;
        xsti_figure_point(figure, group, law, gap_us, timing.period_us);
        xsti_figure_point(figure, group, rival, gap_us, timing.completion_coupled_period_us);
    }
}

static void period_caption(const struct xsti_subject *subject, const struct xsti_choice *bytes,
                           struct xsti_figure *figure)
{
    enum { MOST = 512 };
    double law_errors[MOST], rival_errors[MOST];
    size_t count = 0, at = 0;
    char a[XSTI_NUMBER_BYTES], b[XSTI_NUMBER_BYTES];
    for (const struct xst_sample *row;
         count < MOST && (row = xsti_next_row(subject->samples, subject->path, XST_MODE_PERIODIC, &at));) {
        struct xst_row_prediction law, rival;
        int shown = 0;
        for (size_t i = 0; i < bytes->count; i++)
            shown |= row->producers == subject->producers && row->bytes_per_producer == bytes->values[i];
        xst_row_predict(subject->path, row, XST_MODEL_LAW, &law);
        xst_row_predict(subject->path, row, XST_MODEL_COMPLETION_COUPLED, &rival);
        if (!shown || !law.known || !rival.known || !(row->total_us > 0))
            continue;
        law_errors[count] = fabs(law.total_us / row->total_us - 1);
        rival_errors[count++] = fabs(rival.total_us / row->total_us - 1);
    }
    if (count == 0)
        snprintf(figure->caption, sizeof figure->caption,
                 "Below the recovery gap a longer gap is free: the period stays at V/R, where the completion-coupled "
                 "sum grows.");
    else
        snprintf(figure->caption, sizeof figure->caption,
                 "Over these %zu rows the law's period is off by %s in the median, the completion-coupled sum by %s: a "
                 "gap up"
                 " to G* costs nothing.",
                 count, xsti_percent_words(xsti_median(law_errors, count), a),
                 xsti_percent_words(xsti_median(rival_errors, count), b));
}

int xsti_figure_period_gap(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xsti_choice bytes = bytes_of(subject);
    char size[XSTI_NUMBER_BYTES];
    if (bytes.count == 0)
        return 0;
    words(subject, figure, "period-gap", "Period against gap");
    snprintf(figure->y.label, sizeof figure->y.label, "period: (total \xE2\x88\x92 fence) / bursts (\xC2\xB5s)");
    figure->y.scale = XSTI_SCALE_LOG10;
    figure->labels = XSTI_LABELS_END;
    const size_t measured = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_LINE, "model: max(V/R, T0 + G) (4)");
    const size_t rival = xsti_figure_role(figure, XSTI_ROLE_DASHED, "rival: completion-coupled, V/R + G (5)");
    for (size_t i = 0; i < bytes.count; i++) {
        const size_t group = xsti_figure_group(figure, "%s", xsti_bytes_words((double)bytes.values[i], size));
        double bursts = 0;
        const double end = sweep_end(subject, bytes.values[i], &bursts);
        size_t at = 0;
        for (const struct xst_sample *row;
             (row = xsti_next_row(subject->samples, subject->path, XST_MODE_PERIODIC, &at));)
            if (row->producers == subject->producers && row->bytes_per_producer == bytes.values[i])
                xsti_figure_point(figure, group, measured, row->gap_us, xsti_row_period_us(row, subject->path));
        period_lines(subject, figure, group, law, rival, bytes.values[i], end, bursts);
    }
    period_caption(subject, &bytes, figure);
    return 1;
}
