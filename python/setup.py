# SPDX-License-Identifier: Apache-2.0
"""The wheel takes libxstage along where one is built: the file XSTAGE_LIB names, else ../build/libxstage.so. With it
the wheel is for this platform and needs nothing else of xstage; without it the wheel is pure Python and finds an
installed library. Stored profiles and the recorded pair of H200s go along too."""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

TREE = Path(__file__).resolve().parent.parent
LIBRARY = Path(os.environ.get("XSTAGE_LIB") or TREE / "build/libxstage.so")
SHARED = [
    *TREE.glob("profiles/*.json"),
    TREE / "data/h200x2-bursts.csv",
    TREE / "data/h200x2-rows.csv",
    TREE / "data/h200x2.json",
]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = Path(self.build_lib) / "xstage"
        if LIBRARY.is_file():
            self.copy(LIBRARY, package / "lib/libxstage.so.0")
        for path in SHARED:
            if path.is_file():
                self.copy(path, package / "share" / path.parent.name / path.name)

    @staticmethod
    def copy(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


class MaybeBinary(Distribution):
    def has_ext_modules(self):
        return LIBRARY.is_file()


class AnyPython(bdist_wheel):
    """The library does not depend on the Python that loads it."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=MaybeBinary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython})
