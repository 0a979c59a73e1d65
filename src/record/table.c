/* SPDX-License-Identifier: Apache-2.0 */
#include "record/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

enum { NO_FIELD = XSTI_CSV_MOST_FIELDS, WORD_BYTES = 64 };

static size_t column_named(const struct xsti_table *table, const struct xsti_field *name)
{
    size_t column = 0;
    while (column < table->column_count && !xsti_field_is(name, table->columns[column].name))
        column++;
    return column;
}

const struct xsti_table *xsti_table_of_header(const struct xsti_table *const *tables, size_t count,
                                              const struct xsti_csv *header)
{
    const struct xsti_table *best = tables[0];
    size_t best_matches = 0;
    for (size_t t = 0; t < count; t++) {
        size_t matches = 0;
        for (size_t f = 0; f < header->field_count; f++)
            matches += column_named(tables[t], &header->fields[f]) < tables[t]->column_count;
        if (matches > best_matches) {
            best_matches = matches;
            best = tables[t];
        }
    }
    return best;
}

static enum xst_status fail_unknown_column(const struct xsti_table *table, const struct xsti_csv *csv,
                                           const struct xsti_field *name, struct xst_diag *diag)
{
    const char *names[XSTI_CSV_MOST_FIELDS];
    char word[WORD_BYTES], quoted[XSTI_QUOTE_BYTES];
    for (size_t c = 0; c < table->column_count; c++)
        names[c] = table->columns[c].name;
    snprintf(word, sizeof word, "%.*s", (int)(name->bytes < WORD_BYTES ? name->bytes : WORD_BYTES - 1), name->text);
    const char *const nearest = xsti_nearest(word, names, table->column_count);
    return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: column %s is not one of %s%s%s%s", csv->name,
                        (long long)csv->line, xsti_quote(name->text, name->bytes, quoted), table->title,
                        nearest ? "; the nearest is \"" : "", nearest ? nearest : "", nearest ? "\"" : "");
}

enum xst_status xsti_header_read(const struct xsti_table *table, const struct xsti_csv *csv,
                                 struct xsti_header *header_out, struct xst_diag *diag)
{
    struct xsti_header header;
    for (size_t c = 0; c < XSTI_CSV_MOST_FIELDS; c++)
        header.field_of_column[c] = NO_FIELD;
    for (size_t f = 0; f < csv->field_count; f++) {
        const size_t column = column_named(table, &csv->fields[f]);
        if (column == table->column_count)
            return fail_unknown_column(table, csv, &csv->fields[f], diag);
        if (header.field_of_column[column] != NO_FIELD)
            return xsti_fail_at(diag, XST_ERR_PARSE, csv->line,
                                "%s:%lld: column \"%s\" stands twice, as fields %zu and %zu", csv->name,
                                (long long)csv->line, table->columns[column].name, header.field_of_column[column] + 1,
                                f + 1);
        header.field_of_column[column] = f;
    }
    for (size_t c = 0; c < table->column_count; c++) {
        if (header.field_of_column[c] == NO_FIELD && !table->columns[c].needed)
            return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: column \"%s\" is missing; %s need it",
                                csv->name, (long long)csv->line, table->columns[c].name, table->title);
    }
    header.field_count = csv->field_count;
    *header_out = header;
    return XST_OK;
}

static enum xst_status fail_number(const struct xsti_csv *csv, const struct xsti_column *column,
                                   const struct xsti_field *field, const char *complaint, struct xst_diag *diag)
{
    char quoted[XSTI_QUOTE_BYTES];
    return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: %s is %s, which %s; %s of %.15g..%.15g is needed",
                        csv->name, (long long)csv->line, column->name, xsti_quote(field->text, field->bytes, quoted),
                        complaint, column->kind == XSTI_COLUMN_INT ? "an integer" : "a number", column->low,
                        column->high);
}

static enum xst_status fail_range(const struct xsti_csv *csv, const struct xsti_column *column,
                                  const struct xsti_field *field, struct xst_diag *diag)
{
    char quoted[XSTI_QUOTE_BYTES];
    return xsti_fail_at(diag, XST_ERR_RANGE, csv->line, "%s:%lld: %s is %s, outside %.15g..%.15g", csv->name,
                        (long long)csv->line, column->name, xsti_quote(field->text, field->bytes, quoted), column->low,
                        column->high);
}

static enum xst_status read_word(const struct xsti_csv *csv, const struct xsti_column *column,
                                 const struct xsti_field *field, void *record, struct xst_diag *diag)
{
    char word[WORD_BYTES], quoted[XSTI_QUOTE_BYTES];
    if (field->bytes < sizeof word) {
        memcpy(word, field->text, field->bytes);
        word[field->bytes] = '\0';
        if (column->read_word(word, record) == 0)
            return XST_OK;
    }
    return xsti_fail_at(diag, XST_ERR_PARSE, csv->line, "%s:%lld: %s is %s, valid are:%s", csv->name,
                        (long long)csv->line, column->name, xsti_quote(field->text, field->bytes, quoted),
                        column->valid_words);
}

static enum xst_status read_column(const struct xsti_csv *csv, const struct xsti_column *column,
                                   const struct xsti_field *field, void *record, struct xst_diag *diag)
{
    void *const at = (char *)record + column->offset;
    enum xsti_number number;
    switch (column->kind) {
    case XSTI_COLUMN_WORD:
        return read_word(csv, column, field, record, diag);
    case XSTI_COLUMN_INT:
        number = xsti_parse_int(field->text, field->bytes, at);
        if (number != XSTI_NUMBER_OK)
            return fail_number(csv, column, field, xsti_number_complaint(number), diag);
        if ((double)*(int64_t *)at < column->low || (double)*(int64_t *)at > column->high)
            return fail_range(csv, column, field, diag);
        return XST_OK;
    case XSTI_COLUMN_REAL:
        number = xsti_parse_real(field->text, field->bytes, at);
        if (number != XSTI_NUMBER_OK)
            return fail_number(csv, column, field, xsti_number_complaint(number), diag);
        if (*(double *)at < column->low || *(double *)at > column->high)
            return fail_range(csv, column, field, diag);
        return XST_OK;
    }
    return XST_OK;
}

enum xst_status xsti_record_read(const struct xsti_table *table, const struct xsti_header *header,
                                 const struct xsti_csv *csv, void *record, struct xst_diag *diag)
{
    if (csv->field_count != header->field_count)
        return xsti_fail_at(diag, XST_ERR_PARSE, csv->line,
                            "%s:%lld: %zu fields, the header has %zu; is the line truncated?", csv->name,
                            (long long)csv->line, csv->field_count, header->field_count);
    for (size_t c = 0; c < table->column_count; c++)
        if (header->field_of_column[c] != NO_FIELD)
            XSTI_TRY(read_column(csv, &table->columns[c], &csv->fields[header->field_of_column[c]], record, diag));
    return XST_OK;
}

static void print_column(FILE *stream, const struct xsti_column *column, const void *record)
{
    const void *const at = (const char *)record + column->offset;
    char room[WORD_BYTES];
    switch (column->kind) {
    case XSTI_COLUMN_WORD:
        fputs(column->write_word(record, room, sizeof room), stream);
        break;
    case XSTI_COLUMN_INT:
        fprintf(stream, "%lld", (long long)*(const int64_t *)at);
        break;
    case XSTI_COLUMN_REAL:
        fprintf(stream, "%.4f", *(const double *)at);
        break;
    }
}

/* Columns that are written: those every file has, and those some record needs. */
static size_t choose_columns(const struct xsti_table *table, const void *records, size_t count, size_t stride,
                             const struct xsti_column *columns_out[XSTI_CSV_MOST_FIELDS])
{
    size_t chosen = 0;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct xsti_column *const column = &table->columns[c];
        int needed = !column->needed;
        for (size_t r = 0; r < count && !needed; r++)
            needed = column->needed((const char *)records + r * stride);
        if (needed)
            columns_out[chosen++] = column;
    }
    return chosen;
}

enum xst_status xsti_table_print(const struct xsti_table *table, const void *records, size_t count, size_t stride,
                                 char **text_out, size_t *bytes_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    if (!stream)
        return xsti_fail_memory(diag);
    const struct xsti_column *columns[XSTI_CSV_MOST_FIELDS];
    const size_t column_count = choose_columns(table, records, count, stride, columns);
    void *const locale = xsti_point_begin();
    for (size_t c = 0; c < column_count; c++)
        fprintf(stream, "%s%s", c ? "," : "", columns[c]->name);
    fputc('\n', stream);
    for (size_t r = 0; r < count; r++) {
        for (size_t c = 0; c < column_count; c++) {
            if (c)
                fputc(',', stream);
            print_column(stream, columns[c], (const char *)records + r * stride);
        }
        fputc('\n', stream);
    }
    xsti_point_end(locale);
    if (fclose(stream) != 0) {
        free(text);
        return xsti_fail_memory(diag);
    }
    *text_out = text;
    *bytes_out = bytes;
    return XST_OK;
}
