/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans kept, and written as a Chrome trace (Perfetto reads it).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "timeline/text.h"

enum { MOST_SPANS = 2000000, MOST_SMS = 4096 };

void xst_spans_add(void *context, const struct xst_span *span)
{
    struct xst_spans *const spans = context;
    const size_t most = spans->most ? spans->most : MOST_SPANS;
    if (spans->ranks > 0 && span->rank >= spans->ranks)
        return;
    if (spans->count == spans->room && spans->count < most) {
        size_t room = spans->room ? 2 * spans->room : 4096;
        room = room < most ? room : most;
        struct xst_span *const larger = realloc(spans->spans, room * sizeof *larger);
        if (larger) {
            spans->spans = larger;
            spans->room = room;
        }
    }
    if (spans->count == spans->room)
        spans->dropped++;
    else
        spans->spans[spans->count++] = *span;
}

void xst_spans_free(struct xst_spans *spans)
{
    free(spans->spans);
    *spans = (struct xst_spans){0};
}

const char *xsti_span_name(const struct xst_span *span, const char *const kind_names[XST_TIMELINE_KINDS])
{
    switch (span->what) {
    case XST_SPAN_WORK:
        return span->kind >= 0 && span->kind < XST_TIMELINE_KINDS && kind_names[span->kind] ? kind_names[span->kind]
                                                                                            : "work";
    case XST_SPAN_WAIT:
        return "wait";
    case XST_SPAN_SLOT:
        return "wait for slot";
    case XST_SPAN_ISSUE:
        return "issue";
    default:
        return "pull";
    }
}

/* One thread id per SM and role; the pull comes last. */
static int64_t track(const struct xst_span *span)
{
    return span->role == XST_SPAN_PULL ? 2 * (int64_t)MOST_SMS : 2 * (int64_t)span->sm + span->role;
}

/* Names of the processes and threads that have spans. */
static void put_names(struct xsti_growing *out, const struct xst_spans *spans, unsigned char *seen, int64_t ranks)
{
    const int64_t tracks = 2 * (int64_t)MOST_SMS + 1;
    for (int64_t rank = 0; rank < ranks; rank++)
        xsti_text_put(out, "{\"ph\":\"M\",\"pid\":%lld,\"name\":\"process_name\",\"args\":{\"name\":\"rank %lld\"}},\n",
                      (long long)rank, (long long)rank);
    for (size_t i = 0; i < spans->count; i++) {
        const struct xst_span *const span = &spans->spans[i];
        const int64_t id = track(span), place = span->rank * tracks + id;
        if (seen[place])
            continue;
        seen[place] = 1;
        char name[48];
        if (span->role == XST_SPAN_PULL)
            snprintf(name, sizeof name, "pull");
        else
            snprintf(name, sizeof name, "SM %d %s", span->sm, span->role == XST_SPAN_STORE ? "store" : "math");
        xsti_text_put(out,
                      "{\"ph\":\"M\",\"pid\":%d,\"tid\":%lld,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n",
                      span->rank, (long long)id, name);
        xsti_text_put(
            out,
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%lld,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%lld}},\n",
            span->rank, (long long)id, (long long)id);
    }
}

static void put_span(struct xsti_growing *out, const struct xst_span *span,
                     const char *const kind_names[XST_TIMELINE_KINDS])
{
    const char *const role = span->role == XST_SPAN_MATH ? "math" : span->role == XST_SPAN_STORE ? "store" : "pull";
    xsti_text_put(out,
                  "{\"ph\":\"X\",\"pid\":%d,\"tid\":%lld,\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%.4f,\"dur\":%.4f,"
                  "\"args\":{\"id\":%lld",
                  span->rank, (long long)track(span), role, xsti_span_name(span, kind_names), span->start_us,
                  span->end_us - span->start_us, (long long)span->id);
    if (span->what == XST_SPAN_ISSUE)
        xsti_text_put(out, ",\"stall_us\":%.4f", fmax(span->end_us - span->start_us - span->floor_us, 0));
    xsti_text_put(out, "}},\n");
}

static void put_counter(struct xsti_growing *out, int64_t pid, double time_us, const char *name, const char *unit,
                        double value)
{
    xsti_text_put(out, "{\"ph\":\"C\",\"pid\":%lld,\"ts\":%.4f,\"name\":\"%s\",\"args\":{\"%s\":%.6g}},\n",
                  (long long)pid, time_us, name, unit, value);
}

enum xst_status xst_timeline_trace(const struct xst_spans *spans, const struct xst_timeline_result *result,
                                   const char *const kind_names[XST_TIMELINE_KINDS], char **text_out,
                                   struct xst_diag *diag)
{
    struct xsti_growing out = {0};
    int64_t ranks = 1;
    for (size_t i = 0; i < spans->count; i++)
        ranks = spans->spans[i].rank >= ranks ? spans->spans[i].rank + 1 : ranks;
    unsigned char *const seen = calloc((size_t)ranks * (2 * MOST_SMS + 1), 1);
    if (!seen)
        return xsti_fail_memory(diag);
    void *const before = xsti_point_begin();
    xsti_text_put(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    put_names(&out, spans, seen, ranks);
    for (size_t i = 0; i < spans->count; i++)
        put_span(&out, &spans->spans[i], kind_names);
    for (int64_t i = 0; i < result->series_count; i++) {
        const struct xst_timeline_point *const point = &result->series[i];
        put_counter(&out, 0, point->time_us, "backlog", "KiB", point->backlog_first_bytes / 1024);
        put_counter(&out, 0, point->time_us, "egress", "GB/s", point->egress_first_bytes_per_us / 1000);
        put_counter(&out, ranks, point->time_us, "backlog, all ranks", "KiB", point->backlog_bytes / 1024);
    }
    xsti_text_put(&out, "{\"ph\":\"M\",\"pid\":%lld,\"name\":\"process_name\",\"args\":{\"name\":\"all ranks\"}}\n]}\n",
                  (long long)ranks);
    xsti_point_end(before);
    free(seen);
    if (out.failed) {
        free(out.text);
        return xsti_fail_memory(diag);
    }
    *text_out = out.text;
    return XST_OK;
}
