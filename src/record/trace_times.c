/* SPDX-License-Identifier: Apache-2.0
 *
 * A call's spans, summed.
 */
#include <xstage/trace.h>

#include <math.h>

static double share(double sum, int64_t count)
{
    return count > 0 ? sum / (double)count : NAN;
}

void xst_trace_sum(const struct xst_trace *trace, int64_t call, struct xst_trace_times *times_out)
{
    double load_us = 0, late_us = 0, math_us = 0, issue_us = 0;
    struct xst_trace_times times = {0};
    for (size_t i = 0; i < trace->span_count; i++) {
        const struct xst_trace_span *const span = &trace->spans[i];
        const double us = span->end_us - span->start_us;
        if (span->call != call || span->tile == XST_TRACE_NO_TILE)
            continue;
        times.parts += span->what == XST_TRACE_MATH;
        times.issues += span->what == XST_TRACE_ISSUE;
        load_us += span->what == XST_TRACE_LOAD && span->role == XST_TRACE_ROLE_MATH ? us : 0;
        math_us += span->what == XST_TRACE_MATH ? us : 0;
        issue_us += span->what == XST_TRACE_ISSUE ? us : 0;
        late_us += span->stall_us;
        times.bytes += span->bytes;
    }
    times.math_us = share(math_us, times.parts);
    times.stall_us = share(load_us + late_us, times.parts);
    times.issue_us = share(issue_us, times.issues);
    *times_out = times;
}
