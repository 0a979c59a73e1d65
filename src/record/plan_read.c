/* SPDX-License-Identifier: Apache-2.0
 *
 * Saved plans, read back: whoever launches by a plan must be able to trust it, so numbers, words and the choice are
 * checked.
 */
#include <xstage/plan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"

enum { MOST_CANDIDATES = 100000, WORD_BYTES = 24, WHERE_BYTES = 48 };

/* Whole numbers a double can hold, and reals beyond anything predicted. */
static const int64_t most_int = INT64_C(1) << 53;
static const double most_real = 1e18;

static void read_int(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                     struct xst_plan_number *number)
{
    int64_t value = 0;
    number->known = xsti_json_optional_int(reader, object, where, key, -most_int, most_int, &value);
    number->value = (double)value;
}

static void read_real(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                      struct xst_plan_number *number)
{
    number->value = 0;
    number->known = xsti_json_optional_real(reader, object, where, key, -most_real, most_real, &number->value);
}

#define INT(key, number)  read_int(reader, object, where, key, number)
#define REAL(key, number) read_real(reader, object, where, key, number)

static int read_bool(struct xsti_json *reader, const json_t *object, const char *where, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (reader->status == XST_OK && value && !json_is_null(value) && !json_is_boolean(value))
        reader->status =
            xsti_fail(reader->diag, XST_ERR_PARSE, "%s: %s%s is neither true nor false", reader->name, where, key);
    return json_is_true(value);
}

static void read_words(struct xsti_json *reader, const json_t *object, const char *where, enum xst_plan_kind kind,
                       struct xst_plan_candidate *candidate)
{
    char word[WORD_BYTES];
    xsti_json_text(reader, object, where, "method", 1, word, sizeof word);
    if (reader->status == XST_OK && xst_method_parse(word, &candidate->method) != 0)
        xsti_json_bad_word(reader, where, "method", word, "st16, st4, bulk");
    if (kind == XST_PLAN_FA_A2A) {
        xsti_json_text(reader, object, where, "order", 1, word, sizeof word);
        if (reader->status == XST_OK && xst_tile_order_parse(word, &candidate->order) != 0)
            xsti_json_bad_word(reader, where, "order", word, "peers_first, rows");
    }
    if (kind == XST_PLAN_MOE) {
        xsti_json_text(reader, object, where, "schedule", 1, word, sizeof word);
        if (reader->status == XST_OK && xst_schedule_parse(word, &candidate->schedule) != 0)
            xsti_json_bad_word(reader, where, "schedule", word, "wave, interleaved");
    }
}

static void read_candidate(struct xsti_json *reader, const json_t *object, const char *where, enum xst_plan_kind kind,
                           struct xst_plan_candidate *candidate)
{
    const int bit = 1 << (int)kind;
    read_words(reader, object, where, kind, candidate);
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        type(#name, &candidate->name);
    XST_PLAN_SETTINGS(X)
    REAL("predicted_us", &candidate->predicted_us);
    XST_PLAN_PARTS(X)
    XST_PLAN_OTHERS(X)
#undef X
    candidate->pareto = read_bool(reader, object, where, "pareto");
    candidate->extrapolated = read_bool(reader, object, where, "extrapolated");
    xsti_json_text(reader, object, where, "reason", 0, candidate->reason, sizeof candidate->reason);
}

static void read_numbers(struct xsti_json *reader, const json_t *root, struct xst_plan *plan)
{
    const int bit = 1 << (int)plan->kind;
    const char *where = "question.";
    const json_t *object = xsti_json_object(reader, root, "", "question");
    if (reader->status != XST_OK)
        return;
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        type(#name, &plan->question.name);
    XST_PLAN_QUESTION(X)
#undef X
    where = "answers.";
    object = xsti_json_object(reader, root, "", "answers");
    if (reader->status != XST_OK)
        return;
#define X(name, type, plans, meaning)                                                                                  \
    if ((plans)&bit)                                                                                                   \
        type(#name, &plan->answers.name);
    XST_PLAN_ANSWERS(X)
#undef X
}

static void read_head(struct xsti_json *reader, const json_t *root, struct xst_plan *plan)
{
    char word[WORD_BYTES];
    xsti_json_text(reader, root, "", "kernel", 1, word, sizeof word);
    if (reader->status == XST_OK && xst_plan_kind_parse(word, &plan->kind) != 0)
        xsti_json_bad_word(reader, "", "kernel", word, "fa-a2a, moe, traffic");
    xsti_json_text(reader, root, "", "target", 1, word, sizeof word);
    if (reader->status == XST_OK && xst_target_parse(word, &plan->target) != 0)
        xsti_json_bad_word(reader, "", "target", word, "peer, host, local");
    xsti_json_text(reader, root, "", "phase", 1, word, sizeof word);
    if (reader->status == XST_OK && xst_phase_parse(word, &plan->phase) != 0)
        xsti_json_bad_word(reader, "", "phase", word, "unknown, aligned, shifted");
    xsti_json_text(reader, root, "", "name", 0, plan->name, sizeof plan->name);
    const json_t *const profile = xsti_json_object(reader, root, "", "profile");
    if (reader->status == XST_OK) {
        xsti_json_text(reader, profile, "profile.", "name", 0, plan->profile_name, sizeof plan->profile_name);
        xsti_json_text(reader, profile, "profile.", "id", 0, plan->profile_id, sizeof plan->profile_id);
    }
    plan->chosen = plan->runner_up = -1;
    xsti_json_optional_int(reader, root, "", "chosen_index", 0, MOST_CANDIDATES, &plan->chosen);
    xsti_json_optional_int(reader, root, "", "runner_up_index", 0, MOST_CANDIDATES, &plan->runner_up);
    xsti_json_text(reader, root, "", "sentence", 0, plan->sentence, sizeof plan->sentence);
    xsti_json_text(reader, root, "", "runner_up_sentence", 0, plan->runner_up_sentence,
                   sizeof plan->runner_up_sentence);
    xsti_json_text(reader, root, "", "note", 0, plan->note, sizeof plan->note);
}

static enum xst_status read_considered(struct xsti_json *reader, const json_t *root, struct xst_plan *plan)
{
    const json_t *const array = xsti_json_array(reader, root, "", "considered");
    XSTI_TRY(reader->status);
    const size_t count = json_array_size(array);
    if (count == 0 || count > MOST_CANDIDATES)
        return xsti_fail(reader->diag, XST_ERR_RANGE, "%s: considered has %zu candidates, outside 1..%d", reader->name,
                         count, MOST_CANDIDATES);
    plan->considered = calloc(count, sizeof *plan->considered);
    if (!plan->considered)
        return xsti_fail_memory(reader->diag);
    plan->count = count;
    for (size_t i = 0; i < count && reader->status == XST_OK; i++) {
        char where[WHERE_BYTES];
        const json_t *const object = json_array_get(array, i);
        snprintf(where, sizeof where, "considered[%zu].", i);
        if (!json_is_object(object))
            return xsti_fail(reader->diag, XST_ERR_PARSE, "%s: considered[%zu] is not an object", reader->name, i);
        read_candidate(reader, object, where, plan->kind, &plan->considered[i]);
    }
    return reader->status;
}

static enum xst_status read_root(const char *name, const json_t *root, struct xst_plan *plan, struct xst_diag *diag)
{
    struct xsti_json reader = {name, XST_OK, diag};
    struct xst_diag inner = {XST_OK, 0, ""};
    XSTI_TRY(xsti_json_schema(name, root, "xstage.plan", 1, diag));
    read_head(&reader, root, plan);
    XSTI_TRY(reader.status);
    read_numbers(&reader, root, plan);
    XSTI_TRY(reader.status);
    XSTI_TRY(read_considered(&reader, root, plan));
    const enum xst_status status = xst_plan_check(plan, &inner);
    return status == XST_OK ? XST_OK : xsti_fail(diag, status, "%s: %s", name, inner.text);
}

enum xst_status xst_plan_parse(const char *name, const char *text, size_t text_bytes, struct xst_plan *plan_out,
                               struct xst_diag *diag)
{
    json_t *root = NULL;
    struct xst_plan plan = {.kind = XST_PLAN_FA_A2A};
    XSTI_TRY(xsti_json_parse(name, text, text_bytes, &root, diag));
    const enum xst_status status = read_root(name, root, &plan, diag);
    json_decref(root);
    if (status != XST_OK) {
        xst_plan_free(&plan);
        return status;
    }
    *plan_out = plan;
    return XST_OK;
}

enum xst_status xst_plan_read(const char *path, struct xst_plan *plan_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status =
        xst_plan_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, plan_out, diag);
    free(text);
    return status;
}
