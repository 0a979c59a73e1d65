/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a document whose keys carry their units: a value is shown by the ending of its key. And the benchmark
 * results, which are one table of such values.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"

static int ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* A value with the unit its key names; nested values are left to the caller. */
void xsti_put_value(struct xsti_out *out, const char *key, const json_t *value)
{
    char text[XSTI_NUMBER_BYTES];
    if (json_is_string(value)) {
        xsti_put_escaped(out, json_string_value(value));
        return;
    }
    if (json_is_boolean(value)) {
        xsti_put(out, json_is_true(value) ? "yes" : "no");
        return;
    }
    if (!json_is_number(value)) {
        xsti_put(out, "\xE2\x80\x93");
        return;
    }
    const double number = json_number_value(value);
    if (ends_with(key, "_bytes_per_us"))
        xsti_putf(out, "%s GB/s", xsti_number_words(number / 1000, text));
    else if (ends_with(key, "_us"))
        xsti_putf(out, "%s \xC2\xB5s", xsti_number_words(number, text));
    else if (ends_with(key, "bytes") || ends_with(key, "bytes_per_producer"))
        xsti_put(out, xsti_bytes_words(number, text));
    else if (json_is_integer(value) || (number == floor(number) && fabs(number) < 1e9))
        xsti_putf(out, "%.0f", number);
    else
        xsti_put(out, xsti_number_words(number, text));
}

/* "recovery_gap_us" -> "recovery gap". */
void xsti_put_key_words(struct xsti_out *out, const char *key)
{
    char words[96];
    snprintf(words, sizeof words, "%s", key);
    if (ends_with(words, "_us") && !ends_with(words, "_per_us"))
        words[strlen(words) - 3] = '\0';
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    xsti_put_escaped(out, words);
}

void xsti_put_bench(struct xsti_out *out, const json_t *bench)
{
    static const char *const keys[] = {"variant", "shape",  "p",        "median_us",    "min_us",  "max_us",
                                       "n",       "tflops", "residual", "hiding_ratio", "speedup", "checked"};
    const json_t *const rows = json_object_get(bench, "rows");
    const char *const kernel = json_string_value(json_object_get(bench, "kernel"));
    if (kernel) {
        xsti_put(out, "<h3>");
        xsti_put_escaped(out, kernel);
        xsti_put(out, "</h3>\n");
    }
    xsti_put(out, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        xsti_put(out, k < 2 ? "<th class=\"w\">" : "<th>");
        xsti_put_key_words(out, keys[k]);
        xsti_put(out, "</th>");
    }
    xsti_put(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        xsti_put(out, "<tr>");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            xsti_put(out, k < 2 ? "<td class=\"w\">" : "<td>");
            xsti_put_value(out, keys[k], json_object_get(json_array_get(rows, i), keys[k]));
            xsti_put(out, "</td>");
        }
        xsti_put(out, "</tr>\n");
    }
    xsti_put(out, "</tbody></table></div>\n");
}
