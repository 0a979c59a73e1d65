/* SPDX-License-Identifier: Apache-2.0
 *
 * bf16 to e4m3 with a scale for each 128 values of a row, or each 128 x 128 values of a matrix.
 */
#include <xstage/moe_kernel.h>

#include <math.h>

#include "base/bf16.h"
#include "base/e4m3.h"
#include "moe/params.h"

enum { SCALED = XSTI_MOE_SCALED };

/* `rows` x 128 values of a matrix; their scale. */
static float quantise(const uint16_t *values, int64_t rows, int64_t columns, uint8_t *values_out)
{
    float most = 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < SCALED; c++)
            most = fmaxf(most, fabsf(xsti_bf16_to_float(values[row * columns + c])));
    const float scale = fmaxf(most / 448, XSTI_MOE_LEAST_SCALE);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < SCALED; c++)
            values_out[row * columns + c] = xsti_float_to_e4m3(xsti_bf16_to_float(values[row * columns + c]) / scale);
    return scale;
}

static void quantise_all(const uint16_t *values, int64_t rows, int64_t columns, int64_t each, uint8_t *values_out,
                         float *scales_out)
{
    for (int64_t row = 0; row < rows; row += each)
        for (int64_t c = 0; c < columns; c += SCALED)
            scales_out[row / each * (columns / SCALED) + c / SCALED] =
                quantise(values + row * columns + c, each, columns, values_out + row * columns + c);
}

void xst_moe_quantise_rows(const uint16_t *values, int64_t rows, int64_t columns, uint8_t *values_out,
                           float *scales_out)
{
    quantise_all(values, rows, columns, 1, values_out, scales_out);
}

void xst_moe_quantise_blocks(const uint16_t *values, int64_t rows, int64_t columns, uint8_t *values_out,
                             float *scales_out)
{
    quantise_all(values, rows, columns, SCALED, values_out, scales_out);
}
