# SPDX-License-Identifier: Apache-2.0
"""Properties of the laws that hold for every machine."""
import math
from ctypes import byref

import xst
from hypothesis import assume, given
from hypothesis import strategies as st

FLOORS = st.floats(1e-3, 1e3)
DRAINS = st.floats(1e-1, 1e7)
BYTES = st.floats(1, 1e10)
CAPACITIES = st.floats(0, 1e10)
GAPS = st.floats(0, 1e5)
FACTORS = st.floats(1e-3, 1e3)


def stage(floor, drain, capacity, burst):
    return xst.Stage(floor, drain, capacity, burst)


STAGES = st.builds(stage, FLOORS, DRAINS, CAPACITIES, BYTES)


@st.composite
def balanced_stages(draw):
    """Stages whose burst, drain, capacity and gap are of one size, where the laws change branch."""
    floor, drain = draw(FLOORS), draw(DRAINS)
    burst = drain * floor * draw(st.floats(0.1, 30))
    return stage(floor, drain, burst * draw(st.floats(0, 2)), burst), floor * draw(st.floats(0, 40))


def close(a, b, scale=0.0):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale)


@given(STAGES, GAPS)
def test_issue_is_never_below_its_floor(s, gap):
    for issue in (xst.issue_us(byref(s), gap), xst.aligned_issue_us(byref(s), gap), xst.isolated_issue_us(byref(s))):
        assert issue >= s.floor_us
        assert math.isfinite(issue)


@given(STAGES, GAPS, st.floats(0, 1))
def test_a_step_keeps_the_stage_within_bounds(s, gap, share):
    backlog = share * s.capacity_bytes
    step = xst.step(byref(s), backlog, gap)
    assert step.issue_us >= s.floor_us
    assert 0 <= step.backlog_after_gap_bytes <= step.backlog_after_issue_bytes <= s.capacity_bytes
    # bytes are conserved: what came in and is not there has drained, and no faster than R
    drained = backlog + s.burst_bytes - step.backlog_after_issue_bytes
    most = s.drain_bytes_per_us * step.issue_us
    assert drained <= most + 1e-6 * (most + s.burst_bytes + s.capacity_bytes)


@given(balanced_stages(), FACTORS)
def test_period_grows_with_bytes(pair, factor):
    s, gap = pair
    larger = stage(s.floor_us, s.drain_bytes_per_us, s.capacity_bytes, s.burst_bytes * (1 + factor))
    for law in (xst.period_us, xst.aligned_period_us, xst.issue_us, xst.aligned_issue_us, xst.completion_coupled_us):
        assert law(byref(larger), gap) >= law(byref(s), gap)
    assert xst.isolated_issue_us(byref(larger)) >= xst.isolated_issue_us(byref(s))
    assert xst.recovery_gap_us(byref(larger)) >= xst.recovery_gap_us(byref(s))
    assert xst.backlog_bytes(byref(larger)) >= xst.backlog_bytes(byref(s))


@given(balanced_stages(), FACTORS)
def test_period_grows_and_issue_falls_with_the_gap(pair, more):
    s, gap = pair
    longer = gap + s.floor_us * more
    for law in (xst.period_us, xst.aligned_period_us, xst.completion_coupled_us, xst.margin_rate_bytes):
        assert law(byref(s), longer) >= law(byref(s), gap) * (1 - 1e-12) - 1e-6
    for law in (xst.issue_us, xst.aligned_issue_us, xst.overhead_us):
        assert law(byref(s), longer) <= law(byref(s), gap)


@given(balanced_stages(), FACTORS)
def test_a_larger_stage_is_never_worse(pair, factor):
    s, gap = pair
    larger = stage(s.floor_us, s.drain_bytes_per_us, s.capacity_bytes * (1 + factor), s.burst_bytes)
    faster = stage(s.floor_us, s.drain_bytes_per_us * (1 + factor), s.capacity_bytes, s.burst_bytes)
    assert xst.aligned_issue_us(byref(larger), gap) <= xst.aligned_issue_us(byref(s), gap)
    assert xst.isolated_issue_us(byref(larger)) <= xst.isolated_issue_us(byref(s))
    assert xst.issue_us(byref(larger), gap) == xst.issue_us(byref(s), gap)
    assert xst.issue_us(byref(faster), gap) <= xst.issue_us(byref(s), gap)


@given(balanced_stages())
def test_aligned_is_never_below_drifting_nor_below_isolated(pair):
    s, gap = pair
    tiny = 1e-12 * s.burst_bytes / s.drain_bytes_per_us
    assert xst.aligned_issue_us(byref(s), gap) >= xst.issue_us(byref(s), gap)
    assert xst.aligned_issue_us(byref(s), gap) >= xst.isolated_issue_us(byref(s)) - tiny
    assert xst.aligned_period_us(byref(s), gap) >= xst.period_us(byref(s), gap) - tiny


@given(balanced_stages())
def test_aligned_tends_to_drifting_and_to_isolated(pair):
    s, gap = pair
    drain_us = s.burst_bytes / s.drain_bytes_per_us
    endless = stage(s.floor_us, s.drain_bytes_per_us, math.inf, s.burst_bytes)
    assert xst.aligned_issue_us(byref(endless), gap) == xst.issue_us(byref(s), gap)
    enough = stage(s.floor_us, s.drain_bytes_per_us, s.drain_bytes_per_us * gap * 1.0001, s.burst_bytes)
    assert xst.aligned_issue_us(byref(enough), gap) == xst.issue_us(byref(s), gap)
    long_gap = s.capacity_bytes / s.drain_bytes_per_us * 1.0001 + 1e-9
    assert close(xst.aligned_issue_us(byref(s), long_gap), xst.isolated_issue_us(byref(s)), drain_us)
    assert close(xst.aligned_issue_us(byref(s), 1e15), xst.isolated_issue_us(byref(s)), drain_us)
    assert close(xst.aligned_issue_us(byref(s), 0), xst.issue_us(byref(s), 0))


@given(balanced_stages(), FACTORS)
def test_scale_invariance_in_time(pair, factor):
    s, gap = pair
    slow = stage(s.floor_us * factor, s.drain_bytes_per_us / factor, s.capacity_bytes, s.burst_bytes)
    scale = s.burst_bytes / s.drain_bytes_per_us + gap
    for law in (xst.issue_us, xst.overhead_us, xst.period_us, xst.completion_coupled_us, xst.aligned_issue_us,
                xst.aligned_period_us):
        assert close(law(byref(slow), gap * factor), factor * law(byref(s), gap), factor * scale)
    assert close(xst.recovery_gap_us(byref(slow)), factor * xst.recovery_gap_us(byref(s)), factor * scale)
    assert close(xst.isolated_issue_us(byref(slow)), factor * xst.isolated_issue_us(byref(s)), factor * scale)
    assert close(xst.backlog_bytes(byref(slow)), xst.backlog_bytes(byref(s)), s.burst_bytes)
    assert close(xst.margin_capacity_bytes(byref(slow)), xst.margin_capacity_bytes(byref(s)), s.burst_bytes + s.capacity_bytes)


@given(balanced_stages(), FACTORS)
def test_scale_invariance_in_bytes(pair, factor):
    s, gap = pair
    fat = stage(s.floor_us, s.drain_bytes_per_us * factor, s.capacity_bytes * factor, s.burst_bytes * factor)
    scale = s.burst_bytes / s.drain_bytes_per_us + gap
    for law in (xst.issue_us, xst.overhead_us, xst.period_us, xst.completion_coupled_us, xst.aligned_issue_us,
                xst.aligned_period_us):
        assert close(law(byref(fat), gap), law(byref(s), gap), scale)
    assert close(xst.isolated_issue_us(byref(fat)), xst.isolated_issue_us(byref(s)), scale)
    bytes_scale = factor * (s.burst_bytes + s.capacity_bytes + s.drain_bytes_per_us * (gap + s.floor_us))
    assert close(xst.backlog_bytes(byref(fat)), factor * xst.backlog_bytes(byref(s)), bytes_scale)
    assert close(xst.margin_rate_bytes(byref(fat), gap), factor * xst.margin_rate_bytes(byref(s), gap), bytes_scale)
    assert close(xst.margin_capacity_bytes(byref(fat)), factor * xst.margin_capacity_bytes(byref(s)), bytes_scale)


def settle(s, backlog, gap):
    """The recursion from `backlog` until it no longer moves; its last step, and how many it took."""
    for count in range(200000):
        step = xst.step(byref(s), backlog, gap)
        if abs(step.backlog_after_gap_bytes - backlog) <= 1e-13 * (s.capacity_bytes + s.burst_bytes):
            return step
        backlog = step.backlog_after_gap_bytes
    raise AssertionError("the recursion does not settle")


@given(balanced_stages(), st.floats(0, 1))
def test_closed_forms_are_fixed_points_from_any_backlog(pair, share):
    s, gap = pair
    # at the very edge of the rate bound the backlog moves by nothing per step
    surplus = s.burst_bytes - s.drain_bytes_per_us * (s.floor_us + gap)
    assume(abs(surplus) > 1e-4 * s.burst_bytes)
    step = settle(s, share * s.capacity_bytes, gap)
    scale = s.burst_bytes / s.drain_bytes_per_us
    assert close(step.issue_us, xst.aligned_issue_us(byref(s), gap), scale)
    if s.drain_bytes_per_us * gap <= s.capacity_bytes:
        assert close(step.issue_us, xst.issue_us(byref(s), gap), scale)
        assert close(step.issue_us + gap, xst.period_us(byref(s), gap), scale + gap)


@given(balanced_stages())
def test_an_isolated_burst_is_one_step_from_empty(pair):
    s, gap = pair
    step = xst.step(byref(s), 0, gap)
    assert close(step.issue_us, xst.isolated_issue_us(byref(s)))
    if s.burst_bytes - s.drain_bytes_per_us * s.floor_us <= s.capacity_bytes:
        assert close(step.backlog_after_issue_bytes, xst.backlog_bytes(byref(s)), s.burst_bytes)


@given(balanced_stages())
def test_margins_are_negative_exactly_where_the_laws_stall(pair):
    s, gap = pair
    rate, capacity = xst.margin_rate_bytes(byref(s), gap), xst.margin_capacity_bytes(byref(s))
    edge = 1e-9 * (s.burst_bytes + s.drain_bytes_per_us * (s.floor_us + gap))
    if abs(rate) > edge:
        assert (rate < 0) == (xst.overhead_us(byref(s), gap) > 0)
        assert (rate < 0) == (xst.issue_us(byref(s), gap) > s.floor_us)
        assert (rate < 0) == (gap < xst.recovery_gap_us(byref(s)))
    if abs(capacity) > 1e-9 * (s.burst_bytes + s.capacity_bytes):
        assert (capacity < 0) == (xst.isolated_issue_us(byref(s)) > s.floor_us)


@given(balanced_stages())
def test_recovery_gap_is_the_smallest_that_recovers(pair):
    s, _ = pair
    gap = xst.recovery_gap_us(byref(s))
    tiny = 1e-9 * (s.burst_bytes / s.drain_bytes_per_us)
    assert xst.overhead_us(byref(s), gap + tiny) == 0
    assert xst.issue_us(byref(s), gap + tiny) == s.floor_us
    if gap > 3 * tiny:
        assert xst.overhead_us(byref(s), gap - 2 * tiny) > 0


@given(balanced_stages())
def test_rivals_stand_on_either_side(pair):
    s, gap = pair
    drain_us = s.burst_bytes / s.drain_bytes_per_us
    period = xst.period_us(byref(s), gap)
    assert period >= max(drain_us, gap)
    if s.floor_us <= drain_us:
        assert xst.completion_coupled_us(byref(s), gap) >= period * (1 - 1e-12)
    assert close(period, xst.issue_us(byref(s), gap) + gap, drain_us + gap)


@given(BYTES, BYTES, BYTES, DRAINS)
def test_bystanders_wait_for_what_is_above_the_free_backlog(backlog, free, more, drain):
    delay = xst.bystander_delay_us(backlog, free, drain)
    assert delay >= 0
    assert (delay > 0) == (backlog > free)
    assert xst.bystander_delay_us(backlog + more, free, drain) >= delay
    assert xst.bystander_delay_us(backlog, free + more, drain) <= delay
