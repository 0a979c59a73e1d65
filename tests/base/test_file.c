/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

struct room {
    char *folder;
    char *path;
    struct xst_diag diag;
};

static int make_room(void **state)
{
    struct room *const room = calloc(1, sizeof *room);
    room->folder = xt_folder_make();
    room->path = xt_join(room->folder, "out.json");
    *state = room;
    return 0;
}

static int remove_room(void **state)
{
    struct room *const room = *state;
    xt_folder_remove(room->folder);
    free(room->path);
    free(room);
    return 0;
}

static void assert_holds(const char *path, const char *text)
{
    char *const found = xt_file_text(path, NULL);
    assert_string_equal(found, text);
    free(found);
}

static void writes_and_reads_back(void **state)
{
    struct room *const room = *state;
    char *text = NULL;
    size_t bytes = 99;
    xt_ok(xsti_file_write(room->path, "a\0b", 3, 0, &room->diag), &room->diag);
    xt_ok(xsti_file_read(room->path, &text, &bytes, &room->diag), &room->diag);
    assert_int_equal(bytes, 3);
    assert_memory_equal(text, "a\0b\0", 4);
    free(text);
    assert_int_equal(xt_folder_count(room->folder), 1);
}

static void empty_files_are_files(void **state)
{
    struct room *const room = *state;
    char *text = NULL;
    size_t bytes = 99;
    xt_ok(xsti_file_write(room->path, "", 0, 0, &room->diag), &room->diag);
    xt_ok(xsti_file_read(room->path, &text, &bytes, &room->diag), &room->diag);
    assert_int_equal(bytes, 0);
    assert_string_equal(text, "");
    free(text);
}

static void big_files_come_back_whole(void **state)
{
    struct room *const room = *state;
    static const size_t sizes[] = {65535, 65536, 65537, 131072, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *const want = malloc(sizes[i]);
        for (size_t b = 0; b < sizes[i]; b++)
            want[b] = (char)(b * 31);
        char *text = NULL;
        size_t bytes = 0;
        xt_ok(xsti_file_write(room->path, want, sizes[i], 1, &room->diag), &room->diag);
        xt_ok(xsti_file_read(room->path, &text, &bytes, &room->diag), &room->diag);
        assert_int_equal(bytes, sizes[i]);
        assert_memory_equal(text, want, bytes);
        free(text);
        free(want);
    }
    assert_int_equal(xt_folder_count(room->folder), 1);
}

static void existing_file_needs_force(void **state)
{
    struct room *const room = *state;
    xt_file_make(room->path, "old", 3);
    xt_status(xsti_file_write(room->path, "new", 3, 0, &room->diag), XST_ERR_EXISTS, &room->diag);
    xt_contains(room->diag.text, room->path);
    xt_contains(room->diag.text, "--force");
    assert_holds(room->path, "old");
    xt_ok(xsti_file_write(room->path, "new", 3, 1, &room->diag), &room->diag);
    assert_holds(room->path, "new");
    assert_int_equal(xt_folder_count(room->folder), 1);
}

/* A limit on file size stands for a full disk: write() fails half way. */
static void failure_keeps_the_old_file(void **state)
{
    struct room *const room = *state;
    enum { BYTES = 1 << 20 };
    char *const text = calloc(1, BYTES);
    struct rlimit before, small;
    xt_file_make(room->path, "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const enum xst_status status = xsti_file_write(room->path, text, BYTES, 1, &room->diag);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    free(text);
    xt_status(status, XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, room->path);
    xt_contains(room->diag.text, strerror(EFBIG));
    assert_holds(room->path, "old");
    assert_int_equal(xt_folder_count(room->folder), 1);
}

static void full_device(void **state)
{
    struct room *const room = *state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    xt_status(xsti_file_write("/dev/full", "x", 1, 0, &room->diag), XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, "/dev/full");
    xt_contains(room->diag.text, strerror(ENOSPC));
    xt_status(xsti_file_write("/dev/full", "x", 1, 1, &room->diag), XST_ERR_IO, &room->diag);
    struct stat info;
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    xt_ok(xsti_file_write("/dev/null", "x", 1, 0, &room->diag), &room->diag);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void full_standard_output(void **state)
{
    struct room *const room = *state;
    const int full = open("/dev/full", O_WRONLY);
    if (full < 0)
        skip();
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    dup2(full, STDOUT_FILENO);
    const enum xst_status status = xsti_file_write("-", "x", 1, 0, &room->diag);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    xt_status(status, XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, "standard output");
}

static void closed_pipe_is_an_error(void **state)
{
    struct room *const room = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const enum xst_status status = xsti_file_write(path, "x", 1, 0, &room->diag);
    signal(SIGPIPE, SIG_DFL);
    close(ends[1]);
    xt_status(status, XST_ERR_IO, &room->diag);
}

static void directories_are_refused(void **state)
{
    struct room *const room = *state;
    char *text = NULL;
    size_t bytes = 0;
    xt_status(xsti_file_read(room->folder, &text, &bytes, &room->diag), XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, "is a directory");
    assert_null(text);
    for (int force = 0; force < 2; force++) {
        xt_status(xsti_file_write(room->folder, "x", 1, force, &room->diag), XST_ERR_IO, &room->diag);
        xt_contains(room->diag.text, "is a directory");
    }
    assert_int_equal(xt_folder_count(room->folder), 0);
}

static void missing_names(void **state)
{
    struct room *const room = *state;
    char *text = NULL;
    size_t bytes = 0;
    xt_status(xsti_file_read(room->path, &text, &bytes, &room->diag), XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, room->path);
    xt_contains(room->diag.text, strerror(ENOENT));
    xt_status(xsti_file_read("", &text, &bytes, &room->diag), XST_ERR_IO, &room->diag);
    xt_status(xsti_file_write("", "x", 1, 1, &room->diag), XST_ERR_IO, &room->diag);
    char *const inside = xt_join(room->path, "deeper.json");
    xt_status(xsti_file_write(inside, "x", 1, 0, &room->diag), XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, inside);
    free(inside);
    assert_int_equal(xt_folder_count(room->folder), 0);
}

static void long_names(void **state)
{
    struct room *const room = *state;
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[NAME_MAX + 1] = '\0';
    char *const longer = xt_join(room->folder, name);
    xt_status(xsti_file_write(longer, "x", 1, 0, &room->diag), XST_ERR_IO, &room->diag);
    assert_int_equal(xt_folder_count(room->folder), 0);
    /* The longest name the file system takes must work, temporary name or not. */
    name[NAME_MAX] = '\0';
    char *const longest = xt_join(room->folder, name);
    xt_ok(xsti_file_write(longest, "x", 1, 0, &room->diag), &room->diag);
    assert_holds(longest, "x");
    xt_ok(xsti_file_write(longest, "y", 1, 1, &room->diag), &room->diag);
    assert_holds(longest, "y");
    assert_int_equal(xt_folder_count(room->folder), 1);
    char deep[5000];
    memset(deep, '/', sizeof deep - 1);
    memset(deep + 4500, 'x', sizeof deep - 4501);
    deep[sizeof deep - 1] = '\0';
    xt_status(xsti_file_write(deep, "x", 1, 0, &room->diag), XST_ERR_IO, &room->diag);
    free(longer);
    free(longest);
}

static void unreadable_and_unwritable(void **state)
{
    struct room *const room = *state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    char *text = NULL;
    size_t bytes = 0;
    xt_file_make(room->path, "old", 3);
    assert_int_equal(chmod(room->path, 0), 0);
    xt_status(xsti_file_read(room->path, &text, &bytes, &room->diag), XST_ERR_IO, &room->diag);
    xt_contains(room->diag.text, strerror(EACCES));
    assert_int_equal(chmod(room->folder, 0500), 0);
    xt_status(xsti_file_write(room->path, "new", 3, 1, &room->diag), XST_ERR_IO, &room->diag);
    assert_int_equal(chmod(room->folder, 0700), 0);
    assert_int_equal(xt_folder_count(room->folder), 1);
}

/* Writing through a symbolic link replaces what it points to, as with every other tool: the link stays. */
static void symbolic_links(void **state)
{
    struct room *const room = *state;
    char *const target = xt_join(room->folder, "target.json");
    xt_file_make(target, "old", 3);
    assert_int_equal(symlink("target.json", room->path), 0);
    xt_status(xsti_file_write(room->path, "new", 3, 0, &room->diag), XST_ERR_EXISTS, &room->diag);
    assert_holds(target, "old");
    xt_ok(xsti_file_write(room->path, "new", 3, 1, &room->diag), &room->diag);
    assert_holds(target, "new");
    struct stat info;
    assert_int_equal(lstat(room->path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(xt_folder_count(room->folder), 2);
    /* A link to nothing is a name that is taken. */
    assert_int_equal(unlink(target), 0);
    xt_status(xsti_file_write(room->path, "new", 3, 0, &room->diag), XST_ERR_EXISTS, &room->diag);
    free(target);
}

static void mode_follows_umask(void **state)
{
    struct room *const room = *state;
    const mode_t before = umask(027);
    const enum xst_status status = xsti_file_write(room->path, "x", 1, 0, &room->diag);
    umask(before);
    xt_ok(status, &room->diag);
    struct stat info;
    assert_int_equal(stat(room->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void standard_input(void **state)
{
    struct room *const room = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    const int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    char *text = NULL;
    size_t bytes = 0;
    const enum xst_status status = xsti_file_read("-", &text, &bytes, &room->diag);
    if (saved >= 0)
        dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    xt_ok(status, &room->diag);
    assert_int_equal(bytes, 5);
    assert_string_equal(text, "piped");
    free(text);
}

/* A device that never ends is refused at the reader's limit, not read until memory is gone. */
static void endless_input(void **state)
{
    struct room *const room = *state;
    char *text = NULL;
    size_t bytes = 0;
    xt_status(xsti_file_read("/dev/zero", &text, &bytes, &room->diag), XST_ERR_RANGE, &room->diag);
    xt_contains(room->diag.text, "256 MiB");
    assert_null(text);
}

int main(void)
{
#define IN_ROOM(test) cmocka_unit_test_setup_teardown(test, make_room, remove_room)
    const struct CMUnitTest tests[] = {
        IN_ROOM(writes_and_reads_back),
        IN_ROOM(empty_files_are_files),
        IN_ROOM(big_files_come_back_whole),
        IN_ROOM(existing_file_needs_force),
        IN_ROOM(failure_keeps_the_old_file),
        IN_ROOM(full_device),
        IN_ROOM(full_standard_output),
        IN_ROOM(closed_pipe_is_an_error),
        IN_ROOM(directories_are_refused),
        IN_ROOM(missing_names),
        IN_ROOM(long_names),
        IN_ROOM(unreadable_and_unwritable),
        IN_ROOM(symbolic_links),
        IN_ROOM(mode_follows_umask),
        IN_ROOM(standard_input),
        IN_ROOM(endless_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
