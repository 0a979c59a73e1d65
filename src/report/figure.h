/* SPDX-License-Identifier: Apache-2.0
 *
 * figure.h - one figure as data: what is drawn, not how. svg.c and plot_json.c draw the same struct.
 *
 * A series belongs to a *group* (what is compared: bytes or producers; gives colour and marker) and plays a *role*
 * (measured points, law, rival; gives points or line, dash, fill). The legend names roles; groups are labelled at their
 * lines, or in the legend where lines run together.
 */
#ifndef XSTI_REPORT_FIGURE_H
#define XSTI_REPORT_FIGURE_H

#include <stddef.h>

#include <xstage/status.h>

#include "report/out.h"
#include "report/ticks.h"

enum xsti_role_kind {
    XSTI_ROLE_POINTS, /* filled markers */
    XSTI_ROLE_HOLLOW, /* open markers */
    XSTI_ROLE_LINE,   /* solid */
    XSTI_ROLE_DASHED,
    XSTI_ROLE_KNEE /* an upright tick across the line */
};

enum xsti_labels {
    XSTI_LABELS_MARGIN, /* in the right margin, at the height of the line's end */
    XSTI_LABELS_END,    /* beside the line's last point */
    XSTI_LABELS_LEGEND  /* in the legend */
};

struct xsti_role {
    char name[96];
    enum xsti_role_kind kind;
};

struct xsti_group {
    char name[64];
    int plain; /* drawn in ink instead of a colour */
};

struct xsti_series {
    size_t group;
    size_t role;
    double *x;
    double *y;
    size_t count;
    size_t room;
};

enum { XSTI_MOST_ROLES = 6, XSTI_MOST_GROUPS = 8, XSTI_MOST_SERIES = 40, XSTI_COLOURS = 6 };

struct xsti_figure {
    char id[64]; /* [a-z0-9-]: anchor and file name */
    char title[128];
    char caption[640];
    struct xsti_axis x;
    struct xsti_axis y;
    enum xsti_labels labels;
    struct xsti_role roles[XSTI_MOST_ROLES];
    size_t role_count;
    struct xsti_group groups[XSTI_MOST_GROUPS];
    size_t group_count;
    struct xsti_series series[XSTI_MOST_SERIES];
    size_t series_count;
    int failed; /* out of memory while it was filled */
};

void xsti_figure_free(struct xsti_figure *figure);

/* Index of the new entry; the last one when there is no room for more. */
__attribute__((format(printf, 3, 4))) size_t xsti_figure_role(struct xsti_figure *figure, enum xsti_role_kind kind,
                                                              const char *format, ...);
__attribute__((format(printf, 2, 3))) size_t xsti_figure_group(struct xsti_figure *figure, const char *format, ...);

/* The series of (group, role), made when it is missing; NULL when there is no room. */
struct xsti_series *xsti_figure_series(struct xsti_figure *figure, size_t group, size_t role);

/* Adds a point to it. Points that are not finite are left out. */
void xsti_figure_point(struct xsti_figure *figure, size_t group, size_t role, double x, double y);

/* Sorts points by x, drops roles and groups that nothing belongs to, and spans both axes. */
void xsti_figure_finish(struct xsti_figure *figure);

/* Number of points measured (points, hollow) in the whole figure. */
size_t xsti_figure_measured(const struct xsti_figure *figure);

/* Draws it. standalone: a file of its own with colours; otherwise an element coloured by the page's style sheet. */
void xsti_put_svg(struct xsti_out *out, const struct xsti_figure *figure, int standalone);

/* The description the page's script draws from. */
void xsti_put_plot(struct xsti_out *out, const struct xsti_figure *figure);

#endif
