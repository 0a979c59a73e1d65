/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - numbers out of text, safe quoting of foreign text in messages, and the nearest valid word.
 */
#ifndef XSTI_BASE_TEXT_H
#define XSTI_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum xsti_number { XSTI_NUMBER_OK, XSTI_NUMBER_NONE, XSTI_NUMBER_OVERFLOW, XSTI_NUMBER_NOT_FINITE };

/* The whole of text[0..bytes) must be the number: no spaces, nothing behind it. Locale-independent. */
enum xsti_number xsti_parse_int(const char *text, size_t bytes, int64_t *value_out);
enum xsti_number xsti_parse_real(const char *text, size_t bytes, double *value_out);

/* "is not a number", "overflows", "is not finite". */
const char *xsti_number_complaint(enum xsti_number number);

/* Copies text[0..bytes) quoted for a message: printable ASCII only, at most 40 characters, "..." when cut. */
enum { XSTI_QUOTE_BYTES = 64 };
const char *xsti_quote(const char *text, size_t bytes, char quoted_out[XSTI_QUOTE_BYTES]);

/* The word of `words` nearest to `word` by edit distance, or NULL when none is near enough to be meant. */
const char *xsti_nearest(const char *word, const char *const *words, size_t count);

/* Between the two, this thread prints numbers with a decimal point whatever the program's locale: what is written must be
 * readable everywhere. `before` is what the first returned. */
void *xsti_point_begin(void);
void xsti_point_end(void *before);

/* value rounded to nine significant decimal digits: what a profile keeps and prints. */
double xsti_round9(double value);

#endif
