/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate_view.h - a timeline for a person, as table rows (one per rank), and as a document.
 */
#ifndef XST_CLI_SIMULATE_VIEW_H
#define XST_CLI_SIMULATE_VIEW_H

#include "output.h"
#include "simulate_args.h"

/* One row per rank. The rows live as long as *rows_out, freed by the caller. */
enum xst_status cli_simulation_table(struct cli *cli, const struct simulation *simulation, void **rows_out,
                                     struct cli_table *table_out);

void cli_simulation_print(const struct cli *cli, FILE *out, const struct xst_profile *profile,
                          const struct simulation *simulation, const struct cli_table *table);
void cli_simulation_put(json_t *document, const struct xst_profile *profile, const struct simulation *simulation,
                        const struct cli_table *table);

#endif
