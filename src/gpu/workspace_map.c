/* SPDX-License-Identifier: Apache-2.0
 *
 * Reaching the other ranks' memory: through peer access in this process, through IPC handles from others.
 */
#include <string.h>

#include "base/diag.h"
#include "gpu/workspace.h"

enum { ALIGNMENT = 1024 };

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
    struct xsti_peer *const peer = &workspace->peers[r];
    const struct xsti_introduction *const own = &workspace->peers[workspace->group.rank].introduction;
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

enum xst_status xsti_workspace_check_access(struct xst_workspace *workspace, struct xst_diag *diag)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++)
        XSTI_TRY(check_access(workspace, r, diag));
    return XST_OK;
}

/* Another rank of this process: its address is good here once the two devices may reach each other. */
static enum xst_status reach(struct xst_workspace *workspace, struct xsti_peer *peer, struct xst_diag *diag)
{
    const struct xsti_driver *const driver = &workspace->driver;
    const struct xsti_introduction *const own = &workspace->peers[workspace->group.rank].introduction;
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
    struct xsti_peer *const peer = &workspace->peers[r];
    CUdeviceptr pointer = peer->address.pointer;
    if (peer->origin == XSTI_ORIGIN_SAME_PROCESS)
        XSTI_TRY(reach(workspace, peer, diag));
    if (peer->origin == XSTI_ORIGIN_OTHER_PROCESS)
        XSTI_TRY(xsti_ipc_open(&workspace->device, &peer->address.handle, &pointer, diag));
    workspace->pointers[r] = pointer;
    if (pointer % ALIGNMENT != 0)
        return xsti_fail(diag, XST_ERR_DEVICE, "workspace: rank %lld's memory is at 0x%llx, not a multiple of %d",
                         (long long)r, (unsigned long long)pointer, ALIGNMENT);
    return XST_OK;
}

enum xst_status xsti_workspace_map(struct xst_workspace *workspace, struct xst_diag *diag)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++)
        XSTI_TRY(map_one(workspace, r, diag));
    return XST_OK;
}

void xsti_workspace_unmap(struct xst_workspace *workspace)
{
    for (int64_t r = 0; r < workspace->group.ranks; r++) {
        struct xsti_peer *const peer = &workspace->peers[r];
        if (peer->origin == XSTI_ORIGIN_OTHER_PROCESS && workspace->pointers[r])
            xsti_ipc_close(&workspace->device, workspace->pointers[r]);
        if (peer->retained)
            workspace->driver.cuDevicePrimaryCtxRelease(peer->handle);
        workspace->pointers[r] = 0;
        peer->retained = 0;
    }
}
