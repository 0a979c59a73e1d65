/* SPDX-License-Identifier: Apache-2.0
 *
 * workspace.h - device memory that all ranks of a group can write: each rank brings a block, all get the addresses of all.
 *
 * Kernels that store to their peers (fa_a2a_kernel.h, moe_kernel.h) want the peers' buffers "as mapped on this device". A
 * workspace is one such buffer a rank: ranks of the same process see it at its own address, ranks of other processes on the
 * same machine through a CUDA IPC handle. Devices are told apart by their UUIDs, never by their numbers, which
 * CUDA_VISIBLE_DEVICES changes from process to process; several ranks may share a device.
 *
 * The group's all-gather carries the handles (group.h): torch.distributed, MPI, threads of a test, or a rendezvous.
 */
#ifndef XSTAGE_WORKSPACE_H
#define XSTAGE_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/group.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xst_workspace;

/* Collective: every rank brings `bytes` bytes of device `ordinal` (its primary context, the one the CUDA run time uses), zeroed
 * before any rank returns. All ranks succeed, or none does and all get the same reason: ranks on different hosts
 * (XST_ERR_UNAVAILABLE), devices without access to each other (XST_ERR_UNAVAILABLE, both named), different sizes (XST_ERR_USAGE
 * with both values), too little memory (XST_ERR_MEMORY), no driver (XST_ERR_UNAVAILABLE), or what the group's all-gather says. */
enum xst_status xst_workspace_create(size_t bytes, int64_t ordinal, const struct xst_group *group,
                                     struct xst_workspace **workspace_out, struct xst_diag *diag);

int64_t xst_workspace_rank(const struct xst_workspace *workspace);
int64_t xst_workspace_ranks(const struct xst_workspace *workspace);
size_t xst_workspace_bytes(const struct xst_workspace *workspace);

/* [ranks] device addresses as mapped here, multiples of 1024. The array lives as long as the workspace. */
const uint64_t *xst_workspace_pointers(const struct xst_workspace *workspace);

/* UUID text of a rank's device ("GPU-..."). Valid as long as the workspace. */
const char *xst_workspace_device(const struct xst_workspace *workspace, int64_t rank);

/* Collective, when no rank's kernels use the workspace any more: every rank lets go of the others' memory, all wait for each
 * other, then every rank frees its own. The workspace is gone whatever comes back: where the others do not come (the
 * all-gather's error is returned) they are taken for dead, and the memory is freed all the same. NULL is fine. */
enum xst_status xst_workspace_destroy(struct xst_workspace *workspace, struct xst_diag *diag);

/* The same on this rank alone, for use after the group has failed: nobody is waited for. NULL is fine. */
void xst_workspace_abandon(struct xst_workspace *workspace);

#ifdef __cplusplus
}
#endif

#endif
