# SPDX-License-Identifier: Apache-2.0
"""The audit: does a kernel's design hold on a machine, by how much, and what to change."""

from __future__ import annotations

import json
import os
from ctypes import byref
from typing import Any

from . import _abi
from ._library import call, text_call
from .errors import UsageError
from .profile import Profile, as_profile
from .shapes import AttentionShape, AttentionTiles, MoeShape, MoeTiles, Shape, Traffic


class Audit:
    """The answer of an audit. `data` is the whole document of docs/audit.md; what the profile does not know is None."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.data = document
        self.sentence: str = document["sentence"]

    @property
    def verdict(self) -> str | None:
        """ "piggyback" (both bounds hold), "reshape" (one fails), or None (the profile lacks what it needs)."""
        return self.data["verdict"]  # type: ignore[no-any-return]

    @property
    def holds(self) -> bool | None:
        """True, False, or None where nothing can be said."""
        return None if self.verdict is None else self.verdict == "piggyback"

    @property
    def numbers(self) -> dict[str, float | None]:
        """The numbers behind the verdict; times in us, volumes in bytes."""
        return dict(self.data["numbers"])

    @property
    def actions(self) -> list[dict[str, Any]]:
        """Changes after which the model says the design holds, best first: what, from, to, predicted_issue_us, text."""
        return list(self.data["actions"])

    def __repr__(self) -> str:
        return f"<xstage.Audit {self.verdict or 'unknown'}: {self.sentence}>"


def audit(
    shape: Shape,
    profile: Profile | str | os.PathLike[str] = "h200x2-nvlink",
    *,
    tiles: AttentionTiles | MoeTiles | None = None,
    peak_tflops: float = 0.0,
    given_tflops: float = 0.0,
    lead: int = 0,
    extrapolate: bool = False,
) -> Audit:
    """Judges a kernel on a machine.

    Args:
        shape: an `AttentionShape`, a `MoeShape`, or a `Traffic` description of any kernel.
        profile: a profile, or its name or file.
        tiles: how the kernel is cut; None takes the defaults. Not for traffic.
        peak_tflops: dense peak of the device; 0: the profile's.
        given_tflops: measured rate, shown beside the peak's numbers; 0: none.
        lead: moe: the lead to examine, in Linear-1 tiles; 0: none.
        extrapolate: read the profile's tables outside their valid range too.

    Returns:
        An `Audit`: verdict, margins, what to change.

    Raises:
        UsageError: `tiles` does not belong to the shape.
        RangeError: a dimension outside its range.
        NoDataError: the profile lacks the path or the rate.
    """
    owner = as_profile(profile)
    options = _abi.xst_audit_options(
        extrapolate=int(extrapolate), peak_tflops=peak_tflops, given_tflops=given_tflops, lead=lead
    )
    found = _abi.xst_audit()
    if isinstance(shape, Traffic):
        if tiles is not None:
            raise UsageError("tiles do not go with a traffic description, which states its bursts itself")
        call("xst_audit_traffic", byref(owner._struct), byref(shape._c()), byref(options), byref(found))
    else:
        name, chosen = tiles_of(shape, tiles)
        call(
            f"xst_audit_{name}",
            byref(owner._struct),
            byref(shape._c()),
            byref(chosen._c()),
            byref(options),
            byref(found),
        )
    found.name = shape.name.encode()[:127]
    document = json.loads(text_call("xst_audit_print", byref(found)))
    return Audit(document)


def tiles_of(
    shape: AttentionShape | MoeShape, tiles: AttentionTiles | MoeTiles | None
) -> tuple[str, AttentionTiles | MoeTiles]:
    """The C name of the kernel and its tiles, the default ones for None."""
    if isinstance(shape, AttentionShape):
        name, kind = "fa_a2a", AttentionTiles
    elif isinstance(shape, MoeShape):
        name, kind = "moe", MoeTiles  # type: ignore[assignment]
    else:
        raise UsageError(f"shape is {type(shape).__name__}; AttentionShape, MoeShape or Traffic is needed")
    if tiles is not None and not isinstance(tiles, kind):
        raise UsageError(f"tiles is {type(tiles).__name__}; {kind.__name__} goes with {type(shape).__name__}")
    return name, tiles or kind()
