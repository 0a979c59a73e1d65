/* SPDX-License-Identifier: Apache-2.0
 *
 * profile.h - a machine as the model sees it: M_X = (T0, R, Q) of every store path.
 *
 * A *path* is (target, direction, method, threads, pattern). Each has a drain rate R (`drain_bytes_per_us`), a floor table
 * T0 (`issue_floor`), a capacity table Q(K) (`capacity`), and what else the samples identify. A value the data cannot
 * identify is *not known*: `known` is 0 here and the key is null in JSON; never 0, -1 or NaN.
 *
 * Read once, checked once; from then on a profile is const. Content has no time, host or argv in it, so the same samples give
 * the same bytes, and `id` is a hash of the content without `id`.
 */
#ifndef XSTAGE_PROFILE_H
#define XSTAGE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A measured number with its interval. low <= value <= high; n rows went into it; known == 0: the rest is meaningless. */
struct xst_measure {
    double value;
    double low;
    double high;
    int64_t n;
    int32_t known;
};

/* Where a floor point comes from (model.md, T0): which kind of row. */
#define XST_FLOOR_SOURCE_MAP(X)                                                                                        \
    X(PLATEAU, "plateau", "large-gap plateau of a periodic sweep")                                                     \
    X(ISOLATED, "isolated", "isolated burst of the smallest recorded producer count")                                  \
    X(ZERO_GAP, "zero_gap", "zero-gap periodic burst of the smallest recorded producer count")                         \
    X(GIVEN, "given", "stated, not fitted here")
enum xst_floor_source {
#define X(NAME, text, meaning) XST_FLOOR_SOURCE_##NAME,
    XST_FLOOR_SOURCE_MAP(X)
#undef X
};
const char *xst_floor_source_text(enum xst_floor_source source);
int xst_floor_source_parse(const char *text, enum xst_floor_source *source_out);

/* T0 at one point. Points of a table are sorted by (producers, bytes_per_producer), and within one producer count
 * `us` does not fall with bytes. */
struct xst_floor_point {
    int64_t producers;
    int64_t bytes_per_producer;
    double us;
    enum xst_floor_source source;
};

/* Q at one producer count, from n stalled isolated rows; low and high span those rows. Sorted by producers. */
struct xst_capacity_point {
    int64_t producers;
    double bytes;
    double low;
    double high;
    int64_t n;
};

/* Aggregate zero-gap rate at one producer count: informative; `drain_bytes_per_us` is taken where the path is saturated. */
struct xst_drain_point {
    int64_t producers;
    double bytes_per_us;
    int64_t n;
};

struct xst_floor_table {
    struct xst_floor_point *points;
    size_t count;
};
struct xst_capacity_table {
    struct xst_capacity_point *points;
    size_t count;
};
struct xst_drain_table {
    struct xst_drain_point *points;
    size_t count;
};

/* The range in which the fit was made; predictions outside it are refused unless extrapolation is asked for. */
struct xst_valid {
    int64_t producers_low;
    int64_t producers_high;
    int64_t bytes_low;
    int64_t bytes_high;
};

/* One store path. */
struct xst_path {
    /* what it is */
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t threads;
    int64_t piece_bytes; /* 0: one contiguous block */
    int64_t pitch_bytes;
    /* R, d, F */
    struct xst_measure drain_bytes_per_us;
    struct xst_measure loop_us;  /* d: time per period that is neither issue nor gap */
    struct xst_measure fence_us; /* F: a small burst's issue end to the end of a system fence */
    /* T0 and Q; the release tables are the same two quantities for "staging may be written again" (bulk stores) */
    struct xst_floor_table issue_floor;
    struct xst_capacity_table capacity;
    struct xst_floor_table release_floor;
    struct xst_capacity_table release_capacity;
    struct xst_drain_table drain_by_producers;
    /* Q(K) ~ min(K * capacity_per_producer_bytes, capacity_total_bytes): for extrapolation only */
    struct xst_measure capacity_per_producer_bytes;
    struct xst_measure capacity_total_bytes;
    struct xst_measure capacity_form_max_rel_err; /* worst relative error of that form over `capacity` */
    /* Q_free of (16): the backlog that delays no bystander */
    struct xst_measure free_capacity_bytes;
    /* dispersion of the fluid; the closed form needs none */
    struct xst_measure groups;
    struct xst_measure share_spread_burst;
    struct xst_measure share_spread;
    struct xst_measure record_bytes; /* of a burst, behind its clock: the probe's own record of it waits for them */
    struct xst_measure turn_us;      /* least time between two bursts of the probe, however small the gap */
    struct xst_valid valid;
    /* rows of this path: used in the fit, and excluded (each with a reason in struct xst_fit) */
    int64_t rows_used;
    int64_t rows_excluded;
    /* median and worst |relative error| of the fitted tables on the rows they were fitted to */
    struct xst_measure residual_drain;
    struct xst_measure residual_floor;
    struct xst_measure residual_capacity;
};

enum { XST_NAME_BYTES = 128, XST_ID_BYTES = 17 };

/* Facts of the machine, from the JSON beside the samples or from the driver. Text is "" and numbers are not known where the
 * source did not say. */
struct xst_machine_facts {
    char machine[XST_NAME_BYTES]; /* one line a person would write */
    char device[XST_NAME_BYTES];  /* the driver's device name */
    char driver[XST_NAME_BYTES];
    char cuda[XST_NAME_BYTES];
    char date[XST_NAME_BYTES];   /* ISO date of the measurement */
    char origin[XST_NAME_BYTES]; /* "recorded", "measured", "synthetic", "published" */
    char note[256];              /* what a reader must know of the conditions */
    struct xst_measure sm_count;
    struct xst_measure sm_clock_ghz;
    struct xst_measure l2_bytes;
    struct xst_measure memory_gib;
    struct xst_measure links_per_gpu;
    struct xst_measure link_gb_per_s;
    struct xst_measure peak_bf16_tflops; /* dense; from the facts, else a table of known devices, else not known */
};

struct xst_profile {
    char id[XST_ID_BYTES]; /* 16 hexadecimal digits: hash of the content without this key */
    char name[XST_NAME_BYTES];
    struct xst_machine_facts machine;
    struct xst_path *paths;
    size_t path_count;
};

/* Reads machine facts (JSON with the keys above; other keys are kept out silently because the file is for people too). */
enum xst_status xst_machine_facts_read(const char *path, struct xst_machine_facts *facts_out, struct xst_diag *diag);

/* Reads and checks a profile. Schema "xstage.profile/1": another major is XST_ERR_SCHEMA. An unknown key of a document with
 * the same major is not an error; the first one is named in `warning_out` (may be NULL; "" when there is none).
 * An `id` that does not match the content is an error. path "-" reads standard input. */
enum xst_status xst_profile_read(const char *path, struct xst_profile *profile_out, struct xst_diag *warning_out,
                                 struct xst_diag *diag);
enum xst_status xst_profile_parse(const char *name, const char *text, size_t text_bytes,
                                  struct xst_profile *profile_out, struct xst_diag *warning_out, struct xst_diag *diag);

/* Structural check of a profile built in memory; recomputes `id`. The writers call it. */
enum xst_status xst_profile_seal(struct xst_profile *profile, struct xst_diag *diag);

/* Writes it whole or not at all; an existing file is refused unless `force`. path "-" writes standard output. */
enum xst_status xst_profile_write(const char *path, const struct xst_profile *profile, int force,
                                  struct xst_diag *diag);

/* The document as text (malloc'd, the caller frees). */
enum xst_status xst_profile_print(const struct xst_profile *profile, char **text_out, struct xst_diag *diag);

void xst_profile_free(struct xst_profile *profile);

/* Which path: a path's key, and how to find it. `any` members (0 threads, piece -1) take the default path of that target and
 * method: 256 threads, contiguous, else the only one there is. */
struct xst_path_key {
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t threads;     /* 0: the default (256) */
    int64_t piece_bytes; /* 0: contiguous */
    int64_t pitch_bytes;
};

/* NULL when the profile has no such path. */
const struct xst_path *xst_profile_path(const struct xst_profile *profile, const struct xst_path_key *key);

/* "peer/st16", "peer-bidir/bulk", "peer/st16/512thr", "peer/st16/256B@6144": writes at most `size` bytes, returns text. */
const char *xst_path_text(const struct xst_path *path, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
