/* SPDX-License-Identifier: Apache-2.0
 *
 * e4m3.h - 8-bit floats: a sign, 4 bits of exponent (bias 7), 3 of mantissa; no infinity, 448 is the largest, 0x7f and 0xff are NaN.
 */
#ifndef XSTI_BASE_E4M3_H
#define XSTI_BASE_E4M3_H

#include <math.h>
#include <stdint.h>

static inline float xsti_e4m3_to_float(uint8_t value)
{
    const int exponent = value >> 3 & 15, mantissa = value & 7;
    float size = exponent == 0 ? ldexpf((float)mantissa, -9) : ldexpf((float)(8 + mantissa), exponent - 10);
    if ((value & 0x7f) == 0x7f)
        size = NAN;
    return value & 0x80 ? -size : size;
}

/* Round to nearest, ties to even; beyond 448, infinity too, 448. */
static inline uint8_t xsti_float_to_e4m3(float value)
{
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    const float size = fabsf(value);
    int exponent;
    if (isnan(value))
        return sign | 0x7f;
    if (size >= 448)
        return sign | 0x7e;
    frexpf(size, &exponent);                                 /* size = 0.5 .. 1 times 2^exponent; 0 for 0 */
    const int unit = (size < 0.015625f ? -5 : exponent) - 4; /* of the mantissa's last bit */
    const int steps = (int)nearbyintf(ldexpf(size, -unit));  /* 0 .. 16 */
    return (uint8_t)(sign | (((unit + 9) << 3) + steps));
}

#endif
