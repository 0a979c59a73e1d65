# SPDX-License-Identifier: Apache-2.0
"""The processes of a torch.distributed group: agreement on shapes, and the all-gather that the C library asks for."""

from __future__ import annotations

import hashlib
from ctypes import CFUNCTYPE, POINTER, c_int, c_size_t, c_void_p, cast, memmove, string_at
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .. import _abi
from ..errors import UsageError, WaitTimeoutError

_GATHER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p, POINTER(_abi.xst_diag))


class Ranks:
    """Who takes part. Talks over a gloo group of its own, so that a rank that does not come is noticed within
    `timeout_s`.

    Making it is collective: all ranks of `group` do it, in the same order among groups.
    """

    def __init__(self, group: dist.ProcessGroup | None, timeout_s: float) -> None:
        self.group = group if group is not None else dist.group.WORLD
        self.rank, self.ranks = dist.get_rank(self.group), dist.get_world_size(self.group)
        self.timeout_s = timeout_s
        members = dist.get_process_group_ranks(self.group)
        self.control = dist.new_group(
            members, backend="gloo", timeout=timedelta(seconds=timeout_s), use_local_synchronization=True
        )
        self.direct = dist.get_backend(self.group) == "nccl"  # exchanges device memory itself
        self._gather = _GATHER(self._gather_bytes)
        self.c_group = _abi.xst_group(
            rank=self.rank, ranks=self.ranks, gather=cast(self._gather, c_void_p), context=None
        )

    def gather(self, mine: torch.Tensor) -> list[torch.Tensor]:
        """One CPU tensor of every rank, in order of rank. Raises WaitTimeoutError when a rank does not come."""
        found = [torch.empty_like(mine) for _ in range(self.ranks)]
        try:
            dist.all_gather(found, mine, group=self.control)
        except RuntimeError as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise WaitTimeoutError(
                f"rank {self.rank}: not all {self.ranks} ranks came within {self.timeout_s:g} s, "
                f"or one is gone ({first})"
            ) from error
        return found

    def agree(self, what: str, text: str) -> None:
        """Returns when all ranks gave the same text.

        Raises:
            UsageError: on all ranks, with both texts, where they differ. WaitTimeoutError: a rank did not come.
        """
        room, raw = 512, text.encode()
        # A long text is cut, its hash is not: lists of many ranks may differ behind the cut.
        sent = hashlib.sha256(raw).digest() + raw[:room].ljust(room, b"\0")
        found = [one.numpy().tobytes() for one in self.gather(torch.frombuffer(bytearray(sent), dtype=torch.uint8))]
        for rank, other in enumerate(found):
            if other != found[0]:
                first, second = (one[32:].rstrip(b"\0").decode(errors="replace") for one in (found[0], other))
                raise UsageError(f"{what} differ between ranks: rank 0 has {first}, rank {rank} has {second}")

    def _gather_bytes(self, _context: Any, mine: int, size: int, all_out: int, diag: Any) -> int:
        """The C library's all-gather; nothing may be raised through C."""
        try:
            blob = torch.frombuffer(bytearray(string_at(mine, size)), dtype=torch.uint8)
            whole = b"".join(one.numpy().tobytes() for one in self.gather(blob))
            memmove(all_out, whole, len(whole))
            return _abi.XST_OK
        except Exception as error:  # noqa: BLE001
            if diag:
                diag.contents.status = _abi.XST_ERR_TIMEOUT
                diag.contents.text = str(error).encode()[: _abi.XST_DIAG_TEXT_BYTES - 1]
            return _abi.XST_ERR_TIMEOUT
