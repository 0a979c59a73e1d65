/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_timeline - wall time of tile timelines: attention on 8 ranks, and one DeepSeek-V3 layer at 4,096 tokens a rank on up to
 * 1,024 ranks. Each case runs once, without the second run that leaves the exchange out. usage: bench_timeline [RANKS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <xstage/shapes.h>
#include <xstage/timeline.h>

#include "bench.h"

static double resident_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void print(const char *name, int64_t ranks, const struct xst_timeline_result *result, double wall_us)
{
    printf("%-28s %6lld %10.1f %12lld %12lld %8.2f %8.2f %8.0f\n", name, (long long)ranks, result->makespan_us,
           (long long)result->tiles, (long long)result->events, wall_us * 1e-6, (double)result->events / wall_us,
           resident_mib());
    fflush(stdout);
}

static int run_attention(const struct xst_profile *profile, struct xst_diag *diag)
{
    const struct xst_fa_preset *preset;
    struct xst_timeline_result result;
    const struct xst_timeline_options options = {.no_free_run = 1, .extrapolate = 1, .seed = 1};
    const struct xst_fa_a2a_plan plan = {.tile_rows = 128,
                                         .tile_cols = 128,
                                         .stages = 2,
                                         .staging_slots = 1,
                                         .method = XST_METHOD_ST16};
    if (xst_fa_preset_find("wan2.1-14b-720p", &preset, diag) != XST_OK)
        return 1;
    const struct xst_fa_a2a_shape shape = {preset->batch, preset->heads, preset->head_dim, preset->seq, 8, 2};
    const double start_us = bench_now_us();
    if (xst_timeline_fa_a2a(profile, &shape, &plan, &options, &result, diag) != XST_OK)
        return 1;
    print("fa-a2a wan2.1-14b-720p", 8, &result, bench_now_us() - start_us);
    xst_timeline_result_free(&result);
    return 0;
}

static int run_moe(const struct xst_profile *profile, enum xst_schedule schedule, int64_t ranks, struct xst_diag *diag)
{
    const struct xst_moe_preset *preset;
    struct xst_timeline_result result;
    const struct xst_timeline_options options = {.no_free_run = 1, .extrapolate = 1, .seed = 1, .work_spread = 0.02};
    const struct xst_moe_plan plan = {.tile_rows = 128,
                                      .tile_cols = 256,
                                      .tile_depth = 64,
                                      .stages = 4,
                                      .staging_slots = 1,
                                      .method = XST_METHOD_ST16,
                                      .schedule = schedule,
                                      .act_frac = 0.1};
    int64_t rows[1024];
    if (xst_moe_preset_find("deepseek-v3", &preset, diag) != XST_OK)
        return 1;
    const struct xst_moe_shape shape = {preset->hidden, preset->inter, preset->experts, preset->topk, 4096, ranks, 2};
    const int64_t group = ranks < preset->experts ? ranks : preset->experts;
    for (int64_t e = 0; e < preset->experts; e++)
        rows[e] = 4096 * preset->topk * group / preset->experts;
    const struct xst_timeline_moe moe = {.lead = 300, .group = 1, .rows = rows};
    const double start_us = bench_now_us();
    if (xst_timeline_moe(profile, &shape, &plan, &moe, &options, &result, diag) != XST_OK)
        return 1;
    print(schedule == XST_SCHEDULE_WAVE ? "moe deepseek-v3 wave" : "moe deepseek-v3 interleaved", ranks, &result,
          bench_now_us() - start_us);
    xst_timeline_result_free(&result);
    return 0;
}

int main(int argc, char **argv)
{
    const int64_t most = argc > 1 ? strtoll(argv[1], NULL, 10) : 1024;
    struct xst_profile profile;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (xst_profile_read(XST_SOURCE_DIR "/profiles/h200x2-nvlink.json", &profile, NULL, &diag) != XST_OK) {
        fprintf(stderr, "bench_timeline: %s\n", diag.text);
        return 3;
    }
    bench_machine();
    printf("%-28s %6s %10s %12s %12s %8s %8s %8s\n", "kernel", "ranks", "us", "tiles", "events", "wall s", "M/s",
           "MiB");
    int failed = run_attention(&profile, &diag);
    for (int64_t ranks = 8; !failed && ranks <= most; ranks = ranks == 8 ? 64 : ranks == 64 ? 1024 : 2 * most + 1)
        for (int schedule = 0; !failed && schedule < 2; schedule++)
            failed = run_moe(&profile, (enum xst_schedule)schedule, ranks, &diag);
    if (failed)
        fprintf(stderr, "bench_timeline: %s\n", diag.text);
    xst_profile_free(&profile);
    return failed ? 3 : 0;
}
