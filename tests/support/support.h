/* SPDX-License-Identifier: Apache-2.0
 *
 * support.h - what the C tests share: the four headers cmocka needs, temporary folders, files, recorded data, and comparisons
 * that print both numbers. Every helper fails the running test when it cannot do its work.
 */
#ifndef XST_TESTS_SUPPORT_H
#define XST_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xstage/fit.h>
#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

/* got within `tolerance` of want; NaN never is. */
#define xt_near(got, want, tolerance) xt_near_at((got), (want), (tolerance), #got, __FILE__, __LINE__)
/* low <= got <= high */
#define xt_within(got, low, high) xt_within_at((got), (low), (high), #got, __FILE__, __LINE__)
/* `text` contains `part` */
#define xt_contains(text, part) xt_contains_at((text), (part), __FILE__, __LINE__)
/* status is XST_OK, else the diag's sentence is printed */
#define xt_ok(status, diag)             xt_status_at((status), XST_OK, (diag), __FILE__, __LINE__)
#define xt_status(status, wanted, diag) xt_status_at((status), (wanted), (diag), __FILE__, __LINE__)

void xt_near_at(double got, double want, double tolerance, const char *what, const char *file, int line);
void xt_within_at(double got, double low, double high, const char *what, const char *file, int line);
void xt_contains_at(const char *text, const char *part, const char *file, int line);
void xt_status_at(enum xst_status got, enum xst_status wanted, const struct xst_diag *diag, const char *file, int line);

/* A fresh folder (malloc'd name), and its removal with all files directly in it. */
char *xt_folder_make(void);
void xt_folder_remove(char *folder);
/* Number of entries in a folder, "." and ".." not counted. */
int xt_folder_count(const char *folder);
/* "folder/name", malloc'd. */
char *xt_join(const char *folder, const char *name);

/* A whole file as malloc'd text with a NUL behind it; bytes_out may be NULL. */
char *xt_file_text(const char *path, size_t *bytes_out);
void xt_file_make(const char *path, const char *text, size_t bytes);

/* Reads data/NAME of the source tree and appends its rows. */
void xt_data_read(const char *name, struct xst_samples *samples);
/* The recorded NVLink pair (bursts and rows), the host path (bursts, aligned, bystander). Free with xst_samples_free. */
struct xst_samples xt_nvlink_samples(void);
struct xst_samples xt_host_samples(void);
/* One path, peer/st16: R 372 GB/s, T0 0.5 us at 32 KiB, Q 2.4 MiB at 132 producers, every table filled; sealed. Free with
 * xst_profile_free. */
struct xst_profile xt_small_profile(void);
/* The path with 256 threads, contiguous, one direction. Fails the test when there is none. */
const struct xst_path *xt_path_of(const struct xst_profile *profile, enum xst_target target, enum xst_method method);

#endif
