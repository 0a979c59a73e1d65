/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON to profile, checked at this door so that everything behind it may trust a const pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/profile.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "record/facts.h"
#include "record/profile_check.h"
#include "record/profile_fields.h"
#include "record/profile_keys.h"

enum { MOST_POINTS = 100000, WHERE_BYTES = 256 };
static const int64_t most_count = INT64_C(1) << 40;

static void read_word(struct xsti_json *reader, const json_t *object, const char *where, const char *key, char word[16])
{
    word[0] = '\0';
    xsti_json_text(reader, object, where, key, 1, word, 16);
}

static void read_path_key(struct xsti_json *reader, const json_t *object, const char *where, struct xst_path *path)
{
    char word[16];
    read_word(reader, object, where, "target", word);
    if (xst_target_parse(word, &path->target) != 0)
        xsti_json_bad_word(reader, where, "target", word, "peer, host, local");
    read_word(reader, object, where, "direction", word);
    if (xst_direction_parse(word, &path->direction) != 0)
        xsti_json_bad_word(reader, where, "direction", word, "one, both");
    read_word(reader, object, where, "method", word);
    if (xst_method_parse(word, &path->method) != 0)
        xsti_json_bad_word(reader, where, "method", word, "st16, st4, bulk");
    xsti_json_int(reader, object, where, "threads", 1, 1024, &path->threads);
    xsti_json_int(reader, object, where, "piece_bytes", 0, most_count, &path->piece_bytes);
    xsti_json_int(reader, object, where, "pitch_bytes", 0, most_count, &path->pitch_bytes);
}

static void read_interval(struct xsti_json *reader, const json_t *object, const char *where, double low, double high,
                          struct xst_measure *measure)
{
    xsti_json_real(reader, object, where, "low", low, high, &measure->low);
    xsti_json_real(reader, object, where, "high", low, high, &measure->high);
    xsti_json_int(reader, object, where, "n", 0, most_count, &measure->n);
}

static void read_drain(struct xsti_json *reader, const json_t *object, const char *where, struct xst_path *path)
{
    const json_t *const value = json_object_get(object, "drain_bytes_per_us");
    if (json_is_null(value))
        return;
    char at[WHERE_BYTES];
    snprintf(at, sizeof at, "%.100sdrain_bytes_per_us.", where);
    const json_t *const drain = xsti_json_object(reader, object, where, "drain_bytes_per_us");
    if (!drain)
        return;
    xsti_json_real(reader, drain, at, "value", XSTI_LEAST_DRAIN, XSTI_MOST_BYTES, &path->drain_bytes_per_us.value);
    read_interval(reader, drain, at, XSTI_LEAST_DRAIN, XSTI_MOST_BYTES, &path->drain_bytes_per_us);
    path->drain_bytes_per_us.known = 1;
}

static void read_scalar(struct xsti_json *reader, const json_t *object, const json_t *intervals, const char *where,
                        const char *key, double low, double high, struct xst_measure *measure)
{
    double value = 0;
    if (!xsti_json_optional_real(reader, object, where, key, low, high, &value))
        return;
    *measure = (struct xst_measure){value, value, value, 0, 1};
    const json_t *const interval = intervals ? json_object_get(intervals, key) : NULL;
    if (!json_is_object(interval))
        return;
    char at[WHERE_BYTES];
    snprintf(at, sizeof at, "%.100sintervals.%s.", where, key);
    read_interval(reader, interval, at, low, high, measure);
}

/* Allocates `*points_out` for an optional array of objects; the length is 0 when the key is absent. */
static const json_t *read_array(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                                size_t element_size, void **points_out)
{
    const json_t *const value = json_object_get(object, key);
    if (reader->status != XST_OK || !value || json_is_null(value))
        return NULL;
    const json_t *const array = xsti_json_array(reader, object, where, key);
    const size_t count = json_array_size(array);
    if (count == 0)
        return NULL;
    if (count > MOST_POINTS) {
        reader->status = xsti_fail(reader->diag, XST_ERR_RANGE, "%s: key \"%s%s\" has %zu points, the most is %d",
                                   reader->name, where, key, count, MOST_POINTS);
        return NULL;
    }
    *points_out = calloc(count, element_size);
    if (!*points_out)
        reader->status = xsti_fail_memory(reader->diag);
    return *points_out ? array : NULL;
}

static const json_t *element(struct xsti_json *reader, const json_t *array, size_t i, const char *where,
                             const char *key, char at[WHERE_BYTES])
{
    snprintf(at, WHERE_BYTES, "%.100s%s[%zu].", where, key, i);
    const json_t *const value = json_array_get(array, i);
    if (reader->status == XST_OK && !json_is_object(value))
        reader->status = xsti_fail(reader->diag, XST_ERR_PARSE, "%s: key \"%s%s[%zu]\" is not an object", reader->name,
                                   where, key, i);
    return reader->status == XST_OK ? value : NULL;
}

static void read_floor(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                       struct xst_floor_table *table)
{
    const json_t *const array = read_array(reader, object, where, key, sizeof *table->points, (void **)&table->points);
    char at[WHERE_BYTES], word[16];
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        const json_t *const item = element(reader, array, i, where, key, at);
        if (!item)
            return;
        struct xst_floor_point *const point = &table->points[table->count++];
        xsti_json_int(reader, item, at, "producers", 1, most_count, &point->producers);
        xsti_json_int(reader, item, at, "bytes_per_producer", 1, most_count, &point->bytes_per_producer);
        xsti_json_real(reader, item, at, "us", 0, XSTI_MOST_US, &point->us);
        read_word(reader, item, at, "source", word);
        if (xst_floor_source_parse(word, &point->source) != 0)
            xsti_json_bad_word(reader, at, "source", word, "plateau, isolated, zero_gap, given");
    }
}

static void read_capacity(struct xsti_json *reader, const json_t *object, const char *where, const char *key,
                          struct xst_capacity_table *table)
{
    const json_t *const array = read_array(reader, object, where, key, sizeof *table->points, (void **)&table->points);
    char at[WHERE_BYTES];
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        const json_t *const item = element(reader, array, i, where, key, at);
        if (!item)
            return;
        struct xst_capacity_point *const point = &table->points[table->count++];
        xsti_json_int(reader, item, at, "producers", 1, most_count, &point->producers);
        xsti_json_real(reader, item, at, "bytes", 0, XSTI_MOST_BYTES, &point->bytes);
        point->low = point->high = point->bytes;
        xsti_json_optional_real(reader, item, at, "low", 0, XSTI_MOST_BYTES, &point->low);
        xsti_json_optional_real(reader, item, at, "high", 0, XSTI_MOST_BYTES, &point->high);
        xsti_json_optional_int(reader, item, at, "n", 0, most_count, &point->n);
    }
}

static void read_drain_table(struct xsti_json *reader, const json_t *object, const char *where,
                             struct xst_drain_table *table)
{
    const json_t *const array =
        read_array(reader, object, where, "drain_by_producers", sizeof *table->points, (void **)&table->points);
    char at[WHERE_BYTES];
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        const json_t *const item = element(reader, array, i, where, "drain_by_producers", at);
        if (!item)
            return;
        struct xst_drain_point *const point = &table->points[table->count++];
        xsti_json_int(reader, item, at, "producers", 1, most_count, &point->producers);
        xsti_json_real(reader, item, at, "bytes_per_us", 0, XSTI_MOST_BYTES, &point->bytes_per_us);
        xsti_json_int(reader, item, at, "n", 0, most_count, &point->n);
    }
}

static void read_range(struct xsti_json *reader, const json_t *object, const char *where, const char *key, int64_t *low,
                       int64_t *high)
{
    const json_t *const array = xsti_json_array(reader, object, where, key);
    if (!array)
        return;
    const json_t *const first = json_array_get(array, 0), *const second = json_array_get(array, 1);
    if (json_array_size(array) != 2 || !json_is_integer(first) || !json_is_integer(second)) {
        reader->status = xsti_fail(reader->diag, XST_ERR_PARSE, "%s: key \"%s%s\" must be [low, high], two integers",
                                   reader->name, where, key);
        return;
    }
    *low = json_integer_value(first);
    *high = json_integer_value(second);
    if (*low < 1 || *high > most_count)
        reader->status = xsti_fail(reader->diag, XST_ERR_RANGE, "%s: key \"%s%s\" is [%lld, %lld], outside 1..%lld",
                                   reader->name, where, key, (long long)*low, (long long)*high, (long long)most_count);
}

static void read_residuals(struct xsti_json *reader, const json_t *object, const char *where, struct xst_path *path)
{
    const json_t *const residuals = json_object_get(object, "residuals");
    char at[WHERE_BYTES];
    snprintf(at, sizeof at, "%.100sresiduals.", where);
    if (!json_is_object(residuals))
        return;
#define X(key, field)                                                                                                  \
    if (json_is_object(json_object_get(residuals, #key))) {                                                            \
        const json_t *const residual = json_object_get(residuals, #key);                                               \
        xsti_json_real(reader, residual, at, "median_abs_rel_err", 0, 1e18, &path->field.value);                       \
        xsti_json_real(reader, residual, at, "max_abs_rel_err", 0, 1e18, &path->field.high);                           \
        xsti_json_int(reader, residual, at, "n", 0, most_count, &path->field.n);                                       \
        path->field.known = 1;                                                                                         \
    }
    XSTI_PATH_RESIDUALS(X)
#undef X
}

static void read_path(struct xsti_json *reader, const json_t *object, const char *where, struct xst_path *path)
{
    char at[WHERE_BYTES];
    const json_t *const intervals = json_object_get(object, "intervals");
    read_path_key(reader, object, where, path);
    read_drain(reader, object, where, path);
#define X(field, low, high) read_scalar(reader, object, intervals, where, #field, low, high, &path->field);
    XSTI_PATH_SCALARS(X)
#undef X
    read_floor(reader, object, where, "issue_floor", &path->issue_floor);
    read_floor(reader, object, where, "release_floor", &path->release_floor);
    read_capacity(reader, object, where, "capacity", &path->capacity);
    read_capacity(reader, object, where, "release_capacity", &path->release_capacity);
    read_drain_table(reader, object, where, &path->drain_by_producers);
    xsti_json_optional_int(reader, object, where, "rows_used", 0, most_count, &path->rows_used);
    xsti_json_optional_int(reader, object, where, "rows_excluded", 0, most_count, &path->rows_excluded);
    read_residuals(reader, object, where, path);
    const json_t *const valid = xsti_json_object(reader, object, where, "valid");
    if (!valid)
        return;
    snprintf(at, sizeof at, "%.100svalid.", where);
    read_range(reader, valid, at, "producers", &path->valid.producers_low, &path->valid.producers_high);
    read_range(reader, valid, at, "bytes_per_producer", &path->valid.bytes_low, &path->valid.bytes_high);
}

static void read_paths(struct xsti_json *reader, const json_t *root, struct xst_profile *profile)
{
    const json_t *const paths = read_array(reader, root, "", "paths", sizeof *profile->paths, (void **)&profile->paths);
    char at[WHERE_BYTES];
    for (size_t i = 0; paths && i < json_array_size(paths) && reader->status == XST_OK; i++) {
        const json_t *const object = element(reader, paths, i, "", "paths", at);
        if (!object)
            return;
        read_path(reader, object, at, &profile->paths[profile->path_count++]);
    }
}

static enum xst_status read_root(const char *name, const json_t *root, struct xst_profile *profile,
                                 struct xst_diag *warning, struct xst_diag *diag)
{
    struct xsti_json reader = {name, XST_OK, diag};
    char id[XST_ID_BYTES] = "";
    XSTI_TRY(xsti_json_schema(name, root, XSTI_PROFILE_SCHEMA, XSTI_PROFILE_MAJOR, diag));
    xsti_json_text(&reader, root, "", "id", 1, id, sizeof id);
    xsti_json_text(&reader, root, "", "name", 1, profile->name, sizeof profile->name);
    const json_t *const machine = xsti_json_object(&reader, root, "", "machine");
    if (machine)
        xsti_facts_from_json(&reader, machine, "machine.", &profile->machine);
    read_paths(&reader, root, profile);
    XSTI_TRY(reader.status);
    XSTI_TRY(xsti_profile_check(name, profile, diag));
    xsti_profile_warn_unknown(name, root, warning);
    char schema[32];
    snprintf(schema, sizeof schema, "%s/%d", XSTI_PROFILE_SCHEMA, XSTI_PROFILE_MAJOR);
    const int as_written = !warning->text[0] && strcmp(json_string_value(json_object_get(root, "schema")), schema) == 0;
    XSTI_TRY(xst_profile_seal(profile, diag));
    /* With keys of a newer minor version in it, the content hashed by the writer is not the content read here. */
    if (as_written && strcmp(profile->id, id) != 0)
        return xsti_fail(
            diag, XST_ERR_PARSE,
            "%s: id is \"%s\" but the content hashes to \"%s\"; the file was edited by hand: set id to that, or fit again",
            name, id, profile->id);
    memcpy(profile->id, id, sizeof id);
    return XST_OK;
}

enum xst_status xst_profile_parse(const char *name, const char *text, size_t text_bytes,
                                  struct xst_profile *profile_out, struct xst_diag *warning_out, struct xst_diag *diag)
{
    json_t *root = NULL;
    struct xst_diag warning = {XST_OK, 0, ""};
    struct xst_profile profile = {0};
    XSTI_TRY(xsti_json_parse(name, text, text_bytes, &root, diag));
    const enum xst_status status = read_root(name, root, &profile, &warning, diag);
    json_decref(root);
    if (status != XST_OK) {
        xst_profile_free(&profile);
        return status;
    }
    *profile_out = profile;
    if (warning_out)
        *warning_out = warning;
    return XST_OK;
}

enum xst_status xst_profile_read(const char *path, struct xst_profile *profile_out, struct xst_diag *warning_out,
                                 struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    XSTI_TRY(xsti_file_read(path, &text, &bytes, diag));
    const enum xst_status status = xst_profile_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes,
                                                     profile_out, warning_out, diag);
    free(text);
    return status;
}
