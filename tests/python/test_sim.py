# SPDX-License-Identifier: Apache-2.0
"""Properties of the simulator over wide ranges of machines: conservation, bounds, monotonicity, no hang."""
import ctypes
import math
import re
from ctypes import POINTER, byref, c_double, c_int64, c_size_t, c_uint64, c_void_p

import xst
from hypothesis import given, settings
from hypothesis import strategies as st


class Source(ctypes.Structure):
    _fields_ = [("drain_bytes_per_us", c_double), ("capacity_total_bytes", c_double), ("free_capacity_bytes", c_double),
                ("fence_us", c_double), ("groups", c_int64)]


class Destination(ctypes.Structure):
    _fields_ = [("ingress_bytes_per_us", c_double)]


class Producer(ctypes.Structure):
    _fields_ = [("source", c_int64), ("group", c_int64), ("capacity_bytes", c_double), ("weight", c_double)]


class Config(ctypes.Structure):
    _fields_ = [("sources", POINTER(Source)), ("source_count", c_int64), ("destinations", POINTER(Destination)),
                ("destination_count", c_int64), ("producers", POINTER(Producer)), ("producer_count", c_int64),
                ("counter_count", c_int64), ("next", c_void_p), ("context", c_void_p), ("share_spread_burst", c_double),
                ("share_spread", c_double), ("seed", c_uint64), ("series_step_us", c_double), ("series_count", c_size_t),
                ("event_limit", c_int64)]


class Account(ctypes.Structure):
    _fields_ = [("bursts", c_int64), ("steady_bursts", c_int64)] + [(name, c_double) for name in (
        "issue_us", "steady_issue_us", "issue_max_us", "wait_us", "load_wait_us", "load_max_us", "fence_wait_us", "work_us",
        "end_us", "drained_us", "injected_bytes", "drained_bytes")]


class Point(ctypes.Structure):
    _fields_ = [("time_us", c_double), ("backlog_bytes", c_double)]


class Result(ctypes.Structure):
    _fields_ = [(name, c_double) for name in ("makespan_us", "issue_mean_us", "steady_issue_mean_us", "injected_bytes",
                                              "drained_bytes", "backlog_peak_bytes")] + [
        ("events", c_int64), ("accounts", POINTER(Account)), ("account_count", c_int64), ("series", POINTER(Point)),
        ("series_count", c_size_t)]


class Pattern(ctypes.Structure):
    _fields_ = [("bytes", c_double), ("floor_us", c_double), ("gap_us", c_double), ("bursts", c_int64)]


STRUCTS = {"xst_sim_source": Source, "xst_sim_destination": Destination, "xst_sim_producer": Producer,
           "xst_sim_config": Config, "xst_sim_account": Account, "xst_sim_point": Point, "xst_sim_result": Result,
           "xst_sim_pattern": Pattern}


def test_structs_name_the_fields_of_the_header():
    header = re.sub(r"/\*.*?\*/", "", (xst.SOURCE / "include/xstage/sim.h").read_text(), flags=re.S)
    for name, struct in STRUCTS.items():
        body = re.search(rf"struct {name} {{(.*?)}};", header, re.S).group(1)
        assert re.findall(r"(\w+);", body) == [field for field, *_ in struct._fields_], name


def simulate(sources, producers, pattern, destinations=(), **settings_of_run):
    """(accounts, result numbers, series) of a run, checked for its status."""
    source_array = (Source * len(sources))(*sources)
    producer_array = (Producer * len(producers))(*producers)
    destination_array = (Destination * max(1, len(destinations)))(*destinations)
    config = Config(sources=source_array, source_count=len(sources), producers=producer_array,
                    producer_count=len(producers), seed=1, event_limit=5_000_000,
                    destinations=destination_array, destination_count=len(destinations),
                    next=ctypes.cast(xst.LIB.xst_sim_pattern_next, c_void_p).value,
                    context=ctypes.cast(ctypes.pointer(pattern), c_void_p).value, **settings_of_run)
    result, diag = Result(), xst.Diag()
    status = xst.LIB.xst_sim_run(byref(config), byref(result), byref(diag))
    assert status == xst.OK, diag.text
    accounts = [Account.from_buffer_copy(result.accounts[i]) for i in range(result.account_count)]
    series = [result.series[i].backlog_bytes for i in range(result.series_count)]
    numbers = {name: getattr(result, name) for name in ("makespan_us", "issue_mean_us", "injected_bytes", "drained_bytes")}
    xst.LIB.xst_sim_result_free(byref(result))
    return accounts, numbers, series


@st.composite
def devices(draw):
    """A device and a pattern whose burst, drain, capacity and gap are of one size, where things happen."""
    count = draw(st.integers(1, 24))
    floor = draw(st.floats(1e-2, 1e2))
    size = draw(st.floats(10, 1e7))
    drain = count * size / floor * draw(st.floats(0.02, 3))
    groups = draw(st.integers(1, 5))
    producers = [Producer(0, draw(st.integers(0, groups - 1)), size * draw(st.floats(0, 4)), draw(st.floats(0.1, 10)))
                 for _ in range(count)]
    pattern = Pattern(size, floor, floor * draw(st.floats(0, 30)), draw(st.integers(1, 12)))
    spread = draw(st.floats(0, 1.5))
    return Source(drain, 0, 0, 1, groups), producers, pattern, spread


def check(accounts, numbers, producers, pattern):
    total = len(producers) * pattern.bursts * pattern.bytes
    assert math.isclose(numbers["injected_bytes"], total, rel_tol=1e-6)
    assert math.isclose(numbers["drained_bytes"], total, rel_tol=1e-6)
    for account in accounts:
        assert account.bursts == pattern.bursts
        assert account.issue_us >= pattern.bursts * pattern.floor_us * (1 - 1e-9)
        assert account.drained_us > 0


@given(devices())
def test_every_byte_is_drained_once_and_no_rate_is_exceeded(case):
    source, producers, pattern, spread = case
    accounts, numbers, series = simulate([source], producers, pattern, share_spread_burst=spread,
                                         series_step_us=pattern.floor_us / 3, series_count=300)
    check(accounts, numbers, producers, pattern)
    assert numbers["makespan_us"] >= numbers["injected_bytes"] / source.drain_bytes_per_us * (1 - 1e-9)
    room = sum(producer.capacity_bytes for producer in producers)
    assert all(0 <= backlog <= room * (1 + 1e-9) + 1e-6 * pattern.bytes for backlog in series)


@given(devices(), st.floats(0.2, 5))
def test_total_capacity_bounds_the_backlog(case, scale):
    source, producers, pattern, spread = case
    source.capacity_total_bytes = pattern.bytes * scale
    _, _, series = simulate([source], producers, pattern, share_spread_burst=spread, series_step_us=pattern.floor_us / 3,
                            series_count=300)
    assert all(backlog <= source.capacity_total_bytes * (1 + 1e-6) for backlog in series)


@given(devices(), st.floats(1.0, 4.0))
def test_a_faster_drain_never_makes_the_run_longer(case, factor):
    """With one weight for all: a redrawn weight may let another producer finish last."""
    source, producers, pattern, _ = case
    for producer in producers:
        producer.weight, producer.group, producer.capacity_bytes = 1, 0, producers[0].capacity_bytes
    before = simulate([source], producers, pattern)[1]
    source.drain_bytes_per_us *= factor
    after = simulate([source], producers, pattern)[1]
    assert after["makespan_us"] <= before["makespan_us"] * (1 + 1e-6)
    assert after["issue_mean_us"] <= before["issue_mean_us"] * (1 + 1e-6)


@given(devices(), st.floats(1.0, 4.0))
def test_more_capacity_never_makes_issue_longer(case, factor):
    source, producers, pattern, _ = case
    for producer in producers:
        producer.weight, producer.group, producer.capacity_bytes = 1, 0, producers[0].capacity_bytes
    before = simulate([source], producers, pattern)[1]
    for producer in producers:
        producer.capacity_bytes *= factor
    after = simulate([source], producers, pattern)[1]
    assert after["issue_mean_us"] <= before["issue_mean_us"] * (1 + 1e-6)


@settings(max_examples=100)
@given(st.integers(1, 4), st.integers(0, 2**32), st.data())
def test_exchange_between_devices_conserves_bytes_and_limits(count, seed, data):
    limits = st.floats(1e3, 1e6)
    drains = [data.draw(limits) for _ in range(count)]
    ingress = [data.draw(limits) for _ in range(count)]
    producers = [Producer(s, d, 3e4, 1) for s in range(count) for d in range(count)
                 for _ in range(data.draw(st.integers(0, 3)))] or [Producer(0, 0, 3e4, 1)]
    pattern = Pattern(32768, 0.5, data.draw(st.floats(0, 20)), 6)
    accounts, numbers, _ = simulate([Source(drain, 0, 0, 1, count) for drain in drains], producers, pattern,
                                    [Destination(rate) for rate in ingress], share_spread_burst=0.3)
    check(accounts, numbers, producers, pattern)
    for end in range(count):
        sent = sum(6 * 32768 for producer in producers if producer.source == end)
        came = sum(6 * 32768 for producer in producers if producer.group == end)
        assert numbers["makespan_us"] >= max(sent / drains[end], came / ingress[end]) * (1 - 1e-5)


@given(devices(), st.integers(0, 2**63))
def test_the_same_seed_gives_the_same_run(case, seed):
    source, producers, pattern, spread = case
    runs = [simulate([source], producers, pattern, share_spread_burst=spread, share_spread=0.2)[1] for _ in range(2)]
    assert runs[0] == runs[1]
