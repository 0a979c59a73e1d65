/* SPDX-License-Identifier: Apache-2.0
 *
 * fit.h - from samples to a profile, and how far the laws are from the rows.
 *
 * Every parameter is read off the rows that identify it alone (9): T0 from the large-gap plateau, R from total bytes over
 * total time of zero-gap periodic rows where the path is saturated, Q from isolated bursts between the knee and three times
 * the knee, F and d from rows that do not stall. Nothing is refitted per curve. Deterministic.
 */
#ifndef XSTAGE_FIT_H
#define XSTAGE_FIT_H

#include <stddef.h>

#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one row did in the fit of its path. A row can serve several parameters. */
enum {
    XST_ROW_DRAIN = 1,    /* R */
    XST_ROW_FLOOR = 2,    /* T0 */
    XST_ROW_CAPACITY = 4, /* Q */
    XST_ROW_LOOP = 8,     /* d */
    XST_ROW_FENCE = 16,   /* F */
    XST_ROW_RELEASE_FLOOR = 32,
    XST_ROW_RELEASE_CAPACITY = 64,
    XST_ROW_DISPERSION = 128 /* groups and spreads; set by who fits them (sim.h) */
};

/* Why a row served none. */
#define XST_EXCLUDE_MAP(X)                                                                                             \
    X(NONE, "used")                                                                                                    \
    X(HELD_OUT, "kept for validation: between the plateau and zero gap, or stalled by neighbours")                     \
    X(NOT_SATURATED, "zero gap, but the path is not saturated or not at the largest producer count")                   \
    X(NO_STALL, "isolated, but not stalled: it bounds the capacity from below only")                                   \
    X(BEYOND_KNEE, "isolated and beyond three times the knee, where the capacity drifts up")                           \
    X(PARTIAL_STALL, "isolated and between the floor and a clear stall")                                               \
    X(NO_DRAIN, "needs a drain rate and the path has none")                                                            \
    X(ALIGNED, "aligned row: kept for validation of (11)")                                                             \
    X(FLOW, "several senders or receivers: a path is one device to one other")
enum xst_exclude {
#define X(NAME, sentence) XST_EXCLUDE_##NAME,
    XST_EXCLUDE_MAP(X)
#undef X
};
const char *xst_exclude_text(enum xst_exclude exclude);     /* "NO_STALL" */
const char *xst_exclude_sentence(enum xst_exclude exclude); /* the sentence */

/* Points that break the law they should follow: reported, not dropped. */
struct xst_outlier {
    size_t row;           /* index into samples->rows */
    const char *quantity; /* "drain", "floor", "capacity" */
    double value;
    double expected;
};

/* The fit's account of itself. */
struct xst_fit {
    unsigned *used;            /* per sample row: XST_ROW_* bits */
    enum xst_exclude *exclude; /* per sample row */
    int *path;                 /* per sample row: index of its path in the profile */
    size_t row_count;
    struct xst_outlier *outliers;
    size_t outlier_count;
    int64_t parameter_count; /* numbers fitted over all paths, tables counted by points */
};

struct xst_fit_options {
    const struct xst_machine_facts *facts; /* NULL: none */
    const char *name;                      /* profile name; NULL: "" */
};

/* Fits every path found in `samples`. fit_out may be NULL. XST_ERR_NO_DATA when there is no row at all. */
enum xst_status xst_profile_fit(const struct xst_samples *samples, const struct xst_fit_options *options,
                                struct xst_profile *profile_out, struct xst_fit *fit_out, struct xst_diag *diag);
void xst_fit_free(struct xst_fit *fit);

/* What is compared with what (docs/model.md, "How errors are measured"). */
#define XST_QUANTITY_MAP(X)                                                                                            \
    X(PERIOD, "period", "predicted against measured total of the run, relative")                                       \
    X(ISSUE, "issue", "issue difference over the measured period, rows with gap > 0")                                  \
    X(ISOLATED_ISSUE, "isolated_issue", "relative, on stalled isolated rows (issue > 2*T0)")                           \
    X(ISOLATED_FLOOR, "isolated_floor", "the other isolated rows; the error in us is the one that matters")            \
    X(RELEASE, "release", "staging release of bulk stores; over the period, or relative on stalled isolated rows")
#define XST_MODEL_MAP(X)                                                                                               \
    X(LAW, "law", "closed form, producers free to drift: (1), (4), (7)")                                               \
    X(LAW_ALIGNED, "law_aligned", "closed form, producers start together: (11)")                                       \
    X(COMPLETION_COUPLED, "completion_coupled", "rival: issue waits for visibility (5)")                               \
    X(FLUID, "fluid", "per-producer fluid with dispersion, stepped through time")
#define XST_ROWS_MAP(X)                                                                                                \
    X(FREE, "free", "periodic rows with a gap, producers free to drift")                                               \
    X(ZERO_GAP, "zero_gap", "periodic rows without a gap")                                                             \
    X(ALIGNED, "aligned", "periodic rows, producers start together")                                                   \
    X(ISOLATED, "isolated", "isolated bursts")
enum xst_quantity {
#define X(NAME, text, meaning) XST_QUANTITY_##NAME,
    XST_QUANTITY_MAP(X)
#undef X
};
enum xst_model {
#define X(NAME, text, meaning) XST_MODEL_##NAME,
    XST_MODEL_MAP(X)
#undef X
};
enum xst_rows {
#define X(NAME, text, meaning) XST_ROWS_##NAME,
    XST_ROWS_MAP(X)
#undef X
};
const char *xst_quantity_text(enum xst_quantity quantity);
const char *xst_model_text(enum xst_model model);
const char *xst_rows_text(enum xst_rows rows);

/* One line of a validation. held_out: only rows that served no parameter; otherwise every row of the group. */
struct xst_validation_row {
    struct xst_path_key path;
    enum xst_quantity quantity;
    enum xst_model model;
    enum xst_rows rows;
    int held_out;
    int64_t n;
    double median_abs_rel_err;
    double p90_abs_rel_err;
    double max_abs_rel_err;
    double bias; /* median signed relative error, prediction minus measurement */
    double median_abs_err_us;
};

struct xst_validation {
    struct xst_validation_row *rows;
    size_t row_count;
    int64_t unmatched_rows; /* sample rows whose path or parameters the profile does not have */
};

/* Judges `profile` on every row of `samples`. `fit` (may be NULL) says which rows served the fit; without it no row counts as
 * held out. */
enum xst_status xst_validation_run(const struct xst_profile *profile, const struct xst_samples *samples,
                                   const struct xst_fit *fit, struct xst_validation *validation_out,
                                   struct xst_diag *diag);
void xst_validation_free(struct xst_validation *validation);

/* Who predicts a row. Laws are built in; a simulator plugs in here, so that fit and simulator need not know each other. */
struct xst_row_prediction;
struct xst_row_predictor {
    enum xst_model model;
    void (*predict)(const void *context, const struct xst_path *path, const struct xst_sample *row,
                    struct xst_row_prediction *prediction_out);
    const void *context;
};

/* One of the three laws as a predictor. */
struct xst_row_predictor xst_law_predictor(enum xst_model model);

/* xst_validation_run with predictors of the caller's choice instead of the three laws. */
enum xst_status xst_validation_run_with(const struct xst_row_predictor *predictors, size_t predictor_count,
                                        const struct xst_profile *profile, const struct xst_samples *samples,
                                        const struct xst_fit *fit, struct xst_validation *validation_out,
                                        struct xst_diag *diag);

/* The laws' word on one recorded row, for validation, reports and plots. known == 0: parameters missing. */
struct xst_row_prediction {
    int known;
    double total_us;   /* predicted total of the run; 0 for isolated rows */
    double issue_us;   /* predicted mean issue */
    double release_us; /* predicted mean staging release; = issue for plain stores */
};
void xst_row_predict(const struct xst_path *path, const struct xst_sample *row, enum xst_model model,
                     struct xst_row_prediction *prediction_out);

#ifdef __cplusplus
}
#endif

#endif
