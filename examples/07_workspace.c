/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that every process of a job can write: meet, bring a block each, get the addresses of all. Alone it is a job of one.
 *     mpirun -n 2 build/examples/07_workspace          torchrun --nproc-per-node 2 --no-python build/examples/07_workspace
 */
#include <stdio.h>

#include <xstage/workspace.h>

enum { BYTES = 64 << 20 };

static int complain(const struct xst_ranks *ranks, const struct xst_diag *diag, int code)
{
    fprintf(stderr, "rank %lld: %s\n", (long long)ranks->rank, diag->text);
    return code;
}

/* The addresses are what kernels take: call->out[p] of xst_fa_a2a_fused, call->buffers[p] of xst_moe_fused. */
static void show(const struct xst_workspace *workspace)
{
    const uint64_t *const pointers = xst_workspace_pointers(workspace);
    for (int64_t r = 0; r < xst_workspace_ranks(workspace); r++)
        printf("rank %lld sees rank %lld's block, on %s, at 0x%llx\n", (long long)xst_workspace_rank(workspace),
               (long long)r, xst_workspace_device(workspace, r), (unsigned long long)pointers[r]);
}

int main(void)
{
    struct xst_ranks ranks = {.rank = 0};
    struct xst_rendezvous *rendezvous = NULL;
    struct xst_workspace *workspace = NULL;
    struct xst_diag diag = {.text = ""};
    if (xst_ranks_find(NULL, &ranks, &diag) != XST_OK)
        return complain(&ranks, &diag, 2);
    const struct xst_rendezvous_options options = {.where = ranks.rendezvous,
                                                   .job = ranks.job,
                                                   .rank = ranks.rank,
                                                   .ranks = ranks.ranks};
    if (xst_rendezvous_open(&options, &rendezvous, &diag) != XST_OK)
        return complain(&ranks, &diag, 3);
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    const int64_t device = ranks.local_rank > 0 ? ranks.local_rank : 0;
    enum xst_status status = xst_workspace_create(BYTES, device, group, &workspace, &diag);
    if (status == XST_OK) {
        show(workspace);
        status = xst_workspace_destroy(workspace, &diag);
    }
    xst_rendezvous_close(rendezvous);
    /* Without a GPU there is nothing to share; every rank has the same reason. */
    return status == XST_OK ? 0 : complain(&ranks, &diag, status == XST_ERR_UNAVAILABLE ? 77 : 3);
}
