# SPDX-License-Identifier: Apache-2.0
"""Ulysses attention as a drop-in: sequence-sharded tensors in and out, heads exchanged before, outputs stored to their
owners by the attention kernel itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F

from ..errors import UsageError
from . import _ops  # noqa: F401  registers the operators
from ._attention import STORES, attend, unwatched
from ._exchange import EXCHANGES, Exchange, exchange_of, split
from ._group import Ranks


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None, key_length: int | None = None
) -> torch.Tensor:
    """Attention on one device by the Hopper kernel.

    Args:
        q: (batch, rows, heads, head_dim) bfloat16 on a CUDA device; head_dim 64 or 128 and contiguous, other strides
            multiples of 8.
        k, v: (batch, keys, heads, head_dim), likewise.
        scale: of the scores; default head_dim ** -0.5.
        key_length: keys that take part, 1..keys; what lies behind is never read. Default all.

    Returns:
        (batch, rows, heads, head_dim), contiguous. Enqueued on the current stream, nothing is waited for; CUDA graphs
        replay it.

    Raises:
        UsageError: dtype, device, layout, gradients.
        RangeError: sizes.
        UnavailableError: no Hopper GPU, or a build without its code.
    """
    keys = -1 if key_length is None else key_length
    if unwatched(q, k, v):
        return attend(q, k, v, keys, scale)
    out: torch.Tensor = torch.ops.xstage.attention.default(q, k, v, keys, _scale(q, scale))
    return out


def _scale(q: torch.Tensor, scale: float | None) -> float:
    return float(q.shape[-1]) ** -0.5 if scale is None else float(scale)


class UlyssesAttention(torch.nn.Module):
    """Attention over a sequence that the ranks of a group share, for xDiT/yunchang and diffusers style code.

    Every rank has its rows of all heads, (batch, rows, heads, head_dim), and gets its rows of the result. In between
    each rank has all rows of its heads: q, k and v are exchanged by torch.distributed, the result by the attention
    kernel, which stores every finished tile straight into the output of the rank that owns its rows.

    Making one is collective where the group has several ranks: all ranks do it in the same order. The attentions of a
    group share one exchange and its buffers.

    Args:
        group: a torch.distributed group; None: all processes, or this one alone where torch.distributed is not
            initialised.
        device: of this rank; None: the current CUDA device.
        backend: "fused", or "torch": the same exchange around scaled_dot_product_attention, on any device. The
            baseline.
        store: how finished tiles leave for other ranks: "st16", "bulk" or "paced"; "": chosen by a table.
        slices: "paced": pieces a tile leaves in.
        timeout_s: a rank that is missing for so long ends the call on the others, with the reason.
        reuse_output: return the exchange's own buffer instead of a copy; it holds until the next attention of this
            group.

    Raises:
        UsageError: an unknown backend or store.
        WaitTimeoutError: not all ranks came.
    """

    def __init__(
        self,
        group: dist.ProcessGroup | None = None,
        *,
        device: torch.device | str | int | None = None,
        backend: str = "fused",
        store: str = "",
        slices: int = 8,
        timeout_s: float = 60.0,
        reuse_output: bool = False,
    ) -> None:
        super().__init__()
        if backend not in ("fused", "torch"):
            raise UsageError(f'backend is "{backend}"; valid are fused, torch')
        if store and store not in STORES:
            raise UsageError(f'store is "{store}"; valid are {", ".join(STORES)}')
        self.backend, self.reuse_output = backend, reuse_output
        together = dist.is_available() and dist.is_initialized()
        self.ranks = dist.get_world_size(group) if together else 1
        self.rank = dist.get_rank(group) if together else 0
        self.exchange = 0
        self.plain = self.ranks == 1 and backend == "fused"
        if self.ranks > 1:
            self.exchange = _shared_exchange(group, _device(device), timeout_s, store, slices).number

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        softmax_scale: float | None = None,
        lengths: Sequence[int] | None = None,
        key_length: int | None = None,
        joint_tensor_query: torch.Tensor | None = None,
        joint_tensor_key: torch.Tensor | None = None,
        joint_tensor_value: torch.Tensor | None = None,
        joint_strategy: str = "none",
        **neutral: Any,
    ) -> torch.Tensor:
        """Attends.

        Args:
            query, key, value: (batch, rows, heads, head_dim), this rank's rows of all heads. "fused": bfloat16 on the
                CUDA device.
            softmax_scale: of the scores; default head_dim ** -0.5.
            lengths: rows of every rank, the same list on all ranks; default: as many as here. `split_lengths` makes an
                even split.
            key_length: keys that take part, counted over the whole sequence in order of rank, text last; default all.
            joint_tensor_query, joint_tensor_key, joint_tensor_value: (batch, text, heads, head_dim), the same on all
                ranks: tokens of a joint model that are not sharded.
            joint_strategy: text rows stand before ("front") or behind ("rear") the rows of the result; "none": there is
                no text.
            neutral: other arguments of the attentions this one replaces (dropout_p=0.0, causal=False, window_size=(-1,
                -1), ...), with the values that change nothing.

        Returns:
            (batch, rows [+ text], heads, head_dim).

        Raises:
            UsageError: dtype, device, layout, gradients, an argument that would change something; calls that differ
                between ranks, on all ranks with both.
            RangeError: sizes.
            WaitTimeoutError: a rank did not come, to this call or to an earlier one.
        """
        if self.plain and joint_strategy == "none" and lengths is None and not neutral:  # the short way
            if unwatched(query, key, value):
                return attend(query, key, value, -1 if key_length is None else key_length, softmax_scale)
            return attention(query, key, value, scale=softmax_scale, key_length=key_length)
        text = _text(joint_tensor_query, joint_tensor_key, joint_tensor_value, joint_strategy)
        _refuse(neutral)
        first, scale, keys = (
            joint_strategy == "front",
            _scale(query, softmax_scale),
            -1 if key_length is None else key_length,
        )
        rows = [query.shape[1]] * self.ranks if lengths is None else list(lengths)
        if len(rows) != self.ranks or rows[self.rank] != query.shape[1]:
            raise UsageError(f"lengths is {rows} and rank {self.rank} of {self.ranks} brings {query.shape[1]} rows")
        if self.backend == "torch":
            return self._unfused(query, key, value, text, rows, keys, scale, first)
        if self.ranks == 1:
            q, k, v = query, key, value
            if text:
                q = torch.cat([text[0], query] if first else [query, text[0]], dim=1)
                k, v = torch.cat([key, text[1]], dim=1), torch.cat([value, text[2]], dim=1)
            return attention(q, k, v, scale=scale, key_length=key_length)
        out: torch.Tensor = torch.ops.xstage.ulysses_attention.default(
            query, key, value, text, rows, self.rank, keys, scale, first, self.reuse_output, self.exchange
        )
        return out

    def _unfused(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        text: list[torch.Tensor],
        rows: list[int],
        keys: int,
        scale: float,
        first: bool,
    ) -> torch.Tensor:
        """The same by torch alone."""
        owned = [length + (text[0].shape[1] if text else 0) for length in rows]
        if self.ranks == 1:
            q_all = torch.cat([text[0], q] if first else [q, text[0]], dim=1) if text else q
            k_all, v_all = (torch.cat([k, text[1]], dim=1), torch.cat([v, text[2]], dim=1)) if text else (k, v)
        else:
            exchange = exchange_of(self.exchange)
            exchange.meet((q, k, v), text, rows, keys, scale, first)
            q_all, k_all, v_all, owned = exchange.assemble(q, k, v, text, rows, first)
        if keys >= 0:
            k_all, v_all = k_all[:, :keys], v_all[:, :keys]
        out = F.scaled_dot_product_attention(
            q_all.transpose(1, 2), k_all.transpose(1, 2), v_all.transpose(1, 2), scale=scale
        ).transpose(1, 2)
        return out if self.ranks == 1 else exchange_of(self.exchange).gather_rows(out, owned, q.shape[2])

    def check(self, timeout_s: float | None = None) -> None:
        """Waits until this stream's work has finished and raises what went wrong in it.

        Args:
            timeout_s: most time to wait; default: twice the exchange's.

        Raises:
            WaitTimeoutError: a rank did not come; says who waited for whom. Or the work did not finish in time.
        """
        if self.exchange:
            exchange_of(self.exchange).check(timeout_s)

    def close(self) -> None:
        """Collective: gives the buffers of the group's exchange back. No attention of this group works afterwards."""
        if self.exchange in EXCHANGES:
            exchange_of(self.exchange).close()

    def extra_repr(self) -> str:
        return f"rank {self.rank} of {self.ranks}, {self.backend}"


def _device(device: torch.device | str | int | None) -> torch.device:
    """With an index where it is a CUDA device."""
    if device is None:
        return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    found = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if found.type == "cuda" and found.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return found


def _shared_exchange(
    group: dist.ProcessGroup | None, device: torch.device, timeout_s: float, store: str, slices: int
) -> Exchange:
    """The exchange of a group, device and settings; made at the first asking."""
    whole = group if group is not None else dist.group.WORLD
    for found in EXCHANGES.values():
        if found.ranks.group is whole and (found.device, found.timeout_s, found.store, found.slices) == (
            device,
            timeout_s,
            store,
            slices,
        ):
            return found
    return Exchange(Ranks(whole, timeout_s), device, timeout_s, store, slices)


def _text(q: torch.Tensor | None, k: torch.Tensor | None, v: torch.Tensor | None, strategy: str) -> list[torch.Tensor]:
    if strategy not in ("none", "front", "rear"):
        raise UsageError(f'joint_strategy is "{strategy}"; valid are none, front, rear')
    given = [x for x in (q, k, v) if x is not None]
    if len(given) != (0 if strategy == "none" else 3):
        raise UsageError(
            f'joint_strategy is "{strategy}" and {len(given)} of joint_tensor_query, joint_tensor_key, '
            "joint_tensor_value are given"
        )
    return given


_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "dropout_p": (0, 0.0),
    "causal": (False,),
    "is_causal": (False,),
    "window_size": ((-1, -1), [-1, -1]),
    "softcap": (0, 0.0),
    "alibi_slopes": (None,),
    "attn_mask": (None,),
    "deterministic": (False, True),
    "return_attn_probs": (False,),
}


def _refuse(arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        if name not in _NEUTRAL:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if not any(value is one or (type(value) is type(one) and value == one) for one in _NEUTRAL[name]):
            raise UsageError(f"{name} is {value!r}; this attention knows {_NEUTRAL[name][0]!r} only")


def ulysses_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, group: dist.ProcessGroup | None = None, **options: Any
) -> torch.Tensor:
    """`UlyssesAttention(group)` for one call; the group's exchange is made at the first one and kept.

    Args:
        query, key, value: as `UlyssesAttention.forward`.
        group: as `UlyssesAttention`.
        options: those of its constructor and of its forward.
    """
    made = {
        name: options.pop(name)
        for name in ("device", "backend", "store", "slices", "timeout_s", "reuse_output")
        if name in options
    }
    made.setdefault("device", query.device)
    out: torch.Tensor = UlyssesAttention(group, **made)(query, key, value, **options)
    return out


def split_lengths(total: int, ranks: int) -> list[int]:
    """Rows of every rank in an even split of `total` rows: the first total % ranks ranks have one more."""
    return split(total, ranks)
