/* SPDX-License-Identifier: Apache-2.0
 *
 * bf16.h - the upper half of a float, as the kernels' inputs and outputs are stored.
 */
#ifndef XSTI_BASE_BF16_H
#define XSTI_BASE_BF16_H

#include <stdint.h>
#include <string.h>

static inline float xsti_bf16_to_float(uint16_t value)
{
    const uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Round to nearest, ties to even. NaN stays NaN. */
static inline uint16_t xsti_float_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    bits += 0x7fffu + (bits >> 16 & 1u);
    return (uint16_t)(bits >> 16);
}

#endif
