/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.cu - did every byte of the last burst arrive? Runs on the device that owns the memory (or, for host memory, on any),
 * after the probe. With `poison` it overwrites the same bytes beforehand, so that old data cannot pass.
 */
#include "probes/common.cuh"

extern "C" __global__ void __launch_bounds__(256) xst_verify(const __grid_constant__ xsti_verify_params p)
{
    using namespace xst;
    const xsti_layout &l = p.layout;
    xsti_verify_result *const result = reinterpret_cast<xsti_verify_result *>(p.result);
    const uint32_t words = static_cast<uint32_t>(l.bytes / 4);
    for (uint32_t producer = blockIdx.x; producer < p.producers; producer += gridDim.x) {
        if (burst_target(l, producer, p.burst) != p.target)
            continue;
        const uint64_t base = burst_base(l, producer, p.burst, p.burst);
        const uint32_t payload = payload_base(l.seed, producer, p.burst);
        for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
            const uint64_t at = static_cast<uint64_t>(i) * 4;
            volatile uint32_t *const word =
                reinterpret_cast<volatile uint32_t *>(base + at / l.piece * l.pitch + at % l.piece);
            const uint32_t expected = payload + (p.wrap ? i % p.wrap : i);
            if (p.poison) {
                *word = ~expected;
                continue;
            }
            const uint32_t seen = *word;
            if (seen != expected && atomicAdd(&result->wrong, 1ull) == 0) {
                result->first_producer = producer;
                result->first_word = i;
                result->expected = expected;
                result->seen = seen;
            }
        }
        if (!p.poison && threadIdx.x == 0)
            atomicAdd(&result->checked, static_cast<unsigned long long>(words));
    }
}
