# SPDX-License-Identifier: Apache-2.0
"""The ctypes structs are those of the headers: sizes and offsets as a C compiler sees them."""
import ctypes
import shutil
import subprocess

import pytest
import xst

STRUCTS = {"xst_diag": xst.Diag, "xst_stage": xst.Stage, "xst_step": xst.Step, "xst_burst": xst.Burst,
           "xst_path_key": xst.PathKey, "xst_timing": xst.Timing}


def c_layout(folder):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} size %zu\\n", sizeof(struct {name}));')
        for field, *_ in struct._fields_:
            lines.append(f'printf("{name} {field} %zu\\n", offsetof(struct {name}, {field}));')
    lines.append('printf("xst_profile size %zu\\n", sizeof(struct xst_profile));')
    source, program = folder / "layout.c", folder / "layout"
    source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <xstage/model.h>\n"
                      "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run([compiler, "-std=c11", f"-I{xst.SOURCE}/include", "-o", program, source], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {tuple(line.split()[:2]): int(line.split()[2]) for line in output.splitlines()}


def test_structs_match_the_headers(tmp_path):
    layout = c_layout(tmp_path)
    for name, struct in STRUCTS.items():
        assert ctypes.sizeof(struct) == layout[name, "size"], name
        for field, *_ in struct._fields_:
            assert getattr(struct, field).offset == layout[name, field], f"{name}.{field}"
    assert layout["xst_profile", "size"] <= xst.Profile.BYTES


def test_every_field_of_the_prediction_is_found():
    names = [name for name, _ in xst.timing_fields()]
    for name in ("producers", "bytes_per_producer", "gap_us", "burst_bytes", "issue_floor_us", "issue_us", "issue_aligned_us",
                 "overhead_us", "period_us", "recovery_gap_us", "isolated_issue_us", "backlog_bytes", "capacity_bytes",
                 "margin_rate_bytes", "margin_capacity_bytes", "completion_coupled_period_us"):
        assert name in names
