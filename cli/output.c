/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xstage/text_file.h>

#include "number_text.h"
#include "options.h"

/* Digits of a number in CSV and JSON, as in profiles. */
enum { REAL_DIGITS = 9 }; /* as cli_number_text */

static struct cli_cell cell_of(const struct cli_table *table, size_t row, size_t column)
{
    return table->columns[column].get((const char *)table->rows + row * table->row_bytes);
}

static int right_aligned(const struct cli_table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const struct cli_cell cell = cell_of(table, row, column);
        if (cell.kind == CLI_CELL_TEXT || cell.kind == CLI_CELL_BOOL)
            return 0;
    }
    return 1;
}

void cli_table_print(const struct cli *cli, FILE *out, const struct cli_table *table)
{
    struct libscols_table *const printed = scols_new_table();
    if (!printed)
        return;
    scols_table_set_stream(printed, out);
    scols_table_set_column_separator(printed, "  ");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct cli_column *const column = &table->columns[c];
        if (!column->wide || cli->verbose)
            scols_table_new_column(printed, column->heading ? column->heading : column->name, 0,
                                   right_aligned(table, c) ? SCOLS_FL_RIGHT : 0);
    }
    for (size_t r = 0; r < table->row_count; r++) {
        struct libscols_line *const line = scols_table_new_line(printed, NULL);
        size_t place = 0;
        for (size_t c = 0; line && c < table->column_count; c++) {
            char text[256];
            if (table->columns[c].wide && !cli->verbose)
                continue;
            const struct cli_cell cell = cell_of(table, r, c);
            scols_line_set_data(line, place++, cli_show_cell(&cell, table->columns[c].show, text, sizeof text));
        }
    }
    scols_print_table(printed);
    scols_unref_table(printed);
}

json_t *cli_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_string(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *cell_json(const struct cli_cell *cell)
{
    switch (cell->kind) {
    case CLI_CELL_TEXT:
        return json_string(cell->text);
    case CLI_CELL_INT:
        return json_integer(cell->integer);
    case CLI_CELL_REAL:
        return cli_number(cell->real);
    case CLI_CELL_BOOL:
        return json_boolean(cell->integer);
    case CLI_CELL_NULL:
        break;
    }
    return json_null();
}

json_t *cli_table_json(const struct cli_table *table)
{
    json_t *const array = json_array();
    for (size_t r = 0; r < table->row_count; r++) {
        json_t *const object = json_object();
        for (size_t c = 0; c < table->column_count; c++) {
            const struct cli_cell cell = cell_of(table, r, c);
            json_object_set_new(object, table->columns[c].name, cell_json(&cell));
        }
        json_array_append_new(array, object);
    }
    return array;
}

/* Numbers print the same in CSV and JSON. */
static void put_number(FILE *out, const struct cli_cell *cell)
{
    char text[CLI_NUMBER_BYTES];
    if (cell->kind == CLI_CELL_INT)
        fprintf(out, "%lld", (long long)cell->integer);
    else
        fwrite_unlocked(text, 1, cli_number_text(cell->real, text), out);
}

/* Text that holds a comma, a quote or a line end is quoted as RFC 4180 says. */
static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void cli_csv_header(FILE *out, const struct cli_table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        fprintf(out, "%s%s", c ? "," : "", table->columns[c].name);
    fputc('\n', out);
}

void cli_csv_rows(FILE *out, const struct cli_table *table)
{
    for (size_t r = 0; r < table->row_count && !ferror(out); r++) {
        for (size_t c = 0; c < table->column_count; c++) {
            const struct cli_cell cell = cell_of(table, r, c);
            if (c)
                putc_unlocked(',', out);
            if (cell.kind == CLI_CELL_TEXT)
                put_text(out, cell.text);
            else if (cell.kind == CLI_CELL_BOOL)
                fputs(cell.integer ? "true" : "false", out);
            else if (cell.kind != CLI_CELL_NULL)
                put_number(out, &cell);
        }
        fputc('\n', out);
    }
}

static void put_json(FILE *out, const struct cli_cell *cell)
{
    switch (cell->kind) {
    case CLI_CELL_NULL:
        fputs_unlocked("null", out);
        break;
    case CLI_CELL_BOOL:
        fputs_unlocked(cell->integer ? "true" : "false", out);
        break;
    case CLI_CELL_INT:
    case CLI_CELL_REAL:
        put_number(out, cell);
        break;
    case CLI_CELL_TEXT: {
        json_t *const value = json_string(cell->text);
        json_dumpf(value ? value : json_null(), out, JSON_ENCODE_ANY);
        json_decref(value);
        break;
    }
    }
}

void cli_json_rows(FILE *out, const struct cli_table *table, int first)
{
    for (size_t r = 0; r < table->row_count && !ferror(out); r++) {
        fputs_unlocked(first && r == 0 ? "\n  {" : ",\n  {", out);
        for (size_t c = 0; c < table->column_count; c++) {
            const struct cli_cell cell = cell_of(table, r, c);
            fputs_unlocked(c ? ", \"" : "\"", out);
            fputs_unlocked(table->columns[c].name, out);
            fputs_unlocked("\": ", out);
            put_json(out, &cell);
        }
        fputc('}', out);
    }
}

json_t *cli_document(const struct cli *cli, const char *name, int major)
{
    char now[32];
    const char *const epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t seconds = epoch && epoch[0] ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *const document = json_object();
    json_object_set_new(document, "schema", json_sprintf("xstage.%s/%d", name, major));
    json_object_set_new(document, "tool", json_string("xstage"));
    json_object_set_new(document, "version", json_string(xst_version()));
    json_t *const words = json_array();
    for (int i = 0; i < cli->argc; i++) {
        json_t *const word = json_string(cli->argv[i]); /* NULL when it is not UTF-8 */
        json_array_append_new(words, word ? word : json_null());
    }
    json_object_set_new(document, "argv", words);
    json_object_set_new(document, "time_utc", json_string(now));
    return document;
}

int cli_wants_text(const struct cli *cli)
{
    const int json = cli_given(cli, "json") && !cli_text(cli, "json");
    const int csv = cli_given(cli, "csv") && !cli_text(cli, "csv");
    return !json && !csv;
}

enum xst_status cli_check_outputs(struct cli *cli, int has_rows)
{
    static const char *const names[] = {"json", "csv", "output"};
    if (cli_given(cli, "csv") && !has_rows)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--csv: this command has no rows; use --json");
    if (cli_given(cli, "json") && cli_given(cli, "csv") && !cli_text(cli, "json") && !cli_text(cli, "csv"))
        return cli_say(&cli->diag, XST_ERR_USAGE,
                       "--json and --csv both want standard output; give one a file: --csv=FILE");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const path = cli_text(cli, names[i]);
        for (size_t j = 0; path && j < i; j++) {
            const char *const other = cli_text(cli, names[j]);
            if (other && strcmp(path, other) == 0 && strcmp(path, "-") != 0)
                return cli_say(&cli->diag, XST_ERR_USAGE, "--%s and --%s name the same file, %.200s", names[j],
                               names[i], path);
        }
        if (cli->command->output_is_folder && strcmp(names[i], "output") == 0)
            continue; /* its files are checked as they are written */
        const enum xst_status status = path ? xst_text_check(path, cli->force, &cli->diag) : XST_OK;
        if (status != XST_OK)
            return status;
    }
    return XST_OK;
}

enum xst_status cli_write(struct cli *cli, const char *path, const char *text, size_t bytes)
{
    if (!path || strcmp(path, "-") == 0)
        return fwrite(text, 1, bytes, stdout) == bytes
                   ? XST_OK
                   : cli_say(&cli->diag, XST_ERR_IO, "standard output: cannot write");
    return xst_text_write(path, text, bytes, cli->force, &cli->diag);
}

enum xst_status cli_write_json(struct cli *cli, const char *path, const json_t *document)
{
    char *const text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS));
    const size_t bytes = text ? strlen(text) : 0;
    if (!text)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    text[bytes] = '\n'; /* in place of the NUL: the length says where it ends */
    const enum xst_status status = cli_write(cli, path, text, bytes + 1);
    free(text);
    return status;
}

static enum xst_status emit_csv(struct cli *cli, const struct cli_table *rows)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    if (!out)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    cli_csv_header(out, rows);
    cli_csv_rows(out, rows);
    const int bad = ferror(out);
    enum xst_status status = fclose(out) || bad ? cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory") : XST_OK;
    if (status == XST_OK)
        status = cli_write(cli, cli_text(cli, "csv"), text, bytes);
    free(text);
    return status;
}

int cli_emit(struct cli *cli, json_t *document, const struct cli_table *rows, int code)
{
    enum xst_status status = cli_check_outputs(cli, rows != NULL);
    /* -o was written, or checked, by the command itself; here it may exist. */
    if (status == XST_ERR_EXISTS)
        status = XST_OK;
    if (status == XST_OK && cli_given(cli, "json"))
        status = cli_write_json(cli, cli_text(cli, "json"), document);
    if (status == XST_OK && cli_given(cli, "csv") && rows)
        status = emit_csv(cli, rows);
    json_decref(document);
    return status == XST_OK ? code : cli_fail(cli, status);
}
