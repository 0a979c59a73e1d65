# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer in one kernel: dispatch, both linear layers with the gated activation, combine."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from typing import Any

import torch
import torch.distributed as dist

from .. import _abi
from .._library import call, word
from ..errors import RangeError, UsageError
from ..shapes import MOE_DEDUPS, MOE_STORES, MoeOrder, MoeShape, MoeTiles
from ..simulate import knee
from ._attention import dtype_word, unwatched
from ._group import Ranks
from ._layer import ALIGN, LAYERS, Layer, layer_of
from ._quantise import E4M3, SCALED, quantise_blocks


def interleave(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Gate and up matrices as the kernel reads them: 8 rows of gate, 8 rows of up, and so on.

    Args:
        gate, up: (experts, inter, hidden) each.

    Returns:
        (experts, 2 inter, hidden), contiguous.

    Raises:
        RangeError: the shapes differ, or inter is not a multiple of 8.
    """
    if gate.shape != up.shape or gate.dim() != 3 or gate.shape[1] % 8:
        raise RangeError(
            f"gate is {tuple(gate.shape)}, up {tuple(up.shape)}; (experts, inter, hidden) each, inter a multiple of 8"
        )
    experts, inter, hidden = gate.shape
    # As bytes where they are bytes: not every operation knows 8-bit floats.
    halves = [x.view(torch.uint8) if x.dtype.itemsize == 1 else x for x in (gate, up)]
    pairs = torch.stack([x.reshape(experts, -1, 8, hidden) for x in halves], dim=2)
    return pairs.reshape(experts, 2 * inter, hidden).contiguous().view(gate.dtype)


def _check_matrices(matrices: Sequence[torch.Tensor], dtype: torch.dtype | None) -> torch.dtype:
    """The type of a layer of these matrices, gate, up and down. Raises UsageError, RangeError."""
    for tensor, name in zip(matrices, ("gate", "up", "down")):
        if tensor.dtype not in (torch.bfloat16, E4M3) or tensor.device.type != "cuda":
            raise UsageError(
                f"{name} is {dtype_word(tensor.dtype)} on {tensor.device}; bfloat16 or float8_e4m3fn on a CUDA device "
                "is needed"
            )
        if tensor.dtype != matrices[0].dtype or tensor.device != matrices[0].device:
            raise UsageError(
                f"{name} is {dtype_word(tensor.dtype)} on {tensor.device} and gate {dtype_word(matrices[0].dtype)} on "
                f"{matrices[0].device}; one type and one device are needed"
            )
        if tensor.dim() != 3:
            raise RangeError(f"{name} is {tuple(tensor.shape)}; one matrix for each local expert is needed")
    gate, up, down = matrices
    local, inter, hidden = gate.shape
    if up.shape != gate.shape:
        raise RangeError(f"up is {tuple(up.shape)}; {(local, inter, hidden)} is needed")
    if tuple(down.shape) != (local, hidden, inter):
        raise RangeError(f"down is {tuple(down.shape)}; {(local, hidden, inter)} is needed")
    found = gate.dtype if dtype is None else dtype
    if found not in (torch.bfloat16, E4M3):
        raise UsageError(f"dtype is {dtype_word(found)}; valid are bfloat16, float8_e4m3fn")
    if found is torch.bfloat16 and gate.dtype is E4M3:
        raise UsageError("dtype is bfloat16 and gate, up and down are float8_e4m3fn; the layer has their type")
    if found is E4M3 and (inter % SCALED or hidden % SCALED):
        raise RangeError(f"gate is {tuple(gate.shape)}; with float8_e4m3fn, inter and hidden are multiples of {SCALED}")
    return found


def _check_scales(scales: Sequence[torch.Tensor] | None, matrices: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    """Scales that come with matrices in e4m3. Raises UsageError, RangeError."""
    if scales is None or len(scales) != 3:
        raise UsageError("gate, up and down are float8_e4m3fn; scales=(of gate, of up, of down) are needed")
    for scale, matrix, name in zip(scales, matrices, ("gate", "up", "down")):
        wanted = (matrix.shape[0], matrix.shape[1] // SCALED, matrix.shape[2] // SCALED)
        if scale.dtype != torch.float32 or scale.device != matrix.device:
            raise UsageError(
                f"the scales of {name} are {dtype_word(scale.dtype)} on {scale.device}; float32 on {matrix.device} is "
                "needed"
            )
        if tuple(scale.shape) != wanted:
            raise RangeError(
                f"the scales of {name} are {tuple(scale.shape)}; {wanted} is needed, one for each {SCALED} x {SCALED} "
                "values"
            )
        if not bool((torch.isfinite(scale) & (scale > 0)).all()):
            raise RangeError(f"the scales of {name} are not all positive numbers")
    return scales


class FusedMoE(torch.nn.Module):
    """A mixture-of-experts layer: y[t] = sum_s w2[e] (weights[t, s] * silu(min(g, c)) * clamp(u, -c, c)), where e =
    ids[t, s], g = gate[e] x[t] and u = up[e] x[t].

    Expert-parallel: rank r of P holds its even share of the experts, in order (the first experts % P ranks one more),
    and its own tokens. The kernel fetches the rows that chose its experts and stores each result into its owner's
    memory. For inference.

    Making one is collective where the group has several ranks: all ranks do it in the same order.

    With e4m3 (FP8) operands weights and tokens are 8-bit floats with scales, and take half the memory: of the weights
    one scale for 128 x 128 values, of each token one for 128. Tokens come in and go out in bfloat16; each call
    quantises them on the device.

    Args:
        gate, up: (local experts, inter, hidden) bfloat16 on the CUDA device, or float8_e4m3fn with `scales`.
        down: (local experts, hidden, inter), likewise.
        dtype: of the operands; None: that of the matrices. float8_e4m3fn with matrices in bfloat16 quantises them as
            `quantise_blocks` does.
        scales: of gate, up and down in float8_e4m3fn: (local experts, rows / 128, columns / 128) float32 each, value =
            scale * e4m3.
        topk: choices of a token, 1..16.
        tokens_most: most tokens a rank brings to a call.
        group: a torch.distributed group; None: all processes, or this one alone where torch.distributed is not
            initialised.
        clamp: c of the formula; None: no bound.
        order: how it is carried out; None: `MoeOrder()`.
        ring: rows of the buffer's pools, a multiple of 64: less memory, and a few percent more time; 0: what the worst
            routing needs. Not with `fused=False`.
        fused: one kernel; False: the same tiles as separate kernels, bitwise the same result. The baseline.
        timeout_s: a rank that is missing for so long ends the call on the others, with the reason.

    Raises:
        UsageError: dtype or device; ranks with different layers, on all ranks.
        RangeError: sizes.
        UnavailableError: no Hopper GPU, or a build without its code.
    """

    def __init__(
        self,
        gate: torch.Tensor,
        up: torch.Tensor,
        down: torch.Tensor,
        *,
        topk: int,
        tokens_most: int,
        dtype: torch.dtype | None = None,
        scales: Sequence[torch.Tensor] | None = None,
        group: dist.ProcessGroup | None = None,
        clamp: float | None = None,
        order: MoeOrder | None = None,
        ring: int = 0,
        fused: bool = True,
        timeout_s: float = 60.0,
    ) -> None:
        super().__init__()
        self.dtype = _check_matrices((gate, up, down), dtype)
        if ring and not fused:
            raise UsageError(f"ring is {ring} with fused=False; separate kernels need all rows")
        local, inter, hidden = gate.shape
        if gate.dtype is E4M3:
            scales = _check_scales(scales, (gate, up, down))
        elif scales is not None:
            raise UsageError("scales are given and gate, up and down are bfloat16; they have none")
        elif self.dtype is E4M3:
            (gate, gate_scales), (up, up_scales), (down, down_scales) = map(quantise_blocks, (gate, up, down))
            scales = gate_scales, up_scales, down_scales
        self.register_buffer("w1", interleave(gate.detach(), up.detach()))
        self.register_buffer("w2", down.detach().contiguous())
        self.register_buffer("w1_scales", torch.stack(tuple(scales[:2]), dim=1) if scales else None)
        self.register_buffer("w2_scales", scales[2].contiguous() if scales else None)
        self.clamp, self.fused = 0.0 if clamp is None else float(clamp), fused
        together = dist.is_available() and dist.is_initialized() and dist.get_world_size(group) > 1
        ranks = _ranks(group, timeout_s) if together else None
        experts = local
        if ranks:
            experts = sum(int(one.item()) for one in ranks.gather(torch.tensor([local])))
        struct = _abi.xst_moe_layer(
            hidden=hidden,
            inter=inter,
            experts=experts,
            topk=topk,
            tokens_most=tokens_most,
            ranks=ranks.ranks if ranks else 1,
            ctas=0,
            dtype=_abi.XST_MOE_E4M3 if self.dtype is E4M3 else _abi.XST_MOE_BF16,
            ring=ring,
        )
        self._expect_local(struct, ranks, local)
        layer = _shared(struct, ranks, gate.device, timeout_s)
        self.layer, self.order = layer.number, len(layer.orders)
        layer.orders.append(_order(order or MoeOrder(), struct, layer))

    def _expect_local(self, struct: _abi.xst_moe_layer, ranks: Ranks | None, local: int) -> None:
        """The experts of this rank are as many as the split says."""
        if ranks is None:
            return
        text = f"hidden {struct.hidden}, inter {struct.inter}, topk {struct.topk}, tokens_most {struct.tokens_most}"
        text += f", ring {struct.ring}, {dtype_word(self.dtype)}"
        ranks.agree("layers", text)
        mine = struct.experts // ranks.ranks + (ranks.rank < struct.experts % ranks.ranks)
        wrong = [int(one.item()) for one in ranks.gather(torch.tensor([int(mine != local)]))]
        if any(wrong):
            rank = wrong.index(1)
            raise RangeError(
                f"{struct.experts} experts on {ranks.ranks} ranks: rank {rank} does not hold its even share"
            )

    def forward(self, x: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Runs the layer on the current stream; nothing is waited for.

        Args:
            x: (tokens, hidden) bfloat16, this rank's tokens, 0..tokens_most of them.
            ids: (tokens, topk) int64 or int32, each token's experts, counted over all ranks; negative: no expert.
            weights: (tokens, topk) float32.

        Returns:
            (tokens, hidden) bfloat16.

        Raises:
            UsageError: dtype, device, gradients.
            RangeError: sizes. An id that is no expert is seen on the device: `check` raises it.
        """
        if unwatched(x, ids, weights):
            made: Any = self._buffers  # not as attributes, which torch looks up in several places
            matrices = made["w1"], made["w2"], made["w1_scales"], made["w2_scales"]
            return layer_of(self.layer).run(x, ids, weights, *matrices, self.clamp, self.order, self.fused)
        out: torch.Tensor = torch.ops.xstage.fused_moe.default(
            x,
            ids,
            weights,
            self.w1,
            self.w2,
            self.w1_scales,
            self.w2_scales,
            self.clamp,
            self.order,
            self.fused,
            self.layer,
        )
        return out

    def check(self) -> None:
        """Waits for the current stream and raises what its calls recorded.

        Raises:
            WaitTimeoutError: a rank did not come; says who waited for whom.
            RangeError: an id that is no expert.
        """
        layer_of(self.layer).status()

    def close(self) -> None:
        """Collective: gives the buffers back, for all layers of this geometry."""
        if self.layer in LAYERS:
            layer_of(self.layer).close()


def _ranks(group: dist.ProcessGroup | None, timeout_s: float) -> Ranks:
    """Those of a group that layers already talk over, so that a model of many layers does not make a group for each."""
    whole = group if group is not None else dist.group.WORLD
    for found in LAYERS.values():
        if found.ranks and found.ranks.group is whole and found.timeout_s == timeout_s:
            return found.ranks
    return Ranks(whole, timeout_s)


def _shared(struct: _abi.xst_moe_layer, ranks: Ranks | None, device: torch.device, timeout_s: float) -> Layer:
    """The buffers of a geometry; made at the first asking."""

    def key(one: _abi.xst_moe_layer) -> tuple[int, ...]:
        return (one.hidden, one.inter, one.experts, one.topk, one.tokens_most, one.ranks, one.dtype, one.ring)

    group = ranks.group if ranks else None
    for found in LAYERS.values():
        same_group = (found.ranks.group if found.ranks else None) is group
        if same_group and key(found.struct) == key(struct) and (found.device, found.timeout_s) == (device, timeout_s):
            return found
    return Layer(struct, ranks, device, timeout_s)


def _tile_rows(struct: _abi.xst_moe_layer) -> int:
    """By the rows of an expert in the largest call."""
    each = struct.tokens_most * struct.topk * struct.ranks / struct.experts
    pairs = struct.dtype == _abi.XST_MOE_BF16 and 150 <= each <= 250
    return 64 if each <= 64 else 256 if pairs else 128


def _order(order: MoeOrder, struct: _abi.xst_moe_layer, layer: Layer) -> _abi.xst_moe_order:
    """The order with its open choices made for the largest call."""
    if order.store not in MOE_STORES:
        raise UsageError(f'store is "{order.store}"; valid are {", ".join(MOE_STORES)}')
    if order.dedup not in MOE_DEDUPS:
        raise UsageError(f'dedup is "{order.dedup}"; valid are {", ".join(MOE_DEDUPS)}')
    rows = order.tile_rows or _tile_rows(struct)
    lead = order.lead
    if order.schedule == "interleaved" and lead == 0:
        # What one rank computes; alone, as if a second one held as many experts again.
        share = 2 if struct.ranks == 1 else 1
        shape = MoeShape(
            struct.hidden, struct.inter, share * struct.experts, struct.topk, struct.tokens_most, share * struct.ranks
        )
        lead = knee(shape, MoeTiles(tile_rows=rows, producers=struct.ctas // (2 if rows == 256 else 1)), order.group)
    found = _abi.xst_moe_order(
        schedule=word("schedule", order.schedule),
        lead=max(lead, 1),
        group=order.group,
        tile_rows=rows,
        store=MOE_STORES.index(order.store),
        slices=order.slices,
        unit=order.unit,
        dedup=MOE_DEDUPS.index(order.dedup),
    )
    probe = _abi.xst_moe_call.from_buffer_copy(layer.call)
    probe.w1 = probe.w2 = probe.y = probe.w1_scales = probe.w2_scales = ALIGN
    call("xst_moe_call_check", byref(probe), byref(found))
    return found


__all__: list[Any] = ["FusedMoE", "MoeOrder", "interleave"]
