/* SPDX-License-Identifier: Apache-2.0
 *
 * A scale-out network as SimGrid sees it, when that library is installed: all domains send to all at once, and what one of them
 * gets is the rate of its interface. SimGrid keeps its state in the process and ends it on errors, so it runs in a child.
 * Nothing of it is needed to build or link; the few calls made here are those of its C interface.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xstage/timeline.h>

#include "base/diag.h"

enum { MOST_DOMAINS = 256, NAME_BYTES = 48, CONFIG_BYTES = 64 };

typedef void actor_code(int argc, char **argv);

/* X(result, name, arguments) */
#define CALLS(X)                                                                                                       \
    X(void, simgrid_init, (int *argc, char **argv))                                                                    \
    X(void, simgrid_load_platform, (const char *file))                                                                 \
    X(void, simgrid_run, (void))                                                                                       \
    X(double, simgrid_get_clock, (void))                                                                               \
    X(size_t, sg_host_count, (void))                                                                                   \
    X(void **, sg_host_list, (void))                                                                                   \
    X(void *, sg_actor_init, (const char *name, void *host))                                                           \
    X(void, sg_actor_start_, (void *actor, actor_code *code, int argc, const char *const *argv))                       \
    X(void *, sg_mailbox_by_name, (const char *name))                                                                  \
    X(void *, sg_mailbox_put_async, (void *mailbox, void *payload, long bytes))                                        \
    X(void *, sg_mailbox_get_async, (void *mailbox, void **data))                                                      \
    X(void, sg_comm_wait_all, (void **comms, size_t count))

struct simgrid {
#define X(result, name, arguments) result(*name) arguments;
    CALLS(X)
#undef X
};

/* One domain of the exchange. */
struct domain {
    const struct simgrid *simgrid;
    int64_t index, domains;
    long bytes;
    void **comms, **received; /* 2 and 1 per domain */
};

/* What the child says. */
struct answer {
    enum xst_status status;
    int64_t hosts;
    double latency_us, exchange_us;
};

static int load(struct simgrid *simgrid)
{
    static const char *const names[] = {"libsimgrid.so", "libsimgrid.so.3.32", "libsimgrid.so.3.35",
                                        "libsimgrid.so.3.36"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return 0;
#define X(result, name, arguments)                                                                                     \
    {                                                                                                                  \
        void *const call = dlsym(library, #name);                                                                      \
        memcpy(&simgrid->name, &call, sizeof call);                                                                    \
        if (!call)                                                                                                     \
            return 0;                                                                                                  \
    }
    CALLS(X)
#undef X
    return 1;
}

static void *mailbox(const struct domain *domain, int64_t from, int64_t to)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%lld-%lld", (long long)from, (long long)to);
    return domain->simgrid->sg_mailbox_by_name(name);
}

/* Sends to all others and receives from all of them at once. The argument is the domain's address: an actor of SimGrid is
 * handed text alone. */
static void exchange(int argc, char **argv)
{
    static const char payload = 0;
    void *address = NULL;
    size_t count = 0;
    sscanf(argv[argc - 1], "%p", &address);
    const struct domain *const own = address;
    for (int64_t step = 1; step < own->domains; step++) {
        const int64_t to = (own->index + step) % own->domains, from = (own->index + own->domains - step) % own->domains;
        void *const out = mailbox(own, own->index, to), *const in = mailbox(own, from, own->index);
        own->comms[count++] = own->simgrid->sg_mailbox_put_async(out, (void *)(uintptr_t)&payload, own->bytes);
        own->comms[count++] = own->simgrid->sg_mailbox_get_async(in, &own->received[from]);
    }
    own->simgrid->sg_comm_wait_all(own->comms, count);
}

/* One exchange of everybody with everybody; seconds it took, negative when there is no memory. */
static double exchange_s(const struct simgrid *simgrid, int64_t domains, long bytes)
{
    struct domain *const all = calloc((size_t)domains, sizeof *all);
    void **const comms = calloc(3 * (size_t)(domains * domains), sizeof *comms);
    void *const *const hosts = simgrid->sg_host_list();
    if (!all || !comms)
        return -1;
    const double start_s = simgrid->simgrid_get_clock();
    for (int64_t i = 0; i < domains; i++) {
        char name[NAME_BYTES], address[NAME_BYTES];
        const char *const arguments[] = {name, address};
        all[i] = (struct domain){simgrid, i, domains, bytes, comms + 3 * i * domains, comms + (3 * i + 2) * domains};
        snprintf(name, sizeof name, "domain %lld", (long long)i);
        snprintf(address, sizeof address, "%p", (void *)&all[i]);
        simgrid->sg_actor_start_(simgrid->sg_actor_init(name, hosts[i]), exchange, 2, arguments);
    }
    simgrid->simgrid_run();
    return simgrid->simgrid_get_clock() - start_s;
}

/* In the child. CM02 without a TCP window: flows get their fair share of the links, nothing is taken off for headers. */
static struct answer ask(const char *platform, int64_t domains, double bytes_each)
{
    struct answer answer = {.status = XST_ERR_UNAVAILABLE};
    struct simgrid simgrid;
    char program[] = "xstage", model[] = "--cfg=network/model:CM02", window[] = "--cfg=network/TCP-gamma:0",
         log[] = "--log=root.thresh:critical", cross[] = "--cfg=network/crosstraffic:0";
    char *arguments[] = {program, model, window, cross, log, NULL};
    int count = 5;
    if (!load(&simgrid))
        return answer;
    simgrid.simgrid_init(&count, arguments);
    simgrid.simgrid_load_platform(platform);
    answer.hosts = (int64_t)simgrid.sg_host_count();
    answer.status = XST_ERR_RANGE;
    if (answer.hosts < domains)
        return answer;
    answer.latency_us = 1e6 * exchange_s(&simgrid, domains, 1);
    answer.exchange_us = 1e6 * exchange_s(&simgrid, domains, (long)bytes_each);
    answer.status = answer.latency_us >= 0 && answer.exchange_us >= 0 ? XST_OK : XST_ERR_MEMORY;
    return answer;
}

/* Asks in a child whose words go nowhere. Without an answer it died: the platform is no good. */
static struct answer ask_child(const char *platform, int64_t domains, double bytes_each)
{
    struct answer answer = {.status = XST_ERR_IO};
    int ends[2], state = 0;
    if (pipe(ends) != 0)
        return answer;
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        const struct answer own = ask(platform, domains, bytes_each);
        const int good = write(ends[1], &own, sizeof own) == (ssize_t)sizeof own;
        _exit(good ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        if (read(ends[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
            answer = (struct answer){.status = XST_ERR_PARSE};
        waitpid(child, &state, 0);
    }
    close(ends[0]);
    return answer;
}

/* Every domain on one switch, each way on its own. */
static enum xst_status write_platform(char *path, int64_t domains, const struct xst_scale_out *scale_out,
                                      struct xst_diag *diag)
{
    const int file = mkstemps(path, 4);
    FILE *const out = file < 0 ? NULL : fdopen(file, "w");
    if (!out)
        return xsti_fail(diag, XST_ERR_IO, "%s: cannot be written", path);
    fprintf(out,
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n<cluster id=\"domains\" prefix=\"domain-\" suffix=\"\" radical=\"0-%lld\" "
            "speed=\"1Gf\" bw=\"%.17gBps\" lat=\"%.17gs\" sharing_policy=\"SPLITDUPLEX\"/>\n</platform>\n",
            (long long)domains - 1, scale_out->nic_bytes_per_us * 1e6, scale_out->latency_us * 0.5e-6);
    return fclose(out) == 0 ? XST_OK : xsti_fail(diag, XST_ERR_IO, "%s: cannot be written", path);
}

enum xst_status xst_scale_out_simgrid(const char *platform, int64_t domains, double bytes_each,
                                      struct xst_scale_out *scale_out, struct xst_diag *diag)
{
    char made[] = "/tmp/xstage-XXXXXX.xml";
    if (domains < 2 || domains > MOST_DOMAINS)
        return xsti_fail(diag, XST_ERR_RANGE, "simgrid: %lld domains, outside 2..%d", (long long)domains, MOST_DOMAINS);
    if (!(bytes_each >= 1 && bytes_each <= 1e15))
        return xsti_fail(diag, XST_ERR_RANGE, "simgrid: %g bytes from domain to domain, outside 1..1e15", bytes_each);
    if (!platform && !(scale_out->nic_bytes_per_us > 0 && scale_out->latency_us >= 0))
        return xsti_fail(diag, XST_ERR_RANGE, "simgrid: nic_bytes_per_us is %g and latency_us %g without a platform",
                         scale_out->nic_bytes_per_us, scale_out->latency_us);
    if (platform && access(platform, R_OK) != 0)
        return xsti_fail(diag, XST_ERR_IO, "%s: cannot be read", platform);
    if (!platform) {
        const enum xst_status status = write_platform(made, domains, scale_out, diag);
        if (status != XST_OK) {
            unlink(made);
            return status;
        }
    }
    const struct answer answer = ask_child(platform ? platform : made, domains, bytes_each);
    if (!platform)
        unlink(made);
    if (answer.status == XST_ERR_UNAVAILABLE)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "SimGrid is not installed (Debian: libsimgrid-dev)");
    if (answer.status == XST_ERR_RANGE)
        return xsti_fail(diag, XST_ERR_RANGE, "%s has %lld hosts, %lld domains need one each",
                         platform ? platform : made, (long long)answer.hosts, (long long)domains);
    if (answer.status == XST_ERR_IO)
        return xsti_fail(diag, XST_ERR_IO, "simgrid: no process could be started to run it in");
    if (answer.status != XST_OK)
        return xsti_fail(diag, answer.status, "%s: SimGrid did not accept it", platform ? platform : made);
    const double moving_us = answer.exchange_us - answer.latency_us;
    if (!(moving_us > 0))
        return xsti_fail(diag, XST_ERR_RANGE, "simgrid: %g bytes from domain to domain take no time beside the latency",
                         bytes_each);
    scale_out->nic_bytes_per_us = (double)(domains - 1) * bytes_each / moving_us;
    scale_out->latency_us = answer.latency_us;
    return XST_OK;
}
