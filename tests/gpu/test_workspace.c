/* SPDX-License-Identifier: Apache-2.0
 *
 * Workspaces on a driver made of ordinary memory: every rank writes every rank's block, whatever process and device it is on;
 * what one rank cannot do is every rank's error; nothing is held afterwards.
 */
#include "support/crew.h"

#include "gpu/fake_driver.h"
#include "gpu/workspace.h"

enum { BYTES = 3 << 20 };

/* What one rank does differently. */
struct plan {
    char job[64];
    int64_t victim;
    const char *what; /* NULL: nothing */
    const char *words;
    enum xst_status status;
    int threads; /* ranks of a process */
};

static struct plan make_plan(const char *what, enum xst_status status, const char *words)
{
    static int number;
    struct plan plan = {.victim = 1, .what = what, .words = words, .status = status, .threads = 1};
    snprintf(plan.job, sizeof plan.job, "workspace %ld/%d", (long)getpid(), number++);
    return plan;
}

static struct xst_rendezvous *meet(const struct plan *plan, int64_t rank, int64_t ranks, struct xst_diag *diag)
{
    struct xst_rendezvous *rendezvous = NULL;
    const struct xst_rendezvous_options options = {"local:", plan->job, rank, ranks, 30, 30, NULL};
    return xst_rendezvous_open(&options, &rendezvous, diag) == XST_OK ? rendezvous : NULL;
}

/* Everybody writes its number into everybody's block at its own place, then finds all numbers in its own. */
static int write_all(const struct xst_workspace *workspace, const struct xst_group *group, struct xst_diag *diag)
{
    const uint64_t *const pointers = xst_workspace_pointers(workspace);
    const unsigned char *const own = (const unsigned char *)(uintptr_t)pointers[group->rank];
    for (size_t i = 0; i < BYTES; i++)
        CREW_NEED(own[i] == 0, diag);
    CREW_NEED(xst_group_barrier(group, diag) == XST_OK, diag);
    for (int64_t r = 0; r < group->ranks; r++)
        memset((char *)(uintptr_t)pointers[r] + 1000 * group->rank, (int)group->rank + 1, 1000);
    CREW_NEED(xst_group_barrier(group, diag) == XST_OK, diag);
    for (int64_t r = 0; r < group->ranks; r++)
        CREW_NEED(own[1000 * r] == r + 1 && own[1000 * r + 999] == r + 1, diag);
    return CREW_GOOD;
}

static int use_rank(const struct plan *plan, int64_t rank, int64_t ranks, int64_t ordinal)
{
    struct xst_diag diag = {0};
    struct xst_workspace *workspace = NULL;
    struct xsti_process self;
    struct xsti_driver driver = fake_driver();
    struct xst_rendezvous *const rendezvous = meet(plan, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    const CUcontext before = (CUcontext)(void *)&diag;
    fake_set(before);
    xsti_process_self(&self);
    CREW_NEED(xsti_workspace_create(&driver, &self, BYTES, ordinal, group, &workspace, &diag) == XST_OK, &diag);
    CREW_NEED(xst_workspace_rank(workspace) == rank && xst_workspace_ranks(workspace) == ranks, &diag);
    CREW_NEED(xst_workspace_bytes(workspace) == BYTES && fake_current == before, &diag);
    CREW_NEED(write_all(workspace, group, &diag) == CREW_GOOD, &diag);
    const CUdevice device = (CUdevice)((ordinal + fake.first) % fake.devices);
    CREW_NEED(xst_workspace_device(workspace, rank)[4] == '4' &&
                  xst_workspace_device(workspace, rank)[5] == '0' + device,
              &diag);
    CREW_NEED(xst_workspace_destroy(workspace, &diag) == XST_OK && fake_current == before, &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

/* One rank a process; odd ones see the devices the other way round, so that the same number is another device. */
static int work_processes(int64_t rank, int64_t ranks, const void *context)
{
    fake.first = (int)(rank % 2);
    const int code = use_rank(context, rank, ranks, rank / 2 % 2);
    return code == CREW_GOOD && fake_is_empty() ? CREW_GOOD : CREW_BAD;
}

static void test_processes(void **state)
{
    static const int64_t counts[] = {1, 2, 4, 8};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct plan plan = make_plan(NULL, XST_OK, NULL);
        crew_run(counts[i], work_processes, &plan);
    }
}

struct thread {
    pthread_t thread;
    const struct plan *plan;
    int64_t rank, ranks;
    int code;
};

static void *run_thread(void *context)
{
    struct thread *const thread = context;
    thread->code = use_rank(thread->plan, thread->rank, thread->ranks, thread->rank % fake.devices);
    return NULL;
}

/* Several ranks a process, on their own devices and on shared ones. */
static int work_threads(int64_t process, int64_t processes, const void *context)
{
    const struct plan *const plan = context;
    struct thread threads[4];
    int code = CREW_GOOD;
    for (int i = 0; i < plan->threads; i++) {
        threads[i] =
            (struct thread){.plan = plan, .rank = process * plan->threads + i, .ranks = processes * plan->threads};
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0)
            return CREW_BAD;
    }
    for (int i = 0; i < plan->threads; i++) {
        pthread_join(threads[i].thread, NULL);
        code = threads[i].code == CREW_GOOD ? code : CREW_BAD;
    }
    return code == CREW_GOOD && fake_is_empty() ? CREW_GOOD : CREW_BAD;
}

static void test_threads(void **state)
{
    (void)state;
    for (int64_t processes = 1; processes <= 2; processes++) {
        struct plan plan = make_plan(NULL, XST_OK, NULL);
        plan.threads = processes == 1 ? 4 : 3;
        crew_run(processes, work_threads, &plan);
    }
}

/* The victim cannot, and all ranks get its reason. */
static int work_failure(int64_t rank, int64_t ranks, const void *context)
{
    const struct plan *const plan = context;
    struct xst_diag diag = {0};
    struct xst_workspace *workspace = NULL;
    struct xsti_process self;
    struct xsti_driver driver = fake_driver(), *given = &driver;
    size_t bytes = BYTES;
    int64_t ordinal = 0;
    struct xst_rendezvous *const rendezvous = meet(plan, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    xsti_process_self(&self);
    if (rank == plan->victim) {
        bytes = strcmp(plan->what, "bytes") == 0     ? 4096
                : strcmp(plan->what, "nothing") == 0 ? 0
                : strcmp(plan->what, "all") == 0     ? SIZE_MAX
                                                     : BYTES;
        ordinal = strcmp(plan->what, "ordinal") == 0 ? 7 : strcmp(plan->what, "access") == 0 ? 1 : 0;
        fake.no_access = strcmp(plan->what, "access") == 0;
        fake.bad_map = strcmp(plan->what, "map") == 0;
        fake.free_bytes = strcmp(plan->what, "memory") == 0 ? 1 << 20 : fake.free_bytes;
        if (strcmp(plan->what, "host") == 0) {
            snprintf(self.host, sizeof self.host, "another boot");
            snprintf(self.host_name, sizeof self.host_name, "far-away");
        }
        if (strcmp(plan->what, "ipc") == 0)
            driver.cuIpcGetMemHandle = NULL;
        if (strcmp(plan->what, "driver") == 0) {
            given = NULL;
            snprintf(diag.text, sizeof diag.text, "no CUDA driver on this machine");
        }
    }
    const enum xst_status status =
        xsti_workspace_create(given, &self, bytes, ordinal, xst_rendezvous_group(rendezvous), &workspace, &diag);
    CREW_NEED(status == plan->status && !workspace, &diag);
    CREW_NEED(strstr(diag.text, plan->words), &diag);
    CREW_NEED(fake_is_empty(), &diag);
    /* The group itself is well, and can be used again. */
    CREW_NEED(xst_group_barrier(xst_rendezvous_group(rendezvous), &diag) == XST_OK, &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_failures(void **state)
{
    const struct plan plans[] = {
        make_plan("bytes", XST_ERR_USAGE, "rank 0 brings 3145728 bytes and rank 1 4096"),
        make_plan("nothing", XST_ERR_RANGE, "rank 1: workspace: 0 bytes"),
        make_plan("all", XST_ERR_RANGE, "rank 1: workspace: 18446744073709551615 bytes; at most"),
        make_plan("host", XST_ERR_UNAVAILABLE, " and rank 1 on far-away; all ranks must be on one host"),
        make_plan("ordinal", XST_ERR_UNAVAILABLE, "rank 1: device 7 does not exist"),
        make_plan(
            "access", XST_ERR_UNAVAILABLE,
            "rank 1: workspace: device 1 (GPU-41414141-4141-4141-4141-414141414141) of rank 1 cannot write device 0 "
            "(GPU-40404040-4040-4040-4040-404040404040) of rank 0"),
        make_plan("memory", XST_ERR_MEMORY, "rank 1: device 0: 4 MiB are needed and 1 MiB of 1024 MiB are free"),
        make_plan("map", XST_ERR_DEVICE, "rank 1: device 0: mapping memory of another process failed"),
        make_plan("ipc", XST_ERR_UNAVAILABLE, "rank 1: device 0: the driver lacks cuIpcGetMemHandle"),
        make_plan("driver", XST_ERR_UNAVAILABLE, "rank 1: no CUDA driver on this machine"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        crew_run(3, work_failure, &plans[i]);
}

/* A rank is killed while the others hold its memory. */
static int work_killed(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    struct xst_workspace *workspace = NULL;
    struct xsti_process self;
    struct xsti_driver driver = fake_driver();
    struct xst_rendezvous *const rendezvous = meet(context, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    xsti_process_self(&self);
    CREW_NEED(xsti_workspace_create(&driver, &self, BYTES, rank % 2, xst_rendezvous_group(rendezvous), &workspace,
                                    &diag) == XST_OK,
              &diag);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    if (rank == 2) {
        CREW_NEED(xst_group_barrier(xst_rendezvous_group(rendezvous), &diag) == XST_ERR_DEVICE, &diag);
        xst_workspace_abandon(workspace);
    } else {
        CREW_NEED(xst_workspace_destroy(workspace, &diag) == XST_ERR_DEVICE, &diag);
    }
    CREW_NEED(strstr(diag.text, "rank 1 died") && fake_is_empty(), &diag);
    xst_rendezvous_close(rendezvous);
    return CREW_GOOD;
}

static void test_killed(void **state)
{
    const struct plan plan = make_plan(NULL, XST_OK, NULL);
    struct crew crew;
    (void)state;
    crew_start(&crew, 3, work_killed, &plan);
    crew_wait(&crew, 20);
    assert_int_equal(crew.codes[0], CREW_GOOD);
    assert_int_equal(crew.codes[1], 128 + SIGKILL);
    assert_int_equal(crew.codes[2], CREW_GOOD);
}

/* Without a driver the public door says why. */
static void test_public(void **state)
{
    const struct xst_group alone = {.rank = 0, .ranks = 1};
    struct xst_workspace *workspace = NULL;
    struct xst_diag diag = {0};
    (void)state;
    const enum xst_status status = xst_workspace_create(4096, 0, &alone, &workspace, &diag);
    if (status == XST_OK) {
        assert_int_equal(xst_workspace_pointers(workspace)[0] % 1024, 0);
        xt_ok(xst_workspace_destroy(workspace, &diag), &diag);
        return;
    }
    xt_status(status, XST_ERR_UNAVAILABLE, &diag);
    assert_true(diag.text[0] != '\0');
    assert_int_equal(xst_workspace_create(4096, 0, &alone, &workspace, NULL), XST_ERR_UNAVAILABLE);
    xt_ok(xst_workspace_destroy(NULL, &diag), &diag);
    xst_workspace_abandon(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes), cmocka_unit_test(test_threads), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_killed),    cmocka_unit_test(test_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
