/* SPDX-License-Identifier: Apache-2.0 */
#define XSTI_DIAG_DEFINES
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

static void write_diag(struct xst_diag *diag, enum xst_status status, int64_t line, const char *format, va_list args)
{
    if (!diag)
        return;
    diag->status = status;
    diag->line = line;
    vsnprintf(diag->text, sizeof diag->text, format, args);
}

enum xst_status xsti_fail(struct xst_diag *diag, enum xst_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_diag(diag, status, 0, format, args);
    va_end(args);
    return status;
}

enum xst_status xsti_fail_at(struct xst_diag *diag, enum xst_status status, int64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_diag(diag, status, line, format, args);
    va_end(args);
    return status;
}

enum xst_status xsti_fail_memory(struct xst_diag *diag)
{
    return xsti_fail(diag, XST_ERR_MEMORY, "out of memory");
}
