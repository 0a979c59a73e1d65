/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a machine profile and prints what each of its paths can do.
 *   01_read_profile [profiles/h200x2-nvlink.json]
 */
#include <stdio.h>

#include <xstage/model.h>
#include <xstage/profile.h>

int main(int argc, char **argv)
{
    const char *const file = argc > 1 ? argv[1] : "profiles/h200x2-nvlink.json";
    struct xst_profile profile;
    struct xst_diag warning, diag;
    if (xst_profile_read(file, &profile, &warning, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    printf("%s (%s), profile %s\n", profile.machine.machine, profile.machine.date, profile.id);
    for (size_t i = 0; i < profile.path_count; i++) {
        const struct xst_path *const path = &profile.paths[i];
        char name[64];
        printf("%-24s", xst_path_text(path, name, sizeof name));
        /* A value the samples could not identify is not known; it is never 0. */
        if (path->drain_bytes_per_us.known)
            printf("  R %6.1f GB/s", path->drain_bytes_per_us.value / 1000);
        else
            printf("  R   not known");
        double capacity_bytes;
        const double producers = (double)path->valid.producers_high;
        if (xst_path_capacity_bytes(path, producers, 0, &capacity_bytes, NULL) == XST_OK)
            printf("  Q(%.0f) %5.2f MiB", producers, capacity_bytes / 1048576);
        putchar('\n');
    }
    xst_profile_free(&profile);
    return 0;
}
