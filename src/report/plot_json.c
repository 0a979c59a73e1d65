/* SPDX-License-Identifier: Apache-2.0
 *
 * A figure as the JSON that report.js hands to uPlot.
 */
#include "report/figure.h"

static const char *kind_word(enum xsti_role_kind kind)
{
    switch (kind) {
    case XSTI_ROLE_POINTS:
        return "points";
    case XSTI_ROLE_HOLLOW:
        return "hollow";
    case XSTI_ROLE_LINE:
        return "line";
    case XSTI_ROLE_DASHED:
        return "dashed";
    case XSTI_ROLE_KNEE:
        return "knee";
    }
    return "line";
}

static void put_axis(struct xsti_out *out, const char *key, const struct xsti_axis *axis)
{
    static const int log_base[] = {0, 2, 10};
    xsti_putf(out, "\"%s\":{\"label\":", key);
    xsti_put_json(out, axis->label);
    xsti_putf(out, ",\"log\":%d,\"bytes\":%d,\"low\":%.9g,\"high\":%.9g,\"at\":[", log_base[axis->scale],
              axis->in_bytes, axis->low, axis->high);
    for (size_t i = 0; i < axis->tick_count; i++)
        xsti_putf(out, "%s%.9g", i ? "," : "", axis->ticks[i].value);
    xsti_put(out, "],\"text\":[");
    for (size_t i = 0; i < axis->tick_count; i++) {
        xsti_put(out, i ? "," : "");
        xsti_put_json(out, axis->ticks[i].label);
    }
    xsti_put(out, "]},");
}

static void put_numbers(struct xsti_out *out, const char *key, const double *values, size_t count, int digits)
{
    xsti_putf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        xsti_putf(out, "%s%.*g", i ? "," : "", digits, values[i]);
    xsti_put(out, "]");
}

void xsti_put_plot(struct xsti_out *out, const struct xsti_figure *figure)
{
    static const char *const labels[] = {"margin", "end", "legend"};
    xsti_putf(out, "{\"id\":\"%s\",\"labels\":\"%s\",", figure->id, labels[figure->labels]);
    put_axis(out, "x", &figure->x);
    put_axis(out, "y", &figure->y);
    xsti_put(out, "\"series\":[");
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct xsti_series *const series = &figure->series[i];
        const struct xsti_group *const group = &figure->groups[series->group];
        const struct xsti_role *const role = &figure->roles[series->role];
        xsti_put(out, i ? ",\n{\"group\":" : "\n{\"group\":");
        xsti_put_json(out, group->name);
        xsti_put(out, ",\"role\":");
        xsti_put_json(out, role->name);
        xsti_putf(out, ",\"kind\":\"%s\",\"colour\":%d,\"shape\":%d", kind_word(role->kind),
                  group->plain ? -1 : (int)(series->group % XSTI_COLOURS), (int)(series->group % 6));
        put_numbers(out, "xs", series->x, series->count, 7);
        put_numbers(out, "ys", series->y, series->count, 5);
        xsti_put(out, "}");
    }
    xsti_put(out, "]}");
}
