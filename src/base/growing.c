/* SPDX-License-Identifier: Apache-2.0 */
#include "base/growing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void xsti_text_put(struct xsti_growing *out, const char *format, ...)
{
    va_list arguments;
    for (int pass = 0; pass < 2 && !out->failed; pass++) {
        va_start(arguments, format);
        const int wanted =
            vsnprintf(out->text ? out->text + out->bytes : NULL, out->room - out->bytes, format, arguments);
        va_end(arguments);
        if (wanted >= 0 && out->bytes + (size_t)wanted < out->room) {
            out->bytes += (size_t)wanted;
            return;
        }
        const size_t room = 2 * out->room + (size_t)(wanted > 0 ? wanted : 0) + 4096;
        char *const larger = realloc(out->text, room);
        if (!larger) {
            out->failed = 1;
            return;
        }
        out->text = larger;
        out->room = room;
    }
}
