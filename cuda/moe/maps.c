/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps: boxes 128 bytes wide, 128-byte swizzle, so that a load is one panel of device/tile.cuh.
 */
#include "moe/maps.h"

#include <string.h>

/* Values of the driver's enumerations. */
enum { TYPE_BYTES = 0, TYPE_BF16 = 9, INTERLEAVE_NONE = 0, SWIZZLE_128B = 3, PROMOTE_L2_256B = 3, FILL_ZEROS = 0 };

/* (count, rows, columns) of `dtype`, contiguous; count 0: no such dimension. */
static enum xst_status encode(const struct xsti_device *device, enum xst_moe_dtype dtype, const char *what,
                              uint64_t address, int64_t count, int64_t rows, int64_t columns, int64_t box_rows,
                              struct xsti_moe_tensor_map *map_out, struct xst_diag *diag)
{
    const uint64_t element = (uint64_t)xsti_moe_element_bytes(dtype);
    const uint64_t sizes[3] = {(uint64_t)columns, (uint64_t)rows, (uint64_t)count};
    const uint64_t strides[2] = {(uint64_t)columns * element, (uint64_t)(rows * columns) * element};
    const uint32_t box[3] = {XSTI_MOE_STEP_BYTES / (uint32_t)element, (uint32_t)box_rows, 1};
    const uint32_t steps[3] = {1, 1, 1};
    CUtensorMap map;
    if (!device->driver->cuTensorMapEncodeTiled)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                         "this driver (CUDA %d.%d) has no tensor maps: 12.0 or later is needed",
                         device->driver->version / 1000, device->driver->version % 1000 / 10);
    XSTI_CU(device->driver,
            cuTensorMapEncodeTiled(&map, dtype == XST_MOE_E4M3 ? TYPE_BYTES : TYPE_BF16, count == 0 ? 2 : 3,
                                   (void *)(uintptr_t)address, sizes, strides, box, steps, INTERLEAVE_NONE,
                                   SWIZZLE_128B, PROMOTE_L2_256B, FILL_ZEROS),
            device->ordinal, diag, "describing %s (%lld x %lld x %lld) to the tensor loader", what, (long long)count,
            (long long)rows, (long long)columns);
    memcpy(map_out, &map, sizeof *map_out);
    return XST_OK;
}

enum xst_status xsti_moe_maps(const struct xsti_device *device, const struct xst_moe_call *call,
                              const struct xsti_moe_regions *regions, struct xsti_moe_params *params,
                              struct xst_diag *diag)
{
    const int64_t h = call->layer.hidden, inter = call->layer.inter, experts = params->experts_here;
    /* Two CTAs that share a tile load halves. */
    const int shared = params->stream.tile_rows == 256;
    const int64_t rows = shared ? 64 : params->stream.tile_rows;
    const int64_t cols = shared ? XSTI_MOE_TILE_COLS / 2 : XSTI_MOE_TILE_COLS;
    const enum xst_moe_dtype dtype = call->layer.dtype;
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_TRY(
        encode(device, dtype, "the pool of rows", params->pool_x, 0, regions->pool_rows, h, rows, &params->x, diag));
    XSTI_TRY(encode(device, dtype, "the activated rows", params->pool_act, 0, regions->pool_rows, inter, rows,
                    &params->act, diag));
    XSTI_TRY(encode(device, dtype, "w1", call->w1, experts, 2 * inter, h, cols, &params->w1, diag));
    return encode(device, dtype, "w2", call->w2, experts, h, inter, cols, &params->w2, diag);
}
