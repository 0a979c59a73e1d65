/* SPDX-License-Identifier: Apache-2.0
 *
 * ipc.h - device memory of another process on this machine, and what tells processes and machines apart.
 */
#ifndef XSTI_GPU_IPC_H
#define XSTI_GPU_IPC_H

#include "gpu/device.h"

/* A process, so that two of them are never taken for one: numbers repeat over time and between containers. */
struct xsti_process {
    char host[64];        /* boot id of the kernel, else the host's name: the same for all containers of a machine */
    char host_name[64];   /* for people */
    uint64_t pid;         /* as the process itself sees it */
    uint64_t pid_space;   /* of containers: the inode of its pid namespace */
    uint64_t start_ticks; /* since boot */
};

void xsti_process_self(struct xsti_process *self_out);
int xsti_process_same(const struct xsti_process *a, const struct xsti_process *b);
int xsti_process_same_host(const struct xsti_process *a, const struct xsti_process *b);

/* A handle for a whole allocation of this process. */
enum xst_status xsti_ipc_export(const struct xsti_device *device, CUdeviceptr pointer, CUipcMemHandle *handle_out,
                                struct xst_diag *diag);

/* Maps another process's allocation for `device`, whichever device it lies on. */
enum xst_status xsti_ipc_open(const struct xsti_device *device, const CUipcMemHandle *handle, CUdeviceptr *pointer_out,
                              struct xst_diag *diag);
void xsti_ipc_close(const struct xsti_device *device, CUdeviceptr pointer);

#endif
