# SPDX-License-Identifier: Apache-2.0
"""The documents say what is so: every block of docs/ten-minutes.md and docs/python.md runs, and prints what stands
under it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from package import BINARY, SOURCE

NEEDS = ("torch", "gpu")  # labels of blocks that not every machine can run; gpu: torch with a Hopper GPU


def blocks(name):
    """[(kind, label, text, what follows as ```text)]"""
    found = re.findall(r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", (SOURCE / "docs" / name).read_text(), re.M | re.S)
    return [
        (kind, label, text, found[at + 1][2] if at + 1 < len(found) and found[at + 1][0] == "text" else None)
        for at, (kind, label, text) in enumerate(found)
        if kind != "text"
    ]


def has(need):
    try:
        import torch
    except ImportError:
        return False
    return need == "torch" or (torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0))


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A folder where out/ is empty, examples/ and data are the tree's, and `xstage` is the tool of this build."""
    for name in ("examples", "profiles", "data"):
        (tmp_path / name).symlink_to(SOURCE / name)
    for folder in ("out", "bin"):
        (tmp_path / folder).mkdir()
    if Path(BINARY).exists():
        (tmp_path / "bin/xstage").symlink_to(BINARY)
    for name, module in (("python", ""), ("torchrun", " -m torch.distributed.run")):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(SOURCE / "python"))
    return tmp_path


@pytest.mark.parametrize("name", ["ten-minutes.md", "python.md"])
def test_blocks_run(name, scratch, capsys):
    names = {"__name__": "__main__"}
    ran = 0
    for kind, label, text, expected in blocks(name):
        if label == "install" or (label in NEEDS and not has(label)):
            if kind == "python":
                compile(text, name, "exec")
            continue
        if kind == "sh":
            codes = (1,) if label == "audit-fails" else (0,)
            run = subprocess.run(
                ["sh", "-ec", text], capture_output=True, text=True, check=False, env={**os.environ, "LD_PRELOAD": ""}
            )
            assert run.returncode in codes, f"{text}{run.stdout}{run.stderr}"
        elif kind == "python":
            capsys.readouterr()
            exec(compile(text, f"{name}: {text.splitlines()[0]}", "exec"), names)
            printed = capsys.readouterr().out
            if expected is not None:
                assert printed == expected, f"under\n{text}stands\n{expected}and it prints\n{printed}"
        ran += 1
    assert ran >= 3


def test_the_reference_is_up_to_date():
    run = subprocess.run(
        [sys.executable, SOURCE / "scripts/make_python_api.py", "-o", "-"], capture_output=True, text=True, check=True
    )
    assert run.stdout == (SOURCE / "docs/api-python.md").read_text(), (
        "a docstring changed: run scripts/make_python_api.py"
    )


def test_the_example_with_pictures(scratch):
    run = subprocess.run(
        [sys.executable, "examples/plan_a_model.py", "wan2.1-14b", "--ranks", "4", "-o", "out/wan"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": os.environ.get("LD_PRELOAD", "")},
    )
    assert run.returncode == 0, run.stderr
    for picture in ("before.svg", "after.svg"):
        assert (scratch / "out/wan" / picture).read_text().startswith("<svg"), run.stdout
    assert "plan: " in run.stdout and "reshape: " in run.stdout
