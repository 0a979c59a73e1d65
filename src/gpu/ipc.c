/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_line(const char *path, char *text_out, size_t bytes)
{
    FILE *const file = fopen(path, "re");
    text_out[0] = '\0';
    if (!file)
        return;
    if (!fgets(text_out, (int)bytes, file))
        text_out[0] = '\0';
    text_out[strcspn(text_out, "\n")] = '\0';
    fclose(file);
}

/* The 22nd field of /proc/self/stat; the second, the program's name, may hold anything. */
static uint64_t read_start_ticks(void)
{
    enum { FIELDS_BEHIND_NAME = 20 };
    char line[1024];
    read_line("/proc/self/stat", line, sizeof line);
    const char *at = strrchr(line, ')');
    for (int i = 0; at && i < FIELDS_BEHIND_NAME; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

void xsti_process_self(struct xsti_process *self_out)
{
    struct stat space;
    struct xsti_process self;
    memset(&self, 0, sizeof self);
    if (gethostname(self.host_name, sizeof self.host_name - 1) != 0)
        snprintf(self.host_name, sizeof self.host_name, "?");
    read_line("/proc/sys/kernel/random/boot_id", self.host, sizeof self.host);
    if (!self.host[0])
        memcpy(self.host, self.host_name, sizeof self.host);
    self.pid = (uint64_t)getpid();
    self.pid_space = stat("/proc/self/ns/pid", &space) == 0 ? (uint64_t)space.st_ino : 0;
    self.start_ticks = read_start_ticks();
    *self_out = self;
}

int xsti_process_same_host(const struct xsti_process *a, const struct xsti_process *b)
{
    return strncmp(a->host, b->host, sizeof a->host) == 0;
}

int xsti_process_same(const struct xsti_process *a, const struct xsti_process *b)
{
    return xsti_process_same_host(a, b) && a->pid == b->pid && a->pid_space == b->pid_space &&
           a->start_ticks == b->start_ticks;
}

static enum xst_status need_ipc(const struct xsti_device *device, struct xst_diag *diag)
{
    const struct xsti_driver *const driver = device->driver;
    if (driver->cuIpcGetMemHandle && driver->cuIpcOpenMemHandle && driver->cuIpcCloseMemHandle)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                     "device %d: the driver lacks cuIpcGetMemHandle, so its memory cannot be given to other processes",
                     device->ordinal);
}

enum xst_status xsti_ipc_export(const struct xsti_device *device, CUdeviceptr pointer, CUipcMemHandle *handle_out,
                                struct xst_diag *diag)
{
    CUipcMemHandle handle;
    XSTI_TRY(need_ipc(device, diag));
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuIpcGetMemHandle(&handle, pointer), device->ordinal, diag,
            "making a handle of its memory for other processes");
    *handle_out = handle;
    return XST_OK;
}

enum xst_status xsti_ipc_open(const struct xsti_device *device, const CUipcMemHandle *handle, CUdeviceptr *pointer_out,
                              struct xst_diag *diag)
{
    CUdeviceptr pointer = 0;
    XSTI_TRY(need_ipc(device, diag));
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_CU(device->driver, cuIpcOpenMemHandle(&pointer, *handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), device->ordinal,
            diag, "mapping memory of another process");
    *pointer_out = pointer;
    return XST_OK;
}

void xsti_ipc_close(const struct xsti_device *device, CUdeviceptr pointer)
{
    if (pointer && xsti_device_use(device, NULL) == XST_OK)
        device->driver->cuIpcCloseMemHandle(pointer);
}
