/* SPDX-License-Identifier: Apache-2.0
 *
 * Gate and up rows in the order that puts both of a column into one thread's accumulators.
 */
#include <xstage/moe_kernel.h>

#include <string.h>

enum { GROUP = 8 };

static void interleave(const unsigned char *gate, const unsigned char *up, int64_t inter, size_t row_bytes,
                       unsigned char *out)
{
    for (int64_t row = 0; row < inter; row++) {
        const int64_t at = row / GROUP * 2 * GROUP + row % GROUP;
        memcpy(out + (size_t)at * row_bytes, gate + (size_t)row * row_bytes, row_bytes);
        memcpy(out + (size_t)(at + GROUP) * row_bytes, up + (size_t)row * row_bytes, row_bytes);
    }
}

void xst_moe_interleave_w1(const uint16_t *gate, const uint16_t *up, int64_t inter, int64_t hidden, uint16_t *w1_out)
{
    interleave((const unsigned char *)gate, (const unsigned char *)up, inter, (size_t)hidden * sizeof *w1_out,
               (unsigned char *)w1_out);
}

void xst_moe_interleave_w1_e4m3(const uint8_t *gate, const uint8_t *up, int64_t inter, int64_t hidden, uint8_t *w1_out)
{
    interleave(gate, up, inter, (size_t)hidden, w1_out);
}
