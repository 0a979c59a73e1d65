/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include <string.h>

#include "base/diag.h"

void xsti_csv_open(struct xsti_csv *csv, const char *name, const char *text, size_t bytes)
{
    memset(csv, 0, sizeof *csv);
    csv->name = name;
    csv->at = text;
    csv->end = text + bytes;
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        csv->at += 3;
}

static struct xsti_field trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (struct xsti_field){from, (size_t)(to - from)};
}

static enum xst_status split(struct xsti_csv *csv, const char *from, const char *to, struct xst_diag *diag)
{
    csv->field_count = 0;
    for (const char *start = from;;) {
        const char *comma = memchr(start, ',', (size_t)(to - start));
        const char *const stop = comma ? comma : to;
        if (csv->field_count == XSTI_CSV_MOST_FIELDS)
            return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: more than %d fields", csv->name,
                                (long long)csv->line, XSTI_CSV_MOST_FIELDS);
        csv->fields[csv->field_count++] = trimmed(start, stop);
        if (!comma)
            return XST_OK;
        start = comma + 1;
    }
}

enum xst_status xsti_csv_next(struct xsti_csv *csv, int *more_out, struct xst_diag *diag)
{
    while (csv->at < csv->end) {
        const char *const from = csv->at;
        const char *newline = memchr(from, '\n', (size_t)(csv->end - from));
        const char *to = newline ? newline : csv->end;
        csv->at = newline ? newline + 1 : csv->end;
        csv->line++;
        if (to > from && to[-1] == '\r')
            to--;
        if (to > from && memchr(from, '\0', (size_t)(to - from)))
            return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: a NUL byte; this is not a text file",
                                csv->name, (long long)csv->line);
        const struct xsti_field whole = trimmed(from, to);
        if (whole.bytes == 0 || whole.text[0] == '#')
            continue;
        XSTI_TRY(split(csv, from, to, diag));
        *more_out = 1;
        return XST_OK;
    }
    *more_out = 0;
    return XST_OK;
}

int xsti_field_is(const struct xsti_field *field, const char *text)
{
    return strlen(text) == field->bytes && memcmp(field->text, text, field->bytes) == 0;
}
