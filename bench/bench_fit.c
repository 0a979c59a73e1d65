/* SPDX-License-Identifier: Apache-2.0
 *
 * Time of one fit of every recorded row. Reports, never judges.
 */
#include <stdio.h>

#include <xstage/fit.h>

#include "bench.h"

enum { REPETITIONS = 51 };

static const char *const files[] = {
    XST_SOURCE_DIR "/data/h200x2-bursts.csv",       XST_SOURCE_DIR "/data/h200x2-rows.csv",
    XST_SOURCE_DIR "/data/h200-host-bursts.csv",    XST_SOURCE_DIR "/data/h200-host-aligned.csv",
    XST_SOURCE_DIR "/data/h200-host-bystander.csv",
};

int main(void)
{
    struct xst_samples samples = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    double read_us[REPETITIONS], fit_us[REPETITIONS];
    for (int r = 0; r < REPETITIONS; r++) {
        xst_samples_free(&samples);
        const double start_us = bench_now_us();
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            if (xst_samples_read(files[f], &samples, &diag) != XST_OK) {
                fprintf(stderr, "%s\n", diag.text);
                return 2;
            }
        }
        const double between_us = bench_now_us();
        struct xst_profile profile;
        struct xst_fit fit;
        if (xst_profile_fit(&samples, NULL, &profile, &fit, &diag) != XST_OK) {
            fprintf(stderr, "%s\n", diag.text);
            return 2;
        }
        fit_us[r] = bench_now_us() - between_us;
        read_us[r] = between_us - start_us;
        xst_fit_free(&fit);
        xst_profile_free(&profile);
    }
    bench_machine();
    printf("%-32s %8zu burst rows, %zu bystander rows\n", "recorded rows", samples.row_count, samples.bystander_count);
    bench_print("read all files", read_us, REPETITIONS, 1e-3, "ms", NULL);
    bench_print("fit all rows", fit_us, REPETITIONS, 1e-3, "ms", "goal: 50 ms");
    xst_samples_free(&samples);
    return 0;
}
