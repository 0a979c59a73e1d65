/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_check.h - what every profile in memory promises, and its id.
 */
#ifndef XSTI_RECORD_PROFILE_CHECK_H
#define XSTI_RECORD_PROFILE_CHECK_H

#include <xstage/profile.h>

/* Order and sign of tables, intervals around their values, no path twice. `name` is the file, for messages. */
enum xst_status xsti_profile_check(const char *name, const struct xst_profile *profile, struct xst_diag *diag);

/* Hash of the content without `id`. */
enum xst_status xsti_profile_id(const struct xst_profile *profile, char id_out[XST_ID_BYTES], struct xst_diag *diag);

#endif
