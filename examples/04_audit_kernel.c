/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes a kernel's stores and asks whether the design holds: a GEMM epilogue of 132 CTAs, 32 KiB each, every 20 us.
 *   04_audit_kernel [profiles/h200x2-nvlink.json]
 */
#include <stdio.h>

#include <xstage/audit.h>

static void print_bound(const char *name, const struct xst_bound *bound)
{
    if (bound->holds == XST_ANSWER_UNKNOWN)
        printf("%s bound: the profile cannot tell\n", name);
    else
        printf("%s bound: %s, margin %.2f MiB\n", name, bound->holds == XST_ANSWER_YES ? "holds" : "fails",
               bound->margin_bytes.value / 1048576);
}

int main(int argc, char **argv)
{
    const char *const file = argc > 1 ? argv[1] : "profiles/h200x2-nvlink.json";
    struct xst_profile profile;
    struct xst_diag diag;
    if (xst_profile_read(file, &profile, NULL, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    const struct xst_traffic traffic = {
        .kernel = "my epilogue",
        .path = {.target = XST_TARGET_PEER, .method = XST_METHOD_ST16},
        .producers = 132,
        .bytes_per_producer = 32768,
        .remote_frac = 0.5,       /* half of each tile stays on the device in the long run */
        .burst_remote_frac = 1.0, /* but all of a burst may leave at once */
        .gap_us = 20,
        .phase = XST_PHASE_UNKNOWN,
        .staging_slots = 1,
        .prefetch_us = -1, /* not stated */
    };
    const struct xst_audit_options options = {0};
    struct xst_audit audit;
    if (xst_audit_traffic(&profile, &traffic, &options, &audit, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        xst_profile_free(&profile);
        return 2;
    }
    printf("%s\n", audit.sentence);
    print_bound("rate", &audit.rate);
    print_bound("capacity", &audit.capacity);
    for (size_t i = 0; i < audit.action_count; i++)
        printf("%zu. %s\n", i + 1, audit.actions[i].text);
    xst_profile_free(&profile);
    return 0;
}
