# SPDX-License-Identifier: Apache-2.0
"""Where stored profiles and recorded rows are: the folders that hold `profiles/` and `data/`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from ._library import PACKAGE, SONAME, library
from .errors import FileError, UsageError


def _library_folder() -> Path | None:
    """The folder of the library that was opened."""
    name = library()._name
    if os.path.isabs(name):
        return Path(name).resolve().parent
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if SONAME.split(".so")[0] + ".so" in line:
                return Path(line.split(maxsplit=5)[5].strip()).resolve().parent
    return None


def roots() -> Iterator[Path]:
    """Folders in the order they are searched: XSTAGE_DATA_DIR, the user's data, the package's, the library's."""
    if os.environ.get("XSTAGE_DATA_DIR"):
        yield Path(os.environ["XSTAGE_DATA_DIR"])
    home = os.environ.get("XDG_DATA_HOME")
    yield Path(home) / "xstage" if home else Path.home() / ".local/share/xstage"
    yield PACKAGE / "share"
    if (PACKAGE.parents[1] / "include/xstage").is_dir():  # in the source tree
        yield PACKAGE.parents[1]
    folder = _library_folder()
    if folder:
        yield folder.parent / "share/xstage"
        yield folder.parent.parent / "share/xstage"  # lib/x86_64-linux-gnu
        yield folder.parent


def find(kind: str, file: str) -> Path | None:
    """The first `root/kind/file` there is."""
    return next((path for root in roots() if (path := root / kind / file).is_file()), None)


def recorded(file: str) -> Path:
    """A file of recorded rows.

    Raises:
        FileError: it is in none of the data folders.
    """
    path = find("data", file)
    if path is None:
        raise FileError(f"data/{file}: the recorded rows are in none of the data folders; XSTAGE_DATA_DIR names one")
    return path


def profile_names() -> list[str]:
    """Names of the stored profiles, sorted."""
    return sorted({path.stem for root in roots() for path in root.glob("profiles/*.json")})


def profile_path(name: str | os.PathLike[str]) -> str:
    """A file as it is, or the file of a stored profile.

    Raises:
        UsageError: neither a file nor a stored profile; names the nearest one.
    """
    text = os.fspath(name)
    if os.path.exists(text) or "/" in text:
        return text
    path = find("profiles", text + ".json")
    if path is not None:
        return str(path)
    known = profile_names()
    near = get_close_matches(text, known, 1)
    hint = f"; did you mean {near[0]}?" if near else f"; stored are {', '.join(known) or 'none'}"
    raise UsageError(f"{text}: neither a file nor a stored profile{hint}")
