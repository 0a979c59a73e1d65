# SPDX-License-Identifier: Apache-2.0
"""Ulysses among processes: heads scattered before attention, the fused kernel, its output buffers in the peers' memory.

Each rank brings one block: the control block, then its output. The kernels of call n + 1 may overwrite the output of
call n: a rank launches it after it has received its peers' q, k and v of call n + 1, which they sent, on their streams,
after their reads of call n. So the exchange in front of the attention is what keeps one output buffer safe, and both
are one operation here.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Sequence
from ctypes import byref, c_uint32, c_void_p
from itertools import accumulate, count
from typing import Any

import torch
import torch.distributed as dist

from .. import _abi
from .._library import call, failure, function
from ..errors import DeviceError, RangeError, UsageError, WaitTimeoutError
from ._attention import (
    MOST_PREPARED,
    Prepared,
    check_tensors,
    choose,
    fill_tensor,
    key_count,
    kernels_of,
    on_device,
    stream_of,
)
from ._group import Ranks

EXCHANGES: dict[int, Exchange] = {}
NUMBERS = count(1)  # never given twice: what was closed must not be taken for what came after it
_ALIGN = 4096


def split(total: int, ranks: int) -> list[int]:
    """An even split: the first total % ranks ranks have one more."""
    return [total // ranks + (rank < total % ranks) for rank in range(ranks)]


class Block:
    """Memory of a workspace as torch sees it; the view keeps this object."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class Room:
    """One workspace: all ranks' blocks of one size, mapped here."""

    def __init__(
        self, ranks: Ranks, device: torch.device, output_bytes: int, word: tuple[torch.Tensor, c_uint32]
    ) -> None:
        control = -(-function("xst_fa_a2a_control_bytes")() // _ALIGN) * _ALIGN
        self.output_bytes = output_bytes
        self.handle = c_void_p()
        call("xst_workspace_create", control + output_bytes, device.index, byref(ranks.c_group), byref(self.handle))
        pointers = function("xst_workspace_pointers")(self.handle)
        self.controls = [int(pointers[rank]) for rank in range(ranks.ranks)]
        self.outputs = [address + control for address in self.controls]
        mine = self.controls[ranks.rank]
        self.bytes = torch.as_tensor(Block(mine, control + output_bytes), device=device)
        self.output = self.bytes[control:]
        fault = function("xst_fa_a2a_fault_offset")()
        self.fault = self.bytes[fault : fault + 4]
        self.mirror, self.seen = word
        self.captured = False
        self.prepared: dict[Any, Prepared] = {}
        self.last: Prepared | None = None


class HostWords:
    """A page of locked memory, handed out in words of 4 bytes, each as a tensor and as a number. Not of torch's own
    pool, whose bookkeeping a graph would capture."""

    def __init__(self) -> None:
        self.page = mmap.mmap(-1, mmap.PAGESIZE)
        self.bytes = torch.frombuffer(self.page, dtype=torch.uint8)
        self.taken = 0
        error = torch.cuda.cudart().cudaHostRegister(self.bytes.data_ptr(), mmap.PAGESIZE, 0)
        if int(error) != 0:
            raise DeviceError(f"a page of host memory cannot be locked: CUDA error {int(error)}")

    def take(self) -> tuple[torch.Tensor, c_uint32]:
        """The next word, 0. After the last one the first is given out again: its room is long gone."""
        at = 4 * self.taken % mmap.PAGESIZE
        self.taken += 1
        number = c_uint32.from_buffer(self.page, at)
        number.value = 0
        return self.bytes[at : at + 4], number

    def release(self) -> None:
        torch.cuda.cudart().cudaHostUnregister(self.bytes.data_ptr())


class Exchange:
    """A group's attention with its exchange on one device. Making, growing and closing it are collective."""

    def __init__(self, ranks: Ranks, device: torch.device, timeout_s: float, store: str, slices: int) -> None:
        self.ranks, self.device, self.timeout_s = ranks, device, timeout_s
        self.store, self.slices = store, slices
        self.agreed: set[tuple[Any, ...]] = set()
        self.room: Room | None = None
        self.kept: list[Room] = []
        self.words: HostWords | None = None
        self.calls = 0
        self.number = next(NUMBERS)
        EXCHANGES[self.number] = self

    # Heads: which rank has which.
    def heads(self, total: int) -> list[int]:
        if total < self.ranks.ranks:
            raise RangeError(f"{total} heads for {self.ranks.ranks} ranks; at least one a rank is needed")
        return split(total, self.ranks.ranks)

    def meet(
        self,
        tensors: Sequence[torch.Tensor],
        text: Sequence[torch.Tensor],
        lengths: Sequence[int],
        key_len: int,
        scale: float,
        text_first: bool,
    ) -> tuple[Any, ...]:
        """What identifies a call's shape. The first call of one asks the others whether it is theirs too."""
        q = tensors[0]
        batch, rows, heads, dim = q.shape
        if any(x.shape != q.shape for x in tensors):
            raise RangeError(
                f"query, key and value are {', '.join(str(tuple(x.shape)) for x in tensors)}; one shape is needed"
            )
        if any(x.shape != (batch, text[0].shape[1], heads, dim) for x in text):
            raise RangeError(f"text is {', '.join(str(tuple(x.shape)) for x in text)} and query {tuple(q.shape)}")
        if min(lengths) < 1 or lengths[self.ranks.rank] != rows:
            raise RangeError(
                f"lengths is {list(lengths)}, with {rows} rows on rank {self.ranks.rank}; at least one a rank is needed"
            )
        key = (batch, tuple(lengths), heads, dim, text[0].shape[1] if text else 0, key_len, scale, text_first)
        if key in self.agreed:
            return key
        if self.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            raise UsageError("a shape is new while a CUDA graph is captured; call once with it before the capture")
        self.ranks.agree(
            "calls",
            f"batch {batch}, lengths {list(lengths)}, heads {heads} x {dim}, text {key[4]}, key_length {key_len}, "
            f"scale {scale:g}, text {'first' if text_first else 'last'}",
        )
        self.agreed.add(key)
        return key

    def all_to_all(self, sent: torch.Tensor, sent_sizes: Sequence[int], sizes: Sequence[int]) -> torch.Tensor:
        """Flat pieces to and from all ranks. Groups that cannot exchange device memory go through the host."""
        group = self.ranks.group
        if self.ranks.direct or sent.device.type == "cpu":
            got = sent.new_empty(sum(sizes))
            dist.all_to_all_single(got, sent, list(sizes), list(sent_sizes), group=group)
            return got
        got_cpu = torch.empty(sum(sizes), dtype=sent.dtype)
        dist.all_to_all_single(got_cpu, sent.cpu(), list(sizes), list(sent_sizes), group=group)
        return got_cpu.to(sent.device)

    def scatter_heads(self, x: torch.Tensor, lengths: Sequence[int]) -> list[torch.Tensor]:
        """(B, own rows, H, d) to every rank's rows of this rank's heads: [(B, lengths[p], h, d)]."""
        batch, rows, total, dim = x.shape
        heads = self.heads(total)
        ranks, mine = self.ranks.ranks, heads[self.ranks.rank]
        if total % ranks == 0:
            sent = x.reshape(batch, rows, ranks, mine, dim).permute(2, 0, 1, 3, 4).reshape(-1)
        else:
            sent = torch.cat([piece.reshape(-1) for piece in torch.split(x, heads, dim=2)])
        sizes = [batch * length * mine * dim for length in lengths]
        got = self.all_to_all(sent, [batch * rows * count * dim for count in heads], sizes)
        return [piece.view(batch, length, mine, dim) for piece, length in zip(torch.split(got, sizes), lengths)]

    def gather_rows(self, x: torch.Tensor, lengths: Sequence[int], total: int) -> torch.Tensor:
        """(B, all rows, h, d) to this rank's rows of all heads, (B, lengths[rank], H, d): the exchange behind unfused
        attention."""
        batch, _, mine, dim = x.shape
        heads, rows = self.heads(total), lengths[self.ranks.rank]
        sent = torch.cat([piece.reshape(-1) for piece in torch.split(x, list(lengths), dim=1)])
        sizes = [batch * rows * count * dim for count in heads]
        got = self.all_to_all(sent, [batch * length * mine * dim for length in lengths], sizes)
        return torch.cat(
            [piece.view(batch, rows, count, dim) for piece, count in zip(torch.split(got, sizes), heads)], dim=2
        )

    def assemble(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        text: Sequence[torch.Tensor],
        lengths: Sequence[int],
        text_first: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[int]]:
        """This rank's heads of everything, and how many query rows each rank owns. Replicated text: its queries stand
        once for every rank, each of which owns one copy; its keys stand once, behind all others."""
        pieces = [self.scatter_heads(x, lengths) for x in (q, k, v)]
        if not text:
            q_all, k_all, v_all = (_joined(one) for one in pieces)
            return q_all, k_all, v_all, list(lengths)
        first = sum(self.heads(q.shape[2])[: self.ranks.rank])
        mine = self.heads(q.shape[2])[self.ranks.rank]
        text_q, text_k, text_v = (x[:, :, first : first + mine] for x in text)
        rows = [piece for one in pieces[0] for piece in ((text_q, one) if text_first else (one, text_q))]
        return (
            torch.cat(rows, dim=1),
            torch.cat([*pieces[1], text_k], dim=1),
            torch.cat([*pieces[2], text_v], dim=1),
            [length + text_q.shape[1] for length in lengths],
        )

    def grow(self, output_bytes: int) -> Room:
        """A room with at least so many bytes. A smaller one goes, unless a captured graph may still write to it."""
        if self.room and self.room.output_bytes >= output_bytes:
            return self.room
        if torch.cuda.is_current_stream_capturing():
            raise UsageError(
                "output buffers would have to grow while a CUDA graph is captured; call once with this shape before"
            )
        torch.cuda.synchronize(self.device)
        if self.room and self.room.captured:
            self.kept.append(self.room)
        elif self.room:
            old, self.room = self.room, None
            call("xst_workspace_destroy", old.handle)
        self.words = self.words or HostWords()
        self.room = Room(self.ranks, self.device, output_bytes, self.words.take())
        return self.room

    def attend(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        text: Sequence[torch.Tensor],
        lengths: Sequence[int],
        key_len: int,
        scale: float,
        text_first: bool,
        borrow: bool,
    ) -> torch.Tensor:
        """The whole operation on the current stream."""
        check_tensors(q, k, v)
        if q.device != self.device:
            raise UsageError(f"query is on {q.device} and this attention on {self.device}")
        kernels_of(self.device.index)  # where they cannot run, that is said before the others are asked
        if text:
            check_tensors(text[0], text[1], text[2], ("joint_tensor_query", "joint_tensor_key", "joint_tensor_value"))
        key = self.meet((q, k, v), text, lengths, key_len, scale, text_first)
        capturing = torch.cuda.is_current_stream_capturing()
        if not capturing:
            self.raise_fault()
        batch, _, total, dim = q.shape
        q_all, k_all, v_all, owned = self.assemble(q, k, v, text, lengths, text_first)
        room = self.grow(max(owned) * batch * total * dim * 2)
        room.captured = room.captured or capturing
        self.launch(room, key, q_all, k_all, v_all, owned, total, key_len, scale)
        shape = (batch, owned[self.ranks.rank], total, dim)
        size = shape[0] * shape[1] * shape[2] * shape[3] * 2
        result = room.output[:size].view(torch.bfloat16).view(shape)
        return result if borrow else result.clone()

    def launch(
        self,
        room: Room,
        key: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        owned: Sequence[int],
        total: int,
        key_len: int,
        scale: float,
    ) -> None:
        """Attention, stores to the owners, the wait for theirs; then the fault word on its way to the host."""
        index, kernels = q.device.index, kernels_of(q.device.index)
        prepared = room.prepared.get(key)
        if prepared is None:
            if len(room.prepared) >= MOST_PREPARED:
                room.prepared.clear()
            prepared = room.prepared[key] = self._prepare(room, q, k, v, owned, total, key_len, scale)
        call_ref, choice_ref, diag_ref = prepared.references
        with prepared.lock:
            prepared.q.address, prepared.k.address, prepared.v.address = q.data_ptr(), k.data_ptr(), v.data_ptr()
            status = on_device(
                index,
                kernels.run,
                kernels.handle,
                call_ref,
                choice_ref,
                self.timeout_s * 1e6,
                stream_of(index),
                diag_ref,
            )
            if status != 0:
                raise failure(status, prepared.diag)
        room.mirror.copy_(room.fault, non_blocking=True)
        room.last = prepared
        self.calls += 1

    def _prepare(
        self,
        room: Room,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        owned: Sequence[int],
        total: int,
        key_len: int,
        scale: float,
    ) -> Prepared:
        kernels, heads = kernels_of(q.device.index), self.heads(total)
        batch, rows, mine, dim = q.shape
        struct = _abi.xst_fa_a2a_call(
            batch=batch,
            seq=rows,
            key_len=key_count(k.shape[1], key_len),
            heads=mine,
            heads_total=total,
            head_first=sum(heads[: self.ranks.rank]),
            head_dim=dim,
            rank=self.ranks.rank,
            ranks=self.ranks.ranks,
            scale=scale,
        )
        prepared = Prepared(struct, choose(kernels, struct, self.store, self.slices), self.ranks.ranks)
        prepared.row_first[:] = [0, *accumulate(owned)]
        for rank, (output, control) in enumerate(zip(room.outputs, room.controls)):
            prepared.out[rank], prepared.controls[rank] = output, control
        for target, tensor in ((prepared.q, q), (prepared.k, k), (prepared.v, v)):
            fill_tensor(target, tensor)
        return prepared

    def raise_fault(self) -> None:
        """Raises what an earlier call recorded, as far as the host has heard of it; never waits when there was
        nothing."""
        for room in (self.room, *self.kept):
            if room and room.seen.value:
                self._status(room)

    def _status(self, room: Room) -> None:
        if room.last is None:
            return
        kernels, index = kernels_of(self.device.index), self.device.index
        diag = _abi.xst_diag()
        status = on_device(
            index, function("xst_fa_a2a_status"), kernels.handle, byref(room.last.call), stream_of(index), byref(diag)
        )
        room.seen.value = 0
        if status != 0:
            raise failure(status, diag)

    def check(self, timeout_s: float | None = None) -> None:
        """Waits until the current stream has finished, and raises what the calls on it recorded.

        Raises:
            WaitTimeoutError: a peer did not come, or the call did not finish within `timeout_s` (default: twice the
                exchange's).
        """
        if self.device.type != "cuda":
            return
        limit = 2 * self.timeout_s if timeout_s is None else timeout_s
        end = time.monotonic() + limit
        while not torch.cuda.current_stream(self.device).query():
            if time.monotonic() > end:
                raise WaitTimeoutError(
                    f"rank {self.ranks.rank}: call {self.calls} has not finished after {limit:g} s; "
                    "a rank is gone or hangs in the exchange before it"
                )
            time.sleep(1e-4)
        for room in (self.room, *self.kept):
            if room:
                self._status(room)

    def close(self) -> None:
        """Collective: gives the buffers back when all ranks' work has finished."""
        EXCHANGES.pop(self.number, None)
        rooms = [room for room in (*self.kept, self.room) if room]
        self.kept, self.room = [], None
        if rooms:
            torch.cuda.synchronize(self.device)
        for room in rooms:
            call("xst_workspace_destroy", room.handle)
        if self.words:
            self.words.release()
            self.words = None

    def abandon(self) -> None:
        """On this rank alone, after the group has failed."""
        EXCHANGES.pop(self.number, None)
        for room in (*self.kept, self.room):
            if room:
                function("xst_workspace_abandon")(room.handle)
        self.kept, self.room = [], None


def _joined(pieces: Sequence[torch.Tensor]) -> torch.Tensor:
    """All rows, in order of rank. Pieces of one receive buffer with a batch of one already lie so."""
    first = pieces[0]
    if first.shape[0] == 1:
        rows = sum(piece.shape[1] for piece in pieces)
        return first.as_strided(
            (1, rows, *first.shape[2:]), (rows * first.shape[2] * first.shape[3], *first.stride()[1:])
        )
    return torch.cat(list(pieces), dim=1)


def exchange_of(number: int) -> Exchange:
    """An exchange by its number. Raises UsageError when it was closed."""
    try:
        return EXCHANGES[number]
    except KeyError:
        raise UsageError("the exchange of this attention was closed") from None
