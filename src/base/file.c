/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

enum { MOST_BYTES = 256 << 20, CHUNK_BYTES = 1 << 16 };

static enum xst_status fail_errno(struct xst_diag *diag, const char *path, const char *what)
{
    return xsti_fail(diag, XST_ERR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Reads a descriptor to its end. */
static enum xst_status read_all(int fd, const char *path, char **text_out, size_t *bytes_out, struct xst_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0, room = 0;
    for (;;) {
        if (room - bytes < CHUNK_BYTES + 1) {
            room = room ? room * 2 : 2 * CHUNK_BYTES;
            char *const larger = realloc(text, room);
            if (!larger) {
                free(text);
                return xsti_fail_memory(diag);
            }
            text = larger;
        }
        const ssize_t got = read(fd, text + bytes, CHUNK_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(text);
            return fail_errno(diag, path, "read");
        }
        if (got == 0)
            break;
        bytes += (size_t)got;
        if (bytes > MOST_BYTES) {
            free(text);
            return xsti_fail(diag, XST_ERR_RANGE, "%s: more than %d MiB, the most this reader takes", path,
                             MOST_BYTES >> 20);
        }
    }
    text[bytes] = '\0';
    *text_out = text;
    *bytes_out = bytes;
    return XST_OK;
}

enum xst_status xsti_file_read(const char *path, char **text_out, size_t *bytes_out, struct xst_diag *diag)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", text_out, bytes_out, diag);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(diag, path, "open");
    struct stat info;
    enum xst_status status;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = xsti_fail(diag, XST_ERR_IO, "%s: is a directory, a file is needed", path);
    else
        status = read_all(fd, path, text_out, bytes_out, diag);
    close(fd);
    return status;
}

static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(fd, text, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        text += put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* For what cannot be replaced by rename: standard output, devices, pipes. */
static enum xst_status write_through(int fd, const char *path, const char *text, size_t bytes, struct xst_diag *diag)
{
    if (write_all(fd, text, bytes) != 0)
        return fail_errno(diag, path, "write");
    return XST_OK;
}

static enum xst_status write_device(const char *path, const char *text, size_t bytes, struct xst_diag *diag)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(diag, path, "open for writing");
    enum xst_status status = write_through(fd, path, text, bytes, diag);
    if (close(fd) != 0 && status == XST_OK)
        status = fail_errno(diag, path, "close");
    return status;
}

/* Moves the finished temporary file to its name. Without force the name must still be free at that moment. */
static enum xst_status move_into_place(const char *temporary, const char *path, int force, struct xst_diag *diag)
{
    if (force)
        return rename(temporary, path) == 0 ? XST_OK : fail_errno(diag, path, "write");
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return XST_OK;
    }
    if (errno == EEXIST)
        return xsti_fail(diag, XST_ERR_EXISTS, "%s: exists already; name another file or add --force", path);
    /* File systems without hard links: the check above the write must do. */
    return rename(temporary, path) == 0 ? XST_OK : fail_errno(diag, path, "write");
}

static void sync_folder(const char *path)
{
    char *const copy = strdup(path);
    if (!copy)
        return;
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

static enum xst_status write_regular(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag)
{
    /* A name of its own: the longest name a file may have leaves no room for an ending. */
    static const char pattern[] = ".xstage-XXXXXX.part";
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash + 1 - path) : 0;
    char *const temporary = malloc(length + sizeof pattern);
    if (!temporary)
        return xsti_fail_memory(diag);
    memcpy(temporary, path, length);
    memcpy(temporary + length, pattern, sizeof pattern);
    const int fd = mkostemps(temporary, (int)strlen(".part"), O_CLOEXEC);
    if (fd < 0) {
        free(temporary);
        return fail_errno(diag, path, "create a file beside it");
    }
    const mode_t mask = umask(0);
    umask(mask);
    enum xst_status status = XST_OK;
    if (fchmod(fd, 0666 & ~mask) != 0 || write_all(fd, text, bytes) != 0 || fsync(fd) != 0)
        status = fail_errno(diag, path, "write");
    if (close(fd) != 0 && status == XST_OK)
        status = fail_errno(diag, path, "close");
    if (status == XST_OK)
        status = move_into_place(temporary, path, force, diag);
    if (status != XST_OK)
        unlink(temporary);
    else
        sync_folder(path);
    free(temporary);
    return status;
}

enum xst_status xsti_file_write(const char *path, const char *text, size_t bytes, int force, struct xst_diag *diag)
{
    if (strcmp(path, "-") == 0)
        return write_through(STDOUT_FILENO, "standard output", text, bytes, diag);
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return xsti_fail(diag, XST_ERR_IO, "%s: is a directory, a file name is needed", path);
        if (!S_ISREG(info.st_mode))
            return write_device(path, text, bytes, diag);
        if (!force)
            return xsti_fail(diag, XST_ERR_EXISTS, "%s: exists already; name another file or add --force", path);
    }
    /* Through a symbolic link: the file it points to is replaced, the link stays. */
    char *const resolved = realpath(path, NULL);
    const enum xst_status status = write_regular(resolved ? resolved : path, text, bytes, force, diag);
    free(resolved);
    return status;
}
