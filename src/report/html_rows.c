/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of every row in the fit.
 */
#include <string.h>

#include "report/html.h"

enum { MOST_OUTLIERS = 40, REASON_COUNT = 32 };

static void put_outliers(struct xsti_out *out, const struct xst_report_section *section)
{
    const struct xst_fit *const fit = section->fit;
    char value[XSTI_NUMBER_BYTES], expected[XSTI_NUMBER_BYTES];
    xsti_putf(out,
              "<details><summary>%zu outliers: used, but far from the law they should follow</summary>\n<div "
              "class=\"scroll\">"
              "<table><thead><tr><th class=\"w\">row</th><th class=\"w\">parameter</th><th>from this "
              "row</th><th>fitted</th></tr>"
              "</thead><tbody>\n",
              fit->outlier_count);
    for (size_t i = 0; i < fit->outlier_count && i < MOST_OUTLIERS; i++) {
        const struct xst_outlier *const outlier = &fit->outliers[i];
        if (outlier->row >= section->samples->row_count)
            continue;
        const struct xst_sample *const row = &section->samples->rows[outlier->row];
        const int bytes = strstr(outlier->quantity, "capacity") != NULL, rate = strcmp(outlier->quantity, "drain") == 0;
        xsti_putf(out, "<tr><th>%s, K = %lld, %s, gap %s \xC2\xB5s", xst_mode_text(row->mode),
                  (long long)row->producers, xsti_bytes_words((double)row->bytes_per_producer, value),
                  xsti_number_words(row->gap_us, expected));
        xsti_put(out, "</th><td class=\"w\">");
        xsti_put_escaped(out, outlier->quantity);
        const double scale = rate ? 1e-3 : 1;
        xsti_putf(out, "</td><td>%s%s</td><td>%s%s</td></tr>\n",
                  bytes ? xsti_bytes_words(outlier->value, value) : xsti_number_words(outlier->value * scale, value),
                  rate    ? " GB/s"
                  : bytes ? ""
                          : " \xC2\xB5s",
                  bytes ? xsti_bytes_words(outlier->expected, expected)
                        : xsti_number_words(outlier->expected * scale, expected),
                  rate    ? " GB/s"
                  : bytes ? ""
                          : " \xC2\xB5s");
    }
    xsti_put(out, "</tbody></table></div>\n");
    if (fit->outlier_count > MOST_OUTLIERS)
        xsti_putf(out, "<p class=\"note\">%zu more are not shown.</p>\n", fit->outlier_count - MOST_OUTLIERS);
    xsti_put(out, "</details>\n");
}

void xsti_put_rows_account(struct xsti_out *out, const struct xst_report_section *section)
{
    const struct xst_fit *const fit = section->fit;
    size_t reasons[REASON_COUNT] = {0}, used = 0;
    for (size_t i = 0; i < fit->row_count; i++) {
        used += fit->used[i] != 0;
        if (!fit->used[i] && (size_t)fit->exclude[i] < REASON_COUNT)
            reasons[fit->exclude[i]]++;
    }
    xsti_putf(
        out,
        "<p>%zu of %zu rows identify a parameter; %lld numbers were fitted. The others serve for validation only:</p>\n"
        "<div class=\"scroll\"><table><tbody>\n",
        used, fit->row_count, (long long)fit->parameter_count);
    for (size_t i = 1; i < REASON_COUNT; i++)
        if (reasons[i])
            xsti_putf(out, "<tr><td>%zu</td><td class=\"wrap\">%s</td></tr>\n", reasons[i],
                      xst_exclude_sentence((enum xst_exclude)i));
    xsti_put(out, "</tbody></table></div>\n");
    if (fit->outlier_count)
        put_outliers(out, section);
}
