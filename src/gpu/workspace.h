/* SPDX-License-Identifier: Apache-2.0
 *
 * workspace.h - what a workspace is made of, and making one with a given driver as a given process, so that tests can be
 * several machines.
 */
#ifndef XSTI_GPU_WORKSPACE_H
#define XSTI_GPU_WORKSPACE_H

#include <xstage/workspace.h>

#include "gpu/ipc.h"

enum { XSTI_UUID_BYTES = 48 };

/* What a rank says about itself before anything is allocated. */
struct xsti_introduction {
    struct xsti_process process;
    uint64_t bytes;
    CUuuid uuid;
    int32_t ordinal;
    char name[XSTI_UUID_BYTES]; /* of the device */
};

/* Where a rank's memory is. */
struct xsti_address {
    uint64_t pointer; /* in its own process */
    CUipcMemHandle handle;
};

/* How a rank's memory got here. */
enum xsti_origin { XSTI_ORIGIN_OWN, XSTI_ORIGIN_SAME_PROCESS, XSTI_ORIGIN_OTHER_PROCESS };

struct xsti_peer {
    struct xsti_introduction introduction;
    struct xsti_address address;
    enum xsti_origin origin;
    int retained; /* same process: its device's context is held, so that access to it stays */
    CUdevice handle;
};

struct xst_workspace {
    struct xsti_driver driver;
    struct xsti_device device;
    int driver_open;
    struct xst_group given;
    struct xst_group group; /* `given`, watched */
    int broken;             /* its all-gather has failed: nobody is asked any more */
    int shared;             /* all have each other's addresses: nobody frees before all have let go */
    size_t bytes;
    CUdeviceptr own;
    uint64_t *pointers;      /* [ranks]; 0 until mapped */
    struct xsti_peer *peers; /* [ranks] */
};

/* xst_workspace_create with the driver opened: `driver` (taken over), or NULL and in `diag` the reason why there is none, which
 * the other ranks are told. `diag` is not NULL. */
enum xst_status xsti_workspace_create(struct xsti_driver *driver, const struct xsti_process *self, size_t bytes,
                                      int64_t ordinal, const struct xst_group *group,
                                      struct xst_workspace **workspace_out, struct xst_diag *diag);

/* workspace_map.c */
/* Can this rank's device write all the others? */
enum xst_status xsti_workspace_check_access(struct xst_workspace *workspace, struct xst_diag *diag);
/* Fills workspace->pointers; lets go of all of them. */
enum xst_status xsti_workspace_map(struct xst_workspace *workspace, struct xst_diag *diag);
void xsti_workspace_unmap(struct xst_workspace *workspace);

#endif
