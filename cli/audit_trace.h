/* SPDX-License-Identifier: Apache-2.0
 *
 * audit_trace.h - `xstage audit fa-a2a|moe --trace`: what ran beside what was promised.
 */
#ifndef XST_CLI_AUDIT_TRACE_H
#define XST_CLI_AUDIT_TRACE_H

#include <xstage/profile.h>

#include "cli.h"

/* The whole command, once the profile is loaded. Returns an exit code: CLI_NO when a promise is broken. */
int cli_audit_trace(struct cli *cli, const struct xst_profile *profile);

#endif
