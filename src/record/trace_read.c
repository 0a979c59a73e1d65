/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces read back: every number is checked, so that an audit can trust it.
 */
#include <xstage/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "record/trace_ids.h"

static const double most_us = 1e12, most_bytes = 1e12;

/* What a trace in memory refuses is said with the file's name. */
static enum xst_status in_file(const struct xsti_json *reader, enum xst_status status)
{
    if (status == XST_OK)
        return status;
    const struct xst_diag refused = *reader->diag;
    return xsti_fail(reader->diag, status, "%s: %s", reader->name, refused.text);
}

static enum xst_status read_facts(struct xsti_json *reader, const json_t *root, struct xst_trace *trace)
{
    const json_t *const facts = xsti_json_object(reader, root, "", "facts");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)facts, name, value) {
        (void)value;
        int64_t number = 0;
        xsti_json_int(reader, facts, "facts.", name, INT64_MIN, INT64_MAX, &number);
        XSTI_TRY(reader->status);
        XSTI_TRY(in_file(reader, xst_trace_add_fact(trace, name, number, reader->diag)));
    }
    return reader->status;
}

static enum xst_status read_calls(struct xsti_json *reader, const json_t *root, struct xst_trace *trace)
{
    const json_t *const calls = xsti_json_array(reader, root, "", "calls");
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *const object = json_array_get(calls, i);
        char where[32], variant[sizeof trace->calls[0].variant];
        snprintf(where, sizeof where, "calls[%zu].", i);
        int64_t lost = 0;
        xsti_json_text(reader, object, where, "variant", 1, variant, sizeof variant);
        xsti_json_int(reader, object, where, "lost", 0, INT64_MAX, &lost);
        XSTI_TRY(reader->status);
        XSTI_TRY(in_file(reader, xst_trace_add_call(trace, variant, reader->diag)));
        trace->calls[trace->call_count - 1].lost = lost;
    }
    return reader->status;
}

static enum xst_status read_span(struct xsti_json *reader, const json_t *object, const char *where,
                                 struct xst_trace *trace)
{
    struct xst_trace_span span = {.tile = XST_TRACE_NO_TILE};
    int64_t process = 0, track = 0, cta = 0;
    double duration = 0;
    char word[16], inner[48];
    xsti_json_int(reader, object, where, "pid", 0, trace->call_count * XSTI_TRACE_RANKS - 1, &process);
    xsti_json_int(reader, object, where, "tid", 0, XSTI_TRACE_TRACKS - 1, &track);
    xsti_json_text(reader, object, where, "name", 1, word, sizeof word);
    if (reader->status == XST_OK && xst_trace_what_parse(word, &span.what) != 0)
        xsti_json_bad_word(reader, where, "name", word,
                           "load, math, slot, stage, issue, release, fence, peer, head, pull, act, combine");
    xsti_json_real(reader, object, where, "ts", -most_us, most_us, &span.start_us);
    xsti_json_real(reader, object, where, "dur", 0, most_us, &duration);
    const json_t *const args = xsti_json_object(reader, object, where, "args");
    snprintf(inner, sizeof inner, "%sargs.", where);
    xsti_json_int(reader, args, inner, "cta", 0, INT32_MAX, &cta);
    xsti_json_optional_int(reader, args, inner, "tile", 0, INT64_MAX, &span.tile);
    xsti_json_optional_real(reader, args, inner, "bytes", 0, most_bytes, &span.bytes);
    xsti_json_optional_real(reader, args, inner, "stall_us", 0, most_us, &span.stall_us);
    XSTI_TRY(reader->status);
    xsti_trace_place(process, track, &span);
    const int32_t call = span.call;
    if (span.role > XST_TRACE_ROLE_STORE)
        return xsti_fail(reader->diag, XST_ERR_PARSE, "%s: %stid is %lld, of a role that does not exist", reader->name,
                         where, (long long)track);
    span.cta = (int32_t)cta;
    span.end_us = span.start_us + duration;
    XSTI_TRY(xst_trace_add_span(trace, &span, reader->diag));
    trace->spans[trace->span_count - 1].call = call;
    return XST_OK;
}

static enum xst_status read_events(struct xsti_json *reader, const json_t *root, struct xst_trace *trace)
{
    const json_t *const events = xsti_json_array(reader, root, "", "traceEvents");
    XSTI_TRY(reader->status);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *const object = json_array_get(events, i);
        char where[40], phase[4];
        snprintf(where, sizeof where, "traceEvents[%zu].", i);
        xsti_json_text(reader, object, where, "ph", 1, phase, sizeof phase);
        XSTI_TRY(reader->status);
        if (strcmp(phase, "X") == 0) /* the others are names for the viewer */
            XSTI_TRY(read_span(reader, object, where, trace));
    }
    return XST_OK;
}

enum xst_status xst_trace_parse(const char *name, const char *text, size_t bytes, struct xst_trace *trace_out,
                                struct xst_diag *diag)
{
    struct xst_trace trace = {0};
    struct xsti_json reader = {name, XST_OK, diag};
    json_t *root = NULL;
    XSTI_TRY(xsti_json_parse(name, text, bytes, &root, diag));
    enum xst_status status = xsti_json_schema(name, root, "xstage.trace", 1, diag);
    if (status == XST_OK) {
        xsti_json_text(&reader, root, "", "kernel", 1, trace.kernel, sizeof trace.kernel);
        status = reader.status;
    }
    if (status == XST_OK)
        status = read_facts(&reader, root, &trace);
    if (status == XST_OK)
        status = read_calls(&reader, root, &trace);
    if (status == XST_OK)
        status = read_events(&reader, root, &trace);
    json_decref(root);
    if (status != XST_OK) {
        xst_trace_free(&trace);
        return status;
    }
    xst_trace_finish(&trace);
    *trace_out = trace;
    return XST_OK;
}

enum xst_status xst_trace_read(const char *path, struct xst_trace *trace_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status =
        xst_trace_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, trace_out, diag);
    free(text);
    return status;
}
