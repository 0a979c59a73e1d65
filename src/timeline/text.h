/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - growing text, and the words of spans.
 */
#ifndef XSTI_TIMELINE_TEXT_H
#define XSTI_TIMELINE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include <xstage/timeline.h>

struct xsti_growing {
    char *text;
    size_t bytes;
    size_t room;
    int failed; /* memory ran out; further text is dropped */
};

#pragma GCC visibility push(hidden)
__attribute__((format(printf, 2, 3))) void xsti_text_put(struct xsti_growing *out, const char *format, ...);
const char *xsti_span_name(const struct xst_span *span, const char *const kind_names[XST_TIMELINE_KINDS]);
#pragma GCC visibility pop

#endif
