/* SPDX-License-Identifier: Apache-2.0
 *
 * diag.h - writing the one sentence that explains an error, and passing a status on.
 */
#ifndef XSTI_BASE_DIAG_H
#define XSTI_BASE_DIAG_H

#include <xstage/status.h>

/* Fills `diag` (may be NULL) with the formatted sentence and returns `status`: `return xsti_fail(diag, XST_ERR_IO, ...)`. */
__attribute__((format(printf, 3, 4))) enum xst_status xsti_fail(struct xst_diag *diag, enum xst_status status,
                                                                const char *format, ...);

/* The same with a 1-based line of a file. The sentence should name the file; the line is kept apart for programs. */
__attribute__((format(printf, 4, 5))) enum xst_status xsti_fail_at(struct xst_diag *diag, enum xst_status status,
                                                                   int64_t line, const char *format, ...);

/* Out of memory has one sentence. */
enum xst_status xsti_fail_memory(struct xst_diag *diag);

#if defined __clang_analyzer__ && !defined XSTI_DIAG_DEFINES
/* The analyser sees one file at a time: say here that the status given is the status returned. */
#define xsti_fail(diag, status, ...)    ((void)(xsti_fail)((diag), (status), __VA_ARGS__), (status))
#define xsti_fail_at(diag, status, ...) ((void)(xsti_fail_at)((diag), (status), __VA_ARGS__), (status))
#define xsti_fail_memory(diag)          ((void)(xsti_fail_memory)(diag), XST_ERR_MEMORY)
#endif

/* Returns from the calling function when `expr` is not XST_OK. */
#define XSTI_TRY(expr)                                                                                                 \
    do {                                                                                                               \
        enum xst_status xsti_try_status_ = (expr);                                                                     \
        if (xsti_try_status_ != XST_OK)                                                                                \
            return xsti_try_status_;                                                                                   \
    } while (0)

#endif
