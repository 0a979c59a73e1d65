/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where a token of the text stands, and what it may be. */
struct range {
    const char *name;
    const char *text; /* the token */
    size_t bytes;
    int integer;
    double low;
    double high;
    struct xst_diag *diag;
};

static const struct {
    const char *text;
    double factor;
} suffixes[] = {
    {"K", 1024.0},      {"KB", 1024.0},      {"KiB", 1024.0},      {"M", 1048576.0},      {"MB", 1048576.0},
    {"MiB", 1048576.0}, {"G", 1073741824.0}, {"GB", 1073741824.0}, {"GiB", 1073741824.0},
};

static double suffix_factor(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strlen(suffixes[i].text) == bytes && strncasecmp(suffixes[i].text, text, bytes) == 0)
            return suffixes[i].factor;
    }
    return 0;
}

/* Digits, one point, an exponent: what strtod takes less its words, hexadecimal and leading spaces. */
static size_t digits_of(const char *text, size_t bytes)
{
    size_t i = 0;
    int any = 0, point = 0;
    if (i < bytes && (text[i] == '-' || text[i] == '+'))
        i++;
    for (; i < bytes && (isdigit((unsigned char)text[i]) || (text[i] == '.' && !point)); i++) {
        point |= text[i] == '.';
        any |= text[i] != '.';
    }
    if (!any)
        return 0;
    size_t e = i;
    if (e < bytes && (text[e] == 'e' || text[e] == 'E')) {
        e++;
        if (e < bytes && (text[e] == '-' || text[e] == '+'))
            e++;
        const size_t from = e;
        while (e < bytes && isdigit((unsigned char)text[e]))
            e++;
        if (e > from)
            i = e;
    }
    return i;
}

int cli_number_parse(const char *text, size_t bytes, int integer, double *value_out)
{
    char copy[64];
    const size_t digits = digits_of(text, bytes);
    if (digits == 0 || digits >= sizeof copy)
        return -1;
    memcpy(copy, text, digits);
    copy[digits] = '\0';
    double value = strtod(copy, NULL);
    if (digits < bytes) {
        const double factor = integer ? suffix_factor(text + digits, bytes - digits) : 0;
        if (factor == 0)
            return -1;
        value *= factor;
    }
    if (!isfinite(value) || (integer && (value != floor(value) || fabs(value) > 9007199254740992.0)))
        return -1;
    *value_out = value;
    return 0;
}

__attribute__((format(printf, 2, 3))) static enum xst_status fail(const struct range *range, const char *format, ...)
{
    if (!range->diag)
        return XST_ERR_USAGE;
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    range->diag->status = XST_ERR_USAGE;
    range->diag->line = 0;
    snprintf(range->diag->text, sizeof range->diag->text, "--%s: '%.*s' %s", range->name,
             (int)(range->bytes < 60 ? range->bytes : 60), range->text, text);
    return XST_ERR_USAGE;
}

static enum xst_status number(const struct range *range, const char *text, size_t bytes, double *value_out)
{
    if (cli_number_parse(text, bytes, range->integer, value_out) != 0)
        return range->integer ? fail(range, "is not an integer such as 12, 32K or 1M") : fail(range, "is not a number");
    if (*value_out < range->low || *value_out > range->high)
        return fail(range, "is outside %.16g..%.16g", range->low, range->high);
    return XST_OK;
}

static enum xst_status push(struct cli_sweep *sweep, size_t *room, double value, const struct range *range)
{
    if (sweep->count >= CLI_SWEEP_MOST)
        return fail(range, "makes more than %d values", CLI_SWEEP_MOST);
    if (sweep->count == *room) {
        *room = *room ? 2 * *room : 16;
        double *const larger = realloc(sweep->values, *room * sizeof *larger);
        if (!larger)
            return fail(range, "needs more memory than there is");
        sweep->values = larger;
    }
    assert(sweep->values);
    sweep->values[sweep->count++] = value;
    return XST_OK;
}

/* "A..B", "A..B:STEP", "A..B:xFACTOR". Values are A + i*STEP, not sums, so that rounding does not grow. */
static enum xst_status expand(const struct range *range, const char *dots, struct cli_sweep *sweep, size_t *room)
{
    const char *const end = range->text + range->bytes;
    const char *const colon = memchr(dots, ':', (size_t)(end - dots));
    const char *const second_end = colon ? colon : end;
    double first = 0, last = 0, step = 1;
    enum xst_status status = number(range, range->text, (size_t)(dots - range->text), &first);
    if (status == XST_OK)
        status = number(range, dots + 2, (size_t)(second_end - dots - 2), &last);
    if (status != XST_OK)
        return status;
    if (first > last)
        return fail(range, "runs downwards; write the smaller end first");
    const int times = colon && colon + 1 < end && colon[1] == 'x';
    if (colon) {
        const char *const at = colon + 1 + times;
        if (cli_number_parse(at, (size_t)(end - at), range->integer && !times, &step) != 0)
            return fail(range, "has a step that is not a number; write :STEP or :xFACTOR");
    }
    if (times ? !(step > 1) : !(step > 0))
        return fail(range, times ? "has a factor that is not above 1" : "has a step that is not above 0");
    if (times && first <= 0)
        return fail(range, "starts at 0, which no factor moves");
    const double steps = times ? log(last / first) / log(step) : (last - first) / step;
    if (steps > CLI_SWEEP_MOST)
        return fail(range, "makes more than %d values", CLI_SWEEP_MOST);
    const size_t count = (size_t)floor(steps * (1 + 1e-12) + 1e-9) + 1;
    for (size_t i = 0; i < count && status == XST_OK; i++) {
        double value = times ? first * pow(step, (double)i) : first + (double)i * step;
        if (range->integer)
            value = floor(value + 0.5);
        status = push(sweep, room, value > last ? last : value, range);
    }
    return status;
}

static const char *find_dots(const char *text, size_t bytes)
{
    for (size_t i = 0; i + 1 < bytes; i++) {
        if (text[i] == '.' && text[i + 1] == '.')
            return text + i;
    }
    return NULL;
}

enum xst_status cli_sweep_parse(const char *name, const char *text, int integer, double low, double high,
                                struct cli_sweep *sweep_out, struct xst_diag *diag)
{
    struct cli_sweep sweep = {NULL, 0};
    size_t room = 0;
    enum xst_status status = XST_OK;
    for (const char *at = text; status == XST_OK;) {
        const char *const comma = strchr(at, ',');
        struct range range = {name, at, comma ? (size_t)(comma - at) : strlen(at), integer, low, high, diag};
        const char *const dots = find_dots(range.text, range.bytes);
        double value = 0;
        if (dots) {
            status = expand(&range, dots, &sweep, &room);
        } else {
            status = number(&range, range.text, range.bytes, &value);
            if (status == XST_OK)
                status = push(&sweep, &room, value, &range);
        }
        if (!comma)
            break;
        at = comma + 1;
    }
    if (status == XST_OK)
        *sweep_out = sweep;
    else
        cli_sweep_free(&sweep);
    return status;
}

void cli_sweep_free(struct cli_sweep *sweep)
{
    free(sweep->values);
    *sweep = (struct cli_sweep){NULL, 0};
}
