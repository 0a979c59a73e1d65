# SPDX-License-Identifier: Apache-2.0
"""libxstage: where it is, its functions with their types, and its errors as exceptions.

The library is opened at the first use, not at import. It is looked for in this order: the file that XSTAGE_LIB names;
beside this package (`lib/`, where the wheel puts it; `build/` when the package lies in its source tree); the system's
library path.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _abi
from ._version import __version__
from .errors import UnavailableError, error_of

PACKAGE = Path(__file__).resolve().parent
SONAME = "libxstage.so.0"


def _candidates() -> Iterator[str]:
    given = os.environ.get("XSTAGE_LIB")
    if given:
        yield given
        return
    yield from (
        str(path) for path in (PACKAGE / "lib" / SONAME, PACKAGE.parents[1] / "build" / SONAME) if path.exists()
    )
    yield SONAME


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The opened library.

    Raises:
        UnavailableError: none was found, or it is of another version than this package.
    """
    reasons = []
    for name in _candidates():
        try:
            found = ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
            continue
        version = found.xst_version
        version.restype = ctypes.c_char_p
        text = version().decode()
        if text.split(".")[:2] != __version__.split(".")[:2]:
            raise UnavailableError(f"{name} is libxstage {text}, this package needs {__version__}")
        return found
    raise UnavailableError(
        f"libxstage was not found; run make before pip install, or name its file in XSTAGE_LIB ({'; '.join(reasons)})"
    )


@functools.lru_cache(maxsize=None)
def function(name: str) -> Any:
    """A function of the library with its result and parameter types."""
    try:
        found = getattr(library(), name)
    except AttributeError:
        raise UnavailableError(f"this libxstage has no {name}") from None
    found.restype, found.argtypes = _abi.FUNCTIONS[name]
    return found


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status and takes a diag last; an error becomes an exception."""
    diag = _abi.xst_diag()
    status = function(name)(*arguments, ctypes.byref(diag))
    if status != 0:
        raise failure(status, diag)


def failure(status: int, diag: _abi.xst_diag) -> Exception:
    """The exception for a status with its diag."""
    sentence = diag.text.decode(errors="replace")
    if not sentence:
        general = function("xst_status_sentence")(status)
        sentence = general.decode()
    return error_of(status, sentence, diag.line)


_free = ctypes.CDLL(None).free
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


def text_call(name: str, *arguments: Any) -> str:
    """Calls a function whose last output is text that the caller frees."""
    address = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(address))
    try:
        return ctypes.string_at(address.value or 0).decode()
    finally:
        _free(address)


def free(address: Any) -> None:
    """Releases what the library allocated with malloc for its caller."""
    _free(ctypes.cast(address, ctypes.c_void_p))


def word(kind: str, text: str) -> int:
    """The enumerator that `text` names: word("method", "st16").

    Raises:
        UsageError: it names none.
    """
    value = ctypes.c_int()
    if function(f"xst_{kind}_parse")(text.encode(), ctypes.byref(value)) != 0:
        raise error_of(_abi.XST_ERR_USAGE, f'{kind} is "{text}"; valid are {", ".join(words(kind))}')
    return value.value


@functools.lru_cache(maxsize=None)
def words(kind: str) -> tuple[str, ...]:
    """All words of an enumeration, in order."""
    found: list[str] = []
    while True:
        text = function(f"xst_{kind}_text")(len(found)).decode()
        if text == "?":
            return tuple(found)
        found.append(text)


def version() -> str:
    """Version of the library that was found, "major.minor.patch"."""
    text: bytes = function("xst_version")()
    return text.decode()
