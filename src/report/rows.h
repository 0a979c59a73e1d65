/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the rows a figure is about, and the law's value beside them.
 */
#ifndef XSTI_REPORT_ROWS_H
#define XSTI_REPORT_ROWS_H

#include <xstage/profile.h>
#include <xstage/report.h>
#include <xstage/timing.h>

enum { XSTI_MOST_CHOSEN = 5 };

/* Producer counts or byte counts chosen for a figure, ascending. */
struct xsti_choice {
    int64_t values[XSTI_MOST_CHOSEN];
    size_t count;
};

/* One path and the rows that may be drawn for it. */
struct xsti_subject {
    const struct xst_profile *profile;
    const struct xst_samples *samples; /* NULL: lines only */
    const struct xst_path *path;       /* what the figures of its target are about */
    const struct xst_path *staged;     /* the bulk path of the same target; NULL: none */
    int64_t producers;                 /* largest recorded producer count, else the largest valid one */
    int64_t typical_bytes; /* 32 KiB where the floor is known, else 16 KiB, else the largest known; 0: none */
};

/* The path a target is judged by: 16-byte stores, 256 threads, contiguous, else its first; NULL: none. */
const struct xst_path *xsti_main_path(const struct xst_profile *profile, enum xst_target target);

/* 0 when the profile has no path of that target. */
int xsti_subject_of(const struct xst_report_section *section, enum xst_target target, struct xsti_subject *subject_out);

/* B whose G* and issue stand for the path (see typical_bytes). */
int64_t xsti_typical_bytes(const struct xst_path *path, int64_t producers);

/* The row belongs to the path. */
int xsti_row_on_path(const struct xst_sample *row, const struct xst_path *path);

/* The next row of `mode` on `path` from *at on, which starts at 0 and moves behind it; NULL at the end. */
const struct xst_sample *xsti_next_row(const struct xst_samples *samples, const struct xst_path *path,
                                       enum xst_mode mode, size_t *at);

/* Byte counts with at least `gaps` different gaps in rows of `mode` at K producers; the largest when there are many. */
struct xsti_choice xsti_choose_bytes(const struct xst_samples *samples, const struct xst_path *path, enum xst_mode mode,
                                     int64_t producers, size_t gaps);

/* Producer counts with at least `sizes` rows of `mode` (periodic: without a gap): the largest, and others spread below
 * it. */
struct xsti_choice xsti_choose_producers(const struct xst_samples *samples, const struct xst_path *path,
                                         enum xst_mode mode, size_t sizes);

/* The laws at one point; 0 when the `needs` bits (XST_TIMING_*) are not all known there. */
int xsti_law_at(const struct xst_path *path, double producers, double bytes_per_producer, double gap_us, uint32_t needs,
                struct xst_timing *timing_out);

/* d, F, R, or `otherwise` when not known. */
double xsti_known_or(const struct xst_measure *measure, double otherwise);

/* Measured period: the run's total without its fence, over its bursts (docs/model.md, "How errors are measured"). */
double xsti_row_period_us(const struct xst_sample *row, const struct xst_path *path);

#endif
