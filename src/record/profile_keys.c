/* SPDX-License-Identifier: Apache-2.0
 *
 * Which key of a profile document this version would not read, wherever it stands: a newer minor version may have added it.
 */
#include "record/profile_keys.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/json.h"
#include "record/profile_fields.h"

#define COUNT(array)    (sizeof(array) / sizeof *(array))
#define KEY(field, ...) #field,

enum { WHERE_BYTES = 128 };

static const char *const root_keys[] = {"schema", "id", "name", "machine", "paths"};
static const char *const machine_keys[] = {XSTI_FACT_TEXTS(KEY) XSTI_FACT_NUMBERS(KEY)};
static const char *const path_keys[] = {"target",
                                        "direction",
                                        "method",
                                        "threads",
                                        "piece_bytes",
                                        "pitch_bytes",
                                        "drain_bytes_per_us",
                                        "issue_floor",
                                        "capacity",
                                        "release_floor",
                                        "valid",
                                        "rows_used",
                                        "rows_excluded",
                                        "residuals",
                                        "intervals",
                                        "release_capacity",
                                        "drain_by_producers",
                                        XSTI_PATH_SCALARS(KEY)};
static const char *const scalar_keys[] = {XSTI_PATH_SCALARS(KEY)};
static const char *const residual_keys[] = {XSTI_PATH_RESIDUALS(KEY)};
static const char *const measure_keys[] = {"value", "low", "high", "n"};
static const char *const floor_keys[] = {"producers", "bytes_per_producer", "us", "source"};
static const char *const capacity_keys[] = {"producers", "bytes", "low", "high", "n"};
static const char *const drain_keys[] = {"producers", "bytes_per_us", "n"};
static const char *const valid_keys[] = {"producers", "bytes_per_producer"};
static const char *const error_keys[] = {"median_abs_rel_err", "max_abs_rel_err", "n"};

struct search {
    const char *name;
    struct xst_diag *warning;
};

static void check_object(const struct search *search, const json_t *object, const char *where, const char *const *keys,
                         size_t count)
{
    const char *const key = json_is_object(object) ? xsti_json_unknown_key(object, keys, count) : NULL;
    if (key && !search->warning->text[0])
        xsti_fail(search->warning, XST_OK, "%s: key \"%s%.80s\" is not known to this version and is ignored",
                  search->name, where, key);
}

static void check_points(const struct search *search, const json_t *object, const char *where, const char *key,
                         const char *const *keys, size_t count)
{
    const json_t *const array = json_object_get(object, key);
    for (size_t i = 0; i < json_array_size(array); i++) {
        char at[WHERE_BYTES];
        snprintf(at, sizeof at, "%s%s[%zu].", where, key, i);
        check_object(search, json_array_get(array, i), at, keys, count);
    }
}

/* An object of objects: "intervals", "residuals". */
static void check_nest(const struct search *search, const json_t *object, const char *where, const char *key,
                       const char *const *outer, size_t outer_count, const char *const *inner, size_t inner_count)
{
    char at[WHERE_BYTES];
    const json_t *const nest = json_object_get(object, key);
    snprintf(at, sizeof at, "%s%s.", where, key);
    check_object(search, nest, at, outer, outer_count);
    for (size_t i = 0; i < outer_count; i++) {
        snprintf(at, sizeof at, "%s%s.%s.", where, key, outer[i]);
        check_object(search, json_object_get(nest, outer[i]), at, inner, inner_count);
    }
}

static void check_path(const struct search *search, const json_t *path, const char *where)
{
    char at[WHERE_BYTES];
    check_object(search, path, where, path_keys, COUNT(path_keys));
    snprintf(at, sizeof at, "%sdrain_bytes_per_us.", where);
    check_object(search, json_object_get(path, "drain_bytes_per_us"), at, measure_keys, COUNT(measure_keys));
    check_points(search, path, where, "issue_floor", floor_keys, COUNT(floor_keys));
    check_points(search, path, where, "release_floor", floor_keys, COUNT(floor_keys));
    check_points(search, path, where, "capacity", capacity_keys, COUNT(capacity_keys));
    check_points(search, path, where, "release_capacity", capacity_keys, COUNT(capacity_keys));
    check_points(search, path, where, "drain_by_producers", drain_keys, COUNT(drain_keys));
    check_nest(search, path, where, "intervals", scalar_keys, COUNT(scalar_keys), measure_keys + 1,
               COUNT(measure_keys) - 1);
    check_nest(search, path, where, "residuals", residual_keys, COUNT(residual_keys), error_keys, COUNT(error_keys));
    snprintf(at, sizeof at, "%svalid.", where);
    check_object(search, json_object_get(path, "valid"), at, valid_keys, COUNT(valid_keys));
}

void xsti_profile_warn_unknown(const char *name, const json_t *root, struct xst_diag *warning)
{
    const struct search search = {name, warning};
    check_object(&search, root, "", root_keys, COUNT(root_keys));
    check_object(&search, json_object_get(root, "machine"), "machine.", machine_keys, COUNT(machine_keys));
    const json_t *const paths = json_object_get(root, "paths");
    for (size_t i = 0; i < json_array_size(paths); i++) {
        char at[WHERE_BYTES];
        snprintf(at, sizeof at, "paths[%zu].", i);
        if (json_is_object(json_array_get(paths, i)))
            check_path(&search, json_array_get(paths, i), at);
    }
}
