/* SPDX-License-Identifier: Apache-2.0
 *
 * A figure as SVG. In the page its classes are coloured by the style sheet; as a file it brings its own colours.
 */
#include <math.h>

#include "report/figure.h"
#include "report/svg_parts.h"

static const double width = 760, plot_height = 300, character = 6.3, row_height = 19;

/* Characters, not bytes, of UTF-8 text. */
static double length_of(const char *text)
{
    double count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

static struct xsti_frame frame_of(const struct xsti_figure *figure, int standalone, double legend_rows)
{
    double longest = 0;
    for (size_t i = 0; i < figure->group_count; i++)
        longest = fmax(longest, length_of(figure->groups[i].name));
    /* The axis keeps some room beyond its last point, which labels beside points can use. */
    const double margin = figure->labels == XSTI_LABELS_MARGIN ? 16 + 1.1 * character * longest
                          : figure->labels == XSTI_LABELS_END  ? 1.1 * character * longest
                                                               : 18;
    struct xsti_frame frame = {58, (standalone ? 32 : 4) + legend_rows * row_height + 10, 0, 0, 0};
    frame.right = width - margin;
    frame.bottom = frame.top + plot_height;
    frame.height = frame.bottom + 48;
    return frame;
}

static void put_colours(struct xsti_out *out)
{
    static const char *const colours[XSTI_COLOURS] = {"#0072b2", "#d55e00", "#00845f", "#a5418a", "#8a6d00", "#444b54"};
    xsti_put(out, "<style>text{font:12px Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#24292f}"
                  ".ttl{font-size:15px;font-weight:bold}.tk{fill:#57606a}.grid{stroke:#e4e7eb}.minor{stroke:#f3f4f6}"
                  ".axis{stroke:#8c959f}.ink{stroke:#24292f;fill:#24292f}");
    for (int i = 0; i < XSTI_COLOURS; i++)
        xsti_putf(out, ".c%d{stroke:%s;fill:%s}", i, colours[i], colours[i]);
    /* The kinds come last and win: filled markers keep a thin white rim, so that neighbours stay apart. */
    xsti_put(out, ".pt{stroke:#fff;stroke-width:.8}.ho{fill:none;stroke-width:1.4}"
                  ".ln{fill:none;stroke-width:1.8;stroke-linejoin:round}.da{stroke-dasharray:5 4;stroke-width:1.4}"
                  ".kn{stroke-width:2.4}.lb{font-weight:bold;stroke:none}</style>\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

static void put_grid(struct xsti_out *out, const struct xsti_figure *figure, const struct xsti_frame *frame)
{
    for (size_t i = 0; i < figure->x.tick_count; i++) {
        const struct xsti_tick *const tick = &figure->x.ticks[i];
        const double x = xsti_frame_x(frame, figure, tick->value);
        xsti_putf(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>", tick->label[0] ? "grid" : "minor", x, frame->top,
                  frame->bottom);
        if (tick->label[0])
            xsti_putf(out, "<text class=\"tk\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
                      frame->bottom + 17, tick->label);
    }
    for (size_t i = 0; i < figure->y.tick_count; i++) {
        const struct xsti_tick *const tick = &figure->y.ticks[i];
        const double y = xsti_frame_y(frame, figure, tick->value);
        xsti_putf(out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>", tick->label[0] ? "grid" : "minor", frame->left, y,
                  frame->right);
        if (tick->label[0])
            xsti_putf(out, "<text class=\"tk\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", frame->left - 7,
                      y + 4, tick->label);
    }
    xsti_putf(out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", frame->left, frame->top,
              frame->bottom, frame->right);
    xsti_putf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * (frame->left + frame->right),
              frame->bottom + 38);
    xsti_put_escaped(out, figure->x.label);
    xsti_putf(out, "</text>\n<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
              0.5 * (frame->top + frame->bottom));
    xsti_put_escaped(out, figure->y.label);
    xsti_put(out, "</text>\n");
}

/* Legend: roles in ink, then groups in their colours where the lines carry no labels. Returns the rows it takes. */
static double put_legend(struct xsti_out *out, const struct xsti_figure *figure, double first)
{
    const double left = 58;
    double x = left, row = 0;
    const size_t group_count = figure->labels == XSTI_LABELS_LEGEND ? figure->group_count : 0;
    for (size_t i = 0; i < figure->role_count + group_count; i++) {
        const int is_role = i < figure->role_count;
        const size_t group = i - figure->role_count;
        const char *const name = is_role ? figure->roles[i].name : figure->groups[group].name;
        if (!is_role && figure->groups[group].plain)
            continue;
        const double takes = 30 + character * length_of(name) + 14;
        if (x > left && (x + takes > width || i == figure->role_count)) {
            x = left;
            row++;
        }
        if (out) {
            const double y = first + row * row_height;
            if (is_role)
                xsti_put_key(out, figure->roles[i].kind, NULL, 0, x + 11, y);
            else
                xsti_put_key(out, XSTI_ROLE_POINTS, figure, group, x + 11, y);
            xsti_putf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 28, y + 4);
            xsti_put_escaped(out, name);
            xsti_put(out, "</text>\n");
        }
        x += takes;
    }
    return row + 1;
}

void xsti_put_svg(struct xsti_out *out, const struct xsti_figure *figure, int standalone)
{
    const struct xsti_frame frame = frame_of(figure, standalone, put_legend(NULL, figure, 0));
    xsti_putf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t\"",
        width, frame.height, figure->id);
    if (standalone)
        xsti_putf(out, " width=\"%.0f\" height=\"%.0f\"", width, frame.height);
    xsti_putf(out, ">\n<title id=\"%s-t\">", figure->id);
    xsti_put_escaped(out, figure->title);
    xsti_put(out, "</title>\n");
    if (standalone) {
        xsti_put(out, "<desc>");
        xsti_put_escaped(out, figure->caption);
        xsti_put(out, "</desc>\n");
        put_colours(out);
        xsti_put(out, "<text class=\"ttl\" x=\"14\" y=\"22\">");
        xsti_put_escaped(out, figure->title);
        xsti_put(out, "</text>\n");
    }
    put_legend(out, figure, standalone ? 44 : 14);
    put_grid(out, figure, &frame);
    xsti_putf(out, "<clipPath id=\"%s-c\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n",
              figure->id, frame.left - 6, frame.top - 6, frame.right - frame.left + 12, frame.bottom - frame.top + 12);
    xsti_putf(out, "<g clip-path=\"url(#%s-c)\">\n", figure->id);
    /* Lines first, so that no line covers a measured point. */
    for (int points = 0; points <= 1; points++)
        for (size_t i = 0; i < figure->series_count; i++)
            if (xsti_is_points(figure->roles[figure->series[i].role].kind) == points)
                xsti_put_series(out, figure, &frame, &figure->series[i]);
    xsti_put(out, "</g>\n");
    if (figure->labels != XSTI_LABELS_LEGEND)
        xsti_put_labels(out, figure, &frame);
    xsti_put(out, "</svg>\n");
}
