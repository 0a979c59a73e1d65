/* SPDX-License-Identifier: Apache-2.0
 *
 * crew.h - the plain launcher of the tests: forks ranks, waits for all of them, at most so long.
 */
#ifndef XST_TESTS_SUPPORT_CREW_H
#define XST_TESTS_SUPPORT_CREW_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xstage/group.h>

#include "support/support.h"

enum { CREW_MOST = 8, CREW_GOOD = 0, CREW_BAD = 9 };

/* What each rank does; what it returns is its exit status. */
typedef int (*crew_work)(int64_t rank, int64_t ranks, const void *context);

struct crew {
    int64_t ranks;
    pid_t pids[CREW_MOST];
    int codes[CREW_MOST]; /* exit status, or 128 + signal */
};

static inline double crew_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void crew_rest(double seconds)
{
    const struct timespec span = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&span, NULL);
}

static inline void crew_start(struct crew *crew, int64_t ranks, crew_work work, const void *context)
{
    *crew = (struct crew){.ranks = ranks};
    fflush(NULL);
    for (int64_t r = 0; r < ranks; r++) {
        crew->pids[r] = fork();
        assert_true(crew->pids[r] >= 0);
        if (crew->pids[r] == 0)
            _exit(work(r, ranks, context));
    }
}

/* Waits for all; whoever is still there after `seconds` is killed, and the test fails. */
static inline void crew_wait(struct crew *crew, double seconds)
{
    const double deadline = crew_now() + seconds;
    int64_t late = 0;
    for (int64_t r = 0; r < crew->ranks; r++) {
        int state = 0;
        pid_t got = 0;
        while ((got = waitpid(crew->pids[r], &state, WNOHANG)) == 0 && crew_now() < deadline)
            crew_rest(0.005);
        if (got == 0) {
            late++;
            kill(crew->pids[r], SIGKILL);
            waitpid(crew->pids[r], &state, 0);
        }
        crew->codes[r] = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    }
    if (late)
        fail_msg("%lld ranks were still there after %g s", (long long)late, seconds);
}

/* All ranks well. */
static inline void crew_run(int64_t ranks, crew_work work, const void *context)
{
    struct crew crew;
    crew_start(&crew, ranks, work, context);
    crew_wait(&crew, 60);
    for (int64_t r = 0; r < ranks; r++) {
        if (crew.codes[r] != CREW_GOOD)
            fail_msg("rank %lld ended with %d", (long long)r, crew.codes[r]);
    }
}

/* In a rank: complains and makes the rank bad. */
#define CREW_NEED(condition, diag)                                                                                     \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, (diag)->text);                 \
            return CREW_BAD;                                                                                           \
        }                                                                                                              \
    } while (0)

#endif
