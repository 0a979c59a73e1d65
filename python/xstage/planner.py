# SPDX-License-Identifier: Apache-2.0
"""The planner: what to launch, predicted for every candidate, with the reason each one lost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from ctypes import byref, c_int64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abi
from ._library import call, function, text_call, word
from .errors import RangeError, UsageError
from .profile import Profile, as_profile
from .shapes import (
    MOE_DTYPES,
    MOE_STORES,
    AttentionShape,
    MoeOrder,
    MoeShape,
    MoeTiles,
    Shape,
    Traffic,
    operand_bytes,
)


class Plan:
    """The answer of the planner. `data` is the whole document of docs/plan.md; what cannot be predicted is None."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.data = document

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """Reads a saved plan and checks it. Raises ParseError, RangeError, FileError."""
        found = _abi.xst_plan()
        call("xst_plan_read", os.fspath(path).encode(), byref(found))
        return _taken(found)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes the document whole or not at all. Raises ExistsError, FileError."""
        raw = (json.dumps(self.data, indent=1) + "\n").encode()
        call("xst_text_write", os.fspath(path).encode(), raw, len(raw), int(force))

    @property
    def chosen(self) -> dict[str, Any] | None:
        """What to launch: settings, predicted_us and its parts. None when nothing could be predicted."""
        return self.data["chosen"]  # type: ignore[no-any-return]

    @property
    def considered(self) -> list[dict[str, Any]]:
        """Every candidate, from simple to involved, with predicted_us and the reason it won or lost."""
        return list(self.data["considered"])

    @property
    def sentence(self) -> str:
        """The choice for a person."""
        return str(self.data["sentence"])

    def __repr__(self) -> str:
        return f"<xstage.Plan {self.sentence}>"


def _taken(found: _abi.xst_plan) -> Plan:
    try:
        return Plan(json.loads(text_call("xst_plan_print", byref(found))))
    finally:
        function("xst_plan_free")(byref(found))


def _methods(words: Sequence[str] | None) -> int:
    """One bit a store method; None: the default set."""
    return sum(1 << word("method", text) for text in dict.fromkeys(words or ()))


def routing(shape: MoeShape, kind: str = "uniform", skew: float = 2.0) -> NDArray[np.int64]:
    """Made-up routing, reproducible: rows that each expert of the model receives from all ranks together.

    Args:
        shape: the layer.
        kind: "uniform", "zipf" (expert i in proportion to 1 / (i + 1)^skew), "hot-expert" (one takes `skew` times the
            mean) or "hot-rank" (the first rank's experts take `skew` times the mean).
        skew: see `kind`.
    """
    counts = np.zeros(shape.experts, dtype=np.int64)
    call("xst_routing_make", word("routing", kind), skew, byref(shape._c()), counts.ctypes.data_as(_PI64))
    return counts


def experts_of(shape: MoeShape, rank: int) -> range:
    """The experts that a rank holds. Raises RangeError where the shape has no such rank."""
    if shape.ranks < 1:
        raise RangeError(f"ranks is {shape.ranks}; at least 1 is needed")
    if not 0 <= rank < shape.ranks:
        raise RangeError(f"rank is {rank}, outside 0..{shape.ranks - 1}")
    first, end = c_int64(), c_int64()
    function("xst_moe_experts_of")(byref(shape._c()), rank, byref(first), byref(end))
    return range(first.value, end.value)


_PI64 = _abi.FUNCTIONS["xst_routing_make"][1][3]


def counts_array(counts: ArrayLike | None, shape: MoeShape, kind: str, skew: float) -> NDArray[np.int64]:
    """Rows of each of the model's experts: the caller's, or made up."""
    if counts is None:
        return routing(shape, kind, skew)
    found = np.ascontiguousarray(counts, dtype=np.int64)
    if found.shape != (shape.experts,):
        raise UsageError(f"counts has shape {found.shape}; one number for each of {shape.experts} experts is needed")
    return found


def plan(
    shape: Shape,
    profile: Profile | str | os.PathLike[str] = "h200x2-nvlink",
    *,
    methods: Sequence[str] | None = None,
    peak_tflops: float = 0.0,
    given_tflops: float = 0.0,
    producers: int = 0,
    phase: str = "unknown",
    tiles: MoeTiles | None = None,
    dtype: str = "bf16",
    counts: ArrayLike | None = None,
    routing: str = "uniform",
    skew: float = 2.0,
    rank: int | None = None,
    extrapolate: bool = False,
) -> Plan:
    """Chooses what to launch.

    Args:
        shape: an `AttentionShape`, a `MoeShape`, or a `Traffic` description of any kernel.
        profile: a profile, or its name or file.
        methods: store methods considered, e.g. ("st16", "bulk"); None: the default set.
        peak_tflops: dense peak of the device; 0: the profile's.
        given_tflops: measured rate; 0: the peak is taken.
        producers: CTAs; 0: the profile's SM count.
        phase: attention: "unknown" or "aligned" (bursts start together), "shifted" (they drift).
        tiles: moe: how the layer is cut; None: the defaults.
        dtype: moe: "bf16" or "e4m3", whose rate `given_tflops` is.
        counts: moe: rows of each of the model's experts; None: made up by `routing` and `skew`.
        routing: moe: "uniform", "zipf", "hot-expert" or "hot-rank".
        skew: moe: see `routing()`.
        rank: moe: the rank planned for; None: the one with most rows.
        extrapolate: read the profile's tables outside their valid range too.

    Returns:
        A `Plan`: the choice, the runner-up, every candidate with its reason.

    Raises:
        UsageError: an argument that does not go with the shape, or a word that is not valid.
        RangeError: a dimension outside its range.
        NoDataError: the profile lacks what is needed.
    """
    owner = as_profile(profile)
    found = _abi.xst_plan()
    if isinstance(shape, MoeShape):
        _plan_moe(
            owner,
            shape,
            tiles,
            counts_array(counts, shape, routing, skew),
            rank,
            methods,
            peak_tflops,
            given_tflops,
            producers,
            operand_bytes(dtype),
            extrapolate,
            found,
        )
        return _taken(found)
    if tiles is not None or counts is not None or rank is not None or dtype != "bf16":
        raise UsageError("tiles, dtype, counts and rank go with a MoeShape")
    if isinstance(shape, AttentionShape):
        fa = _abi.xst_plan_fa_options(
            extrapolate=int(extrapolate),
            peak_tflops=peak_tflops,
            given_tflops=given_tflops,
            producers=producers,
            phase=word("phase", phase),
            methods=_methods(methods),
        )
        call("xst_plan_fa_a2a", byref(owner._struct), byref(shape._c()), byref(fa), byref(found))
    elif isinstance(shape, Traffic):
        traffic = _abi.xst_plan_traffic_options(extrapolate=int(extrapolate), methods=_methods(methods))
        call("xst_plan_traffic", byref(owner._struct), byref(shape._c()), byref(traffic), byref(found))
    else:
        raise UsageError(f"shape is {type(shape).__name__}; AttentionShape, MoeShape or Traffic is needed")
    found.name = shape.name.encode()[:127]
    return _taken(found)


def _plan_moe(
    owner: Profile,
    shape: MoeShape,
    tiles: MoeTiles | None,
    counts: NDArray[np.int64],
    rank: int | None,
    methods: Sequence[str] | None,
    peak_tflops: float,
    given_tflops: float,
    producers: int,
    bytes_each: int,
    extrapolate: bool,
    found: _abi.xst_plan,
) -> None:
    if rank is None:
        rank = max(range(max(shape.ranks, 1)), key=lambda r: int(counts[slice(*_ends(shape, r))].sum()))
    mine = np.ascontiguousarray(counts[slice(*_ends(shape, rank))])
    cut = (tiles or MoeTiles())._c()
    cut.producers = producers or cut.producers
    options = _abi.xst_plan_moe_options(
        extrapolate=int(extrapolate),
        peak_tflops=peak_tflops,
        given_tflops=given_tflops,
        methods=_methods(methods),
        operand_bytes=bytes_each,
    )
    call(
        "xst_plan_moe",
        byref(owner._struct),
        byref(shape._c()),
        byref(cut),
        byref(options),
        rank,
        mine.ctypes.data_as(_PI64),
        len(mine),
        byref(found),
    )
    found.name = shape.name.encode()[:127]


def _ends(shape: MoeShape, rank: int) -> tuple[int, int]:
    experts = experts_of(shape, rank)
    return experts.start, experts.stop


def moe_order(
    shape: MoeShape,
    profile: Profile | str | os.PathLike[str] = "h200x2-nvlink",
    *,
    dtype: str = "bf16",
    counts: ArrayLike | None = None,
    routing: str = "uniform",
    skew: float = 2.0,
    rank: int = 0,
    tile_rows: int = 128,
    ctas: int = 0,
    given_tflops: float = 0.0,
    extrapolate: bool = False,
) -> MoeOrder:
    """What the fused layer is told for a step's routing, in its own units: the least predicted candidate that it can
    run.

    Args:
        shape: the layer, with the tokens of the step.
        profile: a profile, or its name or file.
        dtype: "bf16" or "e4m3", whose rate `given_tflops` is.
        counts: rows of each of the model's experts; None: made up by `routing` and `skew`.
        routing: "uniform", "zipf", "hot-expert" or "hot-rank".
        skew: see `routing()`.
        rank: whose order.
        tile_rows: 64, 128 or 256.
        ctas: of the grid; 0: the profile's SM count.
        given_tflops: measured rate of the device; 0: the peak is taken.
        extrapolate: read the profile's tables outside their valid range too.

    Raises:
        RangeError: a dimension outside its range.
        NoDataError: nothing that the kernel can run could be predicted.
    """
    owner = as_profile(profile)
    whole = counts_array(counts, shape, routing, skew)
    mine = np.ascontiguousarray(whole[slice(*_ends(shape, rank))])
    grid = ctas or owner.sm_count or 132
    tiles = MoeTiles(tile_rows=tile_rows, producers=grid // (2 if tile_rows == 256 else 1))._c()
    options = _abi.xst_plan_moe_options(
        extrapolate=int(extrapolate), given_tflops=given_tflops, operand_bytes=operand_bytes(dtype)
    )
    setup, choice, order = _abi.xst_moe_setup(), _abi.xst_moe_choice(), _abi.xst_moe_order()
    call("xst_moe_setup_make", byref(owner._struct), byref(shape._c()), byref(tiles), byref(options), byref(setup))
    room = np.empty(-(-function("xst_moe_workspace_bytes")(byref(setup)) // 8))
    call(
        "xst_moe_choose",
        byref(setup),
        mine.ctypes.data_as(_PI64),
        len(mine),
        room.ctypes.data,
        room.nbytes,
        byref(choice),
    )
    layer = _abi.xst_moe_layer(
        hidden=shape.hidden,
        inter=shape.inter,
        experts=shape.experts,
        topk=shape.topk,
        tokens_most=shape.tokens,
        ranks=shape.ranks,
        ctas=grid,
        dtype=MOE_DTYPES.index(dtype),
    )
    call("xst_moe_order_of", byref(setup), byref(choice), byref(layer), byref(order))
    schedule = function("xst_schedule_text")(order.schedule).decode()
    return MoeOrder(
        schedule, order.lead, order.group, order.tile_rows, MOE_STORES[order.store], order.slices, order.unit
    )
