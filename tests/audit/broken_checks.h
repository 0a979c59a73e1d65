/* SPDX-License-Identifier: Apache-2.0
 *
 * broken_checks.h - which promises an audit of a trace finds broken, for the audit of either kernel.
 */
#ifndef XST_TESTS_AUDIT_BROKEN_CHECKS_H
#define XST_TESTS_AUDIT_BROKEN_CHECKS_H

#include <string.h>

#include <xstage/audit_trace.h>

#include "support/support.h"

typedef enum xst_status audit_of_trace(const struct xst_trace *, const struct xst_profile *,
                                       const struct xst_audit_options *, struct xst_trace_check *, size_t, size_t *,
                                       struct xst_diag *);

/* Runs the audit; the names that are broken, in `broken_out`, and how many checks there are. */
static size_t broken_of(audit_of_trace *audit, const struct xst_trace *trace, const struct xst_profile *profile,
                        int broken_out[XST_TRACE_CHECK_COUNT])
{
    static struct xst_trace_check checks[XST_TRACE_MOST_CHECKS];
    struct xst_diag diag = {0};
    size_t count = 0;
    memset(broken_out, 0, sizeof(int) * XST_TRACE_CHECK_COUNT);
    xt_ok(audit(trace, profile, NULL, checks, XST_TRACE_MOST_CHECKS, &count, &diag), &diag);
    for (size_t i = 0; i < count; i++)
        broken_out[checks[i].name] += checks[i].holds == XST_ANSWER_NO;
    return count;
}

static void only(audit_of_trace *audit, const struct xst_trace *trace, const enum xst_trace_check_name *names,
                 size_t count)
{
    int broken[XST_TRACE_CHECK_COUNT];
    broken_of(audit, trace, NULL, broken);
    for (int name = 0; name < XST_TRACE_CHECK_COUNT; name++) {
        int wanted = 0;
        for (size_t i = 0; i < count; i++)
            wanted |= (int)names[i] == name;
        if ((broken[name] > 0) != wanted)
            fail_msg("%s: %sbroken", xst_trace_check_text((enum xst_trace_check_name)name), wanted ? "not " : "");
    }
}
#define ONLY(audit, trace, ...)                                                                                        \
    only((audit), (trace), (const enum xst_trace_check_name[]){__VA_ARGS__},                                           \
         sizeof((const enum xst_trace_check_name[]){__VA_ARGS__}) / sizeof(enum xst_trace_check_name))

#endif
