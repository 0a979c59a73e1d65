/* SPDX-License-Identifier: Apache-2.0
 *
 * html.h - the parts of the page.
 */
#ifndef XSTI_REPORT_HTML_H
#define XSTI_REPORT_HTML_H

#include <jansson.h>

#include <xstage/report.h>

#include "report/figure_list.h"
#include "report/out.h"

/* The whole page. Documents were parsed and checked; one entry each. */
void xsti_put_page(struct xsti_out *out, const struct xst_report_input *input, const struct xsti_figure_list *figures,
                   json_t *const *audits, json_t *const *benches);

/* Pieces, in the order of the page. */
void xsti_put_machine(struct xsti_out *out, const struct xst_profile *profile);
void xsti_put_answers(struct xsti_out *out, const struct xst_report_section *section);
void xsti_put_path_table(struct xsti_out *out, const struct xst_profile *profile);
void xsti_put_path_details(struct xsti_out *out, const struct xst_profile *profile);
/* alone: no other profile on the page may know the rows this one does not. */
void xsti_put_validation(struct xsti_out *out, const struct xst_validation *validation, int alone);
void xsti_put_rows_account(struct xsti_out *out, const struct xst_report_section *section);
void xsti_put_audits(struct xsti_out *out, json_t *const *audits, size_t count);
void xsti_put_bench(struct xsti_out *out, const json_t *bench);

/* A value of a JSON document with the unit its key names; the key in words ("recovery_gap_us" -> "recovery gap"). */
void xsti_put_value(struct xsti_out *out, const char *key, const json_t *value);
void xsti_put_key_words(struct xsti_out *out, const char *key);

/* The default kind of path: 256 threads, contiguous. */
int xsti_path_is_default(const struct xst_path *path);

/* <td>: a number, a size, a percentage; a dash when it is not known. */
void xsti_put_number_cell(struct xsti_out *out, int known, double value);
void xsti_put_bytes_cell(struct xsti_out *out, int known, double bytes);
void xsti_put_percent_cell(struct xsti_out *out, int known, double frac);
void xsti_put_text_cell(struct xsti_out *out, const char *tag_class, const char *text);

#endif
