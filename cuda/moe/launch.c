/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching: kernels found once, parameters filled per call, faults made into sentences.
 */
#include <stdlib.h>

#include "moe/fill.h"
#include "moe/kernels.h"
#include "moe/maps.h"
#include "moe/variants.h"

enum { MODE_fused, MODE_one, STORE_at_once = XST_MOE_STORE_AT_ONCE, STORE_paced = XST_MOE_STORE_PACED };
enum { THREADS = 384, PART_SHARED_BYTES = 117120 };

struct variant {
    int dtype, tile_rows, mode, store, shared_bytes;
    const char *name;
};
#define X(rows, mode, store, shared)                                                                                   \
    {XST_MOE_BF16, rows, MODE_##mode, STORE_##store, shared, "xst_moe_m" #rows "_" #mode "_" #store},
#define Y(rows, mode, store, shared)                                                                                   \
    {XST_MOE_E4M3, rows, MODE_##mode, STORE_##store, shared, "xst_moe_e4m3_m" #rows "_" #mode "_" #store},
static const struct variant variants[] = {XSTI_MOE_VARIANTS_M64(X) XSTI_MOE_VARIANTS_M128(X) XSTI_MOE_VARIANTS_M256(X)
                                              XSTI_MOE_VARIANTS_E4M3(Y)};
#undef X
#undef Y
#define X(rows, mode, store, shared)                                                                                   \
    {XST_MOE_BF16, rows, MODE_##mode, STORE_##store, shared, "xst_moe_m" #rows "_" #mode "_" #store "_traced"},
#define Y(rows, mode, store, shared)                                                                                   \
    {XST_MOE_E4M3, rows, MODE_##mode, STORE_##store, shared, "xst_moe_e4m3_m" #rows "_" #mode "_" #store "_traced"},
static const struct variant traced_variants[] = {XSTI_MOE_TRACED_BF16(X) XSTI_MOE_TRACED_E4M3(Y)};
#undef X
#undef Y
enum {
    VARIANT_COUNT = sizeof variants / sizeof variants[0],
    TRACED_COUNT = sizeof traced_variants / sizeof traced_variants[0]
};

_Static_assert((int)VARIANT_COUNT == (int)XSTI_MOE_VARIANT_COUNT, "kernels.h has another count");
_Static_assert((int)TRACED_COUNT == (int)XSTI_MOE_TRACED_COUNT, "kernels.h has another count");

static CUmodule module_of(const struct xst_moe_kernels *kernels, int dtype, int tile_rows)
{
    if (dtype == XST_MOE_E4M3)
        return kernels->e4m3;
    return tile_rows == 64 ? kernels->m64 : tile_rows == 128 ? kernels->m128 : kernels->m256;
}

static enum xst_status find_all(struct xst_moe_kernels *kernels, struct xst_diag *diag)
{
    const struct xsti_device *const device = &kernels->device;
    XSTI_TRY(xsti_module_load(device, "moe/kernel_m64", &kernels->m64, diag));
    XSTI_TRY(xsti_module_load(device, "moe/kernel_m128", &kernels->m128, diag));
    XSTI_TRY(xsti_module_load(device, "moe/kernel_m256", &kernels->m256, diag));
    XSTI_TRY(xsti_module_load(device, "moe/kernel_e4m3", &kernels->e4m3, diag));
    XSTI_TRY(xsti_module_load(device, "moe/kernel_parts", &kernels->parts, diag));
    XSTI_TRY(xsti_module_load(device, "moe/kernel_bring", &kernels->brings, diag));
    for (int i = 0; i < VARIANT_COUNT; i++)
        XSTI_TRY(xsti_kernel_find(device, module_of(kernels, variants[i].dtype, variants[i].tile_rows),
                                  variants[i].name, variants[i].shared_bytes, &kernels->variant[i], diag));
    const struct {
        const char *name;
        struct xsti_kernel *kernel;
    } parts[] = {{"xst_moe_dispatch", &kernels->dispatch},
                 {"xst_moe_activate", &kernels->activate},
                 {"xst_moe_combine", &kernels->combine},
                 {"xst_moe_absent", &kernels->absent}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        XSTI_TRY(xsti_kernel_find(device, kernels->parts, parts[i].name, PART_SHARED_BYTES, parts[i].kernel, diag));
    return xsti_kernel_find(device, kernels->brings, "xst_moe_bring", 0, &kernels->bring, diag);
}

int xsti_moe_has_traced(const struct xst_moe_order *order)
{
    return order->tile_rows == 128;
}

enum xst_status xsti_moe_find_traced(struct xst_moe_kernels *kernels, struct xst_diag *diag)
{
    const struct xsti_device *const device = &kernels->device;
    if (kernels->traced_module)
        return XST_OK;
    XSTI_TRY(xsti_module_load(device, "moe/kernel_traced", &kernels->traced_module, diag));
    for (int i = 0; i < TRACED_COUNT; i++)
        XSTI_TRY(xsti_kernel_find(device, kernels->traced_module, traced_variants[i].name,
                                  traced_variants[i].shared_bytes, &kernels->traced[i], diag));
    return XST_OK;
}

enum xst_status xst_moe_open(int64_t ordinal, struct xst_moe_kernels **kernels_out, struct xst_diag *diag)
{
    struct xst_moe_kernels *const kernels = calloc(1, sizeof *kernels);
    if (!kernels)
        return xsti_fail_memory(diag);
    enum xst_status status = xsti_driver_open(&kernels->driver, diag);
    if (status == XST_OK)
        status = xsti_device_open(&kernels->driver, (int)ordinal, &kernels->device, diag);
    if (status == XST_OK)
        status = find_all(kernels, diag);
    if (status != XST_OK) {
        xst_moe_close(kernels);
        return status;
    }
    *kernels_out = kernels;
    return XST_OK;
}

void xst_moe_close(struct xst_moe_kernels *kernels)
{
    if (!kernels)
        return;
    xsti_module_unload(&kernels->device, kernels->m64);
    xsti_module_unload(&kernels->device, kernels->m128);
    xsti_module_unload(&kernels->device, kernels->m256);
    xsti_module_unload(&kernels->device, kernels->e4m3);
    xsti_module_unload(&kernels->device, kernels->parts);
    xsti_module_unload(&kernels->device, kernels->brings);
    xsti_module_unload(&kernels->device, kernels->traced_module);
    xsti_device_close(&kernels->device);
    xsti_driver_close(&kernels->driver);
    free(kernels);
}

int64_t xst_moe_sm_count(const struct xst_moe_kernels *kernels)
{
    return kernels->device.sm_count;
}

/* All CTAs wait for each other, so all have to be on the device at once. */
static enum xst_status check_ctas(const struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                  struct xst_diag *diag)
{
    if (call->layer.ctas <= kernels->device.sm_count)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe call: ctas is %lld, the device has %d SMs", (long long)call->layer.ctas,
                     kernels->device.sm_count);
}

/* Index in `list`; `count` where there is none. */
static int find_variant(const struct variant *list, int count, const struct xst_moe_call *call,
                        const struct xst_moe_order *order, enum xsti_moe_part part)
{
    const int mode = part == XSTI_MOE_BOTH ? MODE_fused : MODE_one;
    const int store = part == XSTI_MOE_BOTH ? (int)order->store : (int)STORE_at_once;
    int i = 0;
    while (i < count && (list[i].dtype != (int)call->layer.dtype || list[i].tile_rows != order->tile_rows ||
                         list[i].mode != mode || list[i].store != store))
        i++;
    return i;
}

/* Separate kernels need every row of every block. */
static enum xst_status check_pool(const struct xst_moe_call *call, struct xst_diag *diag)
{
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(&call->layer, &regions, diag));
    if (regions.pool_rows == regions.rows_most)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "moe call: unfused, with a ring of %lld rows; all %lld are needed",
                     (long long)call->layer.ring, (long long)regions.rows_most);
}

/* ring: of the traced kernels, else NULL. */
static enum xst_status launch_tiles(const struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                    const struct xst_moe_order *order, enum xsti_moe_part part,
                                    const struct xsti_trace_ring *ring, void *stream, struct xst_diag *diag)
{
    struct xsti_moe_params params;
    struct xsti_moe_regions regions;
    const struct variant *const list = ring ? traced_variants : variants;
    const int count = ring ? (int)TRACED_COUNT : (int)VARIANT_COUNT, i = find_variant(list, count, call, order, part);
    if (i == count)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE, "moe call: tiles of %lld rows have no kernel that leaves a trace",
                         (long long)order->tile_rows);
    XSTI_TRY(xsti_moe_regions(&call->layer, &regions, diag));
    xsti_moe_fill(call, order, part, &regions, &params);
    if (ring)
        params.trace = *ring;
    XSTI_TRY(xsti_moe_maps(&kernels->device, call, &regions, &params, diag));
    return xsti_kernel_enqueue(&kernels->device, ring ? &kernels->traced[i] : &kernels->variant[i], call->layer.ctas,
                               THREADS, (size_t)list[i].shared_bytes, &params, (CUstream)stream, diag);
}

static enum xst_status launch_part(const struct xst_moe_kernels *kernels, const struct xsti_kernel *kernel,
                                   const struct xst_moe_call *call, const struct xst_moe_order *order, void *stream,
                                   struct xst_diag *diag)
{
    struct xsti_moe_params params;
    struct xsti_moe_regions regions;
    XSTI_TRY(xsti_moe_regions(&call->layer, &regions, diag));
    xsti_moe_fill(call, order, XSTI_MOE_BOTH, &regions, &params);
    return xsti_kernel_enqueue(&kernels->device, kernel, call->layer.ctas, THREADS, PART_SHARED_BYTES, &params,
                               (CUstream)stream, diag);
}

enum xst_status xst_moe_fused(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                              const struct xst_moe_order *order, void *stream, struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_call_check(call, order, diag));
    XSTI_TRY(check_ctas(kernels, call, diag));
    return launch_tiles(kernels, call, order, XSTI_MOE_BOTH, NULL, stream, diag);
}

enum xst_status xsti_moe_fused_traced(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                      const struct xst_moe_order *order, const struct xsti_trace_ring *ring,
                                      void *stream, struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_call_check(call, order, diag));
    XSTI_TRY(check_ctas(kernels, call, diag));
    return launch_tiles(kernels, call, order, XSTI_MOE_BOTH, ring, stream, diag);
}

enum xst_status xst_moe_unfused(struct xst_moe_kernels *kernels, const struct xst_moe_call *call,
                                const struct xst_moe_order *order, void *stream, struct xst_diag *diag)
{
    XSTI_TRY(xst_moe_call_check(call, order, diag));
    XSTI_TRY(check_pool(call, diag));
    XSTI_TRY(check_ctas(kernels, call, diag));
    XSTI_TRY(launch_part(kernels, &kernels->dispatch, call, order, stream, diag));
    XSTI_TRY(launch_tiles(kernels, call, order, XSTI_MOE_LINEAR_1, NULL, stream, diag));
    XSTI_TRY(launch_part(kernels, &kernels->activate, call, order, stream, diag));
    XSTI_TRY(launch_tiles(kernels, call, order, XSTI_MOE_LINEAR_2, NULL, stream, diag));
    return launch_part(kernels, &kernels->combine, call, order, stream, diag);
}

enum xst_status xst_moe_absent(struct xst_moe_kernels *kernels, const struct xst_moe_call *call, void *stream,
                               struct xst_diag *diag)
{
    XSTI_TRY(xsti_moe_check_exchange(call, diag));
    XSTI_TRY(check_ctas(kernels, call, diag));
    return launch_part(kernels, &kernels->absent, call, NULL, stream, diag);
}
