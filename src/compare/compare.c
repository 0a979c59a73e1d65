/* SPDX-License-Identifier: Apache-2.0
 *
 * Two profiles side by side, parameter by parameter.
 */
#include <xstage/compare.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "compare/judge.h"

struct job {
    const struct xst_compare_options *options;
    struct xst_comparison *out;
    size_t room;
    struct xst_diag *diag;
};

/* The noise and the direction of a parameter, by its name in the list. */
static double noise_of(const struct xst_compare_options *options, const char *parameter, int *worse_out)
{
#define X(name, noise, worse)                                                                                          \
    if (strcmp(parameter, #name) == 0) {                                                                               \
        *worse_out = worse;                                                                                            \
        return options->noise_##noise##_frac;                                                                          \
    }
    XST_COMPARED_MAP(X)
#undef X
    *worse_out = XSTI_HIGHER_IS_WORSE;
    return 0;
}

static enum xst_status add(struct job *job, const struct xst_path *path, const char *parameter, int64_t producers,
                           int64_t bytes_per_producer, const struct xsti_side *before, const struct xsti_side *after)
{
    struct xst_comparison *const out = job->out;
    if (!before->known && !after->known)
        return XST_OK;
    if (out->row_count == job->room) {
        const size_t room = job->room ? 2 * job->room : 64;
        struct xst_comparison_row *const larger = realloc(out->rows, room * sizeof *larger);
        if (!larger)
            return xsti_fail_memory(job->diag);
        out->rows = larger;
        job->room = room;
    }
    struct xst_comparison_row *const row = &out->rows[out->row_count++];
    *row = (struct xst_comparison_row){.path = {path->target, path->direction, path->method, path->threads,
                                                path->piece_bytes, path->pitch_bytes},
                                       .parameter = parameter,
                                       .producers = producers,
                                       .bytes_per_producer = bytes_per_producer,
                                       .before_known = before->known,
                                       .after_known = after->known,
                                       .before = before->value,
                                       .after = after->value};
    int worse;
    const double noise_frac = noise_of(job->options, parameter, &worse);
    row->moved = xsti_moved_between(before, after, noise_frac, worse, &row->change_frac, &row->noise_frac);
    int64_t *const counts[] = {[XST_MOVED_SAME] = &out->same,
                               [XST_MOVED_BETTER] = &out->better,
                               [XST_MOVED_WORSE] = &out->worse,
                               [XST_MOVED_REMOVED] = &out->removed,
                               [XST_MOVED_ADDED] = &out->added};
    ++*counts[row->moved];
    return XST_OK;
}

static struct xsti_side side_of_measure(const struct xst_measure *measure)
{
    const int interval = measure->known && measure->n > 0;
    return (struct xsti_side){measure->known, measure->value, interval ? measure->low : measure->value,
                              interval ? measure->high : measure->value};
}

static struct xsti_side side_of_floor(const struct xst_floor_point *point)
{
    return point ? (struct xsti_side){1, point->us, point->us, point->us} : (struct xsti_side){0, 0, 0, 0};
}

static struct xsti_side side_of_capacity(const struct xst_capacity_point *point)
{
    return point ? (struct xsti_side){1, point->bytes, point->low, point->high} : (struct xsti_side){0, 0, 0, 0};
}

static int compare_floor_keys(const struct xst_floor_point *a, const struct xst_floor_point *b)
{
    if (a->producers != b->producers)
        return a->producers < b->producers ? -1 : 1;
    return (a->bytes_per_producer > b->bytes_per_producer) - (a->bytes_per_producer < b->bytes_per_producer);
}

/* Both tables are sorted: one walk over the union of their keys. */
static enum xst_status compare_floors(struct job *job, const struct xst_path *path, const char *parameter,
                                      const struct xst_floor_table *before, const struct xst_floor_table *after)
{
    for (size_t i = 0, j = 0; i < before->count || j < after->count;) {
        const struct xst_floor_point *a = i < before->count ? &before->points[i] : NULL;
        const struct xst_floor_point *b = j < after->count ? &after->points[j] : NULL;
        const int order = a && b ? compare_floor_keys(a, b) : a ? -1 : 1;
        a = order <= 0 ? a : NULL;
        b = order >= 0 ? b : NULL;
        const struct xst_floor_point *const key = a ? a : b;
        assert(key);
        const struct xsti_side x = side_of_floor(a), y = side_of_floor(b);
        XSTI_TRY(add(job, path, parameter, key->producers, key->bytes_per_producer, &x, &y));
        i += a != NULL;
        j += b != NULL;
    }
    return XST_OK;
}

static enum xst_status compare_capacities(struct job *job, const struct xst_path *path, const char *parameter,
                                          const struct xst_capacity_table *before,
                                          const struct xst_capacity_table *after)
{
    for (size_t i = 0, j = 0; i < before->count || j < after->count;) {
        const struct xst_capacity_point *a = i < before->count ? &before->points[i] : NULL;
        const struct xst_capacity_point *b = j < after->count ? &after->points[j] : NULL;
        if (a && b && a->producers != b->producers)
            *(a->producers < b->producers ? &b : &a) = NULL;
        const struct xst_capacity_point *const key = a ? a : b;
        assert(key);
        const struct xsti_side x = side_of_capacity(a), y = side_of_capacity(b);
        XSTI_TRY(add(job, path, parameter, key->producers, 0, &x, &y));
        i += a != NULL;
        j += b != NULL;
    }
    return XST_OK;
}

static enum xst_status compare_paths(struct job *job, const struct xst_path *before, const struct xst_path *after)
{
    static const struct xst_path nothing;
    const struct xst_path *const path = before ? before : after;
    assert(path);
    const struct xst_path *const a = before ? before : &nothing, *const b = after ? after : &nothing;
#define SCALAR(field)                                                                                                  \
    do {                                                                                                               \
        const struct xsti_side x = side_of_measure(&a->field), y = side_of_measure(&b->field);                         \
        XSTI_TRY(add(job, path, #field, 0, 0, &x, &y));                                                                \
    } while (0)
    SCALAR(drain_bytes_per_us);
    SCALAR(loop_us);
    SCALAR(fence_us);
    SCALAR(free_capacity_bytes);
#undef SCALAR
    XSTI_TRY(compare_floors(job, path, "issue_floor", &a->issue_floor, &b->issue_floor));
    XSTI_TRY(compare_capacities(job, path, "capacity", &a->capacity, &b->capacity));
    XSTI_TRY(compare_floors(job, path, "release_floor", &a->release_floor, &b->release_floor));
    return compare_capacities(job, path, "release_capacity", &a->release_capacity, &b->release_capacity);
}

/* The path of exactly that key: xst_profile_path may also answer with a default. */
static const struct xst_path *same_path(const struct xst_profile *profile, const struct xst_path *path)
{
    for (size_t i = 0; i < profile->path_count; i++) {
        const struct xst_path *const other = &profile->paths[i];
        if (other->target == path->target && other->direction == path->direction && other->method == path->method &&
            other->threads == path->threads && other->piece_bytes == path->piece_bytes &&
            other->pitch_bytes == path->pitch_bytes)
            return other;
    }
    return NULL;
}

static enum xst_status compare_all(struct job *job, const struct xst_profile *before, const struct xst_profile *after)
{
    for (size_t i = 0; i < before->path_count; i++)
        XSTI_TRY(compare_paths(job, &before->paths[i], same_path(after, &before->paths[i])));
    for (size_t i = 0; i < after->path_count; i++) {
        if (!same_path(before, &after->paths[i]))
            XSTI_TRY(compare_paths(job, NULL, &after->paths[i]));
    }
    return XST_OK;
}

enum xst_status xst_profile_compare(const struct xst_profile *before, const struct xst_profile *after,
                                    const struct xst_compare_options *options, struct xst_comparison *comparison_out,
                                    struct xst_diag *diag)
{
    static const struct xst_compare_options defaults = XST_COMPARE_DEFAULTS;
    const struct xst_compare_options *const used = options ? options : &defaults;
    const double noises[] = {used->noise_drain_frac, used->noise_floor_frac, used->noise_capacity_frac};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        if (!(noises[i] >= 0 && noises[i] <= 10))
            return xsti_fail(diag, XST_ERR_RANGE, "a noise fraction is %g, outside 0..10", noises[i]);
    }
    struct xst_comparison comparison = {0};
    struct job job = {used, &comparison, 0, diag};
    comparison.same_machine = strcmp(before->machine.machine, after->machine.machine) == 0 &&
                              strcmp(before->machine.device, after->machine.device) == 0;
    const enum xst_status status = compare_all(&job, before, after);
    if (status == XST_OK)
        *comparison_out = comparison;
    else
        xst_comparison_free(&comparison);
    return status;
}

void xst_comparison_free(struct xst_comparison *comparison)
{
    if (!comparison)
        return;
    free(comparison->rows);
    memset(comparison, 0, sizeof *comparison);
}
