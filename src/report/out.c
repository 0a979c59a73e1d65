/* SPDX-License-Identifier: Apache-2.0 */
#include "report/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

void xsti_out_free(struct xsti_out *out)
{
    free(out->text);
    *out = (struct xsti_out){0};
}

/* Room for `more` bytes and a NUL. */
static int reserve(struct xsti_out *out, size_t more)
{
    if (out->failed)
        return 0;
    if (out->room - out->bytes > more)
        return 1;
    size_t room = out->room ? out->room : 4096;
    while (room - out->bytes <= more)
        room *= 2;
    char *const larger = realloc(out->text, room);
    if (!larger) {
        out->failed = 1;
        return 0;
    }
    out->text = larger;
    out->room = room;
    return 1;
}

void xsti_put_bytes(struct xsti_out *out, const char *text, size_t bytes)
{
    if (!reserve(out, bytes))
        return;
    memcpy(out->text + out->bytes, text, bytes);
    out->bytes += bytes;
    out->text[out->bytes] = '\0';
}

void xsti_put(struct xsti_out *out, const char *text)
{
    xsti_put_bytes(out, text, strlen(text));
}

void xsti_putf(struct xsti_out *out, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && reserve(out, (size_t)length)) {
        vsnprintf(out->text + out->bytes, (size_t)length + 1, format, again);
        out->bytes += (size_t)length;
    }
    va_end(again);
}

/* Bytes of the UTF-8 character at `text`, 0 when it is none that XML allows. */
static size_t character_bytes(const char *text)
{
    const unsigned char *const byte = (const unsigned char *)text;
    if (byte[0] < 0x80)
        return byte[0] >= 0x20 && byte[0] != 0x7F ? 1 : 0;
    const size_t length = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
    if (byte[0] < 0xC2 || byte[0] > 0xF4)
        return 0;
    unsigned long code = byte[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3F);
    }
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ||
        (code >= 0xFFFE && code <= 0xFFFF) || (code >= 0x80 && code < 0xA0))
        return 0;
    return length;
}

static const char *entity_of(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void xsti_put_escaped(struct xsti_out *out, const char *text)
{
    while (*text) {
        const size_t length = character_bytes(text);
        const char *const entity = entity_of(*text);
        if (length == 0)
            xsti_put(out, replacement);
        else if (entity)
            xsti_put(out, entity);
        else
            xsti_put_bytes(out, text, length);
        text += length ? length : 1;
    }
}

void xsti_put_json(struct xsti_out *out, const char *text)
{
    xsti_put(out, "\"");
    while (*text) {
        const size_t length = character_bytes(text);
        if (length == 0)
            xsti_put(out, replacement);
        else if (strchr("\"\\<>&'", *text))
            xsti_putf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            xsti_put_bytes(out, text, length);
        text += length ? length : 1;
    }
    xsti_put(out, "\"");
}

const char *xsti_number_words(double value, char text[XSTI_NUMBER_BYTES])
{
    const double size = fabs(value);
    if (!isfinite(value))
        snprintf(text, XSTI_NUMBER_BYTES, "\xE2\x80\x93");
    else if (size >= 1e15)
        snprintf(text, XSTI_NUMBER_BYTES, "%.3g", value);
    else if (size >= 99.95 || value == 0)
        snprintf(text, XSTI_NUMBER_BYTES, "%.0f", value);
    else if (size >= 9.995)
        snprintf(text, XSTI_NUMBER_BYTES, "%.1f", value);
    else if (size >= 0.0995)
        snprintf(text, XSTI_NUMBER_BYTES, "%.2f", value);
    else if (size >= 0.00095)
        snprintf(text, XSTI_NUMBER_BYTES, "%.3f", value);
    else
        snprintf(text, XSTI_NUMBER_BYTES, "%.4f", value);
    return text;
}

const char *xsti_bytes_words(double bytes, char text[XSTI_NUMBER_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    char number[XSTI_NUMBER_BYTES];
    while (fabs(bytes) >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    if (bytes == floor(bytes) && fabs(bytes) < 1e6)
        snprintf(number, sizeof number, "%.0f", bytes);
    else
        xsti_number_words(bytes, number);
    snprintf(text, XSTI_NUMBER_BYTES, "%.20s %s", number, units[unit]);
    return text;
}

const char *xsti_percent_words(double frac, char text[XSTI_NUMBER_BYTES])
{
    snprintf(text, XSTI_NUMBER_BYTES, fabs(frac) < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * frac);
    return text;
}
