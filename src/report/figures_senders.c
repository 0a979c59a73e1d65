/* SPDX-License-Identifier: Apache-2.0
 *
 * What several devices drain at once, against their number.
 */
#include <math.h>
#include <stdio.h>

#include "report/figures.h"

/* Rows this figure shows: zero gap, of the path's instruction, and of more than one device to the next. */
static int is_shown(const struct xst_sample *row, const struct xst_path *path)
{
    return row->flow != XST_FLOW_PAIR && row->mode == XST_MODE_PERIODIC && row->gap_us <= 0 &&
           row->method == path->method && row->threads == path->threads && row->piece_bytes == path->piece_bytes &&
           row->pitch_bytes == path->pitch_bytes;
}

static double bytes_of(const struct xst_sample *row)
{
    return (double)row->bursts * (double)row->producers * (double)row->bytes_per_producer;
}

/* The largest burst of the most producers: what saturates if anything does. */
static double largest(const struct xsti_subject *subject)
{
    double most = 0;
    for (size_t r = 0; subject->samples && r < subject->samples->row_count; r++)
        if (is_shown(&subject->samples->rows[r], subject->path))
            most = fmax(most, bytes_of(&subject->samples->rows[r]) / (double)subject->samples->rows[r].bursts);
    return most;
}

/* GB/s of a run whose first sender's row is `first`: into the receiver where there is one, else of one sender on average. 0: its
 * rows are not all there. */
static double rate_of(const struct xst_samples *samples, size_t first, double fence_us)
{
    const struct xst_sample *const row = &samples->rows[first];
    const size_t senders = row->senders > 1 ? (size_t)row->senders : 1;
    double longest_us = 0, sum = 0;
    if (first + senders > samples->row_count)
        return 0;
    for (size_t s = 0; s < senders; s++) {
        const struct xst_sample *const other = &samples->rows[first + s];
        if (other->flow != row->flow || other->senders != row->senders || bytes_of(other) != bytes_of(row) ||
            !(other->total_us > fence_us))
            return 0;
        longest_us = fmax(longest_us, other->total_us - fence_us);
        sum += bytes_of(other) / (other->total_us - fence_us);
    }
    return (row->flow == XST_FLOW_INCAST ? (double)senders * bytes_of(row) / longest_us : sum / (double)senders) / 1000;
}

/* at_most: per flow the most senders, and their rate. */
static void caption(const struct xsti_subject *subject, struct xsti_figure *figure, const double *at_most)
{
    const double spread = at_most[2 * XST_FLOW_SPREAD + 1], incast = at_most[2 * XST_FLOW_INCAST + 1],
                 rotation = at_most[2 * XST_FLOW_ROTATION + 1];
    char rate[XSTI_NUMBER_BYTES];
    size_t length = 0;
#define SAY(...) length += (size_t)snprintf(figure->caption + length, sizeof figure->caption - length, __VA_ARGS__)
    SAY("One device to one other drains R = %s GB/s",
        xsti_number_words(subject->path->drain_bytes_per_us.value / 1000, rate));
    if (spread > 0)
        SAY("; one to all others in turn %s", xsti_number_words(spread, rate));
    if (incast > 0)
        SAY("; %.0f senders bring %s GB/s into one receiver", at_most[2 * XST_FLOW_INCAST],
            xsti_number_words(incast, rate));
    if (rotation > 0)
        SAY("; %.0f devices that all send to each other drain %s GB/s each", at_most[2 * XST_FLOW_ROTATION],
            xsti_number_words(rotation, rate));
    SAY(".");
#undef SAY
}

int xsti_figure_senders(const struct xsti_subject *subject, struct xsti_figure *figure)
{
    static const char *const names[] = {"", "one sender to all others, its rate", "to one receiver, its rate",
                                        "all to all, rate of each sender"};
    const struct xst_path *const path = subject->path;
    const double fence_us = path->fence_us.known ? path->fence_us.value : 0, most = largest(subject);
    double at_most[2 * (XST_FLOW_ROTATION + 1)] = {0}, last = 1; /* per flow: senders, GB/s */
    size_t groups[XST_FLOW_ROTATION + 1];
    if (most <= 0 || path->target != XST_TARGET_PEER || !path->drain_bytes_per_us.known)
        return 0;
    snprintf(figure->id, sizeof figure->id, "%s-senders", xst_target_text(path->target));
    snprintf(figure->title, sizeof figure->title, "Rate against senders, %s", xsti_target_words(path->target));
    snprintf(figure->x.label, sizeof figure->x.label, "devices that send at once");
    snprintf(figure->y.label, sizeof figure->y.label, "rate (GB/s)");
    figure->labels = XSTI_LABELS_LEGEND;
    const size_t measured = xsti_figure_role(figure, XSTI_ROLE_POINTS, "measured");
    const size_t law = xsti_figure_role(figure, XSTI_ROLE_DASHED, "R of one device to one other");
    for (int flow = XST_FLOW_SPREAD; flow <= XST_FLOW_ROTATION; flow++) /* those without points are dropped */
        groups[flow] = xsti_figure_group(figure, "%s", names[flow]);
    for (size_t r = 0; r < subject->samples->row_count; r++) {
        const struct xst_sample *const row = &subject->samples->rows[r];
        const size_t senders = row->senders > 1 ? (size_t)row->senders : 1;
        if (!is_shown(row, path) || bytes_of(row) / (double)row->bursts < most)
            continue;
        const double rate = rate_of(subject->samples, r, fence_us);
        if (rate <= 0)
            continue;
        xsti_figure_point(figure, groups[row->flow], measured, (double)senders, rate);
        last = fmax(last, (double)senders);
        if ((double)senders >= at_most[2 * row->flow]) {
            at_most[2 * row->flow] = (double)senders;
            at_most[2 * row->flow + 1] = rate;
        }
        r += senders - 1;
    }
    const size_t pair = xsti_figure_group(figure, "one pair");
    figure->groups[pair].plain = 1;
    xsti_figure_point(figure, pair, law, 1, path->drain_bytes_per_us.value / 1000);
    xsti_figure_point(figure, pair, law, last > 1 ? last : 2, path->drain_bytes_per_us.value / 1000);
    caption(subject, figure, at_most);
    return 1;
}
