/* SPDX-License-Identifier: Apache-2.0
 *
 * Time of 1,000,000 predictions on one core, all laws each, on the recorded NVLink path. Reports, never judges.
 */
#include <stdio.h>
#include <stdlib.h>

#include <xstage/model.h>

#include "bench.h"

enum { POINTS = 1000000, REPETITIONS = 9 };

int main(void)
{
    struct xst_profile profile;
    struct xst_diag diag = {XST_OK, 0, ""};
    const struct xst_path_key key = {XST_TARGET_PEER, XST_DIRECTION_ONE, XST_METHOD_ST16, 0, 0, 0};
    if (xst_profile_read(XST_SOURCE_DIR "/profiles/h200x2-nvlink.json", &profile, NULL, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    const struct xst_path *const path = xst_profile_path(&profile, &key);
    struct xst_burst *const bursts = malloc(POINTS * sizeof *bursts);
    struct xst_timing *const timings = malloc(POINTS * sizeof *timings);
    if (!path || !bursts || !timings) {
        fprintf(stderr, "no path peer/st16 or no memory\n");
        return 2;
    }
    /* 100 producer counts x 100 sizes x 100 gaps, all inside the valid range */
    for (int i = 0; i < POINTS; i++)
        bursts[i] = (struct xst_burst){1 + i % 100, 1024 + 1900.0 * (i / 100 % 100), 0.25 * (i / 10000)};
    double predict_us[REPETITIONS], sum_us = 0;
    for (int r = 0; r < REPETITIONS; r++) {
        const double start_us = bench_now_us();
        if (xst_timing_predict_many(path, bursts, POINTS, 0, timings, &diag) != XST_OK) {
            fprintf(stderr, "%s\n", diag.text);
            return 2;
        }
        predict_us[r] = bench_now_us() - start_us;
        for (int i = 0; i < POINTS; i += 1000)
            sum_us += timings[i].period_us;
    }
    bench_machine();
    printf("%-32s %8d points, mean period %.4f us\n", "profile h200x2-nvlink", POINTS,
           sum_us / (POINTS / 1000) / REPETITIONS);
    bench_print("predict 1,000,000 points", predict_us, REPETITIONS, 1e-6, "s", "goal: 1 s on one core");
    free(bursts);
    free(timings);
    xst_profile_free(&profile);
    return 0;
}
