/* SPDX-License-Identifier: Apache-2.0
 *
 * Audits and benchmark results, from the JSON the other commands write. Keys carry their units, so a value is shown by the
 * ending of its key.
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
static void put_value(struct xsti_out *out, const char *key, const json_t *value)
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
static void put_key(struct xsti_out *out, const char *key)
{
    char words[96];
    snprintf(words, sizeof words, "%s", key);
    if (ends_with(words, "_us") && !ends_with(words, "_per_us"))
        words[strlen(words) - 3] = '\0';
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    xsti_put_escaped(out, words);
}

/* Numbers of one object as a two-column table; nulls and nested values are left out. */
static void put_object(struct xsti_out *out, const char *title, const json_t *object)
{
    const char *key;
    json_t *value;
    size_t shown = 0;
    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value))
            continue;
        if (shown++ == 0)
            xsti_putf(out, "<details><summary>%s</summary><div class=\"scroll\"><table><tbody>\n", title);
        xsti_put(out, "<tr><th>");
        put_key(out, key);
        xsti_put(out, "</th><td>");
        put_value(out, key, value);
        xsti_put(out, "</td></tr>\n");
    }
    if (shown)
        xsti_put(out, "</tbody></table></div></details>\n");
}

/* One bound of the design test: holds or fails, and by how much. */
static void put_bound(struct xsti_out *out, const char *name, const json_t *bound)
{
    char text[XSTI_NUMBER_BYTES];
    if (!json_is_object(bound))
        return;
    const json_t *const holds = json_object_get(bound, "holds"), *const margin = json_object_get(bound, "margin_bytes"),
                 *const delay = json_object_get(bound, "delay_us");
    xsti_putf(out, "<tr><th>%s</th><td class=\"w %s\">%s</td><td class=\"w\">", name,
              json_is_true(holds) ? "good" : json_is_false(holds) ? "bad" : "soft",
              json_is_true(holds) ? "holds" : json_is_false(holds) ? "fails" : "not known");
    if (json_is_number(margin)) {
        const double bytes = json_number_value(margin);
        xsti_putf(out, "%s %s", xsti_bytes_words(fabs(bytes), text), bytes < 0 ? "too much" : "to spare");
    } else if (json_is_number(delay)) {
        xsti_putf(out, "a local load waits up to %s \xC2\xB5s", xsti_number_words(json_number_value(delay), text));
    }
    xsti_put(out, "</td></tr>\n");
}

static void put_action(struct xsti_out *out, const json_t *action)
{
    const char *const sentence = json_string_value(json_object_get(action, "text"));
    const json_t *const issue = json_object_get(action, "predicted_issue_us");
    char text[XSTI_NUMBER_BYTES];
    xsti_put(out, "<li>");
    if (sentence) {
        xsti_put_escaped(out, sentence);
    } else {
        const char *const what = json_string_value(json_object_get(action, "what"));
        put_key(out, what ? what : "change");
        xsti_put(out, ": from ");
        put_value(out, what ? what : "", json_object_get(action, "from"));
        xsti_put(out, " to ");
        put_value(out, what ? what : "", json_object_get(action, "to"));
        if (json_is_number(issue))
            xsti_putf(out, ", predicted issue %s \xC2\xB5s", xsti_number_words(json_number_value(issue), text));
    }
    xsti_put(out, "</li>\n");
}

static void put_sentence(struct xsti_out *out, const json_t *audit, const char *key, const char *tag_class)
{
    const char *const text = json_string_value(json_object_get(audit, key));
    if (!text || !text[0])
        return;
    xsti_putf(out, "<p class=\"%s\">", tag_class);
    xsti_put_escaped(out, text);
    xsti_put(out, "</p>\n");
}

static void put_audit_title(struct xsti_out *out, const json_t *audit)
{
    const char *const kernel = json_string_value(json_object_get(audit, "kernel"));
    const char *const name = json_string_value(json_object_get(audit, "name"));
    const char *const verdict = json_string_value(json_object_get(audit, "verdict"));
    const char *const word = verdict ? verdict : "unknown";
    xsti_put(out, "<div class=\"audit\">\n<h3>");
    xsti_put_escaped(out, kernel ? kernel : "kernel");
    if (name && name[0] && (!kernel || strcmp(name, kernel) != 0)) {
        xsti_put(out, ", ");
        xsti_put_escaped(out, name);
    }
    xsti_putf(out, " <span class=\"verdict %s\">",
              strcmp(word, "piggyback") == 0 ? "good" : strcmp(word, "reshape") == 0 ? "bad" : "soft");
    xsti_put_escaped(out, word);
    xsti_put(out, "</span></h3>\n");
}

/* The shape on one line: "heads 24, head dim 128, ...". */
static void put_shape(struct xsti_out *out, const json_t *shape)
{
    const char *key;
    json_t *value;
    size_t shown = 0;
    if (!json_is_object(shape))
        return;
    xsti_put(out, "<p class=\"soft\">");
    json_object_foreach((json_t *)shape, key, value)
    {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value))
            continue;
        xsti_put(out, shown++ ? " \xC2\xB7 " : "");
        put_key(out, key);
        xsti_put(out, " ");
        put_value(out, key, value);
    }
    xsti_put(out, "</p>\n");
}

static void put_audit(struct xsti_out *out, const json_t *audit)
{
    const json_t *const actions = json_object_get(audit, "actions");
    const char *key;
    json_t *value;
    put_audit_title(out, audit);
    put_shape(out, json_object_get(audit, "shape"));
    put_sentence(out, audit, "sentence", "");
    xsti_put(out, "<div class=\"scroll\"><table><tbody>\n");
    put_bound(out, "rate bound", json_object_get(audit, "rate"));
    put_bound(out, "capacity bound", json_object_get(audit, "capacity"));
    put_bound(out, "staging", json_object_get(audit, "staging"));
    put_bound(out, "bystanders (16)", json_object_get(audit, "bystander"));
    xsti_put(out, "</tbody></table></div>\n");
    if (json_array_size(actions)) {
        xsti_put(out, "<p><strong>What to change</strong></p>\n<ul>\n");
        for (size_t i = 0; i < json_array_size(actions); i++)
            put_action(out, json_array_get(actions, i));
        xsti_put(out, "</ul>\n");
    }
    put_sentence(out, audit, "reason", "note");
    put_sentence(out, audit, "note", "note");
    put_object(out, "Numbers", json_object_get(audit, "numbers"));
    json_object_foreach((json_t *)audit, key, value)
    {
        if (json_is_object(value) && (strcmp(key, "fa") == 0 || strcmp(key, "moe") == 0))
            put_object(out, "Numbers of this kernel", value);
    }
    xsti_put(out, "</div>\n");
}

void xsti_put_audits(struct xsti_out *out, json_t *const *audits, size_t count)
{
    xsti_put(out, "<h2 id=\"audits\">Audits</h2>\n<p>The design test (10): what leaves the device in the long run must fit in R\xC2\xB7(T0 +"
                  " G), and the backlog of a burst must fit in Q(K).</p>\n");
    for (size_t i = 0; i < count; i++) {
        const json_t *const many = json_object_get(audits[i], "audits");
        if (!json_is_array(many)) {
            put_audit(out, audits[i]);
            continue;
        }
        for (size_t j = 0; j < json_array_size(many); j++)
            put_audit(out, json_array_get(many, j));
    }
}

void xsti_put_bench(struct xsti_out *out, const json_t *bench)
{
    static const char *const keys[] = {"variant", "shape", "p", "median_us", "min_us", "max_us", "n", "tflops", "residual",
                                       "hiding_ratio", "speedup", "checked"};
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
        put_key(out, keys[k]);
        xsti_put(out, "</th>");
    }
    xsti_put(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        xsti_put(out, "<tr>");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            xsti_put(out, k < 2 ? "<td class=\"w\">" : "<td>");
            put_value(out, keys[k], json_object_get(json_array_get(rows, i), keys[k]));
            xsti_put(out, "</td>");
        }
        xsti_put(out, "</tr>\n");
    }
    xsti_put(out, "</tbody></table></div>\n");
}
