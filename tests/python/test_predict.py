# SPDX-License-Identifier: Apache-2.0
"""Predictions on the recorded profiles: every number is the law's, known where its parameters are, and in order."""
import math
from ctypes import byref

import pytest
import xst
from hypothesis import given
from hypothesis import strategies as st

PROFILE = xst.Profile(xst.SOURCE / "profiles/h200x2-nvlink.json")
PATH = PROFILE.path()
BULK = PROFILE.path(method=2)
PAPER_PROFILE = xst.Profile(xst.SOURCE / "profiles/paper-148sm.json")
PAPER = PAPER_PROFILE.path()
NEEDS = dict(xst.timing_fields())

PRODUCERS = st.floats(1, 132)
SIZES = st.floats(1024, 196608)
GAPS = st.floats(0, 1000)


def predicted(path, producers, size, gap, extrapolate=0):
    status, timing = xst.predict(path, producers, size, gap, extrapolate)
    assert status == xst.OK
    return timing


@given(PRODUCERS, SIZES, GAPS)
def test_every_number_is_the_laws(producers, size, gap):
    timing = predicted(PATH, producers, size, gap)
    assert timing.extrapolated == 0 and timing.reason == 0
    drain = timing.burst_bytes / timing.drain_us
    s = xst.Stage(timing.issue_floor_us, drain, timing.capacity_bytes, producers * size)
    assert timing.issue_floor_us == xst.floor_us(PATH, producers, size)
    assert timing.capacity_bytes == xst.capacity_bytes(PATH, producers)
    for name, value in (("issue_us", xst.issue_us(byref(s), gap)), ("issue_aligned_us", xst.aligned_issue_us(byref(s), gap)),
                        ("period_us", xst.period_us(byref(s), gap)), ("recovery_gap_us", xst.recovery_gap_us(byref(s))),
                        ("isolated_issue_us", xst.isolated_issue_us(byref(s))),
                        ("completion_coupled_period_us", xst.completion_coupled_us(byref(s), gap))):
        assert math.isclose(getattr(timing, name), value, rel_tol=1e-9, abs_tol=1e-9 * timing.drain_us), name
    for name, value in (("backlog_bytes", xst.backlog_bytes(byref(s))),
                        ("margin_rate_bytes", xst.margin_rate_bytes(byref(s), gap)),
                        ("margin_capacity_bytes", xst.margin_capacity_bytes(byref(s)))):
        assert math.isclose(getattr(timing, name), value, rel_tol=1e-9, abs_tol=1e-9 * drain * (timing.drain_us + gap + 1)), name


@pytest.mark.parametrize("path", [PATH, BULK], ids=["st16", "bulk"])
@given(producers=PRODUCERS, size=SIZES, gap=GAPS)
def test_order_of_the_numbers(path, producers, size, gap):
    timing = predicted(path, producers, size, gap)
    for name, _ in xst.timing_fields():
        if timing.known & NEEDS[name] == NEEDS[name]:
            assert math.isfinite(getattr(timing, name)), name
    assert timing.issue_us >= timing.issue_floor_us
    assert timing.issue_aligned_us >= timing.issue_us * (1 - 1e-12)
    assert timing.release_us >= timing.release_floor_us >= timing.issue_floor_us * (1 - 1e-12)
    assert timing.period_us >= timing.ideal_period_us * (1 - 1e-12)
    assert timing.period_aligned_us >= timing.period_us * (1 - 1e-12)


@pytest.mark.parametrize("path", [PATH, BULK], ids=["st16", "bulk"])
@given(producers=PRODUCERS, size=SIZES, gap=GAPS, factor=st.floats(1, 4))
def test_more_bytes_or_more_gap_take_longer(path, producers, size, gap, factor):
    before = predicted(path, producers, size, gap)
    if size * factor <= 196608:
        assert predicted(path, producers, size * factor, gap).period_us >= before.period_us * (1 - 1e-12)
    assert predicted(path, producers, size, gap * factor).period_us >= before.period_us * (1 - 1e-12)


@given(st.floats(1, 1e9), st.floats(1, 1e12), GAPS)
def test_outside_the_range_nothing_is_claimed(producers, size, gap):
    timing = predicted(PATH, producers, size, gap)
    inside = producers <= 132 and 1024 <= size <= 196608
    assert bool(timing.known & 2) == inside
    assert timing.extrapolated == 0
    marked = predicted(PATH, producers, size, gap, 1)
    assert marked.known & 2
    assert bool(marked.extrapolated & 2) != inside
    assert math.isfinite(marked.issue_us) and marked.issue_us > 0


@given(st.integers(1, 400), st.integers(1024, 262144), GAPS)
def test_the_papers_machine_is_known_at_one_point(producers, size, gap):
    timing = predicted(PAPER, producers, size, gap)
    assert bool(timing.known & 2) == (producers == 148 and size == 32768)
    assert bool(timing.known & 4) == (producers == 148)
    assert timing.reason == (0 if timing.known & 6 == 6 else 2)


@given(st.floats(20, 132))
def test_the_knee_is_where_the_capacity_margin_changes_sign(producers):
    knee = xst.knee_bytes_per_producer(PATH, producers)
    assert knee is not None
    assert predicted(PATH, producers, knee - 1, 0).margin_capacity_bytes >= 0
    assert predicted(PATH, producers, knee + 1, 0).margin_capacity_bytes < 0


@given(st.one_of(st.floats(max_value=0.999), st.just(math.nan), st.just(math.inf)))
def test_what_is_no_burst_is_refused(bad):
    assert xst.predict(PATH, bad, 1024, 0)[0] == xst.ERR_RANGE
    assert xst.predict(PATH, 1, bad, 0)[0] == xst.ERR_RANGE
    assert xst.predict(PATH, 1, 1024, bad if not 0 <= bad < 1 else -1)[0] == xst.ERR_RANGE


@given(st.lists(st.tuples(PRODUCERS, SIZES, GAPS), min_size=1, max_size=20))
def test_many_are_many_ones(points):
    bursts = (xst.Burst * len(points))(*points)
    timings = (xst.Timing * len(points))()
    assert xst.LIB.xst_timing_predict_many(PATH, bursts, len(points), 0, timings, None) == xst.OK
    for point, timing in zip(points, timings):
        assert bytes(timing) == bytes(predicted(PATH, *point))
