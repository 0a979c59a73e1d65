/* SPDX-License-Identifier: Apache-2.0
 *
 * lock.h - one measurement at a time on a device: a lock file named after its UUID, held while a machine is open.
 */
#ifndef XSTI_GPU_LOCK_H
#define XSTI_GPU_LOCK_H

#include <xstage/status.h>

/* Takes the lock of `uuid` (file descriptor out). XST_ERR_DEVICE names the process that holds it. Where no lock file can be
 * made at all, measuring goes on without: *descriptor_out is -1. The kernel lets go when the process ends, however it ends. */
enum xst_status xsti_lock_take(const char *uuid, int *descriptor_out, struct xst_diag *diag);
void xsti_lock_release(int descriptor);

#endif
