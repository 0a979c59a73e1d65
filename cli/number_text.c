/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales the value to an integer of nine digits. The product is off by at most a few 1e-7 from the exact one, so the rounding
 * is certain unless its fraction lies that close to one half; then, and outside the plain range, printf decides.
 */
#include "number_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { DIGITS = 9 };

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};

/* Decimal exponent of a value in [1e-4, 1e9). */
static int exponent_of(double size)
{
    static const double small[] = {1e-1, 1e-2, 1e-3, 1e-4};
    int exponent = 0;
    if (size < 1) {
        exponent = -1;
        while (size < small[-exponent - 1])
            exponent--;
        return exponent;
    }
    while (size >= powers[exponent + 1])
        exponent++;
    return exponent;
}

/* Digits of `integer`, at least `least` of them, at text; returns how many. */
static size_t put_digits(uint64_t integer, size_t least, char *text)
{
    char reversed[24];
    size_t count = 0;
    for (; integer > 0 || count < least; integer /= 10)
        reversed[count++] = (char)('0' + integer % 10);
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return count;
}

size_t cli_number_text(double value, char text[CLI_NUMBER_BYTES])
{
    const double size = fabs(value);
    if (!(size >= 1e-4 && size < 1e9))
        return (size_t)snprintf(text, CLI_NUMBER_BYTES, "%.*g", DIGITS, value);
    const int exponent = exponent_of(size);
    int decimals = DIGITS - 1 - exponent; /* behind the point, before zeros are dropped */
    const double scaled = size * powers[decimals], below = floor(scaled), fraction = scaled - below;
    if (fabs(fraction - 0.5) < 1e-5)
        return (size_t)snprintf(text, CLI_NUMBER_BYTES, "%.*g", DIGITS, value);
    uint64_t integer = (uint64_t)below + (fraction > 0.5);
    if (integer >= 1000000000 && exponent == DIGITS - 1)
        return (size_t)snprintf(text, CLI_NUMBER_BYTES, "%.*g", DIGITS, value);
    while (decimals > 0 && integer % 10 == 0) {
        integer /= 10;
        decimals--;
    }
    const uint64_t unit = (uint64_t)powers[decimals];
    size_t at = 0;
    if (value < 0)
        text[at++] = '-';
    at += put_digits(integer / unit, 1, text + at);
    if (decimals > 0) {
        text[at++] = '.';
        at += put_digits(integer % unit, (size_t)decimals, text + at);
    }
    text[at] = '\0';
    return at;
}
