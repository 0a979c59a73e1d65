/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - how every xstage function says what went wrong.
 *
 * A function that can fail returns an `enum xst_status`: XST_OK is 0, every error is negative. Whoever first detects a
 * problem writes one sentence into the optional `struct xst_diag` (the place, the value, the bound); callers pass it on
 * unchanged. Outputs come last in an argument list, are named `..._out`, and are written only on XST_OK. The library never
 * prints and never exits.
 */
#ifndef XSTAGE_STATUS_H
#define XSTAGE_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, code, sentence): the one list of codes; names and sentences are generated from it. */
#define XST_STATUS_MAP(X)                                                                                              \
    X(OK, 0, "success")                                                                                                \
    X(ERR_USAGE, -1, "an argument is not valid")                                                                       \
    X(ERR_PARSE, -2, "the text does not follow its format")                                                            \
    X(ERR_RANGE, -3, "a value is outside its range")                                                                   \
    X(ERR_SCHEMA, -4, "the document has a schema this version does not read")                                          \
    X(ERR_NO_DATA, -5, "the data do not contain what is needed")                                                       \
    X(ERR_EXISTS, -6, "the output file already exists")                                                                \
    X(ERR_IO, -7, "a file could not be read or written")                                                               \
    X(ERR_MEMORY, -8, "out of memory")                                                                                 \
    X(ERR_DEVICE, -9, "the device reported an error")                                                                  \
    X(ERR_TIMEOUT, -10, "a bounded wait ran out")                                                                      \
    X(ERR_INTERRUPTED, -11, "interrupted")                                                                             \
    X(ERR_UNAVAILABLE, -12, "not possible on this machine or in this build")

enum xst_status {
#define XST_STATUS_ENUM(name, code, sentence) XST_##name = (code),
    XST_STATUS_MAP(XST_STATUS_ENUM)
#undef XST_STATUS_ENUM
};

/* Room for one sentence with a file name, a line, a value and a bound in it. */
enum { XST_DIAG_TEXT_BYTES = 1024 };

/* What the first detector of a problem had to say. `line` is 1-based, 0 where no line applies. */
struct xst_diag {
    enum xst_status status;
    int64_t line;
    char text[XST_DIAG_TEXT_BYTES];
};

/* Short name of a status ("ERR_RANGE"), and its general sentence. Never NULL. */
const char *xst_status_name(enum xst_status status);
const char *xst_status_sentence(enum xst_status status);

/* Version of the library, "major.minor.patch". */
const char *xst_version(void);

#ifdef __cplusplus
}
#endif

#endif
