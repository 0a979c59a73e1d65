/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the model about one burst shape: 132 CTAs, 32 KiB each, over a few gaps.
 *   02_predict_burst [profiles/h200x2-nvlink.json]
 */
#include <stdio.h>

#include <xstage/model.h>

int main(int argc, char **argv)
{
    const char *const file = argc > 1 ? argv[1] : "profiles/h200x2-nvlink.json";
    struct xst_profile profile;
    struct xst_diag diag;
    if (xst_profile_read(file, &profile, NULL, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = XST_METHOD_ST16};
    const struct xst_path *const path = xst_profile_path(&profile, &key);
    if (!path) {
        fprintf(stderr, "%s: no peer/st16 path\n", file);
        xst_profile_free(&profile);
        return 2;
    }
    printf("gap_us  issue_us  aligned_us  period_us  rate margin  capacity margin\n");
    int status = 0;
    for (double gap_us = 0; gap_us <= 16 && status == 0; gap_us += 4) {
        const struct xst_burst burst = {132, 32768, gap_us};
        struct xst_timing timing;
        if (xst_timing_predict(path, &burst, 0, &timing, &diag) != XST_OK || timing.reason != XST_REASON_NONE) {
            fprintf(stderr, "no answer: %s\n", xst_reason_sentence(timing.reason));
            status = 2;
            break;
        }
        printf("%6.1f  %8.2f  %10.2f  %9.2f  %7.2f MiB  %11.2f MiB\n", gap_us, timing.issue_us, timing.issue_aligned_us,
               timing.period_us, timing.margin_rate_bytes / 1048576, timing.margin_capacity_bytes / 1048576);
    }
    xst_profile_free(&profile);
    return status;
}
