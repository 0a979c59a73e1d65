# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer in one kernel: dispatch, both linear layers with the gated activation, combine."""

from __future__ import annotations

import functools
import threading
from ctypes import byref, c_uint64, c_void_p
from typing import Any

import torch
import torch.distributed as dist

from .. import _abi
from .._library import call, failure, function, word
from ..errors import RangeError, UsageError
from ..shapes import MOE_STORES, MoeOrder, MoeShape, MoeTiles
from ..simulate import knee
from ._attention import on_device, stream_of
from ._exchange import NUMBERS, Block
from ._group import Ranks
from ._ops import LIBRARY

LAYERS: dict[int, Layer] = {}
_ALIGN = 1024


@functools.lru_cache(maxsize=None)
def _kernels(index: int) -> tuple[c_void_p, int]:
    """The kernels of a device, and its SMs."""
    torch.cuda.init()
    handle = c_void_p()
    call("xst_moe_open", index, byref(handle))
    return handle, int(function("xst_moe_sm_count")(handle))


class Layer:
    """The symmetric buffer of layers of one geometry, and the call that uses it. Layers whose calls follow each other
    share one."""

    def __init__(self, struct: _abi.xst_moe_layer, ranks: Ranks | None, device: torch.device, timeout_s: float) -> None:
        self.ranks, self.device, self.timeout_s = ranks, device, timeout_s
        self.kernels, sm_count = _kernels(device.index)
        struct.ctas = sm_count
        layout = _abi.xst_moe_layout()
        call("xst_moe_layout", byref(struct), byref(layout))
        self.workspace = c_void_p()
        count = struct.ranks
        self.buffers = (c_uint64 * count)()
        if ranks is None:
            whole = torch.zeros(layout.bytes + _ALIGN, dtype=torch.uint8, device=device)
            self.bytes = whole[-whole.data_ptr() % _ALIGN :][: layout.bytes]
            self.buffers[0] = self.bytes.data_ptr()
        else:
            call("xst_workspace_create", layout.bytes, device.index, byref(ranks.c_group), byref(self.workspace))
            pointers = function("xst_workspace_pointers")(self.workspace)
            for rank in range(count):
                self.buffers[rank] = pointers[rank]
            self.bytes = torch.as_tensor(Block(int(self.buffers[ranks.rank]), layout.bytes), device=device)
        most, hidden, topk = struct.tokens_most, struct.hidden, struct.topk
        self.x = self.region(layout.x, (most, hidden), torch.bfloat16)
        self.ids = self.region(layout.ids, (most, topk), torch.int64)
        self.weights = self.region(layout.weights, (most, topk), torch.float32)
        self.call = _abi.xst_moe_call(layer=struct, rank=ranks.rank if ranks else 0, buffers=self.buffers)
        self.call.limit_us = timeout_s * 1e6
        self.struct, self.diag, self.lock = struct, _abi.xst_diag(), threading.Lock()
        self.orders: list[_abi.xst_moe_order] = []
        self.number = next(NUMBERS)
        LAYERS[self.number] = self

    def region(self, at: int, shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
        size = shape[0] * shape[1] * dtype.itemsize
        return self.bytes[at : at + size].view(dtype).view(shape)

    def run(
        self,
        x: torch.Tensor,
        ids: torch.Tensor,
        weights: torch.Tensor,
        w1: torch.Tensor,
        w2: torch.Tensor,
        clamp: float,
        order: int,
        fused: bool,
    ) -> torch.Tensor:
        """One call on the current stream."""
        tokens = self.check(x, ids, weights)
        if w1.device != self.device or w2.device != self.device:
            raise UsageError(f"the matrices are on {w1.device} and {w2.device}, the layer's buffers on {self.device}")
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        launch = function("xst_moe_fused" if fused else "xst_moe_unfused")
        index = self.device.index
        with self.lock:
            self.x[:tokens].copy_(x)
            self.ids[:tokens].copy_(ids)
            self.weights[:tokens].copy_(weights)
            self.call.tokens, self.call.clamp = tokens, clamp
            self.call.w1, self.call.w2, self.call.y = w1.data_ptr(), w2.data_ptr(), out.data_ptr()
            arguments = (self.kernels, byref(self.call), byref(self.orders[order]), stream_of(index), byref(self.diag))
            status = on_device(index, launch, *arguments)
            if status != 0:
                raise failure(status, self.diag)
        return out

    def check(self, x: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor) -> int:
        """The number of tokens. Raises UsageError, RangeError."""
        if x.dtype != torch.bfloat16:
            raise UsageError(f"x is {str(x.dtype).removeprefix('torch.')}; bfloat16 is needed")
        for tensor, name in ((x, "x"), (ids, "ids"), (weights, "weights")):
            if tensor.device != self.device:
                raise UsageError(f"{name} is on {tensor.device} and the layer on {self.device}")
            if torch.is_grad_enabled() and tensor.requires_grad:
                raise UsageError(f"{name} requires a gradient; this kernel has no backward, use torch.no_grad()")
        if x.dim() != 2 or x.shape[1] != self.struct.hidden:
            raise RangeError(f"x is {tuple(x.shape)}; (tokens, {self.struct.hidden}) is needed")
        wanted = (x.shape[0], self.struct.topk)
        for tensor, name in ((ids, "ids"), (weights, "weights")):
            if tuple(tensor.shape) != wanted:
                raise RangeError(f"{name} is {tuple(tensor.shape)}; {wanted} is needed")
        if ids.dtype not in (torch.int64, torch.int32):
            raise UsageError(f"ids is {str(ids.dtype).removeprefix('torch.')}; int64 or int32 is needed")
        if x.shape[0] > self.struct.tokens_most:
            raise RangeError(f"x has {x.shape[0]} tokens, the layer was made for {self.struct.tokens_most}")
        return int(x.shape[0])

    def status(self) -> None:
        """Waits for the current stream and raises what its calls recorded."""
        index, diag = self.device.index, _abi.xst_diag()
        status = on_device(
            index, function("xst_moe_status"), self.kernels, byref(self.call), stream_of(index), byref(diag)
        )
        if status != 0:
            raise failure(status, diag)

    def close(self) -> None:
        LAYERS.pop(self.number, None)
        if self.workspace:
            torch.cuda.synchronize(self.device)
            call("xst_workspace_destroy", self.workspace)
            self.workspace = c_void_p()


def _layer_of(number: int) -> Layer:
    try:
        return LAYERS[number]
    except KeyError:
        raise UsageError("the buffers of this layer were given back") from None


LIBRARY.define(
    "fused_moe(Tensor x, Tensor ids, Tensor weights, Tensor w1, Tensor w2, float clamp, int order, bool fused, "
    "int layer) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def _fused_moe(
    x: torch.Tensor,
    ids: torch.Tensor,
    weights: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    clamp: float,
    order: int,
    fused: bool,
    layer: int,
) -> torch.Tensor:
    return _layer_of(layer).run(x, ids, weights, w1, w2, clamp, order, fused)


for _key in ("CUDA", "CPU"):
    LIBRARY.impl("fused_moe", _fused_moe, _key)


@torch.library.register_fake("xstage::fused_moe", lib=LIBRARY)
def _fake_moe(
    x: torch.Tensor,
    ids: torch.Tensor,
    weights: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    clamp: float,
    order: int,
    fused: bool,
    layer: int,
) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


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
    pairs = torch.stack((gate.reshape(experts, -1, 8, hidden), up.reshape(experts, -1, 8, hidden)), dim=2)
    return pairs.reshape(experts, 2 * inter, hidden).contiguous()


class FusedMoE(torch.nn.Module):
    """A mixture-of-experts layer: y[t] = sum_s w2[e] (weights[t, s] * silu(min(g, c)) * clamp(u, -c, c)), where e =
    ids[t, s], g = gate[e] x[t] and u = up[e] x[t].

    Expert-parallel: rank r of P holds its even share of the experts, in order (the first experts % P ranks one more),
    and its own tokens. The kernel fetches the rows that chose its experts and stores each result into its owner's
    memory. For inference.

    Making one is collective where the group has several ranks: all ranks do it in the same order.

    Args:
        gate, up: (local experts, inter, hidden) bfloat16 on the CUDA device.
        down: (local experts, hidden, inter) bfloat16.
        topk: choices of a token, 1..16.
        tokens_most: most tokens a rank brings to a call.
        group: a torch.distributed group; None: all processes, or this one alone where torch.distributed is not
            initialised.
        clamp: c of the formula; None: no bound.
        order: how it is carried out; None: `MoeOrder()`.
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
        group: dist.ProcessGroup | None = None,
        clamp: float | None = None,
        order: MoeOrder | None = None,
        fused: bool = True,
        timeout_s: float = 60.0,
    ) -> None:
        super().__init__()
        for tensor, name in ((gate, "gate"), (up, "up"), (down, "down")):
            if tensor.dtype != torch.bfloat16 or tensor.device.type != "cuda":
                raise UsageError(
                    f"{name} is {str(tensor.dtype).removeprefix('torch.')} on {tensor.device}; "
                    "bfloat16 on a CUDA device is needed"
                )
            if tensor.dim() != 3:
                raise RangeError(f"{name} is {tuple(tensor.shape)}; one matrix for each local expert is needed")
        local, inter, hidden = gate.shape
        if tuple(down.shape) != (local, hidden, inter):
            raise RangeError(f"down is {tuple(down.shape)}; {(local, hidden, inter)} is needed")
        self.register_buffer("w1", interleave(gate, up))
        self.register_buffer("w2", down.detach().contiguous())
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
        out: torch.Tensor = torch.ops.xstage.fused_moe.default(
            x, ids, weights, self.w1, self.w2, self.clamp, self.order, self.fused, self.layer
        )
        return out

    def check(self) -> None:
        """Waits for the current stream and raises what its calls recorded.

        Raises:
            WaitTimeoutError: a rank did not come; says who waited for whom.
            RangeError: an id that is no expert.
        """
        _layer_of(self.layer).status()

    def close(self) -> None:
        """Collective: gives the buffers back, for all layers of this geometry."""
        if self.layer in LAYERS:
            _layer_of(self.layer).close()


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
        return (one.hidden, one.inter, one.experts, one.topk, one.tokens_most, one.ranks)

    group = ranks.group if ranks else None
    for found in LAYERS.values():
        same_group = (found.ranks.group if found.ranks else None) is group
        if same_group and key(found.struct) == key(struct) and (found.device, found.timeout_s) == (device, timeout_s):
            return found
    return Layer(struct, ranks, device, timeout_s)


def _order(order: MoeOrder, struct: _abi.xst_moe_layer, layer: Layer) -> _abi.xst_moe_order:
    """The order with its open choices made for the largest call."""
    if order.store not in MOE_STORES:
        raise UsageError(f'store is "{order.store}"; valid are {", ".join(MOE_STORES)}')
    each = struct.tokens_most * struct.topk * struct.ranks / struct.experts
    rows = order.tile_rows or (64 if each <= 64 else 256 if 150 <= each <= 250 else 128)
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
    )
    probe = _abi.xst_moe_call.from_buffer_copy(layer.call)
    probe.w1 = probe.w2 = probe.y = _ALIGN
    call("xst_moe_call_check", byref(probe), byref(found))
    return found


__all__: list[Any] = ["FusedMoE", "MoeOrder", "interleave"]
