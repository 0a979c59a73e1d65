# SPDX-License-Identifier: Apache-2.0
"""The attention kernel on torch tensors: checks, prepared calls, launches on the current stream."""

from __future__ import annotations

import functools
import threading
from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any

import torch

from .. import _abi
from .._library import call, failure, function
from ..errors import RangeError, UsageError

MOST_PREPARED = 256
STORES = ("st16", "bulk", "paced")


class Kernels:
    """The attention kernels on one device, opened at the first use and kept."""

    def __init__(self, index: int) -> None:
        torch.cuda.init()
        self.handle = c_void_p()
        call("xst_fa_a2a_open", index, byref(self.handle))
        self.sm_count = int(function("xst_fa_a2a_sm_count")(self.handle))
        self.launch = function("xst_fa_a2a_launch")
        self.run = function("xst_fa_a2a_run")
        size = function("xst_fa_a2a_control_bytes")()
        self.control = torch.zeros(size, dtype=torch.uint8, device=torch.device("cuda", index))
        self.prepared: dict[Any, Prepared] = {}
        self.last: tuple[Any, Any] = (None, None)

    def keep(self, key: Any, prepared: Prepared) -> None:
        """Remembers a prepared call; forgets all when there are too many (shapes that never come again)."""
        if len(self.prepared) >= MOST_PREPARED:
            self.prepared.clear()
        self.prepared[key] = prepared


@functools.lru_cache(maxsize=None)
def kernels_of(index: int) -> Kernels:
    """The kernels of a device. Raises UnavailableError where they cannot run."""
    return Kernels(index)


class Prepared:
    """One call with everything but the addresses filled in. The lock is held from the first address to the launch."""

    def __init__(self, call: _abi.xst_fa_a2a_call, choice: _abi.xst_fa_a2a_choice, ranks: int) -> None:
        self.row_first = (c_int64 * (ranks + 1))()
        self.out = (c_uint64 * ranks)()
        self.controls = (c_uint64 * ranks)()
        call.row_first, call.out, call.control = self.row_first, self.out, self.controls
        self.call, self.choice, self.diag = call, choice, _abi.xst_diag()
        self.q, self.k, self.v = call.q, call.k, call.v
        self.references = byref(call), byref(choice), byref(self.diag)
        self.lock = threading.Lock()
        self.plain = False  # q has the strides of the result


def check_tensors(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, names: tuple[str, str, str] = ("q", "k", "v")
) -> None:
    """What the kernel needs of its inputs, (B, rows, heads, d) each.

    Raises:
        UsageError: dtype, device, number of dimensions, layout, gradients. RangeError: sizes that do not fit together.
    """
    for tensor, name in zip((q, k, v), names):
        if tensor.dim() != 4:
            raise UsageError(f"{name} has {tensor.dim()} dimensions; (batch, rows, heads, head_dim) is needed")
        if tensor.dtype != torch.bfloat16:
            raise UsageError(f"{name} is {dtype_word(tensor.dtype)}; bfloat16 is needed")
        if tensor.device != q.device:
            raise UsageError(f"{name} is on {tensor.device} and {names[0]} on {q.device}; one device is needed")
        if tensor.stride(3) != 1 and tensor.shape[3] != 1:
            raise UsageError(
                f"{name} has stride {tensor.stride(3)} in its last dimension; 1 is needed ({name}.contiguous() has it)"
            )
        if any(stride % 8 and size > 1 for stride, size in zip(tensor.stride()[:3], tensor.shape[:3])):
            raise UsageError(
                f"{name} has strides {tensor.stride()}; multiples of 8 elements are needed "
                f"({name}.contiguous() has them)"
            )
        if torch.is_grad_enabled() and tensor.requires_grad:
            raise UsageError(
                f"{name} requires a gradient; these kernels have no backward, use torch.no_grad() or inference_mode()"
            )
    batch, _, heads, dim = q.shape
    if dim not in (64, 128):
        raise RangeError(f"head_dim is {dim}; kernels exist for 64 and 128")
    for tensor, name in ((k, names[1]), (v, names[2])):
        if (
            tensor.shape[0] != batch
            or tensor.shape[2] != heads
            or tensor.shape[3] != dim
            or tensor.shape[1] != k.shape[1]
        ):
            raise RangeError(
                f"{name} is {tuple(tensor.shape)}, which does not go with {names[0]} {tuple(q.shape)}"
                + ("" if name == names[1] else f" and {names[1]} {tuple(k.shape)}")
            )
    if q.device.type != "cuda":
        raise UsageError(f"{names[0]} is on {q.device}; a CUDA device is needed")


def dtype_word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def key_count(rows: int, key_len: int) -> int:
    """Keys that take part: all for a negative `key_len`. Raises RangeError outside 1..rows."""
    if key_len < 0:
        return rows
    if not 1 <= key_len <= rows:
        raise RangeError(f"key_length is {key_len}, outside 1..{rows}")
    return key_len


def choose(kernels: Kernels, call_struct: _abi.xst_fa_a2a_call, store: str, slices: int) -> _abi.xst_fa_a2a_choice:
    """The table's choice for this shape; `store` "" leaves the store method to it too."""
    choice: _abi.xst_fa_a2a_choice = function("xst_fa_a2a_choose")(byref(call_struct), kernels.sm_count)
    if store:
        choice.store = STORES.index(store)
        choice.slices = slices
    return choice


def fill_tensor(target: Any, tensor: torch.Tensor) -> None:
    """Address and strides. A stride over one element is never used and made valid."""
    batch, row, head, _ = tensor.stride()
    _, rows, heads, dim = tensor.shape
    target.address = tensor.data_ptr()
    target.head_stride = head if heads > 1 else dim
    target.row_stride = row if rows > 1 else heads * dim
    target.batch_stride = batch if tensor.shape[0] > 1 else rows * heads * dim


def prepare_alone(
    kernels: Kernels, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, key_len: int, scale: float | None
) -> Prepared:
    """Attention of one rank; `scale` None is head_dim ** -0.5."""
    check_tensors(q, k, v)
    batch, rows, heads, dim = q.shape
    struct = _abi.xst_fa_a2a_call(
        batch=batch,
        seq=rows,
        key_len=key_count(k.shape[1], key_len),
        heads=heads,
        heads_total=heads,
        head_first=0,
        head_dim=dim,
        rank=0,
        ranks=1,
        scale=dim**-0.5 if scale is None else scale,
    )
    prepared = Prepared(struct, choose(kernels, struct, "", 1), 1)
    prepared.row_first[1] = rows
    prepared.plain = q.stride() == (rows * heads * dim, heads * dim, dim, 1)
    prepared.controls[0] = kernels.control.data_ptr()
    for target, tensor in ((prepared.q, q), (prepared.k, k), (prepared.v, v)):
        fill_tensor(target, tensor)
    return prepared


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, key_len: int, scale: float | None) -> torch.Tensor:
    """Attention of one rank on the current stream; (B, rows, heads, d), contiguous. Written for few steps a call."""
    index = q.get_device()
    half = torch.bfloat16
    if (
        index < 0
        or k.get_device() != index
        or v.get_device() != index
        or q.dtype is not half
        or k.dtype is not half
        or v.dtype is not half
        or ((q.requires_grad or k.requires_grad or v.requires_grad) and torch.is_grad_enabled())
    ):
        check_tensors(q, k, v)
    kernels = kernels_of(index)
    key = (q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), key_len, scale)
    last_key, prepared = kernels.last
    if key != last_key:
        prepared = kernels.prepared.get(key)
        if prepared is None:
            prepared = prepare_alone(kernels, q, k, v, key_len, scale)
            kernels.keep(key, prepared)
        kernels.last = key, prepared
    out = torch.empty_like(q) if prepared.plain else torch.empty_like(q, memory_format=torch.contiguous_format)
    call_ref, choice_ref, diag_ref = prepared.references
    with prepared.lock:
        prepared.q.address = q.data_ptr()
        prepared.k.address = k.data_ptr()
        prepared.v.address = v.data_ptr()
        prepared.out[0] = out.data_ptr()
        stream = torch._C._cuda_getCurrentRawStream(index)
        if torch._C._cuda_getDevice() == index:
            status = kernels.launch(kernels.handle, call_ref, choice_ref, stream, diag_ref)
        else:
            status = on_device(index, kernels.launch, kernels.handle, call_ref, choice_ref, stream, diag_ref)
        if status != 0:
            raise failure(status, prepared.diag)
    return out


def _watchers() -> tuple[Any, ...] | None:
    """What tells whether anything looks at operators as they are called; None where this torch does not say."""
    try:
        return (
            torch._C._len_torch_dispatch_stack,
            torch._C._is_torch_function_mode_enabled,
            torch._C._get_tracing_state,
            torch._C._functorch.peek_interpreter_stack,
        )
    except AttributeError:
        return None


_WATCHERS = _watchers()


def unwatched(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> bool:
    """Plain tensors, and no compiler, tracer, mode or transform in sight: then the kernel can be called without the
    dispatcher, which costs as much as the rest of the call."""
    if torch.compiler.is_compiling() or _WATCHERS is None:
        return False
    plain = torch.Tensor
    dispatched, functions, traced, transformed = _WATCHERS
    return (
        type(q) is plain
        and type(k) is plain
        and type(v) is plain
        and not (dispatched() or functions() or traced() or transformed())
    )


def stream_of(index: int) -> int:
    """The current stream of a device, as the C side takes it."""
    return int(torch._C._cuda_getCurrentRawStream(index))  # type: ignore[attr-defined]


def on_device(index: int, launch: Any, *arguments: Any) -> int:
    """Calls with the tensors' device as the current one: a launch makes it current, which the caller's other work must
    not see."""
    if torch._C._cuda_getDevice() == index:
        return int(launch(*arguments))
    with torch.cuda.device(index):
        return int(launch(*arguments))
