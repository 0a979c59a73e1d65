/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_sim - events per second of the simulator on one core. An event is a burst's start, its floor passed with the capacity
 * reached, its end, or its backlog running empty. Each case runs until it has taken a second of processor time.
 */
#include <stdint.h>

#include <xstage/sim.h>

#include "bench.h"

struct bench_case {
    const char *name;
    int64_t producers;
    int64_t sources;
    int64_t groups;
    double gap_us;
    double spread_burst;
};

/* 132 x 32 KiB on the recorded NVLink pair: R 372 GB/s, T0 0.5 us, Q 2.4 MiB. Zero gap stalls, 9 us sometimes, 14 never. */
static const struct bench_case CASES[] = {
    {"stalled, one port", 132, 1, 1, 0, 0.3},
    {"stalled, 24 ports", 132, 1, 24, 0, 0.3},
    {"mid-sweep, 24 ports", 132, 1, 24, 9, 0.3},
    {"recovered, 24 ports", 132, 1, 24, 14, 0.3},
    {"equal shares, one port", 132, 1, 1, 5, 0},
    {"8 devices, 24 ports", 132, 8, 24, 5, 0.3},
    {"8 devices of 1056 producers", 1056, 8, 24, 5, 0.3},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_case(const struct bench_case *bench, double *rate_out)
{
    const int64_t total = bench->producers * bench->sources;
    struct xst_sim_source *const sources = calloc((size_t)bench->sources, sizeof *sources);
    struct xst_sim_producer *const producers = calloc((size_t)total, sizeof *producers);
    int64_t *const group = calloc((size_t)bench->producers, sizeof *group);
    if (!sources || !producers || !group)
        return 1;
    const double scale = (double)bench->producers / 132; /* the same load per byte of drain */
    xst_sim_deal_groups(bench->groups, bench->producers, bench->producers, group);
    for (int64_t s = 0; s < bench->sources; s++) {
        sources[s] = (struct xst_sim_source){.drain_bytes_per_us = 372e3 * scale, .groups = bench->groups};
        for (int64_t i = 0; i < bench->producers; i++)
            producers[s * bench->producers + i] = (struct xst_sim_producer){s, group[i], 2.4 * 1048576 / 132, 1};
    }
    struct xst_sim_pattern pattern = {.bytes = 32768,
                                      .floor_us = 0.5,
                                      .gap_us = bench->gap_us,
                                      .bursts = 1 + 400000 / total};
    const struct xst_sim_config config = {.sources = sources,
                                          .source_count = bench->sources,
                                          .producers = producers,
                                          .producer_count = total,
                                          .next = xst_sim_pattern_next,
                                          .context = &pattern,
                                          .share_spread_burst = bench->spread_burst,
                                          .seed = 1};
    int64_t events = 0;
    const double start = seconds();
    double spent = 0;
    int failed = 0;
    while (!failed && spent < 1) {
        struct xst_sim_result result;
        struct xst_diag diag;
        failed = xst_sim_run(&config, &result, &diag) != XST_OK;
        if (failed) {
            fprintf(stderr, "bench_sim: %s\n", diag.text);
            break;
        }
        events += result.events;
        xst_sim_result_free(&result);
        spent = seconds() - start;
    }
    *rate_out = (double)events / spent / 1e6;
    if (!failed)
        printf("%-30s %8lld %10lld %8.2f %8.0f\n", bench->name, (long long)total, (long long)events, *rate_out,
               1e3 / *rate_out);
    free(sources);
    free(producers);
    free(group);
    return failed;
}

int main(void)
{
    bench_machine();
    printf("%-30s %8s %10s %8s %8s\n", "case", "members", "events", "M/s", "ns/event");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double rate;
        if (run_case(&CASES[i], &rate))
            return 3;
    }
    return 0;
}
