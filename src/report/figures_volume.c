/* SPDX-License-Identifier: Apache-2.0
 *
 * Isolated issue and zero-gap period against the aggregate volume.
 */
#include <math.h>
#include <stdio.h>

#include <xstage/model.h>

#include "report/figures.h"

enum { LINE_POINTS = 64 };

static void words(const struct xsti_subject *subject, struct xsti_figure *figure, const char *what, const char *title)
{
    snprintf(figure->id, sizeof figure->id, "%s-%s", xst_target_text(subject->path->target), what);
    snprintf(figure->title, sizeof figure->title, "%s, %s", title, xsti_target_words(subject->path->target));
    snprintf(figure->x.label, sizeof figure->x.label, "burst volume V = producers \xC3\x97 bytes per producer");
    figure->x.scale = XSTI_SCALE_LOG2;
    figure->x.in_bytes = 1;
    figure->y.scale = XSTI_SCALE_LOG10;
    figure->labels = XSTI_LABELS_LEGEND;
}

/* Law (7) from the smallest to the largest recorded volume of one producer count, with a point at the knee. */
static void isolated_line(const struct xsti_subject *subject, struct xsti_figure *figure, size_t group, size_t role,
                          size_t knee_role, int64_t producers, double low, double high)
{
    const struct xst_path *const path = subject->path;
    struct xst_timing timing;
    double knee = 0;
    const uint32_t needs = XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY;
    for (int i = 0; i <= LINE_POINTS; i++) {
        const double bytes = low * pow(high / low, (double)i / LINE_POINTS);
        if (xsti_law_at(path, (double)producers, bytes, 0, needs, &timing))
            xsti_figure_point(figure, group, role, timing.burst_bytes, timing.isolated_issue_us);
    }
    if (xst_path_knee_bytes_per_producer(path, (double)producers, &knee) != XST_OK ||
        !xsti_law_at(path, (double)producers, knee, 0, needs, &timing))
        return;
    xsti_figure_point(figure, group, role, timing.burst_bytes, timing.isolated_issue_us);
    xsti_figure_point(figure, group, knee_role, timing.burst_bytes, timing.isolated_issue_us);
}

static void isolated_caption(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    char knee_text[XSTI_NUMBER_BYTES], volume[XSTI_NUMBER_BYTES], size[XSTI_NUMBER_BYTES], law[XSTI_NUMBER_BYTES],
        measured[XSTI_NUMBER_BYTES];
    const struct xst_path *const path = subject->path;
    const double producers = (double)subject->producers;
    const struct xst_sample *row = NULL, *next;
    double knee = 0;
    size_t at = 0;
    struct xst_timing timing;
    if (xst_path_knee_bytes_per_producer(path, producers, &knee) != XST_OK) {
        snprintf(figure->caption, sizeof figure->caption,
                 "No burst of %lld producers stalls in the recorded range: the capacity is not reached.",
                 (long long)subject->producers);
        return;
    }
    /* The smallest recorded burst that is clearly beyond the knee. */
    while ((next = xsti_next_row(subject->samples, path, XST_MODE_ISOLATED, &at)))
        if (next->producers == subject->producers && (double)next->bytes_per_producer > 1.5 * knee &&
            (!row || next->bytes_per_producer < row->bytes_per_producer))
            row = next;
    const int length =
        snprintf(figure->caption, sizeof figure->caption,
                 "One burst of %lld producers on an empty path stays on its floor up to %s each (%s in all)",
                 (long long)subject->producers, xsti_bytes_words(knee, knee_text),
                 xsti_bytes_words(knee * producers, volume));
    if (row && xsti_law_at(path, producers, (double)row->bytes_per_producer, 0,
                           XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_CAPACITY, &timing))
        snprintf(figure->caption + length, sizeof figure->caption - (size_t)length,
                 "; at %s it took %s \xC2\xB5s, where the law says %s.",
                 xsti_bytes_words((double)row->bytes_per_producer, size),
                 xsti_number_words(row->issue_mean_us, measured), xsti_number_words(timing.isolated_issue_us, law));
    else
        snprintf(figure->caption + length, sizeof figure->caption - (size_t)length, ".");
}

int xsti_figure_isolated(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xsti_choice producers = xsti_choose_producers(subject->samples, subject->path, XST_MODE_ISOLATED, 4);
    if (producers.count == 0)
        return 0;
    words(subject, figure, "isolated", "Issue of a single burst against its volume");
    snprintf(figure->y.label, sizeof figure->y.label, "issue time (\xC2\xB5s)");
    const size_t measured = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_LINE, "model: max(T0, (V \xE2\x88\x92 Q)/R) (7)");
    const size_t knee = xsti_figure_role(figure, XSTI_ROLE_KNEE, "model: knee (8)");
    for (size_t i = 0; i < producers.count; i++) {
        const size_t group = xsti_figure_group(figure, "K = %lld", (long long)producers.values[i]);
        double low = INFINITY, high = 0;
        size_t at = 0;
        for (const struct xst_sample *row;
             (row = xsti_next_row(subject->samples, subject->path, XST_MODE_ISOLATED, &at));) {
            if (row->producers != producers.values[i])
                continue;
            const double bytes = (double)row->bytes_per_producer;
            low = fmin(low, bytes);
            high = fmax(high, bytes);
            xsti_figure_point(figure, group, measured, (double)row->producers * bytes, row->issue_mean_us);
        }
        isolated_line(subject, figure, group, law, knee, producers.values[i], low, high);
    }
    isolated_caption(subject, figure);
    return 1;
}

/* How far the saturated rows are from V/R: the largest ratio of periods at one volume, and how many splits share it. */
static void zero_gap_caption(const struct xsti_subject *subject, struct xsti_figure *figure,
                             const struct xsti_figure *drawn, size_t measured)
{
    char rate[XSTI_NUMBER_BYTES], volume[XSTI_NUMBER_BYTES], low_text[XSTI_NUMBER_BYTES], high_text[XSTI_NUMBER_BYTES];
    const double drain = subject->path->drain_bytes_per_us.value;
    double best_volume = 0, best_low = 0, best_high = 0;
    size_t best_count = 1;
    for (size_t s = 0; s < drawn->series_count; s++) {
        for (size_t p = 0; drawn->series[s].role == measured && p < drawn->series[s].count; p++) {
            const double at = drawn->series[s].x[p];
            double low = INFINITY, high = 0;
            size_t count = 0;
            for (size_t t = 0; t < drawn->series_count; t++)
                for (size_t q = 0; drawn->series[t].role == measured && q < drawn->series[t].count; q++) {
                    const double period = drawn->series[t].y[q];
                    if (fabs(drawn->series[t].x[q] / at - 1) > 0.05 || period > 1.15 * drawn->series[t].x[q] / drain)
                        continue;
                    low = fmin(low, period);
                    high = fmax(high, period);
                    count++;
                }
            if (count > best_count || (count == best_count && count > 1 && at > best_volume)) {
                best_count = count;
                best_volume = at;
                best_low = low;
                best_high = high;
            }
        }
    }
    const int length =
        snprintf(figure->caption, sizeof figure->caption,
                 "Back to back, each burst takes V/R, with R = %s GB/s fitted at the largest producer count",
                 xsti_number_words(drain / 1000, rate));
    char *const rest = figure->caption + length;
    const size_t room = sizeof figure->caption - (size_t)length;
    if (best_count > 1)
        snprintf(rest, room, " and however V is split: %zu saturated rows within 5 %% of %s took %s to %s \xC2\xB5s.",
                 best_count, xsti_bytes_words(best_volume, volume), xsti_number_words(best_low, low_text),
                 xsti_number_words(best_high, high_text));
    else
        snprintf(rest, room, "; above the line the producers themselves are the limit.");
}

int xsti_figure_zero_gap(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xsti_choice producers = xsti_choose_producers(subject->samples, subject->path, XST_MODE_PERIODIC, 2);
    char rate[XSTI_NUMBER_BYTES];
    double low = INFINITY, high = 0;
    if (producers.count == 0 || !subject->path->drain_bytes_per_us.known)
        return 0;
    words(subject, figure, "zero-gap", "Period without a gap against volume");
    snprintf(figure->y.label, sizeof figure->y.label, "period: (total \xE2\x88\x92 fence) / bursts (\xC2\xB5s)");
    const double drain = subject->path->drain_bytes_per_us.value;
    const size_t measured = xsti_figure_role(figure, XSTI_ROLE_HOLLOW, "measured");
    const size_t law =
        xsti_figure_role(figure, XSTI_ROLE_LINE, "model: V/R with R = %s GB/s", xsti_number_words(drain / 1000, rate));
    for (size_t i = 0; i < producers.count; i++) {
        const size_t group = xsti_figure_group(figure, "K = %lld", (long long)producers.values[i]);
        size_t at = 0;
        for (const struct xst_sample *row;
             (row = xsti_next_row(subject->samples, subject->path, XST_MODE_PERIODIC, &at));) {
            if (row->producers != producers.values[i] || row->gap_us > 0)
                continue;
            const double volume = (double)row->producers * (double)row->bytes_per_producer;
            low = fmin(low, volume);
            high = fmax(high, volume);
            xsti_figure_point(figure, group, measured, volume, xsti_row_period_us(row, subject->path));
        }
    }
    zero_gap_caption(subject, figure, figure, measured);
    const size_t fitted = xsti_figure_group(figure, "fitted line");
    figure->groups[fitted].plain = 1;
    for (int i = 0; i <= 8; i++) {
        const double volume = low * pow(high / low, i / 8.0);
        xsti_figure_point(figure, fitted, law, volume, volume / drain);
    }
    return 1;
}
