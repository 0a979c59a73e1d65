/* SPDX-License-Identifier: Apache-2.0
 *
 * Audits, from the JSON that `xstage audit` writes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"

/* Numbers of one object as a two-column table; nulls and nested values are left out. */
static void put_object(struct xsti_out *out, const char *title, const json_t *object)
{
    const char *key;
    json_t *value;
    size_t shown = 0;
    json_object_foreach((json_t *)object, key, value) {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value))
            continue;
        if (shown++ == 0)
            xsti_putf(out, "<details><summary>%s</summary><div class=\"scroll\"><table><tbody>\n", title);
        xsti_put(out, "<tr><th>");
        xsti_put_key_words(out, key);
        xsti_put(out, "</th><td>");
        xsti_put_value(out, key, value);
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
              json_is_true(holds)    ? "good"
              : json_is_false(holds) ? "bad"
                                     : "soft",
              json_is_true(holds)    ? "holds"
              : json_is_false(holds) ? "fails"
                                     : "not known");
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
        xsti_put_key_words(out, what ? what : "change");
        xsti_put(out, ": from ");
        xsti_put_value(out, what ? what : "", json_object_get(action, "from"));
        xsti_put(out, " to ");
        xsti_put_value(out, what ? what : "", json_object_get(action, "to"));
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

static const char *verdict_class(const char *verdict)
{
    if (!verdict)
        return "soft";
    return strcmp(verdict, "piggyback") == 0 ? "good" : strcmp(verdict, "reshape") == 0 ? "bad" : "soft";
}

static void put_audit_title(struct xsti_out *out, const json_t *audit)
{
    const char *const kernel = json_string_value(json_object_get(audit, "kernel"));
    const char *const name = json_string_value(json_object_get(audit, "name"));
    const char *const verdict = json_string_value(json_object_get(audit, "verdict"));
    xsti_put(out, "<div class=\"audit\">\n<h3>");
    xsti_put_escaped(out, kernel ? kernel : "kernel");
    if (name && name[0] && (!kernel || strcmp(name, kernel) != 0)) {
        xsti_put(out, ", ");
        xsti_put_escaped(out, name);
    }
    xsti_putf(out, " <span class=\"verdict %s\">", verdict_class(verdict));
    xsti_put_escaped(out, verdict ? verdict : "not known");
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
    json_object_foreach((json_t *)shape, key, value) {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value))
            continue;
        xsti_put(out, shown++ ? " \xC2\xB7 " : "");
        xsti_put_key_words(out, key);
        xsti_put(out, " ");
        xsti_put_value(out, key, value);
    }
    xsti_put(out, "</p>\n");
}

static void put_case(struct xsti_out *out, const char *schedule, const char *bursts, const json_t *gap,
                     const json_t *one_case)
{
    static const char *const keys[] = {"issue_us", "period_us", "release_us"};
    const char *const verdict = json_string_value(json_object_get(one_case, "verdict"));
    if (!json_is_object(one_case))
        return;
    xsti_put(out, "<tr><th>");
    xsti_put_escaped(out, schedule);
    xsti_putf(out, "%s%s</th><td>", schedule[0] ? ", " : "", bursts);
    xsti_put_value(out, "gap_us", gap);
    xsti_put(out, "</td>");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        xsti_put(out, "<td>");
        xsti_put_value(out, keys[i], json_object_get(one_case, keys[i]));
        xsti_put(out, "</td>");
    }
    xsti_putf(out, "<td class=\"w %s\">", verdict_class(verdict));
    xsti_put_escaped(out, verdict ? verdict : "not known");
    xsti_put(out, "</td></tr>\n");
}

/* Bursts that start together, and bursts that drift apart; for each schedule where there are several. */
static void put_cases(struct xsti_out *out, const json_t *audit)
{
    const json_t *const schedules = json_object_get(audit, "schedules");
    if (!json_is_object(json_object_get(audit, "aligned")) && !json_is_array(schedules))
        return;
    xsti_put(
        out,
        "<div class=\"scroll\"><table><thead><tr><th class=\"w\">bursts</th><th>gap</th><th>issue</th><th>period</th>"
        "<th>staging busy</th><th class=\"w\">verdict</th></tr></thead><tbody>\n");
    if (json_array_size(schedules) == 0) {
        const json_t *const gap = json_object_get(json_object_get(audit, "numbers"), "gap_us");
        put_case(out, "", "start together", gap, json_object_get(audit, "aligned"));
        put_case(out, "", "drift apart", gap, json_object_get(audit, "drifting"));
    }
    for (size_t i = 0; i < json_array_size(schedules); i++) {
        const json_t *const one = json_array_get(schedules, i), *const gap = json_object_get(one, "gap_us");
        const char *const name = json_string_value(json_object_get(one, "schedule"));
        put_case(out, name ? name : "", "start together", gap, json_object_get(one, "aligned"));
        put_case(out, name ? name : "", "drift apart", gap, json_object_get(one, "drifting"));
    }
    xsti_put(out, "</tbody></table></div>\n");
}

static void put_audit(struct xsti_out *out, const json_t *audit)
{
    const json_t *const actions = json_object_get(audit, "actions");
    put_audit_title(out, audit);
    put_shape(out, json_object_get(audit, "shape"));
    put_sentence(out, audit, "sentence", "");
    xsti_put(out, "<div class=\"scroll\"><table><tbody>\n");
    put_bound(out, "rate bound", json_object_get(audit, "rate"));
    put_bound(out, "capacity bound", json_object_get(audit, "capacity"));
    put_bound(out, "staging", json_object_get(audit, "staging"));
    put_bound(out, "bystanders (16)", json_object_get(audit, "bystander"));
    xsti_put(out, "</tbody></table></div>\n");
    put_cases(out, audit);
    if (json_array_size(actions)) {
        xsti_put(out, "<p><strong>What to change, best first</strong></p>\n<ol>\n");
        for (size_t i = 0; i < json_array_size(actions); i++)
            put_action(out, json_array_get(actions, i));
        xsti_put(out, "</ol>\n");
    }
    put_sentence(out, audit, "reason", "note");
    put_sentence(out, audit, "note", "note");
    put_object(out, "Numbers", json_object_get(audit, "numbers"));
    xsti_put(out, "</div>\n");
}

void xsti_put_audits(struct xsti_out *out, json_t *const *audits, size_t count)
{
    xsti_put(out, "<h2 id=\"audits\">Audits</h2>\n<p>The design test (10): what leaves the device in the long run must "
                  "fit in R\xC2\xB7(T0 +"
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
