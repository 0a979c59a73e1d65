/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.h - arithmetic on whole numbers.
 */
#ifndef XST_BASE_WHOLE_H
#define XST_BASE_WHOLE_H

#include <stdint.h>

/* a / b rounded up; a >= 0, b > 0. */
static inline int64_t xsti_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
