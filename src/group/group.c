/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be said with an all-gather alone: everybody is here, everybody did well, everybody means the same.
 */
#include <xstage/group.h>

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* One rank's outcome, as it travels. */
struct outcome {
    int32_t status;
    char text[XST_DIAG_TEXT_BYTES - sizeof(int32_t)];
};

enum xst_status xst_group_gather(const struct xst_group *group, const void *mine, size_t bytes, void *all_out,
                                 struct xst_diag *diag)
{
    if (group->ranks < 1 || group->ranks > XST_GROUP_MOST_RANKS || group->rank < 0 || group->rank >= group->ranks)
        return xsti_fail(diag, XST_ERR_RANGE, "group: rank %lld of %lld; ranks are 1..%d and a rank is below them",
                         (long long)group->rank, (long long)group->ranks, XST_GROUP_MOST_RANKS);
    if (bytes > (size_t)XST_GROUP_MOST_BYTES / (size_t)group->ranks)
        return xsti_fail(diag, XST_ERR_RANGE, "group: %lld ranks exchange %zu bytes each, more than %d MiB in all",
                         (long long)group->ranks, bytes, XST_GROUP_MOST_BYTES >> 20);
    if (group->ranks == 1) {
        memcpy(all_out, mine, bytes);
        return XST_OK;
    }
    if (!group->gather)
        return xsti_fail(diag, XST_ERR_USAGE, "group: %lld ranks and no all-gather", (long long)group->ranks);
    if (diag)
        diag->text[0] = '\0';
    const enum xst_status status = group->gather(group->context, mine, bytes, all_out, diag);
    if (status != XST_OK && diag && !diag->text[0])
        return xsti_fail(diag, status, "rank %lld: the group's all-gather failed", (long long)group->rank);
    return status;
}

enum xst_status xst_group_barrier(const struct xst_group *group, struct xst_diag *diag)
{
    const unsigned char here = 1;
    unsigned char all[XST_GROUP_MOST_RANKS];
    return xst_group_gather(group, &here, sizeof here, all, diag);
}

/* The lowest rank that failed; -1 when none did. `alone` says whether others have something else to say. */
static int64_t find_failure(const struct outcome *all, int64_t ranks, int *alone)
{
    int64_t first = -1;
    *alone = 0;
    for (int64_t r = 0; r < ranks; r++) {
        if (all[r].status != XST_OK && first < 0)
            first = r;
    }
    for (int64_t r = 0; r < ranks && first >= 0; r++) {
        if (strcmp(all[r].text, all[first].text) != 0)
            *alone = 1;
    }
    return first;
}

static enum xst_status share(const struct xst_group *group, enum xst_status mine, struct outcome *all,
                             struct xst_diag *diag)
{
    struct outcome own;
    struct xst_diag why = {0};
    int alone = 0;
    memset(&own, 0, sizeof own);
    own.status = (int32_t)mine;
    if (mine != XST_OK) {
        const char *const text = diag && diag->text[0] ? diag->text : xst_status_sentence(mine);
        memcpy(own.text, text, strnlen(text, sizeof own.text - 1));
    }
    const enum xst_status status = xst_group_gather(group, &own, sizeof own, all, &why);
    /* What went wrong here is the cause, what the exchange says afterwards a consequence. */
    if (status != XST_OK)
        return mine != XST_OK ? mine : xsti_fail(diag, status, "%s", why.text);
    for (int64_t r = 0; r < group->ranks; r++)
        all[r].text[sizeof all[r].text - 1] = '\0';
    const int64_t rank = find_failure(all, group->ranks, &alone);
    if (rank < 0)
        return XST_OK;
    if (!alone)
        return xsti_fail(diag, (enum xst_status)all[rank].status, "%s", all[rank].text);
    return xsti_fail(diag, (enum xst_status)all[rank].status, "rank %lld: %s", (long long)rank, all[rank].text);
}

enum xst_status xst_group_agree(const struct xst_group *group, enum xst_status mine, struct xst_diag *diag)
{
    if (group->ranks <= 1)
        return mine;
    struct outcome *const all = calloc((size_t)group->ranks, sizeof *all);
    if (!all)
        return xsti_fail_memory(diag);
    const enum xst_status status = share(group, mine, all, diag);
    free(all);
    return status;
}

enum xst_status xst_group_same(const struct xst_group *group, const char *what, const char *text, struct xst_diag *diag)
{
    enum { BYTES = XST_DIAG_TEXT_BYTES };
    char own[BYTES] = "";
    if (group->ranks <= 1)
        return XST_OK;
    char(*const all)[BYTES] = calloc((size_t)group->ranks, BYTES);
    if (!all)
        return xsti_fail_memory(diag);
    memcpy(own, text, strnlen(text, BYTES - 1));
    enum xst_status status = xst_group_gather(group, own, BYTES, all, diag);
    for (int64_t r = 1; status == XST_OK && r < group->ranks; r++) {
        all[r][BYTES - 1] = '\0';
        if (strcmp(all[0], all[r]) != 0)
            status =
                xsti_fail(diag, XST_ERR_USAGE, "%s differ between ranks: rank 0 has \"%.300s\", rank %lld \"%.300s\"",
                          what, all[0], (long long)r, all[r]);
    }
    free(all);
    return status;
}
