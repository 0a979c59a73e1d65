/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/diag.h"

enum xst_status xsti_lock_take(const char *uuid, int *descriptor_out, struct xst_diag *diag)
{
    char path[256], owner[32] = "";
    /* One folder for all users: two of them disturb each other as much as one does himself. */
    snprintf(path, sizeof path, "/tmp/xstage-%s.lock", uuid);
    const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    *descriptor_out = -1;
    if (descriptor < 0)
        return XST_OK;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const int reason = errno;
        const ssize_t got = pread(descriptor, owner, sizeof owner - 1, 0);
        owner[got > 0 ? strcspn(owner, "\n") : 0] = '\0';
        close(descriptor);
        if (reason != EWOULDBLOCK)
            return XST_OK;
        return xsti_fail(diag, XST_ERR_DEVICE,
                         "process %s is measuring this device (%s): two at once would measure each other",
                         owner[0] ? owner : "?", uuid);
    }
    snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, owner, strlen(owner), 0) < 0)
        errno = 0; /* the number is for people; the lock holds without it */
    *descriptor_out = descriptor;
    return XST_OK;
}

void xsti_lock_release(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}
