/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory every rank can write. Each step is done by all ranks, then they agree that all of them did it: one rank's
 * reason becomes everybody's, and nobody waits for a rank that has given up.
 */
#include "gpu/workspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { BLOCK_BYTES = 2 << 20 }; /* an IPC handle gives away the whole block it lies in, 2 MiB or more */

static enum xst_status watched_gather(void *context, const void *mine, size_t bytes, void *all_out,
                                      struct xst_diag *diag)
{
    struct xst_workspace *const workspace = context;
    if (workspace->broken)
        return xsti_fail(diag, XST_ERR_DEVICE, "workspace: the group has failed before");
    const enum xst_status status = xst_group_gather(&workspace->given, mine, bytes, all_out, diag);
    workspace->broken = status != XST_OK;
    return status;
}

static enum xst_status introduce(struct xst_workspace *workspace, const struct xsti_process *self, int64_t ordinal,
                                 struct xsti_introduction *own_out, struct xst_diag *diag)
{
    struct xsti_introduction own;
    memset(&own, 0, sizeof own);
    if (ordinal < 0 || ordinal > INT32_MAX)
        return xsti_fail(diag, XST_ERR_RANGE, "workspace: device %lld; devices are numbered from 0",
                         (long long)ordinal);
    if (workspace->bytes == 0)
        return xsti_fail(diag, XST_ERR_RANGE, "workspace: 0 bytes; at least 1 is needed");
    if (workspace->bytes > SIZE_MAX - BLOCK_BYTES)
        return xsti_fail(diag, XST_ERR_RANGE, "workspace: %zu bytes; at most %zu are possible", workspace->bytes,
                         SIZE_MAX - BLOCK_BYTES);
    XSTI_TRY(xsti_device_open(&workspace->driver, (int)ordinal, &workspace->device, diag));
    own.process = *self;
    own.bytes = workspace->bytes;
    own.ordinal = (int32_t)ordinal;
    XSTI_CU(&workspace->driver, cuDeviceGetUuid(&own.uuid, workspace->device.handle), (int)ordinal, diag,
            "reading the UUID");
    memcpy(own.name, workspace->device.uuid, sizeof own.name);
    *own_out = own;
    return XST_OK;
}

/* What all ranks can see in what all have said; all come to the same answer. */
static enum xst_status compare_all(const struct xst_workspace *workspace, struct xst_diag *diag)
{
    const struct xsti_introduction *const first = &workspace->peers[0].introduction;
    for (int64_t r = 1; r < workspace->group.ranks; r++) {
        const struct xsti_introduction *const other = &workspace->peers[r].introduction;
        if (!xsti_process_same_host(&other->process, &first->process))
            return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                             "workspace: rank 0 is on host %.63s and rank %lld on %.63s; all ranks must be on one host",
                             first->process.host_name, (long long)r, other->process.host_name);
        if (other->bytes != first->bytes)
            return xsti_fail(diag, XST_ERR_USAGE,
                             "workspace: rank 0 brings %llu bytes and rank %lld %llu; all bring the same",
                             (unsigned long long)first->bytes, (long long)r, (unsigned long long)other->bytes);
    }
    return XST_OK;
}

static enum xst_status gather_introductions(struct xst_workspace *workspace, const struct xsti_introduction *own,
                                            struct xst_diag *diag)
{
    const int64_t ranks = workspace->group.ranks;
    struct xsti_introduction *const all = calloc((size_t)ranks, sizeof *all);
    if (!all)
        return xsti_fail_memory(diag);
    const enum xst_status status = xst_group_gather(&workspace->group, own, sizeof *own, all, diag);
    for (int64_t r = 0; status == XST_OK && r < ranks; r++) {
        all[r].name[sizeof all[r].name - 1] = '\0';
        all[r].process.host_name[sizeof all[r].process.host_name - 1] = '\0';
        workspace->peers[r].introduction = all[r];
        workspace->peers[r].origin = r == workspace->group.rank                          ? XSTI_ORIGIN_OWN
                                     : xsti_process_same(&all[r].process, &own->process) ? XSTI_ORIGIN_SAME_PROCESS
                                                                                         : XSTI_ORIGIN_OTHER_PROCESS;
    }
    free(all);
    return status;
}

static enum xst_status allocate(struct xst_workspace *workspace, struct xsti_address *own_out, struct xst_diag *diag)
{
    const double limit_us = 60e6;
    const size_t room = (workspace->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    int others = 0;
    memset(own_out, 0, sizeof *own_out);
    XSTI_TRY(xsti_device_alloc(&workspace->device, room, &workspace->own, diag));
    XSTI_TRY(xsti_device_fill(&workspace->device, workspace->own, 0, room, diag));
    XSTI_TRY(xsti_device_wait(&workspace->device, limit_us, "zeroing the workspace", diag));
    own_out->pointer = workspace->own;
    for (int64_t r = 0; r < workspace->group.ranks; r++)
        others |= workspace->peers[r].origin == XSTI_ORIGIN_OTHER_PROCESS;
    return others ? xsti_ipc_export(&workspace->device, workspace->own, &own_out->handle, diag) : XST_OK;
}

static enum xst_status gather_addresses(struct xst_workspace *workspace, const struct xsti_address *own,
                                        struct xst_diag *diag)
{
    const int64_t ranks = workspace->group.ranks;
    struct xsti_address *const all = calloc((size_t)ranks, sizeof *all);
    if (!all)
        return xsti_fail_memory(diag);
    const enum xst_status status = xst_group_gather(&workspace->group, own, sizeof *own, all, diag);
    for (int64_t r = 0; status == XST_OK && r < ranks; r++)
        workspace->peers[r].address = all[r];
    free(all);
    return status;
}

/* Every step, and after each the agreement that all ranks have made it. */
static enum xst_status build(struct xst_workspace *workspace, const struct xsti_process *self, int64_t ordinal,
                             struct xst_diag *diag)
{
    const struct xst_group *const group = &workspace->group;
    struct xsti_introduction introduction;
    struct xsti_address address;
    enum xst_status status =
        workspace->driver_open ? introduce(workspace, self, ordinal, &introduction, diag) : XST_ERR_UNAVAILABLE;
    XSTI_TRY(xst_group_agree(group, status, diag));
    XSTI_TRY(gather_introductions(workspace, &introduction, diag));
    status = compare_all(workspace, diag);
    if (status == XST_OK)
        status = xsti_workspace_check_access(workspace, diag);
    XSTI_TRY(xst_group_agree(group, status, diag));
    XSTI_TRY(xst_group_agree(group, allocate(workspace, &address, diag), diag));
    XSTI_TRY(gather_addresses(workspace, &address, diag));
    workspace->shared = 1;
    return xst_group_agree(group, xsti_workspace_map(workspace, diag), diag);
}

static void release(struct xst_workspace *workspace)
{
    xsti_device_free(&workspace->device, workspace->own);
    xsti_device_close(&workspace->device);
    free(workspace->pointers);
    free(workspace->peers);
    free(workspace);
}

/* Takes it down, with the others unless there is nothing to wait for, or `alone`. The calling thread keeps the context it came with. */
static enum xst_status take_down(struct xst_workspace *workspace, int alone, struct xst_diag *diag)
{
    struct xsti_driver driver = workspace->driver;
    const int open = workspace->driver_open;
    CUcontext before = NULL;
    enum xst_status status = XST_OK;
    if (open)
        driver.cuCtxGetCurrent(&before);
    xsti_workspace_unmap(workspace);
    if (!alone && workspace->shared)
        status = xst_group_barrier(&workspace->group, diag);
    release(workspace);
    if (open) {
        driver.cuCtxSetCurrent(before);
        xsti_driver_close(&driver);
    }
    return status;
}

enum xst_status xsti_workspace_create(struct xsti_driver *driver, const struct xsti_process *self, size_t bytes,
                                      int64_t ordinal, const struct xst_group *group,
                                      struct xst_workspace **workspace_out, struct xst_diag *diag)
{
    const size_t ranks = group->ranks > 0 && group->ranks <= XST_GROUP_MOST_RANKS ? (size_t)group->ranks : 1;
    struct xst_workspace *const workspace = calloc(1, sizeof *workspace);
    uint64_t *const pointers = calloc(ranks, sizeof *pointers);
    struct xsti_peer *const peers = calloc(ranks, sizeof *peers);
    CUcontext before = NULL;
    if (!workspace || !pointers || !peers) {
        free(workspace);
        free(pointers);
        free(peers);
        if (driver)
            xsti_driver_close(driver);
        return xsti_fail_memory(diag);
    }
    *workspace = (struct xst_workspace){.driver_open = driver != NULL,
                                        .given = *group,
                                        .group = {group->rank, group->ranks, watched_gather, workspace},
                                        .bytes = bytes,
                                        .pointers = pointers,
                                        .peers = peers};
    if (driver) {
        workspace->driver = *driver;
        driver->cuCtxGetCurrent(&before);
    }
    const enum xst_status status = build(workspace, self, ordinal, diag);
    if (driver)
        workspace->driver.cuCtxSetCurrent(before);
    if (status == XST_OK) {
        *workspace_out = workspace;
        return XST_OK;
    }
    (void)take_down(workspace, 0, NULL);
    return status;
}

enum xst_status xst_workspace_create(size_t bytes, int64_t ordinal, const struct xst_group *group,
                                     struct xst_workspace **workspace_out, struct xst_diag *diag)
{
    struct xsti_driver driver;
    struct xsti_process self;
    struct xst_diag why = {0};
    const int there = xsti_driver_open(&driver, &why) == XST_OK;
    xsti_process_self(&self);
    const enum xst_status status =
        xsti_workspace_create(there ? &driver : NULL, &self, bytes, ordinal, group, workspace_out, &why);
    if (status != XST_OK && diag)
        *diag = why;
    return status;
}

enum xst_status xst_workspace_destroy(struct xst_workspace *workspace, struct xst_diag *diag)
{
    return workspace ? take_down(workspace, 0, diag) : XST_OK;
}

void xst_workspace_abandon(struct xst_workspace *workspace)
{
    if (workspace)
        (void)take_down(workspace, 1, NULL);
}

int64_t xst_workspace_rank(const struct xst_workspace *workspace)
{
    return workspace->group.rank;
}

int64_t xst_workspace_ranks(const struct xst_workspace *workspace)
{
    return workspace->group.ranks;
}

size_t xst_workspace_bytes(const struct xst_workspace *workspace)
{
    return workspace->bytes;
}

const uint64_t *xst_workspace_pointers(const struct xst_workspace *workspace)
{
    return workspace->pointers;
}

const char *xst_workspace_device(const struct xst_workspace *workspace, int64_t rank)
{
    return workspace->peers[rank].introduction.name;
}
