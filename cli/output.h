/* SPDX-License-Identifier: Apache-2.0
 *
 * output.h - one description of a table, three ways to write it: for a person, as CSV, as JSON.
 *
 * A column's name is the CSV column and the JSON key. A command builds its rows, describes them once, prints what a person
 * reads with cli_table_print when cli_wants_text says so, and hands document and rows to cli_emit, which obeys --json and --csv.
 */
#ifndef XST_CLI_OUTPUT_H
#define XST_CLI_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"

enum cli_cell_kind { CLI_CELL_NULL, CLI_CELL_TEXT, CLI_CELL_INT, CLI_CELL_REAL, CLI_CELL_BOOL };

struct cli_cell {
    enum cli_cell_kind kind;
    const char *text; /* owned by the row or static */
    int64_t integer;
    double real;
};

/* Cells. A number that is not finite is null. */
struct cli_cell cli_null(void);
struct cli_cell cli_text_cell(const char *text); /* NULL or "" is null */
struct cli_cell cli_int_cell(int64_t value);
struct cli_cell cli_real_cell(double value);
struct cli_cell cli_bool_cell(int value);

/* How a person sees a number; CSV and JSON have the plain one. */
enum cli_show {
    CLI_SHOW_PLAIN,
    CLI_SHOW_US,      /* four digits */
    CLI_SHOW_BYTES,   /* 32 KiB */
    CLI_SHOW_RATE,    /* bytes/us as GB/s */
    CLI_SHOW_PERCENT, /* a fraction as percent */
    CLI_SHOW_FULL     /* nine digits */
};

struct cli_column {
    const char *name;
    const char *heading; /* in the table; NULL: the name */
    enum cli_show show;
    int wide; /* in the table only with -v */
    struct cli_cell (*get)(const void *row);
};

struct cli_table {
    const struct cli_column *columns;
    size_t column_count;
    const void *rows; /* row_count objects of row_bytes each */
    size_t row_count;
    size_t row_bytes;
};

/* "4.902", "32 KiB", "371.9 GB/s", "1.2 %", "-" for null. */
const char *cli_show_number(double value, enum cli_show show, char *text, size_t bytes);
const char *cli_show_cell(const struct cli_cell *cell, enum cli_show show, char *text, size_t bytes);

/* 1 unless --json or --csv took standard output. */
int cli_wants_text(const struct cli *cli);

void cli_table_print(const struct cli *cli, FILE *out, const struct cli_table *table);
json_t *cli_table_json(const struct cli_table *table);

/* For rows that come in pieces: the header once, then each piece. */
void cli_csv_header(FILE *out, const struct cli_table *table);
void cli_csv_rows(FILE *out, const struct cli_table *table);
void cli_json_rows(FILE *out, const struct cli_table *table,
                   int first); /* elements of an array, without its brackets */

/* A document's head: schema "xstage.<name>/<major>", tool, version, argv, time_utc. */
json_t *cli_document(const struct cli *cli, const char *name, int major);
json_t *cli_number(double value);     /* null when not finite */
json_t *cli_string(const char *text); /* null when "" or NULL */

/* Writes `document` (taken over) and `rows` (may be NULL) where --json and --csv want them. Returns an exit code: `code` when
 * all went well. */
int cli_emit(struct cli *cli, json_t *document, const struct cli_table *rows, int code);

/* Refuses, before the work is done, what cli_emit could not do: an output that exists, two products on standard output, CSV of
 * a command without rows. */
enum xst_status cli_check_outputs(struct cli *cli, int has_rows);

/* Text to a file or to standard output, whole or not at all. */
enum xst_status cli_write(struct cli *cli, const char *path, const char *text, size_t bytes);

/* A document as text to a file or, without a path, to standard output. */
enum xst_status cli_write_json(struct cli *cli, const char *path, const json_t *document);

/* Colour only on a terminal and without NO_COLOR: escape sequences or "". */
const char *cli_good(FILE *out);
const char *cli_bad(FILE *out);
const char *cli_bold(FILE *out);
const char *cli_plain(FILE *out);

#endif
