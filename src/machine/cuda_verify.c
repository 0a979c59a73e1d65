/* SPDX-License-Identifier: Apache-2.0
 *
 * Every byte of the last burst: device memory is checked by a kernel on the
 * device that owns it, host memory by the host.
 */
#include "base/diag.h"
#include "machine/cuda_machine.h"

/* The payload of cuda/probes/common.cuh, written down a second time on purpose:
 * a check that shares the code of what it checks would share its mistakes. */
static uint32_t payload_base(uint32_t seed, uint32_t producer, uint32_t burst)
{
    uint32_t x = seed * 2654435761u + producer * 2246822519u + burst * 3266489917u;
    x = (x ^ (x >> 15)) * 739982445u;
    return x ^ (x >> 13);
}

static uint32_t wrap_words(const struct xst_measure_request *request)
{
    return request->method == XST_METHOD_BULK ? xsti_cuda_burst_shape(request).staging_bytes / 4 : 0;
}

/* Side whose device owns target `t` of `side`; the sender itself for local and
 * host memory. */
static struct xsti_cuda_side *owner_of(struct xsti_cuda_machine *machine, size_t side, enum xst_target target,
                                       const struct xsti_layout *layout, uint32_t t)
{
    return &machine->sides[target == XST_TARGET_PEER ? layout->owners[t] : side];
}

static enum xst_status launch(struct xsti_cuda_machine *machine, size_t side, const struct xst_measure_request *request,
                              const struct xsti_layout *layout, uint32_t t, uint32_t poison, struct xst_diag *diag)
{
    struct xsti_cuda_side *const owner = owner_of(machine, side, request->target, layout, t);
    struct xsti_verify_params params = {
        .layout = *layout,
        .result = owner->records + offsetof(struct xsti_cuda_state, verify),
        .target = t,
        .producers = (uint32_t)request->producers,
        .burst = (uint32_t)request->bursts - 1,
        .poison = poison,
        .wrap = wrap_words(request),
    };
    XSTI_TRY(xsti_cuda_side_clear(owner, diag));
    XSTI_TRY(xsti_kernel_launch(&owner->device, &owner->verify, 4 * owner->device.sm_count, 256, 0, &params, diag));
    return xsti_cuda_side_collect(owner, 0, poison ? "overwriting the destination" : "checking the destination", diag);
}

enum xst_status xsti_cuda_poison(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, const struct xsti_layout *layout,
                                 struct xst_diag *diag)
{
    for (uint32_t t = 0; t < layout->target_count; t++)
        XSTI_TRY(launch(machine, side, request, layout, t, 1, diag));
    return XST_OK;
}

static enum xst_status fail_payload(const struct xst_measure_request *request, const struct xsti_verify_result *r,
                                    struct xst_diag *diag)
{
    char text[XSTI_REQUEST_TEXT_BYTES];
    return xsti_fail(diag, XST_ERR_DEVICE,
                     "%s: %llu words of the last burst are wrong; word %u of "
                     "producer %u is 0x%08x and should be 0x%08x",
                     xsti_request_text(request, text), r->wrong, r->first_word, r->first_producer, r->seen,
                     r->expected);
}

/* Host memory, by the host. */
static void check_host(const struct xsti_cuda_machine *machine, const struct xst_measure_request *request,
                       const struct xsti_layout *l, struct xsti_verify_result *result)
{
    const uint32_t last = (uint32_t)request->bursts - 1, wrap = wrap_words(request);
    for (uint32_t p = 0; p < (uint32_t)request->producers; p++) {
        const unsigned char *const base = (const unsigned char *)machine->host.host + l->regions * l->region_stride +
                                          p / l->per_row * l->block_stride + p % l->per_row * l->piece;
        const uint32_t payload = payload_base(l->seed, p, last), words = (uint32_t)(l->bytes / 4);
        const uint32_t words_piece = (uint32_t)(l->piece / 4);
        for (uint32_t i = 0; i < words; i++) {
            const uint32_t *const row = (const uint32_t *)(base + i / words_piece * l->pitch);
            const uint32_t seen = row[i % words_piece], expected = payload + (wrap ? i % wrap : i);
            if (seen != expected && result->wrong++ == 0) {
                result->first_producer = p;
                result->first_word = i;
                result->expected = expected;
                result->seen = seen;
            }
        }
        result->checked += words;
    }
}

enum xst_status xsti_cuda_verify(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, const struct xsti_layout *layout,
                                 double *bytes_out, struct xst_diag *diag)
{
    const unsigned long long words = (unsigned long long)request->producers * (layout->bytes / 4);
    unsigned long long checked = 0;
    for (uint32_t t = 0; t < layout->target_count; t++) {
        struct xsti_verify_result result = {.wrong = 0};
        if (request->target == XST_TARGET_HOST) {
            check_host(machine, request, layout, &result);
        } else {
            XSTI_TRY(launch(machine, side, request, layout, t, 0, diag));
            result = xsti_cuda_side_state(owner_of(machine, side, request->target, layout, t))->verify;
        }
        if (result.wrong)
            return fail_payload(request, &result, diag);
        checked += result.checked;
    }
    if (checked != words)
        return xsti_fail(diag, XST_ERR_DEVICE, "the check saw %llu of %llu words of the last burst", checked, words);
    *bytes_out = (double)(checked * 4);
    return XST_OK;
}
