/* SPDX-License-Identifier: Apache-2.0
 *
 * text_file.h - text written whole or not at all, as every file this library writes.
 */
#ifndef XSTAGE_TEXT_FILE_H
#define XSTAGE_TEXT_FILE_H

#include <stddef.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes text[0..bytes) to `path` through a temporary name in the same folder, fsync and rename. An existing regular file is
 * refused (XST_ERR_EXISTS) unless `force`; a device or pipe is written directly. path "-" is standard output. */
enum xst_status xst_text_write(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag);

/* XST_OK when xst_text_write could write `path` as far as can be told beforehand: so that long work is not done for a name
 * that is taken or a folder that is not there. */
enum xst_status xst_text_check(const char *path, int force, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
