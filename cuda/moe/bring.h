/* SPDX-License-Identifier: Apache-2.0
 *
 * bring.h - what the kernel that fills a rank's buffer is told.
 */
#ifndef XST_MOE_BRING_H
#define XST_MOE_BRING_H

#include <stdint.h>

enum { XSTI_MOE_BRING_THREADS = 128 };

struct xsti_moe_bring_params {
    uint64_t x, ids, weights;                     /* of the caller */
    uint64_t to_x, to_scales, to_ids, to_weights; /* in the buffer */
    uint64_t row_bytes;                           /* from one row of the caller's x to the next */
    uint32_t tokens, hidden, topk;
    uint32_t wide_ids; /* of 8 bytes, not 4 */
    uint32_t quantise; /* x becomes e4m3 */
};

#endif
