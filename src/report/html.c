/* SPDX-License-Identifier: Apache-2.0
 *
 * The page: head, contents, sections, data for the script.
 */
#include "report/html.h"

#include <stdio.h>

#include "report/assets.h"

static void put_head(struct xsti_out *out, const char *title)
{
    xsti_put(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    xsti_put_escaped(out, title);
    xsti_put(out, "</title>\n<style>\n");
    xsti_put(out, xsti_uplot_css);
    xsti_put(out, "\n");
    xsti_put(out, xsti_report_css);
    xsti_put(out, "</style>\n</head>\n<body>\n");
}

static void put_contents(struct xsti_out *out, const struct xst_report_input *input,
                         const struct xsti_figure_list *figures)
{
    xsti_put(out, "<nav aria-label=\"Contents\">");
    for (size_t i = 0; i < input->section_count; i++) {
        const char *const name = input->sections[i].profile->name;
        if (input->section_count > 1) {
            xsti_putf(out, "<a href=\"#section-%zu\">", i + 1);
            xsti_put_escaped(out, name[0] ? name : "profile");
            xsti_put(out, "</a>");
            continue;
        }
        xsti_put(out, "<a href=\"#answers-1\">Answers</a>");
        xsti_put(out, figures->count ? "<a href=\"#figures-1\">Figures</a>" : "");
        xsti_put(out, "<a href=\"#profile-1\">Profile</a>");
        xsti_put(out, input->sections[i].validation ? "<a href=\"#validation-1\">Validation</a>" : "");
        xsti_put(out, input->sections[i].fit ? "<a href=\"#rows-1\">Rows</a>" : "");
    }
    xsti_put(out, input->audit_count ? "<a href=\"#audits\">Audits</a>" : "");
    xsti_put(out, input->bench_count ? "<a href=\"#bench\">Benchmarks</a>" : "");
    xsti_put(out, "<a href=\"#reading\">Symbols</a></nav>\n");
}

static void put_figure(struct xsti_out *out, const struct xsti_figure *figure)
{
    xsti_putf(out, "<figure id=\"%s\">\n<h3>", figure->id);
    xsti_put_escaped(out, figure->title);
    xsti_put(out, "</h3>\n<div class=\"static\">\n");
    xsti_put_svg(out, figure, 0);
    xsti_putf(out, "</div>\n<div class=\"plot\" id=\"%s-plot\"></div>\n<figcaption>", figure->id);
    xsti_put_escaped(out, figure->caption);
    xsti_put(out, "</figcaption>\n</figure>\n");
}

static void put_figures(struct xsti_out *out, const struct xsti_figure_list *figures, size_t section)
{
    int begun = 0;
    for (size_t i = 0; i < figures->count; i++) {
        if (figures->entries[i].section != section)
            continue;
        if (!begun)
            xsti_putf(
                out,
                "<h2 id=\"figures-%zu\">Measured and modelled</h2>\n<p class=\"note\">Points are measured rows, lines"
                " are the model. Each parameter was read off the rows that identify it alone; nothing is refitted per"
                " curve.</p>\n",
                section + 1);
        begun = 1;
        put_figure(out, figures->entries[i].figure);
    }
}

static void put_section(struct xsti_out *out, const struct xst_report_input *input, size_t index,
                        const struct xsti_figure_list *figures)
{
    const struct xst_report_section *const section = &input->sections[index];
    xsti_putf(out, "<section id=\"section-%zu\">\n", index + 1);
    if (input->section_count > 1) {
        xsti_put(out, "<h2>");
        xsti_put_escaped(out, section->profile->name[0] ? section->profile->name : "profile");
        xsti_put(out, "</h2>\n");
    }
    xsti_put_machine(out, section->profile);
    xsti_putf(out, "<div id=\"answers-%zu\">\n", index + 1);
    xsti_put_answers(out, section);
    xsti_put(out, "</div>\n");
    if (index == 0)
        put_contents(out, input, figures);
    put_figures(out, figures, index);
    xsti_putf(out, "<h2 id=\"profile-%zu\">Profile</h2>\n", index + 1);
    xsti_put_path_table(out, section->profile);
    xsti_put_path_details(out, section->profile);
    if (section->validation) {
        xsti_putf(out, "<h2 id=\"validation-%zu\">Validation</h2>\n", index + 1);
        xsti_put_validation(out, section->validation, input->section_count == 1);
    }
    if (section->fit && section->samples) {
        xsti_putf(out, "<h2 id=\"rows-%zu\">Rows behind the profile</h2>\n", index + 1);
        xsti_put_rows_account(out, section);
    }
    xsti_put(out, "</section>\n");
}

static void put_symbols(struct xsti_out *out)
{
    static const char *const rows[][2] = {
        {"K, B, V", "producers (CTAs that store at once), bytes each of them writes in one burst, V = K\xC2\xB7"
                    "B"},
        {"G, G*", "useful time between the end of one issue and the next start; G* = V/R \xE2\x88\x92 T0, the gap from "
                  "which on a burst"
                  " no longer waits (3)"},
        {"T0", "issue time of a burst that meets no backpressure"},
        {"R", "rate at which the path drains, all producers together"},
        {"Q(K)", "bytes the path holds between acceptance of a store and its visibility"},
        {"d, F", "loop time per period that is neither issue nor gap; time of a system fence after a small burst"},
        {"Q_free", "backlog that delays no other memory operation of the device (16)"},
    };
    xsti_put(out, "<h2 id=\"reading\">Symbols</h2>\n<div class=\"scroll\"><table><tbody>\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        xsti_putf(out, "<tr><th>%s</th><td class=\"wrap\">%s</td></tr>\n", rows[i][0], rows[i][1]);
    xsti_put(out, "</tbody></table></div>\n<p class=\"note\">Numbers in parentheses are the equations of "
                  "docs/model.md. 1 GB/s = 1000"
                  " bytes/\xC2\xB5s; KiB and MiB are binary.</p>\n");
}

static void put_foot(struct xsti_out *out, const struct xsti_figure_list *figures)
{
    xsti_put(out, "<footer>\n<p>Made by xstage ");
    xsti_put_escaped(out, xst_version());
    xsti_put(out, ".</p>\n");
    if (figures->count) {
        xsti_put(out, "<details><summary>Licence of uPlot, which draws the live figures</summary><pre>");
        xsti_put_escaped(out, xsti_uplot_license);
        xsti_put(out, "</pre></details>\n");
    }
    xsti_put(out, "</footer>\n");
    if (figures->count) {
        xsti_put(out, "<script type=\"application/json\" id=\"figure-data\">[");
        for (size_t i = 0; i < figures->count; i++) {
            xsti_put(out, i ? ",\n" : "");
            xsti_put_plot(out, figures->entries[i].figure);
        }
        xsti_put(out, "]</script>\n<script>\n");
        xsti_put(out, xsti_uplot_js);
        xsti_put(out, "\n</script>\n<script>\n");
        xsti_put(out, xsti_report_js);
        xsti_put(out, "</script>\n");
    }
    xsti_put(out, "</body>\n</html>\n");
}

/* The given title, or the names of the profiles. */
static void title_of(const struct xst_report_input *input, char *title, size_t size)
{
    size_t at = 0;
    if (input->title) {
        snprintf(title, size, "%s", input->title);
        return;
    }
    snprintf(title, size, "xstage report");
    for (size_t i = 0; i < input->section_count && at < size; i++) {
        const char *const name = input->sections[i].profile->name;
        if (name[0])
            at += (size_t)snprintf(title + at, size - at, "%s%s", at ? ", " : "", name);
    }
}

void xsti_put_page(struct xsti_out *out, const struct xst_report_input *input, const struct xsti_figure_list *figures,
                   json_t *const *audits, json_t *const *benches)
{
    char title[512];
    title_of(input, title, sizeof title);
    put_head(out, title);
    xsti_put(out, "<header>\n<h1>");
    xsti_put_escaped(out, title);
    xsti_put(out, "</h1>\n<p class=\"soft\">Stores to memory outside the device: how fast they drain, how much may be "
                  "under way, and"
                  " when a kernel that issues them has to wait.</p>\n</header>\n<main>\n");
    for (size_t i = 0; i < input->section_count; i++)
        put_section(out, input, i, figures);
    if (input->section_count == 0)
        put_contents(out, input, figures);
    if (input->audit_count)
        xsti_put_audits(out, audits, input->audit_count);
    if (input->bench_count) {
        xsti_put(out, "<h2 id=\"bench\">Benchmarks</h2>\n");
        for (size_t i = 0; i < input->bench_count; i++)
            xsti_put_bench(out, benches[i]);
    }
    put_symbols(out);
    xsti_put(out, "</main>\n");
    put_foot(out, figures);
}
