/* SPDX-License-Identifier: Apache-2.0
 *
 * out.h - growing text, with escaping for HTML, SVG and scripts, and numbers the way a person reads them.
 */
#ifndef XSTI_REPORT_OUT_H
#define XSTI_REPORT_OUT_H

#include <stddef.h>

/* Zero-initialise. Once memory has run out `failed` is set and further text is dropped; look once, at the end. */
struct xsti_out {
    char *text; /* NUL-terminated once anything was put */
    size_t bytes;
    size_t room;
    int failed;
};

void xsti_out_free(struct xsti_out *out);

/* Trusted text, as it is. */
void xsti_put(struct xsti_out *out, const char *text);
void xsti_put_bytes(struct xsti_out *out, const char *text, size_t bytes);
__attribute__((format(printf, 2, 3))) void xsti_putf(struct xsti_out *out, const char *format, ...);

/* Foreign text as character data or attribute value of HTML and XML: the five special characters become entities;
 * control characters and bytes that are not UTF-8 become U+FFFD. */
void xsti_put_escaped(struct xsti_out *out, const char *text);

/* Foreign text as a JSON string, quotes included, safe inside <script>. */
void xsti_put_json(struct xsti_out *out, const char *text);

/* Numbers as text: three significant digits without an exponent ("0.197", "11.1", "372"). */
enum { XSTI_NUMBER_BYTES = 32 };
const char *xsti_number_words(double value, char text[XSTI_NUMBER_BYTES]);
/* "18 KiB", "2.38 MiB", "512 B". */
const char *xsti_bytes_words(double bytes, char text[XSTI_NUMBER_BYTES]);
/* "1.2 %" */
const char *xsti_percent_words(double frac, char text[XSTI_NUMBER_BYTES]);

#endif
