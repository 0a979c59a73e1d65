/* SPDX-License-Identifier: Apache-2.0
 *
 * A picture of the first rank: a line per SM, its tiles and waits in colour, the backlog of the stage below.
 */
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/text.h"
#include "timeline/text.h"

enum { LEFT = 64, WIDTH = 1120, ROW = 12, TOP = 64, PLOT = 110, MARGIN = 24 };

/* By what, and for work by kind. */
static const char *const work_colours[XST_TIMELINE_KINDS] = {"#4477aa", "#228833", "#66ccee", "#aa3377"};

static const char *colour(const struct xst_span *span)
{
    switch (span->what) {
    case XST_SPAN_WORK:
        return work_colours[span->kind % XST_TIMELINE_KINDS];
    case XST_SPAN_WAIT:
        return "#ccbb44";
    case XST_SPAN_SLOT:
        return "#ee6677";
    default:
        return "#bbbbbb";
    }
}

struct drawing {
    struct xsti_growing out;
    double us_to_px;
    int64_t sms;
    double bottom; /* of the SM lines */
};

static void put_escaped(struct xsti_growing *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            xsti_text_put(out, "&#%d;", *text);
        else if ((unsigned char)*text >= 32)
            xsti_text_put(out, "%c", *text);
    }
}

/* An issue is drawn in two: its floor, and what backpressure added. Shorter than a fifth of a pixel is not seen. */
static void put_bar(struct drawing *drawing, const struct xst_span *span)
{
    const double y = TOP + (double)span->sm * ROW + (span->role == XST_SPAN_STORE ? ROW / 2 : 1);
    const double height = span->role == XST_SPAN_STORE ? ROW / 2.0 - 1 : ROW - 2;
    const double x = LEFT + span->start_us * drawing->us_to_px;
    const double width = (span->end_us - span->start_us) * drawing->us_to_px;
    if (width < 0.2)
        return;
    xsti_text_put(&drawing->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
                  width, height, colour(span));
    const double floor = span->floor_us * drawing->us_to_px;
    if (span->what == XST_SPAN_ISSUE && width - floor >= 0.2)
        xsti_text_put(&drawing->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"#ee6677\"/>\n",
                      x + floor, y, width - floor, height);
}

static void put_legend(struct drawing *drawing, const char *const kind_names[XST_TIMELINE_KINDS])
{
    double x = LEFT;
    for (int i = 0; i < XST_TIMELINE_KINDS + 3; i++) {
        static const char *const others[3][2] = {{"issue", "#bbbbbb"},
                                                 {"stall behind the stage", "#ee6677"},
                                                 {"wait for another tile", "#ccbb44"}};
        const char *const name = i < XST_TIMELINE_KINDS ? kind_names[i] : others[i - XST_TIMELINE_KINDS][0];
        if (!name)
            continue;
        xsti_text_put(&drawing->out, "<rect x=\"%.0f\" y=\"38\" width=\"12\" height=\"12\" fill=\"%s\"/>", x,
                      i < XST_TIMELINE_KINDS ? work_colours[i] : others[i - XST_TIMELINE_KINDS][1]);
        xsti_text_put(&drawing->out, "<text x=\"%.0f\" y=\"48\">%s</text>\n", x + 16, name);
        x += 170;
    }
}

/* Backlog of the first rank over time, and a round scale. */
static void put_backlog(struct drawing *drawing, const struct xst_timeline_result *result)
{
    double most = 1;
    for (int64_t i = 0; i < result->series_count; i++)
        most = fmax(most, result->series[i].backlog_first_bytes);
    const double low = drawing->bottom + MARGIN + PLOT;
    xsti_text_put(&drawing->out, "<text x=\"4\" y=\"%.0f\">backlog</text><text x=\"4\" y=\"%.0f\">%.3g MiB</text>\n",
                  low - PLOT + 14, low - PLOT, most / 1048576);
    xsti_text_put(&drawing->out, "<polyline fill=\"none\" stroke=\"#4477aa\" points=\"");
    for (int64_t i = 0; i < result->series_count; i++)
        xsti_text_put(&drawing->out, "%.2f,%.2f ", LEFT + result->series[i].time_us * drawing->us_to_px,
                      low - PLOT * result->series[i].backlog_first_bytes / most);
    xsti_text_put(&drawing->out, "\"/>\n");
}

static void put_axis(struct drawing *drawing, double makespan_us)
{
    const double low = drawing->bottom + MARGIN + PLOT;
    const double raw = fmax(makespan_us, 1e-9) / 10, power = pow(10, floor(log10(raw))), times = raw / power;
    const double step = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    xsti_text_put(&drawing->out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#888\"/>\n", LEFT,
                  LEFT + WIDTH, low, low);
    for (int tick = 0; tick * step <= makespan_us; tick++) {
        const double x = LEFT + tick * step * drawing->us_to_px;
        xsti_text_put(&drawing->out,
                      "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%g</text><line x1=\"%.1f\" x2=\"%.1f\" "
                      "y1=\"%.0f\" y2=\"%.0f\" stroke=\"#888\"/>\n",
                      x, low + 16, tick * step, x, x, low, low + 4);
    }
    xsti_text_put(&drawing->out, "<text x=\"%d\" y=\"%.0f\">us</text>\n", LEFT + WIDTH + 8, low + 16);
}

enum xst_status xst_timeline_svg(const struct xst_spans *spans, const struct xst_timeline_result *result,
                                 const char *const kind_names[XST_TIMELINE_KINDS], const char *title, int64_t most_sms,
                                 char **text_out, struct xst_diag *diag)
{
    struct drawing drawing = {.us_to_px = WIDTH / fmax(result->makespan_us, 1e-9)};
    for (size_t i = 0; i < spans->count; i++)
        if (spans->spans[i].rank == 0 && spans->spans[i].sm >= drawing.sms)
            drawing.sms = spans->spans[i].sm + 1;
    drawing.sms = drawing.sms < most_sms ? drawing.sms : most_sms;
    drawing.bottom = TOP + (double)(drawing.sms * ROW);
    void *const before = xsti_point_begin();
    xsti_text_put(&drawing.out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" "
                  "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"20\" "
                  "font-size=\"14\">",
                  LEFT + WIDTH + 40, drawing.bottom + 2 * MARGIN + PLOT, LEFT);
    put_escaped(&drawing.out, title);
    xsti_text_put(&drawing.out, "</text>\n");
    put_legend(&drawing, kind_names);
    for (int64_t sm = 0; sm<drawing.sms; sm += drawing.sms> 16 ? 8 : 1)
        xsti_text_put(&drawing.out, "<text x=\"4\" y=\"%.0f\">SM %lld</text>\n", TOP + (double)sm * ROW + 10,
                      (long long)sm);
    for (size_t i = 0; i < spans->count; i++)
        if (spans->spans[i].rank == 0 && spans->spans[i].sm >= 0 && spans->spans[i].sm < drawing.sms)
            put_bar(&drawing, &spans->spans[i]);
    put_backlog(&drawing, result);
    put_axis(&drawing, result->makespan_us);
    xsti_text_put(&drawing.out, "</svg>\n");
    xsti_point_end(before);
    if (drawing.out.failed) {
        free(drawing.out.text);
        return xsti_fail_memory(diag);
    }
    *text_out = drawing.out.text;
    return XST_OK;
}
