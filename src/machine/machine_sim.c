/* SPDX-License-Identifier: Apache-2.0
 *
 * sim:...: a synthetic machine. Its paths are those of a profile, stored or
 * made from parameters; times come from the simulator, event by event, with
 * shares redrawn at every burst and seeded noise on every measured time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xstage/model.h>
#include <xstage/sim.h>

#include "base/diag.h"
#include "base/text.h"
#include "machine/machine.h"
#include "machine/sim_many.h"
#include "machine/sim_spec.h"

/* A local operation of a bystander when nothing is in its way. Invented, like
 * the machine. */
static const double bystander_us = 0.3;
/* Issue of a bulk burst made from parameters: one thread hands over a few
 * copies. */
static const double bulk_issue_us = 0.2;

struct sim_machine {
    struct xst_machine base;
    struct xst_profile profile;
    struct xsti_sim_links links;
    double noise;
    uint64_t seed;
};

/* The runs of one request: what each producer does, and when its bursts began.
 */
struct program {
    double bytes;
    double floor_us;
    double gap_us;
    double period_us; /* 0: free-running */
    int64_t bursts;
    int with_load; /* bystander: after the burst, a delay and a load */
    double delay_us;
    double *half_us; /* start of the first steady burst, by producer */
    double *last_us; /* start of the last burst */
};

static void close_sim(struct xst_machine *base)
{
    struct sim_machine *const machine = (struct sim_machine *)base;
    xst_profile_free(&machine->profile);
    free(machine);
}

static const struct xst_path *path_of(const struct sim_machine *machine, const struct xst_measure_request *request)
{
    const struct xst_path_key key = {.target = request->target,
                                     .direction = request->direction,
                                     .method = request->method,
                                     .threads = request->threads,
                                     .piece_bytes = request->piece_bytes,
                                     .pitch_bytes = request->pitch_bytes};
    return xst_profile_path(&machine->profile, &key);
}

static int is_bulk(const struct xst_measure_request *request)
{
    return request->method == XST_METHOD_BULK;
}

/* T0 and Q of what a producer waits for: issue, or staging release of bulk
 * stores where the profile knows it. */
static enum xst_status look_up(const struct xst_path *path, const struct xst_measure_request *request, double *floor_us,
                               double *capacity_bytes)
{
    const double producers = (double)request->producers, bytes = (double)request->bytes_per_producer;
    if (is_bulk(request) && path->release_floor.count > 0 && path->release_capacity.count > 0) {
        XSTI_TRY(xst_path_release_floor_us(path, producers, bytes, 1, floor_us, NULL));
        return xst_path_release_capacity_bytes(path, producers, 1, capacity_bytes, NULL);
    }
    XSTI_TRY(xst_path_floor_us(path, producers, bytes, 1, floor_us, NULL));
    return xst_path_capacity_bytes(path, producers, 1, capacity_bytes, NULL);
}

static enum xst_status check_sim(const struct xst_machine *base, const struct xst_measure_request *request,
                                 struct xst_diag *diag)
{
    const struct sim_machine *const machine = (const struct sim_machine *)base;
    const struct xst_path *const path = path_of(machine, request);
    double floor_us = 0, capacity_bytes = 0;
    char text[XSTI_REQUEST_TEXT_BYTES];
    if (request->probe == XST_PROBE_LOOP)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "a synthetic machine has no load loop");
    if (request->mode == XST_MODE_ALIGNED && request->flow != XST_FLOW_PAIR)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                         "%s: a synthetic machine starts bursts of several devices free-running",
                         xsti_request_text(request, text));
    if (!path)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                         "%s: the synthetic machine %s has no such path (target, "
                         "method, threads %lld, pieces)",
                         xsti_request_text(request, text), machine->profile.name, (long long)request->threads);
    if (!path->drain_bytes_per_us.known || look_up(path, request, &floor_us, &capacity_bytes) != XST_OK)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "%s: the profile of %s does not know R, T0 and Q of this path",
                         xsti_request_text(request, text), machine->profile.name);
    if (request->probe == XST_PROBE_BYSTANDER && !path->free_capacity_bytes.known)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "the synthetic machine %s does not know Q_free (key free)",
                         machine->profile.name);
    return XST_OK;
}

static int next_step(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *out)
{
    const struct program *const program = context;
    if (program->with_load && step == 1) {
        out->work_us = program->delay_us;
        out->load_us = bystander_us;
        return 1;
    }
    if (step >= program->bursts)
        return 0;
    if (program->period_us > 0)
        out->work_us = fmax(0, (double)step * program->period_us - now_us);
    else
        out->work_us = step > 0 ? program->gap_us : 0;
    out->bytes = program->bytes;
    out->floor_us = program->floor_us;
    out->flags = step >= program->bursts / 2 ? XST_SIM_STEADY : 0;
    if (step == program->bursts / 2)
        program->half_us[producer] = now_us + out->work_us;
    if (step == program->bursts - 1)
        program->last_us[producer] = now_us + out->work_us;
    return 1;
}

/* Counter-based noise: the splitmix64 finaliser over (seed, request, run,
 * column), twice, into a normal deviate by the Box-Muller formula. The same
 * request gives the same numbers whatever was measured before it. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t key_of(const struct sim_machine *machine, const struct xst_measure_request *request, int64_t rep)
{
    const double numbers[] = {request->gap_us, request->period_us, request->delay_us};
    const int64_t whole[] = {request->probe,
                             request->mode,
                             request->target,
                             request->direction,
                             request->method,
                             request->threads,
                             request->producers,
                             request->bytes_per_producer,
                             request->piece_bytes,
                             request->pitch_bytes,
                             request->bursts,
                             request->op,
                             rep,
                             request->flow,
                             request->senders,
                             request->sender,
                             request->receiver};
    uint64_t key = mix(machine->seed), bits;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        key = mix(key ^ (uint64_t)whole[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        memcpy(&bits, &numbers[i], sizeof bits);
        key = mix(key ^ bits);
    }
    return key;
}

static double noisy(const struct sim_machine *machine, uint64_t key, uint64_t column, double value)
{
    const double two_pi = 6.283185307179586;
    if (machine->noise <= 0)
        return value;
    const double u = ((double)(mix(key ^ mix(2 * column)) >> 11) + 0.5) / 9007199254740992.0;
    const double v = (double)(mix(key ^ mix(2 * column + 1)) >> 11) / 9007199254740992.0;
    return fmax(0, value * (1 + machine->noise * sqrt(-2 * log(u)) * cos(two_pi * v)));
}

static double known_or(const struct xst_measure *measure, double otherwise)
{
    return measure->known ? measure->value : otherwise;
}

/* The simulated run itself. */
static enum xst_status simulate(const struct xst_path *path, const struct xst_measure_request *request, uint64_t seed,
                                struct program *program, struct xst_sim_result *result_out, struct xst_diag *diag)
{
    const int64_t count = request->producers;
    const int64_t groups = (int64_t)known_or(&path->groups, 1);
    const struct xst_sim_source source = {.drain_bytes_per_us = path->drain_bytes_per_us.value,
                                          .free_capacity_bytes = known_or(&path->free_capacity_bytes, 0),
                                          .fence_us = known_or(&path->fence_us, 0),
                                          .groups = groups};
    struct xst_sim_producer *const producers = calloc((size_t)count, sizeof *producers);
    int64_t *const group = calloc((size_t)count, sizeof *group);
    const struct xst_sim_config config = {.sources = &source,
                                          .source_count = 1,
                                          .producers = producers,
                                          .producer_count = count,
                                          .next = next_step,
                                          .context = program,
                                          .share_spread_burst = known_or(&path->share_spread_burst, 0),
                                          .share_spread = known_or(&path->share_spread, 0),
                                          .seed = seed};
    double capacity_bytes = 0;
    enum xst_status status =
        producers && group ? look_up(path, request, &program->floor_us, &capacity_bytes) : xsti_fail_memory(diag);
    if (status == XST_OK) {
        xst_sim_deal_groups(groups, path->valid.producers_high > count ? path->valid.producers_high : count, count,
                            group);
        for (int64_t p = 0; p < count; p++)
            producers[p] = (struct xst_sim_producer){.group = group[p],
                                                     .capacity_bytes = capacity_bytes / (double)count,
                                                     .weight = 1};
        status = xst_sim_run(&config, result_out, diag);
    }
    free(producers);
    free(group);
    return status;
}

static void fill_producers(const struct xst_sim_result *result, const struct xst_sample *sample, double fence_us,
                           struct xst_producer_sample *rows)
{
    for (int64_t p = 0; p < result->account_count; p++) {
        const struct xst_sim_account *const account = &result->accounts[p];
        rows[p] =
            (struct xst_producer_sample){.target = sample->target,
                                         .direction = sample->direction,
                                         .method = sample->method,
                                         .producers = sample->producers,
                                         .bytes_per_producer = sample->bytes_per_producer,
                                         .bursts = sample->bursts,
                                         .producer = p,
                                         .sm_id = p,
                                         .issue_mean_us = account->steady_issue_us / (double)account->steady_bursts,
                                         .own_total_us = account->end_us,
                                         .fenced_total_us = fmax(account->end_us, account->drained_us) + fence_us};
    }
}

static enum xst_status reduce_burst(const struct sim_machine *machine, const struct xst_path *path,
                                    const struct xst_measure_request *request, uint64_t key,
                                    const struct program *program, const struct xst_sim_result *result,
                                    struct xsti_run *run)
{
    const double fence_us = known_or(&path->fence_us, 0), count = (double)result->account_count;
    struct xst_sample *const sample = &run->sample;
    double issue_max = 0, fenced_max = 0, period = 0, end = 0, issue_us = result->steady_issue_mean_us;
    for (int64_t p = 0; p < result->account_count; p++) {
        const struct xst_sim_account *const account = &result->accounts[p];
        const double fenced_us = fmax(account->end_us, account->drained_us) + fence_us;
        issue_max = fmax(issue_max, account->issue_max_us);
        fenced_max = fmax(fenced_max, fenced_us - program->last_us[p]);
        end = fmax(end, fenced_us);
        if (request->bursts > 1)
            period += (program->last_us[p] - program->half_us[p]) / (double)(request->bursts - 1 - request->bursts / 2);
    }
    if (is_bulk(request))
        XSTI_TRY(xst_path_floor_us(path, (double)request->producers, (double)request->bytes_per_producer, 1, &issue_us,
                                   NULL));
    sample->issue_mean_us = noisy(machine, key, 0, issue_us);
    sample->issue_max_us = fmax(sample->issue_mean_us, noisy(machine, key, 1, is_bulk(request) ? issue_us : issue_max));
    sample->release_mean_us =
        is_bulk(request) ? noisy(machine, key, 2, result->steady_issue_mean_us) : sample->issue_mean_us;
    sample->period_mean_us = noisy(machine, key, 3, period / count);
    sample->fenced_max_us = noisy(machine, key, 4, fenced_max);
    sample->total_us = noisy(machine, key, 5, end);
    if (run->producers)
        fill_producers(result, sample, fence_us, run->producers);
    return XST_OK;
}

static void reduce_bystander(const struct sim_machine *machine, uint64_t key, const struct xst_sim_result *result,
                             struct xsti_run *run)
{
    double wait = 0, most = 0;
    for (int64_t p = 0; p < result->account_count; p++) {
        wait += result->accounts[p].load_wait_us;
        most = fmax(most, result->accounts[p].load_max_us);
    }
    run->bystander.issue_us = noisy(machine, key, 0, result->issue_mean_us);
    run->bystander.op_us_mean = noisy(machine, key, 1, bystander_us + wait / (double)result->account_count);
    run->bystander.op_us_max = fmax(run->bystander.op_us_mean, noisy(machine, key, 2, most));
}

/* Several devices: the timeline steps them, and every sender's times get noise of their own. */
static enum xst_status run_many(const struct sim_machine *machine, const struct xst_path *path,
                                const struct xst_measure_request *request, uint64_t key, struct xsti_run *run,
                                struct xst_diag *diag)
{
    const int64_t senders = xsti_request_senders(request, machine->links.devices);
    struct xst_sample *const samples = run->samples ? run->samples : &run->sample;
    double floor_us = 0;
    XSTI_TRY(
        xst_path_floor_us(path, (double)request->producers, (double)request->bytes_per_producer, 1, &floor_us, NULL));
    XSTI_TRY(xsti_sim_many(path, &machine->links, request, floor_us, key, samples, diag));
    for (int64_t s = 0; s < senders; s++) {
        struct xst_sample *const sample = &samples[s];
        double *const times[] = {&sample->issue_mean_us,  &sample->issue_max_us,  &sample->release_mean_us,
                                 &sample->period_mean_us, &sample->fenced_max_us, &sample->total_us};
        for (size_t c = 0; c < sizeof times / sizeof *times; c++)
            *times[c] = noisy(machine, key + (uint64_t)s, c, *times[c]);
        if (!is_bulk(request))
            sample->release_mean_us = sample->issue_mean_us;
        sample->issue_max_us = fmax(sample->issue_max_us, sample->issue_mean_us);
    }
    run->sample = samples[0];
    return XST_OK;
}

static enum xst_status run_sim(struct xst_machine *base, const struct xst_measure_request *request, int64_t rep,
                               struct xsti_run *run, struct xst_diag *diag)
{
    struct sim_machine *const machine = (struct sim_machine *)base;
    const struct xst_path *const path = path_of(machine, request);
    const uint64_t key = key_of(machine, request, rep);
    const int bystander = request->probe == XST_PROBE_BYSTANDER;
    struct xst_sim_result result = {0};
    double *const starts = calloc(2 * (size_t)request->producers, sizeof *starts);
    struct program program = {.bytes = (double)request->bytes_per_producer,
                              .gap_us = request->gap_us + known_or(&path->loop_us, 0),
                              .period_us = request->mode == XST_MODE_ALIGNED ? request->period_us : 0,
                              .bursts = bystander ? 1 : request->bursts,
                              .with_load = bystander,
                              .delay_us = request->delay_us,
                              .half_us = starts,
                              .last_us = starts ? starts + request->producers : NULL};
    if (!starts)
        return xsti_fail_memory(diag);
    if (run->samples || request->flow != XST_FLOW_PAIR) {
        free(starts);
        return run_many(machine, path, request, key, run, diag);
    }
    enum xst_status status = simulate(path, request, key, &program, &result, diag);
    if (status == XST_OK && bystander)
        reduce_bystander(machine, key, &result, run);
    else if (status == XST_OK)
        status = reduce_burst(machine, path, request, key, &program, &result, run);
    if (status == XST_OK)
        xst_sim_result_free(&result);
    free(starts);
    return status;
}

static enum xst_status prepare_sim(struct xst_machine *base, struct xst_measure_request *request, struct xst_diag *diag)
{
    const struct sim_machine *const machine = (const struct sim_machine *)base;
    double floor_us = 0, capacity_bytes = 0;
    (void)diag;
    if (request->mode != XST_MODE_ALIGNED || request->period_us > 0)
        return XST_OK;
    XSTI_TRY(look_up(path_of(machine, request), request, &floor_us, &capacity_bytes));
    request->period_us = floor_us + request->gap_us;
    return XST_OK;
}

static const struct xsti_machine_ops sim_ops = {.close = close_sim,
                                                .check = check_sim,
                                                .prepare = prepare_sim,
                                                .run = run_sim,
                                                .warm_up = 0};

/* Devices are all alike; `spec` says how many, and how they meet. */
static enum xst_status open_sealed(struct xst_profile *profile, const struct xsti_sim_spec *spec, uint64_t seed,
                                   struct xst_machine **machine_out, struct xst_diag *diag)
{
    struct sim_machine *const machine = calloc(1, sizeof *machine);
    if (!machine) {
        xst_profile_free(profile);
        return xsti_fail_memory(diag);
    }
    machine->base.ops = &sim_ops;
    machine->base.facts = profile->machine;
    snprintf(machine->base.facts.origin, sizeof machine->base.facts.origin, "synthetic");
    for (size_t i = 0; i < profile->path_count; i++) {
        machine->base.targets |= 1u << profile->paths[i].target;
        if (profile->paths[i].valid.producers_high > machine->base.most_producers)
            machine->base.most_producers = profile->paths[i].valid.producers_high;
    }
    machine->profile = *profile;
    machine->noise = spec->noise;
    machine->seed = seed;
    machine->links = (struct xsti_sim_links){.devices = (int64_t)spec->devices,
                                             .domain_devices = (int64_t)spec->domain_devices,
                                             .ingress_bytes_per_us = spec->ingress_bytes_per_us,
                                             .nic_bytes_per_us = spec->nic_bytes_per_us};
    machine->base.devices = machine->links.devices;
    if (machine->base.devices > 2)
        snprintf(machine->base.facts.note, sizeof machine->base.facts.note,
                 "rows of one pair are of device 0 to device 1, of %lld devices", (long long)machine->base.devices);
    memset(profile, 0, sizeof *profile);
    *machine_out = &machine->base;
    return XST_OK;
}

enum xst_status xst_machine_open_profile(const struct xst_profile *profile, uint64_t seed,
                                         struct xst_machine **machine_out, struct xst_diag *diag)
{
    return xst_machine_open_profile_many(profile, "", seed, machine_out, diag);
}

enum xst_status xst_machine_open_profile_many(const struct xst_profile *profile, const char *many, uint64_t seed,
                                              struct xst_machine **machine_out, struct xst_diag *diag)
{
    struct xst_profile copy = {.path_count = 0};
    struct xsti_sim_spec spec = {.devices = 2};
    char *text = NULL;
    if (*many != '\0')
        XSTI_TRY(xsti_sim_spec_parse_many(many, &spec, diag));
    XSTI_TRY(xst_profile_print(profile, &text, diag));
    const enum xst_status status = xst_profile_parse(profile->name, text, strlen(text), &copy, NULL, diag);
    free(text);
    return status == XST_OK
               ? open_sealed(&copy, &spec, strstr(many, "seed=") ? (uint64_t)spec.seed : seed, machine_out, diag)
               : status;
}

static struct xst_measure known(double value)
{
    return (struct xst_measure){.value = value, .low = value, .high = value, .n = 1, .known = 1};
}

/* One path of a machine given by parameters: T0 and Q as tables at the two ends
 * and where the total begins to bind. */
static enum xst_status make_path(const struct xsti_sim_spec *spec, enum xst_target target, enum xst_method method,
                                 struct xst_path *path, struct xst_diag *diag)
{
    const int64_t most = (int64_t)spec->producers, largest = (int64_t)1 << 30;
    const int64_t bends = (int64_t)(spec->total_bytes / spec->per_producer_bytes);
    const int bulk = method == XST_METHOD_BULK;
    const int64_t bytes[] = {16, largest};
    const int64_t counts[] = {1, bends, most};
    *path = (struct xst_path){.target = target,
                              .direction = XST_DIRECTION_ONE,
                              .method = method,
                              .threads = 256,
                              .drain_bytes_per_us = known(spec->drain_bytes_per_us),
                              .loop_us = known(spec->loop_us),
                              .fence_us = known(spec->fence_us),
                              .groups = known(spec->groups),
                              .share_spread_burst = known(spec->share_spread_burst),
                              .share_spread = known(spec->share_spread),
                              .valid = {1, most, 16, largest}};
    if (spec->free_bytes > 0)
        path->free_capacity_bytes = known(spec->free_bytes);
    struct xst_floor_table *const floors[] = {&path->issue_floor, &path->release_floor};
    struct xst_capacity_table *const capacities[] = {&path->capacity, &path->release_capacity};
    for (int t = 0; t < (bulk ? 2 : 1); t++) {
        floors[t]->points = calloc(2, sizeof *floors[t]->points);
        capacities[t]->points = calloc(3, sizeof *capacities[t]->points);
        if (!floors[t]->points || !capacities[t]->points)
            return xsti_fail_memory(diag);
        for (int b = 0; b < 2; b++)
            floors[t]->points[floors[t]->count++] =
                (struct xst_floor_point){.producers = 1,
                                         .bytes_per_producer = bytes[b],
                                         .source = XST_FLOOR_SOURCE_GIVEN,
                                         .us = bulk && t == 0 ? bulk_issue_us
                                                              : (double)bytes[b] / spec->floor_bytes_per_us};
        for (int k = 0; k < 3; k++) {
            const double q = fmin((double)counts[k] * spec->per_producer_bytes, spec->total_bytes);
            if (k == 0 || (counts[k] > counts[0] && counts[k] <= most && (k == 1 || counts[k] != counts[1])))
                capacities[t]->points[capacities[t]->count++] =
                    (struct xst_capacity_point){.producers = counts[k], .bytes = q, .low = q, .high = q, .n = 1};
        }
    }
    return XST_OK;
}

static enum xst_status open_parameters(const char *text, struct xst_machine **machine_out, struct xst_diag *diag)
{
    static const enum xst_method methods[] = {XST_METHOD_ST16, XST_METHOD_BULK};
    static const enum xst_target targets[] = {XST_TARGET_PEER, XST_TARGET_HOST};
    struct xsti_sim_spec spec;
    struct xst_profile profile = {.name = "sim"};
    XSTI_TRY(xsti_sim_spec_parse(text, &spec, diag));
    snprintf(profile.machine.machine, sizeof profile.machine.machine, "synthetic: %s", text);
    snprintf(profile.machine.origin, sizeof profile.machine.origin, "synthetic");
    profile.machine.sm_count = known(spec.producers);
    profile.paths = calloc(4, sizeof *profile.paths);
    enum xst_status status = profile.paths ? XST_OK : xsti_fail_memory(diag);
    for (int i = 0; i < 4 && status == XST_OK; i++)
        status = make_path(&spec, targets[i / 2], methods[i % 2], &profile.paths[profile.path_count++], diag);
    if (status == XST_OK)
        status = open_sealed(&profile, &spec, (uint64_t)spec.seed, machine_out, diag);
    else
        xst_profile_free(&profile);
    return status;
}

/* A file name, or a name below profiles/, and how many of it: NAME,devices=8. */
static enum xst_status open_stored(const char *text, struct xst_machine **machine_out, struct xst_diag *diag)
{
    struct xst_profile profile = {.path_count = 0};
    struct xsti_sim_spec spec = {.devices = 2, .seed = 1};
    char path[512], name[400];
    const size_t length = strcspn(text, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (text[length] == ',')
        XSTI_TRY(xsti_sim_spec_parse_many(text + length + 1, &spec, diag));
    snprintf(path, sizeof path, "%s", name);
    if (access(path, R_OK) != 0 && !strchr(name, '/'))
        snprintf(path, sizeof path, "profiles/%s.json", name);
    XSTI_TRY(xst_profile_read(path, &profile, NULL, diag));
    return open_sealed(&profile, &spec, (uint64_t)spec.seed, machine_out, diag);
}

enum xst_status xsti_machine_open_sim(const char *text, struct xst_machine **machine_out, struct xst_diag *diag)
{
    if (*text == '\0' || *text == ',')
        return xsti_fail(diag, XST_ERR_USAGE,
                         "machine sim: a profile's name or KEY=VALUE,... is needed "
                         "after the colon");
    return strcspn(text, "=") < strcspn(text, ",") ? open_parameters(text, machine_out, diag)
                                                   : open_stored(text, machine_out, diag);
}
