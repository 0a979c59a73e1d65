# SPDX-License-Identifier: Apache-2.0
"""The mixture-of-experts kernel on torch tensors: buffers, checks, launches on the current stream, the operator."""

from __future__ import annotations

import functools
import threading
from ctypes import byref, c_uint64, c_void_p
from typing import Any

import torch

from .. import _abi
from .._library import call, failure, function
from ..errors import RangeError, UsageError
from ._attention import dtype_word, on_device, stream_of
from ._exchange import NUMBERS, Block
from ._group import Ranks
from ._ops import LIBRARY
from ._quantise import E4M3

LAYERS: dict[int, Layer] = {}
ALIGN = 1024


@functools.lru_cache(maxsize=None)
def kernels_of(index: int) -> tuple[c_void_p, int]:
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
        self.kernels, sm_count = kernels_of(device.index)
        struct.ctas = sm_count
        layout = _abi.xst_moe_layout()
        call("xst_moe_layout", byref(struct), byref(layout))
        self.workspace = c_void_p()
        count = struct.ranks
        self.buffers = (c_uint64 * count)()
        if ranks is None:
            whole = torch.zeros(layout.bytes + ALIGN, dtype=torch.uint8, device=device)
            self.bytes = whole[-whole.data_ptr() % ALIGN :][: layout.bytes]
            self.buffers[0] = self.bytes.data_ptr()
        else:
            call("xst_workspace_create", layout.bytes, device.index, byref(ranks.c_group), byref(self.workspace))
            pointers = function("xst_workspace_pointers")(self.workspace)
            for rank in range(count):
                self.buffers[rank] = pointers[rank]
            self.bytes = torch.as_tensor(Block(int(self.buffers[ranks.rank]), layout.bytes), device=device)
        self.dtype = E4M3 if struct.dtype == _abi.XST_MOE_E4M3 else torch.bfloat16
        self.call = _abi.xst_moe_call(layer=struct, rank=ranks.rank if ranks else 0, buffers=self.buffers)
        self.call.limit_us = timeout_s * 1e6
        self.tokens = _abi.xst_moe_tokens()
        self.index = device.index
        self.checked: tuple[Any, ...] | None = None
        self.struct, self.diag, self.lock = struct, _abi.xst_diag(), threading.Lock()
        self.references = byref(self.call), byref(self.tokens), byref(self.diag)
        self.bring = function("xst_moe_bring")
        self.launches = function("xst_moe_unfused"), function("xst_moe_fused")
        self.orders: list[_abi.xst_moe_order] = []
        self.number = next(NUMBERS)
        LAYERS[self.number] = self

    def run(
        self,
        x: torch.Tensor,
        ids: torch.Tensor,
        weights: torch.Tensor,
        w1: torch.Tensor,
        w2: torch.Tensor,
        w1_scales: torch.Tensor | None,
        w2_scales: torch.Tensor | None,
        clamp: float,
        order: int,
        fused: bool,
    ) -> torch.Tensor:
        """One call on the current stream. Written for few steps a call: what was checked once is compared with that."""
        given = (
            (
                x.shape,
                x.dtype,
                x.get_device(),
                ids.shape,
                ids.dtype,
                ids.get_device(),
                weights.shape,
                weights.get_device(),
            ),
            (w1.dtype, w1.get_device(), w2.dtype, w2.get_device()),
            None if w1_scales is None else (w1_scales.dtype, w1_scales.get_device()),
            None if w2_scales is None else (w2_scales.dtype, w2_scales.get_device()),
            (x.requires_grad or weights.requires_grad) and torch.is_grad_enabled(),
        )
        if given != self.checked:
            self.check(x, ids, weights)
            self.check_matrices(w1, w2, w1_scales, w2_scales)
            self.checked = given
        if not (ids.is_contiguous() and weights.is_contiguous() and weights.dtype is torch.float32):
            ids, weights = ids.contiguous(), weights.to(torch.float32).contiguous()
        if not x.is_contiguous() or x.data_ptr() % 16 != 0:
            x = _rows(x)
        out = torch.empty_like(x) if x.is_contiguous() else torch.empty_like(x, memory_format=torch.contiguous_format)
        index, call, tokens = self.index, self.call, self.tokens
        with self.lock:
            # The stride over one row is never used, and may be anything.
            tokens.x, tokens.x_stride = x.data_ptr(), x.stride(0) if x.shape[0] > 1 else x.shape[1]
            tokens.ids, tokens.id_bytes, tokens.weights = ids.data_ptr(), ids.element_size(), weights.data_ptr()
            call.tokens, call.clamp = x.shape[0], clamp
            call.w1, call.w2, call.y = w1.data_ptr(), w2.data_ptr(), out.data_ptr()
            if w1_scales is not None and w2_scales is not None:
                call.w1_scales, call.w2_scales = w1_scales.data_ptr(), w2_scales.data_ptr()
            status = on_device(index, self.enqueue, order, fused, stream_of(index))
            if status != 0:
                raise failure(status, self.diag)
        return out

    def enqueue(self, order: int, fused: bool, stream: int) -> int:
        """Both launches of a call whose fields are filled."""
        call_ref, tokens_ref, diag_ref = self.references
        status = self.bring(self.kernels, call_ref, tokens_ref, stream, diag_ref)
        if status == 0:
            status = self.launches[fused](self.kernels, call_ref, self.orders[order], stream, diag_ref)
        return int(status)

    def check(self, x: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor) -> None:
        """Raises UsageError, RangeError."""
        if x.dtype != torch.bfloat16:
            raise UsageError(f"x is {dtype_word(x.dtype)}; bfloat16 is needed")
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
            raise UsageError(f"ids is {dtype_word(ids.dtype)}; int64 or int32 is needed")
        if x.shape[0] > self.struct.tokens_most:
            raise RangeError(f"x has {x.shape[0]} tokens, the layer was made for {self.struct.tokens_most}")

    def check_matrices(
        self, w1: torch.Tensor, w2: torch.Tensor, w1_scales: torch.Tensor | None, w2_scales: torch.Tensor | None
    ) -> None:
        """They are what the layer was made with: a module's buffers can be moved and converted. Raises UsageError."""
        float_or_none = torch.float32 if self.dtype is E4M3 else None
        for tensor, name, dtype in (
            (w1, "w1", self.dtype),
            (w2, "w2", self.dtype),
            (w1_scales, "w1_scales", float_or_none),
            (w2_scales, "w2_scales", float_or_none),
        ):
            if (tensor.dtype if tensor is not None else None) != dtype:
                raise UsageError(
                    f"{name} is {dtype_word(tensor.dtype) if tensor is not None else None}; "
                    f"the layer was made with {dtype_word(dtype) if dtype else None}"
                )
            if tensor is not None and tensor.device != self.device:
                raise UsageError(f"{name} is on {tensor.device} and the layer's buffers on {self.device}")

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


def _rows(x: torch.Tensor) -> torch.Tensor:
    """With rows that a kernel reads 16 bytes at a time."""
    stride, step = x.stride()
    if step == 1 and stride % 8 == 0 and stride >= x.shape[1] and x.data_ptr() % 16 == 0:
        return x
    return x.clone(memory_format=torch.contiguous_format)


def layer_of(number: int) -> Layer:
    try:
        return LAYERS[number]
    except KeyError:
        raise UsageError("the buffers of this layer were given back") from None


LIBRARY.define(
    "fused_moe(Tensor x, Tensor ids, Tensor weights, Tensor w1, Tensor w2, Tensor? w1_scales, Tensor? w2_scales, "
    "float clamp, int order, bool fused, int layer) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def _fused_moe(
    x: torch.Tensor,
    ids: torch.Tensor,
    weights: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    w1_scales: torch.Tensor | None,
    w2_scales: torch.Tensor | None,
    clamp: float,
    order: int,
    fused: bool,
    layer: int,
) -> torch.Tensor:
    return layer_of(layer).run(x, ids, weights, w1, w2, w1_scales, w2_scales, clamp, order, fused)


for _key in ("CUDA", "CPU"):
    LIBRARY.impl("fused_moe", _fused_moe, _key)


@torch.library.register_fake("xstage::fused_moe", lib=LIBRARY)
def _fake_moe(
    x: torch.Tensor,
    ids: torch.Tensor,
    weights: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    w1_scales: torch.Tensor | None,
    w2_scales: torch.Tensor | None,
    clamp: float,
    order: int,
    fused: bool,
    layer: int,
) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)
