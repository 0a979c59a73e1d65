/* SPDX-License-Identifier: Apache-2.0
 *
 * Which producers share a port. Read off per-producer finish times (docs/notes/0005-dispersion.md): the 132 SMs of an H200
 * form 66 pairs in 8 clusters of 8 or 9 pairs; each cluster has 3 ports, its pairs are dealt round them; every port with
 * backlog gets an equal share. CTAs are launched on both SMs of half the first cluster's pairs, which use two of its ports,
 * then one to a pair, evenly over the clusters, then on the pairs' second SMs.
 */
#include <assert.h>

#include <xstage/sim.h>

enum { PORTS = 3, CLUSTERS_MAX = 4096 };

/* Pairs of a cluster: the remainder goes to the last clusters. */
static int64_t pairs_of(int64_t cluster, int64_t clusters, int64_t pairs)
{
    return pairs / clusters + (cluster >= clusters - pairs % clusters);
}

/* The cluster with the fewest producers so far that has room for one more. */
static int64_t emptiest(const int64_t *filled, const int64_t *room, int64_t clusters)
{
    int64_t best = -1;
    for (int64_t i = 0; i < clusters; i++)
        if (filled[i] < room[i] && (best < 0 || filled[i] < filled[best]))
            best = i;
    return best;
}

void xst_sim_deal_groups(int64_t groups, int64_t full_producers, int64_t producers, int64_t *group_out)
{
    assert(groups >= 1 && producers >= 1);
    const int64_t pairs = (full_producers + 1) / 2;
    const int64_t clusters = groups / PORTS;
    if (groups % PORTS != 0 || clusters > CLUSTERS_MAX || pairs < 2 * PORTS * clusters || producers > 2 * pairs) {
        for (int64_t i = 0; i < producers; i++) /* not such a device: evenly */
            group_out[i] = i % groups;
        return;
    }
    int64_t filled[CLUSTERS_MAX] = {0}, room[CLUSTERS_MAX];
    const int64_t first_pairs = pairs_of(0, clusters, pairs), early = first_pairs / 2;
    int64_t dealt = 0;
    for (int64_t i = 0; i < 2 * early && dealt < producers; i++)
        group_out[dealt++] = i / 2 % (PORTS - 1);
    for (int second = 0; second < 2; second++) {
        for (int64_t i = 0; i < clusters; i++) {
            filled[i] = 0;
            room[i] = i == 0 ? first_pairs - early : pairs_of(i, clusters, pairs);
        }
        while (dealt < producers) {
            const int64_t cluster = emptiest(filled, room, clusters);
            if (cluster < 0)
                break;
            const int64_t pair = cluster == 0 ? filled[cluster] + PORTS - 1 : filled[cluster];
            group_out[dealt++] = cluster * PORTS + pair % PORTS;
            filled[cluster]++;
        }
    }
}
