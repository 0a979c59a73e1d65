/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching: kernels found once, parameters filled per call, faults made into sentences.
 */
#include <stdlib.h>

#include "fa_a2a/fill.h"
#include "fa_a2a/kernels.h"
#include "fa_a2a/maps.h"
#include "fa_a2a/variants.h"

#define QUOTE_(x) #x

struct variant {
    int head_dim, groups, cluster, block_keys, shared_bytes;
    const char *name[3]; /* by store method */
    const char *traced_name[3];
};
#define NAME_(d, g, c, store) "xst_fa_d" QUOTE_(d) "_g" QUOTE_(g) "_c" QUOTE_(c) "_" store
#define X(d, g, keys, overlap, ping_pong, settle, cluster, shared)                                                     \
    {d,                                                                                                                \
     g,                                                                                                                \
     cluster,                                                                                                          \
     keys,                                                                                                             \
     shared,                                                                                                           \
     {NAME_(d, g, cluster, "st16"), NAME_(d, g, cluster, "bulk"), NAME_(d, g, cluster, "paced")},                      \
     {NAME_(d, g, cluster, "st16_traced"), NAME_(d, g, cluster, "bulk_traced"),                                        \
      NAME_(d, g, cluster, "paced_traced")}},
static const struct variant variants[] = {XSTI_FA_VARIANTS_D64(X) XSTI_FA_VARIANTS_D128(X)
                                              XSTI_FA_VARIANTS_D128_PAIRS(X)};
#undef X
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0], PUSH_THREADS = 512, WAIT_THREADS = 128 };

_Static_assert((int)VARIANT_COUNT == (int)XSTI_FA_VARIANT_COUNT, "kernels.h has another count");

/* All are checked. */
static int variant_of(int64_t head_dim, const struct xst_fa_a2a_choice *choice)
{
    int i = 0;
    while (variants[i].head_dim != head_dim || variants[i].groups != choice->groups ||
           variants[i].cluster != 1 + choice->pairs)
        i++;
    return i;
}

int64_t xsti_fa_block_keys(int64_t head_dim, const struct xst_fa_a2a_choice *choice)
{
    return variants[variant_of(head_dim, choice)].block_keys;
}

/* The modules of variant i. */
static CUmodule module_of(const struct xst_fa_a2a_kernels *kernels, int i, int traced)
{
    const int which =
        variants[i].head_dim == 64 ? XSTI_FA_D64 : (variants[i].cluster == 1 ? XSTI_FA_D128 : XSTI_FA_D128_PAIRS);
    return traced ? kernels->traced_modules[which] : kernels->modules[which];
}

static enum xst_status find_all(struct xst_fa_a2a_kernels *kernels, struct xst_diag *diag)
{
    const struct xsti_device *const device = &kernels->device;
    static const char *const names[] = {"fa_a2a/kernel_d64", "fa_a2a/kernel_d128", "fa_a2a/kernel_d128_pairs"};
    for (int m = 0; m < XSTI_FA_MODULE_COUNT; m++)
        XSTI_TRY(xsti_module_load(device, names[m], &kernels->modules[m], diag));
    XSTI_TRY(xsti_module_load(device, "fa_a2a/kernel_exchange", &kernels->exchange, diag));
    for (int i = 0; i < VARIANT_COUNT; i++)
        for (int store = 0; store < 3; store++)
            XSTI_TRY(xsti_kernel_find(device, module_of(kernels, i, 0), variants[i].name[store],
                                      variants[i].shared_bytes, &kernels->attention[i][store], diag));
    XSTI_TRY(xsti_kernel_find(device, kernels->exchange, "xst_fa_push", 0, &kernels->push, diag));
    return xsti_kernel_find(device, kernels->exchange, "xst_fa_wait", 0, &kernels->wait, diag);
}

enum xst_status xsti_fa_find_traced(struct xst_fa_a2a_kernels *kernels, struct xst_diag *diag)
{
    const struct xsti_device *const device = &kernels->device;
    static const char *const names[] = {"fa_a2a/kernel_traced_d64", "fa_a2a/kernel_traced_d128",
                                        "fa_a2a/kernel_traced_d128_pairs"};
    for (int m = 0; m < XSTI_FA_MODULE_COUNT; m++)
        XSTI_TRY(xsti_module_load(device, names[m], &kernels->traced_modules[m], diag));
    for (int i = 0; i < VARIANT_COUNT; i++)
        for (int store = 0; store < 3; store++)
            XSTI_TRY(xsti_kernel_find(device, module_of(kernels, i, 1), variants[i].traced_name[store],
                                      variants[i].shared_bytes, &kernels->attention_traced[i][store], diag));
    return xsti_kernel_find(device, kernels->exchange, "xst_fa_push_traced", 0, &kernels->push_traced, diag);
}

enum xst_status xst_fa_a2a_open(int64_t ordinal, struct xst_fa_a2a_kernels **kernels_out, struct xst_diag *diag)
{
    struct xst_fa_a2a_kernels *const kernels = calloc(1, sizeof *kernels);
    if (!kernels)
        return xsti_fail_memory(diag);
    enum xst_status status = xsti_driver_open(&kernels->driver, diag);
    if (status == XST_OK)
        status = xsti_device_open(&kernels->driver, (int)ordinal, &kernels->device, diag);
    if (status == XST_OK)
        status = find_all(kernels, diag);
    if (status != XST_OK) {
        xst_fa_a2a_close(kernels);
        return status;
    }
    *kernels_out = kernels;
    return XST_OK;
}

void xst_fa_a2a_close(struct xst_fa_a2a_kernels *kernels)
{
    if (!kernels)
        return;
    for (int m = 0; m < XSTI_FA_MODULE_COUNT; m++) {
        xsti_module_unload(&kernels->device, kernels->modules[m]);
        xsti_module_unload(&kernels->device, kernels->traced_modules[m]);
    }
    xsti_module_unload(&kernels->device, kernels->exchange);
    xsti_device_close(&kernels->device);
    xsti_driver_close(&kernels->driver);
    free(kernels);
}

int64_t xst_fa_a2a_sm_count(const struct xst_fa_a2a_kernels *kernels)
{
    return kernels->device.sm_count;
}

static enum xst_status check_limit(double limit_us, struct xst_diag *diag)
{
    if (limit_us > 0 && limit_us <= 1e12)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a wait: limit_us is %g; more than 0 and at most 1e12 is needed",
                     limit_us);
}

enum xst_status xsti_fa_launch(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                               const struct xst_fa_a2a_choice *choice, double limit_us,
                               const struct xsti_trace_ring *ring, void *stream, struct xst_diag *diag)
{
    struct xsti_fa_params params;
    XSTI_TRY(xst_fa_a2a_call_check(call, choice, diag));
    if (choice->ctas > kernels->device.sm_count)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: ctas is %lld, the device has %d SMs",
                         (long long)choice->ctas, kernels->device.sm_count);
    const int i = variant_of(call->head_dim, choice);
    xsti_fa_fill(call, 64 * variants[i].groups, choice, &params);
    XSTI_TRY(xsti_fa_maps(&kernels->device, call, variants[i].block_keys, variants[i].cluster == 2, &params, diag));
    const struct xsti_kernel *kernel = &kernels->attention[i][choice->store];
    params.wait_ns = (uint64_t)(limit_us * 1000);
    if (ring) {
        params.trace = *ring;
        kernel = &kernels->attention_traced[i][choice->store];
    }
    return xsti_kernel_enqueue(&kernels->device, kernel, xsti_fa_grid(choice, params.tile_first[params.ranks]),
                               128 + 128 * variants[i].groups, (size_t)variants[i].shared_bytes, &params,
                               (CUstream)stream, diag);
}

enum xst_status xst_fa_a2a_launch(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                                  const struct xst_fa_a2a_choice *choice, void *stream, struct xst_diag *diag)
{
    return xsti_fa_launch(kernels, call, choice, 0, NULL, stream, diag);
}

enum xst_status xst_fa_a2a_wait(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, double limit_us,
                                void *stream, struct xst_diag *diag)
{
    XSTI_TRY(xsti_fa_check_exchange(call, diag));
    XSTI_TRY(check_limit(limit_us, diag));
    struct xsti_fa_wait_params params = {.control = call->control[call->rank],
                                         .fixed_epoch = call->epoch,
                                         .limit_ns = (uint64_t)(limit_us * 1000),
                                         .rank = (int32_t)call->rank,
                                         .ranks = (int32_t)call->ranks};
    return xsti_kernel_enqueue(&kernels->device, &kernels->wait, 1, WAIT_THREADS, 0, &params, (CUstream)stream, diag);
}

enum xst_status xst_fa_a2a_run(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call,
                               const struct xst_fa_a2a_choice *choice, double limit_us, void *stream,
                               struct xst_diag *diag)
{
    XSTI_TRY(check_limit(limit_us, diag));
    return xsti_fa_launch(kernels, call, choice, limit_us, NULL, stream, diag);
}

enum xst_status xsti_fa_push(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, uint64_t source,
                             int64_t ctas, double limit_us, const struct xsti_trace_ring *ring, void *stream,
                             struct xst_diag *diag)
{
    struct xsti_fa_params params;
    XSTI_TRY(xsti_fa_check_exchange(call, diag));
    if (source == 0 || source % 16 != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a push: source is 0x%llx, a multiple of 16 is needed",
                         (unsigned long long)source);
    if (ctas < 1 || ctas > 65535)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a push: ctas is %lld, outside 1..65535", (long long)ctas);
    xsti_fa_fill(call, 128, &(struct xst_fa_a2a_choice){.slices = 1, .ctas = 1}, &params);
    params.source = source;
    params.wait_ns = (uint64_t)(limit_us * 1000);
    if (ring)
        params.trace = *ring;
    return xsti_kernel_enqueue(&kernels->device, ring ? &kernels->push_traced : &kernels->push, ctas, PUSH_THREADS, 0,
                               &params, (CUstream)stream, diag);
}

enum xst_status xst_fa_a2a_push(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, uint64_t source,
                                int64_t ctas, void *stream, struct xst_diag *diag)
{
    return xsti_fa_push(kernels, call, source, ctas, 0, NULL, stream, diag);
}

static const char *phase_name(uint32_t phase)
{
    static const char *const names[] = {"nothing",        "a K block",      "a V block",     "the Q tile",
                                        "a free K stage", "a free V stage", "a free Q slot", "a peer",
                                        "a staged tile",  "free staging"};
    return phase < sizeof names / sizeof names[0] ? names[phase] : "an unknown phase";
}

static const char *role_name(uint32_t role)
{
    return role == XSTI_FA_ROLE_LOAD ? "loading" : role == XSTI_FA_ROLE_SEND ? "sending" : "computing";
}

enum xst_status xst_fa_a2a_status(struct xst_fa_a2a_kernels *kernels, const struct xst_fa_a2a_call *call, void *stream,
                                  struct xst_diag *diag)
{
    const struct xsti_driver *const driver = &kernels->driver;
    const int ordinal = kernels->device.ordinal;
    struct xsti_fault fault;
    XSTI_TRY(xsti_fa_check_exchange(call, diag));
    const CUdeviceptr at = call->control[call->rank] + offsetof(struct xsti_fa_control, fault);
    XSTI_TRY(xsti_device_use(&kernels->device, diag));
    XSTI_CU(driver, cuStreamSynchronize((CUstream)stream), ordinal, diag, "waiting for the attention kernels");
    XSTI_CU(driver, cuMemcpyDtoHAsync(&fault, at, sizeof fault, (CUstream)stream), ordinal, diag,
            "reading the fault record");
    XSTI_CU(driver, cuStreamSynchronize((CUstream)stream), ordinal, diag, "reading the fault record");
    if (fault.set == 0)
        return XST_OK;
    XSTI_CU(driver, cuMemsetD8Async(at, 0, sizeof fault, (CUstream)stream), ordinal, diag, "clearing the fault record");
    if (fault.role == XSTI_FA_ROLE_WAIT)
        return xsti_fail(diag, XST_ERR_TIMEOUT,
                         "fa-a2a: rank %lld waited in vain for rank %u: call %llu expected, %llu seen",
                         (long long)call->rank, fault.peer, (unsigned long long)fault.expected,
                         (unsigned long long)fault.seen);
    return xsti_fail(diag, XST_ERR_TIMEOUT,
                     "fa-a2a: rank %lld, CTA %u, the %s role waited in vain for %s (parity %llu)",
                     (long long)call->rank, fault.cta, role_name(fault.role), phase_name(fault.phase),
                     (unsigned long long)fault.expected);
}
