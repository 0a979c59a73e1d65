/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figure_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "report/figures.h"

void xsti_figure_list_free(struct xsti_figure_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        xsti_figure_free(list->entries[i].figure);
        free(list->entries[i].figure);
    }
    free(list->entries);
    *list = (struct xsti_figure_list){0};
}

/* Ids are anchors and file names: a second profile with the same target gets "-2" behind its own. */
static void make_unique(const struct xsti_figure_list *list, struct xsti_figure *figure)
{
    char wanted[sizeof figure->id];
    snprintf(wanted, sizeof wanted, "%.48s", figure->id);
    for (int number = 2, again = 1; again; number++) {
        again = 0;
        for (size_t i = 0; i < list->count; i++)
            again |= strcmp(list->entries[i].figure->id, figure->id) == 0;
        if (again)
            snprintf(figure->id, sizeof figure->id, "%s-%d", wanted, number);
    }
}

static enum xst_status add(struct xsti_figure_list *list, const struct xsti_subject *subject, xsti_figure_make *make,
                           size_t section, struct xst_diag *diag)
{
    struct xsti_figure *const figure = calloc(1, sizeof *figure);
    if (!figure)
        return xsti_fail_memory(diag);
    if (!make(subject, figure) || figure->failed) {
        const int failed = figure->failed;
        xsti_figure_free(figure);
        free(figure);
        return failed ? xsti_fail_memory(diag) : XST_OK;
    }
    xsti_figure_finish(figure);
    make_unique(list, figure);
    list->entries[list->count++] = (struct xsti_figure_entry){figure, section, subject->path->target};
    return XST_OK;
}

enum xst_status xsti_figure_list_make(const struct xst_report_input *input, struct xsti_figure_list *list_out,
                                      struct xst_diag *diag)
{
    static const enum xst_target targets[] = {XST_TARGET_PEER, XST_TARGET_HOST};
    struct xsti_figure_list list = {NULL, 0};
    enum xst_status status = XST_OK;
    list.entries = calloc(input->section_count * 2 * xsti_figure_maker_count + 1, sizeof *list.entries);
    if (!list.entries)
        return xsti_fail_memory(diag);
    for (size_t s = 0; s < input->section_count; s++) {
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            struct xsti_subject subject;
            if (!xsti_subject_of(&input->sections[s], targets[t], &subject))
                continue;
            for (size_t m = 0; status == XST_OK && m < xsti_figure_maker_count; m++)
                status = add(&list, &subject, xsti_figure_makers[m], s, diag);
        }
    }
    if (status != XST_OK)
        xsti_figure_list_free(&list);
    else
        *list_out = list;
    return status;
}
