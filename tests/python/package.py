# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: the package of this tree, the tool beside it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")

SOURCE = Path(os.environ.get("XSTAGE_SOURCE", Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("XSTAGE_BIN", str(SOURCE / "build/xstage"))
os.environ["XSTAGE_DATA_DIR"] = str(SOURCE)
sys.path.insert(0, str(SOURCE / "python"))


def tool(*arguments, codes=(0,)):
    """The document the tool prints."""
    run = subprocess.run(
        [BINARY, *arguments, "--json", "-q"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XSTAGE_DATA_DIR": str(SOURCE), "LD_PRELOAD": ""},
    )
    assert run.returncode in codes, run.stderr
    return json.loads(run.stdout)


def same(ours, theirs, where="", digits=8):
    """Documents agree up to printed digits; `ours` may lack what only the tool adds."""
    if isinstance(ours, dict):
        for key in ours:
            assert key in theirs, f"{where}.{key} is ours alone"
            same(ours[key], theirs[key], f"{where}.{key}", digits)
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{where}[{i}]", digits)
    elif isinstance(ours, float) and isinstance(theirs, (int, float)):
        assert abs(ours - theirs) <= 10**-digits * max(abs(ours), abs(theirs), 1e-12), f"{where}: {ours} and {theirs}"
    else:
        assert ours == theirs, f"{where}: {ours!r} and {theirs!r}"
