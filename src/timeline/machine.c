/* SPDX-License-Identifier: Apache-2.0
 *
 * R, T0 and c off a path's tables; and the words of couplings and issuers.
 */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "timeline/engine.h"

#define X(NAME, text, meaning)                                                                                         \
    case XST_COUPLING_##NAME:                                                                                          \
        return text;
const char *xst_coupling_text(enum xst_coupling coupling)
{
    switch (coupling) {
        XST_COUPLING_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *coupling_out = XST_COUPLING_##NAME;                                                                           \
        return 0;                                                                                                      \
    }
int xst_coupling_parse(const char *text, enum xst_coupling *coupling_out)
{
    XST_COUPLING_MAP(X)
    return -1;
}
#undef X

#define X(NAME, text, meaning)                                                                                         \
    case XST_ISSUER_##NAME:                                                                                            \
        return text;
const char *xst_issuer_text(enum xst_issuer issuer)
{
    switch (issuer) {
        XST_ISSUER_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *issuer_out = XST_ISSUER_##NAME;                                                                               \
        return 0;                                                                                                      \
    }
int xst_issuer_parse(const char *text, enum xst_issuer *issuer_out)
{
    XST_ISSUER_MAP(X)
    return -1;
}
#undef X

/* The points of one producer count: of those that reach `bytes`, the nearest to `producers` by ratio; none reaches: the one
 * that goes furthest. */
static int read_curve(const struct xst_floor_table *table, double producers, double bytes,
                      struct xst_floor_curve *curve)
{
    size_t best = 0, best_end = 0;
    double best_distance = INFINITY;
    int best_reaches = 0;
    for (size_t first = 0, end; first < table->count; first = end) {
        end = first + 1;
        while (end < table->count && table->points[end].producers == table->points[first].producers)
            end++;
        const double reach = (double)table->points[end - 1].bytes_per_producer;
        const int reaches = reach >= bytes;
        const double distance =
            reaches ? fabs(log(producers / (double)table->points[first].producers)) : 1e6 / fmax(reach, 1);
        if (reaches > best_reaches || (reaches == best_reaches && distance < best_distance)) {
            best = first;
            best_end = end;
            best_distance = distance;
            best_reaches = reaches;
        }
    }
    curve->count = 0;
    for (size_t i = best; i < best_end && curve->count < XST_FLOOR_POINTS; i++) {
        curve->bytes[curve->count] = (double)table->points[i].bytes_per_producer;
        curve->us[curve->count++] = table->points[i].us;
    }
    return best_reaches;
}

/* Q(K): between points in proportion, below the first through the origin. -1: no table. */
static double capacity_at(const struct xst_capacity_table *table, double producers, int *inside_out)
{
    if (table->count == 0)
        return -1;
    const struct xst_capacity_point *const points = table->points, *const last = &points[table->count - 1];
    *inside_out = producers <= (double)last->producers;
    if (producers <= (double)points[0].producers)
        return points[0].bytes * producers / (double)points[0].producers;
    if (!*inside_out)
        return last->bytes * producers / (double)last->producers;
    size_t i = 0;
    while ((double)points[i + 1].producers < producers)
        i++;
    const double share =
        (producers - (double)points[i].producers) / (double)(points[i + 1].producers - points[i].producers);
    return points[i].bytes + share * (points[i + 1].bytes - points[i].bytes);
}

enum xst_status xst_timeline_machine_read(const struct xst_path *path, int64_t producers, double bytes, int extrapolate,
                                          struct xst_timeline_machine *machine_out, struct xst_diag *diag)
{
    struct xst_timeline_machine machine = {.method = path->method};
    int inside = 1;
    if (!path->drain_bytes_per_us.known)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile has no drain rate for this path");
    if (path->issue_floor.count == 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile has no issue floor for this path");
    const int bulk = path->method == XST_METHOD_BULK && path->release_floor.count > 0;
    const int reaches = read_curve(&path->issue_floor, (double)producers, bytes, &machine.issue_floor) &&
                        bytes >= machine.issue_floor.bytes[0];
    if (!extrapolate && !reaches)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile has no issue floor for %lld producers of %g bytes",
                         (long long)producers, bytes);
    read_curve(bulk ? &path->release_floor : &path->issue_floor, (double)producers, bytes, &machine.accept_floor);
    const struct xst_capacity_table *const table =
        bulk && path->release_capacity.count > 0 ? &path->release_capacity : &path->capacity;
    const double capacity = capacity_at(table, (double)producers, &inside);
    if (capacity < 0 || (!inside && !extrapolate))
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile has no capacity for %lld producers", (long long)producers);
    machine.drain_bytes_per_us = path->drain_bytes_per_us.value;
    machine.ingress_bytes_per_us = machine.drain_bytes_per_us;
    machine.capacity_bytes = capacity / (double)producers;
    machine.visible_us = path->fence_us.known ? path->fence_us.value : 0;
    machine.signal_us = machine.visible_us / 2;
    machine.free_capacity_bytes = path->free_capacity_bytes.known ? path->free_capacity_bytes.value : -1;
    machine.shared_queue = path->target == XST_TARGET_HOST;
    machine.full_sms = path->valid.producers_high;
    machine.share_spread = path->share_spread_burst.known ? path->share_spread_burst.value : 0;
    *machine_out = machine;
    return XST_OK;
}
