/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that depend on who asks and not on when: Philox (Random123) with (producer, burst) as its counter.
 */
#include <math.h>

#include <Random123/philox.h>

#include "sim/engine.h"

uint32_t xsti_draw(uint64_t seed, uint64_t producer, uint64_t burst)
{
    const philox2x32_key_t key = {{(uint32_t)(seed ^ (seed >> 32)) ^ (uint32_t)(producer * 0x9E3779B9u)}};
    const philox2x32_ctr_t counter = {{(uint32_t)burst, (uint32_t)(burst >> 32) ^ (uint32_t)producer}};
    return philox2x32(counter, key).v[0];
}

/* Inverse of the standard normal distribution function, to seven digits: M. Giles, "Approximating the erfinv function"
 * (GPU Computing Gems, 2010), with x = 2p - 1. */
double xsti_normal_quantile(double probability)
{
    static const double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                  -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    const double x = 2 * probability - 1;
    double w = -log((1 - x) * (1 + x));
    const double *const terms = w < 5 ? middle : tail;
    w = w < 5 ? w - 2.5 : sqrt(w) - 3;
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum = sum * w + terms[i];
    return M_SQRT2 * sum * x;
}
