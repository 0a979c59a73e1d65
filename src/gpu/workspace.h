/* SPDX-License-Identifier: Apache-2.0
 *
 * workspace.h - making a workspace with a given driver as a given process, so that tests can be several machines.
 */
#ifndef XSTI_GPU_WORKSPACE_H
#define XSTI_GPU_WORKSPACE_H

#include <xstage/workspace.h>

#include "gpu/ipc.h"

/* xst_workspace_create with the driver opened: `driver` (taken over), or NULL and in `diag` the reason why there is none, which
 * the other ranks are told. `diag` is not NULL. */
enum xst_status xsti_workspace_create(struct xsti_driver *driver, const struct xsti_process *self, size_t bytes,
                                      int64_t ordinal, const struct xst_group *group,
                                      struct xst_workspace **workspace_out, struct xst_diag *diag);

#endif
