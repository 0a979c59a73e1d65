/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_keys.h - the first key of a profile document that this version would not read.
 */
#ifndef XSTI_RECORD_PROFILE_KEYS_H
#define XSTI_RECORD_PROFILE_KEYS_H

#include <jansson.h>

#include <xstage/status.h>

/* Names it in `warning`, whose text stays "" when every key is known. */
void xsti_profile_warn_unknown(const char *name, const json_t *root, struct xst_diag *warning);

#endif
