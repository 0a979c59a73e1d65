# SPDX-License-Identifier: Apache-2.0
"""torch.library operators: torch.ops.xstage.attention and torch.ops.xstage.ulysses_attention, with shapes for fake
tensors.

Both run on CUDA tensors, on the current stream; neither mutates its inputs, and the output aliases none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ._attention import attend
from ._exchange import exchange_of

LIBRARY = torch.library.Library("xstage", "DEF")
LIBRARY.define(
    "attention(Tensor q, Tensor k, Tensor v, int key_len, float scale) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,)
)
LIBRARY.define(
    "ulysses_attention(Tensor q, Tensor k, Tensor v, Tensor[] text, SymInt[] lengths, int rank, int key_len, "
    "float scale, bool text_first, bool borrow, int exchange) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, key_len: int, scale: float) -> torch.Tensor:
    return attend(q, k, v, key_len, scale)


def _ulysses(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    text: Sequence[torch.Tensor],
    lengths: Sequence[int],
    rank: int,
    key_len: int,
    scale: float,
    text_first: bool,
    borrow: bool,
    exchange: int,
) -> torch.Tensor:
    return exchange_of(exchange).attend(q, k, v, text, lengths, key_len, scale, text_first, borrow)


# A CPU tensor is answered by the same functions: their first check says what is needed.
for _key in ("CUDA", "CPU"):
    LIBRARY.impl("attention", _attention, _key)
    LIBRARY.impl("ulysses_attention", _ulysses, _key)


@torch.library.register_fake("xstage::attention", lib=LIBRARY)
def _fake_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, key_len: int, scale: float) -> torch.Tensor:
    return torch.empty_like(q, memory_format=torch.contiguous_format)


@torch.library.register_fake("xstage::ulysses_attention", lib=LIBRARY)
def _fake_ulysses(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    text: Sequence[torch.Tensor],
    lengths: Sequence[int],
    rank: int,
    key_len: int,
    scale: float,
    text_first: bool,
    borrow: bool,
    exchange: int,
) -> torch.Tensor:
    rows = lengths[rank] + (text[0].shape[1] if len(text) else 0)
    return q.new_empty((q.shape[0], rows, q.shape[2], q.shape[3]))
