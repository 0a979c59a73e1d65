/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a trace: refused with the file's name in one line, or a trace that is written and read back the same, and that the
 * audits of both kernels take, or refuse in one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/audit_trace.h>
#include <xstage/trace.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef enum xst_status audit_of_trace(const struct xst_trace *, const struct xst_profile *,
                                       const struct xst_audit_options *, struct xst_trace_check *, size_t, size_t *,
                                       struct xst_diag *);

static void audit(const struct xst_trace *trace, audit_of_trace *function)
{
    static struct xst_trace_check checks[XST_TRACE_MOST_CHECKS];
    struct xst_diag diag = {XST_OK, 0, ""};
    size_t count = 0;
    const enum xst_status status = function(trace, NULL, NULL, checks, XST_TRACE_MOST_CHECKS, &count, &diag);
    if (status != XST_OK && (diag.text[0] == '\0' || strchr(diag.text, '\n')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct xst_trace trace = {.span_count = 0}, again = {.span_count = 0};
    struct xst_diag diag = {XST_OK, 0, ""};
    char *text = NULL, *second = NULL;
    if (xst_trace_parse("fuzz.json", (const char *)data, bytes, &trace, &diag) != XST_OK) {
        if (!strstr(diag.text, "fuzz.json") || strchr(diag.text, '\n'))
            abort();
        return 0;
    }
    audit(&trace, xst_audit_moe_trace);
    audit(&trace, xst_audit_fa_a2a_trace);
    /* A name that JSON would have to escape is read but not written. */
    if (xst_trace_write(&trace, &text, &diag) == XST_OK) {
        if (xst_trace_parse("again.json", text, strlen(text), &again, &diag) != XST_OK ||
            again.span_count != trace.span_count || xst_trace_write(&again, &second, &diag) != XST_OK)
            abort();
        xst_trace_free(&again);
    }
    free(text);
    free(second);
    xst_trace_free(&trace);
    return 0;
}
