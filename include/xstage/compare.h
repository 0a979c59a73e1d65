/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.h - two profiles of a machine, or two records of a benchmark: what moved, by how much, and whether that is more than
 * noise.
 *
 * Paths are matched by their key, table points by producers and bytes. A parameter moved when its change exceeds the noise: a
 * fraction given per kind of parameter, plus the parts of both intervals that lie between the two values. A lower drain rate,
 * a lower capacity and a longer floor, fence or loop are worse.
 */
#ifndef XSTAGE_COMPARE_H
#define XSTAGE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/profile.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XST_MOVED_MAP(X)                                                                                               \
    X(SAME, "same", "within the noise")                                                                                \
    X(BETTER, "better", "moved beyond the noise, for the better")                                                      \
    X(WORSE, "worse", "moved beyond the noise, for the worse")                                                         \
    X(REMOVED, "removed", "known in the first profile only")                                                           \
    X(ADDED, "added", "known in the second profile only")
enum xst_moved {
#define X(NAME, text, meaning) XST_MOVED_##NAME,
    XST_MOVED_MAP(X)
#undef X
        XST_MOVED_COUNT
};
const char *xst_moved_text(enum xst_moved moved);

/* X(name, noise, worse): what is compared. noise: which member of xst_compare_options applies; worse: the direction (+1 higher,
 * -1 lower) that is a regression. */
#define XST_COMPARED_MAP(X)                                                                                            \
    X(drain_bytes_per_us, drain, -1)                                                                                   \
    X(loop_us, floor, +1)                                                                                              \
    X(fence_us, floor, +1)                                                                                             \
    X(free_capacity_bytes, capacity, -1)                                                                               \
    X(issue_floor, floor, +1)                                                                                          \
    X(capacity, capacity, -1)                                                                                          \
    X(release_floor, floor, +1)                                                                                        \
    X(release_capacity, capacity, -1)

/* Noise as a fraction of the first profile's value. The defaults are what calibrations of one machine, repeated in a row, differ
 * by (docs/results.md). */
struct xst_compare_options {
    double noise_drain_frac;
    double noise_floor_frac;
    double noise_capacity_frac;
};
#define XST_COMPARE_DEFAULTS                                                                                           \
    {                                                                                                                  \
        0.015, 0.05, 0.05                                                                                              \
    }

/* One parameter of one path, in the unit of the profile. */
struct xst_comparison_row {
    struct xst_path_key path;
    const char *parameter;      /* a name of XST_COMPARED_MAP */
    int64_t producers;          /* of a table point; 0: not one */
    int64_t bytes_per_producer; /* of a floor point; 0: not one */
    int32_t before_known;
    int32_t after_known;
    double before;
    double after;
    double change_frac; /* after/before - 1; meaningless unless both are known */
    double noise_frac;
    enum xst_moved moved;
};

struct xst_comparison {
    struct xst_comparison_row *rows;
    size_t row_count;
    int64_t worse;
    int64_t better;
    int64_t same;
    int64_t removed;
    int64_t added;
    int32_t same_machine; /* machine and device text agree */
};

/* Compares `before` with `after`; both checked profiles. options NULL: the defaults. Free with xst_comparison_free. */
enum xst_status xst_profile_compare(const struct xst_profile *before, const struct xst_profile *after,
                                    const struct xst_compare_options *options, struct xst_comparison *comparison_out,
                                    struct xst_diag *diag);
void xst_comparison_free(struct xst_comparison *comparison);

/* ---- benchmark records ("xstage.bench/1") ---- */

enum { XST_BENCH_KEY_BYTES = 320 };

/* What repeated records of one machine differ by (docs/results.md). */
#define XST_COMPARE_TIME_NOISE 0.03

/* One cell of the records: the same variant of the same shape. */
struct xst_bench_comparison_row {
    char key
        [XST_BENCH_KEY_BYTES]; /* every text and whole number of the row that is no result: "fused_st16 peer p=2 seq=4096" */
    int32_t before_known;
    int32_t after_known;
    double before_us; /* median_us */
    double after_us;
    double change_frac; /* as above */
    double noise_frac;
    enum xst_moved moved;
};

struct xst_bench_comparison {
    struct xst_bench_comparison_row *rows; /* in the order of the first record, then what only the second has */
    size_t row_count;
    char kernel[2][64];
    char machine[2][128];           /* device and driver as the records state them */
    int64_t moved[XST_MOVED_COUNT]; /* rows of each kind */
};

/* 1 when `path` is a JSON file that calls itself a benchmark record of any version, 0 for everything else. */
int xst_bench_is_record(const char *path);

/* Compares median_us of the cells two records share; several rows of one cell are matched in order. A time moved when its change
 * exceeds noise_frac plus what the rounds (min_us, max_us) of both cover of it. XST_ERR_SCHEMA or XST_ERR_RANGE with file, row,
 * key and value. Free with xst_bench_comparison_free. */
enum xst_status xst_bench_compare(const char *before, const char *after, double noise_frac,
                                  struct xst_bench_comparison *comparison_out, struct xst_diag *diag);
void xst_bench_comparison_free(struct xst_bench_comparison *comparison);

/* A rate that another tool measured on the same machine, as a sanity check of R. */
struct xst_rate {
    char name[XST_NAME_BYTES]; /* the tool's name for it */
    enum xst_target target;    /* which path of ours it is to be held against */
    double bytes_per_us;
};

/* Reads the JSON of nvbandwidth (-j) or nccl-tests (-J): every passed copy from a device to its peer or to the host, as the
 * median over device pairs, and the best bus bandwidth of a collective. XST_ERR_SCHEMA for another document, XST_ERR_NO_DATA
 * when it holds no such rate. malloc'd, the caller frees. */
enum xst_status xst_rates_read(const char *path, struct xst_rate **rates_out, size_t *count_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
