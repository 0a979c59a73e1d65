/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the bursts of a request go, and how much shared memory a producer
 * needs.
 */
#include "base/diag.h"
#include "machine/cuda_machine.h"

static const size_t host_bytes = (size_t)256 << 20;

/* Copies of one burst, cut as the kernel cuts them: at the end of a piece, of a
 * chunk and of staging. */
static uint64_t count_copies(uint64_t bytes, uint64_t piece, uint64_t staging)
{
    const uint64_t chunk = XSTI_CUDA_CHUNK_BYTES, chunks = (piece + chunk - 1) / chunk;
    if (bytes <= staging)
        return bytes / piece * chunks;
    uint64_t copies = 0, from = 0, at = 0;
    for (uint64_t done = 0; done < bytes; copies++) {
        uint64_t now = piece - at < chunk ? piece - at : chunk;
        now = now < staging - from ? now : staging - from;
        from = from + now == staging ? 0 : from + now;
        at = at + now == piece ? 0 : at + now;
        done += now;
    }
    return copies;
}

struct xsti_cuda_shape xsti_cuda_burst_shape(const struct xst_measure_request *request)
{
    const uint64_t bytes = (uint64_t)request->bytes_per_producer;
    struct xsti_cuda_shape shape = {.staging_bytes = 0};
    if (request->method == XST_METHOD_BULK && bytes > 0) {
        shape.staging_bytes = bytes < XSTI_CUDA_MOST_STAGING ? (uint32_t)bytes : XSTI_CUDA_MOST_STAGING;
        shape.copies = (uint32_t)count_copies(bytes, request->piece_bytes > 0 ? (uint64_t)request->piece_bytes : bytes,
                                              shape.staging_bytes);
    }
    shape.shared_bytes = shape.staging_bytes + shape.copies * sizeof(struct xsti_copy) +
                         (size_t)request->bursts * sizeof(struct xsti_burst_times);
    return shape;
}

/* The memory of one device, or of all others in turn. Where several send to one, each has a place of its own there. */
static enum xst_status find_peers(struct xsti_cuda_machine *machine, size_t side,
                                  const struct xst_measure_request *request, size_t bytes, struct xsti_layout *layout,
                                  struct xst_diag *diag)
{
    const int64_t devices = (int64_t)machine->side_count;
    const size_t place = bytes > host_bytes ? bytes : host_bytes;
    const size_t places = xsti_request_senders(request, devices) > 1 ? machine->side_count : 1;
    const int64_t only = xsti_request_receiver(request, (int64_t)side, devices);
    layout->together = request->flow == XST_FLOW_ROTATION;
    for (size_t i = 1; i < machine->side_count; i++) {
        const size_t peer = (side + i) % machine->side_count;
        if (only >= 0 && (size_t)only != peer)
            continue;
        XSTI_TRY(xsti_cuda_side_need_memory(&machine->sides[peer], places > 1 ? places * place : bytes, diag));
        layout->owners[layout->target_count] = (uint32_t)peer;
        layout->targets[layout->target_count++] = machine->sides[peer].memory + (places > 1 ? side * place : 0);
    }
    return XST_OK;
}

/* Base addresses of the destinations of one side. */
static enum xst_status find_targets(struct xsti_cuda_machine *machine, size_t side,
                                    const struct xst_measure_request *request, size_t bytes, struct xsti_layout *layout,
                                    struct xst_diag *diag)
{
    switch (request->target) {
    case XST_TARGET_HOST:
        if (machine->host.bytes < bytes) {
            xsti_pinned_free(&machine->sides[0].device, &machine->host);
            XSTI_TRY(xsti_pinned_alloc(&machine->sides[0].device, bytes < host_bytes ? host_bytes : bytes,
                                       &machine->host, diag));
        }
        layout->targets[layout->target_count++] = machine->host.device;
        return XST_OK;
    case XST_TARGET_LOCAL:
        XSTI_TRY(xsti_cuda_side_need_memory(&machine->sides[side], bytes, diag));
        layout->targets[layout->target_count++] = machine->sides[side].memory;
        return XST_OK;
    case XST_TARGET_PEER:
        break;
    }
    return find_peers(machine, side, request, bytes, layout, diag);
}

enum xst_status xsti_cuda_layout(struct xsti_cuda_machine *machine, size_t side,
                                 const struct xst_measure_request *request, struct xsti_layout *layout_out,
                                 struct xst_diag *diag)
{
    const uint64_t bytes = (uint64_t)request->bytes_per_producer, producers = (uint64_t)request->producers;
    struct xsti_layout layout = {.bytes = bytes, .piece = bytes, .pitch = bytes, .block_stride = bytes, .per_row = 1};
    if (request->piece_bytes > 0) {
        layout.piece = (uint64_t)request->piece_bytes;
        layout.pitch = (uint64_t)request->pitch_bytes;
        layout.block_stride = bytes / layout.piece * layout.pitch;
        layout.per_row = (uint32_t)(layout.pitch / layout.piece);
    }
    if (layout.piece == 0) /* the baseline of a bystander sends nothing; nothing
                            divides by 0 all the same */
        layout.piece = layout.pitch = layout.block_stride = 16;
    layout.region_stride = ((producers + layout.per_row - 1) / layout.per_row * layout.block_stride + 255) / 256 * 256;
    const size_t two = 2 * (size_t)layout.region_stride;
    XSTI_TRY(find_targets(machine, side, request, two, &layout, diag));
    const size_t room = two > host_bytes ? two : host_bytes;
    const uint64_t fit = room / layout.region_stride - 1,
                   useful = request->bursts > 1 ? (uint64_t)request->bursts - 1 : 1;
    layout.regions = (uint32_t)(fit < useful ? fit : useful);
    *layout_out = layout;
    return XST_OK;
}
