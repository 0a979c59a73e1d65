/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's tokens into its symmetric buffer.
 */
#include "moe/bring.h"

#include "base/diag.h"
#include "moe/kernels.h"
#include "moe/layout.h"

enum { MOST_CTAS = 1 << 16 };

static enum xst_status aligned(const char *field, uint64_t address, int64_t of, struct xst_diag *diag)
{
    if (address == 0)
        return xsti_fail(diag, XST_ERR_USAGE, "moe tokens: %s is NULL", field);
    if (address % (uint64_t)of != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "moe tokens: %s is 0x%llx, not a multiple of %lld bytes", field,
                         (unsigned long long)address, (long long)of);
    return XST_OK;
}

static enum xst_status check(const struct xst_moe_call *call, const struct xst_moe_tokens *tokens,
                             struct xst_diag *diag)
{
    const int64_t most = INT64_C(1) << 38;
    XSTI_TRY(xsti_moe_check_exchange(call, diag));
    if (tokens->id_bytes != 4 && tokens->id_bytes != 8)
        return xsti_fail(diag, XST_ERR_RANGE, "moe tokens: id_bytes is %lld, not 4 or 8", (long long)tokens->id_bytes);
    if (call->tokens == 0)
        return XST_OK;
    if (tokens->x_stride < call->layer.hidden || tokens->x_stride > most || tokens->x_stride % 8 != 0)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe tokens: x_stride is %lld, not a multiple of 8 (16 bytes) in hidden (%lld)..2^38",
                         (long long)tokens->x_stride, (long long)call->layer.hidden);
    XSTI_TRY(aligned("x", tokens->x, 16, diag));
    XSTI_TRY(aligned("ids", tokens->ids, tokens->id_bytes, diag));
    return aligned("weights", tokens->weights, 4, diag);
}

enum xst_status xst_moe_bring(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                              const struct xst_moe_tokens *tokens, void *stream, struct xst_diag *diag)
{
    struct xst_moe_layout layout;
    XSTI_TRY(check(call, tokens, diag));
    if (call->tokens == 0)
        return XST_OK;
    XSTI_TRY(xst_moe_layout(&call->layer, &layout, diag));
    const uint64_t buffer = call->buffers[call->rank];
    struct xsti_moe_bring_params params = {.x = tokens->x,
                                           .ids = tokens->ids,
                                           .weights = tokens->weights,
                                           .to_x = buffer + layout.x,
                                           .to_scales = buffer + layout.x_scales,
                                           .to_ids = buffer + layout.ids,
                                           .to_weights = buffer + layout.weights,
                                           .row_bytes = (uint64_t)tokens->x_stride * 2,
                                           .tokens = (uint32_t)call->tokens,
                                           .hidden = (uint32_t)call->layer.hidden,
                                           .topk = (uint32_t)call->layer.topk,
                                           .wide_ids = tokens->id_bytes == 8,
                                           .quantise = call->layer.dtype == XST_MOE_E4M3};
    return xsti_kernel_enqueue(&kernels->device, &kernels->bring, call->tokens < MOST_CTAS ? call->tokens : MOST_CTAS,
                               XSTI_MOE_BRING_THREADS, 0, &params, (CUstream)stream, diag);
}
