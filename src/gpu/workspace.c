/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory every rank can write. Each step is done by all ranks, then they agree that all of them did it: one rank's
 * reason becomes everybody's, and nobody waits for a rank that has given up.
 */
#include "gpu/workspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* An allocation of its own for every workspace: a handle gives away the whole block it lies in, 2 MiB or more. */
enum { BLOCK_BYTES = 2 << 20, ALIGNMENT = 1024, UUID_BYTES = 48 };

/* What a rank says about itself before anything is allocated. */
struct introduction {
    struct xsti_process process;
    uint64_t bytes;
    CUuuid uuid;
    int32_t ordinal;
    char name[UUID_BYTES]; /* of the device */
};

/* Where a rank's memory is. */
struct address {
    uint64_t pointer; /* in its own process */
    CUipcMemHandle handle;
};

/* How a rank's memory got here. */
enum origin { OWN, SAME_PROCESS, OTHER_PROCESS };

struct peer {
    struct introduction introduction;
    struct address address;
    enum origin origin;
    int retained; /* same process: its device's context is held, so that access to it stays */
    CUdevice handle;
};

struct xst_workspace {
    struct xsti_driver driver;
    struct xsti_device device;
    int driver_open;
    int device_open;
    struct xst_group given;
    struct xst_group group; /* `given`, watched */
    int broken;             /* its all-gather has failed: nobody is asked any more */
    int shared;             /* all have each other's addresses: nobody frees before all have let go */
    size_t bytes;
    CUdeviceptr own;
    uint64_t *pointers; /* [ranks]; 0 until mapped */
    struct peer *peers; /* [ranks] */
};

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
                                 struct introduction *own_out, struct xst_diag *diag)
{
    struct introduction own;
    memset(&own, 0, sizeof own);
    if (ordinal < 0 || ordinal > INT32_MAX)
        return xsti_fail(diag, XST_ERR_RANGE, "workspace: device %lld; devices are numbered from 0",
                         (long long)ordinal);
    if (workspace->bytes == 0)
        return xsti_fail(diag, XST_ERR_RANGE, "workspace: 0 bytes; at least 1 is needed");
    XSTI_TRY(xsti_device_open(&workspace->driver, (int)ordinal, &workspace->device, diag));
    workspace->device_open = 1;
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
    const struct introduction *const first = &workspace->peers[0].introduction;
    for (int64_t r = 1; r < workspace->group.ranks; r++) {
        const struct introduction *const other = &workspace->peers[r].introduction;
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

/* The device of a UUID as this process numbers it; -1 where CUDA_VISIBLE_DEVICES hides it. */
static int find_device(const struct xsti_driver *driver, const CUuuid *uuid, CUdevice *handle_out)
{
    for (int i = 0; i < driver->device_count; i++) {
        CUuuid other;
        CUdevice handle = 0;
        if (driver->cuDeviceGet(&handle, i) == CUDA_SUCCESS &&
            driver->cuDeviceGetUuid(&other, handle) == CUDA_SUCCESS && memcmp(&other, uuid, sizeof other) == 0) {
            *handle_out = handle;
            return i;
        }
    }
    return -1;
}

/* Can this rank's device write that of rank r? A device that is hidden here cannot be asked about; mapping will tell. */
static enum xst_status check_access(struct xst_workspace *workspace, int64_t r, struct xst_diag *diag)
{
    const struct xsti_driver *const driver = &workspace->driver;
    struct peer *const peer = &workspace->peers[r];
    const struct introduction *const own = &workspace->peers[workspace->group.rank].introduction;
    CUdevice handle = 0;
    int can = 1;
    if (r == workspace->group.rank || memcmp(&peer->introduction.uuid, &own->uuid, sizeof own->uuid) == 0)
        return XST_OK;
    if (find_device(driver, &peer->introduction.uuid, &handle) < 0)
        return XST_OK;
    XSTI_CU(driver, cuDeviceCanAccessPeer(&can, workspace->device.handle, handle), workspace->device.ordinal, diag,
            "asking for access to %s", peer->introduction.name);
    if (!can)
        return xsti_fail(
            diag, XST_ERR_UNAVAILABLE,
            "workspace: device %d (%s) of rank %lld cannot write device %d (%s) of rank %lld: no peer access "
            "between them (xstage info shows the peer matrix)",
            own->ordinal, own->name, (long long)workspace->group.rank, peer->introduction.ordinal,
            peer->introduction.name, (long long)r);
    return XST_OK;
}

static enum xst_status check_all_access(struct xst_workspace *workspace, struct xst_diag *diag)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++)
        XSTI_TRY(check_access(workspace, r, diag));
    return XST_OK;
}

static enum xst_status gather_introductions(struct xst_workspace *workspace, const struct introduction *own,
                                            struct xst_diag *diag)
{
    const int64_t ranks = workspace->group.ranks;
    struct introduction *const all = calloc((size_t)ranks, sizeof *all);
    if (!all)
        return xsti_fail_memory(diag);
    const enum xst_status status = xst_group_gather(&workspace->group, own, sizeof *own, all, diag);
    for (int64_t r = 0; status == XST_OK && r < ranks; r++) {
        all[r].name[sizeof all[r].name - 1] = '\0';
        all[r].process.host_name[sizeof all[r].process.host_name - 1] = '\0';
        workspace->peers[r].introduction = all[r];
        workspace->peers[r].origin = r == workspace->group.rank                          ? OWN
                                     : xsti_process_same(&all[r].process, &own->process) ? SAME_PROCESS
                                                                                         : OTHER_PROCESS;
    }
    free(all);
    return status;
}

static enum xst_status allocate(struct xst_workspace *workspace, struct address *own_out, struct xst_diag *diag)
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
        others |= workspace->peers[r].origin == OTHER_PROCESS;
    return others ? xsti_ipc_export(&workspace->device, workspace->own, &own_out->handle, diag) : XST_OK;
}

static enum xst_status gather_addresses(struct xst_workspace *workspace, const struct address *own,
                                        struct xst_diag *diag)
{
    const int64_t ranks = workspace->group.ranks;
    struct address *const all = calloc((size_t)ranks, sizeof *all);
    if (!all)
        return xsti_fail_memory(diag);
    const enum xst_status status = xst_group_gather(&workspace->group, own, sizeof *own, all, diag);
    for (int64_t r = 0; status == XST_OK && r < ranks; r++)
        workspace->peers[r].address = all[r];
    free(all);
    return status;
}

/* Another rank of this process: its address is good here once the two devices may reach each other. */
static enum xst_status reach(struct xst_workspace *workspace, struct peer *peer, struct xst_diag *diag)
{
    const struct xsti_driver *const driver = &workspace->driver;
    const struct introduction *const own = &workspace->peers[workspace->group.rank].introduction;
    const int ordinal = workspace->device.ordinal;
    CUcontext context = NULL;
    if (memcmp(&peer->introduction.uuid, &own->uuid, sizeof own->uuid) == 0)
        return XST_OK;
    if (find_device(driver, &peer->introduction.uuid, &peer->handle) < 0)
        return xsti_fail(diag, XST_ERR_DEVICE, "workspace: device %s is not there any more", peer->introduction.name);
    XSTI_CU(driver, cuDevicePrimaryCtxRetain(&context, peer->handle), peer->introduction.ordinal, diag,
            "holding its context");
    peer->retained = 1;
    XSTI_TRY(xsti_device_use(&workspace->device, diag));
    const CUresult result = driver->cuCtxEnablePeerAccess(context, 0);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        return xsti_cu_fail(driver, result, ordinal, diag, "enabling access to %s", peer->introduction.name);
    return XST_OK;
}

static enum xst_status map_one(struct xst_workspace *workspace, int64_t r, struct xst_diag *diag)
{
    struct peer *const peer = &workspace->peers[r];
    CUdeviceptr pointer = peer->address.pointer;
    if (peer->origin == SAME_PROCESS)
        XSTI_TRY(reach(workspace, peer, diag));
    if (peer->origin == OTHER_PROCESS)
        XSTI_TRY(xsti_ipc_open(&workspace->device, &peer->address.handle, &pointer, diag));
    workspace->pointers[r] = pointer;
    if (pointer % ALIGNMENT != 0)
        return xsti_fail(diag, XST_ERR_DEVICE, "workspace: rank %lld's memory is at 0x%llx, not a multiple of %d",
                         (long long)r, (unsigned long long)pointer, ALIGNMENT);
    return XST_OK;
}

static enum xst_status map_all(struct xst_workspace *workspace, struct xst_diag *diag)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++)
        XSTI_TRY(map_one(workspace, r, diag));
    return XST_OK;
}

/* Every step, and after each the agreement that all ranks have made it. */
static enum xst_status build(struct xst_workspace *workspace, const struct xsti_process *self, int64_t ordinal,
                             struct xst_diag *diag)
{
    const struct xst_group *const group = &workspace->group;
    struct introduction introduction;
    struct address address;
    enum xst_status status =
        workspace->driver_open ? introduce(workspace, self, ordinal, &introduction, diag) : XST_ERR_UNAVAILABLE;
    XSTI_TRY(xst_group_agree(group, status, diag));
    XSTI_TRY(gather_introductions(workspace, &introduction, diag));
    status = compare_all(workspace, diag);
    if (status == XST_OK)
        status = check_all_access(workspace, diag);
    XSTI_TRY(xst_group_agree(group, status, diag));
    XSTI_TRY(xst_group_agree(group, allocate(workspace, &address, diag), diag));
    XSTI_TRY(gather_addresses(workspace, &address, diag));
    workspace->shared = 1;
    return xst_group_agree(group, map_all(workspace, diag), diag);
}

/* Lets go of the others' memory. */
static void unmap_all(struct xst_workspace *workspace)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++) {
        struct peer *const peer = &workspace->peers[r];
        if (peer->origin == OTHER_PROCESS && workspace->pointers[r])
            xsti_ipc_close(&workspace->device, workspace->pointers[r]);
        if (peer->retained)
            workspace->driver.cuDevicePrimaryCtxRelease(peer->handle);
        workspace->pointers[r] = 0;
        peer->retained = 0;
    }
}

static void release(struct xst_workspace *workspace)
{
    if (workspace->device_open) {
        xsti_device_free(&workspace->device, workspace->own);
        xsti_device_close(&workspace->device);
    }
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
    unmap_all(workspace);
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
    struct peer *const peers = calloc(ranks, sizeof *peers);
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
