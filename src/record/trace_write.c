/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace document: xstage.trace/1 and a Chrome trace at once.
 */
#include <xstage/trace.h>

#include <stdlib.h>

#include "base/diag.h"
#include "base/growing.h"
#include "base/text.h"
#include "record/trace_ids.h"

/* Names are written as they are, so quotes, backslashes and control characters have no place in them. */
static enum xst_status plain(const char *what, const char *name, struct xst_diag *diag)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\')
            return xsti_fail(diag, XST_ERR_RANGE,
                             "trace: %s %.24s has character 0x%02x at place %d; it cannot be written", what, name,
                             (unsigned char)*at, (int)(at - name));
    return XST_OK;
}

static enum xst_status check_names(const struct xst_trace *trace, struct xst_diag *diag)
{
    XSTI_TRY(plain("kernel", trace->kernel, diag));
    for (int64_t i = 0; i < trace->fact_count; i++)
        XSTI_TRY(plain("fact", trace->facts[i].name, diag));
    for (int64_t i = 0; i < trace->call_count; i++)
        XSTI_TRY(plain("call", trace->calls[i].variant, diag));
    return XST_OK;
}

static void put_head(struct xsti_growing *out, const struct xst_trace *trace)
{
    xsti_text_put(out, "{\"schema\":\"xstage.trace/1\",\"kernel\":\"%s\",\n\"facts\":{", trace->kernel);
    for (int64_t i = 0; i < trace->fact_count; i++)
        xsti_text_put(out, "%s\"%s\":%lld", i ? "," : "", trace->facts[i].name, (long long)trace->facts[i].value);
    xsti_text_put(out, "},\n\"calls\":[");
    for (int64_t i = 0; i < trace->call_count; i++)
        xsti_text_put(out, "%s{\"variant\":\"%s\",\"lost\":%lld}", i ? "," : "", trace->calls[i].variant,
                      (long long)trace->calls[i].lost);
    xsti_text_put(out, "],\n\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
}

/* Names of processes and of the tracks that have spans. */
static enum xst_status put_names(struct xsti_growing *out, const struct xst_trace *trace, struct xst_diag *diag)
{
    unsigned char *const seen = calloc(XSTI_TRACE_TRACKS, 1);
    if (!seen)
        return xsti_fail_memory(diag);
    int64_t process = -1;
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        const int64_t pid = xsti_trace_process(span), tid = xsti_trace_track(span);
        if (pid != process) {
            for (int64_t t = 0; t < XSTI_TRACE_TRACKS; t++)
                seen[t] = 0;
            xsti_text_put(out,
                          "{\"ph\":\"M\",\"pid\":%lld,\"name\":\"process_name\",\"args\":{\"name\":\"%s rank %d\"}},\n",
                          (long long)pid, trace->calls[span->call].variant, span->rank);
            process = pid;
        }
        if (seen[tid])
            continue;
        seen[tid] = 1;
        xsti_text_put(out,
                      "{\"ph\":\"M\",\"pid\":%lld,\"tid\":%lld,\"name\":\"thread_name\",\"args\":{\"name\":\"SM %d %s "
                      "%d\"}},\n",
                      (long long)pid, (long long)tid, span->sm, xst_trace_role_text(span->role), span->unit);
    }
    free(seen);
    return XST_OK;
}

static void put_span(struct xsti_growing *out, const struct xst_trace_span *span, int first)
{
    xsti_text_put(out,
                  "%s{\"ph\":\"X\",\"pid\":%lld,\"tid\":%lld,\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f,"
                  "\"args\":{\"cta\":%d",
                  first ? "" : ",\n", (long long)xsti_trace_process(span), (long long)xsti_trace_track(span),
                  xst_trace_what_text(span->what), span->start_us, span->end_us - span->start_us, span->cta);
    if (span->tile != XST_TRACE_NO_TILE)
        xsti_text_put(out, ",\"tile\":%lld", (long long)span->tile);
    if (span->bytes > 0)
        xsti_text_put(out, ",\"bytes\":%.0f", span->bytes);
    if (span->stall_us > 0)
        xsti_text_put(out, ",\"stall_us\":%.3f", span->stall_us);
    xsti_text_put(out, "}}");
}

enum xst_status xst_trace_write(const struct xst_trace *trace, char **text_out, struct xst_diag *diag)
{
    struct xsti_growing out = {0};
    XSTI_TRY(check_names(trace, diag));
    for (size_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].sm < 0 || trace->spans[i].sm >= XSTI_TRACE_SMS || trace->spans[i].unit < 0 ||
            trace->spans[i].unit >= XSTI_TRACE_UNITS || trace->spans[i].rank < 0 ||
            trace->spans[i].rank >= XSTI_TRACE_RANKS)
            return xsti_fail(diag, XST_ERR_RANGE,
                             "trace: span %zu is of rank %d, SM %d, unit %d; below %d, %d and %d can be written", i,
                             trace->spans[i].rank, trace->spans[i].sm, trace->spans[i].unit, XSTI_TRACE_RANKS,
                             XSTI_TRACE_SMS, XSTI_TRACE_UNITS);
    void *const before = xsti_point_begin();
    put_head(&out, trace);
    const enum xst_status status = put_names(&out, trace, diag);
    for (size_t i = 0; i < trace->span_count; i++)
        put_span(&out, &trace->spans[i], i == 0);
    xsti_text_put(&out, "\n]}\n");
    xsti_point_end(before);
    if (status != XST_OK || out.failed) {
        free(out.text);
        return status != XST_OK ? status : xsti_fail_memory(diag);
    }
    *text_out = out.text;
    return XST_OK;
}
