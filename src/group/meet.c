/* SPDX-License-Identifier: Apache-2.0 */
#include "group/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/diag.h"
#include "base/text.h"
#include "group/wire.h"

enum { BACKLOG = 128 };

/* "HOST:PORT", "[v6]:PORT", ":PORT", "PORT" */
static enum xst_status parse_tcp(struct xsti_place *place, const char *text, struct xst_diag *diag)
{
    const char *const colon = strrchr(text, ':');
    const char *host = text, *const port = colon ? colon + 1 : text;
    size_t host_bytes = colon ? (size_t)(colon - text) : 0;
    int64_t number = 0;
    if (host_bytes >= 2 && host[0] == '[' && host[host_bytes - 1] == ']') {
        host++;
        host_bytes -= 2;
    }
    if (xsti_parse_int(port, strlen(port), &number) != XSTI_NUMBER_OK || number < 1 || number > 65535)
        return xsti_fail(diag, XST_ERR_USAGE,
                         "rendezvous \"%.100s\": the port is a number in 1..65535, as in "
                         "tcp://127.0.0.1:29400",
                         place->where);
    snprintf(place->port, sizeof place->port, "%d", (int)number);
    snprintf(place->host, sizeof place->host, "%.*s", (int)host_bytes, host);
    return XST_OK;
}

enum xst_status xsti_place_parse(const char *where, const char *job, struct xsti_place *place_out,
                                 struct xst_diag *diag)
{
    struct xsti_place place = {.where = where};
    if (strlen(where) >= XST_GROUP_TEXT_BYTES)
        return xsti_fail(diag, XST_ERR_USAGE, "rendezvous: %zu bytes, more than %d", strlen(where),
                         XST_GROUP_TEXT_BYTES - 1);
    if (strncmp(where, "tcp://", 6) == 0) {
        XSTI_TRY(parse_tcp(&place, where + 6, diag));
        place.kind = XSTI_PLACE_TCP;
    } else if (strncmp(where, "file:", 5) == 0 && where[5]) {
        place.kind = XSTI_PLACE_FILE;
        snprintf(place.folder, sizeof place.folder, "%s", where + 5);
    } else if (strcmp(where, "local:") != 0) {
        return xsti_fail(diag, XST_ERR_USAGE, "rendezvous \"%.100s\" is none of local:, file:DIR and tcp://HOST:PORT",
                         where);
    }
    snprintf(place.name, sizeof place.name, "xstage-%ld-%016llx", (long)geteuid(),
             (unsigned long long)XXH3_64bits(job, strlen(job)));
    *place_out = place;
    return XST_OK;
}

/* A socket address has room for 107 bytes; through the open folder every folder fits. Without a folder the name begins with a
 * NUL, which makes no file. */
static socklen_t address_of(const struct xsti_place *place, int folder, struct sockaddr_un *address_out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (place->kind == XSTI_PLACE_LOCAL)
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", place->name);
    else
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.63s", folder, place->name);
    *address_out = address;
    return sizeof address;
}

static enum xst_status open_folder(const struct xsti_place *place, int *folder_out, struct xst_diag *diag)
{
    const int folder = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return xsti_fail(diag, XST_ERR_IO, "rendezvous %s: cannot open the folder: %s", place->where, strerror(errno));
    *folder_out = folder;
    return XST_OK;
}

static void lock_name(const struct xsti_place *place, char name_out[80])
{
    snprintf(name_out, 80, "%s.lock", place->name);
}

/* Takes the lock file. One whose name went away meanwhile belonged to a rendezvous that just ended: once more. */
static enum xst_status take_lock(const struct xsti_place *place, int folder, int *lock_out, struct xst_diag *diag)
{
    char name[80], owner[32] = "";
    lock_name(place, name);
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat by_name, by_descriptor;
        const int lock = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return xsti_fail(diag, XST_ERR_IO, "rendezvous %s: cannot make %s: %s", place->where, name,
                             strerror(errno));
        if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
            const ssize_t got = pread(lock, owner, sizeof owner - 1, 0);
            owner[got > 0 ? strcspn(owner, "\n") : 0] = '\0';
            close(lock);
            return xsti_fail(diag, XST_ERR_EXISTS,
                             "rendezvous %s: process %s waits there as rank 0 of the same job already (%s)",
                             place->where, owner[0] ? owner : "?", name);
        }
        if (fstat(lock, &by_descriptor) == 0 && fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
            by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev) {
            snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
            if (ftruncate(lock, 0) != 0 || pwrite(lock, owner, strlen(owner), 0) < 0)
                errno = 0; /* the number is for people; the lock holds without it */
            *lock_out = lock;
            return XST_OK;
        }
        close(lock);
    }
    return xsti_fail(diag, XST_ERR_IO, "rendezvous %s: %s is made and removed all the time", place->where, name);
}

static enum xst_status open_unix_door(struct xsti_door *door, struct xst_diag *diag)
{
    const struct xsti_place *const place = door->place;
    const int is_file = place->kind == XSTI_PLACE_FILE;
    struct sockaddr_un address;
    if (is_file) {
        XSTI_TRY(open_folder(place, &door->folder, diag));
        XSTI_TRY(take_lock(place, door->folder, &door->lock, diag));
        /* The lock is ours, so whoever made this socket is gone. */
        unlinkat(door->folder, place->name, 0);
    }
    const socklen_t bytes = address_of(place, door->folder, &address);
    door->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->socket >= 0 && bind(door->socket, (const struct sockaddr *)&address, bytes) == 0 &&
        (!is_file || fchmodat(door->folder, place->name, 0600, 0) == 0) && listen(door->socket, BACKLOG) == 0)
        return XST_OK;
    if (errno == EADDRINUSE)
        return xsti_fail(diag, XST_ERR_EXISTS, "rendezvous %s: rank 0 of the same job waits there already (%s)",
                         place->where, place->name);
    return xsti_fail(diag, XST_ERR_IO, "rendezvous %s: cannot listen there: %s", place->where, strerror(errno));
}

static enum xst_status resolve(const struct xsti_place *place, struct addrinfo **list_out, struct xst_diag *diag)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    const int bad = getaddrinfo(place->host[0] ? place->host : "127.0.0.1", place->port, &hints, list_out);
    if (bad)
        return xsti_fail(diag, XST_ERR_IO, "rendezvous %s: %s", place->where, gai_strerror(bad));
    return XST_OK;
}

static enum xst_status open_tcp_door(struct xsti_door *door, struct xst_diag *diag)
{
    struct addrinfo *list = NULL;
    const int on = 1;
    int reason = 0;
    XSTI_TRY(resolve(door->place, &list, diag));
    for (const struct addrinfo *at = list; at && door->socket < 0; at = at->ai_next) {
        door->socket = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (door->socket >= 0 && setsockopt(door->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
            bind(door->socket, at->ai_addr, at->ai_addrlen) == 0 && listen(door->socket, BACKLOG) == 0)
            break;
        reason = errno;
        if (door->socket >= 0)
            close(door->socket);
        door->socket = -1;
    }
    freeaddrinfo(list);
    if (door->socket < 0)
        return xsti_fail(diag, reason == EADDRINUSE ? XST_ERR_EXISTS : XST_ERR_IO,
                         "rendezvous %s: rank 0 cannot listen there: %s", door->place->where, strerror(reason));
    return XST_OK;
}

enum xst_status xsti_door_open(const struct xsti_place *place, struct xsti_door *door_out, struct xst_diag *diag)
{
    struct xsti_door door = {-1, -1, -1, place};
    const enum xst_status status =
        place->kind == XSTI_PLACE_TCP ? open_tcp_door(&door, diag) : open_unix_door(&door, diag);
    if (status != XST_OK)
        xsti_door_close(&door);
    else
        *door_out = door;
    return status;
}

void xsti_door_close(struct xsti_door *door)
{
    char name[80];
    /* The socket's name goes first, the lock last: nobody can take a name that is still in use. */
    if (door->lock >= 0) {
        lock_name(door->place, name);
        unlinkat(door->folder, door->place->name, 0);
        unlinkat(door->folder, name, 0);
    }
    if (door->socket >= 0)
        close(door->socket);
    if (door->lock >= 0)
        close(door->lock);
    if (door->folder >= 0)
        close(door->folder);
    door->socket = door->lock = door->folder = -1;
}

/* Over a local socket both sides must be the same user; over TCP small frames must not wait for each other. */
static int is_welcome(int socket, int is_tcp)
{
    struct ucred other;
    socklen_t bytes = sizeof other;
    const int on = 1;
    if (is_tcp)
        return setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 && other.uid == geteuid();
}

int xsti_door_accept(const struct xsti_door *door)
{
    const int came = accept4(door->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (came >= 0 && is_welcome(came, door->place->kind == XSTI_PLACE_TCP))
        return came;
    if (came >= 0)
        close(came);
    return -1;
}

/* connect() of a blocking socket obeys this: where nobody answers it must not outwait the caller. */
static int limit_connect(int socket, double deadline)
{
    const double left_s = deadline - xsti_wire_now();
    const struct timeval left = {(time_t)(left_s > 1 ? left_s : 1), 0};
    return setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left);
}

/* One try; -1 with errno. A refused or a missing place is one where rank 0 is not yet. */
static int try_unix(const struct xsti_place *place, int folder, double deadline)
{
    struct sockaddr_un address;
    const socklen_t bytes = address_of(place, folder, &address);
    const int came = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (came < 0)
        return -1;
    if (limit_connect(came, deadline) == 0 && connect(came, (const struct sockaddr *)&address, bytes) == 0 &&
        is_welcome(came, 0))
        return came;
    const int reason = errno ? errno : EACCES;
    close(came);
    errno = reason;
    return -1;
}

static int try_tcp(const struct addrinfo *list, double deadline)
{
    int reason = ECONNREFUSED;
    for (const struct addrinfo *at = list; at; at = at->ai_next) {
        const int came = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (came >= 0 && limit_connect(came, deadline) == 0 && connect(came, at->ai_addr, at->ai_addrlen) == 0 &&
            is_welcome(came, 1))
            return came;
        reason = errno;
        if (came >= 0)
            close(came);
    }
    errno = reason;
    return -1;
}

static void rest(double seconds)
{
    const struct timespec span = {0, (long)(seconds * 1e9)};
    nanosleep(&span, NULL);
}

enum xst_status xsti_place_connect(const struct xsti_place *place, double deadline, int *socket_out,
                                   struct xst_diag *diag)
{
    const double start = xsti_wire_now();
    struct addrinfo *list = NULL;
    int folder = -1, came = -1, reason = 0;
    double pause_s = 0.002;
    if (place->kind == XSTI_PLACE_FILE)
        XSTI_TRY(open_folder(place, &folder, diag));
    else if (place->kind == XSTI_PLACE_TCP)
        XSTI_TRY(resolve(place, &list, diag));
    for (;;) {
        errno = 0;
        came = place->kind == XSTI_PLACE_TCP ? try_tcp(list, deadline) : try_unix(place, folder, deadline);
        reason = errno;
        if (came >= 0 || xsti_wire_now() + pause_s > deadline)
            break;
        rest(pause_s);
        pause_s = pause_s < 0.05 ? pause_s * 1.5 : pause_s;
    }
    if (folder >= 0)
        close(folder);
    if (list)
        freeaddrinfo(list);
    if (came < 0)
        return xsti_fail(diag, XST_ERR_TIMEOUT, "rendezvous %s: rank 0 did not come within %.3g s (%s)", place->where,
                         xsti_wire_now() - start, reason == ENOENT ? "its socket is not there" : strerror(reason));
    *socket_out = came;
    return XST_OK;
}
