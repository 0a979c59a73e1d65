# SPDX-License-Identifier: Apache-2.0
"""Calibration: rows of a machine in, its profile out, and how far the laws are from the rows."""

from __future__ import annotations

import os
import time
import weakref
from ctypes import CFUNCTYPE, POINTER, byref, c_int, c_size_t, c_void_p, cast, pointer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _abi, _data
from ._library import call, failure, free, function
from .errors import UsageError, XstageError
from .profile import Profile
from .samples import Samples, table

_STOP = CFUNCTYPE(c_int, c_void_p)
_RECORDED = ("h200x2-bursts.csv", "h200x2-rows.csv")
_RECORDED_NAME = "h200x2-nvlink"


class Calibration:
    """What a calibration gives.

    Attributes:
        profile: the fitted `Profile`.
        samples: the rows it was fitted to.
        machine: what was measured or read ("cuda:0,1", "sim:...", "recorded", "file:...").
        validation: how far each law is from the rows: one record for each path, quantity, model and kind of rows.
            Errors are relative, except median_abs_err_us.
    """

    def __init__(self, machine: str, samples: Samples, facts: _abi.xst_machine_facts, name: str) -> None:
        self.machine, self.samples = machine, samples
        self._fit = _abi.xst_fit()
        weakref.finalize(self, function("xst_fit_free"), byref(self._fit))
        struct = _abi.xst_profile()
        self._facts, self._name = facts, name.encode()
        options = _abi.xst_fit_options(facts=pointer(self._facts), name=self._name)
        call("xst_profile_fit", byref(samples._struct), byref(options), byref(struct), byref(self._fit))
        self.profile = Profile(struct)
        self._validation = _abi.xst_validation()
        weakref.finalize(self, function("xst_validation_free"), byref(self._validation))
        call("xst_validation_run", byref(struct), byref(samples._struct), byref(self._fit), byref(self._validation))
        self.validation: NDArray[np.void] = table(
            self._validation.rows, self._validation.row_count, _abi.xst_validation_row
        )

    def report(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes the self-contained HTML page. Raises ExistsError, FileError."""
        call("xst_report_write", os.fspath(path).encode(), byref(self._input()), int(force))

    def figures(self, folder: str | os.PathLike[str], force: bool = False) -> list[Path]:
        """Writes every figure as SVG into `folder`, made when missing; returns the files. Raises ExistsError,
        FileError."""
        call("xst_report_write_svgs", os.fspath(folder).encode(), byref(self._input()), int(force), None)
        return sorted(Path(folder).glob("*.svg"))

    def _input(self) -> _abi.xst_report_input:
        section = _abi.xst_report_section(
            profile=pointer(self.profile._struct),
            samples=pointer(self.samples._struct),
            fit=pointer(self._fit),
            validation=pointer(self._validation),
        )
        return _abi.xst_report_input(sections=pointer(section), section_count=1)

    def __repr__(self) -> str:
        return f"<xstage.Calibration of {self.machine}: {self.profile!r}>"


def fit(samples: Samples, facts: str | os.PathLike[str] | None = None, name: str = "") -> Calibration:
    """Fits a profile to rows.

    Args:
        samples: rows of one machine.
        facts: a JSON file with facts of the machine; None: none.
        name: of the profile.

    Raises:
        NoDataError: there is no row at all.
        ParseError, FileError: the facts cannot be read.
    """
    return Calibration("samples", samples, _facts(facts), name)


def _facts(path: str | os.PathLike[str] | None) -> _abi.xst_machine_facts:
    found = _abi.xst_machine_facts()
    if path is not None:
        call("xst_machine_facts_read", os.fspath(path).encode(), byref(found))
    return found


def _facts_beside(path: Path) -> Path | None:
    """h200x2-bursts.csv: h200x2-bursts.json, else h200x2.json."""
    stem = path.name.removesuffix(path.suffix)
    while stem:
        beside = path.with_name(stem + ".json")
        if beside.is_file() and '"xstage.profile' not in beside.read_text(encoding="utf-8"):
            return beside
        stem = stem.rpartition("-")[0]
    return None


def _present() -> str:
    """The machine that can be measured here: a pair of GPUs with a store path, else one; else "recorded"."""
    if not function("xst_gpu_nvcc_version")():
        return "recorded"
    info = _abi.xst_gpu_info()
    try:
        call("xst_gpu_info_read", byref(info))
    except XstageError:
        return "recorded"
    try:
        pairs = (info.pairs[i] for i in range(info.pair_count))
        pair = next((p for p in pairs if p.store_path), None)
        return f"cuda:{getattr(pair, 'from')},{pair.to}" if pair else f"cuda:{info.devices[0].ordinal}"
    finally:
        function("xst_gpu_info_free")(byref(info))


def calibrate(
    machine: str | None = None, *, name: str | None = None, seed: int = 1, timeout_s: float = 600.0
) -> Calibration:
    """Measures a machine and fits its profile.

    Args:
        machine: "cuda" or "cuda:0,1" (these devices; the first one sends), "sim:KEY=VALUE,..." (a synthetic machine),
            "sim:NAME" (one made from a stored profile), "recorded" (the recorded pair of H200s), "file:A.csv,B.csv"
            (rows of files). None: this machine where it can be measured, else "recorded"; `Calibration.machine` says
            which it was.
        name: of the profile; None: that of the machine.
        seed: of a synthetic machine made from a profile.
        timeout_s: most wall time of one target's measurement, in seconds.

    Raises:
        UsageError: no such machine.
        UnavailableError: not possible here.
        WaitTimeoutError: `timeout_s` ran out.
        KeyboardInterrupt: between two runs; nothing is fitted then.
    """
    chosen = machine or _present()
    if chosen.startswith(("cuda", "sim:")):
        samples, facts = _measured(chosen, seed, timeout_s)
        return Calibration(chosen, samples, facts, name or "measured")
    if chosen == "recorded":
        files = [_data.recorded(file) for file in _RECORDED]
    elif chosen.startswith("file:"):
        files = [Path(file) for file in chosen[5:].split(",")]
    else:
        raise UsageError(
            f'machine is "{chosen}"; valid are cuda, cuda:0,1, sim:NAME, sim:KEY=VALUE,..., recorded and '
            "file:A.csv,B.csv"
        )
    beside = next((found for file in files if (found := _facts_beside(file))), None)
    default = _RECORDED_NAME if chosen == "recorded" else files[0].stem
    return Calibration(chosen, Samples.read(*files), _facts(beside), name or default)


def _measured(spec: str, seed: int, timeout_s: float) -> tuple[Samples, _abi.xst_machine_facts]:
    opened = c_void_p()
    if spec.startswith("sim:") and "=" not in spec and len(spec) > 4:
        stored = Profile.load(spec[4:])
        call("xst_machine_open_profile", byref(stored._struct), seed, byref(opened))
    else:
        call("xst_machine_open", spec.encode(), byref(opened))
    try:
        facts = _abi.xst_machine_facts.from_buffer_copy(function("xst_machine_facts")(opened).contents)
        sm_count = int(facts.sm_count.value) if facts.sm_count.known else 132
        samples = Samples()
        for target in (_abi.XST_TARGET_PEER, _abi.XST_TARGET_HOST):
            if function("xst_machine_has_target")(opened, target):
                _measure_target(opened, target, sm_count, timeout_s, samples)
        return samples, facts
    finally:
        function("xst_machine_close")(opened)


def _measure_target(machine: c_void_p, target: int, sm_count: int, timeout_s: float, samples: Samples) -> None:
    """A zero-gap burst of all producers gives a rate near R, which places the gaps of the plan; then the plan's cells
    that this machine can answer."""
    probe = Samples()
    request = function("xst_plan_drain_probe")(target, sm_count)
    _run(machine, (type(request) * 1)(request), 1, timeout_s, probe)
    row = probe.table()[0]
    drain = (
        float(row["bursts"] * row["producers"] * row["bytes_per_producer"] / row["total_us"])
        if row["total_us"] > 0
        else 0.0
    )
    requests, count = POINTER(_abi.xst_measure_request)(), c_size_t()
    call("xst_plan_calibration", target, sm_count, drain, byref(requests), byref(count))
    try:
        check = function("xst_machine_check")
        kept = [
            _abi.xst_measure_request.from_buffer_copy(requests[i])
            for i in range(count.value)
            if check(machine, byref(requests[i]), None) == 0
        ]
    finally:
        free(requests)
    _run(machine, (_abi.xst_measure_request * len(kept))(*kept), len(kept), timeout_s, samples)


def _run(machine: c_void_p, requests: Any, count: int, timeout_s: float, samples: Samples) -> None:
    """Rows of all requests into `samples`. Ctrl-C is seen between two runs."""
    interrupted = False

    def stop(_user: Any) -> int:
        nonlocal interrupted
        try:
            time.sleep(0)  # lets a pending signal in
        except KeyboardInterrupt:
            interrupted = True
        return int(interrupted)

    asked = _STOP(stop)
    sink = function("xst_measure_sink_samples")(byref(samples._struct))
    sink.stop = cast(asked, c_void_p)
    options = _abi.xst_measure_options(timeout_us=timeout_s * 1e6, verify=1)
    diag = _abi.xst_diag()
    status = function("xst_machine_measure")(machine, requests, count, byref(options), byref(sink), byref(diag))
    if interrupted:
        raise KeyboardInterrupt
    if status != 0:
        raise failure(status, diag)
