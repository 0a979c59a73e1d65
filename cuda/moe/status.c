/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels recorded, as a sentence.
 */
#include <stddef.h>

#include "moe/kernels.h"
#include "moe/layout.h"
#include "moe/params.h"

static const char *role_name(uint32_t role)
{
    static const char *const names[] = {"no",        "counting", "fetching", "row-loading", "weight-loading",
                                        "computing", "ending"};
    return role < sizeof names / sizeof names[0] ? names[role] : "unknown";
}

static const char *phase_name(uint32_t phase)
{
    static const char *const names[] = {"nothing",
                                        "a rank's counts",
                                        "a rank's layer",
                                        "a chunk of a row",
                                        "the rows of block",
                                        "the Linear-1 tiles of block",
                                        "a free stage",
                                        "an operand tile",
                                        "a rank's end",
                                        "a tile's number",
                                        "the other warpgroup's largest",
                                        "a free place in the ring for block"};
    return phase < sizeof names / sizeof names[0] ? names[phase] : "an unknown phase";
}

static enum xst_status say(const struct xst_moe_call *call, const struct xsti_fault *fault, struct xst_diag *diag)
{
    const long long rank = (long long)call->rank;
    const unsigned long long expected = fault->expected, seen = fault->seen;
    switch (fault->phase) {
    case XSTI_MOE_PHASE_LAYER:
        return xsti_fail(diag, XST_ERR_RANGE,
                         "moe: rank %lld and rank %u came with different layers (hashes %llx and %llx): all fields but "
                         "ctas have to agree",
                         rank, fault->peer, expected, seen);
    case XSTI_MOE_PHASE_COUNTS:
    case XSTI_MOE_PHASE_FINISHED:
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "moe: rank %lld, CTA %u waited in vain for rank %u to %s call %llu (it has done so with call "
                         "%llu)%s",
                         rank, fault->cta, fault->peer, fault->phase == XSTI_MOE_PHASE_COUNTS ? "begin" : "finish",
                         expected, seen,
                         fault->peer == (uint32_t)call->rank ? ": are all CTAs of this rank on the device at once?"
                                                             : "");
    case XSTI_MOE_PHASE_ROWS:
    case XSTI_MOE_PHASE_TILES:
    case XSTI_MOE_PHASE_RING:
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "moe: rank %lld, CTA %u, the %s role waited in vain for %s %u: %llu expected, %llu seen", rank,
                         fault->cta, role_name(fault->role), phase_name(fault->phase), fault->peer, expected, seen);
    default:
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "moe: rank %lld, CTA %u, the %s role waited in vain for %s (parity %llu)", rank, fault->cta,
                         role_name(fault->role), phase_name(fault->phase), expected);
    }
}

enum xst_status xst_moe_status(struct xst_moe_kernels *kernels, const struct xst_moe_call *call, void *stream,
                               struct xst_diag *diag)
{
    const struct xsti_driver *const driver = &kernels->driver;
    const int ordinal = kernels->device.ordinal;
    struct xsti_moe_regions regions;
    struct xsti_moe_control control;
    XSTI_TRY(xsti_moe_check_exchange(call, diag));
    XSTI_TRY(xsti_moe_regions(&call->layer, &regions, diag));
    const CUdeviceptr at = call->buffers[call->rank] + regions.open.control;
    XSTI_TRY(xsti_device_use(&kernels->device, diag));
    XSTI_CU(driver, cuStreamSynchronize((CUstream)stream), ordinal, diag, "waiting for the mixture-of-experts kernels");
    XSTI_CU(driver, cuMemcpyDtoHAsync(&control, at, sizeof control, (CUstream)stream), ordinal, diag,
            "reading the fault record");
    XSTI_CU(driver, cuStreamSynchronize((CUstream)stream), ordinal, diag, "reading the fault record");
    if (control.fault.set == 0 && control.bad_id.set == 0)
        return XST_OK;
    XSTI_CU(driver,
            cuMemsetD8Async(at + offsetof(struct xsti_moe_control, fault), 0, 2 * sizeof control.fault,
                            (CUstream)stream),
            ordinal, diag, "clearing the fault record");
    if (control.fault.set != 0)
        return say(call, &control.fault, diag);
    return xsti_fail(diag, XST_ERR_RANGE,
                     "moe: rank %lld, token %lld, choice %lld: expert %lld, the model has %lld; taken as void",
                     (long long)call->rank, (long long)(control.bad_id.phase / call->layer.topk),
                     (long long)(control.bad_id.phase % call->layer.topk), (long long)control.bad_id.seen,
                     (long long)control.bad_id.expected);
}
