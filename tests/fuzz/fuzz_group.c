/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as what another rank says: an exchange ends well only for a frame that says so, else in one sentence; and any text as
 * a place to meet. The first byte chooses which side hears them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "group/rendezvous.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { GIVEN = 8, MOST = 4096 };

static void hear(int64_t rank, const uint8_t *said, size_t bytes)
{
    int ends[2], sockets[2] = {-1, -1};
    unsigned char mine[GIVEN] = {0}, all[2 * GIVEN];
    struct xst_diag diag = {XST_OK, 0, ""};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    if (send(ends[1], said, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        abort();
    shutdown(ends[1], SHUT_WR);
    sockets[rank == 0] = ends[0];
    struct xst_rendezvous rendezvous = {.group = {.rank = rank, .ranks = 2}, .gather_seconds = 1, .sockets = sockets};
    const size_t head = sizeof(struct xsti_wire_frame), body = rank == 0 ? GIVEN : 2 * GIVEN;
    if (xsti_rendezvous_gather(&rendezvous, mine, GIVEN, all, &diag) != XST_OK) {
        if (!diag.text[0] || !rendezvous.ended)
            abort();
    } else if (bytes < head + body || memcmp(said, "XSTG", 4) != 0 ||
               memcmp(all + (rank == 0 ? GIVEN : 0), said + head, body) != 0) {
        abort();
    }
    if (sockets[rank == 0] >= 0)
        close(sockets[rank == 0]);
    close(ends[1]);
}

static void parse(const uint8_t *data, size_t bytes)
{
    char text[MOST + 1];
    struct xsti_place place;
    struct xst_diag diag = {XST_OK, 0, ""};
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (xsti_place_parse(text, "job", &place, &diag) == XST_OK) {
        if (strlen(place.folder) >= sizeof place.folder || strlen(place.host) >= sizeof place.host)
            abort();
    } else if (!strstr(diag.text, "rendezvous")) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 1 || bytes > MOST)
        return 0;
    if (data[0] % 3 == 2)
        parse(data + 1, bytes - 1);
    else
        hear(data[0] % 3, data + 1, bytes - 1);
    return 0;
}
