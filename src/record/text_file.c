/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/text_file.h>

#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/file.h"

enum xst_status xst_text_write(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag)
{
    return xsti_file_write(path, text, bytes, force, diag);
}

enum xst_status xst_text_check(const char *path, int force, struct xst_diag *diag)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0)
        return XST_OK;
    if (S_ISDIR(info.st_mode))
        return xsti_fail(diag, XST_ERR_IO, "%s: is a directory, a file name is needed", path);
    if (S_ISREG(info.st_mode) && !force)
        return xsti_fail(diag, XST_ERR_EXISTS, "%s: exists already; name another file or add --force", path);
    return XST_OK;
}
