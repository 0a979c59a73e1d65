/* SPDX-License-Identifier: Apache-2.0
 *
 * Bursts that all producers start together, beside bursts free to drift; and the staging release of bulk stores.
 */
#include <math.h>
#include <stdio.h>

#include "report/figures.h"

enum { LINE_POINTS = 48 };

xsti_figure_make *const xsti_figure_makers[] = {xsti_figure_issue_gap, xsti_figure_period_gap, xsti_figure_isolated,
                                                xsti_figure_zero_gap,  xsti_figure_aligned,    xsti_figure_release,
                                                xsti_figure_senders};
const size_t xsti_figure_maker_count = sizeof xsti_figure_makers / sizeof *xsti_figure_makers;

const char *xsti_target_words(enum xst_target target)
{
    switch (target) {
    case XST_TARGET_PEER:
        return "peer memory";
    case XST_TARGET_HOST:
        return "host memory";
    case XST_TARGET_LOCAL:
        return "local memory";
    }
    return "?";
}

/* What is read off a row or a law. */
enum quantity { ISSUE_DRIFTING, ISSUE_ALIGNED, RELEASE_ALIGNED, STAGED_ISSUE_ALIGNED };

static double value_of(const struct xst_timing *timing, enum quantity quantity)
{
    return quantity == ISSUE_DRIFTING  ? timing->issue_us
           : quantity == ISSUE_ALIGNED ? timing->issue_aligned_us
                                       : timing->release_isolated_us;
}

/* The gap of an aligned row is whatever lies between issue end and the next common start: the barrier belongs to it. */
static double gap_of(const struct xst_sample *row, enum quantity quantity)
{
    const double busy_us = quantity >= RELEASE_ALIGNED ? row->release_mean_us : row->issue_mean_us;
    if (row->mode == XST_MODE_ALIGNED && row->period_mean_us > busy_us)
        return row->period_mean_us - busy_us;
    return row->gap_us;
}

/* Rows as points; returns the value at the longest gap, NAN without such a row. */
static double add_rows(const struct xsti_subject *subject, const struct xst_path *path, struct xsti_figure *figure,
                       size_t group, size_t role, int64_t bytes, enum quantity quantity, double end)
{
    const enum xst_mode mode = quantity == ISSUE_DRIFTING ? XST_MODE_PERIODIC : XST_MODE_ALIGNED;
    double last = NAN, last_gap = -1;
    size_t at = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(subject->samples, path, mode, &at));) {
        const double gap_us = gap_of(row, quantity);
        const double value = quantity == RELEASE_ALIGNED ? row->release_mean_us : row->issue_mean_us;
        if (row->producers != subject->producers || row->bytes_per_producer != bytes || gap_us > end)
            continue;
        xsti_figure_point(figure, group, role, gap_us, value);
        if (gap_us > last_gap) {
            last_gap = gap_us;
            last = value;
        }
    }
    /* Beside bursts started together only a gap of about the same length can stand. */
    return mode == XST_MODE_PERIODIC && last_gap < 0.25 * end ? NAN : last;
}

/* The law over the gaps; returns its value at the end, NAN when it is not known there. */
static double add_line(const struct xsti_subject *subject, const struct xst_path *path, struct xsti_figure *figure,
                       size_t group, size_t role, int64_t bytes, enum quantity quantity, double end)
{
    uint32_t needs = XST_TIMING_DRAIN | XST_TIMING_FLOOR;
    if (quantity == ISSUE_ALIGNED)
        needs |= XST_TIMING_CAPACITY;
    if (quantity == RELEASE_ALIGNED)
        needs = XST_TIMING_DRAIN | XST_TIMING_RELEASE | XST_TIMING_RELEASE_CAPACITY;
    const double loop_us = quantity == ISSUE_DRIFTING ? xsti_known_or(&path->loop_us, 0) : 0;
    double last = NAN;
    for (int i = 0; i <= LINE_POINTS; i++) {
        const double gap_us = end * i / LINE_POINTS;
        struct xst_timing timing;
        if (!xsti_law_at(path, (double)subject->producers, (double)bytes, gap_us + loop_us, needs, &timing))
            continue;
        last = value_of(&timing, quantity);
        xsti_figure_point(figure, group, role, gap_us, last);
    }
    return last;
}

static double widest_gap(const struct xsti_subject *subject, const struct xst_path *path, enum quantity quantity)
{
    double end = 0;
    size_t at = 0;
    for (const struct xst_sample *row; (row = xsti_next_row(subject->samples, path, XST_MODE_ALIGNED, &at));)
        if (row->producers == subject->producers)
            end = fmax(end, gap_of(row, quantity));
    return end;
}

static void aligned_caption(const struct xsti_subject *subject, struct xsti_figure *figure, int64_t bytes,
                            double aligned, double law, double drifting)
{
    char size[XSTI_NUMBER_BYTES], a[XSTI_NUMBER_BYTES], b[XSTI_NUMBER_BYTES], c[XSTI_NUMBER_BYTES];
    const int length =
        snprintf(figure->caption, sizeof figure->caption,
                 "Started together, %lld producers \xC3\x97 %s issue in %s \xC2\xB5s even at the longest gap",
                 (long long)subject->producers, xsti_bytes_words((double)bytes, size), xsti_number_words(aligned, a));
    size_t at = (size_t)length;
    if (isfinite(law))
        at += (size_t)snprintf(figure->caption + at, sizeof figure->caption - at, " (law (11): %s)",
                               xsti_number_words(law, b));
    if (isfinite(drifting))
        at += (size_t)snprintf(figure->caption + at, sizeof figure->caption - at, "; free to drift they issue in %s",
                               xsti_number_words(drifting, c));
    snprintf(figure->caption + at, sizeof figure->caption - at, ".");
}

int xsti_figure_aligned(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xst_path *const path = subject->path;
    const struct xsti_choice bytes = xsti_choose_bytes(subject->samples, path, XST_MODE_ALIGNED, subject->producers, 2);
    char size[XSTI_NUMBER_BYTES];
    if (bytes.count == 0)
        return 0;
    snprintf(figure->id, sizeof figure->id, "%s-aligned", xst_target_text(path->target));
    snprintf(figure->title, sizeof figure->title, "Started together or free to drift, %lld producers, %s",
             (long long)subject->producers, xsti_target_words(path->target));
    snprintf(figure->x.label, sizeof figure->x.label, "gap between issue end and next start (\xC2\xB5s)");
    snprintf(figure->y.label, sizeof figure->y.label, "issue time per burst (\xC2\xB5s)");
    figure->y.scale = XSTI_SCALE_LOG10;
    figure->labels = XSTI_LABELS_MARGIN;
    const size_t together = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured, started together");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_LINE, "model, started together (11)");
    const size_t free_points = xsti_figure_role(figure, XSTI_ROLE_HOLLOW, "measured, free to drift");
    const size_t free_law = xsti_figure_role(figure, XSTI_ROLE_DASHED, "model, free to drift (1)");
    const double end = widest_gap(subject, path, ISSUE_ALIGNED);
    for (size_t i = 0; i < bytes.count; i++) {
        const int64_t size_bytes = bytes.values[i];
        const size_t group = xsti_figure_group(figure, "%s", xsti_bytes_words((double)size_bytes, size));
        const double at_end = add_rows(subject, path, figure, group, together, size_bytes, ISSUE_ALIGNED, INFINITY);
        const double law_end = add_line(subject, path, figure, group, law, size_bytes, ISSUE_ALIGNED, end);
        const double drifting = add_rows(subject, path, figure, group, free_points, size_bytes, ISSUE_DRIFTING, end);
        if (isfinite(drifting))
            add_line(subject, path, figure, group, free_law, size_bytes, ISSUE_DRIFTING, end);
        if (size_bytes <= subject->typical_bytes || i == 0)
            aligned_caption(subject, figure, size_bytes, at_end, law_end, drifting);
    }
    return 1;
}

int xsti_figure_release(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    const struct xst_path *const path = subject->staged;
    if (!path)
        return 0;
    const struct xsti_choice bytes = xsti_choose_bytes(subject->samples, path, XST_MODE_ALIGNED, subject->producers, 2);
    char size[XSTI_NUMBER_BYTES], a[XSTI_NUMBER_BYTES], b[XSTI_NUMBER_BYTES];
    if (bytes.count == 0)
        return 0;
    snprintf(figure->id, sizeof figure->id, "%s-bulk-release", xst_target_text(path->target));
    snprintf(figure->title, sizeof figure->title, "Bulk stores started together, %lld producers, %s",
             (long long)subject->producers, xsti_target_words(path->target));
    snprintf(figure->x.label, sizeof figure->x.label, "gap between release and next start (\xC2\xB5s)");
    snprintf(figure->y.label, sizeof figure->y.label, "time per burst (\xC2\xB5s)");
    figure->y.scale = XSTI_SCALE_LOG10;
    figure->labels = XSTI_LABELS_MARGIN;
    const size_t release = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured: staging free again");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_LINE, "model: release, (7) with the release's T0 and Q");
    const size_t issue = xsti_figure_role(figure, XSTI_ROLE_HOLLOW, "measured: issue");
    const double end = widest_gap(subject, path, RELEASE_ALIGNED);
    for (size_t i = 0; i < bytes.count; i++) {
        const int64_t size_bytes = bytes.values[i];
        const size_t group = xsti_figure_group(figure, "%s", xsti_bytes_words((double)size_bytes, size));
        const double released = add_rows(subject, path, figure, group, release, size_bytes, RELEASE_ALIGNED, INFINITY);
        const double issued = add_rows(subject, path, figure, group, issue, size_bytes, STAGED_ISSUE_ALIGNED, INFINITY);
        add_line(subject, path, figure, group, law, size_bytes, RELEASE_ALIGNED, end);
        if (size_bytes <= subject->typical_bytes || i == 0)
            snprintf(figure->caption, sizeof figure->caption,
                     "With bulk stores the wait moves out of the issue: %lld producers \xC3\x97 %s issue in %s "
                     "\xC2\xB5s, and their"
                     " staging is free again after %s \xC2\xB5s.",
                     (long long)subject->producers, size, xsti_number_words(issued, a), xsti_number_words(released, b));
    }
    return 1;
}
