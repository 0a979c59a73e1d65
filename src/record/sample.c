/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of every kind: CSV in, CSV out, and the lists that hold them.
 */
#include <xstage/sample.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/diag.h"
#include "base/file.h"
#include "record/sample_words.h"
#include "record/table.h"

#define COUNT(array)                   (sizeof(array) / sizeof *(array))
#define LIST_TEXT(NAME, text, meaning) " " text

/* Text columns of both kinds of row: the struct differs, the words do not. */
#define DEFINE_WORD(record, column, parse, text)                                                                       \
    static int record##_read_##column(const char *word, void *row)                                                     \
    {                                                                                                                  \
        return parse(word, &((struct xst_##record *)row)->column);                                                     \
    }                                                                                                                  \
    static const char *record##_write_##column(const void *row, char *room, size_t room_bytes)                         \
    {                                                                                                                  \
        (void)room, (void)room_bytes;                                                                                  \
        return text(((const struct xst_##record *)row)->column);                                                       \
    }
#define DEFINE_TARGET(record)                                                                                          \
    static int record##_read_target(const char *word, void *row)                                                       \
    {                                                                                                                  \
        struct xst_##record *const typed = row;                                                                        \
        return xsti_target_word_parse(word, &typed->target, &typed->direction);                                        \
    }                                                                                                                  \
    static const char *record##_write_target(const void *row, char *room, size_t room_bytes)                           \
    {                                                                                                                  \
        const struct xst_##record *const typed = row;                                                                  \
        return xsti_target_word(typed->target, typed->direction, room, room_bytes);                                    \
    }

DEFINE_WORD(sample, mode, xst_mode_parse, xst_mode_text)
DEFINE_WORD(sample, method, xst_method_parse, xst_method_text)
DEFINE_WORD(sample, flow, xst_flow_parse, xst_flow_text)
DEFINE_TARGET(sample)
DEFINE_WORD(bystander_sample, method, xst_method_parse, xst_method_text)
DEFINE_WORD(bystander_sample, op, xst_bystander_op_parse, xst_bystander_op_text)
DEFINE_TARGET(bystander_sample)
DEFINE_WORD(loop_sample, method, xst_method_parse, xst_method_text)
DEFINE_TARGET(loop_sample)
DEFINE_WORD(producer_sample, method, xst_method_parse, xst_method_text)
DEFINE_TARGET(producer_sample)

static const char mode_words[] = XST_MODE_MAP(LIST_TEXT);
static const char target_words[] = XST_TARGET_MAP(LIST_TEXT) " (each also with -bidir)";
static const char flow_words[] = XST_FLOW_MAP(LIST_TEXT);
static const char method_words[] = XST_METHOD_MAP(LIST_TEXT);
static const char op_words[] = XST_BYSTANDER_OP_MAP(LIST_TEXT);

#define WORD_COLUMN(record, column, words)                                                                             \
    {#column, XSTI_COLUMN_WORD, 0, 0, 0, record##_read_##column, record##_write_##column, words, NULL},
#define NUMBER_COLUMN(record, column, kind, low, high)                                                                 \
    {#column, kind, (double)(low), (double)(high), offsetof(struct xst_##record, column), NULL, NULL, NULL, NULL},

#define COLUMN_MODE(record, column, low, high)   WORD_COLUMN(record, column, mode_words)
#define COLUMN_TARGET(record, column, low, high) WORD_COLUMN(record, column, target_words)
#define COLUMN_METHOD(record, column, low, high) WORD_COLUMN(record, column, method_words)
#define COLUMN_OP(record, column, low, high)     WORD_COLUMN(record, column, op_words)
#define COLUMN_INT(record, column, low, high)    NUMBER_COLUMN(record, column, XSTI_COLUMN_INT, low, high)
#define COLUMN_REAL(record, column, low, high)   NUMBER_COLUMN(record, column, XSTI_COLUMN_REAL, low, high)

/* A row of one device to the next needs none of the further columns. */
static int has_flow(const void *row)
{
    const struct xst_sample *const sample = row;
    return sample->flow != XST_FLOW_PAIR || sample->senders != 0 || sample->sender != 0 || sample->receiver != 0;
}

#define FLOW_COLUMN_FLOW(name, low, high)                                                                              \
    {#name, XSTI_COLUMN_WORD, 0, 0, 0, sample_read_##name, sample_write_##name, flow_words, has_flow},
#define FLOW_COLUMN_INT(name, low, high)                                                                               \
    {#name, XSTI_COLUMN_INT, (double)(low), (double)(high), offsetof(struct xst_sample, name), NULL, NULL,             \
     NULL,  has_flow},
#define X(kind, name, low, high, meaning) COLUMN_##kind(sample, name, low, high)
#define Y(kind, name, low, high, meaning) FLOW_COLUMN_##kind(name, low, high)
static const struct xsti_column sample_columns[] = {XST_SAMPLE_FIELDS(X) XST_SAMPLE_FLOW_FIELDS(Y)};
#undef X
#undef Y
#define X(kind, name, low, high, meaning) COLUMN_##kind(bystander_sample, name, low, high)
static const struct xsti_column bystander_columns[] = {XST_BYSTANDER_FIELDS(X)};
#undef X

#define X(kind, name, low, high, meaning) COLUMN_##kind(loop_sample, name, low, high)
static const struct xsti_column loop_columns[] = {XST_LOOP_FIELDS(X)};
#undef X
#define X(kind, name, low, high, meaning) COLUMN_##kind(producer_sample, name, low, high)
static const struct xsti_column producer_columns[] = {XST_PRODUCER_FIELDS(X)};
#undef X

static const struct xsti_table sample_table = {"burst samples", sample_columns, COUNT(sample_columns)};
static const struct xsti_table bystander_table = {"bystander samples", bystander_columns, COUNT(bystander_columns)};
static const struct xsti_table loop_table = {"load loop samples", loop_columns, COUNT(loop_columns)};
static const struct xsti_table producer_table = {"per-producer samples", producer_columns, COUNT(producer_columns)};

int xsti_target_word_parse(const char *word, enum xst_target *target_out, enum xst_direction *direction_out)
{
    static const char bidir[] = "-bidir";
    const size_t length = strlen(word), suffix = sizeof bidir - 1;
    const int both = length > suffix && strcmp(word + length - suffix, bidir) == 0;
    char plain[16];
    if (length >= sizeof plain)
        return -1;
    memcpy(plain, word, length + 1);
    if (both)
        plain[length - suffix] = '\0';
    if (xst_target_parse(plain, target_out) != 0)
        return -1;
    *direction_out = both ? XST_DIRECTION_BOTH : XST_DIRECTION_ONE;
    return 0;
}

const char *xsti_target_word(enum xst_target target, enum xst_direction direction, char *room, size_t room_bytes)
{
    snprintf(room, room_bytes, "%s%s", xst_target_text(target), direction == XST_DIRECTION_BOTH ? "-bidir" : "");
    return room;
}

/* Makes room for `count` elements of `size` bytes; */
static enum xst_status reserve(void **array, size_t count, size_t size, struct xst_diag *diag)
{
    /* Capacity is the power of two at or above count: no field needed to remember it. */
    if (*array && (count & (count - 1)) != 0)
        return XST_OK;
    void *const larger = realloc(*array, (count ? count * 2 : 1) * size);
    if (!larger)
        return xsti_fail_memory(diag);
    *array = larger;
    return XST_OK;
}

enum xst_status xst_samples_append(struct xst_samples *samples, const struct xst_sample *row, struct xst_diag *diag)
{
    XSTI_TRY(reserve((void **)&samples->rows, samples->row_count, sizeof *row, diag));
    samples->rows[samples->row_count++] = *row;
    return XST_OK;
}

#define DEFINE_APPEND(function, record, list, count)                                                                   \
    enum xst_status function(struct xst_samples *samples, const struct record *row, struct xst_diag *diag)             \
    {                                                                                                                  \
        XSTI_TRY(reserve((void **)&samples->list, samples->count, sizeof *row, diag));                                 \
        samples->list[samples->count++] = *row;                                                                        \
        return XST_OK;                                                                                                 \
    }
DEFINE_APPEND(xst_samples_append_bystander, xst_bystander_sample, bystanders, bystander_count)
DEFINE_APPEND(xst_samples_append_loop, xst_loop_sample, loops, loop_count)
DEFINE_APPEND(xst_samples_append_producer, xst_producer_sample, producers, producer_count)

static enum xst_status append_source(struct xst_samples *samples, const char *name, struct xst_diag *diag)
{
    XSTI_TRY(reserve((void **)&samples->sources, samples->source_count, sizeof *samples->sources, diag));
    char *const copy = strdup(name);
    if (!copy)
        return xsti_fail_memory(diag);
    samples->sources[samples->source_count++] = copy;
    return XST_OK;
}

/* Pieces and their pitch come together, and pieces do not overlap. */
static enum xst_status check_pattern(const struct xsti_csv *csv, const struct xst_sample *row, struct xst_diag *diag)
{
    if (row->piece_bytes == 0 && row->pitch_bytes == 0)
        return XST_OK;
    if (row->piece_bytes > 0 && row->pitch_bytes >= row->piece_bytes)
        return XST_OK;
    return xsti_fail_at(diag, XST_ERR_RANGE, csv->line,
                        "%s:%lld: pitch_bytes is %lld, at least piece_bytes (%lld) is needed, or both 0", csv->name,
                        (long long)csv->line, (long long)row->pitch_bytes, (long long)row->piece_bytes);
}

static enum xst_status read_rows(struct xsti_csv *csv, const struct xsti_table *table, const struct xsti_header *header,
                                 struct xst_samples *samples, struct xst_diag *diag)
{
    for (;;) {
        int more = 0;
        XSTI_TRY(xsti_csv_next(csv, &more, diag));
        if (!more)
            return XST_OK;
        if (table == &sample_table) {
            struct xst_sample row = {.source = (int64_t)samples->source_count - 1, .line = csv->line};
            XSTI_TRY(xsti_record_read(table, header, csv, &row, diag));
            XSTI_TRY(check_pattern(csv, &row, diag));
            XSTI_TRY(xst_samples_append(samples, &row, diag));
        } else if (table == &bystander_table) {
            struct xst_bystander_sample row = {.source = (int64_t)samples->source_count - 1, .line = csv->line};
            XSTI_TRY(xsti_record_read(table, header, csv, &row, diag));
            XSTI_TRY(xst_samples_append_bystander(samples, &row, diag));
        } else if (table == &loop_table) {
            struct xst_loop_sample row = {.source = (int64_t)samples->source_count - 1, .line = csv->line};
            XSTI_TRY(xsti_record_read(table, header, csv, &row, diag));
            XSTI_TRY(xst_samples_append_loop(samples, &row, diag));
        } else {
            struct xst_producer_sample row = {.source = (int64_t)samples->source_count - 1, .line = csv->line};
            XSTI_TRY(xsti_record_read(table, header, csv, &row, diag));
            XSTI_TRY(xst_samples_append_producer(samples, &row, diag));
        }
    }
}

static size_t rows_of(const struct xst_samples *samples)
{
    return samples->row_count + samples->bystander_count + samples->loop_count + samples->producer_count;
}

static enum xst_status parse_into(const char *name, const char *text, size_t text_bytes, struct xst_samples *samples,
                                  struct xst_diag *diag)
{
    static const struct xsti_table *const tables[] = {&sample_table, &bystander_table, &loop_table, &producer_table};
    struct xsti_csv csv;
    struct xsti_header header;
    int more = 0;
    xsti_csv_open(&csv, name, text, text_bytes);
    XSTI_TRY(xsti_csv_next(&csv, &more, diag));
    if (!more)
        return xsti_fail(diag, XST_ERR_PARSE, "%s: the file is empty, a CSV header line is needed", name);
    const struct xsti_table *const table = xsti_table_of_header(tables, COUNT(tables), &csv);
    XSTI_TRY(xsti_header_read(table, &csv, &header, diag));
    XSTI_TRY(append_source(samples, name, diag));
    const size_t before = rows_of(samples);
    XSTI_TRY(read_rows(&csv, table, &header, samples, diag));
    if (rows_of(samples) == before)
        return xsti_fail_at(diag, XST_ERR_NO_DATA, csv.line, "%s: a header and no row below it", name);
    return XST_OK;
}

enum xst_status xst_samples_parse(const char *name, const char *text, size_t text_bytes, struct xst_samples *samples,
                                  struct xst_diag *diag)
{
    const struct xst_samples before = *samples;
    const enum xst_status status = parse_into(name, text, text_bytes, samples, diag);
    if (status == XST_OK)
        return XST_OK;
    /* Arrays may have moved, so only the counts go back. */
    while (samples->source_count > before.source_count)
        free(samples->sources[--samples->source_count]);
    samples->row_count = before.row_count;
    samples->bystander_count = before.bystander_count;
    samples->loop_count = before.loop_count;
    samples->producer_count = before.producer_count;
    return status;
}

enum xst_status xst_samples_read(const char *path, struct xst_samples *samples, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status =
        xst_samples_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, samples, diag);
    free(text);
    return status;
}

#define DEFINE_WRITE(function, table, list, count)                                                                     \
    enum xst_status function(const char *path, const struct xst_samples *samples, int force, struct xst_diag *diag)    \
    {                                                                                                                  \
        char *text = NULL;                                                                                             \
        size_t bytes = 0;                                                                                              \
        XSTI_TRY(xsti_table_print(&table, samples->list, samples->count, sizeof *samples->list, &text, &bytes, diag)); \
        const enum xst_status status = xsti_file_write(path, text, bytes, force, diag);                                \
        free(text);                                                                                                    \
        return status;                                                                                                 \
    }
DEFINE_WRITE(xst_samples_write, sample_table, rows, row_count)
DEFINE_WRITE(xst_samples_write_bystanders, bystander_table, bystanders, bystander_count)
DEFINE_WRITE(xst_samples_write_loops, loop_table, loops, loop_count)
DEFINE_WRITE(xst_samples_write_producers, producer_table, producers, producer_count)

void xst_samples_free(struct xst_samples *samples)
{
    if (!samples)
        return;
    for (size_t i = 0; i < samples->source_count; i++)
        free(samples->sources[i]);
    free(samples->sources);
    free(samples->rows);
    free(samples->bystanders);
    free(samples->loops);
    free(samples->producers);
    memset(samples, 0, sizeof *samples);
}
