/* SPDX-License-Identifier: Apache-2.0
 *
 * audit_args.h - what to audit, from the command line: presets, sweeps, or files.
 */
#ifndef XST_CLI_AUDIT_ARGS_H
#define XST_CLI_AUDIT_ARGS_H

#include <xstage/audit.h>

#include "cli.h"

/* The audits asked for, run on `profile`. Free with free(). */
struct audit_list {
    struct xst_audit *audits;
    size_t count;
    size_t room;
};

enum xst_status cli_audit_fa_a2a(struct cli *cli, const struct xst_profile *profile, struct audit_list *list);
enum xst_status cli_audit_moe(struct cli *cli, const struct xst_profile *profile, struct audit_list *list);
enum xst_status cli_audit_files(struct cli *cli, const struct xst_profile *profile, struct audit_list *list);

/* An option of the other kernel, or of none, is a mistake: says which. kernel: "fa-a2a", "moe" or "traffic". */
enum xst_status cli_audit_check(struct cli *cli, const char *kernel);

#endif
