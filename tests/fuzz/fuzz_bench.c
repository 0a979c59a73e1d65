/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a benchmark record, compared with itself: refused in one line, or every cell the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xstage/compare.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct xst_bench_comparison comparison;
    struct xst_diag diag = {XST_OK, 0, ""};
    char path[40];
    const int file = memfd_create("record", 0);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (xst_bench_compare(path, path, 0, &comparison, &diag) != XST_OK) {
        if (!strstr(diag.text, path) || strchr(diag.text, '\n'))
            abort();
    } else {
        if (!xst_bench_is_record(path) || comparison.moved[XST_MOVED_REMOVED] || comparison.moved[XST_MOVED_ADDED] ||
            comparison.moved[XST_MOVED_WORSE] || comparison.moved[XST_MOVED_BETTER])
            abort();
        xst_bench_comparison_free(&comparison);
    }
    close(file);
    return 0;
}
