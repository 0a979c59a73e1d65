/* SPDX-License-Identifier: Apache-2.0
 *
 * figure_list.h - every figure of a report, in the order of the page.
 */
#ifndef XSTI_REPORT_FIGURE_LIST_H
#define XSTI_REPORT_FIGURE_LIST_H

#include <xstage/report.h>

#include "report/figure.h"

struct xsti_figure_entry {
    struct xsti_figure *figure;
    size_t section;
    enum xst_target target;
};

struct xsti_figure_list {
    struct xsti_figure_entry *entries;
    size_t count;
};

enum xst_status xsti_figure_list_make(const struct xst_report_input *input, struct xsti_figure_list *list_out,
                                      struct xst_diag *diag);
void xsti_figure_list_free(struct xsti_figure_list *list);

#endif
