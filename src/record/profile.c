/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles in memory: check, look up a path, name it, free.
 */
#include <xstage/profile.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "record/profile_check.h"
#include "record/profile_fields.h"
#include "record/sample_words.h"

static int same_path(const struct xst_path *a, const struct xst_path *b)
{
    return a->target == b->target && a->direction == b->direction && a->method == b->method &&
           a->threads == b->threads && a->piece_bytes == b->piece_bytes && a->pitch_bytes == b->pitch_bytes;
}

static enum xst_status check_measure(const char *name, const char *path, const char *key,
                                     const struct xst_measure *measure, double low, double high, struct xst_diag *diag)
{
    if (!measure->known)
        return XST_OK;
    if (measure->low < low || measure->high > high)
        return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s is %g (%g..%g), outside %g..%g", name, path, key,
                         measure->value, measure->low, measure->high, low, high);
    if (isfinite(measure->value) && measure->low <= measure->value && measure->value <= measure->high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s is %g, outside its own interval %g..%g", name, path, key,
                     measure->value, measure->low, measure->high);
}

static enum xst_status check_floor(const char *name, const char *path, const char *key,
                                   const struct xst_floor_table *table, struct xst_diag *diag)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!(table->points[i].us >= 0 && table->points[i].us <= XSTI_MOST_US))
            return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s[%zu].us is %g, outside 0..%g", name, path, key, i,
                             table->points[i].us, XSTI_MOST_US);
    }
    for (size_t i = 1; i < table->count; i++) {
        const struct xst_floor_point *const a = &table->points[i - 1], *const b = &table->points[i];
        const int sorted = a->producers < b->producers ||
                           (a->producers == b->producers && a->bytes_per_producer < b->bytes_per_producer);
        if (!sorted)
            return xsti_fail(diag, XST_ERR_RANGE,
                             "%s: path %s: %s[%zu] (%lld producers, %lld bytes) is not above the point before it", name,
                             path, key, i, (long long)b->producers, (long long)b->bytes_per_producer);
        if (a->producers == b->producers && b->us < a->us)
            return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s[%zu].us is %g, below %g for fewer bytes", name, path,
                             key, i, b->us, a->us);
    }
    return XST_OK;
}

static enum xst_status check_capacity(const char *name, const char *path, const char *key,
                                      const struct xst_capacity_table *table, struct xst_diag *diag)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        if (i > 0 && point->producers <= table->points[i - 1].producers)
            return xsti_fail(diag, XST_ERR_RANGE,
                             "%s: path %s: %s[%zu].producers is %lld, not above the point before it", name, path, key,
                             i, (long long)point->producers);
        if (!(point->low >= 0 && point->high <= XSTI_MOST_BYTES))
            return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s[%zu].bytes is %g (%g..%g), outside 0..%g", name,
                             path, key, i, point->bytes, point->low, point->high, XSTI_MOST_BYTES);
        if (!isfinite(point->bytes) || !(point->low <= point->bytes && point->bytes <= point->high))
            return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s: %s[%zu].bytes is %g, outside its own interval %g..%g",
                             name, path, key, i, point->bytes, point->low, point->high);
    }
    return XST_OK;
}

static enum xst_status check_path(const char *name, const struct xst_path *path, struct xst_diag *diag)
{
    char text[64];
    xst_path_text(path, text, sizeof text);
    if ((path->piece_bytes == 0) != (path->pitch_bytes == 0) || path->pitch_bytes < path->piece_bytes)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "%s: path %s: pitch_bytes is %lld, at least piece_bytes (%lld) is needed, or both 0", name,
                         text, (long long)path->pitch_bytes, (long long)path->piece_bytes);
    XSTI_TRY(check_measure(name, text, "drain_bytes_per_us", &path->drain_bytes_per_us, XSTI_LEAST_DRAIN,
                           XSTI_MOST_BYTES, diag));
#define X(field, low, high) XSTI_TRY(check_measure(name, text, #field, &path->field, low, high, diag));
    XSTI_PATH_SCALARS(X)
#undef X
    XSTI_TRY(check_floor(name, text, "issue_floor", &path->issue_floor, diag));
    XSTI_TRY(check_floor(name, text, "release_floor", &path->release_floor, diag));
    XSTI_TRY(check_capacity(name, text, "capacity", &path->capacity, diag));
    XSTI_TRY(check_capacity(name, text, "release_capacity", &path->release_capacity, diag));
    const struct xst_valid *const valid = &path->valid;
    if (valid->producers_low > valid->producers_high || valid->bytes_low > valid->bytes_high)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "%s: path %s: valid range is upside down (producers %lld..%lld, bytes %lld..%lld)", name, text,
                         (long long)valid->producers_low, (long long)valid->producers_high, (long long)valid->bytes_low,
                         (long long)valid->bytes_high);
    return XST_OK;
}

enum xst_status xsti_profile_check(const char *name, const struct xst_profile *profile, struct xst_diag *diag)
{
    for (size_t i = 0; i < profile->path_count; i++) {
        XSTI_TRY(check_path(name, &profile->paths[i], diag));
        for (size_t j = 0; j < i; j++) {
            if (same_path(&profile->paths[i], &profile->paths[j])) {
                char text[64];
                return xsti_fail(diag, XST_ERR_RANGE, "%s: path %s stands twice, as paths[%zu] and paths[%zu]", name,
                                 xst_path_text(&profile->paths[i], text, sizeof text), j, i);
            }
        }
    }
    return XST_OK;
}

enum { DEFAULT_THREADS = 256 };

const struct xst_path *xst_profile_path(const struct xst_profile *profile, const struct xst_path_key *key)
{
    const struct xst_path *only = NULL;
    int alike = 0;
    for (size_t i = 0; i < profile->path_count; i++) {
        const struct xst_path *const path = &profile->paths[i];
        if (path->target != key->target || path->direction != key->direction || path->method != key->method ||
            path->piece_bytes != key->piece_bytes || path->pitch_bytes != key->pitch_bytes)
            continue;
        if (path->threads == (key->threads ? key->threads : DEFAULT_THREADS))
            return path;
        only = path;
        alike++;
    }
    return key->threads == 0 && alike == 1 ? only : NULL;
}

const char *xst_path_text(const struct xst_path *path, char *text, size_t size)
{
    char target[32], threads[32] = "", pattern[64] = "";
    xsti_target_word(path->target, path->direction, target, sizeof target);
    if (path->threads != DEFAULT_THREADS)
        snprintf(threads, sizeof threads, "/%lldthr", (long long)path->threads);
    if (path->piece_bytes)
        snprintf(pattern, sizeof pattern, "/%lldB@%lld", (long long)path->piece_bytes, (long long)path->pitch_bytes);
    snprintf(text, size, "%s/%s%s%s", target, xst_method_text(path->method), threads, pattern);
    return text;
}

void xst_profile_free(struct xst_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->path_count; i++) {
        free(profile->paths[i].issue_floor.points);
        free(profile->paths[i].capacity.points);
        free(profile->paths[i].release_floor.points);
        free(profile->paths[i].release_capacity.points);
        free(profile->paths[i].drain_by_producers.points);
    }
    free(profile->paths);
    memset(profile, 0, sizeof *profile);
}
