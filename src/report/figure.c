/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void xsti_figure_free(struct xsti_figure *figure)
{
    for (size_t i = 0; i < figure->series_count; i++) {
        free(figure->series[i].x);
        free(figure->series[i].y);
    }
    *figure = (struct xsti_figure){0};
}

size_t xsti_figure_role(struct xsti_figure *figure, enum xsti_role_kind kind, const char *format, ...)
{
    va_list args;
    if (figure->role_count == XSTI_MOST_ROLES)
        return XSTI_MOST_ROLES - 1;
    struct xsti_role *const role = &figure->roles[figure->role_count];
    va_start(args, format);
    vsnprintf(role->name, sizeof role->name, format, args);
    va_end(args);
    role->kind = kind;
    return figure->role_count++;
}

size_t xsti_figure_group(struct xsti_figure *figure, const char *format, ...)
{
    va_list args;
    if (figure->group_count == XSTI_MOST_GROUPS)
        return XSTI_MOST_GROUPS - 1;
    struct xsti_group *const group = &figure->groups[figure->group_count];
    va_start(args, format);
    vsnprintf(group->name, sizeof group->name, format, args);
    va_end(args);
    group->plain = 0;
    return figure->group_count++;
}

struct xsti_series *xsti_figure_series(struct xsti_figure *figure, size_t group, size_t role)
{
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].group == group && figure->series[i].role == role)
            return &figure->series[i];
    if (figure->series_count == XSTI_MOST_SERIES)
        return NULL;
    struct xsti_series *const series = &figure->series[figure->series_count++];
    *series = (struct xsti_series){group, role, NULL, NULL, 0, 0};
    return series;
}

static int grow(struct xsti_series *series)
{
    const size_t room = series->room ? 2 * series->room : 32;
    double *const x = realloc(series->x, room * sizeof *x);
    if (x)
        series->x = x;
    double *const y = realloc(series->y, room * sizeof *y);
    if (y)
        series->y = y;
    if (!x || !y)
        return 0;
    series->room = room;
    return 1;
}

void xsti_figure_point(struct xsti_figure *figure, size_t group, size_t role, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    struct xsti_series *const series = xsti_figure_series(figure, group, role);
    if (!series)
        return;
    if (series->count == series->room && !grow(series)) {
        figure->failed = 1;
        return;
    }
    series->x[series->count] = x;
    series->y[series->count++] = y;
}

/* Insertion sort: series are short, nearly sorted, and ties keep their order. */
static void sort_by_x(struct xsti_series *series)
{
    for (size_t i = 1; i < series->count; i++) {
        const double x = series->x[i], y = series->y[i];
        size_t at = i;
        for (; at > 0 && series->x[at - 1] > x; at--) {
            series->x[at] = series->x[at - 1];
            series->y[at] = series->y[at - 1];
        }
        series->x[at] = x;
        series->y[at] = y;
    }
}

static int has_role(const struct xsti_figure *figure, size_t role)
{
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].role == role)
            return 1;
    return 0;
}

static int has_group(const struct xsti_figure *figure, size_t group)
{
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].group == group)
            return 1;
    return 0;
}

static void drop_unused(struct xsti_figure *figure)
{
    size_t kept = 0;
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].count > 0)
            figure->series[kept++] = figure->series[i];
    figure->series_count = kept;
    for (size_t role = figure->role_count; role-- > 0;) {
        if (has_role(figure, role))
            continue;
        for (size_t i = role + 1; i < figure->role_count; i++)
            figure->roles[i - 1] = figure->roles[i];
        figure->role_count--;
        for (size_t i = 0; i < figure->series_count; i++)
            figure->series[i].role -= figure->series[i].role > role;
    }
    for (size_t group = figure->group_count; group-- > 0;) {
        if (has_group(figure, group))
            continue;
        for (size_t i = group + 1; i < figure->group_count; i++)
            figure->groups[i - 1] = figure->groups[i];
        figure->group_count--;
        for (size_t i = 0; i < figure->series_count; i++)
            figure->series[i].group -= figure->series[i].group > group;
    }
}

void xsti_figure_finish(struct xsti_figure *figure)
{
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    drop_unused(figure);
    for (size_t i = 0; i < figure->series_count; i++) {
        struct xsti_series *const series = &figure->series[i];
        sort_by_x(series);
        for (size_t p = 0; p < series->count; p++) {
            const int drawn = figure->y.scale == XSTI_SCALE_LINEAR || series->y[p] > 0;
            x_low = fmin(x_low, series->x[p]);
            x_high = fmax(x_high, series->x[p]);
            y_low = drawn ? fmin(y_low, series->y[p]) : y_low;
            y_high = drawn ? fmax(y_high, series->y[p]) : y_high;
        }
    }
    xsti_axis_span(&figure->x, x_low, x_high, 9);
    xsti_axis_span(&figure->y, y_low, y_high, 7);
}

size_t xsti_figure_measured(const struct xsti_figure *figure)
{
    size_t count = 0;
    for (size_t i = 0; i < figure->series_count; i++) {
        const enum xsti_role_kind kind = figure->roles[figure->series[i].role].kind;
        if (kind == XSTI_ROLE_POINTS || kind == XSTI_ROLE_HOLLOW)
            count += figure->series[i].count;
    }
    return count;
}
