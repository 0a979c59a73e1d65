/* SPDX-License-Identifier: Apache-2.0
 *
 * growing.h - text that grows by printf; the caller looks once, at the end, whether memory ran out.
 */
#ifndef XSTI_BASE_GROWING_H
#define XSTI_BASE_GROWING_H

#include <stddef.h>

struct xsti_growing {
    char *text; /* freed by the caller */
    size_t bytes;
    size_t room;
    int failed; /* memory ran out; further text is dropped */
};

__attribute__((format(printf, 2, 3))) void xsti_text_put(struct xsti_growing *out, const char *format, ...);

#endif
