/* SPDX-License-Identifier: Apache-2.0
 *
 * csv.h - a strict reader of numeric comma-separated text, without quoting: header, then one record a line.
 *
 * Fields point into the caller's text. Accepts LF and CRLF, a UTF-8 byte-order mark, and a missing last newline. Lines that are
 * empty, or start with '#', are skipped and counted.
 */
#ifndef XSTI_BASE_CSV_H
#define XSTI_BASE_CSV_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

enum { XSTI_CSV_MOST_FIELDS = 64 };

struct xsti_field {
    const char *text; /* not NUL-terminated */
    size_t bytes;
};

struct xsti_csv {
    const char *name; /* for messages */
    const char *at;
    const char *end;
    int64_t line; /* of the record last returned, 1-based */
    size_t field_count;
    struct xsti_field fields[XSTI_CSV_MOST_FIELDS];
};

void xsti_csv_open(struct xsti_csv *csv, const char *name, const char *text, size_t bytes);

/* Reads the next record. *more_out is 0 at the end of the text. */
enum xst_status xsti_csv_next(struct xsti_csv *csv, int *more_out, struct xst_diag *diag);

/* 1 when the field holds exactly `text`. */
int xsti_field_is(const struct xsti_field *field, const char *text);

#endif
