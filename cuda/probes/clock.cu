/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.cu - how many cycles an SM counts in a span of global time; run on every SM it also wakes an idle device.
 */
#include "probes/common.cuh"

extern "C" __global__ void __launch_bounds__(32) xst_clock(const __grid_constant__ xsti_clock_params p)
{
    using namespace xst;
    const uint64_t start_ns = global_ns();
    uint64_t first_ns = start_ns;
    while (first_ns == start_ns) /* begin on a step of the coarse clock */
        first_ns = global_ns();
    const uint64_t first = clock_cycles();
    uint64_t end_ns = first_ns;
    while (end_ns - first_ns < p.span_ns)
        end_ns = global_ns();
    const uint64_t cycles = clock_cycles() - first;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        xsti_clock_result *const result = reinterpret_cast<xsti_clock_result *>(p.result);
        result->cycles = cycles;
        result->ns = end_ns - first_ns;
    }
}
