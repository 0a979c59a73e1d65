/* SPDX-License-Identifier: Apache-2.0
 *
 * Workspaces on real devices, each rank a process: everybody writes everybody's memory through the mapped addresses, whatever
 * the numbers of the devices, and a rank that is killed leaves nothing behind. No driver is opened before the processes part.
 */
#include "support/crew.h"

#include <pthread.h>

#include <xstage/workspace.h>

#include "gpu/device.h"

enum { BYTES = 48 << 20, PART = 1 << 20, CREW_NO_DEVICE = 77 };

struct plan {
    char job[64];
    int64_t devices;
    int hide;   /* every process sees its own device alone */
    int rounds; /* how often a workspace is made and given back */
    int64_t victim;
};

static struct plan make_plan(int64_t devices)
{
    static int number;
    struct plan plan = {.devices = devices, .rounds = 1, .victim = -1};
    snprintf(plan.job, sizeof plan.job, "device workspace %ld/%d", (long)getpid(), number++);
    return plan;
}

static struct xst_rendezvous *meet(const struct plan *plan, int64_t rank, int64_t ranks, struct xst_diag *diag)
{
    struct xst_rendezvous *rendezvous = NULL;
    const struct xst_rendezvous_options options = {"local:", plan->job, rank, ranks, 60, 60, NULL};
    return xst_rendezvous_open(&options, &rendezvous, diag) == XST_OK ? rendezvous : NULL;
}

static unsigned char pattern(int64_t from, int64_t to, size_t at)
{
    return (unsigned char)((size_t)(from * 37 + to * 101) + at * 13 + (at >> 11) + 1);
}

/* My part of a block, as it must be. */
static void fill(unsigned char *part, int64_t from, int64_t to)
{
    for (size_t i = 0; i < PART; i++)
        part[i] = pattern(from, to, i);
}

/* Writes its part into every rank's block by a copy from the host, a copy on the device, and a fill; then checks its own. */
static int write_and_check(const struct xsti_device *device, const struct xst_workspace *workspace,
                           const struct xst_group *group, struct xst_diag *diag)
{
    const uint64_t *const pointers = xst_workspace_pointers(workspace);
    unsigned char *const part = malloc(PART), *const all = malloc(BYTES);
    size_t wrong = 0;
    CREW_NEED(part && all, diag);
    for (int64_t to = 0; to < group->ranks; to++) {
        const CUdeviceptr place = pointers[to] + (CUdeviceptr)(group->rank * 3 * PART);
        fill(part, group->rank, to);
        CREW_NEED(xsti_device_write(device, place, part, PART, diag) == XST_OK, diag);
        CREW_NEED(device->driver->cuMemcpyAsync(place + PART, place, PART, device->stream) == CUDA_SUCCESS, diag);
        CREW_NEED(xsti_device_fill(device, place + 2 * PART, (int)group->rank + 1, PART, diag) == XST_OK, diag);
        CREW_NEED(xsti_device_wait(device, 10e6, "writing a block", diag) == XST_OK, diag);
    }
    CREW_NEED(xst_group_barrier(group, diag) == XST_OK, diag);
    CREW_NEED(xsti_device_read(device, all, pointers[group->rank], BYTES, diag) == XST_OK, diag);
    for (int64_t from = 0; from < group->ranks; from++) {
        const unsigned char *const place = all + from * 3 * PART;
        fill(part, from, group->rank);
        wrong += memcmp(place, part, PART) != 0 || memcmp(place + PART, part, PART) != 0;
        for (size_t i = 0; i < PART; i++)
            wrong += place[2 * PART + i] != from + 1;
    }
    for (size_t i = (size_t)group->ranks * 3 * PART; i < BYTES; i++)
        wrong += all[i] != 0;
    free(part);
    free(all);
    CREW_NEED(wrong == 0, diag);
    return CREW_GOOD;
}

static size_t free_bytes(const struct xsti_device *device)
{
    size_t free_now = 0, total = 0;
    if (xsti_device_use(device, NULL) == XST_OK)
        device->driver->cuMemGetInfo(&free_now, &total);
    return free_now;
}

static int use_rounds(const struct plan *plan, const struct xsti_device *device, int64_t ordinal,
                      struct xst_rendezvous *rendezvous, struct xst_diag *diag)
{
    const struct xst_group *const group = xst_rendezvous_group(rendezvous);
    size_t first = 0;
    for (int round = 0; round < plan->rounds; round++) {
        struct xst_workspace *workspace = NULL;
        CREW_NEED(xst_workspace_create(BYTES, ordinal, group, &workspace, diag) == XST_OK, diag);
        if (round == 0 || round == plan->rounds - 1)
            CREW_NEED(write_and_check(device, workspace, group, diag) == CREW_GOOD, diag);
        if (group->rank == plan->victim)
            kill(getpid(), SIGKILL);
        if (plan->victim >= 0) {
            CREW_NEED(xst_workspace_destroy(workspace, diag) == XST_ERR_DEVICE, diag);
            CREW_NEED(strstr(diag->text, "died"), diag);
        } else {
            CREW_NEED(xst_workspace_destroy(workspace, diag) == XST_OK && xst_group_barrier(group, diag) == XST_OK,
                      diag);
        }
        first = round == 0 ? free_bytes(device) : first;
    }
    /* What one workspace takes shows at once; the context itself may move a little. */
    CREW_NEED(plan->rounds == 1 || free_bytes(device) + BYTES / 2 > first, diag);
    return CREW_GOOD;
}

static int work(int64_t rank, int64_t ranks, const void *context)
{
    const struct plan *const plan = context;
    struct xst_diag diag = {0};
    struct xsti_driver driver;
    struct xsti_device device;
    const int64_t ordinal = plan->hide ? 0 : rank % plan->devices;
    char visible[16];
    snprintf(visible, sizeof visible, "%d", (int)(rank % plan->devices));
    if (plan->hide)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    CREW_NEED(xsti_driver_open(&driver, &diag) == XST_OK, &diag);
    CREW_NEED(xsti_device_open(&driver, (int)ordinal, &device, &diag) == XST_OK, &diag);
    struct xst_rendezvous *const rendezvous = meet(plan, rank, ranks, &diag);
    CREW_NEED(rendezvous, &diag);
    const int code = use_rounds(plan, &device, ordinal, rendezvous, &diag);
    xst_rendezvous_close(rendezvous);
    xsti_device_close(&device);
    xsti_driver_close(&driver);
    return code;
}

/* In a process of its own: how many devices there are, and whether the first two reach each other. */
static int work_count(int64_t rank, int64_t ranks, const void *context)
{
    struct xst_diag diag = {0};
    struct xsti_driver driver;
    int can = 0;
    (void)rank, (void)ranks, (void)context;
    if (xsti_driver_open(&driver, &diag) != XST_OK) {
        printf("SKIP: %s\n", diag.text);
        fflush(stdout);
        return CREW_NO_DEVICE;
    }
    if (driver.device_count > 1)
        driver.cuDeviceCanAccessPeer(&can, 0, 1);
    return driver.device_count > 1 && can ? 2 : 1;
}

static int64_t device_count(void)
{
    struct crew crew;
    crew_start(&crew, 1, work_count, NULL);
    crew_wait(&crew, 60);
    return crew.codes[0] == CREW_NO_DEVICE ? 0 : crew.codes[0];
}

static int64_t devices;

static void test_processes(void **state)
{
    static const int64_t counts[] = {1, 2, 4, 8};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct plan plan = make_plan(devices);
        crew_run(counts[i], work, &plan);
    }
}

static void test_hidden_devices(void **state)
{
    struct plan plan = make_plan(devices);
    (void)state;
    plan.hide = 1;
    crew_run(2, work, &plan);
}

static void test_rounds(void **state)
{
    struct plan plan = make_plan(devices);
    (void)state;
    plan.rounds = 50;
    crew_run(2, work, &plan);
}

/* Again and again: were anything left of a killed rank, the device would fill up or the rank behind it stumble. */
static void test_killed(void **state)
{
    (void)state;
    for (int64_t victim = 0; victim < 2; victim++) {
        struct plan plan = make_plan(devices);
        struct crew crew;
        plan.victim = victim;
        crew_start(&crew, 2, work, &plan);
        crew_wait(&crew, 60);
        assert_int_equal(crew.codes[victim], 128 + SIGKILL);
        assert_int_equal(crew.codes[1 - victim], CREW_GOOD);
    }
    const struct plan after = make_plan(devices);
    crew_run(2, work, &after);
}

struct thread {
    pthread_t thread;
    const struct plan *plan;
    int64_t rank;
    int code;
};

static void *run_thread(void *context)
{
    struct thread *const thread = context;
    thread->code = work(thread->rank, 4, thread->plan);
    return NULL;
}

/* Two processes of two ranks each. */
static int work_threads(int64_t process, int64_t processes, const void *context)
{
    struct thread threads[2];
    (void)processes;
    for (int i = 0; i < 2; i++) {
        threads[i] = (struct thread){.plan = context, .rank = process * 2 + i};
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0)
            return CREW_BAD;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i].thread, NULL);
    return threads[0].code == CREW_GOOD && threads[1].code == CREW_GOOD ? CREW_GOOD : CREW_BAD;
}

static void test_threads(void **state)
{
    const struct plan plan = make_plan(devices);
    (void)state;
    crew_run(2, work_threads, &plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes), cmocka_unit_test(test_hidden_devices), cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_killed),
    };
    devices = device_count();
    if (devices == 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
