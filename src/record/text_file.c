/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/text_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"

enum xst_status xst_text_write(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag)
{
    return xsti_file_write(path, text, bytes, force, diag);
}

/* A file that does not exist yet needs a folder that takes it. */
static enum xst_status check_folder(const char *path, struct xst_diag *diag)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("./");
    if (!folder)
        return xsti_fail_memory(diag);
    const int there = access(folder, W_OK | X_OK) == 0;
    const int reason = errno;
    free(folder);
    if (there)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_IO, "%s: cannot create a file beside it: %s", path, strerror(reason));
}

enum xst_status xst_text_check(const char *path, int force, struct xst_diag *diag)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return XST_OK;
    if (stat(path, &info) != 0)
        return check_folder(path, diag);
    if (S_ISDIR(info.st_mode))
        return xsti_fail(diag, XST_ERR_IO, "%s: is a directory, a file name is needed", path);
    if (S_ISREG(info.st_mode) && !force)
        return xsti_fail(diag, XST_ERR_EXISTS, "%s: exists already; name another file or add --force", path);
    return XST_OK;
}
