/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_ids.h - processes and tracks of a trace document: where a span is, in two numbers.
 */
#ifndef XSTI_RECORD_TRACE_IDS_H
#define XSTI_RECORD_TRACE_IDS_H

#include <xstage/trace.h>

enum {
    XSTI_TRACE_RANKS = 1024,
    XSTI_TRACE_UNITS = 16,
    XSTI_TRACE_ROLES = 4,
    XSTI_TRACE_SMS = 1024,
    XSTI_TRACE_TRACKS = XSTI_TRACE_SMS * XSTI_TRACE_ROLES * XSTI_TRACE_UNITS
};

static inline int64_t xsti_trace_process(const struct xst_trace_span *span)
{
    return (int64_t)span->call * XSTI_TRACE_RANKS + span->rank;
}

static inline int64_t xsti_trace_track(const struct xst_trace_span *span)
{
    return ((int64_t)span->sm * XSTI_TRACE_ROLES + (int64_t)span->role) * XSTI_TRACE_UNITS + span->unit;
}

/* The way back; both are in range. */
static inline void xsti_trace_place(int64_t process, int64_t track, struct xst_trace_span *span)
{
    span->call = (int32_t)(process / XSTI_TRACE_RANKS);
    span->rank = (int32_t)(process % XSTI_TRACE_RANKS);
    span->unit = (int32_t)(track % XSTI_TRACE_UNITS);
    span->role = (enum xst_trace_role)(track / XSTI_TRACE_UNITS % XSTI_TRACE_ROLES);
    span->sm = (int32_t)(track / XSTI_TRACE_UNITS / XSTI_TRACE_ROLES);
}

#endif
