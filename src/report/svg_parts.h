/* SPDX-License-Identifier: Apache-2.0
 *
 * svg_parts.h - markers, lines and labels of one figure in its frame.
 */
#ifndef XSTI_REPORT_SVG_PARTS_H
#define XSTI_REPORT_SVG_PARTS_H

#include "report/figure.h"

/* Pixels: the plot area, and the height of the whole drawing. */
struct xsti_frame {
    double left;
    double top;
    double right;
    double bottom;
    double height;
};

double xsti_frame_x(const struct xsti_frame *frame, const struct xsti_figure *figure, double value);
double xsti_frame_y(const struct xsti_frame *frame, const struct xsti_figure *figure, double value);

/* 1: drawn as markers; 0: drawn as a line. */
int xsti_is_points(enum xsti_role_kind kind);

/* "c0".."c5", or "ink". */
const char *xsti_colour_class(const struct xsti_figure *figure, size_t group);

/* Sample of a role in the legend, centred at (x, y), in the group's colour; in ink when figure is NULL. */
void xsti_put_key(struct xsti_out *out, enum xsti_role_kind kind, const struct xsti_figure *figure, size_t group,
                  double x, double y);

void xsti_put_series(struct xsti_out *out, const struct xsti_figure *figure, const struct xsti_frame *frame,
                     const struct xsti_series *series);

/* Names of the groups at their lines. */
void xsti_put_labels(struct xsti_out *out, const struct xsti_figure *figure, const struct xsti_frame *frame);

#endif
