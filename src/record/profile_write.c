/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile to JSON. Numbers carry nine significant digits, in memory too (xst_profile_seal), so that a profile read back equals
 * the one written, and the same content gives the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <xstage/profile.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "record/profile_check.h"
#include "record/profile_fields.h"

static json_t *number_or_null(const struct xst_measure *measure)
{
    return measure->known ? json_real(measure->value) : json_null();
}

/* A count stays a count: no ".0" behind what is whole. */
static json_t *fact_or_null(const struct xst_measure *measure)
{
    const double value = measure->value;
    if (measure->known && value == (double)(json_int_t)value)
        return json_integer((json_int_t)value);
    return number_or_null(measure);
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

static json_t *interval_json(const struct xst_measure *measure, int with_value)
{
    json_t *const object = json_object();
    if (with_value)
        json_object_set_new(object, "value", json_real(measure->value));
    json_object_set_new(object, "low", json_real(measure->low));
    json_object_set_new(object, "high", json_real(measure->high));
    json_object_set_new(object, "n", json_integer(measure->n));
    return object;
}

static json_t *machine_json(const struct xst_machine_facts *facts)
{
    json_t *const object = json_object();
#define X(field) json_object_set_new(object, #field, text_or_null(facts->field));
    XSTI_FACT_TEXTS(X)
#undef X
#define X(field, low, high) json_object_set_new(object, #field, fact_or_null(&facts->field));
    XSTI_FACT_NUMBERS(X)
#undef X
    return object;
}

static json_t *floor_json(const struct xst_floor_table *table)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_floor_point *const point = &table->points[i];
        json_array_append_new(array, json_pack("{s:I, s:I, s:f, s:s}", "producers", (json_int_t)point->producers,
                                               "bytes_per_producer", (json_int_t)point->bytes_per_producer, "us",
                                               point->us, "source", xst_floor_source_text(point->source)));
    }
    return array;
}

static json_t *capacity_json(const struct xst_capacity_table *table)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        json_array_append_new(array, json_pack("{s:I, s:f, s:f, s:f, s:I}", "producers", (json_int_t)point->producers,
                                               "bytes", point->bytes, "low", point->low, "high", point->high, "n",
                                               (json_int_t)point->n));
    }
    return array;
}

static json_t *drain_table_json(const struct xst_drain_table *table)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_append_new(array, json_pack("{s:I, s:f, s:I}", "producers", (json_int_t)table->points[i].producers,
                                               "bytes_per_us", table->points[i].bytes_per_us, "n",
                                               (json_int_t)table->points[i].n));
    return array;
}

static void set_scalars(json_t *object, const struct xst_path *path)
{
    json_t *const intervals = json_object();
#define X(field, low_bound, high_bound)                                                                                \
    json_object_set_new(object, #field, number_or_null(&path->field));                                                 \
    if (path->field.known && path->field.n > 0)                                                                        \
        json_object_set_new(intervals, #field, interval_json(&path->field, 0));
    XSTI_PATH_FIRST_SCALARS(X)
#undef X
#define X(field, low_bound, high_bound)                                                                                \
    if (path->field.known) {                                                                                           \
        json_object_set_new(object, #field, json_real(path->field.value));                                             \
        json_object_set_new(intervals, #field, interval_json(&path->field, 0));                                        \
    }
    XSTI_PATH_LATER_SCALARS(X)
#undef X
    json_object_set_new(object, "intervals", intervals);
}

static json_t *residuals_json(const struct xst_path *path)
{
    json_t *const object = json_object();
#define X(key, field)                                                                                                  \
    json_object_set_new(object, #key,                                                                                  \
                        path->field.known                                                                              \
                            ? json_pack("{s:f, s:f, s:I}", "median_abs_rel_err", path->field.value, "max_abs_rel_err", \
                                        path->field.high, "n", (json_int_t)path->field.n)                              \
                            : json_null());
    XSTI_PATH_RESIDUALS(X)
#undef X
    return object;
}

static json_t *path_json(const struct xst_path *path)
{
    const struct xst_valid *const valid = &path->valid;
    json_t *const object = json_object();
    json_object_set_new(object, "target", json_string(xst_target_text(path->target)));
    json_object_set_new(object, "direction", json_string(xst_direction_text(path->direction)));
    json_object_set_new(object, "method", json_string(xst_method_text(path->method)));
    json_object_set_new(object, "threads", json_integer(path->threads));
    json_object_set_new(object, "piece_bytes", json_integer(path->piece_bytes));
    json_object_set_new(object, "pitch_bytes", json_integer(path->pitch_bytes));
    json_object_set_new(object, "drain_bytes_per_us",
                        path->drain_bytes_per_us.known ? interval_json(&path->drain_bytes_per_us, 1) : json_null());
    set_scalars(object, path);
    json_object_set_new(object, "issue_floor", floor_json(&path->issue_floor));
    json_object_set_new(object, "capacity", capacity_json(&path->capacity));
    json_object_set_new(object, "release_floor", floor_json(&path->release_floor));
    json_object_set_new(object, "release_capacity", capacity_json(&path->release_capacity));
    json_object_set_new(object, "drain_by_producers", drain_table_json(&path->drain_by_producers));
    json_object_set_new(object, "valid",
                        json_pack("{s:[I,I], s:[I,I]}", "producers", (json_int_t)valid->producers_low,
                                  (json_int_t)valid->producers_high, "bytes_per_producer", (json_int_t)valid->bytes_low,
                                  (json_int_t)valid->bytes_high));
    json_object_set_new(object, "rows_used", json_integer(path->rows_used));
    json_object_set_new(object, "rows_excluded", json_integer(path->rows_excluded));
    json_object_set_new(object, "residuals", residuals_json(path));
    return object;
}

static json_t *profile_json(const struct xst_profile *profile, int with_id)
{
    json_t *const root = json_object();
    json_object_set_new(root, "schema", json_sprintf("%s/%d", XSTI_PROFILE_SCHEMA, XSTI_PROFILE_MAJOR));
    if (with_id)
        json_object_set_new(root, "id", json_string(profile->id));
    json_object_set_new(root, "name", json_string(profile->name));
    json_object_set_new(root, "machine", machine_json(&profile->machine));
    json_t *const paths = json_array();
    for (size_t i = 0; i < profile->path_count; i++)
        json_array_append_new(paths, path_json(&profile->paths[i]));
    json_object_set_new(root, "paths", paths);
    return root;
}

static char *dump(const struct xst_profile *profile, int with_id)
{
    json_t *const root = profile_json(profile, with_id);
    char *const text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII);
    json_decref(root);
    return text;
}

static void round_measure(struct xst_measure *measure)
{
    measure->value = xsti_round9(measure->value);
    measure->low = xsti_round9(measure->low);
    measure->high = xsti_round9(measure->high);
}

static void round_path(struct xst_path *path)
{
    round_measure(&path->drain_bytes_per_us);
#define X(field, low, high) round_measure(&path->field);
    XSTI_PATH_SCALARS(X)
#undef X
#define X(key, field) round_measure(&path->field);
    XSTI_PATH_RESIDUALS(X)
#undef X
    struct xst_floor_table *const floors[] = {&path->issue_floor, &path->release_floor};
    struct xst_capacity_table *const capacities[] = {&path->capacity, &path->release_capacity};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < floors[t]->count; i++)
            floors[t]->points[i].us = xsti_round9(floors[t]->points[i].us);
        for (size_t i = 0; i < capacities[t]->count; i++) {
            struct xst_capacity_point *const point = &capacities[t]->points[i];
            point->bytes = xsti_round9(point->bytes);
            point->low = xsti_round9(point->low);
            point->high = xsti_round9(point->high);
        }
    }
    for (size_t i = 0; i < path->drain_by_producers.count; i++)
        path->drain_by_producers.points[i].bytes_per_us = xsti_round9(path->drain_by_producers.points[i].bytes_per_us);
}

enum xst_status xsti_profile_id(const struct xst_profile *profile, char id_out[XST_ID_BYTES], struct xst_diag *diag)
{
    char *const text = dump(profile, 0);
    if (!text)
        return xsti_fail_memory(diag);
    snprintf(id_out, XST_ID_BYTES, "%016llx", (unsigned long long)XXH3_64bits(text, strlen(text)));
    free(text);
    return XST_OK;
}

/* Text that is not UTF-8 cannot be written as JSON. */
static enum xst_status check_text(const char *key, const char *text, struct xst_diag *diag)
{
    json_t *const string = json_string(text);
    json_decref(string);
    return string ? XST_OK : xsti_fail(diag, XST_ERR_RANGE, "profile: %s is not UTF-8 text", key);
}

enum xst_status xst_profile_seal(struct xst_profile *profile, struct xst_diag *diag)
{
    XSTI_TRY(check_text("name", profile->name, diag));
#define X(field) XSTI_TRY(check_text("machine." #field, profile->machine.field, diag));
    XSTI_FACT_TEXTS(X)
#undef X
#define X(field, low, high) round_measure(&profile->machine.field);
    XSTI_FACT_NUMBERS(X)
#undef X
    for (size_t i = 0; i < profile->path_count; i++)
        round_path(&profile->paths[i]);
    XSTI_TRY(xsti_profile_check("profile", profile, diag));
    return xsti_profile_id(profile, profile->id, diag);
}

enum xst_status xst_profile_print(const struct xst_profile *profile, char **text_out, struct xst_diag *diag)
{
    char *const text = dump(profile, 1);
    const size_t length = text ? strlen(text) : 0;
    char *const line = text ? realloc(text, length + 2) : NULL;
    if (!line) {
        free(text);
        return xsti_fail_memory(diag);
    }
    memcpy(line + length, "\n", 2);
    *text_out = line;
    return XST_OK;
}

enum xst_status xst_profile_write(const char *path, const struct xst_profile *profile, int force, struct xst_diag *diag)
{
    char *text = NULL;
    XSTI_TRY(xst_profile_print(profile, &text, diag));
    const enum xst_status status = xsti_file_write(path, text, strlen(text), force, diag);
    free(text);
    return status;
}
