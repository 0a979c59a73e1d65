/* SPDX-License-Identifier: Apache-2.0
 *
 * audit_view.h - audits for a person, as table rows, and as documents.
 */
#ifndef XST_CLI_AUDIT_VIEW_H
#define XST_CLI_AUDIT_VIEW_H

#include <xstage/audit.h>

#include "output.h"

/* One audit in full: sentence, bounds, cases, the kernel's numbers, actions. */
void cli_audit_print(const struct cli *cli, FILE *out, const struct xst_profile *profile,
                     const struct xst_audit *audit);

/* One line per audit, then what to do about those that fail. */
void cli_audits_print(const struct cli *cli, FILE *out, const struct xst_audit *audits, size_t count);

/* Two lines per audit: the sentence, and the first thing to change. */
void cli_audits_brief(FILE *out, const struct xst_audit *audits, size_t count);

/* One row per audit. */
struct cli_table cli_audit_table(const struct xst_audit *audits, size_t count);

/* Puts the audit's keys into `document`. */
enum xst_status cli_audit_put(struct cli *cli, json_t *document, const struct xst_audit *audit);

#endif
