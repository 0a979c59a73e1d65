# SPDX-License-Identifier: Apache-2.0
"""Samples: measured rows of the burst probe, as NumPy tables."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from ctypes import Structure, byref, string_at
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _abi
from ._library import call, function, words
from .errors import UsageError

# kind of row: (struct, pointer member, count member, words of its text columns, writer)
_KINDS: dict[str, tuple[type[Structure], str, str, str]] = {
    "burst": (_abi.xst_sample, "rows", "row_count", "xst_samples_write"),
    "bystander": (_abi.xst_bystander_sample, "bystanders", "bystander_count", "xst_samples_write_bystanders"),
    "loop": (_abi.xst_loop_sample, "loops", "loop_count", "xst_samples_write_loops"),
    "producer": (_abi.xst_producer_sample, "producers", "producer_count", "xst_samples_write_producers"),
}
_WORDS = {
    "mode": "mode",
    "target": "target",
    "direction": "direction",
    "flow": "flow",
    "method": "method",
    "op": "bystander_op",
    "quantity": "quantity",
    "model": "model",
    "rows": "rows",
}


def table(pointer: Any, count: int, struct: type[Structure]) -> NDArray[np.void]:
    """A copy of `count` C structs as a structured array; enumerations become their words."""
    plain = np.dtype(struct)
    fields = [
        (name, "U16" if name in _WORDS else plain.fields[name][0])  # type: ignore[index]
        for name in plain.names or ()
    ]
    found = np.empty(count, dtype=fields)
    if count == 0:
        return found
    raw: Any = np.frombuffer(string_at(pointer, count * plain.itemsize), dtype=plain)
    for name in plain.names or ():
        found[name] = np.array(words(_WORDS[name]))[raw[name]] if name in _WORDS else raw[name]
    return found


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise UsageError(f'kind is "{kind}"; valid are {", ".join(_KINDS)}')


class Samples:
    """Rows that a probe, a synthetic machine or a file gave; the columns are those of docs/profile.md.

    Four kinds: "burst", "bystander" (local operations after a burst), "loop" (local loads beside senders) and
    "producer" (one row for each producer of a run).
    """

    def __init__(self) -> None:
        self._struct = _abi.xst_samples()
        weakref.finalize(self, function("xst_samples_free"), byref(self._struct))

    @classmethod
    def read(cls, *paths: str | os.PathLike[str]) -> Samples:
        """Reads CSV files; the header tells the kind of row.

        Raises:
            ParseError, RangeError: with file, line, column and value.
            FileError: a file cannot be read.
        """
        found = cls()
        for path in paths:
            call("xst_samples_read", os.fspath(path).encode(), byref(found._struct))
        return found

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Samples:
        """The same from CSV texts."""
        found = cls()
        for text in texts:
            raw = text.encode()
            call("xst_samples_parse", b"text", raw, len(raw), byref(found._struct))
        return found

    def table(self, kind: str = "burst") -> NDArray[np.void]:
        """A copy of the rows of one kind: a structured array with one field a column, text columns as words. Times in
        us."""
        _check_kind(kind)
        struct, rows, count, _ = _KINDS[kind]
        return table(getattr(self._struct, rows), getattr(self._struct, count), struct)

    def counts(self) -> dict[str, int]:
        """Rows of each kind."""
        return {kind: int(getattr(self._struct, count)) for kind, (_, _, count, _) in _KINDS.items()}

    def write(self, path: str | os.PathLike[str], kind: str = "burst", force: bool = False) -> None:
        """Writes the rows of one kind as CSV, whole or not at all.

        Raises:
            ExistsError: the file exists and `force` is not set.
        """
        _check_kind(kind)
        call(_KINDS[kind][3], os.fspath(path).encode(), byref(self._struct), int(force))

    def __len__(self) -> int:
        return sum(self.counts().values())

    def __repr__(self) -> str:
        return "<xstage.Samples " + ", ".join(f"{count} {kind}" for kind, count in self.counts().items() if count) + ">"
