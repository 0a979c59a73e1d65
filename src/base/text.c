/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT_BYTES = 64, WORD_BYTES = 64 };

/* A NUL-terminated copy of a field that looks like a number; NULL when it is too long or starts with something else. */
static const char *number_text(const char *text, size_t bytes, char copy[NUMBER_TEXT_BYTES])
{
    if (bytes == 0 || bytes >= NUMBER_TEXT_BYTES)
        return NULL;
    if (!isdigit((unsigned char)text[0]) && !strchr("+-.nNiI", text[0]))
        return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return strlen(copy) == bytes ? copy : NULL;
}

enum xsti_number xsti_parse_int(const char *text, size_t bytes, int64_t *value_out)
{
    char copy[NUMBER_TEXT_BYTES];
    if (!number_text(text, bytes, copy))
        return XSTI_NUMBER_NONE;
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(copy, &end, 10);
    if (end == copy || *end != '\0')
        return XSTI_NUMBER_NONE;
    if (errno == ERANGE)
        return XSTI_NUMBER_OVERFLOW;
    *value_out = value;
    return XSTI_NUMBER_OK;
}

enum xsti_number xsti_parse_real(const char *text, size_t bytes, double *value_out)
{
    char copy[NUMBER_TEXT_BYTES];
    if (!number_text(text, bytes, copy) || strpbrk(copy, "xX"))
        return XSTI_NUMBER_NONE;
    /* strtod reads the decimal point of the program's locale; data files always use '.'. */
    const locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    char *end = NULL;
    errno = 0;
    const double value = c_locale ? strtod_l(copy, &end, c_locale) : strtod(copy, &end);
    const int range_error = errno == ERANGE;
    if (c_locale)
        freelocale(c_locale);
    if (end == copy || *end != '\0')
        return XSTI_NUMBER_NONE;
    if (range_error && isinf(value))
        return XSTI_NUMBER_OVERFLOW;
    if (!isfinite(value))
        return XSTI_NUMBER_NOT_FINITE;
    *value_out = value;
    return XSTI_NUMBER_OK;
}

const char *xsti_number_complaint(enum xsti_number number)
{
    switch (number) {
    case XSTI_NUMBER_OK:
        return "is a number";
    case XSTI_NUMBER_NONE:
        return "is not a number";
    case XSTI_NUMBER_OVERFLOW:
        return "is too large for a number";
    case XSTI_NUMBER_NOT_FINITE:
        return "is not a finite number";
    }
    return "?";
}

const char *xsti_quote(const char *text, size_t bytes, char quoted_out[XSTI_QUOTE_BYTES])
{
    const size_t most = 40;
    size_t at = 0;
    quoted_out[at++] = '"';
    for (size_t i = 0; i < bytes && i < most; i++)
        quoted_out[at++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    if (bytes > most) {
        memcpy(quoted_out + at, "...", 3);
        at += 3;
    }
    quoted_out[at++] = '"';
    quoted_out[at] = '\0';
    return quoted_out;
}

/* Levenshtein distance with one row of state. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[WORD_BYTES + 1];
    const size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_BYTES || b_length > WORD_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
            const size_t remove = row[j] + 1, insert = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = substitute < remove ? substitute : remove;
            row[j] = row[j] < insert ? row[j] : insert;
        }
    }
    return row[b_length];
}

const char *xsti_nearest(const char *word, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        const int prefix = strlen(word) >= 3 && strncmp(words[i], word, strlen(word)) == 0;
        const size_t distance = prefix ? 0 : edit_distance(word, words[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = words[i];
        }
    }
    return best;
}

void *xsti_point_begin(void)
{
    const locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return c_locale ? uselocale(c_locale) : NULL;
}

void xsti_point_end(void *before)
{
    if (before)
        freelocale(uselocale((locale_t)before));
}

double xsti_round9(double value)
{
    char text[NUMBER_TEXT_BYTES];
    double rounded = value;
    void *const locale = xsti_point_begin();
    snprintf(text, sizeof text, "%.9g", value);
    xsti_point_end(locale);
    if (xsti_parse_real(text, strlen(text), &rounded) != XSTI_NUMBER_OK)
        return value;
    return rounded;
}
