# SPDX-License-Identifier: Apache-2.0
"""The wheel builds without a network, carries library and data, and works where nothing else of the tree is in
sight."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from package import SOURCE

PROGRAM = """
import xstage
assert "site" in xstage.__file__, xstage.__file__
machine = xstage.calibrate("recorded")
print(xstage.version(), machine.profile.id, xstage.Profile.load("paper-148sm").name,
xstage.audit(xstage.AttentionShape.preset("flux1")).verdict)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("a sanitized library is not for wheels")
    for module in ("pip", "setuptools", "wheel"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            pytest.skip(f"this Python has no {module}")
    folder = tmp_path_factory.mktemp("wheel")
    # a copy, so that the build leaves nothing in the tree
    ignore = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(SOURCE / "python", folder / "tree/python", ignore=ignore)
    for name in ("profiles", "data"):
        os.symlink(SOURCE / name, folder / "tree" / name)
    library = os.environ.get("XSTAGE_LIB", str(SOURCE / "build/libxstage.so"))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-index",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            folder,
            folder / "tree/python",
        ],
        check=True,
        env={**os.environ, "XSTAGE_LIB": library},
    )
    return next(Path(folder).glob("*.whl"))


def test_what_is_in_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith("xstage-0.1.0-py3-none-linux_")
    for name in (
        "xstage/py.typed",
        "xstage/lib/libxstage.so.0",
        "xstage/share/profiles/h200x2-nvlink.json",
        "xstage/share/data/h200x2-bursts.csv",
    ):
        assert name in names, name
    modules = {str(path.relative_to(SOURCE / "python")) for path in (SOURCE / "python/xstage").rglob("*.py")}
    assert modules <= set(names)


def test_it_works_on_its_own(wheel, tmp_path):
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", site, wheel], check=True
    )
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("XSTAGE_", "LD_", "PYTHON", "XDG_"))
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**clean, "PYTHONPATH": str(site), "HOME": str(tmp_path)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[0] == "0.1.0" and run.stdout.split()[2:] == ["paper-148sm", "reshape"]


def test_types(tmp_path):
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True, check=False).returncode:
        pytest.skip("this Python has no mypy")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--config-file", "pyproject.toml"],
        cwd=SOURCE / "python",
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
