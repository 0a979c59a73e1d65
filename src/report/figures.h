/* SPDX-License-Identifier: Apache-2.0
 *
 * figures.h - the figures of one target: which rows, which laws, and the sentence that says what is seen.
 */
#ifndef XSTI_REPORT_FIGURES_H
#define XSTI_REPORT_FIGURES_H

#include "report/figure.h"
#include "report/rows.h"

/* Each fills `figure` (zeroed) and returns 1, or returns 0 when the subject has nothing to show in it. The caller
 * finishes and frees. */
int xsti_figure_issue_gap(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_period_gap(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_isolated(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_zero_gap(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_aligned(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_release(const struct xsti_subject *subject, struct xsti_figure *figure);
int xsti_figure_senders(const struct xsti_subject *subject, struct xsti_figure *figure);

/* All of them in the order of the page. */
typedef int xsti_figure_make(const struct xsti_subject *subject, struct xsti_figure *figure);
extern xsti_figure_make *const xsti_figure_makers[];
extern const size_t xsti_figure_maker_count;

/* Words in captions. */
const char *xsti_target_words(enum xst_target target); /* "peer memory" */

#endif
