# SPDX-License-Identifier: Apache-2.0
"""The package sees the C interface as a C compiler does."""

import ctypes
import re
import shutil
import subprocess
import sys

import pytest
from package import SOURCE
from xstage import _abi, errors, model
from xstage._library import function, words

STRUCTS = {
    name: item
    for name, item in vars(_abi).items()
    if isinstance(item, type) and issubclass(item, ctypes.Structure) and item is not ctypes.Structure
}
NESTED = {name for name in STRUCTS if re.fullmatch(r"xst_plan_(question|answers)", name)}


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("cc")
    if not found:
        pytest.skip("no C compiler")
    return found


def test_the_translation_is_up_to_date(compiler):
    run = subprocess.run(
        [sys.executable, SOURCE / "scripts/make_python_abi.py", "-o", "-"], capture_output=True, text=True, check=True
    )
    assert run.stdout == (SOURCE / "python/xstage/_abi.py").read_text(), (
        "a header changed: run scripts/make_python_abi.py"
    )


def test_sizes_and_offsets(compiler, tmp_path):
    lines = []
    for name in STRUCTS.keys() - NESTED:
        lines.append(f'printf("{name} size %zu\\n", sizeof(struct {name}));')
        lines += [
            f'printf("{name} {field} %zu\\n", offsetof(struct {name}, {field}));'
            for field, *_ in STRUCTS[name]._fields_
        ]
    headers = "".join(f"#include <xstage/{path.name}>\n" for path in sorted((SOURCE / "include/xstage").glob("*.h")))
    (tmp_path / "layout.c").write_text(
        "#include <stddef.h>\n#include <stdio.h>\n"
        + headers
        + "int main(void)\n{\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    subprocess.run(
        [compiler, "-std=c11", f"-I{SOURCE}/include", "-o", tmp_path / "layout", tmp_path / "layout.c"], check=True
    )
    output = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    seen = 0
    for line in output.splitlines():
        name, field, value = line.split()
        ours = ctypes.sizeof(STRUCTS[name]) if field == "size" else getattr(STRUCTS[name], field).offset
        assert ours == int(value), f"{name}.{field}"
        seen += 1
    assert seen > 800


def test_every_function_is_in_the_library():
    missing = []
    for name in _abi.FUNCTIONS:
        try:
            function(name)
        except errors.UnavailableError:
            missing.append(name)
    assert not missing, f"declared in include/xstage and not in the library: {missing}"


def test_every_status_has_its_exception():
    codes = {name: value for name, value in vars(_abi).items() if name.startswith("XST_ERR_") and value < 0}
    for name, value in codes.items():
        error = errors.error_of(value, "sentence", 3)
        assert error.status == name.removeprefix("XST_") and str(error) == "sentence" and error.line == 3
    assert set(errors.BY_STATUS) == set(codes.values())


def test_what_a_law_needs_is_what_the_header_says():
    header = (SOURCE / "include/xstage/timing.h").read_text()
    body = header.split("#define XST_TIMING_FIELDS(X)")[1].split("struct xst_timing")[0].replace("\\\n", " ")
    found = re.findall(r"X\((\w+),\s*((?:0|XST_TIMING_[A-Z_]+)(?:\s*\|\s*XST_TIMING_[A-Z_]+)*),", body)
    assert tuple(name for name, _ in found) == model.FIELDS
    for name, needs in found:
        bits = sum(0 if bit.strip() == "0" else getattr(_abi, bit.strip()) for bit in needs.split("|"))
        assert model._NEEDS.get(name, 0) == bits, name


def test_words_of_enumerations():
    assert words("method") == ("st16", "st4", "bulk")
    assert words("target") == ("peer", "host", "local")
