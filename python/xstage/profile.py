# SPDX-License-Identifier: Apache-2.0
"""Profiles: a machine as the model sees it."""

from __future__ import annotations

import json
import os
import weakref
from ctypes import byref, c_int64, create_string_buffer
from typing import Any

from . import _abi, _data
from ._library import call, function, text_call, word
from .errors import NoDataError


class Profile:
    """A machine's store paths: drain rate R, issue floor T0 and capacity Q of each, with intervals and valid ranges.

    Read once, checked once, then constant. Everything in it is in `data`, the document of docs/profile.md, in the units
    that end the names (bytes, us, bytes per us); what is not known is None.
    """

    def __init__(self, struct: _abi.xst_profile) -> None:
        self._struct = struct
        weakref.finalize(self, function("xst_profile_free"), byref(struct))
        self.data: dict[str, Any] = json.loads(text_call("xst_profile_print", byref(struct)))

    @classmethod
    def load(cls, name: str | os.PathLike[str] = "h200x2-nvlink") -> Profile:
        """Reads a profile file, or a stored profile by its name ("h200x2-nvlink", "h200-host", ...).

        Raises:
            UsageError: neither a file nor a stored profile.
            ParseError, RangeError, SchemaError: the document is not a profile this version reads.
        """
        struct = _abi.xst_profile()
        call("xst_profile_read", _data.profile_path(name).encode(), byref(struct), None)
        return cls(struct)

    @classmethod
    def parse(cls, text: str) -> Profile:
        """Reads a profile from its JSON text. Raises as `load`."""
        struct, raw = _abi.xst_profile(), text.encode()
        call("xst_profile_parse", b"text", raw, len(raw), byref(struct), None)
        return cls(struct)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes the document whole or not at all.

        Raises:
            ExistsError: the file exists and `force` is not set.
            FileError: it cannot be written.
        """
        call("xst_profile_write", os.fspath(path).encode(), byref(self._struct), int(force))

    @property
    def id(self) -> str:
        """16 hexadecimal digits: hash of the content."""
        return str(self.data["id"])

    @property
    def name(self) -> str:
        """Name for people."""
        return self._struct.name.decode()  # type: ignore[no-any-return]

    @property
    def machine(self) -> dict[str, Any]:
        """Facts of the machine: device, driver, sm_count, date, origin, ..."""
        return dict(self.data["machine"])

    @property
    def sm_count(self) -> int | None:
        """SMs of the device, None when not known."""
        fact = self._struct.machine.sm_count
        return int(fact.value) if fact.known else None

    @property
    def paths(self) -> list[dict[str, Any]]:
        """The store paths, as in the document: target, direction, method, threads and what was read off their rows."""
        return list(self.data["paths"])

    def path_names(self) -> list[str]:
        """ "peer/st16", "peer-bidir/bulk", ...: one name a path, in the order of `paths`."""
        room = create_string_buffer(128)
        return [
            function("xst_path_text")(byref(self._struct.paths[i]), room, len(room)).decode()
            for i in range(self._struct.path_count)
        ]

    def _path(
        self, target: str | None, method: str, direction: str, threads: int, piece_bytes: int, pitch_bytes: int
    ) -> Any:
        """The C path. A target of None is the peer path where there is one, else that of the first path."""
        if target is None:
            kinds = [self._struct.paths[i].target for i in range(self._struct.path_count)]
            aim = _abi.XST_TARGET_PEER if _abi.XST_TARGET_PEER in kinds or not kinds else kinds[0]
        else:
            aim = word("target", target)
        key = _abi.xst_path_key(
            target=aim,
            direction=word("direction", direction),
            method=word("method", method),
            threads=threads,
            piece_bytes=c_int64(piece_bytes).value,
            pitch_bytes=c_int64(pitch_bytes).value,
        )
        path = function("xst_profile_path")(byref(self._struct), byref(key))
        if not path:
            raise NoDataError(
                f"profile {self.name} has no path {target or 'peer'}/{method} ({direction} direction, "
                f"{threads or 256} threads); it has {', '.join(self.path_names())}"
            )
        return path

    def __repr__(self) -> str:
        return f"<xstage.Profile {self.name or '(no name)'} {self.id}: {', '.join(self.path_names())}>"


def as_profile(profile: Profile | str | os.PathLike[str]) -> Profile:
    """A profile as it is, or loaded by name or file."""
    return profile if isinstance(profile, Profile) else Profile.load(profile)


def stored() -> list[str]:
    """Names of the stored profiles that `Profile.load` takes."""
    return _data.profile_names()
