# SPDX-License-Identifier: Apache-2.0
"""The laws: what a burst costs on a machine, for whole grids of burst shapes at once."""

from __future__ import annotations

import os
from ctypes import POINTER, cast
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abi
from ._library import call, function
from .profile import Profile, as_profile

_STATE = ("known", "extrapolated", "reason")
FIELDS = tuple(name for name, *_ in _abi.xst_timing._fields_ if name not in _STATE)
_NEEDS: dict[str, int] = {
    "drain_us": 1,
    "issue_floor_us": 2,
    "issue_us": 3,
    "issue_aligned_us": 7,
    "overhead_us": 3,
    "period_us": 3,
    "period_aligned_us": 7,
    "recovery_gap_us": 3,
    "isolated_issue_us": 7,
    "backlog_bytes": 3,
    "capacity_bytes": 4,
    "margin_rate_bytes": 3,
    "margin_capacity_bytes": 7,
    "release_floor_us": 8,
    "release_us": 9,
    "release_isolated_us": 25,
    "completion_coupled_period_us": 1,
    "ideal_period_us": 1,
    "loggp_period_us": 3,
}


class Prediction:
    """Every law for every burst shape. Each name of `FIELDS` is an attribute, an array of the broadcast shape; NaN
    where the profile does not know what the law needs. Times in us, volumes in bytes; docs/model.md has the equations.

    `reasons` says why the first missing value of each shape is missing ("" when none is), `extrapolated` where a table
    was read outside its valid range.
    """

    def __init__(self, raw: NDArray[np.void], shape: tuple[int, ...]) -> None:
        known = raw["known"]
        self._values: dict[str, NDArray[np.float64]] = {}
        for name in FIELDS:
            needs = _NEEDS.get(name, 0)
            self._values[name] = np.where((known & needs) == needs, raw[name], np.nan).reshape(shape)
        sentence = function("xst_reason_sentence")
        self.extrapolated: NDArray[np.bool_] = (raw["extrapolated"] != 0).reshape(shape)
        self.reasons: NDArray[np.str_] = np.array([sentence(int(reason)).decode() for reason in raw["reason"]]).reshape(
            shape
        )

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        try:
            return self.__dict__["_values"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"a prediction has no {name}; it has {', '.join(FIELDS)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *FIELDS]

    def as_dict(self) -> dict[str, NDArray[np.float64]]:
        """All arrays by name."""
        return dict(self._values)


def predict(
    profile: Profile | str | os.PathLike[str],
    producers: ArrayLike,
    bytes_per_producer: ArrayLike,
    gap_us: ArrayLike = 0.0,
    *,
    method: str = "st16",
    target: str | None = None,
    direction: str = "one",
    threads: int = 0,
    piece_bytes: int = 0,
    pitch_bytes: int = 0,
    extrapolate: bool = False,
) -> Prediction:
    """What bursts cost: `producers` CTAs write `bytes_per_producer` bytes each, then do `gap_us` of useful work, again
    and again.

    Args:
        profile: a profile, or its name or file.
        producers: K, 1 or more. Arrays broadcast against each other.
        bytes_per_producer: B, 1 or more.
        gap_us: G, 0 or more.
        method: "st16", "st4" or "bulk".
        target: "peer", "host" or "local"; None: peer where the profile has it, else its first path's.
        direction: "one" or "both".
        threads: of a producer; 0: 256.
        piece_bytes: bytes of one contiguous piece; 0: one block.
        pitch_bytes: distance between pieces; 0: one block.
        extrapolate: read the profile's tables outside their valid range too.

    Returns:
        A `Prediction` of the broadcast shape.

    Raises:
        RangeError: a burst that is none (K < 1, B < 1, G < 0, not finite).
        NoDataError: the profile has no such path.
    """
    owner = as_profile(profile)
    path = owner._path(target, method, direction, threads, piece_bytes, pitch_bytes)
    arrays = np.broadcast_arrays(
        *(np.asarray(value, dtype=np.float64) for value in (producers, bytes_per_producer, gap_us))
    )
    shape, count = arrays[0].shape, int(arrays[0].size)
    bursts = np.ascontiguousarray(np.stack([array.ravel() for array in arrays], axis=1))
    raw: NDArray[Any] = np.zeros(count, dtype=np.dtype(_abi.xst_timing))
    if count:
        call(
            "xst_timing_predict_many",
            path,
            bursts.ctypes.data_as(POINTER(_abi.xst_burst)),
            count,
            int(extrapolate),
            cast(raw.ctypes.data, POINTER(_abi.xst_timing)),
        )
    return Prediction(raw, shape)
