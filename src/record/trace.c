/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace in memory: facts, calls and spans, in order.
 */
#include <xstage/trace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { MOST_SPANS = 4000000 };

/* A name that was cut could end within a character, or be another's. */
static enum xst_status check_length(const char *what, const char *name, size_t room, struct xst_diag *diag)
{
    const size_t length = strlen(name);
    if (length < room)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "trace: %s %.12s... has a name of %zu bytes, outside 1..%zu", what, name,
                     length, room - 1);
}

enum xst_status xst_trace_add_fact(struct xst_trace *trace, const char *name, int64_t value, struct xst_diag *diag)
{
    if (trace->fact_count == XST_TRACE_MOST_FACTS)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: fact %.24s is one more than the %d there is room for", name,
                         XST_TRACE_MOST_FACTS);
    XSTI_TRY(check_length("fact", name, sizeof trace->facts[0].name, diag));
    struct xst_trace_fact *const fact = &trace->facts[trace->fact_count++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    fact->value = value;
    return XST_OK;
}

enum xst_status xst_trace_add_call(struct xst_trace *trace, const char *variant, struct xst_diag *diag)
{
    if (trace->call_count == XST_TRACE_MOST_CALLS)
        return xsti_fail(diag, XST_ERR_RANGE, "trace: call %.24s is one more than the %d there is room for", variant,
                         XST_TRACE_MOST_CALLS);
    XSTI_TRY(check_length("call", variant, sizeof trace->calls[0].variant, diag));
    struct xst_trace_call *const call = &trace->calls[trace->call_count++];
    *call = (struct xst_trace_call){0};
    snprintf(call->variant, sizeof call->variant, "%s", variant);
    return XST_OK;
}

enum xst_status xst_trace_add_span(struct xst_trace *trace, const struct xst_trace_span *span, struct xst_diag *diag)
{
    if (trace->call_count == 0)
        return xsti_fail(diag, XST_ERR_USAGE, "trace: a span before the first call");
    if (trace->span_count == trace->span_room) {
        if (trace->span_room == MOST_SPANS)
            return xsti_fail(diag, XST_ERR_RANGE, "trace: more than %d spans", MOST_SPANS);
        const size_t doubled = trace->span_room ? 2 * trace->span_room : 1024;
        const size_t room = doubled < MOST_SPANS ? doubled : MOST_SPANS;
        struct xst_trace_span *const larger = realloc(trace->spans, room * sizeof *larger);
        if (!larger)
            return xsti_fail_memory(diag);
        trace->spans = larger;
        trace->span_room = room;
    }
    trace->spans[trace->span_count] = *span;
    trace->spans[trace->span_count++].call = (int32_t)trace->call_count - 1;
    return XST_OK;
}

enum xst_status xst_trace_fact(const struct xst_trace *trace, const char *name, int64_t *value_out,
                               struct xst_diag *diag)
{
    for (int64_t i = 0; i < trace->fact_count; i++)
        if (strcmp(trace->facts[i].name, name) == 0) {
            *value_out = trace->facts[i].value;
            return XST_OK;
        }
    return xsti_fail(diag, XST_ERR_NO_DATA, "trace: the fact %s is missing", name);
}

#define ORDER(field)                                                                                                   \
    if (a->field != b->field)                                                                                          \
    return a->field < b->field ? -1 : 1

static int by_time(const void *left, const void *right)
{
    const struct xst_trace_span *const a = left, *const b = right;
    ORDER(call);
    ORDER(rank);
    ORDER(start_us);
    ORDER(cta);
    ORDER(role);
    ORDER(unit);
    ORDER(end_us);
    return 0;
}

void xst_trace_finish(struct xst_trace *trace)
{
    if (trace->span_count)
        qsort(trace->spans, trace->span_count, sizeof *trace->spans, by_time);
    for (int64_t i = 0; i < trace->call_count; i++)
        trace->calls[i].ranks = 0, trace->calls[i].duration_us = 0;
    for (size_t i = 0; i < trace->span_count;) {
        const size_t first = i;
        struct xst_trace_call *const call = &trace->calls[trace->spans[first].call];
        const int32_t rank = trace->spans[first].rank, call_index = trace->spans[first].call;
        const double origin = trace->spans[first].start_us;
        for (; i < trace->span_count && trace->spans[i].rank == rank && trace->spans[i].call == call_index; i++) {
            trace->spans[i].start_us -= origin;
            trace->spans[i].end_us -= origin;
            call->duration_us = fmax(call->duration_us, trace->spans[i].end_us);
        }
        call->ranks++;
    }
}

void xst_trace_free(struct xst_trace *trace)
{
    free(trace->spans);
    *trace = (struct xst_trace){0};
}
