/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers that depend on who asks and not on when: Philox (Random123) with (rank, SM, index) as its counter.
 */
#include <math.h>

#include <Random123/philox.h>

#include "timeline/engine.h"

static philox4x32_ctr_t bits_of(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    const philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t counter = {{(uint32_t)a, (uint32_t)b, (uint32_t)c, (uint32_t)(c >> 32)}};
    return philox4x32(counter, key);
}

double xsti_timeline_uniform(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    return (double)bits_of(seed, a, b, c).v[2] / 4294967296.0;
}

double xsti_timeline_normal(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    const philox4x32_ctr_t bits = bits_of(seed, a, b, c);
    /* Box-Muller; the first uniform is never 0 */
    const double u = ((double)bits.v[0] + 1) / 4294967296.0, v = (double)bits.v[1] / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
