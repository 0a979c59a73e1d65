/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate_ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/gpu.h>

#include "calibration.h"
#include "job.h"
#include "options.h"

/* What stands before a rank's rows on their way to rank 0. */
struct parcel {
    uint64_t bytes; /* of the whole parcel */
    uint64_t rows;
    uint64_t bystanders;
    uint64_t loops;
    char spec[64];
    struct xst_machine_facts facts;
    struct cli_readings readings;
};

/* GPU r and the one behind it, as this process numbers them. */
static enum xst_status own_pair(struct cli *cli, char *spec, size_t bytes)
{
    struct xst_gpu_info info = {0};
    const int64_t rank = cli->job->ranks.local_rank >= 0 ? cli->job->ranks.local_rank : cli_job_rank(cli);
    const enum xst_status status = xst_gpu_info_read(&info, &cli->diag);
    const int64_t count = (int64_t)info.device_count;
    xst_gpu_info_free(&info);
    if (status != XST_OK)
        return status;
    if (count < 2)
        return cli_say(&cli->diag, XST_ERR_UNAVAILABLE,
                       "--each-rank: this process sees %lld GPU; a pair needs two (CUDA_VISIBLE_DEVICES may hide some)",
                       (long long)count);
    if (rank >= count)
        return cli_say(&cli->diag, XST_ERR_UNAVAILABLE,
                       "--each-rank: process %lld of this machine has no GPU of its own, there are %lld",
                       (long long)rank, (long long)count);
    snprintf(spec, bytes, "cuda:%lld,%lld", (long long)rank, (long long)((rank + 1) % count));
    return XST_OK;
}

static enum xst_status measure_own(struct cli *cli, const char *spec, struct calibration *own)
{
    struct xst_machine *machine = NULL;
    enum xst_status status = cli_machine_open(cli, spec, &machine);
    if (status != XST_OK)
        return status;
    status = cli_measure_calibration(cli, machine, &own->samples, &own->readings);
    own->facts = own->measured = *xst_machine_facts(machine);
    xst_machine_close(machine);
    return status;
}

/* The folder of a rank's results: DIR for rank 0, DIR/rank-R. */
static const char *folder_of(const char *folder, int64_t rank, char path[PATH_MAX])
{
    if (rank == 0)
        return folder;
    snprintf(path, PATH_MAX, "%s/rank-%lld", folder, (long long)rank);
    return path;
}

/* Rank 0, before anything is measured. */
static enum xst_status check_outputs(struct cli *cli)
{
    const char *const folder = cli_text(cli, "output");
    char path[PATH_MAX];
    enum xst_status status = cli_job_rank(cli) == 0 ? cli_check_outputs(cli, 0) : XST_OK;
    if (status == XST_OK && folder && strlen(folder) + 64 > sizeof path)
        return cli_say(&cli->diag, XST_ERR_RANGE, "--output: the folder name is too long");
    for (int64_t r = 0; status == XST_OK && folder && cli_job_rank(cli) == 0 && r < cli_job_ranks(cli); r++)
        status = cli_calibration_check(cli, folder_of(folder, r, path));
    return status;
}

/* Everybody in its turn. One that cannot ends all. */
static enum xst_status measure_all(struct cli *cli, const struct xst_group *group, struct calibration *own)
{
    const char *const machine = cli_text(cli, "machine");
    enum xst_status status = check_outputs(cli);
    if (status == XST_OK && !machine)
        status = own_pair(cli, own->spec, sizeof own->spec);
    else if (status == XST_OK)
        snprintf(own->spec, sizeof own->spec, "%s", machine);
    own->asked = machine ? machine : own->spec;
    status = xst_group_agree(group, status, &cli->diag);
    for (int64_t turn = 0; turn < group->ranks && status == XST_OK; turn++) {
        if (turn == group->rank)
            status = measure_own(cli, own->asked, own);
        status = xst_group_agree(group, status, &cli->diag);
    }
    return status;
}

static unsigned char *pack(const struct calibration *own, size_t *bytes_out)
{
    const struct xst_samples *const samples = &own->samples;
    const size_t rows = samples->row_count * sizeof *samples->rows;
    const size_t bystanders = samples->bystander_count * sizeof *samples->bystanders;
    const size_t loops = samples->loop_count * sizeof *samples->loops;
    struct parcel head;
    const size_t bytes = sizeof head + rows + bystanders + loops;
    unsigned char *const parcel = malloc(bytes);
    if (!parcel)
        return NULL;
    memset(&head, 0, sizeof head);
    head.bytes = bytes;
    head.rows = samples->row_count;
    head.bystanders = samples->bystander_count;
    head.loops = samples->loop_count;
    head.facts = own->measured;
    head.readings = own->readings;
    memcpy(head.spec, own->spec, sizeof head.spec);
    memcpy(parcel, &head, sizeof head);
    if (rows)
        memcpy(parcel + sizeof head, samples->rows, rows);
    if (bystanders)
        memcpy(parcel + sizeof head + rows, samples->bystanders, bystanders);
    if (loops)
        memcpy(parcel + sizeof head + rows + bystanders, samples->loops, loops);
    *bytes_out = bytes;
    return parcel;
}

/* What the head says is in the parcel, and nothing behind it. */
static int is_whole(const struct parcel *head, size_t room)
{
    size_t left = room - sizeof *head;
    const size_t sizes[] = {sizeof(struct xst_sample), sizeof(struct xst_bystander_sample),
                            sizeof(struct xst_loop_sample)};
    const uint64_t counts[] = {head->rows, head->bystanders, head->loops};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (counts[i] > left / sizes[i])
            return 0;
        left -= (size_t)counts[i] * sizes[i];
    }
    return head->bytes == room - left;
}

static enum xst_status unpack(struct cli *cli, const unsigned char *parcel, size_t room, int64_t rank,
                              struct calibration *other)
{
    struct parcel head;
    struct xst_sample row;
    struct xst_bystander_sample bystander;
    struct xst_loop_sample loop;
    const unsigned char *at = parcel + sizeof head;
    enum xst_status status = XST_OK;
    memcpy(&head, parcel, sizeof head);
    if (!is_whole(&head, room))
        return cli_say(
            &cli->diag, XST_ERR_SCHEMA,
            "--each-rank: rank %lld sends %llu bytes with %llu, %llu and %llu rows, which do not go into %zu",
            (long long)rank, (unsigned long long)head.bytes, (unsigned long long)head.rows,
            (unsigned long long)head.bystanders, (unsigned long long)head.loops, room);
    other->facts = other->measured = head.facts;
    other->readings = head.readings;
    memcpy(other->spec, head.spec, sizeof other->spec);
    other->spec[sizeof other->spec - 1] = '\0';
    other->asked = other->spec;
    for (uint64_t i = 0; i < head.rows && status == XST_OK; i++, at += sizeof row) {
        memcpy(&row, at, sizeof row);
        status = xst_samples_append(&other->samples, &row, &cli->diag);
    }
    for (uint64_t i = 0; i < head.bystanders && status == XST_OK; i++, at += sizeof bystander) {
        memcpy(&bystander, at, sizeof bystander);
        status = xst_samples_append_bystander(&other->samples, &bystander, &cli->diag);
    }
    for (uint64_t i = 0; i < head.loops && status == XST_OK; i++, at += sizeof loop) {
        memcpy(&loop, at, sizeof loop);
        status = xst_samples_append_loop(&other->samples, &loop, &cli->diag);
    }
    return status;
}

static enum xst_status open_all(struct cli *cli, const unsigned char *everybody, size_t room, int64_t ranks,
                                struct calibration *all)
{
    enum xst_status status = XST_OK;
    for (int64_t r = 1; status == XST_OK && r < ranks; r++)
        status = unpack(cli, everybody + (size_t)r * room, room, r, &all[r]);
    return status;
}

/* All parcels, padded to the largest; rank 0 opens them. */
static enum xst_status exchange(struct cli *cli, const struct xst_group *group, const unsigned char *own, size_t bytes,
                                size_t room, struct calibration *all)
{
    unsigned char *const mine = calloc(1, room), *const everybody = calloc((size_t)group->ranks, room);
    enum xst_status status = mine && everybody ? XST_OK : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    status = xst_group_agree(group, status, &cli->diag);
    if (status == XST_OK && mine && everybody) {
        memcpy(mine, own, bytes);
        status = xst_group_gather(group, mine, room, everybody, &cli->diag);
    }
    if (status == XST_OK) {
        if (group->rank == 0)
            status = open_all(cli, everybody, room, group->ranks, all);
        status = xst_group_agree(group, status, &cli->diag);
    }
    free(mine);
    free(everybody);
    return status;
}

static enum xst_status collect(struct cli *cli, const struct xst_group *group, struct calibration *all)
{
    uint64_t sizes[XST_GROUP_MOST_RANKS] = {0}, most = 0;
    size_t bytes = 0;
    unsigned char *const own = pack(&all[group->rank], &bytes);
    const uint64_t size = bytes;
    enum xst_status status = own ? XST_OK : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    status = xst_group_agree(group, status, &cli->diag);
    if (status == XST_OK)
        status = xst_group_gather(group, &size, sizeof size, sizes, &cli->diag);
    for (int64_t r = 0; r < group->ranks; r++)
        most = sizes[r] > most ? sizes[r] : most;
    if (status == XST_OK && most > (uint64_t)XST_GROUP_MOST_BYTES)
        status = cli_say(&cli->diag, XST_ERR_RANGE, "--each-rank: a rank sends %llu bytes, at most %d are taken",
                         (unsigned long long)most, XST_GROUP_MOST_BYTES);
    if (status == XST_OK && own)
        status = exchange(cli, group, own, bytes, most, all);
    free(own);
    return status;
}

/* Rank 0: every rank's profile, its own first. */
static enum xst_status finish(struct cli *cli, struct calibration *all, json_t *document)
{
    const char *const folder = cli_text(cli, "output");
    json_t *const ranks = json_array();
    enum xst_status status = XST_OK;
    for (int64_t r = 0; r < cli_job_ranks(cli) && status == XST_OK; r++) {
        char path[PATH_MAX];
        const char *const place = folder ? folder_of(folder, r, path) : NULL;
        snprintf(all[r].name, sizeof all[r].name, "measured");
        status = cli_calibration_fit(cli, &all[r]);
        if (status == XST_OK && place)
            status = cli_calibration_write(cli, &all[r], place);
        if (status != XST_OK)
            break;
        if (cli_wants_text(cli)) {
            printf("%sRank %lld, %s\n", r ? "\n" : "", (long long)r, all[r].spec);
            cli_calibration_print(&all[r], place);
        }
        json_t *const one = json_pack("{s:I, s:s}", "rank", (json_int_t)r, "measured", all[r].spec);
        cli_calibration_put(cli, one, &all[r]);
        json_object_set_new(one, "output", cli_string(place));
        json_array_append_new(ranks, one);
    }
    json_object_set_new(document, "ranks", ranks);
    if (status == XST_OK) {
        cli_calibration_put(cli, document, &all[0]);
        json_object_set_new(document, "output", cli_string(folder));
    }
    return status;
}

int cli_calibrate_ranks(struct cli *cli)
{
    const struct xst_group group = cli_job_group(cli);
    struct calibration *const all = calloc((size_t)group.ranks, sizeof *all);
    int code = CLI_GOOD;
    enum xst_status status = all ? XST_OK : cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    status = xst_group_agree(&group, status, &cli->diag);
    if (status == XST_OK && all)
        status = measure_all(cli, &group, &all[group.rank]);
    if (status == XST_OK && all)
        status = collect(cli, &group, all);
    if (status != XST_OK) {
        cli_job_shared(cli, status);
        code = cli_fail(cli, status);
    } else if (group.rank == 0 && all) {
        json_t *const document = cli_document(cli, "calibrate", 1);
        status = finish(cli, all, document);
        if (status == XST_OK) {
            code = cli_emit(cli, document, NULL, CLI_GOOD);
        } else {
            json_decref(document);
            code = cli_fail(cli, status);
        }
    }
    for (int64_t r = 0; all && r < group.ranks; r++)
        cli_calibration_free(&all[r]);
    free(all);
    return code;
}
