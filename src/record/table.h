/* SPDX-License-Identifier: Apache-2.0
 *
 * table.h - records described by a column table, read from CSV and written to it. One table per kind of row feeds the
 * reader, the writer and the messages, so that a column has one name and one range.
 */
#ifndef XSTI_RECORD_TABLE_H
#define XSTI_RECORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#include "base/csv.h"

/* How a column's text becomes a struct field. */
enum xsti_column_kind { XSTI_COLUMN_INT, XSTI_COLUMN_REAL, XSTI_COLUMN_WORD };

struct xsti_column {
    const char *name;
    enum xsti_column_kind kind;
    double low; /* INT, REAL: accepted range */
    double high;
    size_t offset; /* INT: int64_t, REAL: double, in the record */
    /* WORD: reads a text into the record (0 on success), writes it back, and lists what is valid. */
    int (*read_word)(const char *text, void *record);
    const char *(*write_word)(const void *record, char *room, size_t room_bytes);
    const char *valid_words;
    /* Not NULL: a file may lack the column (its field stays as it was), and it is written only when some record needs it. */
    int (*needed)(const void *record);
};

struct xsti_table {
    const char *title; /* "burst samples" */
    const struct xsti_column *columns;
    size_t column_count;
};

/* Which field of a record feeds which column, from the header. */
struct xsti_header {
    size_t field_of_column[XSTI_CSV_MOST_FIELDS];
    size_t field_count;
};

/* The table whose columns the header names most; never NULL for count >= 1. */
const struct xsti_table *xsti_table_of_header(const struct xsti_table *const *tables, size_t count,
                                              const struct xsti_csv *header);

/* Checks the header against the table: unknown, duplicate and missing columns are errors. */
enum xst_status xsti_header_read(const struct xsti_table *table, const struct xsti_csv *csv,
                                 struct xsti_header *header_out, struct xst_diag *diag);

/* Fills `record` from the current line of `csv`. */
enum xst_status xsti_record_read(const struct xsti_table *table, const struct xsti_header *header,
                                 const struct xsti_csv *csv, void *record, struct xst_diag *diag);

/* All records as CSV text (malloc'd). `stride` is the record size. */
enum xst_status xsti_table_print(const struct xsti_table *table, const void *records, size_t count, size_t stride,
                                 char **text_out, size_t *bytes_out, struct xst_diag *diag);

#endif
