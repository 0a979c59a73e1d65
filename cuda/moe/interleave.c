/* SPDX-License-Identifier: Apache-2.0
 *
 * Gate and up rows in the order that puts both of a column into one thread's accumulators.
 */
#include <xstage/moe_kernel.h>

#include <string.h>

enum { GROUP = 8 };

void xst_moe_interleave_w1(const uint16_t *gate, const uint16_t *up, int64_t inter, int64_t hidden, uint16_t *w1_out)
{
    for (int64_t row = 0; row < inter; row++) {
        const int64_t at = row / GROUP * 2 * GROUP + row % GROUP;
        memcpy(w1_out + at * hidden, gate + row * hidden, (size_t)hidden * sizeof *w1_out);
        memcpy(w1_out + (at + GROUP) * hidden, up + row * hidden, (size_t)hidden * sizeof *w1_out);
    }
}
