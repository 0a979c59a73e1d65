/* SPDX-License-Identifier: Apache-2.0 */
#include "report/svg_parts.h"

#include <math.h>
#include <stdio.h>

enum { SHAPE_COUNT = 6 };

double xsti_frame_x(const struct xsti_frame *frame, const struct xsti_figure *figure, double value)
{
    return frame->left + xsti_axis_place(&figure->x, value) * (frame->right - frame->left);
}

double xsti_frame_y(const struct xsti_frame *frame, const struct xsti_figure *figure, double value)
{
    return frame->bottom - xsti_axis_place(&figure->y, value) * (frame->bottom - frame->top);
}

int xsti_is_points(enum xsti_role_kind kind)
{
    return kind == XSTI_ROLE_POINTS || kind == XSTI_ROLE_HOLLOW || kind == XSTI_ROLE_KNEE;
}

const char *xsti_colour_class(const struct xsti_figure *figure, size_t group)
{
    static const char *const names[XSTI_COLOURS] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    if (!figure || figure->groups[group].plain)
        return "ink";
    return names[group % XSTI_COLOURS];
}

/* One marker of the shape of `group` as path data: circle, square, triangle, diamond, triangle down, cross. */
static void put_marker(struct xsti_out *out, enum xsti_role_kind kind, size_t group, double x, double y)
{
    if (kind == XSTI_ROLE_KNEE) {
        xsti_putf(out, "M%.1f %.1fv18", x, y - 9);
        return;
    }
    switch (group % SHAPE_COUNT) {
    case 0:
        xsti_putf(out, "M%.1f %.1fa3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0", x - 3.4, y);
        break;
    case 1:
        xsti_putf(out, "M%.1f %.1fh6.2v6.2h-6.2z", x - 3.1, y - 3.1);
        break;
    case 2:
        xsti_putf(out, "M%.1f %.1fl4 7.2h-8z", x, y - 4.6);
        break;
    case 3:
        xsti_putf(out, "M%.1f %.1fl4.3 4.3-4.3 4.3-4.3-4.3z", x, y - 4.3);
        break;
    case 4:
        xsti_putf(out, "M%.1f %.1fl4-7.2h-8z", x, y + 4.6);
        break;
    default:
        xsti_putf(out, "M%.1f %.1fh2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z", x - 1.2, y - 3.6);
        break;
    }
}

static const char *kind_class(enum xsti_role_kind kind)
{
    switch (kind) {
    case XSTI_ROLE_POINTS:
        return "pt";
    case XSTI_ROLE_HOLLOW:
        return "ho";
    case XSTI_ROLE_LINE:
        return "ln";
    case XSTI_ROLE_DASHED:
        return "ln da";
    case XSTI_ROLE_KNEE:
        return "ln kn";
    }
    return "ln";
}

void xsti_put_key(struct xsti_out *out, enum xsti_role_kind kind, const struct xsti_figure *figure, size_t group,
                  double x, double y)
{
    xsti_putf(out, "<path class=\"%s %s\" d=\"", xsti_colour_class(figure, group), kind_class(kind));
    if (kind == XSTI_ROLE_KNEE)
        xsti_putf(out, "M%.1f %.1fv12", x, y - 6);
    else if (xsti_is_points(kind))
        put_marker(out, kind, group, x, y);
    else
        xsti_putf(out, "M%.1f %.1fh22", x - 11, y);
    xsti_put(out, "\"/>");
}

void xsti_put_series(struct xsti_out *out, const struct xsti_figure *figure, const struct xsti_frame *frame,
                     const struct xsti_series *series)
{
    const enum xsti_role_kind kind = figure->roles[series->role].kind;
    xsti_putf(out, "<path class=\"%s %s\" d=\"", xsti_colour_class(figure, series->group), kind_class(kind));
    for (size_t i = 0; i < series->count; i++) {
        const double x = xsti_frame_x(frame, figure, series->x[i]), y = xsti_frame_y(frame, figure, series->y[i]);
        if (xsti_is_points(kind))
            put_marker(out, kind, series->group, x, y);
        else
            xsti_putf(out, "%s%.1f %.1f", i ? " " : "M", x, y);
    }
    xsti_put(out, "\"/>\n");
}

/* Where the name of a group stands: beside the last point of its first line, or of its points where it has no line. */
static int label_place(const struct xsti_figure *figure, size_t group, const struct xsti_frame *frame, double *x,
                       double *y)
{
    const struct xsti_series *best = NULL;
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct xsti_series *const series = &figure->series[i];
        if (series->group != group || series->count == 0)
            continue;
        const int better = !best || (xsti_is_points(figure->roles[best->role].kind) &&
                                     !xsti_is_points(figure->roles[series->role].kind));
        if (better)
            best = series;
    }
    if (!best)
        return 0;
    *x = xsti_frame_x(frame, figure, best->x[best->count - 1]);
    *y = fmin(fmax(xsti_frame_y(frame, figure, best->y[best->count - 1]), frame->top), frame->bottom);
    return 1;
}

/* Moves labels apart to at least `apart` pixels, keeping their order from top to bottom. */
static void spread(double *y, const size_t *order, size_t count, double apart, const struct xsti_frame *frame)
{
    for (size_t i = 1; i < count; i++)
        y[order[i]] = fmax(y[order[i]], y[order[i - 1]] + apart);
    double most = frame->bottom;
    for (size_t i = count; i-- > 0; most = y[order[i]] - apart)
        y[order[i]] = fmin(y[order[i]], most);
}

void xsti_put_labels(struct xsti_out *out, const struct xsti_figure *figure, const struct xsti_frame *frame)
{
    double x[XSTI_MOST_GROUPS], y[XSTI_MOST_GROUPS];
    size_t order[XSTI_MOST_GROUPS], count = 0;
    for (size_t group = 0; group < figure->group_count; group++) {
        if (!label_place(figure, group, frame, &x[group], &y[group]))
            continue;
        size_t at = count++;
        for (; at > 0 && y[order[at - 1]] > y[group]; at--)
            order[at] = order[at - 1];
        order[at] = group;
    }
    if (figure->labels == XSTI_LABELS_MARGIN)
        spread(y, order, count, 15, frame);
    for (size_t i = 0; i < count; i++) {
        const size_t group = order[i];
        const double at = figure->labels == XSTI_LABELS_MARGIN ? frame->right + 8 : x[group] + 9;
        xsti_putf(out, "<text class=\"%s lb\" x=\"%.1f\" y=\"%.1f\">", xsti_colour_class(figure, group), at,
                  y[group] + 4);
        xsti_put_escaped(out, figure->groups[group].name);
        xsti_put(out, "</text>\n");
    }
}
