/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a traffic description: refused in one sentence, or a description that passes its own check and can be audited.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/audit.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct xst_floor_point floor[] = {{1, 1024, 0.08, XST_FLOOR_SOURCE_GIVEN},
                                             {132, 65536, 1.15, XST_FLOOR_SOURCE_GIVEN}};
    static struct xst_capacity_point capacity[] = {{132, 2.4e6, 2.3e6, 2.5e6, 1}};
    static struct xst_path path = {.threads = 256,
                                   .drain_bytes_per_us = {372000, 372000, 372000, 1, 1},
                                   .issue_floor = {floor, 2},
                                   .capacity = {capacity, 1},
                                   .valid = {1, 132, 1024, 65536}};
    static const struct xst_profile profile = {.name = "fuzz", .paths = &path, .path_count = 1};
    struct xst_traffic traffic;
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (xst_traffic_parse("fuzz.json", (const char *)data, bytes, &traffic, &diag) != XST_OK) {
        if (!strstr(diag.text, "fuzz.json") || strchr(diag.text, '\n'))
            abort();
        return 0;
    }
    if (xst_traffic_check(&traffic, &diag) != XST_OK)
        abort();
    const struct xst_audit_options options = {.extrapolate = 1};
    char *text = NULL;
    if (xst_audit_traffic(&profile, &traffic, &options, &audit, &diag) == XST_OK &&
        xst_audit_print(&audit, &text, &diag) != XST_OK)
        abort();
    free(text);
    return 0;
}
