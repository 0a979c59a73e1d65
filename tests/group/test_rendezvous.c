/* SPDX-License-Identifier: Apache-2.0
 *
 * Meetings of several processes: every byte arrives in order, and whatever goes wrong ends all of them in time, with the reason.
 */
#include "support/crew.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "group/wire.h"

struct job {
    char where[XST_GROUP_TEXT_BYTES];
    char name[64];
    double join_seconds;
    double gather_seconds;
    int64_t victim; /* the rank that misbehaves */
};

static struct xst_rendezvous *meet(const struct job *job, int64_t rank, int64_t ranks, struct xst_diag *diag)
{
    struct xst_rendezvous *rendezvous = NULL;
    const struct xst_rendezvous_options options = {.where = job->where,
                                                   .job = job->name,
                                                   .rank = rank,
                                                   .ranks = ranks,
                                                   .join_seconds = job->join_seconds,
                                                   .gather_seconds = job->gather_seconds};
    const enum xst_status status = xst_rendezvous_open(&options, &rendezvous, diag);
    return status == XST_OK ? rendezvous : NULL;
}

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&address, &bytes), 0);
    close(probe);
    return ntohs(address.sin_port);
}

/* A job nobody else has. */
static struct job make_job(const char *where)
{
    static int number;
    struct job job = {.join_seconds = 30, .gather_seconds = 30, .victim = -1};
    snprintf(job.where, sizeof job.where, "%s", where);
    snprintf(job.name, sizeof job.name, "test %ld/%d", (long)getpid(), number++);
    return job;
}

static struct job make_tcp(void)
{
    char where[64];
    snprintf(where, sizeof where, "tcp://127.0.0.1:%d", free_port());
    return make_job(where);
}

static int open_files(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static unsigned char byte_of(int64_t rank, size_t exchange, size_t at)
{
    return (unsigned char)((size_t)rank * 59 + exchange * 31 + at * 7 + (at >> 12));
}

static int exchange(const struct xst_group *group, size_t number, size_t bytes, struct xst_diag *diag)
{
    unsigned char *const mine = malloc(bytes + 1), *const all = malloc(bytes * (size_t)group->ranks + 1);
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; i++)
        mine[i] = byte_of(group->rank, number, i);
    const enum xst_status status = xst_group_gather(group, mine, bytes, all, diag);
    for (int64_t r = 0; status == XST_OK && r < group->ranks; r++)
        for (size_t i = 0; i < bytes; i++)
            wrong += all[(size_t)r * bytes + i] != byte_of(r, number, i);
    free(mine);
    free(all);
    return status == XST_OK && wrong == 0;
}

static int work_exchanges(int64_t rank, int64_t ranks, const void *context)
{
    static const size_t sizes[] = {0, 1, 64, 4096, 100003, 3 << 20};
    struct xst_diag diag = {0};
    const int before = open_files();
    struct xst_rendezvous *const rendezvous = meet(context, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    CREW_NEED(group->rank == rank && group->ranks == ranks, &diag);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CREW_NEED(exchange(group, i, sizes[i], &diag), &diag);
    for (size_t i = 0; i < 300; i++)
        CREW_NEED(exchange(group, i, i, &diag), &diag);
    CREW_NEED(xst_rendezvous_check(rendezvous, &diag) == XST_OK, &diag);
    CREW_NEED(xst_group_barrier(group, &diag) == XST_OK, &diag);
    xst_rendezvous_close(rendezvous);
    CREW_NEED(open_files() == before, &diag);
    return CREW_GOOD;
}

static void test_exchanges(void **state)
{
    static const int64_t counts[] = {1, 2, 4, 7};
    char *const folder = xt_folder_make();
    char where[XST_GROUP_TEXT_BYTES];
    (void)state;
    snprintf(where, sizeof where, "file:%s", folder);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct job jobs[] = {make_job("local:"), make_job(where), make_tcp()};
        for (size_t j = 0; j < 3; j++)
            crew_run(counts[i], work_exchanges, &jobs[j]);
        assert_int_equal(xt_folder_count(folder), 0);
    }
    xt_folder_remove(folder);
}

/* A folder whose name does not fit into a socket's address. */
static void test_long_folder(void **state)
{
    char *const folder = xt_folder_make();
    char deep[XST_GROUP_TEXT_BYTES - 8], where[XST_GROUP_TEXT_BYTES];
    (void)state;
    snprintf(deep, sizeof deep, "%s/%0150d", folder, 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(where, sizeof where, "file:%s", deep);
    const struct job job = make_job(where);
    crew_run(3, work_exchanges, &job);
    assert_int_equal(xt_folder_count(deep), 0);
    assert_int_equal(rmdir(deep), 0);
    xt_folder_remove(folder);
}

/* Everybody but the victim must learn what happened to it. The victim dies before its third exchange. */
static int work_death(int64_t rank, int64_t ranks, const void *context)
{
    const struct job *const job = context;
    char wanted[64];
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(job, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    for (size_t i = 0; i < 2; i++)
        CREW_NEED(exchange(group, i, 100, &diag), &diag);
    if (rank == job->victim)
        kill(getpid(), SIGKILL);
    CREW_NEED(!exchange(group, 2, 100, &diag), &diag);
    snprintf(wanted, sizeof wanted, "rank %lld died", (long long)job->victim);
    CREW_NEED(strstr(diag.text, wanted) && diag.status == XST_ERR_DEVICE, &diag);
    CREW_NEED(rank == 0 || xst_rendezvous_told(rendezvous) == (job->victim != 0), &diag);
    diag.text[0] = '\0';
    CREW_NEED(xst_group_barrier(group, &diag) == XST_ERR_DEVICE && strstr(diag.text, wanted), &diag);
    CREW_NEED(xst_rendezvous_check(rendezvous, &diag) == XST_ERR_DEVICE, &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_death(void **state)
{
    (void)state;
    for (int64_t victim = 0; victim < 4; victim++) {
        struct job jobs[] = {make_job("local:"), make_tcp()};
        for (size_t j = 0; j < 2; j++) {
            struct crew crew;
            jobs[j].victim = victim;
            crew_start(&crew, 4, work_death, &jobs[j]);
            crew_wait(&crew, 20); /* far below the exchange's own limit */
            for (int64_t r = 0; r < 4; r++)
                assert_int_equal(crew.codes[r], r == victim ? 128 + SIGKILL : CREW_GOOD);
        }
    }
}

/* Between exchanges: noticed without taking part in one. */
static int work_check(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(context, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    CREW_NEED(exchange(xst_rendezvous_group(rendezvous), 0, 10, &diag), &diag);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    enum xst_status status = XST_OK;
    for (int i = 0; i < 2000 && status == XST_OK; i++) {
        status = xst_rendezvous_check(rendezvous, &diag);
        crew_rest(0.005);
    }
    CREW_NEED(status == XST_ERR_DEVICE && strstr(diag.text, "rank 1 died"), &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_check(void **state)
{
    const struct job job = make_job("local:");
    struct crew crew;
    (void)state;
    crew_start(&crew, 3, work_check, &job);
    crew_wait(&crew, 20);
    assert_int_equal(crew.codes[0], CREW_GOOD);
    assert_int_equal(crew.codes[2], CREW_GOOD);
}

/* A rank that stands still. */
static int work_still(int64_t rank, int64_t ranks, const void *context)
{
    const struct job *const job = context;
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(job, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    if (rank == job->victim) {
        crew_rest(4);
        return CREW_GOOD;
    }
    const double start = crew_now();
    CREW_NEED(!exchange(xst_rendezvous_group(rendezvous), 0, 10, &diag), &diag);
    CREW_NEED(diag.status == XST_ERR_TIMEOUT && crew_now() - start < 3.8, &diag);
    CREW_NEED(strstr(diag.text,
                     job->victim == 0 ? "rank 0 did not answer within 0.5 s" : "no word from rank 2 within 0.5 s"),
              &diag);
    /* Whether rank 0 can say it: only when it is alive. */
    CREW_NEED(rank == 0 || xst_rendezvous_told(rendezvous) == (job->victim != 0), &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_still(void **state)
{
    (void)state;
    for (int64_t victim = 0; victim <= 2; victim += 2) {
        struct job job = make_job("local:");
        job.victim = victim;
        job.gather_seconds = 0.5;
        crew_run(3, work_still, &job);
    }
}

static int work_absent(int64_t rank, int64_t ranks, const void *context)
{
    const struct job *const job = context;
    struct xst_diag diag = {0};
    const int before = open_files();
    if (rank == job->victim)
        return CREW_GOOD;
    CREW_NEED(!meet(job, rank, ranks, &diag) && diag.status == XST_ERR_TIMEOUT, &diag);
    CREW_NEED(strstr(diag.text, job->victim == 0 ? "rank 0 did not come within"
                                                 : "1 of 3 processes did not come within 0.7 s: rank 1"),
              &diag);
    CREW_NEED(open_files() == before, &diag);
    return CREW_GOOD;
}

static void test_absent(void **state)
{
    char *const folder = xt_folder_make();
    char where[XST_GROUP_TEXT_BYTES];
    (void)state;
    snprintf(where, sizeof where, "file:%s", folder);
    for (int64_t victim = 0; victim < 2; victim++) {
        struct job jobs[] = {make_job("local:"), make_job(where), make_tcp()};
        for (size_t j = 0; j < 3; j++) {
            jobs[j].victim = victim;
            jobs[j].join_seconds = 0.7;
            crew_run(3, work_absent, &jobs[j]);
        }
    }
    assert_int_equal(xt_folder_count(folder), 0);
    xt_folder_remove(folder);
}

static int work_sizes(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(context, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    CREW_NEED(!exchange(xst_rendezvous_group(rendezvous), 0, rank == 1 ? 48 : 64, &diag), &diag);
    CREW_NEED(strstr(diag.text, "exchange 1: rank 0 gives 64 bytes, rank 1 48"), &diag);
    CREW_NEED(diag.status == XST_ERR_USAGE, &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_sizes(void **state)
{
    const struct job job = make_job("local:");
    (void)state;
    crew_run(3, work_sizes, &job);
}

/* Somebody leaves, or says why it cannot go on. */
static int work_leave(int64_t rank, int64_t ranks, const void *context)
{
    const struct job *const job = context;
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(job, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    if (rank == 1) {
        if (job->victim == 1)
            xst_rendezvous_abort(rendezvous, XST_ERR_MEMORY, "my device fell off");
        CREW_NEED(xst_rendezvous_told(rendezvous) == (job->victim == 1), &diag);
        xst_rendezvous_close(rendezvous);
        return CREW_GOOD;
    }
    CREW_NEED(!exchange(xst_rendezvous_group(rendezvous), 0, 8, &diag), &diag);
    CREW_NEED(xst_rendezvous_ended(rendezvous) && (job->victim == 0 || diag.status == XST_ERR_MEMORY), &diag);
    CREW_NEED(strcmp(diag.text,
                     job->victim == 1 ? "rank 1: my device fell off" : "rank 1 left the job before exchange 1") == 0,
              &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_leave(void **state)
{
    (void)state;
    for (int64_t victim = 0; victim < 2; victim++) {
        struct job job = make_job("local:");
        job.victim = victim;
        crew_run(3, work_leave, &job);
    }
}

/* Rank 0 of a job dies while it waits: what it leaves does not stand in the next one's way. */
static int work_first(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    (void)rank, (void)ranks;
    return meet(context, 0, 2, &diag) ? CREW_GOOD : CREW_BAD;
}

static void wait_for_files(const char *folder, int count)
{
    for (int i = 0; i < 2000 && xt_folder_count(folder) != count; i++)
        crew_rest(0.005);
    assert_int_equal(xt_folder_count(folder), count);
}

static void test_stale(void **state)
{
    char *const folder = xt_folder_make();
    char where[XST_GROUP_TEXT_BYTES];
    struct crew crew;
    (void)state;
    snprintf(where, sizeof where, "file:%s", folder);
    const struct job job = make_job(where);
    crew_start(&crew, 1, work_first, &job);
    wait_for_files(folder, 2);
    kill(crew.pids[0], SIGKILL);
    crew_wait(&crew, 10);
    assert_int_equal(xt_folder_count(folder), 2);
    crew_run(2, work_exchanges, &job);
    assert_int_equal(xt_folder_count(folder), 0);
    xt_folder_remove(folder);
}

/* Two jobs of one name. */
static void test_in_use(void **state)
{
    char *const folder = xt_folder_make();
    char where[XST_GROUP_TEXT_BYTES], pid[32];
    (void)state;
    snprintf(where, sizeof where, "file:%s", folder);
    const struct job jobs[] = {make_job(where), make_job("local:")};
    for (size_t j = 0; j < 2; j++) {
        struct crew crew;
        struct xst_diag diag = {0};
        struct xst_rendezvous *second = NULL;
        crew_start(&crew, 1, work_first, &jobs[j]);
        if (j == 0)
            wait_for_files(folder, 2);
        else
            crew_rest(0.3);
        struct job other = jobs[j];
        other.join_seconds = 0.2;
        second = meet(&other, 0, 2, &diag);
        assert_null(second);
        if (diag.status == XST_ERR_TIMEOUT)
            skip(); /* the first did not get to run in time */
        xt_status(diag.status, XST_ERR_EXISTS, &diag);
        snprintf(pid, sizeof pid, "process %ld ", (long)crew.pids[0]);
        xt_contains(diag.text, j == 0 ? pid : "waits there already");
        kill(crew.pids[0], SIGKILL);
        crew_wait(&crew, 10);
    }
    xt_folder_remove(folder);
}

/* Another job's rank is sent away and the job goes on; another count, a second rank 1, another protocol end it. */
static int work_intruder(int64_t rank, int64_t ranks, const void *context)
{
    struct job job = *(const struct job *)context;
    struct xst_diag diag = {0};
    if (rank == 2) {
        snprintf(job.name, sizeof job.name, "another");
        CREW_NEED(!meet(&job, 1, 2, &diag), &diag);
        CREW_NEED(strstr(diag.text, "rank 1 of job \"another\" came to the rendezvous of job \"test"), &diag);
        return CREW_GOOD;
    }
    if (rank == 1)
        crew_rest(0.5);
    (void)ranks;
    return work_exchanges(rank, 2, &job);
}

static int work_miscount(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    CREW_NEED(!meet(context, rank, rank == 1 ? 5 : ranks, &diag), &diag);
    CREW_NEED(strstr(diag.text, "rank 1 counts 5 processes, rank 0 3") ||
                  (rank == 2 && (strstr(diag.text, "rank 0 did not come") || strstr(diag.text, "before all had come"))),
              &diag);
    return CREW_GOOD;
}

static int work_twice(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    CREW_NEED(!meet(context, rank == 2 ? 1 : rank, ranks, &diag), &diag);
    CREW_NEED(strstr(diag.text, "two processes say that they are rank 1 of 3"), &diag);
    return CREW_GOOD;
}

static void test_wrong_people(void **state)
{
    struct job job = make_tcp();
    (void)state;
    crew_run(3, work_intruder, &job);
    job = make_job("local:");
    job.join_seconds = 3;
    crew_run(3, work_miscount, &job);
    job = make_job("local:");
    crew_run(3, work_twice, &job);
}

static int connect_to(const struct job *job)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(strrchr(job->where, ':') + 1));
    for (int i = 0; i < 2000; i++) {
        const int came = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(came, (struct sockaddr *)&address, sizeof address) == 0)
            return came;
        close(came);
        crew_rest(0.005);
    }
    return -1;
}

/* Whatever connects to a port on this machine: silence, rubbish, half a hello. */
static int work_rubbish(int64_t rank, int64_t ranks, const void *context)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct xst_diag diag = {0};
    if (rank == 2) {
        const int silent = connect_to(context), loud = connect_to(context), gone = connect_to(context);
        CREW_NEED(silent >= 0 && loud >= 0 && gone >= 0, &diag);
        CREW_NEED(send(loud, text, sizeof text - 1, MSG_NOSIGNAL) > 0 && send(gone, "XSTG", 4, MSG_NOSIGNAL) > 0,
                  &diag);
        close(gone);
        crew_rest(1);
        close(silent);
        close(loud);
        return CREW_GOOD;
    }
    if (rank == 1)
        crew_rest(0.4);
    (void)ranks;
    return work_exchanges(rank, 2, context);
}

static int work_version(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    if (rank == 1) {
        const struct xsti_wire_frame frame = {{'X', 'S', 'T', 'G'}, XSTI_WIRE_VERSION + 1, XSTI_WIRE_HELLO, 0, 0};
        const int came = connect_to(context);
        char answer[4];
        CREW_NEED(came >= 0 && send(came, &frame, sizeof frame, MSG_NOSIGNAL) == sizeof frame, &diag);
        CREW_NEED(recv(came, answer, sizeof answer, 0) == 4, &diag);
        close(came);
        return CREW_GOOD;
    }
    CREW_NEED(!meet(context, rank, ranks, &diag) && diag.status == XST_ERR_SCHEMA, &diag);
    CREW_NEED(strstr(diag.text, "a rank speaks version 2 of the rendezvous, rank 0 version 1"), &diag);
    return CREW_GOOD;
}

static void test_strangers(void **state)
{
    struct job job = make_tcp();
    (void)state;
    crew_run(3, work_rubbish, &job);
    job = make_tcp();
    crew_run(2, work_version, &job);
}

static int work_agree(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    struct xst_rendezvous *const rendezvous = meet(context, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    CREW_NEED(xst_group_agree(group, XST_OK, &diag) == XST_OK, &diag);
    if (rank == 2)
        snprintf(diag.text, sizeof diag.text, "no room");
    CREW_NEED(xst_group_agree(group, rank == 2 ? XST_ERR_MEMORY : XST_OK, &diag) == XST_ERR_MEMORY, &diag);
    CREW_NEED(strcmp(diag.text, "rank 2: no room") == 0, &diag);
    snprintf(diag.text, sizeof diag.text, "all alike");
    CREW_NEED(xst_group_agree(group, XST_ERR_RANGE, &diag) == XST_ERR_RANGE && strcmp(diag.text, "all alike") == 0,
              &diag);
    CREW_NEED(xst_group_same(group, "the words", "same", &diag) == XST_OK, &diag);
    CREW_NEED(xst_group_same(group, "the words", rank == 1 ? "b" : "a", &diag) == XST_ERR_USAGE, &diag);
    CREW_NEED(strcmp(diag.text, "the words differ between ranks: rank 0 has \"a\", rank 1 \"b\"") == 0, &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_agree(void **state)
{
    const struct job job = make_job("local:");
    (void)state;
    crew_run(3, work_agree, &job);
}

static void test_bad_options(void **state)
{
    static const char *const wheres[] = {"udp://1",      "file:",         "tcp://", "tcp://host:",
                                         "tcp://host:0", "tcp://h:70000", ""};
    struct xst_rendezvous *rendezvous = NULL;
    struct xst_diag diag = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wheres / sizeof *wheres; i++) {
        const struct xst_rendezvous_options options = {.where = wheres[i], .rank = 0, .ranks = 2};
        xt_status(xst_rendezvous_open(&options, &rendezvous, &diag), XST_ERR_USAGE, &diag);
    }
    const struct xst_rendezvous_options beyond = {.where = "local:", .rank = 2, .ranks = 2};
    xt_status(xst_rendezvous_open(&beyond, &rendezvous, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "rank 2 of 2");
    const struct xst_rendezvous_options nowhere = {.rank = 0, .ranks = 2};
    xt_status(xst_rendezvous_open(&nowhere, &rendezvous, &diag), XST_ERR_USAGE, &diag);
    const struct xst_rendezvous_options gone = {.where = "file:/no/such/folder", .rank = 0, .ranks = 2};
    xt_status(xst_rendezvous_open(&gone, &rendezvous, &diag), XST_ERR_IO, &diag);
    const struct xst_rendezvous_options past = {.where = "local:", .rank = 0, .ranks = 2, .join_seconds = -1};
    xt_status(xst_rendezvous_open(&past, &rendezvous, &diag), XST_ERR_RANGE, &diag);
    assert_null(rendezvous);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanges), cmocka_unit_test(test_long_folder),  cmocka_unit_test(test_death),
        cmocka_unit_test(test_check),     cmocka_unit_test(test_still),        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_leave),        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_in_use),    cmocka_unit_test(test_wrong_people), cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_agree),     cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
