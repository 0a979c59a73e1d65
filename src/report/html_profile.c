/* SPDX-License-Identifier: Apache-2.0
 *
 * Machine, answers and the profile's tables.
 */
#include <stdio.h>

#include <xstage/model.h>

#include "report/html.h"
#include "report/rows.h"

static const char dash[] = "\xE2\x80\x93";

void xsti_put_number_cell(struct xsti_out *out, int known, double value)
{
    char text[XSTI_NUMBER_BYTES];
    xsti_putf(out, "<td>%s</td>", known ? xsti_number_words(value, text) : dash);
}

void xsti_put_bytes_cell(struct xsti_out *out, int known, double bytes)
{
    char text[XSTI_NUMBER_BYTES];
    xsti_putf(out, "<td>%s</td>", known ? xsti_bytes_words(bytes, text) : dash);
}

void xsti_put_percent_cell(struct xsti_out *out, int known, double frac)
{
    char text[XSTI_NUMBER_BYTES];
    xsti_putf(out, "<td>%s</td>", known ? xsti_percent_words(frac, text) : dash);
}

void xsti_put_text_cell(struct xsti_out *out, const char *tag_class, const char *text)
{
    xsti_putf(out, "<td class=\"%s\">", tag_class);
    xsti_put_escaped(out, text);
    xsti_put(out, "</td>");
}

int xsti_path_is_default(const struct xst_path *path)
{
    return path->threads == 256 && path->piece_bytes == 0 && path->pitch_bytes == 0;
}

static void put_fact(struct xsti_out *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    xsti_putf(out, "<div><dt>%s</dt><dd>", name);
    xsti_put_escaped(out, value);
    xsti_put(out, "</dd></div>");
}

void xsti_put_machine(struct xsti_out *out, const struct xst_profile *profile)
{
    const struct xst_machine_facts *const facts = &profile->machine;
    char text[64], number[XSTI_NUMBER_BYTES];
    if (facts->machine[0]) {
        xsti_put(out, "<p><strong>");
        xsti_put_escaped(out, facts->machine);
        xsti_put(out, "</strong></p>\n");
    }
    xsti_put(out, "<dl class=\"facts\">");
    put_fact(out, "Device", facts->device);
    if (facts->sm_count.known) {
        snprintf(text, sizeof text, "%.0f", facts->sm_count.value);
        put_fact(out, "SMs", text);
    }
    if (facts->sm_clock_ghz.known) {
        snprintf(text, sizeof text, "%s GHz", xsti_number_words(facts->sm_clock_ghz.value, number));
        put_fact(out, "SM clock", text);
    }
    if (facts->links_per_gpu.known && facts->link_gb_per_s.known) {
        snprintf(text, sizeof text, "%.0f \xC3\x97 %s GB/s", facts->links_per_gpu.value,
                 xsti_number_words(facts->link_gb_per_s.value, number));
        put_fact(out, "Links per GPU", text);
    }
    put_fact(out, "Driver", facts->driver);
    put_fact(out, "CUDA", facts->cuda);
    put_fact(out, "Date", facts->date);
    put_fact(out, "Origin", facts->origin[0] ? facts->origin : "not stated");
    put_fact(out, "Profile id", profile->id);
    xsti_put(out, "</dl>\n");
    if (facts->note[0]) {
        xsti_put(out, "<p class=\"note\">");
        xsti_put_escaped(out, facts->note);
        xsti_put(out, "</p>\n");
    }
}

static void put_floor_cell(struct xsti_out *out, const struct xst_path *path, double producers, double bytes)
{
    double floor = 0;
    const int known = xst_path_floor_us(path, producers, bytes, 0, &floor, NULL) == XST_OK;
    xsti_put_number_cell(out, known, floor);
}

static void put_answer(struct xsti_out *out, const struct xst_report_section *section, const struct xst_path *path)
{
    char name[XST_NAME_BYTES], size[XSTI_NUMBER_BYTES], text[XSTI_NUMBER_BYTES];
    struct xsti_subject subject = {0};
    double producers = (double)path->valid.producers_high, capacity = 0;
    struct xst_timing timing;
    if (xsti_subject_of(section, path->target, &subject) && subject.path == path)
        producers = (double)subject.producers;
    const double bytes = (double)xsti_typical_bytes(path, (int64_t)producers);
    xsti_put(out, "<tr><th>");
    xsti_put_escaped(out, xst_path_text(path, name, sizeof name));
    xsti_put(out, "</th>");
    xsti_put_number_cell(out, path->drain_bytes_per_us.known, path->drain_bytes_per_us.value / 1000);
    put_floor_cell(out, path, producers, 16384);
    put_floor_cell(out, path, producers, 32768);
    if (xst_path_capacity_bytes(path, producers, 0, &capacity, NULL) == XST_OK)
        xsti_putf(out, "<td>%s <small>K = %.0f</small></td>", xsti_bytes_words(capacity, text), producers);
    else
        xsti_putf(out, "<td>%s</td>", dash);
    if (bytes > 0 &&
        xsti_law_at(path, producers, bytes, 0, XST_TIMING_DRAIN | XST_TIMING_FLOOR | XST_TIMING_RELEASE, &timing))
        xsti_putf(out, "<td>%s <small>%.0f \xC3\x97 %s</small></td>", xsti_number_words(timing.recovery_gap_us, text),
                  producers, xsti_bytes_words(bytes, size));
    else
        xsti_putf(out, "<td>%s</td>", dash);
    xsti_put(out, "</tr>\n");
}

void xsti_put_answers(struct xsti_out *out, const struct xst_report_section *section)
{
    const struct xst_profile *const profile = section->profile;
    size_t shown = 0;
    xsti_put(
        out,
        "<div class=\"scroll answers\"><table><thead><tr><th class=\"w\">path</th><th>R<br><small>GB/s</small></th>"
        "<th>T0, 16 KiB<br><small>\xC2\xB5s</small></th><th>T0, 32 KiB<br><small>\xC2\xB5s</small></th>"
        "<th>Q(K)<br><small>held at most</small></th><th>G*<br><small>\xC2\xB5s, recovery gap</small></th></tr></thead>"
        "<tbody>\n");
    for (size_t i = 0; i < profile->path_count; i++) {
        if (profile->paths[i].target == XST_TARGET_LOCAL || !xsti_path_is_default(&profile->paths[i]))
            continue;
        put_answer(out, section, &profile->paths[i]);
        shown++;
    }
    for (size_t i = 0; shown == 0 && i < profile->path_count; i++)
        put_answer(out, section, &profile->paths[i]);
    xsti_put(out, "</tbody></table></div>\n");
}

static void put_drain_cell(struct xsti_out *out, const struct xst_measure *drain)
{
    char text[XSTI_NUMBER_BYTES], low[XSTI_NUMBER_BYTES], high[XSTI_NUMBER_BYTES];
    if (!drain->known)
        xsti_putf(out, "<td>%s</td>", dash);
    else if (drain->low < drain->high)
        xsti_putf(out, "<td>%s <small>%s\xE2\x80\x93%s</small></td>", xsti_number_words(drain->value / 1000, text),
                  xsti_number_words(drain->low / 1000, low), xsti_number_words(drain->high / 1000, high));
    else
        xsti_putf(out, "<td>%s</td>", xsti_number_words(drain->value / 1000, text));
}

static void put_path_row(struct xsti_out *out, const struct xst_path *path)
{
    char name[XST_NAME_BYTES], low[XSTI_NUMBER_BYTES], high[XSTI_NUMBER_BYTES];
    const int64_t rows = path->rows_used + path->rows_excluded;
    xsti_put(out, "<tr><th>");
    xsti_put_escaped(out, xst_path_text(path, name, sizeof name));
    xsti_put(out, "</th>");
    put_drain_cell(out, &path->drain_bytes_per_us);
    xsti_put_number_cell(out, path->loop_us.known, path->loop_us.value);
    xsti_put_number_cell(out, path->fence_us.known, path->fence_us.value);
    xsti_put_bytes_cell(out, path->capacity_per_producer_bytes.known, path->capacity_per_producer_bytes.value);
    xsti_put_bytes_cell(out, path->capacity_total_bytes.known, path->capacity_total_bytes.value);
    xsti_put_bytes_cell(out, path->free_capacity_bytes.known, path->free_capacity_bytes.value);
    xsti_putf(out, "<td>%lld\xE2\x80\x93%lld</td><td>%s\xE2\x80\x93%s</td><td>%lld <small>of %lld</small></td></tr>\n",
              (long long)path->valid.producers_low, (long long)path->valid.producers_high,
              xsti_bytes_words((double)path->valid.bytes_low, low),
              xsti_bytes_words((double)path->valid.bytes_high, high), (long long)path->rows_used, (long long)rows);
}

void xsti_put_path_table(struct xsti_out *out, const struct xst_profile *profile)
{
    xsti_put(
        out,
        "<div class=\"scroll\"><table><thead><tr><th class=\"w\">path</th><th>R<br><small>GB/s</small></th>"
        "<th>d<br><small>\xC2\xB5s</small></th><th>F<br><small>\xC2\xB5s</small></th><th>Q per<br>producer</th>"
        "<th>Q<br>in all</th><th>Q_free</th><th>producers</th><th>bytes each</th><th>rows<br>used</th></tr></thead>"
        "<tbody>\n");
    for (size_t i = 0; i < profile->path_count; i++)
        put_path_row(out, &profile->paths[i]);
    xsti_put(out, "</tbody></table></div>\n<p class=\"note\">A dash: the samples do not identify it. Q per producer "
                  "and in all are the"
                  " form min(K\xC2\xB7"
                  "c, Q) that serves extrapolation only; the tables below are what predictions read.</p>\n");
}
