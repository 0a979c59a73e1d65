/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.h - machine facts that lie beside samples: h200x2-bursts.csv has h200x2-bursts.json, else h200x2.json.
 */
#ifndef XST_CLI_FACTS_H
#define XST_CLI_FACTS_H

#include <stddef.h>

#include <xstage/profile.h>

#include "cli.h"

/* The base of a file name without folder and ending: 0 when it fits. */
int cli_stem(const char *path, char *stem, size_t bytes);

/* Reads `given`, or the first facts file beside one of `samples`. None is fine: facts stay as they are and a note says so. */
enum xst_status cli_facts_read(struct cli *cli, const char *given, const char *const *samples, size_t sample_count,
                               struct xst_machine_facts *facts);

#endif
