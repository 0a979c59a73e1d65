/* SPDX-License-Identifier: Apache-2.0
 *
 * report.h - what was measured and what the model says of it, as one HTML page or as SVG figures.
 *
 * The page is self-contained: it opens from a file without a network, light or dark as the reader's system is, and
 * prints with static figures. Its content depends on the input alone: no time, host or path is added. Points are
 * measured rows, lines are the model. A figure whose rows are missing is left out; numbers a profile does not know are
 * shown as a dash.
 */
#ifndef XSTAGE_REPORT_H
#define XSTAGE_REPORT_H

#include <stddef.h>

#include <xstage/fit.h>
#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One profile and what belongs to it; everything but the profile may be NULL. Nothing is owned. */
struct xst_report_section {
    const struct xst_profile *profile;
    const struct xst_samples *samples;       /* rows of paths the profile does not have are not shown */
    const struct xst_fit *fit;               /* of these samples: how many rows served, why others did not, outliers */
    const struct xst_validation *validation; /* of this profile on these samples */
};

/* A JSON document another command wrote. */
struct xst_report_document {
    const char *name; /* stands for the file in messages */
    const char *text; /* NULL: read from the file `name` */
    size_t text_bytes;
};

struct xst_report_input {
    const char *title; /* NULL: made from the first profile's name */
    const struct xst_report_section *sections;
    size_t section_count;
    const struct xst_report_document *audits; /* "xstage.audit/1", one audit or an array `audits` of them */
    size_t audit_count;
    const struct xst_report_document *benches; /* "xstage.bench/1" */
    size_t bench_count;
};

/* Writes the page whole or not at all; an existing file is refused unless `force`. path "-" writes standard output. */
enum xst_status xst_report_write(const char *path, const struct xst_report_input *input, int force,
                                 struct xst_diag *diag);

/* Writes every figure as DIR/<target>-<figure>.svg and creates the folder when it is missing. count_out (may be NULL)
 * is how many files were written. */
enum xst_status xst_report_write_svgs(const char *dir, const struct xst_report_input *input, int force,
                                      size_t *count_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
