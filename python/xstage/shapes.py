# SPDX-License-Identifier: Apache-2.0
"""What is asked about: shapes of attention and of mixture-of-experts layers, any kernel's traffic, and how it is cut
into tiles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from ctypes import POINTER, byref, c_size_t
from dataclasses import dataclass
from typing import Any, Union

from . import _abi
from ._library import call, function, word
from .errors import UsageError


@dataclass(frozen=True)
class AttentionShape:
    """Attention with the all-to-all behind it (Ulysses), of the whole model.

    Args:
        heads: H, all ranks together.
        head_dim: d.
        seq: M, rows of the whole sequence.
        ranks: devices that exchange.
        batch: B.
        element_bytes: of an output value, 2 for bf16.
        name: for people.
    """

    heads: int
    head_dim: int
    seq: int
    ranks: int = 2
    batch: int = 1
    element_bytes: int = 2
    name: str = ""

    @classmethod
    def preset(cls, name: str, ranks: int = 2) -> AttentionShape:
        """The shape of a real model, by a name of `attention_presets` ("flux1"). Raises UsageError with the nearest
        name."""
        found = POINTER(_abi.xst_fa_preset)()
        call("xst_fa_preset_find", name.encode(), byref(found))
        one = found.contents
        return cls(one.heads, one.head_dim, one.seq, ranks, one.batch, name=name)

    def _c(self) -> _abi.xst_fa_a2a_shape:
        return _abi.xst_fa_a2a_shape(
            batch=self.batch,
            heads=self.heads,
            head_dim=self.head_dim,
            seq=self.seq,
            ranks=self.ranks,
            element_bytes=self.element_bytes,
        )


@dataclass(frozen=True)
class MoeShape:
    """A mixture-of-experts layer.

    Args:
        hidden: H.
        inter: I, width after the gated activation.
        experts: of the model, all ranks together.
        topk: experts of one token.
        tokens: of one rank.
        ranks: devices that exchange.
        element_bytes: of a stored value, 2 for bf16.
        name: for people.
    """

    hidden: int
    inter: int
    experts: int
    topk: int
    tokens: int
    ranks: int = 2
    element_bytes: int = 2
    name: str = ""

    @classmethod
    def preset(cls, name: str, ranks: int = 2) -> MoeShape:
        """The layer of a real model, by a name of `moe_presets` ("qwen3-30b"). Raises UsageError with the nearest
        name."""
        found = POINTER(_abi.xst_moe_preset)()
        call("xst_moe_preset_find", name.encode(), byref(found))
        one = found.contents
        return cls(one.hidden, one.inter, one.experts, one.topk, one.tokens, ranks, name=name)

    def _c(self) -> _abi.xst_moe_shape:
        return _abi.xst_moe_shape(
            hidden=self.hidden,
            inter=self.inter,
            experts=self.experts,
            topk=self.topk,
            tokens=self.tokens,
            ranks=self.ranks,
            element_bytes=self.element_bytes,
        )


class Traffic:
    """Any kernel, by what it stores: the document of docs/traffic.md, as a dictionary or a file.

    Raises:
        ParseError, RangeError: a key or a value that is not valid; unknown keys name the nearest valid one.
    """

    def __init__(self, document: Mapping[str, Any] | str | os.PathLike[str]) -> None:
        self._struct = _abi.xst_traffic()
        if isinstance(document, Mapping):
            raw = json.dumps({"schema": "xstage.traffic/1", **document}).encode()
            call("xst_traffic_parse", b"traffic", raw, len(raw), byref(self._struct))
        else:
            call("xst_traffic_read", os.fspath(document).encode(), byref(self._struct))
        self.name: str = self._struct.kernel.decode()

    def _c(self) -> _abi.xst_traffic:
        return self._struct


@dataclass(frozen=True)
class AttentionTiles:
    """How attention is cut.

    Args:
        tile_rows: rows of an output tile.
        tile_cols: keys of an inner step.
        producers: CTAs; 0: the device's SMs.
        stages: K/V tiles loaded ahead.
        staging_slots: output tiles a CTA can hold back.
        method: "st16", "st4" or "bulk".
        phase: what is known of the bursts: "unknown", "aligned" or "shifted".
        sm_flop_per_us: rate of one SM; 0: the peak's share.
    """

    tile_rows: int = 128
    tile_cols: int = 128
    producers: int = 0
    stages: int = 2
    staging_slots: int = 1
    method: str = "st16"
    phase: str = "unknown"
    sm_flop_per_us: float = 0.0

    def _c(self) -> _abi.xst_fa_a2a_plan:
        return _abi.xst_fa_a2a_plan(
            tile_rows=self.tile_rows,
            tile_cols=self.tile_cols,
            producers=self.producers,
            stages=self.stages,
            staging_slots=self.staging_slots,
            method=word("method", self.method),
            phase=word("phase", self.phase),
            sm_flop_per_us=self.sm_flop_per_us,
        )


@dataclass(frozen=True)
class MoeTiles:
    """How a mixture-of-experts layer is cut.

    Args:
        tile_rows: rows of a tile.
        tile_cols: columns of a tile.
        tile_depth: depth of an inner step.
        producers: CTAs; 0: the device's SMs.
        stages: operand tiles loaded ahead.
        staging_slots: output tiles a CTA can hold back.
        method: "st16", "st4" or "bulk".
        schedule: "wave" or "interleaved".
        act_frac: activation and publish of a Linear-1 tile, as a share of its matrix time.
        sm_flop_per_us: rate of one SM; 0: the peak's share.
    """

    tile_rows: int = 128
    tile_cols: int = 256
    tile_depth: int = 64
    producers: int = 0
    stages: int = 4
    staging_slots: int = 1
    method: str = "st16"
    schedule: str = "wave"
    act_frac: float = 0.1
    sm_flop_per_us: float = 0.0

    def _c(self) -> _abi.xst_moe_plan:
        return _abi.xst_moe_plan(
            tile_rows=self.tile_rows,
            tile_cols=self.tile_cols,
            tile_depth=self.tile_depth,
            producers=self.producers,
            stages=self.stages,
            staging_slots=self.staging_slots,
            method=word("method", self.method),
            schedule=word("schedule", self.schedule),
            act_frac=self.act_frac,
            sm_flop_per_us=self.sm_flop_per_us,
        )


MOE_STORES = ("at_once", "paced")
MOE_DTYPES = ("bf16", "e4m3")
MOE_DEDUPS = ("auto", "on", "off")


def operand_bytes(dtype: str) -> int:
    """What the library calls the type of a layer's operands: 0 is the shape's own. Raises UsageError."""
    if dtype not in MOE_DTYPES:
        raise UsageError(f'dtype is "{dtype}"; valid are {", ".join(MOE_DTYPES)}')
    return MOE_DTYPES.index(dtype)


@dataclass(frozen=True)
class MoeOrder:
    """How the fused layer is carried out; the result does not depend on it, bit for bit, and ranks may differ in it.

    Args:
        schedule: "wave", or "interleaved".
        lead: interleaved: Linear-1 tiles ahead; 0: the knee of the list for the largest call.
        group: interleaved: Linear-2 tiles in a row; with few, weights are read more often.
        tile_rows: 64, 128 or 256. 0: by the rows of an expert in the largest call: 64 up to 64 rows, 256 from 150 to
            250 (bf16), else 128.
        store: how a finished Linear-2 tile leaves, "at_once" or "paced".
        slices: paced: pieces it leaves in, 1, 2, 4 or 8.
        unit: row blocks of one expert whose tiles of a column follow each other, sharing the weights; 0: block by
            block.
        dedup: "on": a row is fetched once for all experts of a rank that its token chose; "off": for each of them;
            "auto": on where tokens choose several and a rank has many choices.
    """

    schedule: str = "wave"
    lead: int = 0
    group: int = 128
    tile_rows: int = 0
    store: str = "at_once"
    slices: int = 1
    unit: int = 0
    dedup: str = "auto"


Shape = Union[AttentionShape, MoeShape, Traffic]


def _presets(name: str) -> list[str]:
    count = c_size_t()
    first = function(name)(byref(count))
    return [first[i].name.decode() for i in range(count.value)]


def attention_presets() -> list[str]:
    """Names that `AttentionShape.preset` takes."""
    return _presets("xst_fa_presets")


def moe_presets() -> list[str]:
    """Names that `MoeShape.preset` takes."""
    return _presets("xst_moe_presets")
