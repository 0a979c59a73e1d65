/* SPDX-License-Identifier: Apache-2.0
 *
 * Senders of a synthetic machine stepped through time together: a source sends R at most, a receiver takes in its share, and the
 * timeline settles who gets how much. What one sender alone does is the per-producer fluid's business (machine_sim.c).
 */
#include "machine/sim_many.h"

#include <math.h>
#include <stdlib.h>

#include <xstage/timeline.h>

#include "base/diag.h"
#include "machine/machine.h"

/* Sums over the bursts of one sender's SMs. */
struct account {
    double steady_us, steady_longest_us;
    double first_us, last_us; /* sums of starts: of the first steady bursts, of the last ones */
    double last_start_us;     /* latest start of a last burst */
    double last_longest_us;   /* longest issue of a last burst */
    int64_t steady;
};

struct many {
    const struct xst_measure_request *request;
    int64_t devices;
    double gap_us;
    double issue_floor_us;
    struct xst_mix *mixes;    /* mix d: device d alone */
    struct account *accounts; /* by device */
};

static int sends(const struct many *many, int64_t device)
{
    const int64_t senders = xsti_request_senders(many->request, many->devices);
    for (int64_t i = 0; i < senders; i++)
        if (xsti_request_sender(many->request, i) == device)
            return 1;
    return 0;
}

/* Bursts that rotate go to one device each; those of a spread sender start at another one on every SM. */
static int32_t target_of(const struct many *many, int64_t device, int64_t sm, int64_t burst)
{
    const int64_t only = xsti_request_receiver(many->request, device, many->devices);
    const int64_t ahead = many->request->flow == XST_FLOW_ROTATION ? burst : burst + sm;
    return (int32_t)(only >= 0 ? only : (device + 1 + ahead % (many->devices - 1)) % many->devices);
}

static int next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct many *const many = context;
    if (taken >= many->request->bursts || !sends(many, rank))
        return 0;
    tile_out->work_us = taken > 0 ? many->gap_us : 0;
    tile_out->remote_bytes = (double)many->request->bytes_per_producer;
    tile_out->mix = target_of(many, rank, sm, taken);
    tile_out->id = taken;
    return 1;
}

static void on_span(void *context, const struct xst_span *span)
{
    struct many *const many = context;
    struct account *const account = &many->accounts[span->rank];
    const int64_t bursts = many->request->bursts;
    if (span->what != XST_SPAN_ISSUE)
        return;
    if (span->id >= bursts / 2) {
        account->steady++;
        account->steady_us += span->end_us - span->start_us;
        account->steady_longest_us = fmax(account->steady_longest_us, span->end_us - span->start_us);
    }
    account->first_us += span->id == bursts / 2 ? span->start_us : 0;
    if (span->id == bursts - 1) {
        account->last_us += span->start_us;
        account->last_start_us = fmax(account->last_start_us, span->start_us);
        account->last_longest_us = fmax(account->last_longest_us, span->end_us - span->start_us);
    }
}

static void fill(const struct many *many, const struct xst_timeline_result *result,
                 const struct xst_timeline_machine *machine, struct xst_sample *samples)
{
    const struct xst_measure_request *const request = many->request;
    const int64_t senders = xsti_request_senders(request, many->devices),
                  later = request->bursts - 1 - request->bursts / 2;
    const int bulk = request->method == XST_METHOD_BULK;
    for (int64_t i = 0; i < senders; i++) {
        const int64_t device = xsti_request_sender(request, i);
        const struct account *const account = &many->accounts[device];
        const double mean_us = account->steady > 0 ? account->steady_us / (double)account->steady : 0;
        struct xst_sample *const sample = &samples[i];
        sample->release_mean_us = mean_us;
        sample->issue_mean_us = bulk ? machine->issue_floor.us[0] : mean_us;
        sample->issue_max_us = bulk ? sample->issue_mean_us : account->steady_longest_us;
        sample->period_mean_us =
            later > 0 ? (account->last_us - account->first_us) / (double)(request->producers * later) : 0;
        sample->total_us = result->ranks[device].visible_us;
        /* the timeline does not say when each SM's stores are visible: no earlier than a fence behind its issue */
        sample->fenced_max_us =
            fmax(sample->total_us - account->last_start_us, account->last_longest_us + machine->visible_us);
    }
}

static enum xst_status step(struct many *many, const struct xst_path *path, const struct xsti_sim_links *links,
                            uint64_t seed, struct xst_sample *samples, struct xst_diag *diag)
{
    const struct xst_measure_request *const request = many->request;
    struct xst_timeline_result result;
    struct xst_timeline_config config = {.ranks = many->devices,
                                         .sms = request->producers,
                                         .staging_slots = 1,
                                         .mixes = many->mixes,
                                         .mix_count = many->devices,
                                         .seed = seed,
                                         .kind_names = {"burst"},
                                         .context = many,
                                         .next = next,
                                         .span = on_span,
                                         .span_context = many};
    XSTI_TRY(xst_timeline_machine_read(path, request->producers, (double)request->bytes_per_producer, 1,
                                       &config.machine, diag));
    if (request->method == XST_METHOD_BULK) /* the one floor that counts: of this burst */
        config.machine.issue_floor =
            (struct xst_floor_curve){1, {(double)request->bytes_per_producer}, {many->issue_floor_us}};
    config.machine.groups = path->groups.known ? (int64_t)path->groups.value : 0;
    if (links->ingress_bytes_per_us > 0)
        config.machine.ingress_bytes_per_us = links->ingress_bytes_per_us;
    config.scale_out =
        (struct xst_scale_out){.domain_ranks = links->domain_devices, .nic_bytes_per_us = links->nic_bytes_per_us};
    XSTI_TRY(xst_timeline_run(&config, &result, diag));
    fill(many, &result, &config.machine, samples);
    xst_timeline_result_free(&result);
    return XST_OK;
}

enum xst_status xsti_sim_many(const struct xst_path *path, const struct xsti_sim_links *links,
                              const struct xst_measure_request *request, double issue_floor_us, uint64_t seed,
                              struct xst_sample *samples, struct xst_diag *diag)
{
    static const double whole = 1;
    const size_t devices = (size_t)links->devices;
    struct many many = {.request = request, .devices = links->devices, .issue_floor_us = issue_floor_us};
    int64_t *const ranks = calloc(devices, sizeof *ranks);
    many.mixes = calloc(devices, sizeof *many.mixes);
    many.accounts = calloc(devices, sizeof *many.accounts);
    many.gap_us = request->gap_us + (path->loop_us.known ? path->loop_us.value : 0);
    enum xst_status status = ranks && many.mixes && many.accounts ? XST_OK : xsti_fail_memory(diag);
    if (status == XST_OK) {
        for (size_t d = 0; d < devices; d++) {
            ranks[d] = (int64_t)d;
            many.mixes[d] = (struct xst_mix){1, &ranks[d], &whole};
        }
        status = step(&many, path, links, seed, samples, diag);
    }
    free(ranks);
    free(many.mixes);
    free(many.accounts);
    return status;
}
