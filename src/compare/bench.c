/* SPDX-License-Identifier: Apache-2.0
 *
 * Two benchmark records side by side, cell by cell.
 */
#include <xstage/compare.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "compare/judge.h"

enum { WHERE_BYTES = 32, MOST_ROWS = 10000 };
static const char schema_name[] = "xstage.bench";

/* A record as read. */
struct record {
    json_t *root;
    const json_t *rows;
    const char *kernel;
};

static enum xst_status parse(const char *path, json_t **root_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status = xsti_json_parse(path, text, bytes, root_out, diag);
    free(text);
    return status;
}

int xst_bench_is_record(const char *path)
{
    json_t *root = NULL;
    if (parse(path, &root, NULL) != XST_OK)
        return 0;
    const char *const schema = json_string_value(json_object_get(root, "schema"));
    const int is = schema && strncmp(schema, schema_name, sizeof schema_name - 1) == 0;
    json_decref(root);
    return is;
}

static enum xst_status read_record(const char *path, struct record *record, struct xst_diag *diag)
{
    XSTI_TRY(parse(path, &record->root, diag));
    XSTI_TRY(xsti_json_schema(path, record->root, schema_name, 1, diag));
    struct xsti_json reader = {.name = path, .diag = diag};
    record->rows = xsti_json_array(&reader, record->root, "", "rows");
    if (reader.status != XST_OK)
        return reader.status;
    if (json_array_size(record->rows) > MOST_ROWS)
        return xsti_fail(diag, XST_ERR_RANGE, "%s: %zu rows, at most %d are compared", path,
                         json_array_size(record->rows), MOST_ROWS);
    record->kernel = json_string_value(json_object_get(record->root, "kernel"));
    return XST_OK;
}

/* How a cell was timed or carried out, not which one it is: a better choice of warpgroups must not look like another cell. */
static int is_detail(const char *key)
{
    static const char *const details[] = {"n", "calls", "rounds", "seed", "groups", "profile"};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (strcmp(key, details[i]) == 0)
            return 1;
    return 0;
}

/* What a record that does not know the key means: cells of older records are found again. */
static int is_unsaid(const char *key, const json_t *value)
{
    return (strcmp(key, "dtype") == 0 && json_is_string(value) && strcmp(json_string_value(value), "bf16") == 0) ||
           (strcmp(key, "unit") == 0 && json_is_integer(value) && json_integer_value(value) <= 1);
}

/* Real numbers that belong to the cell; all others are results. */
static int is_real_of_cell(const char *key)
{
    return strcmp(key, "remote_frac") == 0 || strcmp(key, "skew") == 0 || strcmp(key, "clamp") == 0;
}

static size_t append(char *key, size_t used, const char *format, const char *name, const char *value)
{
    if (used >= XST_BENCH_KEY_BYTES)
        return used;
    const int n = snprintf(key + used, XST_BENCH_KEY_BYTES - used, format, used ? " " : "", name, value);
    return used + (n > 0 ? (size_t)n : 0);
}

/* The variant first, then the rest in the order of the file. */
static enum xst_status key_of(const char *path, size_t index, const json_t *row, char *key, struct xst_diag *diag)
{
    const char *name;
    const json_t *value;
    const char *const variant = json_string_value(json_object_get(row, "variant"));
    size_t used = variant ? append(key, 0, "%s%.0s%s", "", variant) : 0;
    json_object_foreach((json_t *)row, name, value) {
        char number[40];
        if (is_unsaid(name, value))
            continue;
        if (json_is_string(value) && strcmp(name, "variant") != 0 && !is_detail(name)) {
            used = append(key, used, "%s%.0s%s", name, json_string_value(value));
        } else if (json_is_integer(value) && !is_detail(name)) {
            snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
            used = append(key, used, "%s%s=%s", name, number);
        } else if (json_is_real(value) && is_real_of_cell(name)) {
            snprintf(number, sizeof number, "%.9g", json_real_value(value));
            used = append(key, used, "%s%s=%s", name, number);
        }
    }
    if (used == 0)
        return xsti_fail(diag, XST_ERR_SCHEMA, "%s: rows[%zu] names no variant and no shape", path, index);
    if (used >= XST_BENCH_KEY_BYTES)
        return xsti_fail(diag, XST_ERR_RANGE, "%s: rows[%zu] is named by more than %d bytes", path, index,
                         XST_BENCH_KEY_BYTES - 1);
    return XST_OK;
}

/* median_us with the rounds around it; a row without a time (null) is not known. */
static enum xst_status side_of(const char *path, size_t index, const json_t *row, struct xsti_side *side,
                               struct xst_diag *diag)
{
    struct xsti_json reader = {.name = path, .diag = diag};
    char where[WHERE_BYTES];
    snprintf(where, sizeof where, "rows[%zu].", index);
    *side = (struct xsti_side){0};
    side->known = xsti_json_optional_real(&reader, row, where, "median_us", 0, 1e15, &side->value);
    side->low = side->high = side->value;
    xsti_json_optional_real(&reader, row, where, "min_us", 0, 1e15, &side->low);
    xsti_json_optional_real(&reader, row, where, "max_us", 0, 1e15, &side->high);
    return reader.status;
}

/* The first row of that key that has no time of this record yet. */
static struct xst_bench_comparison_row *open_row(struct xst_bench_comparison *out, const char *key)
{
    for (size_t i = 0; i < out->row_count; i++)
        if (!out->rows[i].after_known && strcmp(out->rows[i].key, key) == 0)
            return &out->rows[i];
    return NULL;
}

struct job {
    double noise_frac;
    struct xst_bench_comparison *out;
    struct xsti_side *sides; /* of `before`, by row of the comparison */
    struct xst_diag *diag;
};

static enum xst_status add_before(struct job *job, const char *path, const struct record *record)
{
    for (size_t i = 0; i < json_array_size(record->rows); i++) {
        struct xst_bench_comparison_row *const row = &job->out->rows[job->out->row_count];
        struct xsti_side side;
        XSTI_TRY(key_of(path, i, json_array_get(record->rows, i), row->key, job->diag));
        XSTI_TRY(side_of(path, i, json_array_get(record->rows, i), &side, job->diag));
        if (!side.known)
            continue;
        row->before_known = 1;
        row->before_us = side.value;
        row->moved = XST_MOVED_REMOVED;
        job->sides[job->out->row_count++] = side;
    }
    return XST_OK;
}

static enum xst_status add_after(struct job *job, const char *path, const struct record *record)
{
    for (size_t i = 0; i < json_array_size(record->rows); i++) {
        char key[XST_BENCH_KEY_BYTES];
        struct xsti_side side;
        XSTI_TRY(key_of(path, i, json_array_get(record->rows, i), key, job->diag));
        XSTI_TRY(side_of(path, i, json_array_get(record->rows, i), &side, job->diag));
        if (!side.known)
            continue;
        struct xst_bench_comparison_row *row = open_row(job->out, key);
        if (!row) {
            row = &job->out->rows[job->out->row_count++];
            memcpy(row->key, key, sizeof key);
        }
        const struct xsti_side *const before = &job->sides[row - job->out->rows];
        row->after_known = 1;
        row->after_us = side.value;
        row->moved = xsti_moved_between(before, &side, job->noise_frac, XSTI_HIGHER_IS_WORSE, &row->change_frac,
                                        &row->noise_frac);
    }
    return XST_OK;
}

static void describe(const struct record *record, char *kernel, size_t kernel_size, char *machine, size_t machine_size)
{
    const json_t *const facts = json_object_get(record->root, "facts");
    const json_t *const devices = json_object_get(facts, "devices");
    const char *name = json_string_value(json_object_get(json_array_get(devices, 0), "name"));
    const char *const driver = json_string_value(json_object_get(facts, "driver"));
    if (!name)
        name = json_string_value(json_object_get(facts, "device"));
    snprintf(kernel, kernel_size, "%s", record->kernel ? record->kernel : "");
    if (name && json_array_size(devices) > 1)
        snprintf(machine, machine_size, "%zu x %s", json_array_size(devices), name);
    else
        snprintf(machine, machine_size, "%s", name ? name : "");
    const size_t used = strlen(machine);
    if (driver)
        snprintf(machine + used, machine_size - used, "%sdriver %s", used ? ", " : "", driver);
}

static enum xst_status compare(struct job *job, const char *const paths[2], struct record records[2])
{
    struct xst_bench_comparison *const out = job->out;
    for (int i = 0; i < 2; i++) {
        XSTI_TRY(read_record(paths[i], &records[i], job->diag));
        describe(&records[i], out->kernel[i], sizeof out->kernel[i], out->machine[i], sizeof out->machine[i]);
    }
    if (strcmp(out->kernel[0], out->kernel[1]) != 0)
        return xsti_fail(job->diag, XST_ERR_RANGE, "%s is a record of %s and %s one of %s: they share no cell",
                         paths[0], out->kernel[0], paths[1], out->kernel[1]);
    const size_t room = json_array_size(records[0].rows) + json_array_size(records[1].rows) + 1;
    out->rows = calloc(room, sizeof *out->rows);
    job->sides = calloc(room, sizeof *job->sides);
    if (!out->rows || !job->sides)
        return xsti_fail_memory(job->diag);
    XSTI_TRY(add_before(job, paths[0], &records[0]));
    XSTI_TRY(add_after(job, paths[1], &records[1]));
    for (size_t i = 0; i < out->row_count; i++)
        out->moved[out->rows[i].moved]++;
    return XST_OK;
}

enum xst_status xst_bench_compare(const char *before, const char *after, double noise_frac,
                                  struct xst_bench_comparison *comparison_out, struct xst_diag *diag)
{
    const char *const paths[2] = {before, after};
    struct record records[2] = {{0}, {0}};
    struct xst_bench_comparison comparison = {0};
    struct job job = {noise_frac, &comparison, NULL, diag};
    if (!(noise_frac >= 0 && noise_frac <= 10))
        return xsti_fail(diag, XST_ERR_RANGE, "a noise fraction is %g, outside 0..10", noise_frac);
    const enum xst_status status = compare(&job, paths, records);
    free(job.sides);
    json_decref(records[0].root);
    json_decref(records[1].root);
    if (status == XST_OK)
        *comparison_out = comparison;
    else
        xst_bench_comparison_free(&comparison);
    return status;
}

void xst_bench_comparison_free(struct xst_bench_comparison *comparison)
{
    if (!comparison)
        return;
    free(comparison->rows);
    *comparison = (struct xst_bench_comparison){0};
}
