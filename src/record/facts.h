/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.h - machine facts out of a JSON object, shared by the facts file and the profile.
 */
#ifndef XSTI_RECORD_FACTS_H
#define XSTI_RECORD_FACTS_H

#include <xstage/profile.h>

#include "base/json.h"

void xsti_facts_from_json(struct xsti_json *reader, const json_t *object, const char *where,
                          struct xst_machine_facts *facts);

/* Fills peak_bf16_tflops from a table of known devices when the facts do not say it. */
void xsti_facts_complete(struct xst_machine_facts *facts);

#endif
