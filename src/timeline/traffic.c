/* SPDX-License-Identifier: Apache-2.0
 *
 * A described kernel: every producer works for the gap, then bursts, over and over. The bursts that leave the device come
 * first, as large as the description says, until the long-run share has left.
 */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "timeline/kernel.h"

enum { BURSTS = 16 }; /* where the description states none */

struct described {
    const struct xst_traffic *traffic;
    int64_t bursts;
};

static double remote_bytes(const struct described *described, int64_t index)
{
    const struct xst_traffic *const traffic = described->traffic;
    const double largest = traffic->bytes_per_producer * traffic->burst_remote_frac;
    const double all = traffic->bytes_per_producer * traffic->remote_frac * (double)described->bursts;
    return fmin(largest, fmax(all - (double)index * largest, 0));
}

static int next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct described *const described = context;
    const struct xst_traffic *const traffic = described->traffic;
    (void)rank;
    if (taken >= described->bursts)
        return 0;
    tile_out->work_us = traffic->gap_us;
    /* Shifted: the first gap is spread over the producers. */
    if (taken == 0 && traffic->phase == XST_PHASE_SHIFTED)
        tile_out->work_us *= (double)(sm + 1) / (double)traffic->producers;
    tile_out->remote_bytes = remote_bytes(described, taken);
    tile_out->local_bytes = traffic->bytes_per_producer - tile_out->remote_bytes;
    tile_out->id = sm + taken * traffic->producers;
    return 1;
}

enum xst_status xst_timeline_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                     int64_t ranks, const struct xst_timeline_options *options,
                                     struct xst_timeline_result *result_out, struct xst_diag *diag)
{
    struct described described = {traffic, BURSTS};
    struct xst_timeline_config config = {.ranks = ranks};
    XSTI_TRY(xst_traffic_check(traffic, diag));
    if (traffic->bursts_per_producer > 1e7)
        return xsti_fail(diag, XST_ERR_RANGE, "traffic: bursts_per_producer is %g, the most a timeline runs is 1e7",
                         traffic->bursts_per_producer);
    if (traffic->path.target == XST_TARGET_PEER && ranks < 2)
        return xsti_fail(diag, XST_ERR_RANGE, "ranks is %lld; stores to a peer need 2", (long long)ranks);
    if (traffic->bursts_per_producer > 0)
        described.bursts = (int64_t)ceil(traffic->bursts_per_producer);
    XSTI_TRY(xsti_kernel_config(profile, &traffic->path, traffic->producers, traffic->bytes_per_producer, options,
                                &config, diag));
    config.group_ranks = traffic->path.target == XST_TARGET_PEER ? ranks : 1; /* to its own host: each rank alone */
    config.staging_slots = traffic->staging_slots > 0 ? traffic->staging_slots : 1;
    config.kind_names[0] = "work";
    config.context = &described;
    config.next = next;
    return xsti_kernel_run(&config, options, NULL, result_out, diag);
}
