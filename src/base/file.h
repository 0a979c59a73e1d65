/* SPDX-License-Identifier: Apache-2.0
 *
 * file.h - files read whole, and written whole or not at all.
 */
#ifndef XSTI_BASE_FILE_H
#define XSTI_BASE_FILE_H

#include <stddef.h>

#include <xstage/status.h>

/* Reads all of `path` ("-": standard input) into malloc'd text with a NUL behind it. A directory, an unreadable file and one
 * above 256 MiB are refused. */
enum xst_status xsti_file_read(const char *path, char **text_out, size_t *bytes_out, struct xst_diag *diag);

/* Writes `text` to `path` ("-": standard output): temporary name in the same folder, fsync, rename. An existing regular file
 * is refused unless `force`; a device or pipe is written directly. */
enum xst_status xsti_file_write(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag);

#endif
