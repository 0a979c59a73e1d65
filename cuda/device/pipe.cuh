/* SPDX-License-Identifier: Apache-2.0
 *
 * pipe.cuh - rings of shared-memory stages between a loading role and computing roles.
 *
 * A stage has two barriers: full (the loader's bytes have landed) and empty (all readers are done). A ring's counter runs on for
 * the whole launch: use n of a ring of S stages is stage n % S in round n / S. full completes once a round, so its readers wait
 * for parity round & 1; the loader waits for the previous round of empty, parity (round & 1) ^ 1, which passes at once in
 * round 0.
 */
#ifndef XST_DEVICE_PIPE_CUH
#define XST_DEVICE_PIPE_CUH

#include <stdint.h>

#include "device/fault.cuh"
#include "device/ptx_tensor.cuh"

namespace xst {

/* Cycles a wait inside a launch may take: about two seconds, far beyond any honest wait of a kernel. */
constexpr uint64_t WAIT_LIMIT_CYCLES = 4ull << 30;

/* Waits for `parity`. Expiry records a fault and goes on: the launch ends soon, with wrong data that the host knows of, because
 * every other long wait gives up once a fault is recorded. There is no trap here on purpose: with one in reach, ptxas (13.0)
 * does not use the registers that setmaxnreg adds, spills, and serializes wgmma. */
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity, xsti_fault *fault, uint32_t role,
                                             uint32_t phase)
{
    if (barrier_try_wait(barrier, parity))
        return;
    const uint64_t begin = clock_cycles();
    uint32_t tries = 0;
    while (!barrier_try_wait(barrier, parity)) {
        if (++tries % 256 != 0)
            continue;
        if (*static_cast<volatile uint32_t *>(&fault->set) != 0)
            return;
        if (clock_cycles() - begin > WAIT_LIMIT_CYCLES) {
            record_fault(fault, role, 0, phase, parity, parity ^ 1u);
            return;
        }
    }
}

/* Position in a ring: stage and the parity of its round. */
template <int Stages> struct Ring {
    uint32_t stage = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ void advance()
    {
        stage++;
        if (stage == Stages) {
            stage = 0;
            parity ^= 1u;
        }
    }
};

} // namespace xst

#endif
