/* SPDX-License-Identifier: Apache-2.0
 *
 * smem.cuh - the kernel's shared memory, one struct; the host asks its size from the kernel table in kernel.cu.
 */
#ifndef XST_FA_A2A_SMEM_CUH
#define XST_FA_A2A_SMEM_CUH

#include "fa_a2a/config.cuh"

namespace xst {

/* The loader's own: 24 registers have no room for it. */
struct Loading {
    int32_t head; /* of the tile */
    int32_t batch;
    int32_t shared; /* the pair's tiles have one head */
    int32_t pad;
};

template <class C> struct SharedStorage {
    alignas(1024) unsigned char q[C::GROUPS][C::Q_GROUP_BYTES]; /* panels of 64 rows */
    unsigned char k[C::STAGES][C::KV_BYTES];                    /* panels of b_n rows */
    unsigned char v[C::STAGES][C::KV_BYTES];
    unsigned char staging[C::GROUPS][C::STAGE_GROUP_BYTES]; /* finished output, bf16 */
    uint64_t destinations[C::BLOCK_M];                      /* paced: where a handed tile's rows go; 0: nowhere */
    uint64_t q_full[C::GROUPS];
    uint64_t q_empty[C::GROUPS];
    uint64_t k_full[C::STAGES];
    uint64_t k_empty[C::STAGES];
    uint64_t v_full[C::STAGES];
    uint64_t v_empty[C::STAGES];
    volatile Loading loading;
    uint64_t staged; /* paced: a handed tile is in staging */
    uint64_t sent;   /* paced: it has left */
};

} // namespace xst

#endif
