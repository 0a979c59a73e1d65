/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps: 64-column panels as a dimension of their own, so that one load fills a whole swizzled tile (device/tile.cuh), or one
 * panel of it, which is what a CTA of a pair loads of keys and values.
 */
#include "fa_a2a/maps.h"

#include <string.h>

/* Values of the driver's enumerations. */
enum { TYPE_BF16 = 9, INTERLEAVE_NONE = 0, SWIZZLE_128B = 3, PROMOTE_L2_256B = 3, FILL_ZEROS = 0 };

static enum xst_status encode(const struct xsti_device *device, const char *what,
                              const struct xst_fa_a2a_tensor *tensor, const struct xst_fa_a2a_call *call, int64_t rows,
                              int box_rows, int64_t box_panels, struct xsti_fa_tensor_map *map_out,
                              struct xst_diag *diag)
{
    const uint64_t panels = (uint64_t)call->head_dim / 64;
    const uint64_t sizes[5] = {64, (uint64_t)rows, panels, (uint64_t)call->heads, (uint64_t)call->batch};
    const uint64_t strides[4] = {(uint64_t)tensor->row_stride * 2, 128, (uint64_t)tensor->head_stride * 2,
                                 (uint64_t)tensor->batch_stride * 2};
    const uint32_t box[5] = {64, (uint32_t)box_rows, (uint32_t)box_panels, 1, 1};
    const uint32_t steps[5] = {1, 1, 1, 1, 1};
    CUtensorMap map;
    if (!device->driver->cuTensorMapEncodeTiled)
        return xsti_fail(diag, XST_ERR_UNAVAILABLE,
                         "this driver (CUDA %d.%d) has no tensor maps: 12.0 or later is needed",
                         device->driver->version / 1000, device->driver->version % 1000 / 10);
    XSTI_CU(device->driver,
            cuTensorMapEncodeTiled(&map, TYPE_BF16, 5, (void *)(uintptr_t)tensor->address, sizes, strides, box, steps,
                                   INTERLEAVE_NONE, SWIZZLE_128B, PROMOTE_L2_256B, FILL_ZEROS),
            device->ordinal, diag, "describing %s (%lld rows, strides %lld, %lld, %lld elements) to the tensor loader",
            what, (long long)rows, (long long)tensor->row_stride, (long long)tensor->head_stride,
            (long long)tensor->batch_stride);
    memcpy(map_out, &map, sizeof *map_out);
    return XST_OK;
}

enum xst_status xsti_fa_maps(const struct xsti_device *device, const struct xst_fa_a2a_call *call, int block_keys,
                             int pairs, struct xsti_fa_params *params, struct xst_diag *diag)
{
    const int64_t panels = call->head_dim / 64, at_once = pairs ? 1 : panels;
    XSTI_TRY(xsti_device_use(device, diag));
    XSTI_TRY(encode(device, "q", &call->q, call, call->seq, 64, panels, &params->q, diag));
    XSTI_TRY(encode(device, "k", &call->k, call, call->key_len, block_keys, at_once, &params->k, diag));
    return encode(device, "v", &call->v, call, call->key_len, block_keys, at_once, &params->v, diag);
}
