# SPDX-License-Identifier: Apache-2.0
"""The laws and the prediction of libxstage over ctypes, for property tests. XSTAGE_LIB names the library, XSTAGE_SOURCE the
source tree; both have the defaults of a build in build/. test_layout.py checks the structs against the headers."""
import ctypes
import os
import re
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

SOURCE = Path(os.environ.get("XSTAGE_SOURCE", Path(__file__).resolve().parents[2]))
LIB = ctypes.CDLL(os.environ.get("XSTAGE_LIB", str(SOURCE / "build" / "libxstage.so")))

OK, ERR_RANGE, ERR_NO_DATA = 0, -3, -5


class Diag(Structure):
    _fields_ = [("status", c_int), ("line", c_int64), ("text", c_char * 1024)]


class Stage(Structure):
    _fields_ = [(name, c_double) for name in ("floor_us", "drain_bytes_per_us", "capacity_bytes", "burst_bytes")]


class Step(Structure):
    _fields_ = [(name, c_double) for name in ("issue_us", "backlog_after_issue_bytes", "backlog_after_gap_bytes")]


class Burst(Structure):
    _fields_ = [(name, c_double) for name in ("producers", "bytes_per_producer", "gap_us")]


class PathKey(Structure):
    _fields_ = [("target", c_int), ("direction", c_int), ("method", c_int), ("threads", c_int64), ("piece_bytes", c_int64),
                ("pitch_bytes", c_int64)]


def timing_fields():
    """[(name, needs)] out of the one list in timing.h, so that a new number is seen here without an edit."""
    header = (SOURCE / "include/xstage/timing.h").read_text()
    body = header.split("#define XST_TIMING_FIELDS(X)")[1].split("struct xst_timing")[0].replace("\\\n", " ")
    bits = {"XST_TIMING_" + name: int(value) for name, value in re.findall(r"XST_TIMING_(\w+) = (\d+)", header)}
    found = re.findall(r"X\((\w+),\s*((?:0|XST_TIMING_[A-Z_]+)(?:\s*\|\s*XST_TIMING_[A-Z_]+)*),", body)
    return [(name, sum(bits.get(bit.strip(), 0) for bit in needs.split("|"))) for name, needs in found]


class Timing(Structure):
    _fields_ = [(name, c_double) for name, _ in timing_fields()] + [
        ("known", c_uint32), ("extrapolated", c_uint32), ("reason", c_int)]


class Profile:
    """A profile read from a file; the struct itself stays opaque in a buffer that is larger than it."""
    BYTES = 65536

    def __init__(self, path):
        self._room = ctypes.create_string_buffer(self.BYTES)
        diag = Diag()
        if LIB.xst_profile_read(str(path).encode(), self._room, None, byref(diag)) != OK:
            raise ValueError(diag.text.decode())

    def path(self, target=0, direction=0, method=0, threads=256):
        key = PathKey(target, direction, method, threads, 0, 0)
        return LIB.xst_profile_path(self._room, byref(key))

    def free(self):
        LIB.xst_profile_free(self._room)


def _declare(name, result, *arguments):
    function = getattr(LIB, name)
    function.restype, function.argtypes = result, arguments
    return function


_PSTAGE = POINTER(Stage)
issue_us = _declare("xst_law_issue_us", c_double, _PSTAGE, c_double)
overhead_us = _declare("xst_law_overhead_us", c_double, _PSTAGE, c_double)
recovery_gap_us = _declare("xst_law_recovery_gap_us", c_double, _PSTAGE)
period_us = _declare("xst_law_period_us", c_double, _PSTAGE, c_double)
completion_coupled_us = _declare("xst_law_completion_coupled_us", c_double, _PSTAGE, c_double)
backlog_bytes = _declare("xst_law_backlog_bytes", c_double, _PSTAGE)
isolated_issue_us = _declare("xst_law_isolated_issue_us", c_double, _PSTAGE)
margin_rate_bytes = _declare("xst_law_margin_rate_bytes", c_double, _PSTAGE, c_double)
margin_capacity_bytes = _declare("xst_law_margin_capacity_bytes", c_double, _PSTAGE)
aligned_issue_us = _declare("xst_law_aligned_issue_us", c_double, _PSTAGE, c_double)
aligned_period_us = _declare("xst_law_aligned_period_us", c_double, _PSTAGE, c_double)
step = _declare("xst_law_step", Step, _PSTAGE, c_double, c_double)
bystander_delay_us = _declare("xst_law_bystander_delay_us", c_double, c_double, c_double, c_double)
_declare("xst_profile_read", c_int, c_char_p, c_void_p, c_void_p, c_void_p)
_declare("xst_profile_path", c_void_p, c_void_p, POINTER(PathKey))
_declare("xst_profile_free", None, c_void_p)
_declare("xst_timing_predict", c_int, c_void_p, POINTER(Burst), c_int, POINTER(Timing), c_void_p)
_declare("xst_timing_predict_many", c_int, c_void_p, POINTER(Burst), c_size_t, c_int, POINTER(Timing), c_void_p)
_declare("xst_path_floor_us", c_int, c_void_p, c_double, c_double, c_int, POINTER(c_double), POINTER(c_int))
_declare("xst_path_capacity_bytes", c_int, c_void_p, c_double, c_int, POINTER(c_double), POINTER(c_int))
_declare("xst_path_knee_bytes_per_producer", c_int, c_void_p, c_double, POINTER(c_double))


def predict(path, producers, bytes_per_producer, gap_us, extrapolate=0):
    """(status, Timing)"""
    timing = Timing()
    burst = Burst(producers, bytes_per_producer, gap_us)
    return LIB.xst_timing_predict(path, byref(burst), extrapolate, byref(timing), None), timing


def floor_us(path, producers, bytes_per_producer, extrapolate=0):
    """T0, or None"""
    value = c_double()
    status = LIB.xst_path_floor_us(path, producers, bytes_per_producer, extrapolate, byref(value), None)
    return value.value if status == OK else None


def capacity_bytes(path, producers, extrapolate=0):
    """Q(K), or None"""
    value = c_double()
    status = LIB.xst_path_capacity_bytes(path, producers, extrapolate, byref(value), None)
    return value.value if status == OK else None


def knee_bytes_per_producer(path, producers):
    """The knee, or None"""
    value = c_double()
    status = LIB.xst_path_knee_bytes_per_producer(path, producers, byref(value))
    return value.value if status == OK else None
